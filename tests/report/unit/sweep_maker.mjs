// SPDX-License-Identifier: Apache-2.0
// The data of a sweep's page, as smk report writes it, from short descriptions of runs.

const stalls = {
  issued: 100,
  pipeline: 10,
  control_stall: 20,
  data_memory: 30,
  data_short: 40,
  barrier: 0,
  quota: 5,
  preemption: 1,
  empty: 50,
};

const usual = {
  mix: 'C+M',
  policy: 'smk',
  preempt: 'switch',
  machine: 'gtx980',
  control: 'model',
  cycles: 1000,
  run_cycles: 1000,
  measured_cycles: 1000,
  seed: '1',
  settings: '',
  sms: 2,
  sm_rows: undefined,
  schedulers: 4,
  kernels_per_sm: 2,
  epoch_length: 2400,
  latency_scale: 1,
  ideal_preemption: 0,
  scheduler: null,
  device: null,
  command: 'smk run',
  stp: 1,
  antt: 2,
  fairness: 0.5,
  warp_instructions: 4000,
  checks: 12,
  wall_seconds: 0.5,
  preemptions: 4,
  context_bytes: 4096,
  preemption_cycles: 80,
  version: '1',
  model_version: '7',
  ...stalls,
};

const kernel = {
  isolated: null,
  type: 'compute',
  arrival: 0,
  ipc: 1,
  ipc_isolated: 2,
  normalized_ipc: 0.5,
  warp_instructions: 2000,
  tbs_completed: 3,
  l1_accesses: 100,
  l1_hits: 50,
  l2_accesses: 50,
  l2_hits: 10,
  dram_read_bytes: 640,
  dram_write_bytes: 64,
  stall_pipeline: 1,
  stall_control: 2,
  stall_data_memory: 3,
  stall_data_short: 4,
  stall_barrier: 5,
  stall_quota: 6,
  stall_preemption: 7,
  preemptions: 2,
  restores: 1,
  flushes: 0,
  context_bytes: 2048,
  preemption_cycles: 40,
  client: '',
};

// Texts of which each stands once, as the database's columns have them.
function packed(values) {
  const texts = [...new Set(values)];
  return { texts, rows: values.map((value) => texts.indexOf(value)) };
}

const repeating = [
  'workload',
  'mix',
  'policy',
  'preempt',
  'machine',
  'control',
  'seed',
  'settings',
];

// Each of `runs`: { workload: 'a+b', policy, ...what is not usual, kernels: [{...}, ...] }.
export function makeSweep(runs, more = {}) {
  const full = runs.map((run, i) => ({ ...usual, run: `r${i}`, ...run }));
  const columns = {};
  for (const name of ['run', 'workload', ...Object.keys(usual)]) {
    const values = full.map((run) => run[name]);
    columns[name] = repeating.includes(name) ? packed(values) : values;
  }
  const named = full.map((run) => run.workload.split('+'));
  columns.kernels = named.map((names) => names.length);
  const kernels = named.flatMap((names, i) =>
    names.map((name, slot) => ({ ...kernel, run: i, name, ...runs[i].kernels?.[slot] })),
  );
  const byName = { run: kernels.map((k) => k.run) };
  for (const name of ['name', ...Object.keys(kernel)]) {
    const values = kernels.map((k) => k[name]);
    byName[name] = ['name', 'type', 'client'].includes(name) ? packed(values) : values;
  }
  // Run r has 100 r + 10 sm + slot hundredths on an SM.
  const hundredths = full.flatMap(
    (run, i) =>
      Array.from({ length: run.sms }, (_, sm) =>
        named[i].map((_name, slot) => 100 * i + 10 * sm + slot),
      ).flat(), // the order of the database
  );
  return {
    runs: columns,
    kernels: byName,
    tbs: { hundredths },
    failed: { run: [], workload: [], policy: [], settings: [], command: [], error: [] },
    experiments: [],
    paper: {},
    ...more,
  };
}
