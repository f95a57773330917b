// SPDX-License-Identifier: Apache-2.0
// The page of a comparison.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import { comparePage } from '../../../sim/report/page/src/compare.js';
import { h } from '../../../sim/report/page/src/dom.js';
import { figureOf, legendOf, readNumbers, readTable } from './look.mjs';
import { makeRun } from './run_maker.mjs';

const policy = (id, stp, baseline = false) => ({
  policy: id,
  baseline,
  stp,
  fairness: 0.5,
  antt: 2,
  kernels: ['a', 'b'].map((name, i) => ({ name, ipc: stp, normalized_ipc: stp / (2 + i) })),
  preemptions: { count: 1000, bytes: 2500 },
});

function makePage() {
  const runs = [
    { ...makeRun({}, { baseline: true }), policy: 'isolated' },
    { ...makeRun(), policy: 'table:2,3' },
  ];
  return h(
    'div',
    comparePage({
      compare: { policies: [policy('isolated', 1, true), policy('table:2,3', 1.5)] },
      runs,
    }),
  );
}

beforeEach(() => {
  drawings.length = 0;
  window.location.hash = '';
});

test('a row for each policy, with links to their runs', () => {
  const page = makePage();
  const { headings, rows } = readTable(page, 'Policies');
  assert.deepEqual(headings, [
    ...['Policy', 'STP', 'fairness', 'ANTT', 'a', 'b', 'preempted TBs', 'context'],
  ]);
  assert.deepEqual(rows, [
    ['isolated', '1.000', '0.500', '2.000', '0.500', '0.333', '1\u2009000', '2.5 kB'],
    ['table:2,3', '1.500', '0.500', '2.000', '0.750', '0.500', '1\u2009000', '2.5 kB'],
  ]);
  const hrefs = page.querySelectorAll('a').map((a) => a.getAttribute('href'));
  assert.ok(hrefs.includes('#run=table%3A2%2C3'), 'the name is fit for an address');
});

test('three measures of each policy', () => {
  const { rows } = readNumbers(figureOf(makePage(), 'STP, fairness and ANTT'));
  assert.deepEqual(rows, [
    ['STP', 'isolated', '1.000'],
    ['STP', 'table:2,3', '1.500'],
    ['Fairness', 'isolated', '0.500'],
    ['Fairness', 'table:2,3', '0.500'],
    ['ANTT', 'isolated', '2.000'],
    ['ANTT', 'table:2,3', '2.000'],
  ]);
});

test('the baseline is not stacked: its kernels take turns', async () => {
  const figure = figureOf(makePage(), 'Normalized IPC of each kernel, stacked to STP');
  assert.deepEqual(readNumbers(figure).rows, [
    ['table:2,3', 'a', '0.750', '1.500'],
    ['table:2,3', 'b', '0.500', '1.500'],
  ]);
  assert.deepEqual(await legendOf(figure), ['a', 'b']);
});

test('the schedulers: reasons that no run has are not in the legend', async () => {
  const figure = figureOf(makePage(), 'What the schedulers did');
  assert.equal(readNumbers(figure).rows.length, 18);
  const legend = await legendOf(figure);
  assert.ok(legend.includes('Issued'));
  assert.ok(!legend.includes('Barrier'));
  const drawn = drawings.at(-1).spec.data.values;
  assert.deepEqual(
    drawn.slice(0, 2).map((v) => v.value),
    [0.4, 0.1],
    'shares of all cycles',
  );
});

test('TBs of the runs that share the GPU', () => {
  const page = makePage();
  assert.equal(figureOf(page, 'Mean TBs on each SM under isolated'), null);
  assert.notEqual(figureOf(page, 'Mean TBs on each SM under table:2,3'), null);
});

test('a bar leads to its run; names turn when there is little room', async () => {
  const page = makePage();
  document.body.append(page);
  await scrollThrough();
  const [measures] = drawings;
  measures.click({ policy: 'table:2,3' });
  assert.equal(window.location.hash, '#run=table%3A2%2C3');
  measures.click({});
  assert.equal(window.location.hash, '#run=table%3A2%2C3', 'the line at 1 leads nowhere');
  assert.equal(measures.spec.layer[0].encoding.x.axis.labelAngle, 0);
  assert.equal(measures.spec.layer[0].encoding.xOffset, undefined);
});
