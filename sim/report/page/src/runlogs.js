// SPDX-License-Identifier: Apache-2.0
// What a run's folder has over time: samples, preemptions, decisions.
import { chart } from './chart.js';
import { choice, h, section } from './dom.js';
import { count, divide, fixed, missing } from './format.js';
import { coloursOf, haveOwnSlots, inOwnRuns, kernelLegend, slotNames } from './kernels.js';
import { isPart, measuredText } from './lengths.js';
import { legendOf, lines, stackedSteps, withStarts } from './specs.js';
import { facts, table } from './table.js';

const seriesOf = (run) => ({
  series: run.stats.kernels.map((k, slot) => slot),
  colourOf: coloursOf(run),
});

// IPC and quotas by end of sample and kernel; of one SM, or of all: IPC is then a sum, the quota the mean
// of the SMs on which the kernel has TBs and a quota. An SM that profiles has none; null when no SM has.
export function sampleRows(run, wanted) {
  const s = run.samples;
  const groups = new Map();
  for (let i = 0; i < s.cycle.length; ++i) {
    if (wanted !== 'all' && s.sm[i] !== Number(wanted)) continue;
    const key = `${s.cycle[i]} ${s.kernel[i]}`;
    let group = groups.get(key);
    if (!group) {
      group = {
        x: s.cycle[i],
        series: s.kernel[i],
        name: run.stats.kernels[s.kernel[i]].name,
        length: s.length[i],
        instructions: 0,
        quota: 0,
        sms: 0,
        tbs: 0,
      };
      groups.set(key, group);
    }
    group.instructions += s.warp_instructions[i];
    group.tbs += s.resident_tbs[i];
    if (s.resident_tbs[i] > 0 && s.quota[i] > 0) {
      group.quota += s.quota[i];
      group.sms += 1;
    }
  }
  return [...groups.values()].map((g) => ({
    ...g,
    ipc: g.instructions / g.length,
    meanQuota: divide(g.quota, g.sms),
  }));
}

// Without quotas, or with one that never changes, there is nothing to be seen of them.
export const hasQuotas = (run) =>
  new Set(run.samples.quota.filter((_, i) => run.samples.resident_tbs[i] > 0)).size > 1;

const sampleColumns = (run) => [
  { id: 'cycle', title: 'to cycle', value: (r) => r.x, format: count },
  { id: 'kernel', title: 'Kernel', text: true, value: (r) => r.name },
  { id: 'ipc', title: 'IPC', value: (r) => r.ipc, format: fixed(3) },
  ...(hasQuotas(run)
    ? [{ id: 'quota', title: 'quota', value: (r) => r.meanQuota, format: fixed(0) }]
    : []),
  { id: 'tbs', title: 'TBs', value: (r) => r.tbs, format: count },
];

// The cycles that have samples, and the rest of the run when it is less than one.
function axisOf(run) {
  const { cycle, length } = run.samples;
  const { cycles } = run.stats;
  const last = cycle.at(-1);
  return [cycle[0] - length[0], last + length.at(-1) > cycles ? cycles : last];
}

function sampleCharts(run, wanted) {
  const rows = sampleRows(run, wanted);
  const legend = kernelLegend(run);
  const columns = sampleColumns(run);
  const common = { ...seriesOf(run), xTitle: 'cycle', step: true, height: 210 };
  common.xDomain = axisOf(run);
  const drawn = (valueOf) =>
    withStarts(
      rows.map((r) => ({ ...r, value: valueOf(r) })),
      (r) => r.x - r.length,
    );
  return h(
    'div.pair',
    chart({
      title: wanted === 'all' ? 'IPC of each sample, all SMs' : `IPC of each sample, SM ${wanted}`,
      rows: () => rows,
      columns,
      legend,
      panels: [{ spec: lines({ ...common, rows: drawn((r) => r.ipc), yTitle: 'IPC' }) }],
    }),
    hasQuotas(run) &&
      chart({
        title:
          wanted === 'all'
            ? 'Quota of a scheduler, mean of the SMs where the kernel has one'
            : `Quota of a scheduler on SM ${wanted}`,
        rows: () => rows,
        columns,
        legend,
        panels: [
          {
            spec: lines({
              ...common,
              rows: drawn((r) => r.meanQuota),
              yTitle: 'instructions',
              format: ',.0f',
            }),
          },
        ],
      }),
  );
}

