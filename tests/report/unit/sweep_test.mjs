// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: what is chosen at first, filters, tables.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './stand_in.mjs';
import { h } from '../../../sim/report/page/src/dom.js';
import { missing } from '../../../sim/report/page/src/format.js';
import { holds, sweepPage } from '../../../sim/report/page/src/sweep.js';
import {
  choiceOf,
  choose,
  click,
  optionsOf,
  readTable,
  regionOf,
  search,
  status,
} from './look.mjs';
import { makeSweep } from './sweep_maker.mjs';

function open(runs, more) {
  const made = sweepPage(makeSweep(runs, more));
  const page = h('div', made.content);
  return { ...made, page, shown: () => page.querySelector('#shown').textContent };
}

const pairs = [
  { workload: 'a+b', policy: 'spatial', stp: 1.1, mix: 'C+C' },
  { workload: 'a+b', policy: 'smk-pw', stp: 1.32, mix: 'C+C', fairness: 0.9 },
  { workload: 'a+c', policy: 'spatial', stp: 1.2, mix: 'C+M' },
  { workload: 'a+c', policy: 'smk-pw', stp: 1.14, mix: 'C+M', antt: 1.5 },
];
const alone = { workload: 'a', policy: 'isolated', mix: 'C', stp: 1 };

test('what most runs have is chosen at first', () => {
  const { shown, page } = open([...pairs, { ...pairs[0], machine: 'fermi' }]);
  assert.equal(shown(), '4 of 5 runs');
  assert.deepEqual(optionsOf(choiceOf(page, 'Machine')), ['gtx980', 'fermi']);
  assert.equal(choiceOf(page, 'Control'), null, 'a choice of one is none');
});

test('usual settings go before those of most runs', () => {
  const other = pairs.map((run) => ({ ...run, settings: 'policy.epoch_length=600' }));
  const { page } = open([...other, pairs[0]]);
  const chosen = choiceOf(page, 'Settings').children.find((o) => o.getAttribute('selected') === '');
  assert.equal(chosen.textContent, 'usual');
  assert.deepEqual(optionsOf(choiceOf(page, 'Settings')), ['usual', 'policy.epoch_length=600']);
});

test('runs alone do not decide what is chosen', () => {
  const { shown } = open([
    ...['a', 'b', 'c'].map((workload) => ({ ...alone, workload, cycles: 5 })),
    pairs[0],
    pairs[1],
  ]);
  assert.equal(shown(), '2 of 5 runs');
  assert.equal(open([alone]).shown(), '1 of 1 runs');
});

test('preempted TBs of runs by replay are not known', () => {
  const stream = { workload: 'a+b', scheduler: 'in-order', preemptions: 3 };
  const { page } = open([
    { ...stream, device: 'cycle' },
    { ...stream, device: 'replay', preemptions: 0 },
  ]);
  for (const [label, heading] of [
    ['Policies', 'preempted TBs'],
    ['All runs', 'preempted'],
  ]) {
    const { headings, rows } = readTable(page, label);
    const column = headings.indexOf(heading);
    const texts = rows.map((row) => row[column]);
    assert.deepEqual(texts, label === 'Policies' ? ['3.0', missing] : ['3', missing]);
  }
});

test('filters hold for everything below them', () => {
  const { page, shown } = open(pairs);
  assert.deepEqual(optionsOf(choiceOf(page, 'Mix')), ['all', 'C+C', 'C+M']);
  choose(choiceOf(page, 'Mix'), 'C+M');
  assert.equal(shown(), '2 of 4 runs');
  assert.equal(readTable(page, 'All runs').rows.length, 2);
  assert.equal(readTable(page, 'Workloads by policy').rows.length, 1);
  choose(choiceOf(page, 'With kernel'), 'b');
  assert.equal(shown(), '0 of 4 runs');
  choose(choiceOf(page, 'Mix'), '');
  assert.equal(shown(), '2 of 4 runs');
  choose(choiceOf(page, 'With kernel'), '');
  assert.equal(shown(), '4 of 4 runs');
});

test('a filter by cycles compares numbers', () => {
  const { page, shown } = open([...pairs, { ...pairs[0], cycles: 2000 }]);
  choose(choiceOf(page, 'Cycles'), '2000');
  assert.equal(shown(), '1 of 5 runs');
});

