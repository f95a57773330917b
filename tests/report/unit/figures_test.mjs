// SPDX-License-Identifier: Apache-2.0
// The figures of a sweep: which runs each takes, and its numbers by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './stand_in.mjs';
import { h } from '../../../sim/report/page/src/dom.js';
import { allFigures, overviewEntries } from '../../../sim/report/page/src/figures.js';
import { makeRuns } from '../../../sim/report/page/src/sweepdata.js';
import { choiceOf, choose, figureOf, optionsOf, readNumbers } from './look.mjs';
import { makeSweep } from './sweep_maker.mjs';

// All figures by id, each in an element.
function draw(described, { paper = {}, filteredMix = null } = {}) {
  const sweep = makeSweep(described, { paper });
  const runs = makeRuns(sweep);
  const usual = runs.filter((run) => run.base === '');
  const figures = allFigures({ usual, runs, sweep, byIndex: runs, filteredMix });
  return Object.fromEntries(
    figures.map(([id, title, content]) => [id, h('div', h('h2', title), content)]),
  );
}
const numbersOf = (figure, title) => readNumbers(figureOf(figure, title)).rows;
const noteOf = (figure) => figure.querySelector('p.empty')?.textContent ?? null;
const run = (workload, policy, stp, more = {}) => ({ workload, policy, stp, ...more });

test('a sweep of nothing has no figure, and each says why', () => {
  const figures = draw([run('a', 'isolated', 1)]);
  for (const [id, figure] of Object.entries(figures)) {
    assert.equal(figure.querySelector('figure'), null, id);
    if (id !== 'sensitivity') assert.match(noteOf(figure), /^No figure: /, id);
  }
});

test('the overview takes policies that cover half of the workloads', () => {
  const runs = makeRuns(
    makeSweep([
      ...['a+b', 'a+c', 'b+c'].flatMap((w) => [run(w, 'spatial', 1), run(w, 'smk-pw', 2)]),
      run('a+b', 'even', 1),
      run('a+b', 'smk', 1),
      run('a+c', 'smk', 1),
      run('a+b+c', 'smk-p', 1),
      run('a+b', 'smk-pw', 3, { ideal_preemption: 1 }),
    ]),
  );
  const { series, entries } = overviewEntries(runs);
  assert.deepEqual(series, ['spatial', 'smk', 'smk-pw'], 'even covers one of three');
  assert.deepEqual(
    entries.map((e) => e.workload),
    ['a+b', 'a+c'],
  );
  assert.deepEqual(overviewEntries([]), { series: [], entries: [] });
});

test('figure 10: means by mix, beside the numbers of the paper', () => {
  const described = ['smk', 'smk-p', 'smk-pw'].flatMap((policy, i) => [
    run('a+b', policy, 1 + i, { mix: 'C+C' }),
    run('a+c', policy, 2 + i, { mix: 'C+M' }),
  ]);
  described.push(run('b+c', 'smk', 99, { mix: 'M+M' })); // not under all three
  const value = {
    figure: 'fig10',
    policy: 'smk-pw',
    group: 'all',
    measure: 'stp',
    value: 7,
    source: 'Sec. 6',
  };
  const { fig10 } = draw(described, { paper: { value: [value] } });
  const rows = numbersOf(fig10, 'The SMK designs on pairs of kernels');
  const stp = rows.filter((row) => row[0] === 'STP');
  assert.equal(rows.length, 27);
  assert.deepEqual(
    stp.map((row) => row.slice(1, 4)),
    [
      ['C+C', 'smk', '1.000'],
      ['C+C', 'smk-p', '2.000'],
      ['C+C', 'smk-pw', '3.000'],
      ['C+M', 'smk', '2.000'],
      ['C+M', 'smk-p', '3.000'],
      ['C+M', 'smk-pw', '4.000'],
      ['all', 'smk', '1.500'],
      ['all', 'smk-p', '2.500'],
      ['all', 'smk-pw', '3.500'],
    ],
  );
  assert.deepEqual(stp.at(-1).slice(4), ['7.000', '\u221250.0 %', 'Sec. 6', '2']);
  assert.deepEqual(stp[0].slice(4), ['–', '–', '–', '1']);
});

const spatialAndSmk = [
  run('a+b', 'spatial', 1, { mix: 'C+C' }),
  run('a+b', 'smk-pw', 1.5, { mix: 'C+C' }),
  run('a+c', 'spatial', 2, { mix: 'C+M', data_memory: 100, pipeline: 40, empty: 0, data_short: 0 }),
  run('a+c', 'smk-pw', 1.8, { mix: 'C+M', data_memory: 50, pipeline: 60, empty: 0, data_short: 0 }),
  run('a+d', 'spatial', 1, { mix: 'C+M', kernels: [{ normalized_ipc: 0.25 }] }),
  run('a+d', 'smk-pw', 1.3, { mix: 'C+M' }),
];

