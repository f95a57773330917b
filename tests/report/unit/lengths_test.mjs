// SPDX-License-Identifier: Apache-2.0
// How long a run was, what of it was measured, and what ended it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './stand_in.mjs';
import {
  endText,
  isPart,
  measuredCycles,
  measuredText,
} from '../../../sim/report/page/src/lengths.js';

test('statistics are of the window, of what is told, or of the whole run', () => {
  assert.equal(measuredCycles({ cycles: 100, measured_from: 40, measured_to: 70 }), 30);
  assert.equal(measuredCycles({ cycles: 100, measured_cycles: 60 }), 60);
  assert.equal(measuredCycles({ cycles: 100, measured_cycles: null }), null);
  assert.equal(measuredCycles({ cycles: 100 }), 100);
});

test('a window is told when it is not the whole run', () => {
  const window = { cycles: 9000, measured_from: 4000, measured_to: 7000 };
  assert.ok(isPart(window));
  assert.equal(measuredText(window), 'measured from 4\u2009000 to 7\u2009000');
  assert.equal(measuredText({ cycles: 9000, measured_cycles: 2000 }), '2\u2009000 cycles measured');
  for (const whole of [
    { cycles: 9000, measured_from: 0, measured_to: 9000 },
    { cycles: null, measured_cycles: null },
    { cycles: 9000 },
  ])
    assert.equal(measuredText(whole), false);
});

test('what ended the run is told when it was not its length', () => {
  assert.equal(endText({ until: 'cycles' }), false);
  assert.equal(endText({}), false);
  assert.equal(endText({ until: 'done' }), 'until all programs had ended');
  assert.equal(endText({ until: 'done', host: {} }), 'until all jobs had ended');
  assert.equal(
    endText({ until: 'work', cut_short: true }),
    'cut short before each kernel had done its work',
  );
});
