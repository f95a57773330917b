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
  orderPolicies,
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
  assert.equal(new Set([0, 1, 2, 3, 4, 5, 6, 7].map(kernelColour)).size, 8);
  assert.equal(kernelColour(8), kernelColour(0));
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

// Of a colour: red, green and blue as light, their brightness, and its place in Oklab.
const lightOf = (colour) =>
  [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const brightness = (colour) => {
  const [r, g, b] = lightOf(colour);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [brightness(a), brightness(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const oklab = (colour) => {
  const [r, g, b] = lightOf(colour);
  const l = Math.cbrt(0.4122 * r + 0.5363 * g + 0.0514 * b);
  const m = Math.cbrt(0.2119 * r + 0.6807 * g + 0.1074 * b);
  const s = Math.cbrt(0.0883 * r + 0.2817 * g + 0.63 * b);
  return [
    0.2105 * l + 0.7936 * m - 0.0041 * s,
    1.978 * l - 2.4286 * m + 0.4506 * s,
    0.0259 * l + 0.7828 * m - 0.8087 * s,
  ];
};
const apart = (a, b) => Math.hypot(...oklab(a).map((x, i) => x - oklab(b)[i]));
const leastApart = (colours) =>
  Math.min(...colours.flatMap((a, i) => colours.slice(0, i).map((b) => apart(a, b))));

const systems = ['sequential', 'in-order', 'kernelet', 'kernel-merge'].flatMap((scheduler) =>
  ['leftover', 'even', 'spatial', 'smk-p'].map((policy) => `${scheduler} on ${policy}`),
);

test('sixteen systems have colours of their own, to be told from each other and from the page', () => {
  const pages = { false: '#fdfdfb', true: '#16191d' };
  for (let theme = 0; theme < 2; ++theme) {
    const page = pages[isDark()];
    orderPolicies(systems);
    const colours = systems.map(policyColour);
    assert.equal(new Set(colours).size, 16);
    assert.ok(leastApart(colours) > 0.09, `dark: ${isDark()}: ${leastApart(colours)}`);
    assert.ok(leastApart(colours.slice(0, 6)) > 0.13, 'the first are farther apart');
    const kernels = Array.from({ length: 8 }, (_, slot) => kernelColour(slot));
    assert.ok(leastApart(kernels) > 0.06, `dark: ${isDark()}: ${leastApart(kernels)}`);
    for (const colour of [...colours, ...kernels])
      assert.ok(contrast(colour, page) > 2, `${colour} on ${page}`);
    const known = policyOrder.filter((id) => !id.includes(' ')).map(policyColour);
    for (const colour of known)
      for (const other of colours) assert.ok(apart(colour, other) > 0.05, `${colour} ${other}`);
    toggleTheme();
  }
});

test('the order of the page gives colours, not what is drawn first', () => {
  orderPolicies(['b:1', 'smk', 'a:1', 'a:1-ideal']);
  const [a, b] = [policyColour('a:1'), policyColour('b:1')];
  assert.equal(policyColour('a:1-ideal'), a);
  orderPolicies(['a:1', 'b:1']);
  assert.deepEqual([policyColour('b:1'), policyColour('a:1')], [a, b]);
});
