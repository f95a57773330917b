// SPDX-License-Identifier: Apache-2.0
// Reading and using what the page's modules have made, as a user would.
import { scrollThrough } from './stand_in.mjs';

export const click = (element) => element.dispatchEvent({ type: 'click' });

export function choose(select, value) {
  select.value = value;
  select.dispatchEvent({ type: 'change' });
}

export const optionsOf = (select) => select.querySelectorAll('option').map((o) => o.textContent);

// The <select> with this label.
export function choiceOf(scope, label) {
  const found = scope
    .querySelectorAll('label.choice')
    .find((c) => c.querySelector('span').textContent === label);
  return found?.querySelector('select') ?? null;
}

// The element of a table: by the name of its region.
export const regionOf = (scope, label) =>
  [scope, ...scope.querySelectorAll('.table')].find((t) => {
    if (!t.matches('.table')) return false;
    const region = t.querySelector('.scroll');
    return label === undefined || region.getAttribute('aria-label') === label;
  });

// { headings, rows } of texts.
export function readTable(scope, label) {
  const region = regionOf(scope, label);
  return {
    headings: region.querySelectorAll('th').map((th) => th.textContent),
    rows: region
      .querySelector('tbody')
      .children.map((tr) => tr.children.map((td) => td.textContent)),
  };
}

export const status = (scope) => scope.querySelector('.status').textContent;

export const heading = (scope, title) =>
  scope.querySelectorAll('th').find((th) => th.textContent === title);

export const sortBy = (scope, title) => click(heading(scope, title).querySelector('button'));

export function search(scope, text) {
  const box = scope.querySelector('input.search');
  box.value = text;
  box.dispatchEvent({ type: 'input' });
}

// The chart with this caption.
export const figureOf = (scope, title) =>
  scope
    .querySelectorAll('figure')
    .find((f) => f.querySelector('figcaption').textContent === title) ?? null;

// Opens the numbers of a chart and reads them.
export function readNumbers(figure) {
  const details = figure.querySelector('details.numbers');
  details.open = true;
  details.dispatchEvent({ type: 'toggle' });
  return readTable(details);
}

// The names in a chart's legend, which is filled when the chart is drawn.
export async function legendOf(figure) {
  document.body.append(figure);
  await scrollThrough();
  return figure.querySelector('.legend').children.map((entry) => entry.textContent);
}
