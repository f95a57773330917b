// SPDX-License-Identifier: Apache-2.0
// What a sweep has varied, and its charts: a measure over one key, in panels or as a map over a second.
import { chart } from './chart.js';
import { choice, h, section } from './dom.js';
import { count, fixed, isNumber, mean, policyName } from './format.js';
import { heatMap } from './heat.js';
import { groupedBars, legendOf, lines } from './specs.js';
import { inOrder, measuresOf } from './sweepdata.js';
import { policyColour } from './theme.js';

const plain = ['machine', 'sms', 'control', 'cycles', 'seed'];

const sweptMeasures = (runs) => [
  ...measuresOf(runs),
  { id: 'ipc', title: 'IPC', better: 'warp instructions per cycle, all kernels' },
];

const ipc = (run) => run.kernels.reduce((sum, kernel) => sum + (kernel.ipc ?? 0), 0);
const measured = (run, id) => (id === 'ipc' ? ipc(run) : run[id]);

// The value of a key in a run; what an older database does not tell is `usual`.
const valueOf = (run, key) => (plain.includes(key) ? run[key] : (run.keys[key] ?? 'usual'));

// The keys that have several values under one policy; but for `machine` itself, on one machine. Those of --set
// come first, and seeds, which are there to be averaged over, last.
export function sweptKeys(runs) {
  const names = new Set([...runs.flatMap((run) => Object.keys(run.keys)), ...plain]);
  return [...names].filter((key) => {
    const first = new Map();
    return runs.some((run) => {
      const group = key === 'machine' ? run.policyId : `${run.policyId} ${run.machine}`;
      const value = valueOf(run, key);
      if (!first.has(group)) first.set(group, value);
      return first.get(group) !== value;
    });
  });
}

// The experiments that vary something: { title, runs, keys }.
export function sweptExperiments(runs, sweep) {
  return sweep.experiments
    .map((e) => {
      const own = e.runs.map((i) => runs[i]).filter((run) => run.policy !== 'isolated');
      return { title: e.name, sweep: e.sweep, runs: own, keys: sweptKeys(own) };
    })
    .filter((e) => e.keys.length > 0);
}

const inRow = (a, b) =>
  isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
const ascending = (values) => [...new Set(values)].sort(inRow);

// What the panels of a chart may be: another key, or what is known of a workload.
const panelOf = (run, by) =>
  by === '' ? '' : by === 'workload' || by === 'mix' ? run[by] : valueOf(run, by);

// Means over all workloads (and other keys) that have a run at every place of the chart; over all that there
// are, when none has. Rows: { x, panel, series, name, value, least, most, n }.
export function sweptRows(runs, keys, { x, by, measure }) {
  const ofWorkload = by === 'workload' || by === 'mix';
  const placeOf = (run) =>
    JSON.stringify([valueOf(run, x), ofWorkload ? '' : panelOf(run, by), run.policyId]);
  const places = new Set(runs.map(placeOf));
  const others = keys.filter((key) => key !== x && key !== by);
  const groups = new Map();
  for (const run of runs) {
    const group = JSON.stringify([run.workload, ...others.map((key) => valueOf(run, key))]);
    groups.set(group, [...(groups.get(group) ?? []), run]);
  }
  const full = [...groups.values()].filter((own) => new Set(own.map(placeOf)).size === places.size);
  const rows = new Map();
  for (const run of (full.length > 0 ? full : [...groups.values()]).flat()) {
    const row = {
      x: valueOf(run, x),
      panel: panelOf(run, by),
      series: run.policyId,
      name: policyName(run.policyId),
    };
    const key = JSON.stringify(Object.values(row));
    if (!rows.has(key)) rows.set(key, { ...row, values: [] });
    rows.get(key).values.push(measured(run, measure));
  }
  const series = inOrder([...rows.values()].map((row) => row.series));
  return [...rows.values()]
    .sort(
      (a, b) =>
        inRow(a.panel, b.panel) ||
        inRow(a.x, b.x) ||
        series.indexOf(a.series) - series.indexOf(b.series),
    )
    .map(({ values, ...row }) => {
      const known = values.filter(isNumber);
      return {
        ...row,
        value: mean(known),
        least: Math.min(...known),
        most: Math.max(...known),
        n: known.length,
      };
    })
    .filter((row) => row.value !== null);
}

// A scale by factors where the values are: 1000, 10000, 65535.
const isLog = (xs) => xs[0] > 0 && xs.at(-1) / xs[0] >= 8;

function panelSpec({ rows, xs, series, key, domain }) {
  if (!xs.every(isNumber))
    return groupedBars({
      rows: rows.map((row) => ({ ...row, group: String(row.x) })),
      groups: xs.map(String),
      series,
      colourOf: policyColour,
      domain,
    });
  return lines({
    rows,
    series,
    colourOf: policyColour,
    xTitle: key,
    yTitle: null,
    log: isLog(xs),
    ticks: xs.length <= 12 ? xs : undefined,
    most: 620,
    zero: false,
    domain,
    points: true,
    format: '.4f',
  });
}

