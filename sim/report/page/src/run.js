// SPDX-License-Identifier: Apache-2.0
// One run: from its folder with everything, or from a sweep's database with what that has.
import { chart } from './chart.js';
import { h, section } from './dom.js';
import {
  bytes,
  count,
  divide,
  isNumber,
  missing,
  percent,
  policyName,
  ratio,
  stallNames,
} from './format.js';
import { clientFacts, clientSections } from './clients.js';
import {
  coloursOf,
  haveOwnSlots,
  inOwnRuns,
  kernelLegend,
  slotNames,
  withOwnNames,
} from './kernels.js';
import { endText, isPart, measuredCycles, measuredOf, measuredText } from './lengths.js';
import { meaning } from './meanings.js';
import { decisionSection, preemptionSection, sampleSection } from './runlogs.js';
import { legendOf, smAreas, stackedBars } from './specs.js';
import { streamSection } from './stream.js';
import { facts, table, tile } from './table.js';
import { timelineSection } from './timeline.js';
import { stallColour } from './theme.js';

const reasons = Object.keys(stallNames);

// Clients with scripts have no kernels, and nothing of SMs.
const ofClients = (stats) => stats.kind === 'clients';

// What happens on SMs is not known then.
const byReplay = (stats) => stats.host?.device === 'replay';

// Under policy tokens: what each kernel slot that had a token got.
function tokenTable(run) {
  const rows = (run.stats.tokens ?? [])
    .map((given, slot) => ({ ...given, slot }))
    .filter((row) => row.tokens > 0);
  if (rows.length === 0) return null;
  const names = slotNames(run.stats);
  const own = haveOwnSlots(run.stats);
  const of = (name, title, format) => ({
    id: name,
    title,
    value: (row) => row[name],
    format,
    hint: meaning('tokens', name),
  });
  return h(
    'div',
    h('h3', 'Tokens'),
    table({
      label: 'Tokens',
      rows,
      columns: [
        { id: 'slot', title: 'slot', value: (row) => row.slot, hint: 'Kernel slot' },
        own && { id: 'kernel', title: 'Kernel', text: true, value: (row) => names[row.slot] },
        of('tokens', 'tokens', count),
        of('cycles', 'cycles', count),
        of('share', 'share', percent),
        of('overuse_cycles', 'overuse cycles', count),
        of('overuse_max', 'longest overuse', count),
      ].filter(Boolean),
    }),
    h(
      'p.note',
      'Of the whole run. share: of its cycles; overuse: cycles from the end of a token’s quota until another kernel had the GPU.',
    ),
  );
}

// How long the runs of the baseline were: as long as each other, or not.
function ownLengths(stats) {
  const lengths = stats.kernels.map((_, slot) => measuredOf(stats, slot));
  if (lengths.every((length) => length === lengths[0])) return ' of as many cycles';
  const each = stats.kernels.map((k, slot) => `${count(lengths[slot])} cycles of ${k.name}`);
  return `. They differ in length: statistics are of ${each.join(', ')}`;
}

function summary(run) {
  const { stats } = run;
  const onSms = (text) => (byReplay(stats) ? missing : text);
  const instructions = divide(stats.warp_instructions, measuredCycles(stats));
  const wall = stats.wall ?? {};
  return section(
    'summary',
    'Summary',
    h(
      'div.tiles',
      tile(
        'STP',
        ratio(stats.stp),
        'System throughput: sum of the normalized IPCs; 1 is time-sharing',
      ),
      tile('Fairness', ratio(stats.fairness), 'Smallest normalized IPC / largest; 1 is best'),
      tile('ANTT', ratio(stats.antt), 'Average normalized turnaround time; 1 is best'),
      !inOwnRuns(stats) &&
        tile(
          'Instructions per cycle',
          instructions === null ? missing : instructions.toFixed(2),
          'Warp instructions per core cycle, over all SMs',
        ),
      tile(
        'Preempted TBs',
        onSms(count(stats.preemptions.count)),
        'TBs taken off their SM by saving their context',
      ),
      tile('Context traffic', onSms(bytes(stats.preemptions.bytes)), 'Contexts saved and restored'),
      tile('Cycles', count(stats.cycles)),
      isPart(stats) &&
        tile('Measured cycles', count(measuredCycles(stats)), 'Those that the statistics are of'),
      tile(
        'Simulated in',
        wall.wall_seconds === undefined ? missing : `${wall.wall_seconds.toFixed(1)} s`,
      ),
    ),
    tokenTable(run),
    inOwnRuns(stats) &&
      h(
        'p.note',
        `The baseline: each kernel ran alone on the whole GPU, in a run of its own${ownLengths(stats)}. The runs are shown beside each other; no SM had two of these kernels.`,
      ),
  );
}