test('figure 12: ratios of averages, not averages of ratios', () => {
  const { fig12 } = draw(spatialAndSmk);
  const rows = numbersOf(fig12, 'smk-pw relative to spatial');
  const stp = Object.fromEntries(rows.filter((r) => r[0] === 'STP').map((r) => [r[1], r[3]]));
  assert.deepEqual(stp, { 'C+C': '1.500', 'C+M': '1.033', all: '1.150' });
  assert.equal(rows[0][2], 'smk-pw / spatial');
});

test('figure 13: C+M pairs, the largest gain first', () => {
  const { fig13 } = draw(spatialAndSmk);
  const rows = numbersOf(fig13, 'STP of smk-pw and spatial, C+M pairs');
  assert.deepEqual(
    rows.map((row) => row.slice(0, 4)),
    [
      ['a+d', 'spatial', '1.000', '+0.0 %'],
      ['a+d', 'smk-pw', '1.300', '+30.0 %'],
      ['a+c', 'spatial', '2.000', '+0.0 %'],
      ['a+c', 'smk-pw', '1.800', '\u221210.0 %'],
    ],
  );
  assert.equal(rows[0][4], 'a 0.250, d 0.500');
});

test('figure 13 says best, worst, and how often it is ahead', () => {
  const ratio = (group, value) => ({
    figure: 'fig13',
    policy: 'smk-pw',
    over: 'spatial',
    group,
    measure: 'stp',
    value,
    source: 's',
  });
  const paper = { ratio: [ratio('best', 1.6), ratio('a+d', 1.2)] };
  const figure = figureOf(
    draw(spatialAndSmk, { paper }).fig13,
    'STP of smk-pw and spatial, C+M pairs',
  );
  const note = figure.querySelector('.note').textContent;
  assert.match(
    note,
    /gains most with \+50\.0 % \(paper: \+60\.0 %\) and least with \u221210\.0 %; it is ahead in 66\.7 %\./,
  );
  const [, row] = readNumbers(figure).rows;
  assert.equal(row[5], '+20.0 %, s', 'the pair of which the text gives a number');
});

test('a chosen mix takes the place of C+M', () => {
  const figures = draw(spatialAndSmk, { filteredMix: 'C+C' });
  assert.equal(figures.fig13.querySelector('h2').textContent, 'Figure 13: C+C pairs');
  assert.ok(figureOf(figures.fig13, 'STP of smk-pw and spatial, C+C pairs'));
});

test('figure 14: sums of stalls of C+M pairs, one over the other', () => {
  const { fig14 } = draw(spatialAndSmk.slice(0, 4));
  const rows = numbersOf(fig14, 'Stall cycles of smk-pw relative to spatial, C+M pairs');
  const by = Object.fromEntries(rows.map((r) => [r[1], r[3]]));
  // all: 60 + 20 + 50 + 5 + 1 over 40 + 20 + 100 + 5 + 1
  assert.deepEqual(by, { Pipeline: '1.500', Control: '1.000', Data: '0.500', All: '0.819' });
});

test('figure 5: TBs of a pair, the pair of the paper first', () => {
  const value = [
    { figure: 'fig5', measure: 'sms_shared', value: 12 },
    { figure: 'fig5', measure: 'sms_alone:cutcp', value: 3 },
  ];
  const described = [
    run('a+b', 'smk', 1),
    run('cutcp+stencil', 'spatial', 1),
    run('cutcp+stencil', 'smk', 1),
    run('cutcp+stencil', 'smk', 1, { settings: 'policy.epoch_length=1' }),
  ];
  const { fig5 } = draw(described, { paper: { value } });
  const title = 'Mean TBs on each SM: cutcp+stencil under smk';
  assert.match(
    figureOf(fig5, title).querySelector('.note').textContent,
    /^The paper has 12 SMs shared, cutcp alone on 3 SMs\./,
  );
  assert.deepEqual(numbersOf(fig5, title)[3], ['1', 'stencil', '2.11'], 'of the third run');
  choose(choiceOf(fig5, 'Policy'), 'spatial');
  const spatial = figureOf(fig5, 'Mean TBs on each SM: cutcp+stencil under spatial');
  assert.equal(spatial.querySelector('.note').textContent, 'This run');
  choose(choiceOf(fig5, 'Workload'), 'a+b');
  assert.ok(figureOf(fig5, 'Mean TBs on each SM: a+b under smk'), 'it has no run under spatial');
  assert.deepEqual(optionsOf(choiceOf(fig5, 'Policy')), ['smk']);
});

