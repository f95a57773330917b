// SPDX-License-Identifier: Apache-2.0
// The few forms of charts that the page uses, as vega-lite specifications.
import { pageColour, paperColour } from './theme.js';

const fit = { type: 'fit', contains: 'padding' };

const colour = (field, ids, colourOf) => ({
  field,
  type: 'nominal',
  scale: { domain: ids, range: ids.map(colourOf) },
  legend: null,
});

// The legend of a chart, for chart.js.
export const legendOf = (ids, names, colourOf) =>
  ids.map((id, i) => [names[i], () => colourOf(id)]);

// The marks of the paper's numbers, when there are any.
const paperLayer = (rows, size, encoding) =>
  rows.some((row) => row.paper !== undefined)
    ? [
        {
          transform: [{ filter: 'isValid(datum.paper)' }],
          mark: {
            type: 'point',
            shape: 'diamond',
            filled: true,
            size,
            opacity: 1,
            color: paperColour(),
            stroke: pageColour(),
            strokeWidth: 1.5,
          },
          encoding,
        },
      ]
    : [];

// A line at a value of the axis x or y, when there is one.
const ruleLayer = (axis, rule) =>
  rule === undefined
    ? []
    : [
        {
          data: { values: [{}] },
          mark: {
            type: 'rule',
            strokeDash: [2, 3],
            strokeWidth: 0.7,
            color: paperColour(),
            opacity: 0.55,
          },
          encoding: { [axis]: { datum: rule } },
        },
      ];

const tooltip = (fields) =>
  fields.map(([field, title, format]) => ({
    field,
    title,
    type: format ? 'quantitative' : 'nominal',
    format,
  }));

// Labels that stand beside each other where there is room, else at a slant.
function sideBySide(labels, width) {
  const needed = labels.reduce((sum, label) => sum + String(label).length * 6.4 + 10, 0);
  return needed <= width - 40
    ? { labelAngle: 0 }
    : { labelAngle: -40, labelAlign: 'right', labelBaseline: 'middle' };
}
// Labels of rows, of which a narrow chart shows less.
const rowLabels = (width, most) => ({ labelLimit: Math.min(most, Math.round(width * 0.4)) });

// Bars in groups. Rows: { group, series, name, value, paper, source, n }. Where the paper has a number, it
// is a mark over the bar. A line at `rule`.
export function groupedBars({
  rows,
  groups,
  series,
  colourOf,
  rule,
  format = '.3f',
  height = 230,
  zero = true,
  domain,
  tips = [],
}) {
  const xAt = (width) => ({
    field: 'group',
    type: 'nominal',
    sort: groups,
    title: null,
    axis: {
      ...sideBySide(groups, Math.min(width, most)),
      domain: true,
      ticks: false,
      labelPadding: 6,
    },
    scale: { paddingInner: 0.28, paddingOuter: 0.14 },
  });
  const xOffset = { field: 'series', sort: series, scale: { domain: series, paddingInner: 0.08 } };
  const y = {
    field: 'value',
    type: 'quantitative',
    title: null,
    scale: { zero, nice: domain === undefined, domain },
    axis: { tickCount: 5, domain: false, ticks: false },
  };
  const tip = tooltip([
    ['group', 'Group'],
    ['name', 'Policy'],
    ['value', 'Here', format],
    ['paper', 'Paper', format],
    ['source', 'In the paper'],
    ['n', 'Runs', 'd'],
    ...tips,
  ]);
  const most = 70 + groups.length * (series.length * 42 + 26);
  return (width) => ({
    width: Math.min(width, most),
    height,
    autosize: fit,
    data: { values: rows },
    layer: [
      {
        mark: {
          type: 'bar',
          cornerRadiusTopLeft: 1.5,
          cornerRadiusTopRight: 1.5,
          cursor: 'default',
        },
        encoding: {
          x: xAt(width),
          xOffset,
          y,
          color: colour('series', series, colourOf),
          tooltip: tip,
        },
      },
      ...ruleLayer('y', rule),
      ...paperLayer(rows, 75, {
        x: xAt(width),
        xOffset,
        y: { ...y, field: 'paper' },
        tooltip: tip,
      }),
    ],
  });
}

