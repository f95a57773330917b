// SPDX-License-Identifier: Apache-2.0
// Samples, preemptions and decisions of a run: sums, means, tables.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import {
  decisionSection,
  preemptionSection,
  sampleSection,
} from '../../../sim/report/page/src/runlogs.js';
import { missing } from '../../../sim/report/page/src/format.js';
import {
  choiceOf,
  choose,
  figureOf,
  legendOf,
  optionsOf,
  readNumbers,
  readTable,
  search,
  status,
} from './look.mjs';
import { makeKernel, makeRun } from './run_maker.mjs';

beforeEach(() => {
  drawings.length = 0;
});

// Two samples of 100 cycles, of two SMs; kernel 1 is on SM 1 only.
const samples = {
  cycle: [100, 100, 100, 100, 200, 200, 200, 200],
  length: [100, 100, 100, 100, 100, 100, 100, 100],
  sm: [0, 0, 1, 1, 0, 0, 1, 1],
  kernel: [0, 1, 0, 1, 0, 1, 0, 1],
  warp_instructions: [50, 0, 70, 30, 10, 0, 20, 40],
  resident_tbs: [2, 0, 1, 3, 2, 0, 0, 3],
  quota: [10, 99, 20, 30, 10, 99, 88, 50],
};

test('IPC of all SMs is a sum, the quota a mean of the SMs where the kernel has one', async () => {
  const section = sampleSection(makeRun({ samples }));
  const figure = figureOf(section, 'IPC of each sample, all SMs');
  assert.deepEqual(readNumbers(figure).rows, [
    ['100', 'a', '1.200', '15', '3'],
    ['100', 'b', '0.300', '30', '3'],
    ['200', 'a', '0.300', '10', '2'],
    ['200', 'b', '0.400', '50', '3'],
  ]);
  assert.deepEqual(await legendOf(figure), ['a', 'b']);
});

test('of one SM', () => {
  const section = sampleSection(makeRun({ samples }));
  const sm = choiceOf(section, 'SM');
  assert.deepEqual(optionsOf(sm), ['All SMs', 'SM 0', 'SM 1']);
  choose(sm, '0');
  assert.equal(figureOf(section, 'IPC of each sample, all SMs'), null);
  assert.deepEqual(readNumbers(figureOf(section, 'Quota of a scheduler on SM 0')).rows, [
    ['100', 'a', '0.500', '10', '2'],
    ['100', 'b', '0.000', missing, '0'],
    ['200', 'a', '0.100', '10', '2'],
    ['200', 'b', '0.000', missing, '0'],
  ]);
});

test('an SM that profiles has no quota, and is not in the mean', async () => {
  const quota = [10, 99, 0, 30, 0, 99, 88, 50];
  const section = sampleSection(makeRun({ samples: { ...samples, quota } }));
  const figure = figureOf(
    section,
    'Quota of a scheduler, mean of the SMs where the kernel has one',
  );
  const { rows } = readNumbers(figure);
  assert.deepEqual(
    rows.map((row) => row[3]),
    ['10', '30', missing, '50'],
  );
});

test('two charts of the same rows: IPC and quota', async () => {
  document.body.append(sampleSection(makeRun({ samples })));
  await scrollThrough();
  assert.deepEqual(
    drawings.map((d) => d.spec.data.values.map((v) => v.value)),
    [
      [1.2, 1.2, 0.3, 0.3, 0.3, 0.4],
      [15, 15, 30, 30, 10, 50],
    ],
  );
});

test('the first sample has its begin; the axis ends with the run', async () => {
  const drawn = async (cycles) => {
    drawings.length = 0;
    document.body.append(sampleSection(makeRun({ samples }, { cycles })));
    await scrollThrough();
    return drawings[0].spec;
  };
  const spec = await drawn(250);
  assert.deepEqual(
    spec.data.values.filter((v) => v.series === 0).map((v) => v.x),
    [0, 100, 200],
  );
  assert.deepEqual(spec.encoding.x.scale.domain, [0, 250]);
  assert.deepEqual((await drawn(5000)).encoding.x.scale.domain, [0, 200], 'a window of the run');
});

test('what the run did after the last sample is said to be in none', () => {
  const said = (cycles) => sampleSection(makeRun({ samples }, { cycles })).textContent;
  assert.match(
    said(250),
    /The last sample ends at cycle 200; what the run did after it is in none/,
  );
  assert.ok(!said(200).includes('The last sample'));
});

test('without samples there is no section', () => {
  assert.equal(sampleSection(makeRun()), null);
  assert.equal(sampleSection(makeRun({ samples: null })), null);
});

