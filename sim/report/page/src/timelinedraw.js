// SPDX-License-Identifier: Apache-2.0
// Draws the part of a timeline that is seen: cycles, decisions, TBs by SM and slot, arrows, quotas.
import { count } from './format.js';
import { css, isDark } from './theme.js';
import { detailsOf, ticksOf } from './timelinedata.js';

export const margin = { left: 66, right: 8, axis: 22, decisions: 18, gap: 4, quota: 64 };

// Pixels: one row for each slot, so that all SMs are on one screen or two.
export function layoutOf(rows, hasQuota) {
  const height = Math.max(1, Math.min(12, Math.floor(620 / Math.max(1, rows.length))));
  const tops = [];
  let y = margin.axis + margin.decisions;
  rows.forEach((row, i) => {
    if (i > 0 && row.sm !== rows[i - 1].sm) y += margin.gap;
    tops.push(y);
    y += height;
  });
  const quota = hasQuota ? y + margin.gap + 10 : null;
  return { height, tops, bottom: y, quota, total: (quota ?? y) + (hasQuota ? margin.quota : 4) };
}

const mostArrows = 250; // more hide what they are about
const mostMarks = 2; // pixels between marks of decisions

class Drawing {
  constructor(context, width, state) {
    Object.assign(this, { context, width, ...state });
    this.perPixel = (this.to - this.from) / (width - margin.left - margin.right);
    this.font = `11px ${css('--sans')}`;
  }
  x(cycle) {
    return margin.left + (cycle - this.from) / this.perPixel;
  }
  line(x1, y1, x2, y2, colour, width = 1) {
    const c = this.context;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    c.stroke();
  }
  text(words, x, y, align = 'left', colour = css('--quiet')) {
    const c = this.context;
    c.font = this.font;
    c.fillStyle = colour;
    c.textAlign = align;
    c.textBaseline = 'middle';
    c.fillText(words, x, y);
  }

  axis() {
    const bottom = this.layout.quota ? this.layout.quota + margin.quota : this.layout.bottom;
    for (const tick of ticksOf(this.from, this.to, (this.width - margin.left) / 90)) {
      const x = Math.round(this.x(tick)) + 0.5;
      this.line(x, margin.axis - 4, x, bottom, css('--line'));
      if (x > margin.left - 1 && x < this.width - 30) this.text(count(tick), x, 9, 'center');
    }
    this.text('cycle', margin.left - 8, 9, 'right');
  }

  names() {
    const { tops, height, bottom } = this.layout;
    let last = -100;
    this.rows.forEach((row, i) => {
      const first = i === 0 || this.rows[i - 1].sm !== row.sm;
      const y = tops[i] + height / 2;
      if (first && i > 0) {
        const above = tops[i] - margin.gap / 2;
        this.line(margin.left, above, this.width - margin.right, above, css('--line'));
      }
      const name = this.sm === 'all' ? first && `SM ${row.sm}` : `slot ${row.slot}`;
      if (!name || tops[i] - last < 11) return;
      this.text(name, margin.left - 8, this.sm === 'all' ? tops[i] + 5 : y, 'right');
      last = tops[i];
    });
    this.line(margin.left, bottom + 1.5, this.width - margin.right, bottom + 1.5, css('--line'));
  }

  // Stays of some width as they are, others by pixels, paler where there is less of them.
  stays() {
    const { tops, height } = this.layout;
    const c = this.context;
    const inner = height > 3 ? height - 1 : height;
    this.rows.forEach((row, r) => {
      const { wide, bits } = detailsOf(this.t, row, this.from, this.to, this.perPixel);
      for (const { pixel, kernel, share } of bits) {
        c.globalAlpha = 0.25 + 0.75 * share;
        c.fillStyle = this.colourOfKernel(kernel);
        c.fillRect(margin.left + Math.max(0, pixel), tops[r], 1, inner);
      }
      c.globalAlpha = 1;
      for (const i of wide) {
        const from = Math.max(margin.left, this.x(this.t.start[i]));
        const to = Math.min(this.width - margin.right, this.x(this.t.end[i]));
        const gap = to - from > 4 ? 0.8 : 0;
        c.fillStyle = this.colourOfKernel(this.t.kernel[i]);
        c.fillRect(from, tops[r], to - from - gap, inner);
        if (this.t.restored[i] && to - from > 3 && height > 3) {
          c.fillStyle = this.arrowColour();
          c.fillRect(from, tops[r], 2, inner);
        }
        if (height >= 11 && to - from > 46) {
          const words = `TB ${this.t.tb[i]}`;
          this.text(words, from + 5, tops[r] + height / 2, 'left', '#ffffff');
        }
      }
    });
  }

  arrowColour() {
    return isDark() ? '#ff8fa3' : '#b3123a';
  }

