// SPDX-License-Identifier: Apache-2.0
// The timeline's data: what leads where, rows, levels of detail, finding, axes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clampView,
  detailsOf,
  findStay,
  makeTimeline,
  nextPreempted,
  rowsOf,
  stayAt,
  ticksOf,
} from '../../../sim/report/page/src/timelinedata.js';
import { makeTimelineColumns } from './run_maker.mjs';

const make = (stays, decisions) => makeTimeline(makeTimelineColumns(stays, decisions));

// A TB is saved on SM 0, another comes in its place, and it goes on upon SM 1.
const stays = [
  { tb: 7, start: 10, end: 140, outcome: 'saved', decision: 0, replacedBy: 1 },
  { kernel: 1, tb: 3, start: 160, end: 250 },
  { tb: 7, sm: 1, slot: 2, start: 320, end: 400, outcome: 'running', restored: true },
];
const decisions = [{ id: 12, cycle: 100, victim: 0, victimTbs: 1 }];

test('starts and ends are cycles again, and links are known', () => {
  const t = make(stays, decisions);
  assert.deepEqual([...t.start], [10, 160, 320]);
  assert.deepEqual([...t.end], [140, 250, 400]);
  assert.deepEqual([...t.decision], [0, -1, -1]);
  assert.deepEqual([...t.replacedBy], [1, -1, -1]);
  assert.deepEqual(t.decisions[0].id, 12);
});

test('a TB goes on after a preemption, not after its end', () => {
  const t = make([...stays, { tb: 7, start: 500, end: 600 }], decisions);
  assert.deepEqual([...t.next], [2, -1, -1, -1], 'the last is another launch or execution');
  assert.deepEqual([...t.before], [-1, -1, 0, -1]);
});

test('a row for each slot that was used, by SM', () => {
  const t = make(stays, decisions);
  const rows = (wanted) => rowsOf(t, wanted).map((row) => [row.sm, row.slot, row.stays]);
  assert.deepEqual(rows('all'), [
    [0, 0, [0, 1]],
    [1, 2, [2]],
  ]);
  assert.deepEqual(rows('1'), [[1, 2, [2]]]);
});

test('near, stays are as they are; from afar, pixels with the most of them', () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({
    kernel: i % 4 === 0 ? 1 : 0,
    tb: i,
    start: i * 10,
    end: i * 10 + 8,
  }));
  const t = make(many);
  const [row] = rowsOf(t, 'all');
  const near = detailsOf(t, row, 100, 200, 0.5);
  assert.deepEqual([near.wide.length, near.bits.length], [10, 0]);
  const far = detailsOf(t, row, 0, 10_000, 100);
  assert.deepEqual([far.wide.length, far.bits.length], [0, 100]);
  assert.deepEqual(far.bits[0], { pixel: 0, kernel: 0, share: 0.8 });
});

test('two million cycles with fifty thousand stays are as many marks as pixels', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => ({
    tb: i,
    sm: i % 16,
    slot: (i >> 4) % 8,
    start: i * 40,
    end: i * 40 + 3000,
  }));
  const t = make(many);
  const begin = performance.now();
  for (const row of rowsOf(t, 'all')) {
    const { wide, bits } = detailsOf(t, row, 0, 2_003_000, 2003);
    assert.ok(wide.length + bits.length <= 1000);
  }
  assert.ok(performance.now() - begin < 1000, 'a second on any machine');
});

test('what is under the pointer, or nearest', () => {
  const t = make(stays, decisions);
  const [row] = rowsOf(t, 'all');
  assert.equal(stayAt(t, row, 50, 5), 0);
  assert.equal(stayAt(t, row, 144, 5), 0);
  assert.equal(stayAt(t, row, 150, 5), -1);
  assert.equal(stayAt(t, row, 157, 5), 1);
});

test('a stay is found by TB and end, and preempted ones in order', () => {
  const t = make(
    [...stays, { kernel: 1, tb: 9, start: 330, end: 390, outcome: 'flushed' }],
    decisions,
  );
  assert.equal(findStay(t, { kernel: 0, launch: 1, tb: 7, end: 140 }), 0);
  assert.equal(findStay(t, { kernel: 0, launch: 1, tb: 7, end: 141 }), -1);
  assert.equal(nextPreempted(t, 1, 1), 3, 'from one that was not preempted');
  assert.equal(nextPreempted(t, 1, -1), 0);
  assert.equal(nextPreempted(t, -1, 1), 0);
  assert.equal(nextPreempted(t, 0, 1), 3);
  assert.equal(nextPreempted(t, 3, 1), -1);
  assert.equal(nextPreempted(t, 3, -1), 0);
  assert.equal(nextPreempted(t, -1, -1), 3);
});

test('round ticks, never too many', () => {
  assert.deepEqual(ticksOf(0, 1000, 5), [0, 200, 400, 600, 800, 1000]);
  assert.deepEqual(ticksOf(150, 2_000_000, 2), [1_000_000, 2_000_000]);
  for (const to of [30, 99, 12_345, 2_000_000])
    assert.ok(ticksOf(0, to, 8).length <= 9, String(to));
});

test('the view stays in the run', () => {
  assert.deepEqual(clampView(-50, 50, 1000), [0, 100]);
  assert.deepEqual(clampView(950, 1050, 1000), [900, 1000]);
  assert.deepEqual(clampView(500, 501, 1000), [500, 520]);
  assert.deepEqual(clampView(-5, 9, 10), [0, 10]);
});
