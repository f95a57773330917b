// SPDX-License-Identifier: Apache-2.0
// The section of a stream's jobs.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import { runSections } from '../../../sim/report/page/src/run.js';
import { jobRows, stateRows, trackRows } from '../../../sim/report/page/src/stream.js';
import { figureOf, legendOf, readNumbers, readTable } from './look.mjs';
import { makeRun, makeStream } from './run_maker.mjs';

beforeEach(() => {
  drawings.length = 0;
});

const host = {
  scheduler: 'kernelet',
  device: 'cycle',
  jobs: 3,
  finished: 1,
  makespan: null,
  throughput: null,
  mean_turnaround: 600,
  copy_overlap: 0.25,
};
const makeStreamRun = (stream = makeStream()) => makeRun({ stream }, { host });
const jobsOf = (run) => runSections(run).find((s) => s.id === 'jobs');

test('a run without a stream has no jobs', () => {
  assert.equal(jobsOf(makeRun()), undefined);
});

test('a job waits, is ready, runs; what it did not come to is left out', () => {
  const rows = jobRows(makeStream(), 1000);
  const of = (label, thin) =>
    rows.filter((r) => r.label === label && r.thin === thin).map((r) => [r.part, r.x, r.x2]);
  assert.deepEqual(of('0 tea', false), [
    ['waiting', 100, 200],
    ['ready', 200, 250],
    ['running', 250, 700],
  ]);
  assert.deepEqual(of('0 tea', true), [
    ['launch', 250, 300],
    ['launch', 400, 600],
    ['copy', 100, 200],
    ['copy', 600, 700],
  ]);
  // It runs until the end of the run; it was ready as it came.
  assert.deepEqual(of('1 sad', false), [['running', 300, 1000]]);
  assert.deepEqual(of('1 sad', true), [['launch', 300, 1000]]);
  // It still waits.
  assert.deepEqual(of('2 tea', false), [['waiting', 900, 1000]]);
});

test('tracks: engines and kernel slots, coloured by client', () => {
  const rows = trackRows(makeStream(), 1000);
  assert.deepEqual(
    rows.map((r) => [r.label, r.part, r.job, r.x, r.x2]),
    [
      ['copies to the GPU', 0, '0 tea', 100, 200],
      ['copies to the host', 0, '0 tea', 600, 700],
      ['kernel slot 0', 0, '0 tea', 250, 300],
      ['kernel slot 1', 1, '1 sad', 300, 1000],
      ['kernel slot 0', 0, '0 tea', 400, 600],
    ],
  );
});

test('jobs in each state add up at every change', () => {
  const rows = stateRows(makeStream().jobs, 1000);
  const at = (x) => rows.filter((r) => r.x === x).map((r) => r.value);
  assert.deepEqual(at(100), [1, 0, 0]);
  assert.deepEqual(at(200), [0, 1, 0]);
  assert.deepEqual(at(250), [0, 0, 1]);
  assert.deepEqual(at(300), [0, 0, 2], 'came, was ready and began in one cycle');
  assert.deepEqual(at(700), [0, 0, 1]);
  assert.deepEqual(at(900), [1, 0, 1]);
  assert.deepEqual(at(1000), [1, 0, 1]);
});

test('the section: facts, charts, table', async () => {
  const section = jobsOf(makeStreamRun());
  const facts = section.querySelector('p').textContent;
  assert.match(facts, /scheduler kernelet/);
  assert.match(facts, /1 of 3 jobs done/);
  assert.match(facts, /25\.0 % of the copies beside kernels/);
  assert.doesNotMatch(facts, /makespan/, 'it is not known');
  const { headings, rows } = readTable(section, 'Jobs');
  assert.deepEqual(rows[0].slice(0, 5), ['0', 'tea', 'encrypts', '100', '200']);
  assert.equal(rows[2][headings.indexOf('start')], '–');
  assert.deepEqual(readNumbers(figureOf(section, 'Copy engines and kernel slots')).rows[0], [
    ...['copies to the GPU', '0 tea', '100', '200', '4.1 kB'],
  ]);
  document.body.append(section);
  await scrollThrough();
  assert.deepEqual(await legendOf(figureOf(section, 'Jobs over time')), [
    ...['Waiting', 'Ready', 'Running', 'In a kernel slot', 'Being copied'],
  ]);
  const [jobs, tracks] = drawings.map((d) => d.spec);
  assert.deepEqual(jobs.layer[0].encoding.x.scale.domain, [0, 1000]);
  assert.deepEqual(jobs.layer[0].encoding.y.scale.domain, ['0 tea', '1 sad', '2 tea']);
  assert.equal(jobs.layer.length, 2, 'thin bars on wide ones');
  assert.equal(tracks.layer.length, 1);
});

test('without copies there are no engines, and a log that is cut says so', () => {
  const stream = { ...makeStream(), copies: null };
  stream.launches.total = 5000;
  const section = jobsOf(makeStreamRun(stream));
  const { rows } = readNumbers(figureOf(section, 'Copy engines and kernel slots'));
  assert.ok(rows.every(([track]) => track.startsWith('kernel slot')));
  assert.match(section.textContent, /The first 3 of 5\u2009000 launches\./);
});

test('a thousand jobs are no higher than a screen', async () => {
  const stream = makeStream();
  const n = 1000;
  const fill = (value) => Array.from({ length: n }, () => value);
  stream.jobs = {
    ...stream.jobs,
    total: n,
    job: Array.from({ length: n }, (_, i) => i),
    ...Object.fromEntries(['name', 'client'].map((name) => [name, fill('a')])),
    ...Object.fromEntries(['arrival', 'ready', 'start'].map((name) => [name, fill(5)])),
    ...Object.fromEntries(['finish', 'turnaround'].map((name) => [name, fill(null)])),
    ...Object.fromEntries(['slices_completed', 'tbs_completed'].map((name) => [name, fill(0)])),
  };
  const section = jobsOf(makeStreamRun(stream));
  document.body.append(section);
  await scrollThrough();
  assert.ok(drawings[0].spec.height <= 950);
  assert.notEqual(section.querySelector('input.search'), null);
});
