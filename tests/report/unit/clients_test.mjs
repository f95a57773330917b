// SPDX-License-Identifier: Apache-2.0
// The page of clients with scripts.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import { quotaRows, shareRows, tokenRows } from '../../../sim/report/page/src/clients.js';
import { runFacts, runSections } from '../../../sim/report/page/src/run.js';
import { figureOf, readNumbers, readTable } from './look.mjs';
import { makeClientRun } from './run_maker.mjs';

beforeEach(() => {
  drawings.length = 0;
});

const byId = (run) => Object.fromEntries(runSections(run).map((s) => [s.id, s]));

test('it has clients, shares, tokens and its configuration, and nothing of SMs', () => {
  assert.deepEqual(Object.keys(byId(makeClientRun())), [
    ...['summary', 'clients', 'shares', 'tokens', 'config'],
  ]);
  assert.deepEqual(runFacts(makeClientRun().stats), [
    ...['scheduler gemini', 'machine v100', '20.000 s', 'seed 1'],
  ]);
});

test('the table has shares in percent and times in milliseconds', () => {
  const { headings, rows } = readTable(byId(makeClientRun()).clients, 'Clients');
  const cell = (name) => rows[1][headings.indexOf(name)];
  assert.equal(rows[1][0], 'train');
  assert.equal(cell('request'), '40.0 %');
  assert.equal(cell('latency ms'), '30.00');
  assert.equal(cell('quota ms'), '–', 'it had no token');
});

test('a share is that of the window; kernels count since the sample before', () => {
  assert.deepEqual(
    shareRows(makeClientRun()).map((r) => [r.x, r.series, r.value, r.kernels]),
    [
      [10, 0, 0.7, 0.6],
      [10, 1, 0, 0],
      [20, 0, 0.3, 0.25],
      [20, 1, 0.6, 0.5],
    ],
  );
  const { rows } = readNumbers(
    figureOf(byId(makeClientRun()).shares, 'Share of the GPU over time'),
  );
  assert.deepEqual(rows[2], ['20.000', 'serve', '30.0 %', '25.0 %']);
});

test('the share of the first window is drawn from its begin', async () => {
  document.body.append(byId(makeClientRun()).shares);
  await scrollThrough();
  const { spec } = drawings[0];
  assert.deepEqual(
    spec.data.values.filter((v) => v.series === 0).map((v) => [v.x, v.value]),
    [
      [0, 0.7],
      [10, 0.7],
      [20, 0.3],
    ],
  );
  assert.deepEqual(spec.encoding.x.scale.domain, [0, 20]);
});

test('tokens that follow each other closely are one bar; the last may have no end', () => {
  assert.deepEqual(
    tokenRows(makeClientRun()).map((r) => [r.label, r.x, r.x2, r.tokens]),
    [
      ['serve', 0, 2.001, 2],
      ['train', 3, 4, 1],
      ['serve', 19, 20, 1],
    ],
  );
});

test('quotas and overuse of each token, in milliseconds', async () => {
  const run = makeClientRun();
  assert.deepEqual(
    quotaRows(run, 'quota_ns').map((r) => r.value),
    [1000, 1000, 1000, 500],
  );
  const section = byId(run).tokens;
  assert.equal(figureOf(section, 'Overuse of each token'), null, 'there was none');
  run.tokens.overuse_ns[2] = 5e6;
  const { rows } = readNumbers(figureOf(byId(run).tokens, 'Overuse of each token'));
  assert.deepEqual(rows[2], ['3.000', 'train', '5.00']);
  document.body.append(section);
  await scrollThrough();
  assert.deepEqual(drawings[0].spec.layer[0].encoding.x.scale.domain, [0, 20]);
});

test('without tokens there is no section of them', () => {
  assert.equal(byId({ ...makeClientRun(), tokens: null }).tokens, undefined);
});
