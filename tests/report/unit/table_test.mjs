// SPDX-License-Identifier: Apache-2.0
// Tables: order, pages, search, cells.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './stand_in.mjs';
import { h } from '../../../sim/report/page/src/dom.js';
import { missing, ratio } from '../../../sim/report/page/src/format.js';
import { facts, table } from '../../../sim/report/page/src/table.js';
import { click, heading, readTable, search, sortBy, status } from './look.mjs';

const columns = [
  { id: 'name', title: 'Name', text: true, value: (r) => r.name },
  { id: 'n', title: 'n', value: (r) => r.n },
];
const make = (rows, more = {}) => table({ columns, rows, label: 'Things', ...more });
const column = (element, i) => readTable(element).rows.map((row) => row[i]);

test('rows are shown as they come until a heading is clicked', () => {
  const rows = [
    { name: 'b', n: 2 },
    { name: 'c', n: 1 },
    { name: 'a', n: 3 },
  ];
  const element = make(rows);
  assert.deepEqual(readTable(element, 'Things').headings, ['Name', 'n']);
  assert.deepEqual(column(element, 0), ['b', 'c', 'a']);
  assert.equal(heading(element, 'n').getAttribute('aria-sort'), 'none');
  assert.deepEqual(
    rows.map((r) => r.n),
    [2, 1, 3],
    'the list itself is left alone',
  );
});

test('numbers begin with the largest, words with the first; a second click turns the order', () => {
  const element = make([
    { name: 'b', n: 2 },
    { name: 'c', n: 10 },
    { name: 'a', n: 3 },
  ]);
  sortBy(element, 'n');
  assert.deepEqual(column(element, 1), ['10', '3', '2']);
  assert.equal(heading(element, 'n').getAttribute('aria-sort'), 'descending');
  sortBy(element, 'n');
  assert.deepEqual(column(element, 1), ['2', '3', '10']);
  assert.equal(heading(element, 'n').getAttribute('aria-sort'), 'ascending');
  sortBy(element, 'Name');
  assert.deepEqual(column(element, 0), ['a', 'b', 'c']);
  assert.equal(heading(element, 'n').getAttribute('aria-sort'), 'none');
  sortBy(element, 'Name');
  assert.deepEqual(column(element, 0), ['c', 'b', 'a']);
  sortBy(element, 'n');
  assert.deepEqual(column(element, 1), ['10', '3', '2'], 'another column begins anew');
});

test('numbers inside words are compared as numbers', () => {
  const element = make([{ name: 'sm10' }, { name: 'sm9' }, { name: 'sm1' }]);
  sortBy(element, 'Name');
  assert.deepEqual(column(element, 0), ['sm1', 'sm9', 'sm10']);
});

test('rows without a value come last in either order', () => {
  const element = make([
    { name: 'a', n: null },
    { name: 'b', n: 1 },
    { name: 'c' },
    { name: 'd', n: NaN },
    { name: 'e', n: 2 },
  ]);
  sortBy(element, 'n');
  assert.deepEqual(column(element, 0), ['e', 'b', 'a', 'c', 'd']);
  sortBy(element, 'n');
  assert.deepEqual(column(element, 0), ['b', 'e', 'a', 'c', 'd']);
});

test('the order to begin with', () => {
  const element = make(
    [
      { name: 'a', n: 1 },
      { name: 'b', n: 2 },
    ],
    { sort: ['n', 'descending'] },
  );
  assert.deepEqual(column(element, 0), ['b', 'a']);
  assert.equal(heading(element, 'n').getAttribute('aria-sort'), 'descending');
});

const many = Array.from({ length: 45 }, (_, i) => ({ name: `row ${i}`, n: i }));
const buttons = (element) => element.querySelectorAll('button.page');

test('one page needs no buttons', () => {
  const element = make(many.slice(0, 20), { size: 20 });
  assert.equal(element.querySelector('.pages').hidden, true);
  assert.equal(column(element, 0).length, 20);
});

test('turning pages stops at both ends', () => {
  const element = make(many, { size: 20 });
  const [back, next] = buttons(element);
  assert.equal(element.querySelector('.pages').hidden, false);
  assert.deepEqual([back.hidden, next.hidden], [false, false]);
  assert.equal(status(element), '1–20 of 45');
  assert.deepEqual([back.disabled, next.disabled], [true, false]);
  click(next);
  assert.equal(status(element), '21–40 of 45');
  assert.deepEqual([back.disabled, next.disabled], [false, false]);
  click(next);
  assert.equal(status(element), '41–45 of 45');
  assert.equal(column(element, 0)[0], 'row 40');
  assert.deepEqual([back.disabled, next.disabled], [false, true]);
  click(next);
  assert.equal(status(element), '41–45 of 45');
  click(back);
  click(back);
  click(back);
  assert.equal(status(element), '1–20 of 45');
});

