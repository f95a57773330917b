// SPDX-License-Identifier: Apache-2.0
// Runs of a sweep from columns, and which may be compared.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asRun,
  average,
  complete,
  inOrder,
  makeRuns,
  measures,
  paperRatio,
  paperValue,
  policyOrder,
  stallReasons,
} from '../../../sim/report/page/src/sweepdata.js';
import { makeSweep } from './sweep_maker.mjs';

test('columns become runs with their kernels', () => {
  const runs = makeRuns(
    makeSweep([
      { workload: 'a', policy: 'isolated' },
      { workload: 'b+a', stp: 1.5, kernels: [{ ipc: 3 }, { ipc: 4 }] },
    ]),
  );
  assert.equal(runs.length, 2);
  assert.deepEqual([runs[1].index, runs[1].id, runs[1].workload], [1, 'r1', 'b+a']);
  assert.equal(runs[1].stp, 1.5);
  assert.equal(runs[0].kernelCount, 1);
  assert.deepEqual(
    runs[1].kernels.map((k) => [k.name, k.slot, k.ipc]),
    [
      ['b', 0, 3],
      ['a', 1, 4],
    ],
  );
});

test('the stall for control is not the control plane', () => {
  const [run] = makeRuns(makeSweep([{ workload: 'a+b', control: 'rtl', control_stall: 99 }]));
  assert.equal(run.control, 'rtl');
  assert.equal(run.stalls.control, 99);
  assert.deepEqual(Object.keys(run.stalls), stallReasons);
});

test('where the TBs of a run stand follows from the runs before it', () => {
  const runs = makeRuns(
    makeSweep([{ workload: 'a', sms: 3 }, { workload: 'a+b', sms: 2 }, { workload: 'c' }]),
  );
  assert.deepEqual(
    runs.map((run) => run.tbs),
    [
      [0, 3],
      [3, 4],
      [7, 2],
    ],
  );
});

test('a series is the policy, how it preempts, and whether that costs', () => {
  const runs = makeRuns(
    makeSweep([
      { workload: 'a+b', policy: 'spatial' },
      { workload: 'a+b', policy: 'spatial', preempt: 'drain' },
      { workload: 'a+b', policy: 'spatial', preempt: null },
      {
        workload: 'a+b',
        policy: 'smk-pw',
        ideal_preemption: 1,
        settings: 'policy.epoch_length=600 run.ideal_preemption=true',
      },
      { workload: 'a+b', policy: 'warped-slicer', preempt: 'drain' },
      { workload: 'a+b', policy: 'warped-slicer', preempt: 'switch' },
    ]),
  );
  assert.deepEqual(
    runs.map((run) => run.series),
    [
      'spatial',
      'spatial drain',
      'spatial',
      'smk-pw-ideal',
      'warped-slicer',
      'warped-slicer switch',
    ],
  );
  assert.equal(runs[3].policyId, 'smk-pw');
  assert.equal(runs[3].base, 'policy.epoch_length=600', 'so that it meets its run with costs');
});

test('a stream on the cycle model and by replay: two series', () => {
  const stream = { workload: 'a+b', scheduler: 'in-order' };
  const runs = makeRuns(
    makeSweep([
      { ...stream, device: 'cycle', stp: 1 },
      { ...stream, device: 'replay', stp: 2 },
      { workload: 'a', policy: 'isolated', sm_rows: 0 },
      { workload: 'a', policy: 'isolated', sm_rows: 2 },
    ]),
  );
  const series = ['in-order on smk', 'in-order on smk by replay'];
  assert.deepEqual(
    runs.map((run) => run.series),
    [...series, 'isolated by replay', 'isolated'],
  );
  assert.equal(runs[1].policyId, series[1]);
  const entries = complete(runs, series);
  assert.deepEqual(
    series.map((id) => average(entries, id, 'stp')),
    [1, 2],
  );
});

test('a run of the database looks like one of a folder', () => {
  const sweep = makeSweep([
    { workload: 'a', policy: 'isolated' },
    {
      workload: 'a+b',
      kernels: [{ l1_hits: 25, restores: 1, flushes: 2, stall_quota: null }, { restores: 4 }],
    },
  ]);
  const { stats, command, settings } = asRun(makeRuns(sweep)[1], sweep);
  assert.equal(command, 'smk run');
  assert.equal(settings, '');
  assert.equal(stats.policy, 'smk');
  assert.equal(stats.baseline, false);
  assert.equal(asRun(makeRuns(sweep)[0], sweep).stats.baseline, true);
  assert.deepEqual(
    stats.sms.map((sm) => sm.tb_mean),
    [
      [1, 1.01],
      [1.1, 1.11],
    ],
  );
  assert.equal(stats.kernels[0].l1_hit_rate, 0.25);
  assert.equal(stats.kernels[0].l2_hit_rate, 0.2);
  assert.equal('quota' in stats.kernels[0].stalls, false, 'what was not counted is left out');
  assert.equal(stats.kernels[1].stalls.quota, 6);
  assert.deepEqual(stats.preemptions, {
    count: 4,
    restores: 5,
    flushes: 2,
    bytes: 4096,
    cycles: 80,
    mean_cycles: 20,
  });
  assert.equal(stats.wall.wall_seconds, 0.5);
});

