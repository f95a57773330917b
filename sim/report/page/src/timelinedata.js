// SPDX-License-Identifier: Apache-2.0
// The stays of TBs as the timeline needs them: what comes after what, rows, and levels of detail.

const none = -1;

// From the columns that smk report writes. Of a stay: `before` and `next` are those of the same TB, around a
// preemption; `decision` took it off its SM, and the TB of `replacedBy` has its place.
export function makeTimeline(columns) {
  const n = columns.start.length;
  const t = { n, total: columns.total, outcomes: columns.outcomes };
  for (const name of ['kernel', 'launch', 'tb', 'sm', 'slot', 'outcome', 'waited'])
    t[name] = columns[name];
  t.start = new Float64Array(n);
  t.end = new Float64Array(n);
  for (let i = 0, at = 0; i < n; ++i) {
    at += columns.start[i];
    t.start[i] = at;
    t.end[i] = at + columns.length[i];
  }
  t.restored = new Uint8Array(n);
  for (const i of columns.restored) t.restored[i] = 1;
  for (const name of ['decision', 'replacedBy', 'before', 'next'])
    t[name] = new Int32Array(n).fill(none);
  for (const [i, decision, replacedBy] of columns.links) {
    t.decision[i] = decision;
    t.replacedBy[i] = replacedBy ?? none;
  }
  const d = columns.decisions;
  t.decisions = d.id.map((id, i) => ({
    id,
    cycle: d.cycle[i],
    reason: d.reason[i],
    kernel: d.kernel[i],
    sm: d.sm[i],
    victim: d.victim[i],
    victimTbs: d.victim_tbs[i],
  }));
  linkStays(t);
  return t;
}

export const wasPreempted = (t, i) => ['saved', 'flushed'].includes(t.outcomes[t.outcome[i]]);

function linkStays(t) {
  const last = new Map();
  for (let i = 0; i < t.n; ++i) {
    const key = `${t.kernel[i]} ${t.launch[i]} ${t.tb[i]}`;
    const before = last.get(key);
    if (before !== undefined && wasPreempted(t, before)) {
      t.before[i] = before;
      t.next[before] = i;
    }
    last.set(key, i);
  }
}

// The stay of a TB that ended in this cycle, or -1.
export function findStay(t, { kernel, launch, tb, end }) {
  for (let i = 0; i < t.n; ++i)
    if (t.end[i] === end && t.tb[i] === tb && t.kernel[i] === kernel && t.launch[i] === launch)
      return i;
  return none;
}

// The next preempted stay by end of stay, in one direction; -1 after the last.
export function nextPreempted(t, selected, step) {
  const all = [];
  for (let i = 0; i < t.n; ++i) if (wasPreempted(t, i)) all.push(i);
  all.sort((a, b) => t.end[a] - t.end[b] || a - b);
  const at = all.indexOf(selected);
  if (at < 0 && selected >= 0) {
    const side = all.filter((i) => (t.end[i] - t.end[selected]) * step > 0);
    return (step > 0 ? side[0] : side.at(-1)) ?? none;
  }
  if (at < 0) return (step > 0 ? all[0] : all.at(-1)) ?? none;
  return all[at + step] ?? none;
}

// A row for each slot that was used, of one SM or 'all': { sm, slot, stays }, stays in order of time. `kernel`: of
// that one only.
export function rowsOf(t, wanted, kernel = null) {
  const rows = new Map();
  for (let i = 0; i < t.n; ++i) {
    if (wanted !== 'all' && t.sm[i] !== Number(wanted)) continue;
    if (kernel !== null && t.kernel[i] !== kernel) continue;
    const key = t.sm[i] * 4096 + t.slot[i];
    if (!rows.has(key)) rows.set(key, { sm: t.sm[i], slot: t.slot[i], stays: [] });
    rows.get(key).stays.push(i);
  }
  return [...rows.entries()].sort(([a], [b]) => a - b).map(([, row]) => row);
}

// Place in `stays` of the first that ends after `cycle`.
function firstAfter(t, stays, cycle) {
  let [low, high] = [0, stays.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t.end[stays[middle]] > cycle) high = middle;
    else low = middle + 1;
  }
  return low;
}

export const thin = 1.5; // pixels: narrower stays are drawn together

// What of a row is between two cycles: `wide` stays, and of the others, for each pixel, the kernel that has most
// of it and how much, 0 to 1: { pixel, kernel, share }.
export function detailsOf(t, row, from, to, perPixel) {
  const wide = [];
  const pixels = new Map();
  for (let at = firstAfter(t, row.stays, from); at < row.stays.length; ++at) {
    const i = row.stays[at];
    if (t.start[i] >= to) break;
    if (t.end[i] - t.start[i] >= thin * perPixel) {
      wide.push(i);
      continue;
    }
    const pixel = Math.floor((t.start[i] - from) / perPixel);
    const cycles = pixels.get(pixel) ?? pixels.set(pixel, new Map()).get(pixel);
    const length = Math.max(1, t.end[i] - t.start[i]);
    cycles.set(t.kernel[i], (cycles.get(t.kernel[i]) ?? 0) + length);
  }
  const bits = [...pixels].map(([pixel, cycles]) => {
    const [kernel] = [...cycles].sort((a, b) => b[1] - a[1])[0];
    const sum = [...cycles.values()].reduce((a, b) => a + b, 0);
    return { pixel, kernel, share: Math.min(1, sum / perPixel) };
  });
  return { wide, bits };
}

// The stay of a row at a cycle, or the nearest within `reach` cycles; -1: none.
export function stayAt(t, row, cycle, reach) {
  let best = none;
  let distance = reach;
  for (let at = firstAfter(t, row.stays, cycle - reach); at < row.stays.length; ++at) {
    const i = row.stays[at];
    if (t.start[i] > cycle + reach) break;
    const away = Math.max(t.start[i] - cycle, cycle - t.end[i], 0);
    if (away < distance || (away === 0 && best === none)) {
      best = i;
      distance = away;
    }
  }
  return best;
}

// Round cycles for an axis, about `wanted` of them.
export function ticksOf(from, to, wanted) {
  const rough = (to - from) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max(1, power * ([1, 2, 5].find((f) => f * power >= rough) ?? 10));
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}

// The part of a run that is seen, never less than 20 cycles nor out of the run.
export function clampView(from, to, end) {
  const length = Math.min(end, Math.max(20, to - from));
  const start = Math.min(Math.max(0, from), end - length);
  return [start, start + length];
}