test('a new order begins with the first page', () => {
  const element = make(many, { size: 20 });
  click(buttons(element)[1]);
  sortBy(element, 'n');
  assert.equal(status(element), '1–20 of 45');
  assert.equal(column(element, 0)[0], 'row 44');
});

test('a search keeps rows that hold every word, whatever the case', () => {
  const rows = [
    { name: 'lbm+sgemm', kind: 'C+M', n: 1 },
    { name: 'lbm+spmv', kind: 'M+M', n: 1 },
  ];
  const both = [...columns, { id: 'kind', title: 'Kind', text: true, value: (r) => r.kind }];
  const element = table({ columns: both, rows, label: 'Things', search: 'name' });
  assert.equal(element.querySelector('input.search').getAttribute('aria-label'), 'Things: name');
  assert.equal(element.querySelector('.pages').hidden, false, 'the status stays for the search');
  assert.deepEqual(
    element.querySelectorAll('button.page').map((b) => b.hidden),
    [true, true],
  );
  search(element, 'LBM');
  assert.equal(status(element), '1–2 of 2');
  search(element, ' lbm  c+m ');
  assert.deepEqual(column(element, 0), ['lbm+sgemm']);
  search(element, '1');
  assert.equal(status(element), 'No rows', 'numbers are not searched');
  search(element, '');
  assert.equal(status(element), '1–2 of 2');
});

test('a search begins with the first page', () => {
  const element = make(many, { size: 20, search: 'name' });
  click(buttons(element)[1]);
  search(element, 'row 4');
  assert.equal(status(element), '1–9 of 9');
});

test('without rows there is a table that says so', () => {
  const element = make([]);
  assert.deepEqual(readTable(element).rows, []);
  assert.equal(status(element), 'No rows');
});

test('cells: format, link, elements, classes, and a dash for what is missing', () => {
  const element = table({
    label: 'Things',
    rows: [{ v: 0.5, to: '#x' }, { v: null }],
    columns: [
      { id: 'f', title: 'f', value: (r) => r.v, format: ratio },
      { id: 'p', title: 'p', value: (r) => r.v },
      { id: 'l', title: 'l', text: true, wrap: true, value: (r) => r.to, href: (r) => r.to },
      {
        id: 'r',
        title: 'r',
        value: () => 1,
        render: () => [h('b', 'x'), 'y'],
        class: (r) => (r.v ? 'best' : null),
      },
    ],
  });
  assert.deepEqual(readTable(element).rows, [
    ['0.500', '0.5', '#x', 'xy'],
    [missing, missing, missing, 'xy'],
  ]);
  const cells = element.querySelector('tbody').children[0].children;
  assert.equal(cells[2].querySelector('a').getAttribute('href'), '#x');
  assert.equal(cells[2].className, 'text wrap');
  assert.equal(cells[3].className, 'best');
  assert.equal(element.querySelector('tbody').children[1].querySelector('a'), null);
});

test('facts are names and values', () => {
  const element = facts([
    ['Cycles', 7],
    ['Command', h('code', 'smk')],
  ]);
  assert.deepEqual(
    element.children.map((c) => c.tag),
    ['dt', 'dd', 'dt', 'dd'],
  );
  assert.equal(element.textContent, 'Cycles7Commandsmk');
});

test('any order is a permutation that its key agrees with', () => {
  let state = 12345;
  const random = (n) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % n;
  };
  for (let round = 0; round < 50; ++round) {
    const rows = Array.from({ length: random(30) }, (_, i) => ({
      name: `w${i}`,
      n: random(5) === 0 ? null : random(10),
    }));
    const element = make(rows, { sort: ['n', round % 2 ? 'ascending' : 'descending'] });
    const shown = column(element, 1);
    assert.deepEqual(column(element, 0).sort(), rows.map((r) => r.name).sort());
    const numbers = shown.filter((v) => v !== missing).map(Number);
    assert.deepEqual(
      shown.slice(numbers.length),
      Array(shown.length - numbers.length).fill(missing),
    );
    const sorted = [...numbers].sort((a, b) => (round % 2 ? a - b : b - a));
    assert.deepEqual(numbers, sorted, `round ${round}`);
  }
});
