// SPDX-License-Identifier: Apache-2.0
// Charts: drawn when near, again when theme or width change, and their numbers as a table.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, resize, scrollThrough } from './stand_in.mjs';
import { chart } from '../../../sim/report/page/src/chart.js';
import { startTheme, toggleTheme } from '../../../sim/report/page/src/theme.js';
import { legendOf, readNumbers } from './look.mjs';

const options = {
  title: 'STP',
  rows: () => [{ n: 1 }, { n: 2 }],
  columns: [{ id: 'n', title: 'n', value: (r) => r.n }],
  panels: [{ spec: (width) => ({ width }) }],
};

function put(more = {}) {
  const figure = chart({ ...options, ...more });
  document.body.append(figure);
  return figure;
}

beforeEach(() => {
  drawings.length = 0;
  document.body.replaceChildren(document.getElementById('charts'));
  startTheme();
});

test('nothing is drawn before it is near', async () => {
  const figure = put();
  assert.equal(drawings.length, 0);
  assert.equal(figure.querySelector('.chart').dataset.drawn, undefined);
  await scrollThrough();
  assert.equal(drawings.length, 1);
  assert.equal(drawings[0].spec.width, 800);
  assert.equal(drawings[0].options.renderer, 'svg');
  assert.equal(figure.querySelector('.chart').dataset.drawn, 'true');
  await scrollThrough();
  assert.equal(drawings.length, 1, 'once');
});

test('before the page is printed everything is drawn, in light colours', async () => {
  const place = put().querySelector('.chart');
  toggleTheme();
  assert.equal(document.documentElement.dataset.theme, 'dark');
  window.dispatchEvent({ type: 'beforeprint' });
  assert.equal(document.documentElement.dataset.theme, 'light');
  // Promises only: no task of its own comes before the page is taken.
  for (let i = 0; i < 20; ++i) await null;
  assert.equal(place.dataset.drawn, 'true');
  window.dispatchEvent({ type: 'afterprint' });
  assert.equal(document.documentElement.dataset.theme, 'dark');
  toggleTheme();
});

test('it says what it is to those who do not see it', () => {
  const place = put().querySelector('.chart');
  assert.equal(place.getAttribute('role'), 'img');
  assert.equal(place.getAttribute('aria-label'), 'STP. Its numbers are in the table below.');
});

test('panels have titles and stand beside each other', async () => {
  const panels = ['a', 'b'].map((title) => ({ title, spec: () => ({ title }) }));
  const figure = put({ panels });
  assert.equal(figure.querySelector('.chart').className, 'chart panels');
  assert.deepEqual(
    figure.querySelectorAll('.panel-title').map((p) => p.textContent),
    ['a', 'b'],
  );
  await scrollThrough();
  assert.deepEqual(
    drawings.map((d) => d.spec.title),
    ['a', 'b'],
  );
  assert.equal(put({ panels, wide: true }).querySelector('.chart').className, 'chart');
});

test('the numbers are made when they are opened, once', () => {
  let made = 0;
  const figure = put({
    rows: () => {
      made += 1;
      return [{ n: 7 }];
    },
  });
  assert.equal(made, 0);
  assert.deepEqual(readNumbers(figure), { headings: ['n'], rows: [['7']] });
  readNumbers(figure);
  assert.equal(made, 1);
});

test('a click on a mark tells its datum, one beside the marks nothing', async () => {
  const seen = [];
  put({ onselect: (datum) => seen.push(datum) });
  await scrollThrough();
  drawings[0].click({ run: 'r1' });
  drawings[0].click(undefined);
  assert.deepEqual(seen, [{ run: 'r1' }]);
});

test('another theme draws again, in its colours', async () => {
  let colour = 'white';
  const figure = put({ legend: [['a', () => colour]] });
  assert.deepEqual(await legendOf(figure), ['a']);
  const key = () => figure.querySelector('.key').style.background;
  assert.equal(key(), 'white');
  colour = 'black';
  const before = drawings[0].options.tooltip.theme;
  toggleTheme();
  await resize();
  assert.equal(drawings.length, 2);
  assert.notEqual(drawings[1].options.tooltip.theme, before);
  assert.equal(drawings[0].finalized, true);
  assert.equal(drawings[1].finalized, false);
  assert.equal(key(), 'black');
  toggleTheme();
});

test('another width draws again, a few pixels do not', async () => {
  const figure = put();
  await scrollThrough();
  const place = figure.querySelector('.chart');
  place.clientWidth = 806;
  await resize();
  assert.equal(drawings.length, 1);
  place.clientWidth = 400;
  await resize();
  assert.equal(drawings.length, 2);
});

test('without a width nothing is drawn until there is one', async () => {
  const figure = put();
  await scrollThrough();
  const place = figure.querySelector('.chart');
  place.clientWidth = 0;
  await resize();
  toggleTheme();
  await resize();
  assert.equal(drawings.length, 1);
  place.clientWidth = 800;
  await resize();
  assert.equal(drawings.length, 2);
  toggleTheme();
});

test('what has left the page is let go', async () => {
  const figure = put();
  await scrollThrough();
  document.body.remove(figure);
  figure.parent = null;
  toggleTheme();
  await resize();
  assert.equal(drawings.length, 1);
  assert.equal(drawings[0].finalized, true);
  toggleTheme();
});

test('two draws at a time leave the later one', async () => {
  put();
  await scrollThrough();
  toggleTheme();
  toggleTheme();
  await resize();
  assert.deepEqual(
    drawings.map((d) => d.finalized),
    [true, true, false],
  );
});

test('notes are texts or elements, none makes none', () => {
  assert.equal(put().querySelector('.note'), null);
  assert.equal(put({ note: ['a', null, 'b'] }).querySelector('.note').textContent, 'ab');
});