// A column of a statistic of kernels[]; its hint is what the program says of it.
const column = (id, title, name, format) => ({
  id,
  title,
  format,
  statistic: name,
  value: (k) => k[name],
});

// Hits of a cache, which nobody may have asked; replay does not know them.
const hits = (cache, title) => ({
  ...column(cache, title, `${cache}_hit_rate`, percent),
  value: (k) => (k[`${cache}_accesses`] === 0 ? null : k[`${cache}_hit_rate`]),
});

const nameColumn = (run) => ({
  id: 'name',
  title: 'Kernel',
  text: true,
  value: (k) => k.name,
  render: (k) => [
    h('span.key', { style: { background: coloursOf(run)(run.stats.kernels.indexOf(k)) } }),
    k.name,
  ],
});

const kernelColumns = [
  column('ipc', 'IPC', 'ipc', ratio),
  column('isolated', 'isolated', 'ipc_isolated', ratio),
  column('normalized', 'normalized', 'normalized_ipc', ratio),
  column('arrival', 'arrival', 'arrival', count),
  column('instructions', 'instructions', 'warp_instructions', count),
  column('tbs', 'TBs done', 'tbs_completed', count),
  hits('l1', 'L1 hits'),
  hits('l2', 'L2 hits'),
  {
    id: 'dram',
    title: 'DRAM',
    value: (k) => k.dram_read_bytes + k.dram_write_bytes,
    format: bytes,
    hint: 'Bytes read and written',
  },
  column('saved', 'saved', 'preemptions', count),
  column('restored', 'restored', 'restores', count),
  column('flushed', 'flushed', 'flushes', count),
  column('context', 'context', 'context_bytes', bytes),
];

// Columns that say nothing in most runs.
const rare = ['arrival', 'saved', 'restored', 'flushed', 'context'];

function kernelTable(run) {
  const { kernels } = run.stats;
  const columns = [nameColumn(run), ...kernelColumns]
    .filter((c) => !rare.includes(c.id) || kernels.some((k) => c.value(k) > 0))
    .map((c) => ({ ...c, hint: c.hint ?? meaning('kernels', c.statistic) }));
  return section(
    'kernels',
    'Kernels',
    table({ columns, rows: kernels, label: 'Kernels' }),
    byReplay(run.stats) &&
      h('p.note', 'By replay: at measured rates. What happens on the SMs is not known.'),
  );
}

// Rows of a stacked chart from objects of cycles by reason.
function stallRows(labelled) {
  return labelled.flatMap(([label, cycles]) => {
    const sum = reasons.reduce((total, reason) => total + (cycles[reason] ?? 0), 0);
    return reasons
      .filter((reason) => cycles[reason] !== undefined)
      .map((reason, order) => ({
        label,
        part: reason,
        name: stallNames[reason],
        value: divide(cycles[reason], sum),
        cycles: cycles[reason],
        order,
      }));
  });
}

const stallColumns = [
  { id: 'label', title: 'Where', text: true, value: (r) => r.label },
  { id: 'name', title: 'Reason', text: true, value: (r) => r.name },
  { id: 'share', title: 'share', value: (r) => r.value, format: percent },
  { id: 'cycles', title: 'scheduler cycles', value: (r) => r.cycles, format: count },
];

