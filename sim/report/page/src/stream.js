// SPDX-License-Identifier: Apache-2.0
// The host of a stream of jobs over time: jobs, launches and copies.
import { chart } from './chart.js';
import { h, section } from './dom.js';
import { bytes, count, isNumber, missing, percent, ratio } from './format.js';
import { clientsOf } from './kernels.js';
import { gantt, legendOf, lines } from './specs.js';
import { table } from './table.js';
import { jobColour, kernelColour } from './theme.js';

const names = {
  waiting: 'Waiting',
  ready: 'Ready',
  running: 'Running',
  launch: 'In a kernel slot',
  copy: 'Being copied',
};
// The highest chart, and the highest row.
const mostPixels = 900;
const rowPixels = 18;
const heightOf = (rows) => 46 + Math.min(mostPixels, rows * rowPixels);

const jobLabel = (jobs, job) => `${job} ${jobs.name[job]}`;

// What each job did when, wide bars, and what was executed or copied for it, thin ones.
export function jobRows({ jobs, launches, copies }, end) {
  const rows = [];
  const add = (job, part, from, to, thin, what) => {
    if (!isNumber(from)) return;
    const until = isNumber(to) ? to : end;
    if (until > from)
      rows.push({
        label: jobLabel(jobs, job),
        part,
        name: names[part],
        x: from,
        x2: until,
        thin,
        what,
      });
  };
  jobs.job.forEach((job, i) => {
    add(job, 'waiting', jobs.arrival[i], jobs.ready[i], false, '');
    add(job, 'ready', jobs.ready[i], jobs.start[i], false, '');
    add(job, 'running', jobs.start[i], jobs.finish[i], false, '');
  });
  launches.job.forEach((job, i) => {
    const what = `${launches.kernel[i]}, ${count(launches.tb_count[i])} TBs`;
    add(job, 'launch', launches.start[i], launches.end[i], true, what);
  });
  copies?.job.forEach((job, i) => {
    add(job, 'copy', copies.start[i], copies.end[i], true, bytes(copies.bytes[i]));
  });
  return rows;
}

// The same by where it was: an engine, or a kernel slot.
export function trackRows({ jobs, launches, copies }, end) {
  const clients = clientsOf(jobs);
  const row = (label, job, from, to, what) => ({
    label,
    part: clients.indexOf(jobs.client[job]),
    name: jobs.client[job],
    job: jobLabel(jobs, job),
    x: from,
    x2: isNumber(to) ? to : end,
    thin: false,
    what,
  });
  const copied = (copies?.job ?? []).map((job, i) =>
    row(
      copies.direction[i] === 'in' ? 'copies to the GPU' : 'copies to the host',
      job,
      copies.start[i],
      copies.end[i],
      bytes(copies.bytes[i]),
    ),
  );
  const slots = launches.job.map((job, i) =>
    row(
      `kernel slot ${launches.kernel_slot[i]}`,
      job,
      launches.start[i],
      launches.end[i],
      `${launches.kernel[i]}, ${count(launches.tb_count[i])} TBs`,
    ),
  );
  return [...copied, ...slots];
}

// Jobs in each state from each cycle on in which that changes.
export function stateRows(jobs, end) {
  const states = ['waiting', 'ready', 'running'];
  const changes = new Map();
  const change = (cycle, state, by) => {
    if (!isNumber(cycle)) return;
    const at = changes.get(cycle) ?? { waiting: 0, ready: 0, running: 0 };
    at[state] += by;
    changes.set(cycle, at);
  };
  const marks = [jobs.arrival, jobs.ready, jobs.start, jobs.finish];
  jobs.job.forEach((_, i) => {
    states.forEach((state, s) => {
      change(marks[s][i], state, 1);
      if (isNumber(marks[s][i])) change(marks[s + 1][i], state, -1);
    });
  });
  const sum = { waiting: 0, ready: 0, running: 0 };
  const rows = [];
  const push = (x) => {
    for (const state of states)
      rows.push({ x, series: state, name: names[state], value: sum[state] });
  };
  for (const cycle of [...changes.keys()].sort((a, b) => a - b)) {
    for (const state of states) sum[state] += changes.get(cycle)[state];
    push(cycle);
  }
  push(end);
  return rows;
}

const whenColumns = [
  { id: 'from', title: 'from cycle', value: (r) => r.x, format: count },
  { id: 'to', title: 'to cycle', value: (r) => r.x2, format: count },
  { id: 'what', title: 'what', text: true, value: (r) => r.what },
];

function jobChart(stream, end) {
  const rows = jobRows(stream, end);
  const parts = Object.keys(names).filter((part) => rows.some((row) => row.part === part));
  const height = heightOf(stream.jobs.job.length);
  return chart({
    title: 'Jobs over time',
    id: 'jobs-over-time',
    height,
    rows: () => rows,
    legend: legendOf(
      parts,
      parts.map((part) => names[part]),
      jobColour,
    ),
    note: 'A running job has launches between which it waits for the host scheduler.',
    columns: [
      { id: 'job', title: 'Job', text: true, value: (r) => r.label },
      { id: 'state', title: 'State', text: true, value: (r) => r.name },
      ...whenColumns,
    ],
    panels: [
      {
        spec: gantt({
          rows,
          labelsInOrder: stream.jobs.job.map((job) => jobLabel(stream.jobs, job)),
          parts,
          colourOf: jobColour,
          end,
          height,
          xTitle: 'cycle',
          tips: [
            ['label', 'Job'],
            ['name', 'State'],
            ['x', 'From', ',d'],
            ['x2', 'To', ',d'],
            ['what', 'What'],
          ],
        }),
      },
    ],
  });
}