test('the length of a run, and what is measured of it, are not its limit', () => {
  const lengths = (more) => {
    const sweep = makeSweep([{ workload: 'a+b', cycles: 5000, ...more }]);
    const { cycles, measured_cycles: measured } = asRun(makeRuns(sweep)[0], sweep).stats;
    return [cycles, measured];
  };
  assert.deepEqual(lengths({ run_cycles: 3000, measured_cycles: 2000 }), [3000, 2000]);
  assert.deepEqual(lengths({ run_cycles: null, measured_cycles: null }), [null, null]);
  assert.deepEqual(lengths({ run_cycles: undefined, measured_cycles: undefined }), [5000, 5000]);
});

test('without preemptions there is no mean', () => {
  const sweep = makeSweep([
    { workload: 'a+b', preemptions: 0, preemption_cycles: 0, kernels: [{ l1_accesses: 0 }] },
  ]);
  const { stats } = asRun(makeRuns(sweep)[0], sweep);
  assert.equal(stats.preemptions.mean_cycles, null);
  assert.equal(stats.kernels[0].l1_hit_rate, null);
});

test('only workloads with a run of every series are averaged', () => {
  const runs = makeRuns(
    makeSweep([
      { workload: 'a+b', policy: 'spatial', stp: 1 },
      { workload: 'a+b', policy: 'smk-pw', stp: 2 },
      { workload: 'a+c', policy: 'smk-pw', stp: 10 },
      { workload: 'b+c', policy: 'spatial', stp: 3 },
      { workload: 'b+c', policy: 'smk-pw', stp: 4 },
      { workload: 'b+c', policy: 'even', stp: 9 },
    ]),
  );
  const entries = complete(runs, ['spatial', 'smk-pw']);
  assert.deepEqual(
    entries.map((e) => e.workload),
    ['a+b', 'b+c'],
  );
  assert.deepEqual(Object.keys(entries[1].runs), ['spatial', 'smk-pw']);
  assert.equal(average(entries, 'spatial', 'stp'), 2);
  assert.equal(average(entries, 'smk-pw', 'stp'), 3);
  assert.equal(average([], 'smk-pw', 'stp'), null);
});

for (const [name, value] of [
  ['seed', '2'],
  ['machine', 'fermi'],
  ['control', 'rtl'],
  ['cycles', 2000],
  ['settings', 'policy.epoch_length=600'],
]) {
  test(`runs that differ in ${name} are never compared`, () => {
    const runs = makeRuns(
      makeSweep([
        { workload: 'a+b', policy: 'spatial' },
        { workload: 'a+b', policy: 'smk-pw', [name]: value },
      ]),
    );
    assert.deepEqual(complete(runs, ['spatial', 'smk-pw']), []);
    assert.equal(complete(runs, ['smk-pw']).length, 1);
  });
}

test('policies stand in the order of the paper, others after them by name', () => {
  const ids = ['smk-pw', 'table:2', 'isolated', 'spatial-ideal', 'smk', 'smk', 'spatial'];
  assert.deepEqual(inOrder(ids), [
    'isolated',
    'spatial',
    'smk',
    'smk-pw',
    'spatial-ideal',
    'table:2',
  ]);
  assert.deepEqual(inOrder([...policyOrder].reverse()), policyOrder);
  assert.deepEqual(inOrder([]), []);
});

test('of the measures only STP has a line at 1', () => {
  assert.deepEqual(
    measures.filter((m) => m.rule !== undefined).map((m) => m.id),
    ['stp'],
  );
});

const paper = {
  value: [
    { figure: 'fig10', policy: 'smk', group: 'all', measure: 'stp', value: 1.2, source: 'Sec. 6' },
  ],
  ratio: [
    {
      figure: 'fig12',
      policy: 'smk-pw',
      over: 'spatial',
      group: 'C+M',
      measure: 'stp',
      value: 1.1,
      source: 'Sec. 7',
    },
  ],
};

test("the paper's numbers are found by all of their keys", () => {
  const good = [['fig9', 'fig10'], 'smk', 'all', 'stp'];
  assert.deepEqual(paperValue(paper, ...good), { paper: 1.2, source: 'Sec. 6' });
  for (const [i, other] of [['fig9'], 'smk-p', 'C+M', 'antt'].entries()) {
    const bad = [...good];
    bad[i] = other;
    assert.deepEqual(paperValue(paper, ...bad), {}, `key ${i}`);
  }
  assert.deepEqual(paperValue({}, ...good), {});
});

test("the paper's ratios are found by all of their keys", () => {
  const good = [['fig12'], 'smk-pw', 'spatial', 'C+M', 'stp'];
  assert.deepEqual(paperRatio(paper, ...good), { paper: 1.1, source: 'Sec. 7' });
  for (const [i, other] of [['fig10'], 'smk', 'even', 'all', 'antt'].entries()) {
    const bad = [...good];
    bad[i] = other;
    assert.deepEqual(paperRatio(paper, ...bad), {}, `key ${i}`);
  }
  assert.deepEqual(paperRatio({}, ...good), {});
});
