// SPDX-License-Identifier: Apache-2.0
// The timeline of a run: what is drawn can be moved, made larger, and asked.
import { choice, h, section } from './dom.js';
import { count, fixed, missing } from './format.js';
import { coloursOf, inOwnRuns, kernelLegend } from './kernels.js';
import { hasQuotas, reasonColour, reasonTexts, sampleRows } from './runlogs.js';
import { table } from './table.js';
import { onPrint, onTheme } from './theme.js';
import { drawTimeline, layoutOf, margin } from './timelinedraw.js';
import {
  clampView,
  findStay,
  makeTimeline,
  nextPreempted,
  rowsOf,
  stayAt,
  wasPreempted,
} from './timelinedata.js';

const none = -1;

const key = (colour) => h('span.key', { style: { background: colour } });

class Timeline {
  constructor(run) {
    this.run = run;
    this.kernels = run.stats.kernels.map((k) => k.name);
    this.colourOfKernel = coloursOf(run);
    this.only = inOwnRuns(run.stats) ? 0 : null; // a kernel that was alone in its run
    this.end = run.stats.cycles;
    this.t = makeTimeline(run.timeline);
    Object.assign(this, { from: 0, to: this.end, sm: 'all', selected: none, decision: none });
    this.canvas = h('canvas');
    this.where = h('p.where', { 'aria-hidden': 'true' }, '\u00a0');
    this.facts = h('div.asked', { 'aria-live': 'polite' });
    this.frame = h(
      'div.timeline',
      {
        tabindex: '0',
        role: 'group',
        'aria-label':
          'Timeline. Arrows move, plus and minus zoom, 0 shows all, N and P go to the next and the previous preempted TB.',
        onkeydown: (event) => this.key(event),
      },
      this.canvas,
    );
    this.smChoice = h('span');
    this.kernelChoice = this.only === null ? null : this.chooseKernel();
    this.legend = h('div.legend', { 'aria-hidden': 'true' });
    this.reasons = [...new Set(this.t.decisions.map((d) => d.reason))];
    this.setSm('all');
    this.fillLegend();
    this.listen();
    this.describe();
  }

  // One run at a time, where each kernel had its own.
  chooseKernel() {
    const options = this.kernels.map((name, slot) => [String(slot), name]);
    return choice('Kernel, alone', options, String(this.only), (value) => {
      this.only = Number(value);
      [this.selected, this.decision] = [none, none];
      this.setSm(this.sm);
      this.draw();
      this.describe();
    });
  }
  shows(d) {
    return (
      (this.sm === 'all' || d.sm === Number(this.sm)) &&
      (this.only === null || d.kernel === this.only)
    );
  }

  setSm(sm) {
    this.sm = sm;
    this.rows = rowsOf(this.t, sm, this.only);
    this.place = new Map();
    this.rows.forEach((row, r) => row.stays.forEach((i) => this.place.set(i, r)));
    this.withQuota = Boolean(this.run.samples) && hasQuotas(this.run);
    this.quotas = this.withQuota ? sampleRows(this.run, sm) : [];
    this.layout = layoutOf(this.rows, this.withQuota);
    const options = [
      ['all', 'All SMs'],
      ...this.run.stats.sms.map((s) => [String(s.sm), `SM ${s.sm}`]),
    ];
    this.smChoice.replaceChildren(
      choice('SM', options, String(sm), (value) => {
        this.setSm(value);
        this.draw();
      }),
    );
  }

