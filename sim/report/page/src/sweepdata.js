// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep as objects, and which of them may be compared with each other.
import { divide, isNumber, mean, stallNames } from './format.js';

export const stallReasons = Object.keys(stallNames);

// A column: an array, or texts and which of them.
const at = (column, i) => (Array.isArray(column) ? column[i] : column.texts[column.rows[i]]);

const withoutIdeal = (settings) =>
  settings
    .split(' ')
    .filter((s) => s !== '' && !s.startsWith('run.ideal_preemption='))
    .join(' ');

// "sm.l1.bytes=49152 memory.model=fixed" as an object; numbers are numbers.
function parseSettings(text) {
  const keys = {};
  for (const setting of text.split(' ').filter(Boolean)) {
    const equals = setting.indexOf('=');
    const value = setting.slice(equals + 1);
    keys[setting.slice(0, equals)] =
      value !== '' && isNumber(Number(value)) ? Number(value) : value;
  }
  return keys;
}

function makeRun(columns, i) {
  const run = { index: i };
  for (const name of Object.keys(columns)) run[name === 'run' ? 'id' : name] = at(columns[name], i);
  run.kernelCount = run.kernels;
  run.kernels = [];
  run.base = withoutIdeal(run.settings);
  const usual = run.policy.startsWith('warped-slicer') ? 'drain' : 'switch';
  run.policyId = run.policy + (run.preempt && run.preempt !== usual ? ` ${run.preempt}` : '');
  if (run.scheduler) run.policyId = `${run.scheduler} on ${run.policyId}`;
  // Runs of a job alone have no device, but by replay no SMs.
  if (run.sm_rows === 0) run.device = 'replay';
  if (run.device === 'replay') {
    run.policyId += ' by replay';
    run.preemptions = null; // not known
  }
  run.series = run.policyId + (run.ideal_preemption ? '-ideal' : '');
  run.stalls = Object.fromEntries(
    stallReasons.map((reason) => [reason, run[reason === 'control' ? 'control_stall' : reason]]),
  );
  run.tbs = [];
  return run;
}

export function makeRuns(sweep) {
  const runs = sweep.runs.run.map((_, i) => makeRun(sweep.runs, i));
  const settings = Object.entries(sweep.settings ?? {}).filter(([key]) => key !== 'number');
  for (const run of runs) {
    run.keys = parseSettings(run.settings);
    for (const [key, values] of settings)
      if (values[run.index] !== null) run.keys[key] = values[run.index];
  }
  const names = Object.keys(sweep.kernels);
  sweep.kernels.run.forEach((index, i) => {
    const kernel = {};
    for (const name of names) kernel[name] = at(sweep.kernels[name], i);
    kernel.slot = runs[index].kernels.length;
    runs[index].kernels.push(kernel);
  });
  let next = 0;
  for (const run of runs) {
    const size = (run.sm_rows ?? run.sms) * run.kernelCount;
    run.tbs = [next, size];
    next += size;
  }
  return runs;
}

// Of a stream, and of its jobs alone by replay.
const hostOf = ({ scheduler, device }) =>
  scheduler || device ? { host: { scheduler, device } } : {};