// What comes after the last whole epoch, or the window of --timeline.
function restNote(run) {
  const last = run.samples.cycle.at(-1);
  return (
    last < run.stats.cycles &&
    h(
      'p.note',
      `The last sample ends at cycle ${count(last)}; what the run did after it is in none.`,
    )
  );
}

function noSamples(run) {
  const length = run.config?.policy?.epoch_length;
  return length > run.stats.cycles
    ? `The run of ${count(run.stats.cycles)} cycles is shorter than an epoch of ${count(length)}: there are no samples.`
    : 'No epoch or step of --timeline ended: there are no samples.';
}

export function sampleSection(run) {
  if (!run.samples) return null;
  if (run.samples.cycle.length === 0)
    return section('epochs', 'IPC per epoch', h('p.note', noSamples(run)));
  const place = h('div');
  const show = (wanted) => place.replaceChildren(sampleCharts(run, wanted));
  const options = [
    ['all', 'All SMs'],
    ...run.stats.sms.map((sm) => [String(sm.sm), `SM ${sm.sm}`]),
  ];
  show('all');
  return section(
    'epochs',
    hasQuotas(run) ? 'Quotas and IPC per epoch' : 'IPC per epoch',
    h('div.controls', choice('SM', options, 'all', show)),
    place,
    restNote(run),
  );
}

// Rows of a log that is stored as columns.
export function logRows(log, names) {
  return log[names[0]].map((_, i) => Object.fromEntries(names.map((name) => [name, log[name][i]])));
}

const leftOut = (log, shown) =>
  log.total > shown
    ? h(
        'p.note',
        `The first ${count(shown)} of ${count(log.total)} rows; the rest is in the run's folder.`,
      )
    : null;

function preemptionColumns(run, timeline) {
  const name = (r) => run.stats.kernels[r.kernel].name;
  const show = (r) =>
    h('button.link', { type: 'button', onclick: () => timeline.showTb(r) }, `${count(r.end)}`);
  return [
    {
      id: 'end',
      title: 'gone at',
      value: (r) => r.end,
      format: count,
      hint: 'Cycle at which its context was saved, or it was dropped; shows it in the timeline',
      render: timeline && ((r) => show(r)),
    },
    {
      id: 'kernel',
      title: 'Kernel',
      text: true,
      value: name,
      render: (r) => [h('span.key', { style: { background: coloursOf(run)(r.kernel) } }), name(r)],
    },
    { id: 'launch', title: 'launch', value: (r) => r.launch },
    { id: 'tb', title: 'TB', value: (r) => r.tb },
    { id: 'sm', title: 'SM', value: (r) => r.sm },
    { id: 'slot', title: 'slot', value: (r) => r.slot },
    { id: 'how', title: 'How', text: true, value: (r) => (r.flushed ? 'flushed' : 'saved') },
    {
      id: 'ran',
      title: 'was there',
      value: (r) => r.end - r.start,
      format: count,
      hint: 'Cycles on the SM before it',
    },
    { id: 'back', title: 'back at', value: (r) => r.back, format: count },
    { id: 'back_sm', title: 'on SM', value: (r) => r.back_sm },
    {
      id: 'away',
      title: 'away',
      value: (r) => (r.back === null ? null : r.back - r.end),
      format: count,
      hint: 'Cycles between',
    },
  ];
}

