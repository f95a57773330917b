// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: filters, figures, the pairs, all runs.
import { choice, h, section, segments } from './dom.js';
import { count, divide, fixed, gain, policyName, ratio } from './format.js';
import { allFigures, overviewEntries, overviewFigure } from './figures.js';
import {
  average,
  inOrder,
  isPaper,
  makeRuns,
  measures,
  measuresOf,
  paperValue,
} from './sweepdata.js';
import { sweptExperiments, sweptSection } from './swept.js';
import { table } from './table.js';
import { orderPolicies, policyColour } from './theme.js';

const distinct = (runs, get) => [...new Set(runs.map(get))];

function mostCommon(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

// What is chosen at the top; '' in mix, kernel and policy is all.
function startState(runs) {
  const shared = runs.filter((run) => run.policy !== 'isolated');
  const pool = shared.length > 0 ? shared : runs;
  const pick = (get) => mostCommon(pool.map(get));
  const settings = pool.some((run) => run.base === '') ? '' : pick((run) => run.base);
  return {
    machine: pick((r) => r.machine),
    control: pick((r) => r.control),
    cycles: pick((r) => r.cycles),
    seed: pick((r) => r.seed),
    settings,
    mix: '',
    kernel: '',
  };
}

export const holds = (state) => (run) =>
  run.machine === state.machine &&
  run.control === state.control &&
  run.cycles === state.cycles &&
  run.seed === state.seed &&
  (state.mix === '' || run.mix === state.mix) &&
  (state.kernel === '' || run.kernels.some((k) => k.name === state.kernel));

function filterBar(runs, state, change) {
  const one = (label, key, options, convert = (v) => v) =>
    options.length > 1 &&
    choice(label, options, String(state[key]), (value) => change({ [key]: convert(value) }), {
      'data-filter': key,
    });
  const plain = (key) =>
    distinct(
      runs.filter((r) => r.policy !== 'isolated'),
      (r) => r[key],
    ).map((v) => [String(v), String(v)]);
  const mixes = distinct(runs, (r) => r.mix)
    .filter((m) => m.includes('+'))
    .sort((a, b) => a.length - b.length || a.localeCompare(b));
  const kernels = distinct(
    runs.flatMap((r) => r.kernels),
    (k) => k.name,
  ).sort();
  const settings = distinct(
    runs.filter((r) => r.policy !== 'isolated'),
    (r) => r.base,
  ).sort();
  return h(
    'form.filters',
    {
      'aria-label': 'Filters of all figures and tables',
      onsubmit: (event) => event.preventDefault(),
    },
    one('Mix', 'mix', [['', 'all'], ...mixes.map((m) => [m, m])]),
    one('With kernel', 'kernel', [['', 'any'], ...kernels.map((k) => [k, k])]),
    one(
      'Settings',
      'settings',
      settings.map((s) => [s, s === '' ? 'usual' : s]),
    ),
    one('Machine', 'machine', plain('machine')),
    one('Control', 'control', plain('control')),
    one('Cycles', 'cycles', plain('cycles'), Number),
    one('Seed', 'seed', plain('seed')),
    h('span.status', { role: 'status', id: 'shown' }),
  );
}

function summary(runs, sweep, settings) {
  const { series, entries } = overviewEntries(runs.filter((run) => run.base === settings));
  const ofPaper = isPaper(sweep);
  const streamMeasures = measuresOf(runs).slice(measures.length);
  const rows = series.map((policy) => {
    const row = { policy };
    for (const m of measuresOf(runs)) row[m.id] = average(entries, policy, m.id);
    row.paperStp = paperValue(sweep.paper, ['fig10', 'fig12'], policy, 'all', 'stp').paper;
    row.paperFairness = paperValue(
      sweep.paper,
      ['fig10', 'fig12'],
      policy,
      'all',
      'fairness',
    ).paper;
    row.preempted = average(entries, policy, 'preemptions');
    return row;
  });
  const workloads = distinct(entries, (e) => e.workload).length;
  const experiments = sweep.experiments.map((e) => ({ ...e, done: e.runs.length }));
  return section(
    'summary',
    'Summary',
    h(
      'p',
      `${count(runs.length)} runs`,
      sweep.failed.run.length > 0 ? `, and ${count(sweep.failed.run.length)} that failed` : '',
      '. ',
      entries.length > 0 &&
        `The table has the means over ${count(workloads)} ${workloads === 1 ? 'workload' : 'workloads'} of ${entries[0].kernelCount} kernels with a run under each of these policies${settings === '' ? '' : `, with ${settings}`}${entries.length > workloads ? `; ${count(entries.length)} runs of each` : ''}.`,
    ),
    entries.length > 0 &&
      table({
        label: 'Policies',
        rows,
        columns: [
          {
            id: 'policy',
            title: 'Policy',
            text: true,
            value: (r) => policyName(r.policy),
            render: (r) => [
              h('span.key', { style: { background: policyColour(r.policy) } }),
              policyName(r.policy),
            ],
          },
          {
            id: 'stp',
            title: 'STP',
            value: (r) => r.stp,
            format: ratio,
            hint: 'Sum of the normalized IPCs; 1 is time-sharing',
          },
          ofPaper && { id: 'pstp', title: 'paper', value: (r) => r.paperStp, format: fixed(2) },
          {
            id: 'fairness',
            title: 'fairness',
            value: (r) => r.fairness,
            format: ratio,
            hint: 'Smallest normalized IPC / largest',
          },
          ofPaper && {
            id: 'pfairness',
            title: 'paper',
            value: (r) => r.paperFairness,
            format: fixed(2),
          },
          {
            id: 'antt',
            title: 'ANTT',
            value: (r) => r.antt,
            format: ratio,
            hint: 'Mean of 1 / normalized IPC',
          },
          ...streamMeasures.map((m) => ({
            id: m.id,
            title: m.title.toLowerCase(),
            value: (r) => r[m.id],
            format: ratio,
            hint: m.better,
          })),
          {
            id: 'preempted',
            title: 'preempted TBs',
            value: (r) => r.preempted,
            format: fixed(1),
            hint: 'Mean of the runs',
          },
        ].filter(Boolean),
      }),
    experiments.length > 0 &&
      h(
        'details',
        h('summary', 'Experiments'),
        table({
          label: 'Experiments',
          rows: experiments,
          columns: [
            { id: 'sweep', title: 'Sweep', text: true, value: (r) => r.sweep },
            { id: 'name', title: 'Experiment', text: true, value: (r) => r.name },
            { id: 'done', title: 'done', value: (r) => r.done },
            { id: 'planned', title: 'planned', value: (r) => r.planned },
          ],
        }),
      ),
  );
}

// A row for each workload, a column for each policy.
function pairTable(runs, state) {
  const place = h('div');
  const pool = runs.filter(
    (run) => run.kernelCount >= 2 && run.base === state.settings && !run.ideal_preemption,
  );
  const series = inOrder(pool.map((run) => run.series));
  const rows = new Map();
  for (const run of pool) {
    const row = rows.get(run.workload) ?? {
      workload: run.workload,
      mix: run.mix,
      kernels: run.kernelCount,
      runs: {},
    };
    row.runs[run.series] = run;
    rows.set(run.workload, row);
  }
  const show = (measure) => {
    const best = (row) => {
      const values = series
        .filter((p) => p !== 'isolated')
        .map((p) => row.runs[p]?.[measure])
        .filter((v) => v !== undefined && v !== null);
      return measure === 'antt' ? Math.min(...values) : Math.max(...values);
    };
    const over = series.includes('spatial') && series.includes('smk-pw');
    place.replaceChildren(
      table({
        label: 'Workloads by policy',
        rows: [...rows.values()],
        search: 'workload or mix',
        sort: ['workload', 'ascending'],
        columns: [
          { id: 'workload', title: 'Workload', text: true, value: (r) => r.workload },
          { id: 'mix', title: 'Mix', text: true, value: (r) => r.mix },
          ...series.map((p) => ({
            id: p,
            title: policyName(p),
            value: (r) => r.runs[p]?.[measure],
            format: ratio,
            href: (r) => r.runs[p] && `#run=${r.runs[p].id}`,
            class: (r) =>
              p !== 'isolated' && r.runs[p] && ratio(r.runs[p][measure]) === ratio(best(r))
                ? 'best'
                : null,
          })),
          over && {
            id: 'over',
            title: 'smk-pw / spatial',
            hint: 'smk-pw over spatial',
            value: (r) => divide(r.runs['smk-pw']?.[measure], r.runs.spatial?.[measure]),
            format: gain,
          },
        ].filter(Boolean),
      }),
    );
  };
  show('stp');
  return section(
    'pairs',
    'Workloads by policy',
    h(
      'div.controls',
      segments(
        'Measure',
        measuresOf(pool).map((m) => [m.id, m.title]),
        'stp',
        show,
      ),
    ),
    place,
    h('p.note', 'Bold: the best policy of the row. A number leads to its run.'),
  );
}

// The settings of a run that have no column of their own.
const otherSettings = (run, keys) =>
  run.settings
    .split(' ')
    .filter((setting) => !keys.includes(setting.slice(0, setting.indexOf('='))))
    .join(' ');

// Of few keys each has a column.
function runTable(runs, swept) {
  const keys = swept.length <= 4 ? swept : [];
  const others = runs.some((run) => otherSettings(run, keys) !== '');
  return section(
    'runs',
    'All runs',
    table({
      label: 'All runs',
      rows: runs,
      search: 'workload, mix, policy, settings',
      sort: ['workload', 'ascending'],
      columns: [
        {
          id: 'workload',
          title: 'Workload',
          text: true,
          value: (r) => r.workload,
          href: (r) => `#run=${r.id}`,
        },
        { id: 'mix', title: 'Mix', text: true, value: (r) => r.mix },
        {
          id: 'policy',
          title: 'Policy',
          text: true,
          value: (r) => r.series,
          render: (r) => [
            h('span.key', { style: { background: policyColour(r.series) } }),
            policyName(r.series),
          ],
        },
        ...keys.map((key) => ({ id: `key-${key}`, title: key, value: (r) => r.keys[key] })),
        others && {
          id: 'settings',
          title: keys.length > 0 ? 'other settings' : 'Settings',
          text: true,
          wrap: true,
          value: (r) => otherSettings(r, keys),
        },
        { id: 'stp', title: 'STP', value: (r) => r.stp, format: ratio },
        { id: 'fairness', title: 'fairness', value: (r) => r.fairness, format: ratio },
        { id: 'antt', title: 'ANTT', value: (r) => r.antt, format: ratio },
        ...measuresOf(runs)
          .slice(measures.length)
          .map((m) => ({
            id: m.id,
            title: m.title.toLowerCase(),
            hint: m.better,
            value: (r) => r[m.id],
            format: ratio,
          })),
        { id: 'preempted', title: 'preempted', value: (r) => r.preemptions, format: count },
        {
          id: 'seconds',
          title: 's',
          value: (r) => r.wall_seconds,
          format: fixed(1),
          hint: 'Duration of the simulation',
        },
      ].filter(Boolean),
    }),
  );
}

function failedTable(sweep) {
  const { failed } = sweep;
  if (failed.run.length === 0) return null;
  const rows = failed.run.map((id, i) => ({
    id,
    workload: failed.workload[i],
    policy: failed.policy[i],
    error: failed.error[i],
    command: failed.command[i],
  }));
  return section(
    'failed',
    'Failed runs',
    table({
      label: 'Failed runs',
      rows,
      columns: ['workload', 'policy', 'error', 'command'].map((id) => ({
        id,
        title: id,
        text: true,
        wrap: true,
        value: (r) => r[id],
      })),
    }),
  );
}

// The whole page; `state` survives a look at a run.
export function sweepPage(sweep) {
  const runs = makeRuns(sweep);
  orderPolicies(inOrder(runs.map((run) => run.series)));
  let state = startState(runs);
  const ofPaper = isPaper(sweep);
  const keys = [...new Set(sweptExperiments(runs, sweep).flatMap((e) => e.keys))].filter((key) =>
    key.includes('.'),
  );
  const body = h('div');
  const parts = () => {
    const chosen = runs.filter(holds(state));
    const usual = chosen.filter((run) => run.base === state.settings);
    const shownFigures = ofPaper
      ? allFigures({ usual, runs: chosen, sweep, byIndex: runs, filteredMix: state.mix || null })
      : [['fig-all', 'Policies', overviewFigure(usual)]];
    return [
      shownFigures
        .filter(([, , content]) => content && content.length !== 0)
        .map(([id, title, content]) => section(id, title, content)),
      pairTable(chosen, state),
      runTable(chosen, keys),
    ];
  };
  const bar = filterBar(runs, state, (change) => {
    state = { ...state, ...change };
    fill();
  });
  const fill = () => {
    body.replaceChildren(...parts().flat());
    bar.querySelector('#shown').textContent =
      `${count(runs.filter(holds(state)).length)} of ${count(runs.length)} runs`;
  };
  fill();
  const first = [summary(runs, sweep, state.settings), sweptSection(runs, sweep)];
  return { runs, content: [...first, bar, body, failedTable(sweep)] };
}
