// SPDX-License-Identifier: Apache-2.0
// What a sweep has varied, the numbers of its charts by hand, and what can be chosen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import { h } from '../../../sim/report/page/src/dom.js';
import { isPaper, makeRuns } from '../../../sim/report/page/src/sweepdata.js';
import {
  sweptExperiments,
  sweptKeys,
  sweptRows,
  sweptSection,
} from '../../../sim/report/page/src/swept.js';
import { choiceOf, choose, optionsOf, readNumbers } from './look.mjs';
import { makeSweep } from './sweep_maker.mjs';

const key = 'sm.l1.bytes';
const at = (workload, policy, bytes, stp, more = {}) => ({
  workload,
  policy,
  stp,
  settings: `${key}=${bytes}`,
  ...more,
});
const simple = [
  at('a+b', 'spatial', 1024, 1),
  at('a+b', 'spatial', 2048, 2),
  at('a+c', 'spatial', 1024, 3),
  at('a+c', 'spatial', 2048, 4),
  at('a+d', 'spatial', 2048, 100), // has not both values
];
const runsOf = (described, more) => makeRuns(makeSweep(described, more));
const experiment = (runs, name = 'e', sweep = 's') => ({ sweep, name, planned: 9, runs });

function open(described, more) {
  const sweep = makeSweep(described, {
    experiments: [experiment(described.map((_, i) => i))],
    ...more,
  });
  const section = sweptSection(makeRuns(sweep), sweep);
  return section && h('div', section);
}
const figure = (page) => page.querySelector('figure');
const caption = (page) => page.querySelector('figcaption').textContent;

test('a key is swept when it has several values under one policy', () => {
  assert.deepEqual(sweptKeys(runsOf(simple)), [key]);
  const byPolicy = [at('a+b', 'smk-pw2', 2, 1), at('a+b', 'smk-pw', 4, 1)];
  assert.deepEqual(sweptKeys(runsOf(byPolicy)), [], 'each policy has its own value');
});

test('keys of a machine do not count when the machine is another', () => {
  const runs = runsOf([at('a+b', 'smk', 1, 1), at('a+b', 'smk', 2, 1, { machine: 'fermi' })]);
  assert.deepEqual(sweptKeys(runs), ['machine']);
});

test('cycles and seeds are keys, and seeds come last', () => {
  const runs = runsOf([
    at('a+b', 'smk', 1, 1, { seed: '2' }),
    at('a+b', 'smk', 2, 1, { cycles: 2000 }),
  ]);
  assert.deepEqual(sweptKeys(runs), [key, 'cycles', 'seed']);
});

test('the columns of the database tell the defaults; an older one does not', () => {
  const described = [at('a+b', 'smk', 1024, 1), { workload: 'a+b', policy: 'smk', stp: 2 }];
  const values = (runs) =>
    sweptRows(runs, [key], { x: key, by: '', measure: 'stp' }).map((row) => row.x);
  assert.deepEqual(values(runsOf(described, { settings: { [key]: [1024, 4096] } })), [1024, 4096]);
  assert.deepEqual(values(runsOf(described)), [1024, 'usual']);
});

test('a point is the mean over the workloads that have every point', () => {
  const rows = sweptRows(runsOf(simple), [key], { x: key, by: '', measure: 'stp' });
  assert.deepEqual(
    rows.map((row) => [row.x, row.series, row.value, row.least, row.most, row.n]),
    [
      [1024, 'spatial', 2, 1, 3, 2],
      [2048, 'spatial', 3, 2, 4, 2],
    ],
  );
});

test('without such a workload it is the mean over all there are', () => {
  const runs = runsOf([at('a+b', 'smk', 1, 1), at('a+c', 'smk', 2, 3)]);
  const rows = sweptRows(runs, [key], { x: key, by: '', measure: 'stp' });
  assert.deepEqual(
    rows.map((row) => row.value),
    [1, 3],
  );
});