// Rows of bars, one row for each workload. Rows: { label, series, name, value, run }. `words` say what label and
// name are; bars lead somewhere unless `plain`.
export function rowBars({
  rows,
  labelsInOrder,
  series,
  colourOf,
  title,
  rule,
  bar = 8,
  words = ['Workload', 'Policy'],
  format = '.3f',
  plain = false,
}) {
  const height = labelsInOrder.length * (series.length * bar + 6);
  return (width) => ({
    width,
    height: height + 60,
    autosize: fit,
    data: { values: rows },
    layer: [
      {
        mark: { type: 'bar', cursor: plain ? 'default' : 'pointer', cornerRadiusEnd: 1.5 },
        encoding: {
          y: {
            field: 'label',
            type: 'nominal',
            sort: labelsInOrder,
            title: null,
            axis: { ticks: false, domain: false, ...rowLabels(width, 220) },
            scale: { paddingInner: 0.25 },
          },
          yOffset: { field: 'series', sort: series, scale: { domain: series } },
          x: {
            field: 'value',
            type: 'quantitative',
            title,
            axis: { orient: 'top', tickCount: 6, domain: false },
          },
          color: colour('series', series, colourOf),
          tooltip: tooltip([
            ['label', words[0]],
            ['name', words[1]],
            ['value', title, format],
            ...(plain ? [] : [['normalized', 'Normalized IPC']]),
          ]),
        },
      },
      ...ruleLayer('x', rule),
      ...paperLayer(rows, 60, {
        y: { field: 'label', type: 'nominal', sort: labelsInOrder },
        yOffset: { field: 'series', sort: series, scale: { domain: series } },
        x: { field: 'paper', type: 'quantitative' },
        tooltip: tooltip([
          ['label', 'Workload'],
          ['name', 'Policy'],
          ['paper', 'Paper', '.3f'],
          ['source', 'In the paper'],
        ]),
      }),
    ],
  });
}

// Parts of a whole, stacked. Rows: { label, part, name, value, share }.
export function stackedBars({
  rows,
  labelsInOrder,
  parts,
  colourOf,
  horizontal = false,
  title,
  height = 220,
  axisFormat,
  tips,
  labelAngle = 0,
}) {
  const categoryAt = (width) => ({
    field: 'label',
    type: 'nominal',
    sort: labelsInOrder,
    title: null,
    axis: { ticks: false, labelAngle, labelOverlap: true, ...rowLabels(width, 200) },
    scale: { paddingInner: 0.2 },
  });
  const amount = {
    field: 'value',
    type: 'quantitative',
    title: title ?? null,
    stack: 'zero',
    axis: { tickCount: 5, domain: false, ticks: false, format: axisFormat },
  };
  return (width) => ({
    width,
    height,
    autosize: fit,
    data: { values: rows },
    mark: { type: 'bar' },
    encoding: {
      ...(horizontal ? { y: categoryAt(width), x: amount } : { x: categoryAt(width), y: amount }),
      color: colour('part', parts, colourOf),
      order: { field: 'order', type: 'quantitative' },
      tooltip: tooltip(
        tips ?? [
          ['label', ''],
          ['name', 'Part'],
          ['value', 'Value', '.3f'],
        ],
      ),
    },
  });
}

// Parts of a whole in steps of time, stacked. Rows: { x, x2, part, name, value, order }.
export function stackedSteps({ rows, parts, colourOf, xTitle, yTitle, end, height = 220, tips }) {
  return (width) => ({
    width,
    height,
    autosize: fit,
    data: { values: rows },
    mark: { type: 'bar', binSpacing: 1, minBandSize: 1 },
    encoding: {
      x: {
        field: 'x',
        type: 'quantitative',
        bin: 'binned',
        title: xTitle,
        scale: { domain: [0, end], nice: false },
        axis: { grid: false, tickCount: 6, format: '~s', labelOverlap: 'greedy' },
      },
      x2: { field: 'x2' },
      y: {
        field: 'value',
        type: 'quantitative',
        title: yTitle,
        stack: 'zero',
        axis: { tickCount: 5, domain: false, ticks: false },
      },
      color: colour('part', parts, colourOf),
      order: { field: 'order', type: 'quantitative' },
      tooltip: tooltip(tips),
    },
  });
}