test('figure 9: hit rates alone and with 1, 2 or 3 kernels on an SM', () => {
  const names = 'lbm+sgemm+stencil';
  const hits = (l1) => ['x', 'y', 'z'].map(() => ({ isolated: 0, l1_hits: l1 }));
  const described = [
    run('lbm', 'isolated', 1, { kernels: [{ l1_hits: 90 }] }),
    run(names, 'smk-pw2', 1, { kernels: hits(80), fairness: 0.8 }),
    run(names, 'smk-pw', 1, { kernels_per_sm: 4, kernels: hits(40), fairness: 0.4 }),
    run(names, 'smk-pw', 1, {
      kernels_per_sm: 1,
      settings: 'policy.kernels_per_sm=1',
      kernels: hits(85),
    }),
    run(names, 'smk-pw', 1, {
      kernels_per_sm: 2,
      settings: 'policy.epoch_length=5',
      kernels: hits(1),
    }),
  ];
  const { fig9 } = draw(described);
  const rows = numbersOf(fig9, `Cache hit rates and fairness: ${names}`);
  assert.deepEqual(
    rows.filter((row) => row[2] === 'L1 hit rate').map((row) => [row[1], row[3]]),
    [
      ['each alone', '0.900'],
      ['1 on an SM', '0.850'],
      ['2 on an SM', '0.800'],
      ['3 on an SM', '0.400'],
    ],
    'four on an SM are three of three; another epoch is another thing',
  );
  assert.equal(rows.filter((row) => row[2] === 'Fairness').length, 3);
  assert.ok(
    rows.every((row) => row[7] === '1'),
    'of one workload',
  );
});

test('figure 15: three and four kernels, by their number', () => {
  const described = [
    run('a+b+c', 'spatial', 1),
    run('a+b+c', 'smk-pw', 1.2),
    run('a+b+c+d', 'spatial', 2),
    run('a+b+c+d', 'smk-pw', 3),
    run('a+b', 'smk-pw', 99),
  ];
  const { fig15 } = draw(described);
  const over = numbersOf(fig15, 'Over spatial').filter((row) => row[0] === 'STP');
  assert.deepEqual(
    over.map((row) => [row[1], row[3], row[7]]),
    [
      ['3 kernels', '1.200', '1'],
      ['4 kernels', '1.500', '1'],
    ],
  );
  const without = draw(described.filter((r) => r.policy !== 'spatial')).fig15;
  assert.match(noteOf(without), /^No figure: it needs workloads of three or four kernels/);
});

test('figure 16: with costs beside without, of the settings that have both', () => {
  const described = ['spatial', 'smk-pw'].flatMap((policy) => [
    run('a+b', policy, 1.8, { preemptions: 6 }),
    run('a+b', policy, 2, { ideal_preemption: 1, settings: 'run.ideal_preemption=true' }),
  ]);
  const { fig16 } = draw(described);
  const rows = numbersOf(fig16, 'What is left of the throughput of the ideal');
  assert.deepEqual(
    rows.map((row) => row.slice(0, 4)),
    [
      ['STP', 'all', 'spatial / spatial ideal', '0.900'],
      ['STP', 'all', 'smk-pw / smk-pw ideal', '0.900'],
    ],
  );
  assert.match(fig16.textContent, /On average smk-pw preempts 6 TBs in a run\./);
  const { fig16: none } = draw(described.filter((r) => !r.ideal_preemption));
  assert.match(noteOf(none), /with and without run\.ideal_preemption/);
});

test('sensitivity: workloads that have a run with each value', () => {
  const at = (workload, epoch, stp) =>
    run(workload, 'smk-pw', stp, {
      epoch_length: epoch,
      settings: epoch === 2400 ? '' : `policy.epoch_length=${epoch}`,
    });
  const described = [
    at('a+b', 600, 1),
    at('a+b', 2400, 2),
    at('a+c', 2400, 50),
    run('a+b', 'even', 1),
  ];
  const { sensitivity } = draw(described);
  const rows = numbersOf(sensitivity, 'Length of an epoch').filter((row) => row[0] === 'stp');
  assert.deepEqual(rows, [
    ['stp', 'smk-pw', '600', '1.0000', '1'],
    ['stp', 'smk-pw', '2\u2009400', '2.0000', '1'],
  ]);
  assert.equal(figureOf(sensitivity, 'Decisions that take longer'), null);
});

test('sensitivity takes no run in which something else was changed, too', () => {
  const described = [
    run('a+b', 'smk-pw', 1, { latency_scale: 4, settings: 'policy.latency_scale=4' }),
    run('a+b', 'smk-pw', 2, { latency_scale: 8, settings: 'policy.latency_scale=8 sm.x=1' }),
  ];
  assert.equal(figureOf(draw(described).sensitivity, 'Decisions that take longer'), null);
  described.push(run('a+b', 'smk-pw', 3));
  assert.ok(figureOf(draw(described).sensitivity, 'Decisions that take longer'));
});