test('panels by workload need no others', () => {
  const rows = sweptRows(runsOf(simple), [key], { x: key, by: 'workload', measure: 'stp' });
  assert.deepEqual(
    rows.map((row) => [row.panel, row.value]),
    [
      ['a+b', 1],
      ['a+b', 2],
      ['a+c', 3],
      ['a+c', 4],
    ],
  );
});

test('IPC is that of all kernels', () => {
  const runs = runsOf([at('a+b', 'smk', 1, 1), at('a+b', 'smk', 2, 1)]);
  const [row] = sweptRows(runs, [key], { x: key, by: '', measure: 'ipc' });
  assert.equal(row.value, 2);
});

test('only experiments that vary something are offered', () => {
  const sweep = makeSweep([...simple, { workload: 'a+b', policy: 'smk' }], {
    experiments: [experiment([5], 'plain'), experiment([0, 1, 2, 3, 4], 'cache')],
  });
  const found = sweptExperiments(makeRuns(sweep), sweep);
  assert.deepEqual(
    found.map((e) => [e.title, e.keys]),
    [['cache', [key]]],
  );
  assert.equal(open([{ workload: 'a+b', policy: 'smk' }]), null);
});

const two = [1000, 4000].flatMap((epoch) =>
  [1024, 2048].flatMap((bytes) =>
    ['smk', 'smk-pw'].map((policy, i) =>
      at('a+b', policy, bytes, bytes / epoch + i, {
        settings: `${key}=${bytes} policy.epoch_length=${epoch}`,
      }),
    ),
  ),
);

test('two keys: small charts, or a map', async () => {
  const page = open(two);
  assert.equal(caption(page), `STP over ${key}, by policy.epoch_length`);
  assert.deepEqual(
    page.querySelectorAll('.panel-title').map((p) => p.textContent),
    ['policy.epoch_length 1000', 'policy.epoch_length 4000'],
  );
  choose(choiceOf(page, 'as'), 'map');
  assert.deepEqual(
    page.querySelectorAll('.panel-title').map((p) => p.textContent),
    ['smk', 'smk-pw'],
  );
  assert.equal(readNumbers(figure(page)).rows.length, 8);
  document.body.append(page);
  drawings.length = 0;
  await scrollThrough();
  assert.deepEqual(
    drawings.map((d) => d.spec.layer[0].mark.type),
    ['rect', 'rect'],
  );
});

test('measure, axis, panels and workloads can be chosen', () => {
  const page = open(two);
  assert.deepEqual(optionsOf(choiceOf(page, 'Measure')), ['STP', 'Fairness', 'ANTT', 'IPC']);
  choose(choiceOf(page, 'Measure'), 'antt');
  choose(choiceOf(page, 'over'), 'policy.epoch_length');
  assert.equal(caption(page), 'ANTT over policy.epoch_length', 'no key is there twice');
  choose(choiceOf(page, 'by'), key);
  assert.equal(caption(page), `ANTT over policy.epoch_length, by ${key}`);
  choose(choiceOf(page, 'by'), '');
  assert.equal(choiceOf(page, 'as'), null, 'no map of one key');
});

test('words are bars, numbers are lines', async () => {
  const words = ['gto', 'lrr'].map((word, i) => ({
    workload: 'a+b',
    policy: 'smk',
    stp: 1 + i,
    settings: `policy.warp_policy=${word}`,
  }));
  for (const [described, mark] of [
    [words, 'bar'],
    [simple, 'line'],
  ]) {
    const page = open(described);
    document.body.append(page);
    drawings.length = 0;
    await scrollThrough();
    const { spec } = drawings[0];
    assert.equal((spec.layer?.[0] ?? spec).mark.type, mark);
  }
});

test('the figures of the paper are for its own sweep', () => {
  assert.equal(isPaper({ experiments: [experiment([], 'pairs', 'smk_paper')] }), true);
  assert.equal(isPaper({ experiments: [experiment([], 'pairs', 'cache_study')] }), false);
});