test('a run that is shorter than an epoch says so', () => {
  const none = Object.fromEntries(Object.keys(samples).map((name) => [name, []]));
  const said = (epoch_length) =>
    sampleSection(makeRun({ samples: none, config: { policy: { epoch_length } } })).textContent;
  assert.match(said(2400), /The run of 1\u2009000 cycles is shorter than an epoch of 2\u2009400: /);
  assert.match(said(600), /No epoch or step of --timeline ended/);
});

const preemptions = {
  total: 3,
  kernel: [0, 0, 1],
  launch: [1, 1, 2],
  tb: [7, 8, 3],
  sm: [0, 1, 1],
  slot: [4, 5, 6],
  start: [100, 150, 0],
  end: [200, 350, 900],
  flushed: [0, 1, 0],
  back: [260, null, 1000],
  back_sm: [1, null, 0],
};
const counted = { preemptions: { count: 2, restores: 1, flushes: 1, bytes: 1, mean_cycles: 40.4 } };

test('preemptions: what was saved, where it came back, how long it was away', () => {
  const section = preemptionSection(makeRun({ preemptions }, counted));
  assert.deepEqual(readTable(section, 'Preemption log').rows, [
    ['200', 'a', '1', '7', '0', '4', 'saved', '100', '260', '1', '60'],
    ['350', 'a', '1', '8', '1', '5', 'flushed', '200', missing, missing, missing],
    ['900', 'b', '2', '3', '1', '6', 'saved', '900', '1\u2009000', '0', '100'],
  ]);
  const facts = section.querySelector('dl').children.map((c) => c.textContent);
  assert.deepEqual(facts, [
    ...['Saved', '2', 'Restored', '1', 'Flushed', '1', 'Cycles to save a TB', '40'],
    ...['Cycles away, mean', '80'],
  ]);
  assert.equal(section.querySelectorAll('p.note').length, 0, 'nothing was left out');
});

test('preemptions can be searched by how', () => {
  const section = preemptionSection(makeRun({ preemptions }, counted));
  search(section, 'flushed');
  assert.equal(status(section), '1–1 of 1');
  assert.equal(readTable(section, 'Preemption log').rows[0][3], '8');
});

test('counts that are not of the whole run say so', () => {
  const stats = { ...counted, measured_from: 400, measured_to: 650 };
  const section = preemptionSection(makeRun({ preemptions }, stats));
  assert.match(section.textContent, /The counts are measured from 400 to 650; the log is of the/);
});

test('TBs that never came back have no mean', () => {
  const log = { ...preemptions, back: [null, null, null], back_sm: [null, null, null] };
  const section = preemptionSection(makeRun({ preemptions: log }, counted));
  assert.equal(section.querySelector('dl').children.at(-1).textContent, missing);
});

test('a log that was cut says so', () => {
  const section = preemptionSection(
    makeRun({ preemptions: { ...preemptions, total: 4321 } }, counted),
  );
  assert.match(section.querySelector('p.note').textContent, /^The first 3 of 4\u2009321 rows/);
});

test('no preemptions: a sentence; no log: no section', () => {
  const none = Object.fromEntries(Object.keys(preemptions).map((name) => [name, []]));
  const section = preemptionSection(makeRun({ preemptions: { ...none, total: 0 } }));
  assert.match(section.textContent, /No TB was preempted\.$/);
  assert.equal(section.querySelector('table'), null);
  assert.equal(preemptionSection(makeRun()), null);
});

// Four steps of 10 cycles, two kernels.
const decisions = {
  reasons: ['no-room', 'dispatch-new', 'unheard-of'],
  step: 10,
  steps: 4,
  counts: [
    [1, 0, 0, 2, 0, 0, 5, 0],
    [0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, 0, 0],
  ],
  log: {
    total: 3,
    cycle: [1, 12, 13],
    last: [5, 12, 13],
    times: [3, 1, 1],
    reason: [0, 1, 0],
    kernel: [0, 0, 1],
    sm: [0, 1, 1],
    tb: [null, 4, null],
    victim: [null, null, 0],
    victim_tbs: [null, null, 1],
    shares: [
      [64, 0],
      [128, 0],
      [64, 256],
    ],
  },
};
// On 2 SMs: 2 x lcm(65536/256, 98304/256, 2048/32, 32) = 2 x 768.
const config = {
  machine: { sm: { limits: { registers: 65536, shared_memory: 98304, threads: 2048, tbs: 32 } } },
};