function trackChart(stream, end) {
  const rows = trackRows(stream, end);
  const labels = [...new Set(rows.map((row) => row.label))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const clients = clientsOf(stream.jobs);
  return chart({
    title: 'Copy engines and kernel slots',
    id: 'host-tracks',
    height: heightOf(labels.length),
    rows: () => rows,
    legend: legendOf(
      clients.map((_, i) => i),
      clients,
      kernelColour,
    ),
    note: 'A launch holds its kernel slot; by client.',
    columns: [
      { id: 'track', title: 'Where', text: true, value: (r) => r.label },
      { id: 'job', title: 'Job', text: true, value: (r) => r.job },
      ...whenColumns,
    ],
    panels: [
      {
        spec: gantt({
          rows,
          labelsInOrder: labels,
          parts: clients.map((_, i) => i),
          colourOf: kernelColour,
          end,
          height: heightOf(labels.length),
          xTitle: 'cycle',
          tips: [
            ['label', 'Where'],
            ['job', 'Job'],
            ['x', 'From', ',d'],
            ['x2', 'To', ',d'],
            ['what', 'What'],
          ],
        }),
      },
    ],
  });
}

// Lines are darker than bars.
const lineColour = (state) =>
  jobColour({ waiting: 'waits', ready: 'isReady', running: 'launch' }[state]);

function stateChart(stream, end) {
  const rows = stateRows(stream.jobs, end);
  const states = ['waiting', 'ready', 'running'];
  return chart({
    title: 'Jobs in each state',
    id: 'job-states',
    height: 180,
    rows: () => rows,
    legend: legendOf(
      states,
      states.map((state) => names[state]),
      lineColour,
    ),
    columns: [
      { id: 'cycle', title: 'from cycle', value: (r) => r.x, format: count },
      { id: 'state', title: 'State', text: true, value: (r) => r.name },
      { id: 'jobs', title: 'jobs', value: (r) => r.value, format: count },
    ],
    panels: [
      {
        spec: lines({
          rows,
          series: states,
          colourOf: lineColour,
          xTitle: 'cycle',
          yTitle: 'jobs',
          height: 180,
          step: 'after',
          format: 'd',
        }),
      },
    ],
  });
}

function jobTable({ jobs }) {
  const rows = jobs.job.map((job, i) =>
    Object.fromEntries(
      Object.entries(jobs)
        .filter(([, values]) => Array.isArray(values))
        .map(([name, values]) => [name, values[i]]),
    ),
  );
  const cycle = (id, title) => ({ id, title, value: (r) => r[id], format: count });
  return table({
    label: 'Jobs',
    rows,
    columns: [
      { id: 'job', title: 'Job', value: (r) => r.job },
      { id: 'name', title: 'Workload', text: true, value: (r) => r.name },
      { id: 'client', title: 'Client', text: true, value: (r) => r.client },
      cycle('arrival', 'arrival'),
      cycle('ready', 'ready'),
      cycle('start', 'start'),
      cycle('finish', 'finish'),
      cycle('turnaround', 'turnaround'),
      cycle('slices_completed', 'slices'),
      cycle('tbs_completed', 'TBs'),
    ],
    search: jobs.job.length > 20 && 'Find jobs',
  });
}

const cut = (columns, what) =>
  columns &&
  columns.total > columns.job.length &&
  h('p.note', `The first ${count(columns.job.length)} of ${count(columns.total)} ${what}.`);

// Of a run of a stream; nothing for others.
export function streamSection(run) {
  const { stream, stats } = run;
  if (!stream) return null;
  const { host } = stats;
  const facts = [
    `scheduler ${host.scheduler}`,
    `device ${host.device}`,
    `${count(host.finished)} of ${count(host.jobs)} jobs done`,
    isNumber(host.makespan) && `makespan ${count(host.makespan)} cycles`,
    isNumber(host.throughput) && `${ratio(host.throughput)} jobs per million cycles`,
    `mean turnaround ${isNumber(host.mean_turnaround) ? count(host.mean_turnaround) : missing}`,
    isNumber(host.copy_overlap) && `${percent(host.copy_overlap)} of the copies beside kernels`,
  ];
  return section(
    'jobs',
    'Jobs',
    h('p', facts.filter(Boolean).join(' · ')),
    jobChart(stream, stats.cycles),
    trackChart(stream, stats.cycles),
    stateChart(stream, stats.cycles),
    cut(stream.jobs, 'jobs'),
    cut(stream.launches, 'launches'),
    jobTable(stream),
  );
}