  listen() {
    new ResizeObserver(() => this.draw()).observe(this.frame);
    onTheme(() => this.draw());
    onPrint(() => this.draw());
    let held = null; // where a pull began
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const { canvas } = this;
    canvas.addEventListener('pointerdown', (event) => {
      held = { x: at(event)[0], from: this.from, to: this.to, moved: false };
      canvas.setPointerCapture?.(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = at(event);
      if (!held) return this.point(x, y);
      if (Math.abs(x - held.x) > 3) held.moved = true;
      const shift = (held.x - x) * this.perPixel();
      if (held.moved) this.show(held.from + shift, held.to + shift);
    });
    canvas.addEventListener('pointerup', (event) => {
      const click = held && !held.moved;
      held = null;
      if (click) this.ask(...at(event));
    });
    canvas.addEventListener('dblclick', (event) => this.zoom(0.4, this.cycleAt(at(event)[0])));
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // else the page could not be scrolled
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.cycleAt(at(event)[0]));
    });
  }

  width() {
    return Math.max(200, this.frame.clientWidth);
  }
  perPixel() {
    return (this.to - this.from) / (this.width() - margin.left - margin.right);
  }
  cycleAt(x) {
    return this.from + (x - margin.left) * this.perPixel();
  }
  rowAt(y) {
    const { tops, height } = this.layout;
    const reach = Math.max(2, height / 2);
    const near = tops.findIndex((top) => y >= top - reach + height / 2 && y < top + height);
    return near < 0 ? null : this.rows[near];
  }

  show(from, to) {
    [this.from, this.to] = clampView(from, to, this.end);
    this.draw();
  }
  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }
  move(part) {
    const shift = (this.to - this.from) * part;
    this.show(this.from + shift, this.to + shift);
  }
  key(event) {
    const actions = {
      ArrowLeft: () => this.move(-0.2),
      ArrowRight: () => this.move(0.2),
      '+': () => this.zoom(0.5),
      '=': () => this.zoom(0.5),
      '-': () => this.zoom(2),
      0: () => this.show(0, this.end),
      n: () => this.walk(1),
      p: () => this.walk(-1),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }
  walk(step) {
    const next = nextPreempted(this.t, this.selected, step);
    if (next >= 0) this.select(next);
  }

  // Selects a stay and brings it into view.
  select(i) {
    this.selected = i;
    this.decision = this.t.decision[i];
    if (!this.place.has(i)) this.setSm('all');
    const [start, end] = [this.t.start[i], this.t.end[i]];
    const length = this.to - this.from;
    // As much as is seen, or what the stay and its neighbours need.
    const span = Math.max(length < this.end ? length : this.end / 20, (end - start) * 1.5);
    const cause = this.t.decisions[this.decision]?.cycle ?? start;
    const next = this.t.next[i] >= 0 ? this.t.start[this.t.next[i]] : end;
    const wanted = [Math.min(start, cause), Math.max(end, Math.min(next, end + span / 3))];
    if (length >= this.end || wanted[0] < this.from || wanted[1] > this.to) {
      const half = Math.max(span, (wanted[1] - wanted[0]) * 1.1) / 2;
      const middle = wasPreempted(this.t, i) ? end : (start + end) / 2;
      [this.from, this.to] = clampView(middle - half, middle + half, this.end);
    }
    this.draw();
    this.describe();
  }
  selectDecision(n) {
    this.selected = none;
    this.decision = n;
    this.draw();
    this.describe();
  }

  nameOf(i) {
    return `${this.kernels[this.t.kernel[i]]} TB ${this.t.tb[i]}`;
  }
  placeOf(i) {
    return `SM ${this.t.sm[i]}, slot ${this.t.slot[i]}`;
  }
  point(x, y) {
    const cycle = Math.round(this.cycleAt(x));
    const row = this.rowAt(y);
    const i = row ? stayAt(this.t, row, cycle, 2 * this.perPixel()) : none;
    const what = i >= 0 ? `: ${this.nameOf(i)}` : '';
    this.where.textContent =
      cycle < this.from || cycle > this.to
        ? '\u00a0'
        : `cycle ${count(cycle)}${row ? `, SM ${row.sm}, slot ${row.slot}${what}` : ''}`;
  }
  ask(x, y) {
    const cycle = this.cycleAt(x);
    const reach = 4 * this.perPixel();
    if (y < margin.axis + margin.decisions) {
      const near = this.t.decisions
        .map((d, n) => [Math.abs(d.cycle - cycle), n, d])
        .filter(([away, , d]) => away <= reach && this.shows(d))
        .sort((a, b) => a[0] - b[0]);
      if (near.length > 0) this.selectDecision(near[0][1]);
      return;
    }
    const row = this.rowAt(y);
    const i = row ? stayAt(this.t, row, cycle, reach) : none;
    this.selected = i;
    this.decision = i >= 0 ? this.t.decision[i] : none;
    this.draw();
    this.describe();
  }

  link(i, words = `${this.nameOf(i)} on ${this.placeOf(i)}`) {
    return h('button.link', { type: 'button', onclick: () => this.select(i) }, words);
  }
  mark(kernel) {
    return key(this.colourOfKernel(kernel));
  }
  textOf(d) {
    const whom = this.kernels[d.kernel];
    const of =
      d.victim === null ? '' : `: ${count(d.victimTbs)} of ${this.kernels[d.victim]} leave`;
    return `${d.reason} for ${whom} on SM ${d.sm} at ${count(d.cycle)}${of}`;
  }

  // What is known of the selected stay or decision.
  describe() {
    const { t } = this;
    const i = this.selected;
    const d = t.decisions[this.decision];
    const pairs = [];
    const add = (name, ...what) => pairs.push(h('dt', name), h('dd', what));
    if (i >= 0) {
      const outcome = t.outcomes[t.outcome[i]];
      add('TB', this.mark(t.kernel[i]), `${this.nameOf(i)}, launch ${t.launch[i]}`);
      add('Place', this.placeOf(i));
      add('Cycles', `${count(t.start[i])} to ${count(t.end[i])}, ${outcome}`);
      if (t.waited[i] !== null)
        add(
          'Dispatched',
          `at ${count(t.start[i] - t.waited[i])}, ${count(t.waited[i])} cycles before`,
        );
      if (t.before[i] >= 0) add('Before', this.link(t.before[i]));
    }
    if (d) {
      const index = this.decision;
      add(i >= 0 ? 'Preempted by' : 'Decision', [
        i >= 0
          ? h(
              'button.link',
              { type: 'button', onclick: () => this.selectDecision(index) },
              this.textOf(d),
            )
          : this.textOf(d),
        h('span.quiet', ` (${reasonTexts[d.reason]}; id ${d.id} in decisions.csv)`),
      ]);
      if (i < 0) {
        const gone = [];
        for (let s = 0; s < t.n; ++s) if (t.decision[s] === index) gone.push(s);
        for (const s of gone.slice(0, 8)) add('Took away', this.link(s));
        const place = gone.map((s) => t.replacedBy[s]).find((s) => s >= 0);
        if (place !== undefined) add('In its place', this.link(place));
      }
    }
    if (i >= 0 && wasPreempted(t, i)) {
      add('In its place', t.replacedBy[i] >= 0 ? this.link(t.replacedBy[i]) : missing);
      add(
        'Goes on',
        t.next[i] >= 0
          ? [this.link(t.next[i]), `, ${count(t.start[t.next[i]] - t.end[i])} cycles later`]
          : missing,
      );
    }
    this.facts.replaceChildren(
      pairs.length > 0
        ? h('dl.facts', pairs)
        : h(
            'p.note',
            'Click on a TB or on a mark of a decision. Drag to move; double-click, or turn the wheel with Ctrl, to zoom.',
          ),
    );
  }

  fillLegend() {
    const { only } = this;
    const own = () => [[this.kernels[only], () => this.colourOfKernel(only)]];
    this.legend.replaceChildren(
      ...(only === null ? kernelLegend(this.run) : own()).map(([name, colour]) =>
        h('span', key(colour()), name),
      ),
      ...this.reasons.map((reason) => h('span', key(reasonColour(reason)), reason)),
    );
  }
  draw() {
    this.fillLegend();
    const context = this.canvas.getContext?.('2d');
    if (!context || this.frame.clientWidth === 0) return;
    const width = this.width();
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(this.layout.total * scale);
    this.canvas.style.setProperty('height', `${this.layout.total}px`);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    drawTimeline(context, width, {
      ...this,
      colourOfReason: reasonColour,
      shows: (d) => this.shows(d),
    });
    this.frame.dataset.drawn = `${Math.round(this.from)} ${Math.round(this.to)}`;
  }

  controls() {
    const button = (words, label, onclick) =>
      h('button.page', { type: 'button', 'aria-label': label, title: label, onclick }, words);
    return h(
      'div.controls',
      this.kernelChoice,
      this.smChoice,
      button('−', 'Zoom out', () => this.zoom(2)),
      button('+', 'Zoom in', () => this.zoom(0.5)),
      button('◀', 'Earlier', () => this.move(-0.5)),
      button('▶', 'Later', () => this.move(0.5)),
      button('all', 'The whole run', () => this.show(0, this.end)),
      this.t.decision.some((d) => d >= 0) && [
        button('previous preempted', 'The previous preempted TB', () => this.walk(-1)),
        button('next preempted', 'The next preempted TB', () => this.walk(1)),
      ],
    );
  }
}