// A run of the database in the form of stats.json. `cycles` of a run is its limit; how long it was, and what
// of it is measured, is null by replay, and not there in older databases.
export function asRun(run, sweep) {
  const { run_cycles: cycles = run.cycles, measured_cycles: measured = cycles } = run;
  const [first, size] = run.tbs;
  const count = run.kernels.length;
  const sms = Array.from({ length: size / Math.max(1, count) }, (_, sm) => ({
    sm,
    tb_mean: run.kernels.map((k, slot) => sweep.tbs.hundredths[first + sm * count + slot] / 100),
  }));
  const kernels = run.kernels.map((k) => ({
    ...k,
    restores: k.restores,
    l1_hit_rate: divide(k.l1_hits, k.l1_accesses),
    l2_hit_rate: divide(k.l2_hits, k.l2_accesses),
    stalls: Object.fromEntries(
      stallReasons.filter((r) => isNumber(k[`stall_${r}`])).map((r) => [r, k[`stall_${r}`]]),
    ),
  }));
  return {
    command: run.command,
    settings: run.settings,
    stats: {
      workload: run.workload,
      policy: run.series,
      baseline: run.policy === 'isolated',
      machine: run.machine,
      control: run.control,
      cycles,
      measured_cycles: measured,
      seed: run.seed,
      stp: run.stp,
      antt: run.antt,
      fairness: run.fairness,
      warp_instructions: run.warp_instructions,
      model_version: run.model_version,
      checks: run.checks,
      kernels,
      sms,
      ...hostOf(run),
      jobs: kernels.every((k) => k.client)
        ? kernels.map((k) => ({ job: k.slot, client: k.client }))
        : undefined,
      scheduler_cycles: run.stalls,
      wall: { wall_seconds: run.wall_seconds },
      preemptions: {
        count: run.preemptions,
        restores: kernels.reduce((a, k) => a + k.restores, 0),
        flushes: kernels.reduce((a, k) => a + k.flushes, 0),
        bytes: run.context_bytes,
        cycles: run.preemption_cycles,
        mean_cycles: divide(run.preemption_cycles, run.preemptions),
      },
    },
  };
}

// The workloads for which each of these series has a run, so that all are averaged over the same ones.
export function complete(runs, series) {
  const byWorkload = new Map();
  for (const run of runs) {
    if (!series.includes(run.series)) continue;
    const key = `${run.workload} ${run.seed} ${run.machine} ${run.control} ${run.cycles} ${run.base}`;
    if (!byWorkload.has(key))
      byWorkload.set(key, {
        workload: run.workload,
        mix: run.mix,
        kernelCount: run.kernelCount,
        runs: {},
      });
    byWorkload.get(key).runs[run.series] = run;
  }
  return [...byWorkload.values()].filter((entry) => series.every((id) => entry.runs[id]));
}

export const policyOrder = [
  'isolated',
  'leftover',
  'even',
  'spatial',
  'spatial drain',
  'spatial flush',
  'smk',
  'smk-p',
  'smk-pw',
  'smk-pw2',
  'warped-slicer',
  'warped-slicer switch',
  'warped-slicer+w',
  'warped-slicer+w switch',
  'tokens',
  'tokens drain',
  'tokens flush',
];

export function inOrder(ids) {
  const rank = (id) =>
    (policyOrder.indexOf(id) + policyOrder.length + 1) % (policyOrder.length + 1);
  return [...new Set(ids)].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

export const measures = [
  { id: 'stp', title: 'STP', better: 'higher is better', rule: 1 },
  { id: 'fairness', title: 'Fairness', better: 'higher is better' },
  { id: 'antt', title: 'ANTT', better: 'lower is better' },
];

const throughput = {
  id: 'throughput',
  title: 'Throughput',
  better: 'jobs per million cycles; higher is better',
};

// Those that these runs have: streams of jobs have a throughput.
export const measuresOf = (runs) =>
  runs.some((run) => isNumber(run.throughput)) ? [...measures, throughput] : measures;

// Whether the figures of the SMK paper are what this sweep is about.
export const isPaper = (sweep) => sweep.experiments.some((e) => e.sweep.startsWith('smk_paper'));

export const average = (entries, series, measure) =>
  mean(entries.map((entry) => entry.runs[series][measure]));

// The paper's number, or an empty object.
export function paperValue(paper, figures, policy, group, measure) {
  const found = (paper.value ?? []).find(
    (v) =>
      figures.includes(v.figure) &&
      v.policy === policy &&
      v.group === group &&
      v.measure === measure,
  );
  return found ? { paper: found.value, source: found.source } : {};
}

export function paperRatio(paper, figures, policy, over, group, measure) {
  const found = (paper.ratio ?? []).find(
    (v) =>
      figures.includes(v.figure) &&
      v.policy === policy &&
      v.over === over &&
      v.group === group &&
      v.measure === measure,
  );
  return found ? { paper: found.value, source: found.source } : {};
}
