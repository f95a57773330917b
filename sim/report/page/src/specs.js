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
const paperLayer = (rows, layer) => (rows.some((row) => row.paper !== undefined) ? [layer()] : []);

const tooltip = (fields) =>
  fields.map(([field, title, format]) => ({
    field,
    title,
    type: format ? 'quantitative' : 'nominal',
    format,
  }));

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
  tips = [],
}) {
  const x = {
    field: 'group',
    type: 'nominal',
    sort: groups,
    title: null,
    axis: { labelAngle: 0, domain: true, ticks: false, labelPadding: 6 },
    scale: { paddingInner: 0.28, paddingOuter: 0.14 },
  };
  const xOffset = { field: 'series', sort: series, scale: { domain: series, paddingInner: 0.08 } };
  const y = {
    field: 'value',
    type: 'quantitative',
    title: null,
    scale: { zero, nice: true },
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
        encoding: { x, xOffset, y, color: colour('series', series, colourOf), tooltip: tip },
      },
      ...(rule === undefined
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
              encoding: { y: { datum: rule } },
            },
          ]),
      ...paperLayer(rows, () => ({
        transform: [{ filter: 'isValid(datum.paper)' }],
        mark: {
          type: 'point',
          shape: 'diamond',
          filled: true,
          size: 75,
          opacity: 1,
          color: paperColour(),
          stroke: pageColour(),
          strokeWidth: 1.5,
        },
        encoding: { x, xOffset, y: { ...y, field: 'paper' }, tooltip: tip },
      })),
    ],
  });
}

// Rows of bars, one row for each workload. Rows: { label, series, name, value, run }.
export function rowBars({ rows, labelsInOrder, series, colourOf, title, rule, bar = 8 }) {
  const height = labelsInOrder.length * (series.length * bar + 6);
  return (width) => ({
    width,
    height: height + 60,
    autosize: fit,
    data: { values: rows },
    layer: [
      {
        mark: { type: 'bar', cursor: 'pointer', cornerRadiusEnd: 1.5 },
        encoding: {
          y: {
            field: 'label',
            type: 'nominal',
            sort: labelsInOrder,
            title: null,
            axis: { ticks: false, domain: false, labelLimit: 220 },
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
            ['label', 'Workload'],
            ['name', 'Policy'],
            ['value', title, '.3f'],
            ['normalized', 'Normalized IPC'],
          ]),
        },
      },
      ...(rule === undefined
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
              encoding: { x: { datum: rule } },
            },
          ]),
      ...paperLayer(rows, () => ({
        transform: [{ filter: 'isValid(datum.paper)' }],
        mark: {
          type: 'point',
          shape: 'diamond',
          filled: true,
          size: 60,
          opacity: 1,
          color: paperColour(),
          stroke: pageColour(),
          strokeWidth: 1.5,
        },
        encoding: {
          y: { field: 'label', type: 'nominal', sort: labelsInOrder },
          yOffset: { field: 'series', sort: series, scale: { domain: series } },
          x: { field: 'paper', type: 'quantitative' },
          tooltip: tooltip([
            ['label', 'Workload'],
            ['name', 'Policy'],
            ['paper', 'Paper', '.3f'],
            ['source', 'In the paper'],
          ]),
        },
      })),
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
  const category = {
    field: 'label',
    type: 'nominal',
    sort: labelsInOrder,
    title: null,
    axis: { ticks: false, labelAngle, labelLimit: 200, labelOverlap: true },
    scale: { paddingInner: 0.2 },
  };
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
      ...(horizontal ? { y: category, x: amount } : { x: category, y: amount }),
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

// Lines over time or over a setting. Rows: { x, series, name, value }.
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
}) {
  return (width) => ({
    width,
    height,
    autosize: fit,
    data: { values: rows },
    mark: {
      type: 'line',
      strokeWidth: points ? 2 : 1.4,
      interpolate: step ? 'step-before' : 'linear',
      point: points ? { size: 45, filled: true } : false,
      tooltip: true,
      clip: true,
    },
    encoding: {
      x: {
        field: 'x',
        type: 'quantitative',
        title: xTitle,
        scale: { type: log ? 'log' : 'linear', nice: false },
        axis: { grid: false, tickCount: 6, format: log ? '~s' : undefined },
      },
      y: {
        field: 'value',
        type: 'quantitative',
        title: yTitle,
        scale: { zero },
        axis: { domain: false, ticks: false, tickCount: 5 },
      },
      color: colour('series', series, colourOf),
      tooltip: tooltip([
        ['name', ''],
        ['x', xTitle, ',~r'],
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