test('each filter by itself', () => {
  const run = {
    machine: 'm',
    control: 'rtl',
    cycles: 5,
    seed: '1',
    mix: 'C+M',
    kernels: [{ name: 'a' }],
  };
  const all = { machine: 'm', control: 'rtl', cycles: 5, seed: '1', mix: '', kernel: '' };
  assert.equal(holds(all)(run), true);
  assert.equal(holds({ ...all, mix: 'C+M', kernel: 'a' })(run), true);
  for (const other of [
    { machine: 'x' },
    { control: 'model' },
    { cycles: 6 },
    { seed: '2' },
    { mix: 'C+C' },
    { kernel: 'b' },
  ])
    assert.equal(holds({ ...all, ...other })(run), false, JSON.stringify(other));
});

test('the summary has means and the numbers of the paper', () => {
  const value = (measure, number) => ({
    figure: 'fig12',
    policy: 'smk-pw',
    group: 'all',
    measure,
    value: number,
    source: 's',
  });
  const { page } = open([alone, ...pairs], {
    paper: { value: [value('stp', 1.4), value('fairness', 0.7)] },
    experiments: [{ sweep: 'smk_paper', name: 'pairs', planned: 5, runs: [0, 1, 2, 3, 4] }],
  });
  assert.deepEqual(readTable(page, 'Policies').rows, [
    ['spatial', '1.150', '–', '0.500', '–', '2.000', '4.0'],
    ['smk-pw', '1.230', '1.40', '0.700', '0.70', '1.750', '4.0'],
  ]);
  const text = page.querySelector('#summary').textContent;
  assert.match(text, /5 runs/);
  assert.match(text, /the means over 2 workloads of 2 kernels/);
});

test('experiments: how much of each is done', () => {
  const experiments = [{ sweep: 's', name: 'e', planned: 5, runs: [0, 2] }];
  const { page } = open(pairs, { experiments });
  assert.deepEqual(readTable(page, 'Experiments').rows, [['s', 'e', '2', '5']]);
  assert.equal(regionOf(open(pairs).page, 'Experiments'), undefined);
});

const bestOf = (page) =>
  regionOf(page, 'Workloads by policy')
    .querySelectorAll('.best')
    .map((cell) => cell.textContent);

test('a row for each workload, with the best policy of each measure', () => {
  const { page } = open(pairs);
  const { headings, rows } = readTable(page, 'Workloads by policy');
  assert.deepEqual(headings, ['Workload', 'Mix', 'spatial', 'smk-pw', 'smk-pw / spatial']);
  assert.deepEqual(rows, [
    ['a+b', 'C+C', '1.100', '1.320', '+20.0 %'],
    ['a+c', 'C+M', '1.200', '1.140', '\u22125.0 %'],
  ]);
  assert.deepEqual(bestOf(page), ['1.320', '1.200']);
  const antt = page
    .querySelectorAll('button')
    .find((b) => b.textContent === 'ANTT' && b.getAttribute('aria-pressed'));
  click(antt);
  assert.deepEqual(readTable(page, 'Workloads by policy').rows[1], [
    'a+c',
    'C+M',
    '2.000',
    '1.500',
    '\u221225.0 %',
  ]);
  assert.deepEqual(bestOf(page), ['2.000', '2.000', '1.500'], 'of ANTT the least, and both of two');
});

test('isolated is never the best', () => {
  const isolated = { workload: 'a+b', policy: 'isolated', mix: 'C+C', stp: 9 };
  const { page } = open([isolated, ...pairs]);
  assert.deepEqual(bestOf(page), ['1.320', '1.200']);
});

test('without both policies there is no ratio', () => {
  const { page } = open(pairs.filter((run) => run.policy === 'spatial'));
  assert.deepEqual(readTable(page, 'Workloads by policy').headings, ['Workload', 'Mix', 'spatial']);
});

test('all runs, searched by settings and leading to their pages', () => {
  const { page } = open([...pairs, { ...pairs[0], settings: 'policy.epoch_length=600' }]);
  const region = regionOf(page, 'All runs');
  assert.equal(status(region), '1–5 of 5');
  search(region, 'epoch');
  assert.equal(status(region), '1–1 of 1');
  assert.equal(region.querySelector('a').getAttribute('href'), '#run=r4');
});

test('runs that failed are listed with their errors', () => {
  const failed = {
    run: ['x'],
    workload: ['a+b'],
    policy: ['smk'],
    settings: [''],
    command: ['smk run a+b'],
    error: ['cycle 7: expected 1, got 2'],
  };
  const { page } = open(pairs, { failed });
  assert.deepEqual(readTable(page, 'Failed runs').rows, [
    ['a+b', 'smk', 'cycle 7: expected 1, got 2', 'smk run a+b'],
  ]);
  assert.match(page.querySelector('#summary').textContent, /, and 1 that failed\./);
  assert.equal(regionOf(open(pairs).page, 'Failed runs'), undefined);
});
