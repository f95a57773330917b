// SPDX-License-Identifier: Apache-2.0
// The forms of charts: what of the rows is drawn where.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './stand_in.mjs';
import {
  groupedBars,
  legendOf,
  lines,
  rowBars,
  smAreas,
  stackedBars,
  withStarts,
} from '../../../sim/report/page/src/specs.js';

const colourOf = (id) => `colour of ${id}`;
const series = ['spatial', 'smk'];
const marksOf = (spec) => spec.layer.map((layer) => layer.mark.type);
const tipsOf = (encoding) => encoding.tooltip.map((t) => t.title);

test('a legend takes its colours when it is shown', () => {
  let dark = false;
  const legend = legendOf(['a'], ['Alpha'], () => (dark ? 'black' : 'white'));
  assert.equal(legend[0][0], 'Alpha');
  assert.equal(legend[0][1](), 'white');
  dark = true;
  assert.equal(legend[0][1](), 'black');
});

test('grouped bars: a bar for each series of each group, in the order given', () => {
  const rows = [{ group: 'all', series: 'smk', name: 'smk', value: 1.2 }];
  const spec = groupedBars({ rows, groups: ['C+M', 'all'], series, colourOf })(5000);
  assert.deepEqual(spec.data.values, rows);
  assert.deepEqual(marksOf(spec), ['bar'], 'no line and no marks of the paper');
  const { x, xOffset, y, color } = spec.layer[0].encoding;
  assert.deepEqual(x.sort, ['C+M', 'all']);
  assert.deepEqual(xOffset.sort, series);
  assert.equal(y.field, 'value');
  assert.deepEqual(color.scale, { domain: series, range: ['colour of spatial', 'colour of smk'] });
  assert.ok(tipsOf(spec.layer[0].encoding).includes('Here'));
});

test('grouped bars are no wider than they need', () => {
  const narrow = groupedBars({ rows: [], groups: ['all'], series: ['smk'], colourOf });
  assert.equal(narrow(5000).width, 70 + 42 + 26);
  assert.equal(narrow(100).width, 100);
});

test('grouped bars: the line, and the paper where it has a number', () => {
  const rows = [
    { group: 'all', series: 'smk', value: 1.2, paper: 1.3 },
    { group: 'all', series: 'spatial', value: 1 },
  ];
  const spec = groupedBars({ rows, groups: ['all'], series, colourOf, rule: 1 })(400);
  assert.deepEqual(marksOf(spec), ['bar', 'rule', 'point']);
  assert.equal(spec.layer[1].encoding.y.datum, 1);
  assert.equal(spec.layer[2].encoding.y.field, 'paper');
  assert.deepEqual(spec.layer[2].transform, [{ filter: 'isValid(datum.paper)' }]);
  assert.deepEqual(marksOf(groupedBars({ rows, groups: ['all'], series, colourOf, rule: 0 })(1)), [
    'bar',
    'rule',
    'point',
  ]);
});

test('rows of bars are as high as they are many', () => {
  const make = (labelsInOrder) =>
    rowBars({ rows: [], labelsInOrder, series, colourOf, title: 'STP' })(300);
  assert.equal(make(['a+b']).height, 2 * 8 + 6 + 60);
  assert.equal(make(['a+b', 'a+c']).height - make(['a+b']).height, 2 * 8 + 6);
  assert.equal(make(['a+b']).width, 300);
});

test('rows of bars: values to the right, the line and the paper on top', () => {
  const rows = [{ label: 'a+b', series: 'smk', value: 1.2, paper: 1.1 }];
  const spec = rowBars({ rows, labelsInOrder: ['a+b'], series, colourOf, title: 'STP', rule: 1 })(
    300,
  );
  assert.deepEqual(marksOf(spec), ['bar', 'rule', 'point']);
  assert.equal(spec.layer[0].encoding.x.field, 'value');
  assert.equal(spec.layer[0].encoding.x.title, 'STP');
  assert.equal(spec.layer[1].encoding.x.datum, 1);
  assert.equal(spec.layer[2].encoding.x.field, 'paper');
});

