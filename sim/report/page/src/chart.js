// SPDX-License-Identifier: Apache-2.0
// A chart that is drawn when it comes near, with its numbers as a table for those who do not see it.
import { h } from './dom.js';
import { chartConfig, isDark, onPrint, onTheme } from './theme.js';
import { table } from './table.js';

let library = null;

// The chart library is text until it is needed.
function loadLibrary() {
  if (!library) {
    const script = document.createElement('script');
    script.textContent = `${document.getElementById('charts').textContent};window.smkVega=smkVega;`;
    document.head.append(script);
    library = window.smkVega;
  }
  return library;
}

const waiting = new Set(); // places of charts that were not drawn
function wake(place) {
  waiting.delete(place);
  near.unobserve(place);
  place.dispatchEvent(new CustomEvent('near'));
}
const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) wake(entry.target);
  },
  { rootMargin: '500px 0px' },
);
// Paper has all of them: drawing needs no task of its own, so it is done before the page is taken.
onPrint(() => {
  for (const place of [...waiting]) if (place.isConnected) wake(place);
});

const drawn = new Set(); // charts in the page that were drawn
onTheme(() => {
  for (const draw of drawn) draw();
});

// title     what the chart shows, a heading above it
// legend    [[name, colour()], ...], above the panels
// panels    [{ title, spec }]: spec(width) makes a vega-lite specification for each theme and width
// rows      () => the numbers behind it, columns as in table.js
// columns   of the table
// note      text below, or elements
// onselect  called with the datum of a mark that was clicked
// height    of the place kept free for each panel
export function chart({
  title,
  legend,
  panels,
  rows,
  columns,
  note,
  onselect,
  height = 240,
  id,
  wide = false,
}) {
  const places = panels.map(() =>
    h('div.panel', { 'aria-hidden': 'true', style: { 'min-height': `${height}px` } }),
  );
  const place = h(
    wide || panels.length === 1 ? 'div.chart' : 'div.chart.panels',
    { role: 'img', 'aria-label': `${title}. Its numbers are in the table below.` },
    panels.map((panel, i) =>
      panel.title ? h('div', h('p.panel-title', panel.title), places[i]) : places[i],
    ),
  );
  const key = legend && h('div.legend', { 'aria-hidden': 'true' });
  const views = [];
  let width = 0;
  let serial = 0;
  async function drawPanel(panel, i, mine) {
    const result = await loadLibrary().embed(h('div'), panel.spec(places[i].clientWidth), {
      mode: 'vega-lite',
      renderer: 'svg',
      actions: false,
      config: chartConfig(),
      tooltip: { theme: isDark() ? 'dark' : 'light', disableDefaultStyle: true, id: 'chart-tip' },
    });
    if (mine !== serial) return result.finalize();
    views[i]?.finalize();
    views[i] = result;
    places[i].replaceChildren(result.view.container());
    places[i].style.minHeight = '';
    if (onselect)
      result.view.addEventListener('click', (event, item) => item?.datum && onselect(item.datum));
  }
  const draw = async () => {
    if (!place.isConnected) {
      drawn.delete(draw);
      sizes.disconnect();
      for (const view of views) view?.finalize();
      return;
    }
    width = place.clientWidth;
    if (width === 0) return; // not laid out; its size will change
    const mine = ++serial;
    key?.replaceChildren(
      ...legend.map(([name, colour]) =>
        h('span', h('span.key', { style: { background: colour() } }), name),
      ),
    );
    await Promise.all(panels.map((panel, i) => drawPanel(panel, i, mine)));
    place.dataset.drawn = 'true';
  };
  const sizes = new ResizeObserver(() => {
    if (place.clientWidth !== 0 && Math.abs(place.clientWidth - width) > 8) draw();
  });
  place.addEventListener('near', () => {
    drawn.add(draw);
    draw();
    sizes.observe(place);
  });
  near.observe(place);
  waiting.add(place);
  const details = h('details.numbers', h('summary', 'Numbers'));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1)
      details.append(table({ columns, rows: rows(), label: title }));
  });
  return h(
    'figure',
    { id },
    h('figcaption', title),
    key,
    place,
    note && h('div.note', note),
    details,
  );
}