// Room above and below all values, the same in all panels.
function domainOf(rows) {
  const values = rows.map((row) => row.value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = (most - least || Math.abs(most) || 1) * 0.08;
  return [least - room, most + room];
}

const withUnit = (key, keys) => (keys[key]?.unit ? `${key} (${keys[key].unit})` : key);

function sweptChart(runs, experiment, meanings, state) {
  const rows = sweptRows(runs, experiment.keys, state);
  if (rows.length === 0) return h('p.note.empty', 'No run has this measure.');
  const measure = sweptMeasures(runs).find((m) => m.id === state.measure);
  const series = inOrder(rows.map((row) => row.series));
  const xs = ascending(rows.map((row) => row.x));
  const panels = ascending(rows.map((row) => row.panel));
  const isMap = state.form === 'map';
  const domain = isMap || xs.every(isNumber) ? domainOf(rows) : [0, domainOf(rows)[1]];
  const key = withUnit(state.x, meanings);
  const ns = ascending(rows.map((row) => row.n));
  const title = `${measure.title} over ${state.x}${state.by === '' ? '' : `${isMap ? ' and' : ', by'} ${state.by}`}`;
  return chart({
    title,
    rows: () => rows,
    height: isMap ? 60 + panels.length * 34 : 230,
    legend: isMap ? undefined : legendOf(series, series.map(policyName), policyColour),
    note: [
      ns.at(-1) === 1
        ? 'Each point is one run.'
        : `Each point is the mean of ${ns.length === 1 ? ns[0] : `${ns[0]} to ${ns.at(-1)}`} runs.`,
      ...[state.x, state.by]
        .filter((name) => meanings[name])
        .map((name) => ` ${name}: ${meanings[name].meaning}.`),
    ],
    columns: [
      { id: 'x', title: state.x, text: !xs.every(isNumber), value: (r) => r.x },
      ...(state.by === ''
        ? []
        : [{ id: 'panel', title: state.by, text: true, value: (r) => r.panel }]),
      { id: 'name', title: 'Policy', text: true, value: (r) => r.name },
      { id: 'value', title: measure.title, value: (r) => r.value, format: fixed(4) },
      { id: 'least', title: 'least', value: (r) => r.least, format: fixed(4) },
      { id: 'most', title: 'most', value: (r) => r.most, format: fixed(4) },
      { id: 'n', title: 'runs', value: (r) => r.n, format: count },
    ],
    panels: isMap
      ? series.map((id) => ({
          title: policyName(id),
          spec: heatMap({
            rows: rows.filter((row) => row.series === id),
            xs,
            ys: panels,
            xTitle: key,
            yTitle: withUnit(state.by, meanings),
            measure: measure.title,
            domain,
          }),
        }))
      : panels.map((panel) => ({
          title: state.by === '' ? `${measure.title}, ${measure.better}` : `${state.by} ${panel}`,
          spec: panelSpec({
            rows: rows.filter((row) => row.panel === panel),
            xs,
            series,
            key,
            domain,
          }),
        })),
  });
}

// What can be beside the x axis: other keys, then workloads, when there are not too many.
function secondsOf(experiment, x) {
  const several = (get) => {
    const size = new Set(experiment.runs.map(get)).size;
    return size > 1 && size <= 24;
  };
  return [
    ...experiment.keys.filter((key) => key !== x),
    ...['mix', 'workload'].filter((name) => several((run) => run[name])),
  ];
}

function firstState(experiment) {
  const [x, second] = experiment.keys;
  const by = second === undefined || second === 'seed' ? '' : second;
  const state = { x, by, measure: 'stp', form: 'lines', workload: '' };
  const alone = experiment.runs.every((run) => run.kernelCount === 1);
  return alone ? { ...state, measure: 'ipc' } : state;
}

// The section, or null when nothing was varied.
export function sweptSection(runs, sweep) {
  const experiments = sweptExperiments(runs, sweep);
  if (experiments.length === 0) return null;
  const controls = h('div.controls');
  const place = h('div');
  let current = experiments[0];
  let state = firstState(current);
  const set = (change) => {
    state = { ...state, ...change };
    show();
  };
  const plainChoice = (label, options, key) =>
    options.length > 1 &&
    choice(label, options, state[key], (value) => set({ [key]: value }), { 'data-swept': key });
  function show() {
    const seconds = secondsOf(current, state.x);
    if (state.by === state.x) state.by = '';
    const canMap = seconds.some((name) => name === state.by);
    if (!canMap) state.form = 'lines';
    const workloads = ascending(current.runs.map((run) => run.workload));
    controls.replaceChildren(
      ...[
        experiments.length > 1 &&
          choice(
            'Experiment',
            experiments.map((e, i) => [String(i), e.title]),
            String(experiments.indexOf(current)),
            (value) => {
              current = experiments[Number(value)];
              state = firstState(current);
              show();
            },
            { 'data-swept': 'experiment' },
          ),
        plainChoice(
          'Measure',
          sweptMeasures(current.runs).map((m) => [m.id, m.title]),
          'measure',
        ),
        plainChoice(
          'over',
          current.keys.map((key) => [key, key]),
          'x',
        ),
        plainChoice('by', [['', 'nothing else'], ...seconds.map((key) => [key, key])], 'by'),
        canMap &&
          plainChoice(
            'as',
            [
              ['lines', 'small charts'],
              ['map', 'heat map'],
            ],
            'form',
          ),
        plainChoice(
          'Workloads',
          [['', 'all'], ...workloads.map((name) => [name, name])],
          'workload',
        ),
      ].filter(Boolean),
    );
    const wanted = current.runs.filter(
      (run) => state.workload === '' || run.workload === state.workload,
    );
    place.replaceChildren(sweptChart(wanted, current, sweep.keys ?? {}, state));
  }
  show();
  return section('swept', 'What was swept', controls, place);
}
