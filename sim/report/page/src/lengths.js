// SPDX-License-Identifier: Apache-2.0
// How long a run was, which of its cycles statistics are of, and what ended it.
import { count, isNumber } from './format.js';
import { inOwnRuns } from './kernels.js';

// The cycles that statistics are of; null when they are not known.
export function measuredCycles({ cycles, measured_from, measured_to, measured_cycles }) {
  if (measured_cycles !== undefined) return measured_cycles;
  return isNumber(measured_to) ? measured_to - (measured_from ?? 0) : cycles;
}

// Those of one kernel: in a run of its own they are the kernel's.
export const measuredOf = (stats, slot) =>
  (inOwnRuns(stats) && stats.kernels[slot].cycles_present) || measuredCycles(stats);

// Whether statistics are of a part of the run only.
export function isPart(stats) {
  const measured = measuredCycles(stats);
  return isNumber(measured) && isNumber(stats.cycles) && measured < stats.cycles;
}

// "measured from 40 000 to 70 000"; false when the whole run is measured.
export const measuredText = (stats) =>
  isPart(stats) &&
  (isNumber(stats.measured_to)
    ? `measured from ${count(stats.measured_from)} to ${count(stats.measured_to)}`
    : `${count(measuredCycles(stats))} cycles measured`);

const ends = { done: 'all programs had ended', work: 'each kernel had done its work' };

// What ended the run, when it was not its length: "until all programs had ended".
export function endText({ until, cut_short: cutShort, host }) {
  const end = host && until === 'done' ? 'all jobs had ended' : ends[until];
  return end !== undefined && (cutShort ? `cut short before ${end}` : `until ${end}`);
}
