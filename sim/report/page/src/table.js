// SPDX-License-Identifier: Apache-2.0
// A table that is sorted by its headings and shown in pages.
import { h } from './dom.js';
import { isNumber, missing } from './format.js';

const perPage = 50;

// columns   { id, title, value(row), format(value, row), text: true for words, wrap: true for long ones, hint, href(row) }
// rows      any objects
// sort      [id, 'ascending' or 'descending'] to begin with
// search    a box that keeps the rows whose words hold what is typed
export function table({ columns, rows, label, sort = null, search = false, size = perPage }) {
  let shown = rows;
  let page = 0;
  let by = sort;
  const body = h('tbody');
  const status = h('span.status', { role: 'status' });
  const buttons = new Map();
  const head = h(
    'tr',
    columns.map((column) => {
      const button = h(
        'button',
        { type: 'button', title: column.hint, onclick: () => sortBy(column) },
        column.title,
        h('span.arrow', { 'aria-hidden': 'true' }),
      );
      const heading = h(
        column.text ? 'th.text' : 'th',
        { scope: 'col', 'aria-sort': 'none' },
        button,
      );
      buttons.set(column.id, heading);
      return heading;
    }),
  );
  const back = h('button.page', { type: 'button', onclick: () => turn(-1) }, 'Previous');
  const next = h('button.page', { type: 'button', onclick: () => turn(1) }, 'Next');
  const footer = h('div.pages', status, back, next);

  function sortBy(column) {
    const first = column.text ? 'ascending' : 'descending';
    const other = first === 'ascending' ? 'descending' : 'ascending';
    by = [column.id, by?.[0] === column.id && by[1] === first ? other : first];
    page = 0;
    render();
  }
  function turn(pages) {
    page += pages;
    render();
  }
  function compare(a, b) {
    if (typeof a === 'string' || typeof b === 'string')
      return String(a ?? '').localeCompare(String(b ?? ''), 'en', { numeric: true });
    return a - b;
  }
  // Rows without a value come last in either order.
  function sorted() {
    if (!by) return shown;
    const column = columns.find((c) => c.id === by[0]);
    const sign = by[1] === 'ascending' ? 1 : -1;
    const keyed = shown.map((row) => [column.value(row), row]);
    const lacks = (value) => value === null || value === undefined || Number.isNaN(value);
    keyed.sort(([a], [b]) => lacks(a) - lacks(b) || (lacks(a) ? 0 : sign * compare(a, b)));
    return keyed.map(([, row]) => row);
  }
  function cell(column, row) {
    const value = column.value(row);
    const text = column.format ? column.format(value, row) : (value ?? missing);
    const href = column.href?.(row);
    const content = column.render?.(row) ?? (href ? h('a', { href }, text) : text);
    const names = [column.text && 'text', column.wrap && 'wrap', column.class?.(row)].filter(
      Boolean,
    );
    return h('td', { class: names.length > 0 && names.join(' ') }, content);
  }
  function render() {
    const pages = Math.max(1, Math.ceil(shown.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    const part = sorted().slice(page * size, (page + 1) * size);
    body.replaceChildren(
      ...part.map((row) =>
        h(
          'tr',
          columns.map((column) => cell(column, row)),
        ),
      ),
    );
    for (const [id, heading] of buttons)
      heading.setAttribute('aria-sort', by?.[0] === id ? by[1] : 'none');
    footer.hidden = shown.length <= size && !search;
    back.hidden = next.hidden = pages === 1;
    back.disabled = page === 0;
    next.disabled = page === pages - 1;
    const last = Math.min((page + 1) * size, shown.length);
    status.textContent =
      shown.length === 0 ? 'No rows' : `${page * size + 1}–${last} of ${shown.length}`;
  }
  function searchFor(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = columns.filter((column) => column.text);
    const holds = (row, word) =>
      texts.some((c) =>
        String(c.value(row) ?? '')
          .toLowerCase()
          .includes(word),
      );
    shown =
      words.length === 0 ? rows : rows.filter((row) => words.every((word) => holds(row, word)));
    page = 0;
    render();
  }
  const box =
    search &&
    h('input.search', {
      type: 'search',
      placeholder: search,
      'aria-label': `${label}: ${search}`,
      oninput: (event) => searchFor(event.target.value),
    });
  render();
  const frame = h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': label },
    h('table', h('thead', head), body),
  );
  return h('div.table', box, frame, footer);
}

// A table of few rows that need no order.
export function facts(pairs) {
  return h(
    'dl.facts',
    pairs.map(([name, value]) => [h('dt', name), h('dd', isNumber(value) ? String(value) : value)]),
  );
}

// A number that stands out, with its name.
export const tile = (name, value, hint) =>
  h('div.tile', { title: hint }, h('span.value', value), h('span.name', name));
