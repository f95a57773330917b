// SPDX-License-Identifier: Apache-2.0
// The timeline on a page: what is drawn, asked, and followed in one click.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resize, strokes } from './stand_in.mjs';
import { runSections } from '../../../sim/report/page/src/run.js';
import { timelineSection } from '../../../sim/report/page/src/timeline.js';
import { choiceOf, choose, click } from './look.mjs';
import { makeRun, makeTimelineColumns } from './run_maker.mjs';

const stays = [
  { tb: 7, start: 10, end: 140, outcome: 'saved', decision: 0, replacedBy: 1, waited: 4 },
  { kernel: 1, tb: 3, start: 160, end: 250 },
  { tb: 7, sm: 1, slot: 2, start: 320, end: 400, outcome: 'running', restored: true },
];
const decisions = [{ id: 12, cycle: 100, victim: 0, victimTbs: 1 }];
const columns = () => makeTimelineColumns(stays, decisions);

function open() {
  const made = timelineSection(makeRun({ timeline: columns() }));
  document.body.append(made.section);
  return { ...made, frame: made.section.querySelector('.timeline') };
}
const facts = (section) => section.querySelector('.asked').textContent;
const button = (section, words) =>
  section.querySelectorAll('button').find((b) => b.textContent.includes(words));
const view = (frame) => frame.dataset.drawn;
const boxes = () => strokes.filter(([name]) => name === 'fillRect');

test('without stays there is no timeline', () => {
  assert.equal(timelineSection(makeRun()), null);
  assert.equal(timelineSection(makeRun({ timeline: makeTimelineColumns([]) })), null);
});

test('all stays are drawn, in the colours of their kernels', async () => {
  strokes.length = 0;
  const { frame } = open();
  await resize();
  assert.equal(view(frame), '0 1000');
  const colours = new Set(boxes().map((box) => box[2]));
  assert.ok(colours.size >= 2);
  assert.ok(
    strokes.some(([name]) => name === 'bezierCurveTo'),
    'an arrow to where it goes on',
  );
});

test('where a kernel has no quota its line of quotas has a gap', async () => {
  const epochs = [100, 200, 300];
  const all = (value) => epochs.map(() => value);
  const samples = {
    ...{ cycle: epochs, length: all(100), sm: all(0), kernel: all(0) },
    ...{ warp_instructions: all(9), resident_tbs: all(1), quota: [20, 0, 10] },
  };
  const { section } = timelineSection(makeRun({ timeline: columns(), samples }));
  document.body.append(section);
  strokes.length = 0;
  await resize();
  const height = section.querySelector('canvas').height;
  const zero = height - 16;
  const track = strokes.filter(
    ([name, [, y]]) => name === 'lineTo' && y < height && y >= zero - 48,
  );
  assert.deepEqual(
    track.map(([, [, y]]) => zero - y),
    [48, 24],
  );
});

test('keys and buttons zoom, move and show all', async () => {
  const { section, frame } = open();
  await resize();
  const key = (name) => frame.dispatchEvent({ type: 'keydown', key: name });
  key('+');
  assert.equal(view(frame), '250 750');
  key('ArrowRight');
  assert.equal(view(frame), '350 850');
  click(button(section, '+'));
  assert.equal(view(frame), '475 725');
  key('0');
  assert.equal(view(frame), '0 1000');
  frame.dispatchEvent({ type: 'keydown', key: '+', ctrlKey: true });
  assert.equal(view(frame), '0 1000', 'keys of the browser are its own');
});

test('from a preempted TB to its decision, to the TB in its place, and to where it goes on', async () => {
  const { section } = open();
  await resize();
  click(button(section, 'next preempted'));
  assert.match(facts(section), /a TB 7, launch 1/);
  assert.match(facts(section), /10 to 140, saved/);
  assert.match(facts(section), /preempt for b on SM 0 at 100: 1 of a leave/);
  assert.match(facts(section), /id 12 in decisions.csv/);
  assert.match(facts(section), /Dispatched\s*at 6, 4 cycles before/);
  click(button(section, 'b TB 3'));
  assert.match(facts(section), /160 to 250, completed/);
  click(button(section, 'previous preempted'));
  click(button(section, 'a TB 7 on SM 1'));
  assert.match(facts(section), /320 to 400, running/);
  click(button(section, 'a TB 7 on SM 0'));
  click(button(section, 'preempt for b'));
  assert.match(facts(section), /Took away\s*a TB 7 on SM 0, slot 0/);
  assert.match(facts(section), /In its place\s*b TB 3/);
});

test('a click on the picture asks what is there', async () => {
  const { section, frame } = open();
  await resize();
  const canvas = frame.querySelector('canvas');
  const at = (cycle, y) => {
    const clientX = 66 + (cycle / 1000) * (800 - 74);
    for (const type of ['pointerdown', 'pointerup'])
      canvas.dispatchEvent({ type, clientX, clientY: y });
  };
  at(200, 45);
  assert.match(facts(section), /b TB 3/);
  at(100, 28);
  assert.match(facts(section), /Decision\s*preempt for b/);
  at(900, 45);
  assert.match(facts(section), /Click on a TB/);
});

test('one SM has rows of its own; a TB of another brings all back', async () => {
  const { section, frame } = open();
  await resize();
  choose(choiceOf(frame.parent, 'SM'), '1');
  strokes.length = 0;
  await resize();
  assert.ok(strokes.some(([name, [words]]) => name === 'fillText' && words === 'slot 2'));
  click(button(section, 'next preempted'));
  assert.match(facts(section), /SM 0, slot 0/);
  strokes.length = 0;
  await resize();
  assert.ok(strokes.some(([name, [words]]) => name === 'fillText' && words === 'SM 0'));
});

test('of kernels that were alone in their runs one is drawn at a time', async () => {
  const alone = makeTimelineColumns(
    [
      { tb: 7, start: 10, end: 140 },
      { kernel: 1, tb: 3, start: 160, end: 250 },
    ],
    [{ cycle: 100, kernel: 1, reason: 'repartition' }],
  );
  const { section } = timelineSection(makeRun({ timeline: alone }, { baseline: true }));
  document.body.append(section);
  await resize();
  // Others that are on the page are drawn with resize() as well.
  const drawnOf = (slot) => {
    strokes.length = 0;
    choose(choiceOf(section, 'Kernel, alone'), slot);
    return { drawn: boxes(), lines: strokes.filter(([name]) => name === 'stroke').length };
  };
  const [first, second] = ['0', '1'].map(drawnOf);
  assert.equal(first.drawn.length, 1);
  assert.equal(second.drawn.length, 1);
  assert.notEqual(first.drawn[0][2], second.drawn[0][2], 'each in its own colour');
  assert.equal(second.lines, first.lines + 1, 'and its own decisions only');
});

test('the log of preemptions leads to the timeline', async () => {
  const log = { kernel: [0], launch: [1], tb: [7], sm: [0], slot: [0], start: [10], end: [140] };
  const run = makeRun(
    {
      timeline: columns(),
      preemptions: { total: 1, ...log, flushed: [0], back: [320], back_sm: [1] },
    },
    { preemptions: { count: 1, restores: 1, flushes: 0, bytes: 9, mean_cycles: 30 } },
  );
  const sections = runSections(run);
  document.body.append(...sections);
  await resize();
  const find = (id) => sections.find((section) => section.id === id);
  click(find('preemptions').querySelector('button.link'));
  assert.match(facts(find('timeline')), /a TB 7, launch 1/);
});
