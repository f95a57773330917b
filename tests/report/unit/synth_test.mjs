// SPDX-License-Identifier: Apache-2.0
// The page of smk synth.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import { h } from '../../../sim/report/page/src/dom.js';
import { instancesOf, slowest, synthPage } from '../../../sim/report/page/src/synth.js';
import { figureOf, readNumbers, readTable } from './look.mjs';

const area = (um2) => ({ cells: 10 * um2, flip_flops: um2, sram_bits: 0, um2, nand2: um2 });
const path = (fmax) => ({
  fmax_mhz: fmax,
  slack_ns: 0.1,
  arrival_ns: 0.7,
  depth: 9,
  start: 'a',
  end: 'b',
});
const block = (name, per, um2, rest = {}) => ({
  block: name,
  per,
  own: area(um2),
  worst_path: path(1300),
  ...rest,
});
const whole = () => ({
  config: 'gtx980',
  sms: 16,
  kernels: 4,
  mhz: 1216,
  wires: 'none',
  uncertainty_percent: 5,
  library: { name: 'cells', nand2_um2: 0.8 },
  gpu: area(3020),
  blocks: [
    block('quota_scheduler', 'sm', 20, { worst_path: path(1200), between_registers: path(1250) }),
    block('sm_tables', 'sm', 40),
    block('sm_control', 'sm', 10, {
      contains: { quota_scheduler: 4, sm_tables: 1 },
      total: area(130),
    }),
    block('drf_tracker', 'gpu', 900),
    block('driver', 'gpu', 40, { contains: { drf_tracker: 1 }, total: area(940) }),
  ],
});
const paged = (synth, papers = []) => h('div', synthPage({ synth, papers }));

beforeEach(() => {
  drawings.length = 0;
});

test('blocks are counted through what contains them', () => {
  assert.deepEqual(
    [...instancesOf(whole())],
    [
      ['sm_control', 16],
      ['quota_scheduler', 64],
      ['sm_tables', 16],
      ['driver', 1],
      ['drf_tracker', 1],
    ],
  );
});

test('the areas of all instances are those of the GPU', () => {
  const { rows } = readNumbers(
    figureOf(paged(whole()), 'Area of each block, all its instances, µm²'),
  );
  assert.deepEqual(rows, [
    ['quota_scheduler', '64', '1\u2009280', '42.4'],
    ['drf_tracker', '1', '900', '29.8'],
    ['sm_tables', '16', '640', '21.2'],
    ['sm_control', '16', '160', '5.3'],
    ['driver', '1', '40', '1.3'],
  ]);
});

test('the slowest block stands out, and every path has its line', () => {
  const page = paged(whole());
  document.body.append(page);
  assert.equal(slowest(whole()).block, 'quota_scheduler');
  const tiles = page.querySelectorAll('.tile').map((tile) => tile.textContent);
  assert.ok(tiles.includes('1\u2009200 MHzslowest block: quota_scheduler'), tiles.join('; '));
  assert.equal(readTable(page, 'Worst paths').rows.length, 5);
  scrollThrough();
  const clock = drawings.find(({ spec }) => spec.layer?.some((l) => l.encoding.x?.datum === 1216));
  assert.ok(clock, 'a line at the clock to be met');
});

test('some blocks without timing: no clock, no chip', () => {
  const synth = whole();
  synth.blocks = [block('quota_scheduler', 'sm', 20, { worst_path: undefined })];
  delete synth.gpu;
  const page = paged(synth);
  assert.equal(slowest(synth), null);
  assert.equal(instancesOf(synth), null);
  assert.deepEqual(
    page.querySelectorAll('section').map((s) => s.id),
    ['summary', 'blocks'],
  );
  assert.equal(readTable(page, 'Blocks').rows[0][7], '–');
});

test('what the papers say stands beside', () => {
  const papers = [{ what: 'profile counters of one SM, um2', paper: '714', here: '2035' }];
  assert.deepEqual(readTable(paged(whole(), papers), 'Beside the papers').rows, [
    ['profile counters of one SM, um2', '714', '2035'],
  ]);
});