test('stacked bars lie or stand', () => {
  const options = { rows: [], labelsInOrder: ['0', '1'], parts: ['a'], colourOf, title: 'TBs' };
  const standing = stackedBars(options)(100).encoding;
  assert.equal(standing.x.field, 'label');
  assert.equal(standing.y.field, 'value');
  assert.equal(standing.y.title, 'TBs');
  assert.equal(standing.y.stack, 'zero');
  const lying = stackedBars({ ...options, horizontal: true })(100).encoding;
  assert.equal(lying.y.field, 'label');
  assert.equal(lying.x.field, 'value');
  assert.deepEqual(lying.y.sort, ['0', '1']);
});

test('stacked bars: tips as asked for, numbers with their formats', () => {
  const options = { rows: [], labelsInOrder: [], parts: [], colourOf };
  assert.deepEqual(tipsOf(stackedBars(options)(1).encoding), ['', 'Part', 'Value']);
  const { tooltip } = stackedBars({
    ...options,
    tips: [
      ['label', 'SM'],
      ['value', 'Mean', '.2f'],
    ],
  })(1).encoding;
  assert.deepEqual(
    tooltip.map((t) => [t.field, t.type, t.format]),
    [
      ['label', 'nominal', undefined],
      ['value', 'quantitative', '.2f'],
    ],
  );
});

test('lines: steps for samples, points for settings', () => {
  const options = { rows: [], series, colourOf, xTitle: 'cycle', yTitle: 'IPC' };
  const plain = lines(options)(200);
  assert.equal(plain.mark.interpolate, 'linear');
  assert.equal(plain.mark.point, false);
  assert.equal(plain.encoding.x.scale.type, 'linear');
  assert.equal(plain.encoding.y.scale.zero, true);
  const steps = lines({ ...options, step: true })(200);
  assert.equal(steps.mark.interpolate, 'step-before', 'a sample is told at its end');
  const settings = lines({ ...options, log: true, zero: false, points: true, format: '.4f' })(200);
  assert.equal(settings.encoding.x.scale.type, 'log');
  assert.equal(settings.encoding.y.scale.zero, false);
  assert.notEqual(settings.mark.point, false);
  assert.equal(settings.encoding.tooltip.at(-1).format, '.4f');
});

test('lines of what is told at its end have a begin, never before 0', () => {
  const rows = [
    { x: 5, series: 'a', value: 1 },
    { x: 30, series: 'b', value: 2 },
    { x: 15, series: 'a', value: 3 },
  ];
  assert.deepEqual(
    withStarts(rows, (r) => r.x - 10).map((r) => [r.x, r.series, r.value]),
    [
      [0, 'a', 1],
      [5, 'a', 1],
      [20, 'b', 2],
      [30, 'b', 2],
      [15, 'a', 3],
    ],
  );
  assert.deepEqual(
    lines({ rows, series, colourOf, xDomain: [0, 40] })(9).encoding.x.scale.domain,
    [0, 40],
  );
});

test('lines have a begin again after a gap', () => {
  const rows = [5, 15, 25, 35].map((x, i) => ({ x, series: 'a', value: [1, null, 2, 3][i] }));
  assert.deepEqual(
    withStarts(rows, (r) => r.x - 10).map((r) => [r.x, r.value]),
    [
      [0, 1],
      [5, 1],
      [15, null],
      [15, 2],
      [25, 2],
      [35, 3],
    ],
  );
});

test('small charts of SMs: four beside each other, two on a narrow screen', () => {
  const make = smAreas({ rows: [], series: [0, 1], colourOf, xTitle: 'from cycle', end: 900 });
  const wide = make(1000);
  assert.equal(wide.columns, 4);
  assert.equal(make(519).columns, 2);
  assert.ok(4 * wide.spec.width + 3 * 12 <= 1000, 'they fit');
  assert.deepEqual(wide.spec.encoding.x.scale.domain, [0, 900]);
  assert.deepEqual(wide.resolve.scale, { x: 'shared', y: 'shared' }, 'SMs can be compared');
});
