// SPDX-License-Identifier: Apache-2.0
// Colours: the same for the same thing, other ones in the dark.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { system } from './stand_in.mjs';
import { policyOrder, stallReasons } from '../../../sim/report/page/src/sweepdata.js';
import {
  chartConfig,
  isDark,
  kernelColour,
  onTheme,
  pageColour,
  paperColour,
  policyColour,
  stallColour,
  startTheme,
  toggleTheme,
} from '../../../sim/report/page/src/theme.js';

test('policies, kernels and reasons have colours of their own', () => {
  const policies = policyOrder.filter((id) => !id.includes(' ')).map(policyColour);
  assert.equal(new Set(policies).size, policies.length);
  assert.equal(new Set([0, 1, 2, 3].map(kernelColour)).size, 4);
  assert.equal(kernelColour(4), kernelColour(0));
  assert.equal(new Set(stallReasons.map(stallColour)).size, stallReasons.length);
  assert.equal(stallColour('unheard of'), '#888888');
});

test('the ideal of a policy has its colour, an unknown policy the same each time', () => {
  assert.equal(policyColour('smk-pw-ideal'), policyColour('smk-pw'));
  assert.match(policyColour('table:2,3'), /^#[0-9a-f]{6}$/);
  assert.equal(policyColour('table:2,3'), policyColour('table:2,3'));
});

test('what is dark, and who is told', () => {
  const light = policyColour('smk');
  let told = 0;
  onTheme(() => {
    told += 1;
  });
  startTheme();
  assert.equal(isDark(), false);
  assert.equal(document.documentElement.dataset.theme, 'light');
  system.matches = true;
  system.dispatchEvent({ type: 'change' });
  assert.equal(isDark(), true, 'as the system has it');
  assert.notEqual(policyColour('smk'), light);
  toggleTheme();
  assert.equal(isDark(), false);
  assert.equal(document.documentElement.dataset.theme, 'light');
  assert.equal(policyColour('smk'), light);
  system.matches = false;
  system.dispatchEvent({ type: 'change' });
  system.matches = true;
  system.dispatchEvent({ type: 'change' });
  assert.equal(isDark(), false, 'what the reader has chosen stays');
  assert.equal(told, 3, 'start, change of the system, choice');
});

test('charts take their colours from the style sheet', () => {
  assert.equal(paperColour(), '--paper-mark');
  assert.equal(pageColour(), '--page');
  const config = chartConfig();
  assert.equal(config.axis.gridColor, '--line');
  assert.equal(config.legend.labelColor, '--text');
  assert.equal(config.background, null);
});
