// SPDX-License-Identifier: Apache-2.0
// A measure over two keys: a cell for each pair of values, darker (in dark colours: lighter) is more.
import { isDark, pageColour } from './theme.js';

const shades = () => (isDark() ? ['#22303f', '#7db3ea'] : ['#e8f0f8', '#1d5c9e']);

// Rows: { x, panel, name, value, n }; the cells have one scale of colours in all panels.
export function heatMap({ rows, xs, ys, xTitle, yTitle, measure, domain }) {
  // Where ink of the other colour is easier to read.
  const turn = () => domain[0] + (domain[1] - domain[0]) * (isDark() ? 0.5 : 0.75);
  const ink = () => (isDark() ? ['#e3e4e2', '#10141a'] : ['#1d2126', '#ffffff']);
  const axis = { ticks: false, domain: false, labelAngle: 0, labelOverlap: true };
  const x = { field: 'x', type: 'ordinal', sort: xs, title: xTitle, axis };
  const y = { field: 'panel', type: 'ordinal', sort: [...ys].reverse(), title: yTitle, axis };
  const tooltip = [
    { field: 'x', title: xTitle, type: 'nominal' },
    { field: 'panel', title: yTitle, type: 'nominal' },
    { field: 'name', title: 'Policy', type: 'nominal' },
    { field: 'value', title: measure, type: 'quantitative', format: '.4f' },
    { field: 'n', title: 'Runs', type: 'quantitative', format: 'd' },
  ];
  return (width) => ({
    width: Math.min(width, 110 + xs.length * 90),
    height: 60 + ys.length * 34,
    autosize: { type: 'fit', contains: 'padding' },
    data: { values: rows },
    encoding: { x, y },
    layer: [
      {
        mark: { type: 'rect', stroke: pageColour(), strokeWidth: 1 },
        encoding: {
          color: {
            field: 'value',
            type: 'quantitative',
            scale: { domain, range: shades() },
            legend: null,
          },
          tooltip,
        },
      },
      // Numbers where there is room for them.
      ...((width - 60) / xs.length > 38
        ? [
            {
              mark: { type: 'text', fontSize: 11 },
              encoding: {
                text: { field: 'value', type: 'quantitative', format: '.3f' },
                color: {
                  condition: { test: `datum.value > ${turn()}`, value: ink()[1] },
                  value: ink()[0],
                },
                tooltip,
              },
            },
          ]
        : []),
    ],
  });
}
