// SPDX-License-Identifier: Apache-2.0
// Elements: texts are texts, what is absent makes nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './stand_in.mjs';
import { choice, h, section, segments } from '../../../sim/report/page/src/dom.js';
import { choose, click, optionsOf } from './look.mjs';

test('a selector gives tag and classes', () => {
  assert.equal(h('p').tag, 'p');
  assert.equal(h('p.note.empty').className, 'note empty');
  assert.equal(h('.chart').tag, 'div');
});

test('markup in a text stays text', () => {
  const element = h('p', '<b>bold</b>', 7, 0);
  assert.equal(element.children.length, 0);
  assert.equal(element.textContent, '<b>bold</b>70');
});

test('null, undefined and false are left out, lists are taken apart', () => {
  const element = h('ul', null, undefined, false, [h('li', 'a'), [null, [h('li', 'b')]]], 'c');
  assert.equal(element.textContent, 'abc');
  assert.equal(element.children.length, 2);
});

test('attributes: true is empty, what is absent is not set', () => {
  const element = h('a', { href: '#x', hidden: true, title: undefined, rel: null, lang: false });
  assert.equal(element.getAttribute('href'), '#x');
  assert.equal(element.getAttribute('hidden'), '');
  for (const name of ['title', 'rel', 'lang']) assert.equal(element.getAttribute(name), null);
});

test('styles and listeners', () => {
  let clicks = 0;
  const element = h('button', {
    style: { background: 'red', 'min-height': '4px' },
    onclick: () => {
      clicks += 1;
    },
  });
  assert.equal(element.style.background, 'red');
  assert.equal(element.style['min-height'], '4px');
  click(element);
  assert.equal(clicks, 1);
});

test('a section is labelled by its heading', () => {
  const element = section('tbs', 'Thread blocks', h('p', 'x'));
  assert.equal(element.id, 'tbs');
  assert.equal(element.getAttribute('aria-labelledby'), element.querySelector('h2').id);
  assert.equal(element.querySelector('h2').textContent, 'Thread blocks');
});

test('a choice shows which is chosen and tells what is chosen next', () => {
  const seen = [];
  const options = [
    ['a', 'Alpha'],
    ['b', 'Beta'],
  ];
  const label = choice('Letter', options, 'b', (value) => seen.push(value), { 'data-filter': 'x' });
  const select = label.querySelector('select');
  assert.deepEqual(optionsOf(select), ['Alpha', 'Beta']);
  assert.deepEqual(
    select.children.map((o) => o.getAttribute('selected')),
    [null, ''],
  );
  assert.equal(select.getAttribute('data-filter'), 'x');
  choose(select, 'a');
  assert.deepEqual(seen, ['a']);
});

test('of segments exactly one is pressed', () => {
  const seen = [];
  const group = segments(
    'Measure',
    [
      ['stp', 'STP'],
      ['antt', 'ANTT'],
    ],
    'stp',
    (id) => seen.push(id),
  );
  const pressed = () => group.children.map((b) => b.getAttribute('aria-pressed'));
  assert.deepEqual(pressed(), ['true', 'false']);
  click(group.children[1]);
  assert.deepEqual(pressed(), ['false', 'true']);
  assert.deepEqual(seen, ['antt']);
  assert.equal(group.getAttribute('aria-label'), 'Measure');
});