function stallChart(title, labelled, note, horizontal = true) {
  const rows = stallRows(labelled);
  const parts = reasons.filter((reason) => rows.some((row) => row.part === reason));
  return chart({
    title,
    note,
    rows: () => rows,
    columns: stallColumns,
    height: horizontal ? 30 + 34 * labelled.length : 220,
    legend: legendOf(
      parts,
      parts.map((p) => stallNames[p]),
      stallColour,
    ),
    panels: [
      {
        spec: stackedBars({
          rows,
          labelsInOrder: labelled.map(([label]) => label),
          parts,
          colourOf: stallColour,
          horizontal,
          height: horizontal ? 30 + 34 * labelled.length : 220,
          axisFormat: '.0%',
          tips: [
            ['label', ''],
            ['name', 'Reason'],
            ['value', 'Share', '.1%'],
            ['cycles', 'Scheduler cycles', ',d'],
          ],
        }),
      },
    ],
  });
}

function stalls(run) {
  const { stats } = run;
  const apart = inOwnRuns(stats);
  const bySm = (apart ? [] : (stats.sms ?? []))
    .filter((sm) => sm.scheduler_cycles)
    .map((sm) => [String(sm.sm), sm.scheduler_cycles]);
  return section(
    'stalls',
    'Stall breakdown',
    h(
      'div.pair',
      stallChart(
        'What the schedulers did',
        [[apart ? 'All runs' : 'All SMs', stats.scheduler_cycles]],
        'Every cycle of every warp scheduler has one reason.',
      ),
      stallChart(
        'Why the kernels waited',
        stats.kernels.map((k) => [k.name, k.stalls]),
        'A scheduler cycle counts for the kernel of the oldest warp for which the reason holds.',
      ),
    ),
    bySm.length > 0 && stallChart('What the schedulers of each SM did', bySm, null, false),
  );
}

// The kernels that a chart shows: all, or the one of a slot.
const shownSlots = (run, only) =>
  run.stats.kernels.map((_, slot) => slot).filter((slot) => only === null || slot === only);
const legendOfShown = (run, only) => (only === null ? kernelLegend(run) : undefined);

// Mean TBs by SM and kernel.
function meanTbs(run, only) {
  const { stats } = run;
  return stats.sms.flatMap((sm) =>
    shownSlots(run, only).map((slot) => ({
      label: String(sm.sm),
      part: slot,
      order: slot,
      name: stats.kernels[slot].name,
      value: sm.tb_mean ? sm.tb_mean[slot] : divide(sm.tb_cycles[slot], measuredOf(stats, slot)),
    })),
  );
}

export function tbChart(run, title, note, only = null) {
  const rows = meanTbs(run, only);
  const { sms } = run.stats;
  return chart({
    title,
    note,
    rows: () => rows,
    height: 220,
    legend: legendOfShown(run, only),
    columns: [
      { id: 'sm', title: 'SM', value: (r) => Number(r.label) },
      { id: 'kernel', title: 'Kernel', text: true, value: (r) => r.name },
      {
        id: 'tbs',
        title: 'mean TBs',
        value: (r) => r.value,
        format: (v) => v?.toFixed(2) ?? missing,
      },
    ],
    panels: [
      {
        spec: stackedBars({
          rows,
          labelsInOrder: sms.map((sm) => String(sm.sm)),
          parts: shownSlots(run, only),
          colourOf: coloursOf(run),
          title: 'resident TBs',
          tips: [
            ['label', 'SM'],
            ['name', 'Kernel'],
            ['value', 'Mean TBs', '.2f'],
          ],
        }),
      },
    ],
  });
}

function residencyRows(run, only) {
  const { step, steps, hundredths } = run.residency;
  const { kernels, sms } = run.stats;
  const rows = [];
  let at = 0;
  for (let sm = 0; sm < sms.length; ++sm) {
    for (let slot = 0; slot < kernels.length; ++slot) {
      for (let i = 0; i < steps; ++i, ++at) {
        if (only !== null && slot !== only) continue;
        rows.push({
          sm,
          series: slot,
          name: kernels[slot].name,
          x: i * step,
          value: hundredths[at] / 100,
        });
      }
    }
  }
  return rows;
}