// What lasted how long, a row for each label: thin bars on wide ones. Rows: { label, part, name, x, x2, thin }.
export function gantt({ rows, labelsInOrder, parts, colourOf, end, height, xTitle, tips }) {
  return (width) => {
    const encoding = {
      y: {
        field: 'label',
        type: 'nominal',
        sort: labelsInOrder,
        title: null,
        axis: { ticks: false, domain: false, labelOverlap: 'greedy', ...rowLabels(width, 200) },
        scale: { domain: labelsInOrder, paddingInner: 0.15 },
      },
      x: {
        field: 'x',
        type: 'quantitative',
        title: xTitle,
        scale: { domain: [0, end], nice: false },
        axis: { grid: true, tickCount: 6, format: '~s', labelOverlap: 'greedy' },
      },
      x2: { field: 'x2' },
      color: colour('part', parts, colourOf),
      tooltip: tooltip(tips),
    };
    const bars = (filter, band) => ({
      transform: [{ filter }],
      mark: { type: 'bar', height: { band }, minBandSize: 1, cursor: 'default' },
      encoding,
    });
    return {
      width,
      height,
      autosize: fit,
      data: { values: rows },
      layer: [
        bars('!datum.thin', 1),
        ...(rows.some((row) => row.thin) ? [bars('datum.thin', 0.55)] : []),
      ],
    };
  };
}

// Rows that are told at the end of a time, and before them the begin of the first of each series, and of the
// first after one without a value: a line needs it to show these.
export function withStarts(rows, startOf) {
  const before = new Map();
  return rows.flatMap((row) => {
    const goesOn = (before.get(row.series) ?? null) !== null;
    before.set(row.series, row.value);
    return goesOn ? [row] : [{ ...row, x: Math.max(0, startOf(row)) }, row];
  });
}

// Lines over time or over a setting. Rows: { x, series, name, value }. `xDomain`: the axis, else that of the rows.
export function lines({
  rows,
  series,
  colourOf,
  xTitle,
  yTitle,
  height = 220,
  step = false,
  log = false,
  zero = true,
  points = false,
  format = '.3f',
  ticks,
  domain,
  xDomain,
  most = Infinity,
}) {
  return (width) => ({
    width: Math.min(width, most),
    height,
    autosize: fit,
    data: { values: rows },
    mark: {
      type: 'line',
      strokeWidth: points ? 2 : 1.4,
      interpolate: step ? `step-${step === 'after' ? 'after' : 'before'}` : 'linear',
      point: points ? { size: 45, filled: true } : false,
      tooltip: true,
      clip: true,
    },
    encoding: {
      x: {
        field: 'x',
        type: 'quantitative',
        title: xTitle,
        scale: {
          type: log ? 'log' : 'linear',
          nice: false,
          domain: xDomain,
          padding: ticks ? 14 : undefined,
        },
        axis: {
          grid: false,
          tickCount: 6,
          values: ticks,
          format: log ? '~s' : undefined,
          ...(ticks ? { labelExpr: "'' + datum.value" } : {}),
          labelOverlap: 'greedy',
          labelSeparation: 6,
        },
      },
      y: {
        field: 'value',
        type: 'quantitative',
        title: yTitle,
        scale: { zero, domain, nice: domain === undefined },
        axis: { domain: false, ticks: false, tickCount: 5 },
      },
      color: colour('series', series, colourOf),
      tooltip: tooltip([
        ['name', ''],
        ['x', xTitle, ticks ? '~r' : ',~r'],
        ['value', yTitle, format],
      ]),
    },
  });
}

// What changes over time on each SM, one small chart for each. Rows: { sm, x, x2, series, name, value }.
export function smAreas({ rows, series, colourOf, xTitle, end }) {
  return (width) => {
    const columns = width < 520 ? 2 : 4;
    return {
      data: { values: rows },
      facet: {
        field: 'sm',
        type: 'ordinal',
        title: null,
        header: { labelExpr: "'SM ' + datum.value", labelAnchor: 'start' },
      },
      columns,
      spacing: { row: 8, column: 12 },
      spec: {
        width: Math.floor((width - 46 - 12 * (columns - 1)) / columns),
        height: 62,
        mark: { type: 'area', interpolate: 'step-after', line: false },
        encoding: {
          x: {
            field: 'x',
            type: 'quantitative',
            title: null,
            scale: { domain: [0, end], nice: false },
            axis: { grid: false, tickCount: 3, format: '~s' },
          },
          y: {
            field: 'value',
            type: 'quantitative',
            stack: 'zero',
            title: null,
            axis: { tickCount: 2, domain: false, ticks: false },
          },
          color: colour('series', series, colourOf),
          order: { field: 'series', type: 'ordinal' },
          tooltip: tooltip([
            ['sm', 'SM', 'd'],
            ['name', 'Kernel'],
            ['x', xTitle, ',d'],
            ['value', 'TBs', '.2f'],
          ]),
        },
      },
      resolve: { scale: { x: 'shared', y: 'shared' } },
    };
  };
}