function stayTable(timeline) {
  const { t, kernels } = timeline;
  const rows = Array.from({ length: t.n }, (_, i) => i);
  return table({
    label: 'Stays of TBs',
    rows,
    search: 'kernel, outcome',
    size: 20,
    columns: [
      { id: 'start', title: 'from cycle', value: (i) => t.start[i], format: count },
      { id: 'end', title: 'to', value: (i) => t.end[i], format: count },
      { id: 'kernel', title: 'Kernel', text: true, value: (i) => kernels[t.kernel[i]] },
      { id: 'launch', title: 'launch', value: (i) => t.launch[i] },
      { id: 'tb', title: 'TB', value: (i) => t.tb[i] },
      { id: 'sm', title: 'SM', value: (i) => t.sm[i] },
      { id: 'slot', title: 'slot', value: (i) => t.slot[i] },
      { id: 'outcome', title: 'outcome', text: true, value: (i) => t.outcomes[t.outcome[i]] },
      {
        id: 'decision',
        title: 'decision',
        value: (i) => t.decisions[t.decision[i]]?.id ?? null,
        format: fixed(0),
        hint: 'id in decisions.csv of what took it off its SM',
      },
    ],
  });
}

// { section, showTb }: the section, and what shows a preempted TB in it. Null without stays.
export function timelineSection(run) {
  if (!run.timeline || run.timeline.start.length === 0) return null;
  const timeline = new Timeline(run);
  const { t } = timeline;
  const details = h('details.numbers', h('summary', 'Numbers'));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(stayTable(timeline));
  });
  const made = section(
    'timeline',
    'Timeline',
    timeline.legend,
    timeline.controls(),
    timeline.frame,
    timeline.where,
    timeline.facts,
    t.total > t.n &&
      h('p.note', `The first ${count(t.n)} of ${count(t.total)} stays; tbs.csv has all.`),
    details,
  );
  const showTb = (tb) => {
    const i = findStay(t, tb);
    if (i < 0) return;
    timeline.select(i);
    made.scrollIntoView?.({ block: 'start' });
    timeline.frame.focus?.({ preventScroll: true });
  };
  return { section: made, showTb };
}
