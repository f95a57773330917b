// SPDX-License-Identifier: Apache-2.0
// Numbers and names as people read them.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export const missing = '–';

export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

export const count = (value) =>
  isNumber(value) ? whole.format(value).replaceAll(',', '\u2009') : missing;

export const fixed = (digits) => (value) => (isNumber(value) ? value.toFixed(digits) : missing);

export const ratio = fixed(3);

export const percent = (value) => (isNumber(value) ? `${(100 * value).toFixed(1)} %` : missing);

// "+17.0 %" for a ratio of 1.17.
export function gain(value) {
  if (!isNumber(value)) return missing;
  const points = 100 * (value - 1);
  return `${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(1)} %`;
}

export function bytes(value) {
  if (!isNumber(value)) return missing;
  for (const [size, unit] of [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ]) {
    if (value >= size) return `${(value / size).toFixed(1)} ${unit}`;
  }
  return `${value} B`;
}

export const divide = (a, b) => (isNumber(a) && isNumber(b) && b !== 0 ? a / b : null);

export function mean(values) {
  if (values.length === 0 || !values.every(isNumber)) return null;
  return values.reduce((a, b) => a + b, 0) / values.length;
}

// As one types them; a run with ideal preemption is a policy of its own in some figures.
export const policyName = (id) => id.replace(/-ideal$/, ' ideal');

export const stallNames = {
  issued: 'Issued',
  pipeline: 'Pipeline busy',
  control: 'Fetch or branch',
  data_memory: 'Waits for memory',
  data_short: 'Waits for ALU, SFU, shared',
  barrier: 'Barrier',
  quota: 'Quota spent',
  preemption: 'Started or preempted',
  empty: 'No warp',
};