  // From where a TB was saved to where it goes on; all of them when there are few, else those of the
  // TB that is selected.
  arrows() {
    const { t } = this;
    const seen = [];
    for (let i = 0; i < t.n && seen.length <= mostArrows; ++i) {
      const next = t.next[i];
      if (next < 0 || t.start[next] < this.from || t.end[i] > this.to) continue;
      if (this.place.has(i) && this.place.has(next)) seen.push(i);
    }
    const own = this.chain();
    for (const i of seen.length <= mostArrows ? seen : []) if (!own.includes(i)) this.arrow(i, 0.4);
    for (const i of own) if (t.next[i] >= 0 && this.place.has(t.next[i])) this.arrow(i, 1);
  }
  // All stays of the selected TB.
  chain() {
    const { t } = this;
    if (this.selected < 0) return [];
    let first = this.selected;
    while (t.before[first] >= 0) first = t.before[first];
    const chain = [];
    for (let i = first; i >= 0; i = t.next[i]) if (this.place.has(i)) chain.push(i);
    return chain;
  }
  middle(i) {
    return this.layout.tops[this.place.get(i)] + this.layout.height / 2;
  }
  arrow(i, alpha) {
    const c = this.context;
    const next = this.t.next[i];
    const [x1, y1] = [this.x(this.t.end[i]), this.middle(i)];
    const [x2, y2] = [this.x(this.t.start[next]), this.middle(next)];
    const bend = Math.min(40, Math.max(6, (x2 - x1) / 2));
    c.globalAlpha = alpha;
    c.strokeStyle = c.fillStyle = this.arrowColour();
    c.lineWidth = alpha === 1 ? 1.8 : 0.9;
    c.beginPath();
    c.moveTo(x1, y1);
    c.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    c.stroke();
    c.beginPath();
    c.moveTo(x2, y2);
    c.lineTo(x2 - 5, y2 - 3);
    c.lineTo(x2 - 5, y2 + 3);
    c.fill();
    c.globalAlpha = 1;
  }

  selection() {
    if (this.selected < 0 || !this.place.has(this.selected)) return;
    const i = this.selected;
    const c = this.context;
    const y = this.layout.tops[this.place.get(i)];
    const [x1, x2] = [this.x(this.t.start[i]), this.x(this.t.end[i])];
    c.strokeStyle = css('--text');
    c.lineWidth = 2;
    c.strokeRect(x1 - 1, y - 1, Math.max(3, x2 - x1 + 1), this.layout.height + 1);
    const decision = this.t.decisions[this.t.decision[i]];
    if (!decision) return;
    // From the decision to the end of the stay.
    const x = this.x(decision.cycle);
    c.setLineDash([3, 3]);
    this.line(x, margin.axis + margin.decisions - 4, x, y, css('--text'), 1);
    c.setLineDash([]);
  }

  decisions() {
    let last = -100;
    const y = margin.axis;
    this.text('decisions', margin.left - 8, y + 6, 'right');
    for (const [n, d] of this.t.decisions.entries()) {
      if (d.cycle < this.from || d.cycle > this.to) continue;
      if (!this.shows(d)) continue;
      const x = this.x(d.cycle);
      const chosen = n === this.decision;
      if (!chosen && x - last < mostMarks) continue;
      last = x;
      const colour = chosen ? css('--text') : this.colourOfReason(d.reason);
      this.line(x, y, x, y + 12, colour, chosen ? 3 : 1.2);
    }
  }

  quota() {
    if (!this.layout.quota) return;
    const top = this.layout.quota;
    const height = margin.quota - 16;
    const most = Math.max(1, ...this.quotas.map((q) => q.meanQuota));
    const y = (value) => top + height * (1 - value / most);
    this.text('quota', margin.left - 8, top + height / 2, 'right');
    this.text(count(most), margin.left - 8, top, 'right');
    const c = this.context;
    const kernels = [...new Set(this.quotas.map((q) => q.series))];
    for (const kernel of kernels) {
      c.strokeStyle = this.colourOfKernel(kernel);
      c.lineWidth = 1.4;
      c.beginPath();
      let begun = false;
      for (const q of this.quotas) {
        if (q.series !== kernel || q.x < this.from || q.x - q.length > this.to) continue;
        if (q.meanQuota === null) {
          begun = false;
          continue;
        }
        const [x1, x2] = [this.x(Math.max(this.from, q.x - q.length)), this.x(q.x)];
        c[begun ? 'lineTo' : 'moveTo'](x1, y(q.meanQuota));
        c.lineTo(Math.min(x2, this.width - margin.right), y(q.meanQuota));
        begun = true;
      }
      c.stroke();
    }
  }
}

// `state`: t, rows, layout, place (row of a stay), from, to, sm, selected, decision, quotas, colourOfReason,
// colourOfKernel, and which decisions it shows.
export function drawTimeline(context, width, state) {
  const drawing = new Drawing(context, width, state);
  context.clearRect(0, 0, width, state.layout.total);
  drawing.axis();
  drawing.names();
  context.save();
  context.beginPath();
  context.rect(margin.left, 0, width - margin.left - margin.right, state.layout.total);
  context.clip();
  drawing.stays();
  drawing.arrows();
  drawing.selection();
  context.restore();
  drawing.decisions();
  drawing.quota();
}