function overTime(run, only = null) {
  if (!run.residency) return null;
  const { kernels, sms, cycles } = run.stats;
  let rows = null;
  const all = () => (rows ??= residencyRows(run, only));
  return chart({
    title: `TBs on each SM over time${only === null ? '' : `, ${kernels[only].name} alone`}`,
    id: only === null ? 'tbs-over-time' : `tbs-over-time-${only}`,
    legend: legendOfShown(run, only),
    height: 96 * Math.ceil(sms.length / 4) + 40,
    rows: all,
    note: `Mean number of resident TBs in steps of ${count(run.residency.step)} cycles.`,
    columns: [
      { id: 'sm', title: 'SM', value: (r) => r.sm },
      { id: 'kernel', title: 'Kernel', text: true, value: (r) => r.name },
      { id: 'cycle', title: 'from cycle', value: (r) => r.x, format: count },
      { id: 'tbs', title: 'mean TBs', value: (r) => r.value, format: (v) => v.toFixed(2) },
    ],
    panels: [
      {
        spec: (width) =>
          smAreas({
            rows: all(),
            series: shownSlots(run, only),
            colourOf: coloursOf(run),
            xTitle: 'from cycle',
            end: cycles,
          })(width),
      },
    ],
  });
}

function tbSection(run) {
  const title = `TBs on each SM, mean of the ${isPart(run.stats) ? 'measured cycles' : 'run'}`;
  if (!inOwnRuns(run.stats))
    return section('tbs', 'Thread blocks', tbChart(run, title), overTime(run));
  return section(
    'tbs',
    'Thread blocks',
    h(
      'div.pair',
      run.stats.kernels.map((k, slot) => tbChart(run, `${title}, ${k.name} alone`, null, slot)),
    ),
    run.stats.kernels.map((k, slot) => overTime(run, slot)),
  );
}

function config(run) {
  const { manifest, stats } = run;
  const command = manifest?.command_line ?? run.command;
  return section(
    'config',
    'Effective configuration',
    facts(
      [
        ['Command', command ? h('code', command) : null],
        ['Machine', stats.machine],
        ['Control plane', stats.control],
        ['Seed', String(stats.seed)],
        run.settings ? ['Settings', h('code', run.settings)] : null,
        manifest && ['Made', `${manifest.date} by ${manifest.version} (${manifest.git_describe})`],
        ['Model version', stats.model_version],
        stats.checks !== undefined && ['Checks that held', count(stats.checks)],
      ].filter((pair) => pair && pair[1]),
    ),
    manifest &&
      h(
        'details',
        h('summary', 'Input files'),
        table({
          label: 'Input files',
          rows: manifest.inputs,
          columns: ['kind', 'path', 'sha256'].map((id) => ({
            id,
            title: id,
            text: true,
            value: (r) => r[id],
          })),
        }),
      ),
    run.config_text &&
      h(
        'details',
        { open: true },
        h('summary', 'config.toml'),
        h('pre', { tabindex: '0' }, run.config_text),
      ),
    !run.config_text &&
      h(
        'p.note',
        byReplay(stats)
          ? 'The command above makes the same run again; with --out its page has its jobs over time.'
          : 'The command above makes the same run again; with --out and --timeline its page has everything over time.',
      ),
  );
}

// All sections of a run.
export function runSections(given) {
  if (ofClients(given.stats)) return [...clientSections(given), config(given)];
  const run = withOwnNames(given);
  const begin = [summary(run), streamSection(run), kernelTable(run)];
  if (byReplay(run.stats)) return [...begin, config(run)].filter(Boolean);
  const timeline = timelineSection(run);
  return [
    ...begin,
    stalls(run),
    tbSection(run),
    timeline?.section,
    sampleSection(run),
    preemptionSection(run, timeline),
    decisionSection(run),
    config(run),
  ].filter(Boolean);
}

// What heads the page of a run.
export const runFacts = (stats) =>
  ofClients(stats)
    ? clientFacts(stats)
    : [
        `policy ${policyName(stats.policy)}`,
        `machine ${stats.machine}`,
        `control ${stats.control}`,
        isNumber(stats.cycles) && `${count(stats.cycles)} cycles`,
        measuredText(stats),
        endText(stats),
        `seed ${stats.seed}`,
      ].filter(Boolean);
