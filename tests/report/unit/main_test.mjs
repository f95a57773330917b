// SPDX-License-Identifier: Apache-2.0
// The whole page: which one the data asks for, and what the address changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Element } from './stand_in.mjs';
import { click, readTable } from './look.mjs';
import { makeKernel, makeRun } from './run_maker.mjs';
import { makeSweep } from './sweep_maker.mjs';

const deviations = [['D1', 'Epochs', 'p', '`ours`', 'r', 'kept']];
const common = { version: '0.4', git_describe: 'v0.4-1', date: '2026-01-02', source: 'x.db' };

function put(id, text) {
  document.getElementById(id)?.parent.remove(document.getElementById(id));
  const element = new Element('div');
  element.setAttribute('id', id);
  if (text !== undefined) element.textContent = text;
  document.body.append(element);
  return element;
}

let loaded = 0;

// Loads the page anew with this data, at this address.
async function open(data, hash = '') {
  window.location.hash = hash;
  window.listeners.clear();
  put('data', JSON.stringify({ ...common, ...data }));
  put('assumptions', JSON.stringify(deviations));
  const app = put('app');
  loaded += 1;
  await import(`../../../sim/report/page/src/main.js?${loaded}`);
  return app;
}
function goTo(hash) {
  window.location.hash = hash;
  window.dispatchEvent({ type: 'hashchange' });
}
Element.prototype.focus = function focus() {
  document.focused = this;
};

const title = (app) => app.querySelector('h1').textContent;
const factsOf = (app) => app.querySelector('.facts-line').children.map((f) => f.textContent);
const sections = (app) => app.querySelectorAll('section').map((s) => s.id);
const run = (policy) => ({ ...makeRun({}, { policy }), policy });
const policy = (id) => ({
  policy: id,
  stp: 1,
  fairness: 1,
  antt: 1,
  kernels: [makeKernel(0, 'a'), makeKernel(1, 'b')],
  preemptions: { count: 0, bytes: 0 },
});
const comparison = {
  kind: 'compare',
  title: 'a+b',
  compare: {
    machine: 'gtx980',
    control: 'reference',
    cycles: 1000,
    seed: 1,
    policies: [policy('smk'), policy('table:2,3')],
  },
  runs: [run('smk'), run('table:2,3')],
};
const sweep = {
  kind: 'sweep',
  title: 'my sweep',
  sweep: makeSweep([
    { workload: 'a+b', policy: 'spatial' },
    { workload: 'a+b', policy: 'smk-pw' },
  ]),
};

test('the page of a run', async () => {
  const app = await open({ kind: 'run', title: 'a+b under smk', runs: [makeRun()] });
  assert.equal(title(app), 'a+b under smk');
  assert.equal(document.title, 'a+b under smk');
  assert.equal(document.documentElement.dataset.ready, 'true');
  assert.ok(factsOf(app).includes('policy smk'));
  assert.deepEqual(sections(app), ['summary', 'kernels', 'stalls', 'tbs', 'config', 'assumptions']);
  assert.equal(app.querySelector('a.back'), null);
});

test('the contents lead to every section', async () => {
  const app = await open({ kind: 'run', title: 't', runs: [makeRun()] });
  const links = app.querySelector('nav.contents').querySelectorAll('a');
  assert.deepEqual(
    links.map((a) => a.getAttribute('href')),
    sections(app).map((id) => `#${id}`),
  );
  assert.equal(links.at(-1).textContent, 'Assumptions');
});

test('every page tells its assumptions and where it comes from', async () => {
  const app = await open({ kind: 'run', title: 't', runs: [makeRun()] });
  assert.deepEqual(readTable(app, 'Deviations from the papers').rows, [
    ['D1', 'Epochs', 'p', 'ours', 'r', 'kept'],
  ]);
  assert.equal(app.querySelector('footer').textContent, 'smk 0.4 (v0.4-1), 2026-01-02, from x.db');
});

test('a button changes light and dark, and says what it would do next', async () => {
  const app = await open({ kind: 'run', title: 't', runs: [makeRun()] });
  const button = app.querySelector('button.theme');
  const before = button.textContent;
  click(button);
  assert.notEqual(button.textContent, before);
  assert.equal(
    button.getAttribute('aria-label'),
    `Switch to ${button.textContent.toLowerCase()} colours`,
  );
  click(button);
  assert.equal(button.textContent, before);
});

test('a comparison, one of its runs, and back', async () => {
  const app = await open(comparison);
  assert.equal(title(app), 'a+b');
  assert.ok(factsOf(app).includes('2 policies'));
  goTo('#run=table%3A2%2C3');
  assert.equal(title(app), 'a+b under table:2,3');
  assert.equal(app.querySelector('a.back').textContent, '← a+b');
  assert.equal(document.focused.id, 'content', 'a reader who does not see begins at the top');
  goTo('');
  assert.equal(title(app), 'a+b');
});

test('the page of a comparison tells what of the runs is measured', async () => {
  const runs = comparison.runs.map((made) => ({
    ...made,
    stats: { ...made.stats, measured_from: 400, measured_to: 650 },
  }));
  const app = await open({ ...comparison, runs });
  assert.ok(factsOf(app).includes('measured from 400 to 650'));
  assert.ok(!factsOf(await open(comparison)).some((fact) => fact.includes('measured')));
});

test('the address of a run is its page at once', async () => {
  const app = await open(comparison, '#run=smk');
  assert.equal(title(app), 'a+b under smk');
});

test('a run that is not there is the overview', async () => {
  const app = await open(comparison, '#run=nothing');
  assert.equal(title(app), 'a+b');
});

test('a place in the page is no other page', async () => {
  const app = await open(comparison);
  const before = app.querySelector('main');
  goTo('#summary');
  assert.equal(app.querySelector('main'), before, 'nothing is made anew');
  goTo('#run=smk');
  const shown = app.querySelector('main');
  goTo('#kernels');
  assert.equal(app.querySelector('main'), shown, 'of a run, too');
  goTo('#nowhere');
  assert.equal(title(app), 'a+b');
});

test('a sweep keeps its page while a run is looked at, and where it was', async () => {
  const app = await open(sweep);
  assert.equal(title(app), 'my sweep');
  assert.deepEqual(factsOf(app), ['sweep', '2 runs']);
  const table = app.querySelectorAll('.table')[0];
  let place = null;
  window.scrollTo = (x, y) => {
    place = y;
  };
  window.scrollY = 1234;
  goTo('#run=r1');
  assert.equal(place, 0);
  assert.equal(title(app), 'a+b under smk-pw');
  goTo('');
  assert.equal(place, 1234);
  assert.equal(app.querySelectorAll('.table')[0], table, 'with its filters and order');
});
