// SPDX-License-Identifier: Apache-2.0
// Numbers and names as the page writes them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bytes,
  count,
  divide,
  fixed,
  gain,
  isNumber,
  mean,
  missing,
  percent,
  policyName,
  ratio,
  stallNames,
} from '../../../sim/report/page/src/format.js';

const noNumbers = [null, undefined, NaN, Infinity, -Infinity, '7', [], {}];

test('only finite numbers are numbers', () => {
  for (const value of [0, -1, 0.5, 1e300]) assert.equal(isNumber(value), true);
  for (const value of noNumbers) assert.equal(isNumber(value), false, String(value));
});

test('what is no number is a dash in every format', () => {
  for (const format of [count, fixed(2), ratio, percent, gain, bytes])
    for (const value of noNumbers) assert.equal(format(value), missing);
});

test('counts have thin spaces between thousands and no fraction', () => {
  assert.equal(count(0), '0');
  assert.equal(count(999), '999');
  assert.equal(count(1000), '1\u2009000');
  assert.equal(count(2_000_000), '2\u2009000\u2009000');
  assert.equal(count(1234.6), '1\u2009235');
  assert.equal(count(-1234), '-1\u2009234');
});

test('fractions have the digits that were asked for', () => {
  assert.equal(fixed(0)(2.5001), '3');
  assert.equal(fixed(2)(1), '1.00');
  assert.equal(ratio(0.83849), '0.838');
  assert.equal(percent(0.12345), '12.3 %');
  assert.equal(percent(1), '100.0 %');
});

test('a gain has a sign, and a minus that is one', () => {
  assert.equal(gain(1.17), '+17.0 %');
  assert.equal(gain(0.95), '\u22125.0 %');
  assert.equal(gain(1), '+0.0 %');
});

test('bytes take the largest unit that gives at least one', () => {
  assert.equal(bytes(0), '0 B');
  assert.equal(bytes(999), '999 B');
  assert.equal(bytes(1000), '1.0 kB');
  assert.equal(bytes(999_949), '999.9 kB');
  assert.equal(bytes(1e6), '1.0 MB');
  assert.equal(bytes(2.5e9), '2.5 GB');
  assert.equal(bytes(1e12), '1000.0 GB');
});

test('dividing by nothing, or what is missing, gives nothing', () => {
  assert.equal(divide(6, 3), 2);
  assert.equal(divide(0, 3), 0);
  assert.equal(divide(6, 0), null);
  assert.equal(divide(null, 3), null);
  assert.equal(divide(6, undefined), null);
});

test('a mean of which a part is missing is missing', () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(mean([]), null);
  assert.equal(mean([1, null]), null);
  assert.equal(mean([1, NaN]), null);
});

test('policies have the names of the paper', () => {
  assert.equal(policyName('smk-pw'), 'smk-pw');
  assert.equal(policyName('smk-pw-ideal'), 'smk-pw ideal');
  assert.equal(policyName('leftover'), 'leftover');
  assert.equal(policyName('table:2,3'), 'table:2,3', 'others keep their own');
});

test('each reason of a scheduler has a name of its own', () => {
  const names = Object.values(stallNames);
  assert.equal(new Set(names).size, names.length);
  assert.equal(names.length, 9);
});
