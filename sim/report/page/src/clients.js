// SPDX-License-Identifier: Apache-2.0
// Clients with scripts, which share a GPU over seconds: shares, tokens and quotas.
import { chart } from './chart.js';
import { h, section } from './dom.js';
import { bytes, count, divide, fixed, isNumber, missing, percent } from './format.js';
import { gantt, legendOf, lines, withStarts } from './specs.js';
import { table, tile } from './table.js';
import { kernelColour } from './theme.js';

const second = 1e9;
const millisecond = 1e6;
const ms = (value) => (isNumber(value) ? (value / millisecond).toFixed(2) : missing);
const seconds = fixed(3);
// Bars that are closer than a part of the run in this many are one.
const finest = 1500;

const namesOf = (run) => run.stats.clients.map((client) => client.name);

const legendOfClients = (run) =>
  legendOf(
    namesOf(run).map((_, i) => i),
    namesOf(run),
    kernelColour,
  );

function summary(run) {
  const { stats } = run;
  return section(
    'summary',
    'Summary',
    h(
      'div.tiles',
      tile('GPU busy', percent(stats.utilisation), 'Part of the time in which kernels ran'),
      tile('Jobs per second', fixed(2)(stats.throughput), 'Of all clients'),
      tile('Jobs', count(stats.jobs)),
      tile('Clients', count(stats.clients.length)),
      tile('Time', `${seconds(stats.time_ns / second)} s`, 'Simulated'),
      tile('Moved', bytes(stats.memory.in_bytes + stats.memory.out_bytes), 'Between the memories'),
    ),
  );
}

function clientTable(run) {
  const column = (id, title, format, value = (c) => c[id]) => ({ id, title, format, value });
  return section(
    'clients',
    'Clients',
    table({
      label: 'Clients',
      rows: run.stats.clients,
      columns: [
        {
          id: 'name',
          title: 'Client',
          text: true,
          value: (c) => c.name,
          render: (c) => [
            h('span.key', { style: { background: kernelColour(namesOf(run).indexOf(c.name)) } }),
            c.name,
          ],
        },
        column('request', 'request', percent),
        column('limit', 'limit', percent),
        column('share', 'share', percent),
        column('token_share', 'of tokens', percent),
        column('jobs', 'jobs', count),
        column('throughput', 'jobs/s', fixed(2)),
        column('latency', 'latency ms', ms, (c) => c.latency_ns.mean),
        column('p95', '95 % ms', ms, (c) => c.latency_ns.p95),
        column('tokens', 'tokens', count),
        column('quota', 'quota ms', ms, (c) => c.mean_quota_ns),
        column('overuse', 'overuse ms', ms, (c) => c.mean_overuse_ns),
      ],
    }),
    h('p.note', 'share: of its kernels while it was there; latency, quota and overuse: means.'),
  );
}

// The share of each client of the window that ends with each sample, and of its kernels since the sample
// before: shares.csv has the sum of their times.
export function shareRows(run) {
  const { shares } = run;
  const names = namesOf(run);
  const before = new Map();
  return shares.client.map((name, i) => {
    const last = before.get(name) ?? { time: 0, kernels: 0 };
    before.set(name, { time: shares.time_ns[i], kernels: shares.kernel_ns[i] });
    return {
      x: shares.time_ns[i] / second,
      series: names.indexOf(name),
      name,
      from: (shares.time_ns[i] - shares.window_ns[i]) / second,
      value: divide(shares.allocated_ns[i], shares.window_ns[i]),
      kernels: divide(shares.kernel_ns[i] - last.kernels, shares.time_ns[i] - last.time),
    };
  });
}

function shareChart(run) {
  const rows = shareRows(run);
  return chart({
    title: 'Share of the GPU over time',
    id: 'shares-over-time',
    rows: () => rows,
    height: 240,
    legend: legendOfClients(run),
    note: 'Of the window that ends there: time with the token, or of kernels where there are none.',
    columns: [
      { id: 'time', title: 'to second', value: (r) => r.x, format: seconds },
      { id: 'client', title: 'Client', text: true, value: (r) => r.name },
      { id: 'share', title: 'share', value: (r) => r.value, format: percent },
      { id: 'kernels', title: 'of kernels since', value: (r) => r.kernels, format: percent },
    ],
    panels: [
      {
        spec: lines({
          rows: withStarts(rows, (r) => r.from),
          series: namesOf(run).map((_, i) => i),
          colourOf: kernelColour,
          xTitle: 'second',
          yTitle: 'share',
          xDomain: [0, run.stats.time_ns / second],
          height: 240,
          step: true,
          format: '.1%',
        }),
      },
    ],
  });
}

