// SPDX-License-Identifier: Apache-2.0
// The data of a run's page, as smk report reads it from a folder.

const reasons = {
  issued: 400,
  pipeline: 100,
  control: 0,
  data_memory: 300,
  data_short: 100,
  barrier: 0,
  quota: 50,
  preemption: 0,
  empty: 50,
};

export function makeKernel(slot, name, more = {}) {
  return {
    slot,
    name,
    arrival: 0,
    ipc: 1.5,
    ipc_isolated: 3,
    normalized_ipc: 0.5,
    warp_instructions: 1500,
    tbs_completed: 7,
    l1_hit_rate: 0.25,
    l2_hit_rate: null,
    dram_read_bytes: 1000,
    dram_write_bytes: 500,
    preemptions: 0,
    restores: 0,
    flushes: 0,
    context_bytes: 0,
    stalls: { data_memory: 30, pipeline: 10 },
    ...more,
  };
}

// Two kernels on two SMs for 1000 cycles.
export function makeRun(more = {}, stats = {}) {
  return {
    stats: {
      workload: 'a+b',
      policy: 'smk',
      machine: 'gtx980',
      control: 'model',
      cycles: 1000,
      seed: 1,
      model_version: 7,
      stp: 1.25,
      fairness: 0.5,
      antt: 2,
      warp_instructions: 3000,
      checks: 1234,
      wall: { wall_seconds: 1.25 },
      kernels: [makeKernel(0, 'a'), makeKernel(1, 'b')],
      sms: [0, 1].map((sm) => ({ sm, tb_cycles: [1000, 500 + sm], scheduler_cycles: reasons })),
      scheduler_cycles: reasons,
      preemptions: { count: 0, restores: 0, flushes: 0, bytes: 0, mean_cycles: null },
      ...stats,
    },
    ...more,
  };
}

// The columns of a timeline from stays in order of their starts: { kernel, tb, sm, slot, start, end, outcome,
// restored, decision, replacedBy }, and decisions.
export function makeTimelineColumns(stays, decisions = []) {
  const outcomes = ['completed', 'saved', 'flushed', 'ended', 'running'];
  const of = (name, other) => stays.map((s) => s[name] ?? other);
  return {
    total: stays.length,
    outcomes,
    kernel: of('kernel', 0),
    launch: of('launch', 1),
    tb: of('tb', 0),
    sm: of('sm', 0),
    slot: of('slot', 0),
    start: stays.map((s, i) => s.start - (stays[i - 1]?.start ?? 0)),
    length: stays.map((s) => s.end - s.start),
    outcome: stays.map((s) => outcomes.indexOf(s.outcome ?? 'completed')),
    waited: of('waited', null),
    restored: stays.flatMap((s, i) => (s.restored ? [i] : [])),
    links: stays.flatMap((s, i) =>
      s.decision === undefined ? [] : [[i, s.decision, s.replacedBy ?? null]],
    ),
    decisions: {
      id: decisions.map((d, i) => d.id ?? i),
      cycle: decisions.map((d) => d.cycle),
      reason: decisions.map((d) => d.reason ?? 'preempt'),
      kernel: decisions.map((d) => d.kernel ?? 1),
      sm: decisions.map((d) => d.sm ?? 0),
      victim: decisions.map((d) => d.victim ?? null),
      victim_tbs: decisions.map((d) => d.victimTbs ?? 0),
    },
  };
}