// `timeline` shows a TB.
export function preemptionSection(run, timeline) {
  if (!run.preemptions) return null;
  const log = run.preemptions;
  const { preemptions } = run.stats;
  if (log.total === 0)
    return section('preemptions', 'Preemptions', h('p.note', 'No TB was preempted.'));
  const rows = logRows(log, [
    'kernel',
    'launch',
    'tb',
    'sm',
    'slot',
    'start',
    'end',
    'flushed',
    'back',
    'back_sm',
  ]);
  const away = rows.filter((r) => r.back !== null).map((r) => r.back - r.end);
  return section(
    'preemptions',
    'Preemptions',
    facts([
      ['Saved', count(preemptions.count)],
      ['Restored', count(preemptions.restores)],
      ['Flushed', count(preemptions.flushes)],
      ['Cycles to save a TB', count(preemptions.mean_cycles)],
      [
        'Cycles away, mean',
        away.length > 0 ? count(away.reduce((a, b) => a + b, 0) / away.length) : missing,
      ],
    ]),
    table({
      columns: preemptionColumns(run, timeline),
      rows,
      label: 'Preemption log',
      search: 'kernel, saved, flushed',
      size: 20,
    }),
    isPart(run.stats) &&
      h('p.note', `The counts are ${measuredText(run.stats)}; the log is of the whole run.`),
    leftOut(log, rows.length),
  );
}

export const reasonTexts = {
  'dispatch-new': 'a new TB fits',
  'dispatch-restored': 'a preempted TB fits',
  'dispatch-restarted': 'a flushed TB fits',
  preempt: 'TBs of the victim leave so that one TB fits',
  'no-victim': 'no other kernel on the SM to take TBs from',
  'range-not-reduced': 'preemption would not shrink the range of rK',
  'partition-full': "the kernel's partition has no room",
  'no-room': 'the SM has no room',
  repartition: 'new partitions are planned for the SM',
  'evict-sm': 'the SM changes hands',
  'queue-full': 'no context buffer is free',
  'room-coming': 'room for all its waiting TBs is being made already',
};

const reasonPalette = [
  '#4e79a7',
  '#76b7b2',
  '#59a14f',
  '#e15759',
  '#f28e2b',
  '#b6992d',
  '#9c755f',
  '#86807c',
  '#b07aa1',
  '#d37295',
  '#499894',
  '#a0cbe8',
];
export const reasonColour = (name) =>
  reasonPalette[Object.keys(reasonTexts).indexOf(name) % reasonPalette.length] ?? '#888888';

const sum = (values, from = 0, to = values.length) => {
  let total = 0;
  for (let i = from; i < to; ++i) total += values[i];
  return total;
};

function reasonTable(run) {
  const { reasons, counts, steps } = run.decisions;
  const rows = reasons.map((reason, i) => ({
    reason,
    all: sum(counts[i]),
    by: run.stats.kernels.map((k, slot) => sum(counts[i], slot * steps, (slot + 1) * steps)),
  }));
  return table({
    label: 'Decisions by reason',
    rows,
    sort: ['all', 'descending'],
    columns: [
      {
        id: 'reason',
        title: 'Reason',
        text: true,
        value: (r) => r.reason,
        render: (r) => [h('span.key', { style: { background: reasonColour(r.reason) } }), r.reason],
      },
      { id: 'means', title: 'It means', text: true, value: (r) => reasonTexts[r.reason] ?? '' },
      ...run.stats.kernels.map((k, slot) => ({
        id: `k${slot}`,
        title: k.name,
        value: (r) => r.by[slot],
        format: count,
      })),
      { id: 'all', title: 'all', value: (r) => r.all, format: count },
    ],
  });
}