// Who had the token: neighbours of one client are one bar where the eye would not part them.
export function tokenRows(run) {
  const { tokens, stats } = run;
  const names = namesOf(run);
  const gap = stats.time_ns / finest;
  const last = new Map();
  const rows = [];
  tokens.client.forEach((name, i) => {
    const from = tokens.start_ns[i];
    const to = tokens.end_ns[i] ?? stats.time_ns;
    const before = last.get(name);
    if (before && from - before.end < gap) {
      before.end = to;
      before.row.x2 = to / second;
      before.row.tokens += 1;
      return;
    }
    const row = {
      label: name,
      part: names.indexOf(name),
      name,
      x: from / second,
      x2: to / second,
      tokens: 1,
      thin: false,
    };
    rows.push(row);
    last.set(name, { end: to, row });
  });
  return rows;
}

function tokenChart(run) {
  const rows = tokenRows(run);
  const names = namesOf(run);
  const height = 46 + names.length * 22;
  return chart({
    title: 'Who had the token',
    id: 'tokens-over-time',
    height,
    rows: () => rows,
    legend: legendOfClients(run),
    note: 'Tokens of one client that follow each other closely are one bar.',
    columns: [
      { id: 'client', title: 'Client', text: true, value: (r) => r.name },
      { id: 'from', title: 'from second', value: (r) => r.x, format: seconds },
      { id: 'to', title: 'to second', value: (r) => r.x2, format: seconds },
      { id: 'tokens', title: 'tokens', value: (r) => r.tokens, format: count },
    ],
    panels: [
      {
        spec: gantt({
          rows,
          labelsInOrder: names,
          parts: names.map((_, i) => i),
          colourOf: kernelColour,
          end: run.stats.time_ns / second,
          height,
          xTitle: 'second',
          tips: [
            ['label', 'Client'],
            ['x', 'From second', '.3f'],
            ['x2', 'To second', '.3f'],
            ['tokens', 'Tokens', 'd'],
          ],
        }),
      },
    ],
  });
}

// The quota of each token, and how long its holder went on after it.
export function quotaRows(run, field) {
  const { tokens } = run;
  const names = namesOf(run);
  return tokens.client.map((name, i) => ({
    x: tokens.granted_ns[i] / second,
    series: names.indexOf(name),
    name,
    value: tokens[field][i] / millisecond,
  }));
}

function quotaChart(run, title, field) {
  const rows = quotaRows(run, field);
  return chart({
    title,
    rows: () => rows,
    height: 200,
    legend: legendOfClients(run),
    columns: [
      { id: 'time', title: 'second', value: (r) => r.x, format: seconds },
      { id: 'client', title: 'Client', text: true, value: (r) => r.name },
      { id: 'value', title: 'ms', value: (r) => r.value, format: fixed(2) },
    ],
    panels: [
      {
        spec: lines({
          rows,
          series: namesOf(run).map((_, i) => i),
          colourOf: kernelColour,
          xTitle: 'second',
          yTitle: 'ms',
          height: 200,
          step: 'after',
          format: '.2f',
        }),
      },
    ],
  });
}

function tokenSection(run) {
  const { tokens } = run;
  if (!tokens || tokens.client.length === 0) return null;
  const overuse = tokens.overuse_ns.some((ns) => ns > 0);
  return section(
    'tokens',
    'Tokens',
    tokenChart(run),
    h(
      'div.pair',
      quotaChart(run, 'Quota of each token', 'quota_ns'),
      overuse && quotaChart(run, 'Overuse of each token', 'overuse_ns'),
    ),
    tokens.total > tokens.client.length &&
      h('p.note', `The first ${count(tokens.client.length)} of ${count(tokens.total)} tokens.`),
  );
}

export function clientSections(run) {
  return [
    summary(run),
    clientTable(run),
    section('shares', 'Shares', shareChart(run)),
    tokenSection(run),
  ].filter(Boolean);
}

export const clientFacts = (stats) => [
  `scheduler ${stats.scheduler}`,
  `machine ${stats.machine}`,
  `${seconds(stats.time_ns / second)} s`,
  `seed ${stats.seed}`,
];
