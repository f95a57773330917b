// SPDX-License-Identifier: Apache-2.0
// The figures of a sweep, in the order and with the numbers of the SMK paper.
import { chart } from './chart.js';
import { choice, h } from './dom.js';
import { count, divide, fixed, gain, mean, percent, policyName, ratio } from './format.js';
import { tbChart } from './run.js';
import { groupedBars, legendOf, lines, rowBars } from './specs.js';
import {
  asRun,
  average,
  complete,
  inOrder,
  measures,
  paperRatio,
  paperValue,
} from './sweepdata.js';
import { kernelColour, policyColour } from './theme.js';

const runLink = (run) => `#run=${run.id}`;
const openRun = (datum) => {
  if (datum.run) window.location.hash = `#run=${datum.run}`;
};
const groupsOf = (entries) => [...inMixOrder([...new Set(entries.map((e) => e.mix))]), 'all'];
// C+C, M+M, C+M as in the paper, then all others.
function inMixOrder(mixes) {
  const first = ['C+C', 'M+M', 'C+M'];
  const rank = (mix) => (first.indexOf(mix) + first.length + 1) % (first.length + 1);
  return mixes.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
const inGroup = (entries, group) =>
  group === 'all' ? entries : entries.filter((entry) => entry.mix === group);

const barColumns = [
  { id: 'measure', title: 'Measure', text: true, value: (r) => r.measure },
  { id: 'group', title: 'Group', text: true, value: (r) => r.group },
  { id: 'name', title: 'Policy', text: true, value: (r) => r.name },
  { id: 'value', title: 'here', value: (r) => r.value, format: ratio },
  { id: 'paper', title: 'paper', value: (r) => r.paper, format: ratio },
  {
    id: 'difference',
    title: 'difference',
    value: (r) => divide(r.value, r.paper),
    format: gain,
    hint: 'Here relative to the paper',
  },
  { id: 'source', title: 'In the paper', text: true, value: (r) => r.source },
  { id: 'n', title: 'workloads', value: (r) => r.n },
];

const covers = (entries) =>
  `Averages over ${count(entries.length)} ${entries.length === 1 ? 'workload that has' : 'workloads that have'} a run under each policy shown.`;
const marks = (rows) =>
  rows.some((r) => r.paper !== undefined)
    ? h(
        'span.paper-key',
        h('span.diamond', { 'aria-hidden': 'true' }, '◆'),
        ' the paper’s number, where its text gives one',
      )
    : null;

// Means by group, one panel for each measure.
function designs({
  id,
  title,
  entries,
  series,
  paper,
  figures,
  note,
  groups = groupsOf(entries),
  groupOf = inGroup,
}) {
  const rows = measures.flatMap((m) =>
    groups.flatMap((group) =>
      series.map((policy) => {
        const part = groupOf(entries, group);
        return {
          measure: m.title,
          group,
          series: policy,
          name: policyName(policy),
          value: average(part, policy, m.id),
          n: part.length,
          ...paperValue(paper, figures, policy, group, m.id),
        };
      }),
    ),
  );
  return chart({
    id,
    title,
    rows: () => rows,
    columns: barColumns,
    height: 230,
    legend: legendOf(series, series.map(policyName), policyColour),
    note: [covers(entries), ' ', note, ' ', marks(rows)],
    panels: measures.map((m) => ({
      title: `${m.title}, ${m.better}`,
      spec: groupedBars({
        rows: rows.filter((r) => r.measure === m.title),
        groups,
        series,
        colourOf: policyColour,
        rule: m.rule,
      }),
    })),
  });
}

// One policy over another, by group: ratios of means.
function ratios({
  id,
  title,
  entries,
  pairs,
  paper,
  figures,
  groups = groupsOf(entries),
  groupOf = inGroup,
  only = measures,
}) {
  const rows = only.flatMap((m) =>
    groups.flatMap((group) =>
      pairs.map(([policy, over]) => {
        const part = groupOf(entries, group);
        return {
          measure: m.title,
          group,
          series: policy,
          name: `${policyName(policy)} / ${policyName(over)}`,
          value: divide(average(part, policy, m.id), average(part, over, m.id)),
          n: part.length,
          ...paperRatio(paper, figures, policy, over, group, m.id),
        };
      }),
    ),
  );
  const series = pairs.map(([policy]) => policy);
  return chart({
    id,
    title,
    rows: () => rows,
    columns: barColumns,
    height: 210,
    legend: legendOf(
      series,
      pairs.map(([p, o]) => `${policyName(p)} / ${policyName(o)}`),
      policyColour,
    ),
    note: ['Ratios of the averages. ', marks(rows)],
    panels: only.map((m) => ({
      title: `${m.title}, ${m.better}`,
      spec: groupedBars({
        rows: rows.filter((r) => r.measure === m.title),
        groups,
        series,
        colourOf: policyColour,
        rule: 1,
        height: 210,
      }),
    })),
  });
}

// STP pair by pair.
function pairwise({ id, title, entries, series, paper, figures, note }) {
  if (entries.length === 0) return null;
  const last = series.at(-1);
  const first = series[0];
  const sorted = [...entries].sort(
    (a, b) =>
      divide(b.runs[last].stp, b.runs[first].stp) - divide(a.runs[last].stp, a.runs[first].stp),
  );
  const rows = sorted.flatMap((entry) =>
    series.map((policy) => {
      const run = entry.runs[policy];
      const published = paperRatio(paper, figures, policy, first, entry.workload, 'stp');
      return {
        label: entry.workload,
        series: policy,
        name: policyName(policy),
        value: run.stp,
        run: run.id,
        over: divide(run.stp, entry.runs[first].stp),
        normalized: run.kernels.map((k) => `${k.name} ${ratio(k.normalized_ipc)}`).join(', '),
        ...(published.paper
          ? {
              paper: published.paper * entry.runs[first].stp,
              source: `${gain(published.paper)}, ${published.source}`,
            }
          : {}),
      };
    }),
  );
  return chart({
    id,
    title,
    rows: () => rows,
    onselect: openRun,
    wide: true,
    legend: legendOf(series, series.map(policyName), policyColour),
    height: sorted.length * (series.length * 8 + 6) + 60,
    note: [
      `A bar leads to its run. Sorted by ${policyName(last)} over ${policyName(first)}. `,
      note,
    ],
    columns: [
      { id: 'label', title: 'Workload', text: true, value: (r) => r.label },
      {
        id: 'name',
        title: 'Policy',
        text: true,
        value: (r) => r.name,
        href: (r) => `#run=${r.run}`,
      },
      { id: 'stp', title: 'STP', value: (r) => r.value, format: ratio },
      { id: 'over', title: `over ${policyName(first)}`, value: (r) => r.over, format: gain },
      { id: 'ipc', title: 'Normalized IPC', text: true, value: (r) => r.normalized },
      { id: 'paper', title: 'In the paper', text: true, value: (r) => r.source },
    ],
    panels: [
      {
        spec: rowBars({
          rows,
          labelsInOrder: sorted.map((e) => e.workload),
          series,
          colourOf: policyColour,
          title: 'STP',
          rule: 1,
        }),
      },
    ],
  });
}

const missingRuns = (what) => h('p.note.empty', `No figure: ${what}.`);

function figure5(all, sweep, paper) {
  const runs = all.filter(
    (run) => run.kernelCount >= 2 && !run.ideal_preemption && run.settings === '',
  );
  if (runs.length === 0)
    return missingRuns('the sweep has no run of two kernels with the usual settings');
  const workloads = [...new Set(runs.map((run) => run.workload))].sort();
  let workload = workloads.includes('cutcp+stencil') ? 'cutcp+stencil' : workloads[0];
  let policy = runs.some((r) => r.workload === workload && r.policyId === 'smk') ? 'smk' : null;
  const place = h('div');
  const controls = h('div.controls');
  const said = (paper.value ?? [])
    .filter((v) => v.figure === 'fig5')
    .map((v) =>
      v.measure === 'sms_shared'
        ? `${v.value} SMs shared`
        : `${v.measure.split(':')[1]} alone on ${v.value} SMs`,
    );
  const show = () => {
    const policies = inOrder(runs.filter((r) => r.workload === workload).map((r) => r.policyId));
    if (!policies.includes(policy)) policy = policies.includes('smk') ? 'smk' : policies[0];
    const run = runs.find((r) => r.workload === workload && r.policyId === policy);
    const set = (change) => (value) => {
      change(value);
      show();
    };
    controls.replaceChildren(
      choice(
        'Workload',
        workloads.map((w) => [w, w]),
        workload,
        set((value) => {
          workload = value;
        }),
      ),
      choice(
        'Policy',
        policies.map((p) => [p, policyName(p)]),
        policy,
        set((value) => {
          policy = value;
        }),
      ),
    );
    const isPapers = workload === 'cutcp+stencil' && policy === 'smk' && said.length > 0;
    place.replaceChildren(
      tbChart(asRun(run, sweep), `Mean TBs on each SM: ${workload} under ${policyName(policy)}`, [
        isPapers && `The paper has ${said.join(', ')}. `,
        h('a', { href: runLink(run) }, 'This run'),
      ]),
    );
  };
  show();
  return [controls, place];
}

// One workload with 1, 2, ... kernels on an SM: policy.kernels_per_sm was varied, smk-pw2 is 2.
function figure9(runs, byIndex) {
  const byWorkload = new Map();
  for (const run of runs) {
    if (
      run.kernelCount < 3 ||
      !['smk-pw', 'smk-pw2'].includes(run.policy) ||
      !onlySetting(run, 'policy.kernels_per_sm')
    )
      continue;
    const sharing = Math.min(run.kernelCount, run.kernels_per_sm);
    byWorkload.set(run.workload, { ...byWorkload.get(run.workload), [sharing]: run });
  }
  const usable = [...byWorkload].filter(([, by]) => Object.keys(by).length > 1);
  if (usable.length === 0)
    return missingRuns(
      'it needs workloads of three or four kernels with different numbers of kernels on an SM',
    );
  const names = usable
    .map(([workload]) => workload)
    .sort((x, y) => y.split('+').length - x.split('+').length || x.localeCompare(y));
  const isPapers = (workload) =>
    ['lbm', 'sgemm', 'stencil', 'tpacf'].every((name) => workload.split('+').includes(name));
  const place = h('div');
  const show = (workload) =>
    place.replaceChildren(
      cacheChart(workload, byWorkload.get(workload), byIndex, isPapers(workload)),
    );
  const first = names.find(isPapers) ?? names[0];
  show(first);
  return [
    h(
      'div.controls',
      choice(
        'Workload',
        names.map((w) => [w, w]),
        first,
        show,
      ),
    ),
    place,
  ];
}

// Nothing differs from the usual but `key`.
const onlySetting = (run, key) =>
  run.settings.split(' ').every((s) => s === '' || s.startsWith(`${key}=`));

function cacheRows(bySharing, byIndex) {
  const [any] = Object.values(bySharing);
  const alone = any.kernels.map((k) => byIndex[k.isolated]?.kernels[0]);
  const rows = [];
  const add = (group, kernels, fairness) => {
    const total = (name) => kernels.reduce((a, k) => a + k[name], 0);
    const put = (series, value) =>
      rows.push({ measure: series, group, series, name: series, value, n: 1 });
    put('L1 hit rate', divide(total('l1_hits'), total('l1_accesses')));
    put('L2 hit rate', divide(total('l2_hits'), total('l2_accesses')));
    if (fairness !== null) put('Fairness', fairness);
  };
  if (alone.every(Boolean)) add('each alone', alone, null);
  for (const [sharing, run] of Object.entries(bySharing))
    add(`${sharing} on an SM`, run.kernels, run.fairness);
  return rows;
}

function cacheChart(workload, bySharing, byIndex, isPapers) {
  const rows = cacheRows(bySharing, byIndex);
  const series = ['L1 hit rate', 'L2 hit rate', 'Fairness'];
  return chart({
    title: `Cache hit rates and fairness: ${workload}`,
    rows: () => rows,
    columns: barColumns,
    legend: legendOf(series, series, (id) => kernelColour(series.indexOf(id))),
    note: isPapers
      ? 'The mix of the paper, which gives no numbers for it in its text.'
      : 'The paper shows lbm+sgemm+stencil+tpacf, and gives no numbers in its text.',
    panels: [
      {
        spec: groupedBars({
          rows,
          groups: [...new Set(rows.map((r) => r.group))],
          series,
          colourOf: (id) => kernelColour(series.indexOf(id)),
        }),
      },
    ],
  });
}

function figure14(entries, paper) {
  const kinds = {
    pipeline: ['pipeline'],
    control: ['control'],
    data: ['data_memory', 'data_short'],
    stalls: [
      'pipeline',
      'control',
      'data_memory',
      'data_short',
      'barrier',
      'quota',
      'preemption',
      'empty',
    ],
  };
  const titles = { pipeline: 'Pipeline', control: 'Control', data: 'Data', stalls: 'All' };
  const total = (policy, kind) =>
    entries.reduce(
      (a, e) => a + kinds[kind].reduce((b, reason) => b + e.runs[policy].stalls[reason], 0),
      0,
    );
  const rows = Object.keys(kinds).map((kind) => ({
    measure: 'stall cycles',
    group: titles[kind],
    series: 'smk-pw',
    name: 'smk-pw / spatial',
    value: divide(total('smk-pw', kind), total('spatial', kind)),
    n: entries.length,
    ...paperRatio(paper, ['fig14'], 'smk-pw', 'spatial', 'C+M', kind),
  }));
  return chart({
    id: 'fig14',
    title: 'Stall cycles of smk-pw relative to spatial, C+M pairs',
    rows: () => rows,
    columns: barColumns,
    note: [
      `Sums over ${entries.length} pairs. Data: waits for memory, ALU, SFU or shared memory. All: every scheduler cycle in which nothing issued. `,
      marks(rows),
    ],
    panels: [
      {
        spec: groupedBars({
          rows,
          groups: Object.values(titles),
          series: ['smk-pw'],
          colourOf: policyColour,
          rule: 1,
        }),
      },
    ],
  });
}

function figure16(runs, paper) {
  const series = ['spatial', 'spatial-ideal', 'smk-pw', 'smk-pw-ideal'];
  const withIdeal = new Set(runs.filter((r) => r.ideal_preemption).map((r) => r.base));
  const entries = complete(
    runs.filter((r) => withIdeal.has(r.base)),
    series,
  );
  if (entries.length === 0)
    return missingRuns('it needs runs with and without run.ideal_preemption');
  const preempted = mean(entries.map((e) => e.runs['smk-pw'].preemptions));
  return [
    designs({
      id: 'fig16',
      title: 'With contexts that cost what they cost, and with contexts that move in no time',
      entries,
      series,
      paper,
      figures: ['fig16'],
      note: `Settings: ${[...withIdeal].join('; ')}. On average smk-pw preempts ${preempted?.toFixed(0)} TBs in a run.`,
    }),
    ratios({
      id: 'fig16-ratio',
      title: 'What is left of the throughput of the ideal',
      entries,
      pairs: [
        ['spatial', 'spatial-ideal'],
        ['smk-pw', 'smk-pw-ideal'],
      ],
      paper,
      figures: ['fig16'],
      only: measures.slice(0, 1),
      groups: ['all'],
    }),
  ];
}

function figure15(runs, paper) {
  const sizes = [3, 4].filter((size) => runs.some((run) => run.kernelCount === size));
  const series = inOrder(
    ['spatial', 'smk-pw', 'smk-pw2'].filter((p) =>
      runs.some((r) => r.kernelCount >= 3 && r.series === p),
    ),
  );
  const entries = complete(
    runs.filter((run) => run.kernelCount >= 3),
    series,
  );
  if (sizes.length === 0 || series.length < 2 || entries.length === 0)
    return missingRuns('it needs workloads of three or four kernels under several policies');
  const groups = sizes.map((size) => `${size} kernels`);
  const groupOf = (list, group) => list.filter((entry) => `${entry.kernelCount} kernels` === group);
  const over = series.filter((p) => p !== 'spatial').map((p) => [p, 'spatial']);
  return [
    designs({
      id: 'fig15',
      title: 'Three and four kernels',
      entries,
      series,
      paper,
      figures: ['fig15'],
      groups,
      groupOf,
    }),
    series.includes('spatial') &&
      ratios({
        id: 'fig15-ratio',
        title: 'Over spatial',
        entries,
        pairs: over,
        paper,
        figures: ['fig15'],
        groups,
        groupOf,
      }),
  ];
}

// A measure against a setting, for the policies that were run with several values of it.
function sensitivity(runs, key, column, title, xTitle) {
  const varied = (run) =>
    run.base.split(' ').filter((s) => s && !s.startsWith(`${key}=`)).length === 0;
  const candidates = runs.filter(
    (run) => varied(run) && !run.ideal_preemption && run.kernelCount >= 2,
  );
  const rows = [];
  for (const policy of inOrder(candidates.map((r) => r.series))) {
    const of = candidates.filter((r) => r.series === policy);
    const values = [...new Set(of.map((r) => r[column]))].sort((a, b) => a - b);
    if (values.length < 2) continue;
    const byWorkload = new Map();
    for (const run of of)
      byWorkload.set(`${run.workload} ${run.seed}`, {
        ...byWorkload.get(`${run.workload} ${run.seed}`),
        [run[column]]: run,
      });
    const full = [...byWorkload.values()].filter((entry) => values.every((v) => entry[v]));
    for (const m of measures)
      for (const x of values)
        rows.push({
          measure: m.id,
          x,
          series: policy,
          name: policyName(policy),
          value: mean(full.map((e) => e[x][m.id])),
          n: full.length,
        });
  }
  const usable = rows.filter((r) => r.value !== null);
  if (usable.length === 0) return null;
  const series = inOrder(usable.map((r) => r.series));
  return chart({
    id: key,
    title,
    rows: () => usable,
    legend: legendOf(series, series.map(policyName), policyColour),
    note: 'Not in the paper. Averages over the workloads that have a run with each value.',
    columns: [
      { id: 'measure', title: 'Measure', text: true, value: (r) => r.measure },
      { id: 'name', title: 'Policy', text: true, value: (r) => r.name },
      { id: 'x', title: xTitle, value: (r) => r.x, format: count },
      { id: 'value', title: 'mean', value: (r) => r.value, format: fixed(4) },
      { id: 'n', title: 'workloads', value: (r) => r.n },
    ],
    panels: measures.map((m) => ({
      title: `${m.title}, ${m.better}`,
      spec: lines({
        rows: usable.filter((r) => r.measure === m.id),
        series,
        colourOf: policyColour,
        xTitle,
        yTitle: null,
        log: true,
        zero: false,
        points: true,
        format: '.4f',
      }),
    })),
  });
}

// How many kernels most workloads have that are more than one.
export function usualSize(runs) {
  const sizes = new Map();
  for (const run of runs)
    if (run.kernelCount > 1) sizes.set(run.kernelCount, (sizes.get(run.kernelCount) ?? 0) + 1);
  return [...sizes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 2;
}

// All policies that cover at least half of the workloads of the usual size.
export function overviewEntries(runs) {
  const size = usualSize(runs);
  const pairs = runs.filter((run) => run.kernelCount === size && !run.ideal_preemption);
  const covered = new Map();
  for (const run of pairs) covered.set(run.series, (covered.get(run.series) ?? 0) + 1);
  const most = Math.max(0, ...covered.values());
  const series = inOrder([...covered.keys()].filter((id) => covered.get(id) * 2 >= most));
  return { series, entries: complete(pairs, series) };
}

// The policies beside each other, for any sweep; null where there are no two with the same workloads.
export function overviewFigure(usual, paper = {}) {
  const { series, entries } = overviewEntries(usual);
  if (series.length < 2 || entries.length === 0) return null;
  const groups = [...new Set(entries.map((e) => e.mix))].sort();
  return designs({
    title: entries[0].kernelCount === 2 ? 'All policies on pairs of kernels' : 'All policies',
    entries,
    series,
    paper,
    figures: ['fig10', 'fig12'],
    groups: groups.length > 1 && groups.length <= 6 ? [...groupsOf(entries)] : ['all'],
  });
}

// [id, title, contents] of each figure of the paper. `usual` has the runs with the chosen settings, `runs` those with
// any settings; the other filters hold for both.
export function allFigures({ usual, runs, sweep, byIndex, filteredMix }) {
  const { paper } = sweep;
  const pairs = usual.filter((run) => run.kernelCount === 2 && !run.ideal_preemption);
  const smk = inOrder(['smk', 'smk-p', 'smk-pw'].filter((p) => pairs.some((r) => r.series === p)));
  const designEntries = smk.length > 1 ? complete(pairs, smk) : [];
  const spatialEntries = complete(pairs, ['spatial', 'smk-pw']);
  const mixed = (entries) => (filteredMix ? entries : entries.filter((e) => e.mix === 'C+M'));
  const mixName = filteredMix ?? 'C+M';
  return [
    [
      'fig-all',
      'All policies on pairs',
      overviewFigure(usual, paper) ?? missingRuns('no two policies have run the same pairs'),
    ],
    ['fig5', 'Figure 5: TB distribution', figure5(runs, sweep, paper)],
    ['fig9', 'Figure 9: caches', figure9(runs, byIndex)],
    [
      'fig10',
      'Figure 10: the SMK designs',
      designEntries.length > 0
        ? designs({
            title: 'The SMK designs on pairs of kernels',
            entries: designEntries,
            series: smk,
            paper,
            figures: ['fig10'],
          })
        : missingRuns('it needs pairs under smk, smk-p and smk-pw'),
    ],
    [
      'fig11',
      `Figure 11: ${mixName} pairs`,
      pairwise({
        title: `STP of the SMK designs, ${mixName} pairs`,
        entries: mixed(designEntries),
        series: smk,
        paper,
        figures: ['fig11'],
      }) ?? missingRuns(`no ${mixName} pairs under smk, smk-p and smk-pw`),
    ],
    [
      'fig12',
      'Figure 12: smk-pw and spatial',
      spatialEntries.length > 0
        ? [
            designs({
              title: 'smk-pw and spatial on pairs of kernels',
              entries: spatialEntries,
              series: ['spatial', 'smk-pw'],
              paper,
              figures: ['fig12', 'fig10'],
            }),
            ratios({
              id: 'fig12-ratio',
              title: 'smk-pw relative to spatial',
              entries: spatialEntries,
              pairs: [['smk-pw', 'spatial']],
              paper,
              figures: ['fig12'],
            }),
          ]
        : missingRuns('it needs pairs under spatial and smk-pw'),
    ],
    [
      'fig13',
      `Figure 13: ${mixName} pairs`,
      pairwise({
        title: `STP of smk-pw and spatial, ${mixName} pairs`,
        entries: mixed(spatialEntries),
        series: ['spatial', 'smk-pw'],
        paper,
        figures: ['fig12', 'fig13'],
        note: bestAndWorst(spatialEntries, paper),
      }) ?? missingRuns(`no ${mixName} pairs under spatial and smk-pw`),
    ],
    [
      'fig14',
      'Figure 14: stalls',
      mixed(spatialEntries).length > 0
        ? figure14(mixed(spatialEntries), paper)
        : missingRuns('no C+M pairs under spatial and smk-pw'),
    ],
    ['fig15', 'Figure 15: more kernels', figure15(usual, paper)],
    ['fig16', 'Figure 16: preemption', figure16(runs, paper)],
    [
      'sensitivity',
      'Epoch length and latency',
      [
        sensitivity(
          runs,
          'policy.epoch_length',
          'epoch_length',
          'Length of an epoch',
          'instructions per scheduler and epoch',
        ),
        sensitivity(
          runs,
          'policy.latency_scale',
          'latency_scale',
          'Decisions that take longer',
          'latency of the driver, times',
        ),
      ].filter(Boolean),
    ],
  ];
}

function bestAndWorst(entries, paper) {
  if (entries.length === 0) return null;
  const over = entries.map((e) => divide(e.runs['smk-pw'].stp, e.runs.spatial.stp));
  const published = (group) =>
    paperRatio(paper, ['fig13'], 'smk-pw', 'spatial', group, 'stp').paper;
  const beside = (group) => (published(group) ? ` (paper: ${gain(published(group))})` : '');
  return `Of all pairs, smk-pw gains most with ${gain(Math.max(...over))}${beside('best')} and least with ${gain(Math.min(...over))}${beside('worst')}; it is ahead in ${percent(over.filter((r) => r >= 1).length / over.length)}.`;
}