function reasonChart(run) {
  const { reasons, counts, step, steps } = run.decisions;
  const { cycles } = run.stats;
  const kernels = run.stats.kernels.length;
  const width = Math.max(1, Math.round(steps / 50)); // steps in one bar
  const rows = [];
  reasons.forEach((reason, order) => {
    for (let i = 0; i < steps; i += width) {
      let value = 0;
      for (let slot = 0; slot < kernels; ++slot)
        value += sum(counts[order], slot * steps + i, slot * steps + Math.min(i + width, steps));
      const [x, x2] = [i * step, Math.min((i + width) * step, cycles)];
      if (value > 0) rows.push({ x, x2, part: reason, name: reason, order, value });
    }
  });
  return chart({
    title: 'Decisions over time',
    legend: legendOf(reasons, reasons, reasonColour),
    rows: () => rows,
    note: `In steps of ${count(step * width)} cycles${inOwnRuns(run.stats) ? ', of all runs together' : ''}.`,
    columns: [
      { id: 'cycle', title: 'from cycle', value: (r) => r.x, format: count },
      { id: 'reason', title: 'Reason', text: true, value: (r) => r.name },
      { id: 'count', title: 'decisions', value: (r) => r.value, format: count },
    ],
    panels: [
      {
        spec: stackedSteps({
          rows,
          parts: reasons,
          colourOf: reasonColour,
          xTitle: 'cycle',
          yTitle: 'decisions',
          end: cycles,
          tips: [
            ['x', 'From cycle', ',d'],
            ['name', 'Reason'],
            ['value', 'Decisions', ',d'],
          ],
        }),
      },
    ],
  });
}

// rK in percent: shares come in units of 1 / (SMs x LCM of an SM's limits in allocation units).
function shareUnit(run) {
  const limits = run.config?.machine?.sm?.limits;
  if (!limits) return null;
  const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b));
  const units = [
    limits.registers / 256,
    limits.shared_memory / 256,
    limits.threads / 32,
    limits.tbs,
  ];
  return run.stats.sms.length * units.reduce((a, b) => (a * b) / gcd(a, b));
}

function decisionColumns(run) {
  const { kernels } = run.stats;
  const unit = shareUnit(run);
  const share = (value) => (unit ? `${((100 * value) / unit).toFixed(2)} %` : value);
  return [
    { id: 'cycle', title: 'cycle', value: (r) => r.cycle, format: count },
    {
      id: 'last',
      title: 'to',
      value: (r) => (r.times > 1 ? r.last : null),
      format: count,
      hint: 'The last of equal refusals in a row',
    },
    { id: 'times', title: 'times', value: (r) => r.times, format: count },
    { id: 'reason', title: 'Reason', text: true, value: (r) => run.decisions.reasons[r.reason] },
    { id: 'kernel', title: 'Kernel', text: true, value: (r) => kernels[r.kernel].name },
    { id: 'sm', title: 'SM', value: (r) => r.sm },
    { id: 'tb', title: 'TB', value: (r) => r.tb },
    {
      id: 'victim',
      title: 'Victim',
      text: true,
      value: (r) => (r.victim === null ? null : kernels[r.victim]?.name),
      format: (v, r) => (v ? `${v}, ${r.victim_tbs} TB${r.victim_tbs === 1 ? '' : 's'}` : missing),
    },
    ...slotNames(run.stats).map((name, slot) => ({
      id: `share${slot}`,
      title: `rK ${name}`,
      value: (r) => r.shares[slot],
      format: share,
      hint: `Dominant share of the whole GPU at that time, of the kernel in kernel slot ${slot}`,
    })),
  ];
}

export function decisionSection(run) {
  if (!run.decisions) return null;
  const { log } = run.decisions;
  const rows = logRows(log, [
    'cycle',
    'last',
    'times',
    'reason',
    'kernel',
    'sm',
    'tb',
    'victim',
    'victim_tbs',
    'shares',
  ]);
  return section(
    'decisions',
    'Decisions of the dispatch logic',
    reasonTable(run),
    reasonChart(run),
    h('h3', 'Log'),
    table({
      columns: decisionColumns(run),
      rows,
      label: 'Decision log',
      search: 'reason, kernel, victim',
      size: 20,
    }),
    !haveOwnSlots(run.stats) &&
      h('p.note', 'rK is of a kernel slot; launches.csv says which kernel was in it, and when.'),
    leftOut(log, rows.length),
  );
}
