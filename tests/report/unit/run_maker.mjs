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

// A stream of three jobs: one that ended, one that runs, one that waits.
export function makeStream() {
  return {
    jobs: {
      total: 3,
      job: [0, 1, 2],
      name: ['tea', 'sad', 'tea'],
      client: ['encrypts', 'sad', 'encrypts'],
      arrival: [100, 300, 900],
      ready: [200, 300, null],
      start: [250, 300, null],
      finish: [700, null, null],
      last_tb_end: [600, null, null],
      turnaround: [600, null, null],
      slices_completed: [2, 0, 0],
      tbs_completed: [448, 3, 0],
    },
    launches: {
      total: 3,
      job: [0, 1, 0],
      kernel: ['encrypt', 'sad_calc', 'encrypt'],
      kernel_slot: [0, 1, 0],
      first_tb: [0, 0, 84],
      tb_count: [84, 56, 364],
      start: [250, 300, 400],
      end: [300, null, 600],
    },
    copies: {
      total: 2,
      job: [0, 0],
      direction: ['in', 'out'],
      bytes: [4096, 8192],
      start: [100, 600],
      end: [200, 700],
    },
  };
}

// Two clients with scripts, for 20 seconds.
export function makeClientRun() {
  const s = (...values) => values.map((value) => value * 1e9);
  const client = (name, request, quota) => ({
    name,
    request,
    limit: 1,
    share: 0.4,
    token_share: 0.5,
    jobs: 7,
    throughput: 0.35,
    latency_ns: { mean: 30e6, p95: 40e6 },
    tokens: 2,
    mean_quota_ns: quota,
    mean_overuse_ns: 0,
  });
  return {
    stats: {
      kind: 'clients',
      workload: 'two',
      scheduler: 'gemini',
      machine: 'v100',
      seed: 1,
      time_ns: 20e9,
      utilisation: 0.8,
      throughput: 0.7,
      jobs: 14,
      memory: { in_bytes: 0, out_bytes: 0 },
      clients: [client('serve', 0.2, 1e9), client('train', 0.4, null)],
    },
    config_text: 'name = "two"',
    shares: {
      total: 4,
      client: ['serve', 'train', 'serve', 'train'],
      time_ns: s(10, 10, 20, 20),
      window_ns: s(10, 10, 10, 10),
      allocated_ns: s(7, 0, 3, 6),
      kernel_ns: s(6, 0, 8.5, 5),
    },
    tokens: {
      total: 4,
      client: ['serve', 'serve', 'train', 'serve'],
      reason: ['kernel-end', 'kernel-end', 'returned', ''],
      requested_ns: s(0, 1, 2, 18),
      granted_ns: s(0, 1.001, 3, 19),
      start_ns: s(0, 1.001, 3, 19),
      quota_ns: s(1, 1, 1, 0.5),
      end_ns: [...s(1, 2.001, 4), null],
      overuse_ns: [0, 0, 0, 0],
    },
  };
}