test('decisions are counted by reason and kernel, the most frequent first', () => {
  const section = decisionSection(makeRun({ decisions }));
  assert.deepEqual(readTable(section, 'Decisions by reason').rows, [
    ['no-room', 'the SM has no room', '3', '5', '8'],
    ['dispatch-new', 'a new TB fits', '1', '0', '1'],
    ['unheard-of', '', '0', '1', '1'],
  ]);
});

test('decisions over time are sums over kernels, without empty steps', () => {
  const section = decisionSection(makeRun({ decisions }));
  const figure = figureOf(section, 'Decisions over time');
  assert.deepEqual(readNumbers(figure).rows, [
    ['0', 'no-room', '1'],
    ['20', 'no-room', '5'],
    ['30', 'no-room', '2'],
    ['10', 'dispatch-new', '1'],
    ['10', 'unheard-of', '1'],
  ]);
  assert.equal(figure.querySelector('.note').textContent, 'In steps of 10 cycles.');
});

test('decisions over time stand at their cycles', async () => {
  const late = { ...decisions, reasons: ['no-room'], counts: [[1, 0, 0, 2, 0, 0, 0, 0]] };
  document.body.append(decisionSection(makeRun({ decisions: late }, { cycles: 38 })));
  await scrollThrough();
  const [{ spec }] = drawings;
  assert.equal(spec.encoding.x.type, 'quantitative');
  assert.deepEqual(spec.encoding.x.scale.domain, [0, 38]);
  assert.deepEqual(
    spec.data.values.map((v) => [v.x, v.x2]),
    [
      [0, 10],
      [30, 38],
    ],
  );
});

test('many steps are joined into at most about fifty bars', () => {
  const steps = 200;
  const counts = [Array(2 * steps).fill(1)];
  const many = { ...decisions, reasons: ['no-room'], steps, counts };
  const figure = figureOf(decisionSection(makeRun({ decisions: many })), 'Decisions over time');
  const { rows } = readNumbers(figure);
  assert.equal(rows.length, 50);
  assert.deepEqual(rows[1], ['40', 'no-room', '8'], 'four steps of two kernels');
  assert.equal(figure.querySelector('.note').textContent, 'In steps of 40 cycles.');
});

test('the log: refusals in a row, victims, shares in percent of the GPU', () => {
  const section = decisionSection(makeRun({ decisions, config }));
  const { headings, rows } = readTable(section, 'Decision log');
  assert.deepEqual(headings.slice(-2), ['rK a', 'rK b']);
  assert.deepEqual(rows, [
    ['1', '5', '3', 'no-room', 'a', '0', missing, missing, '4.17 %', '0.00 %'],
    ['12', missing, '1', 'dispatch-new', 'a', '1', '4', missing, '8.33 %', '0.00 %'],
    ['13', missing, '1', 'no-room', 'b', '1', missing, 'a, 1 TB', '4.17 %', '16.67 %'],
  ]);
});

// The log of a run of jobs that take turns in the kernel slots, of which there are four.
function sharesOf(names, stats) {
  const kernels = names.map((name, slot) => makeKernel(slot, name));
  const shares = [0, 1, 2].map((row) => [1, 2, 3, 4].slice(0, names.length).map((v) => v + row));
  const counts = [Array(4 * names.length).fill(0)];
  const log = { ...decisions.log, shares };
  const own = { ...decisions, reasons: ['no-room'], counts, log: { ...log, reason: [0, 0, 0] } };
  const section = decisionSection(makeRun({ decisions: own }, { kernels, ...stats }));
  const { headings, rows } = readTable(section, 'Decision log');
  const from = headings.indexOf('Victim') + 1;
  assert.equal(section.textContent.includes('launches.csv'), headings[from] === 'rK slot 0');
  return [headings.slice(from), rows[0].slice(from)];
}

test('jobs that take turns in kernel slots: shares are of these', () => {
  const slots = ['rK slot 0', 'rK slot 1', 'rK slot 2', 'rK slot 3'];
  const six = ['a', 'b', 'c', 'd', 'e', 'f'];
  assert.deepEqual(sharesOf(six), [slots, ['1', '2', '3', '4']]);
  assert.deepEqual(sharesOf(['a', 'b'], { host: { device: 'cycle' } })[0], slots.slice(0, 2));
  assert.deepEqual(sharesOf(['a', 'b', 'c', 'd'])[0], ['rK a', 'rK b', 'rK c', 'rK d']);
});

test('without the configuration shares stay as they are', () => {
  const { rows } = readTable(decisionSection(makeRun({ decisions })), 'Decision log');
  assert.equal(rows[0].at(-2), '64');
});

test('a folder without decisions has no section', () => {
  assert.equal(decisionSection(makeRun()), null);
});
