// SPDX-License-Identifier: Apache-2.0
// The page of one run, from its folder and from a sweep's database.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { drawings, scrollThrough } from './stand_in.mjs';
import { missing } from '../../../sim/report/page/src/format.js';
import { runFacts, runSections } from '../../../sim/report/page/src/run.js';
import { asRun, makeRuns } from '../../../sim/report/page/src/sweepdata.js';
import { kernelColour } from '../../../sim/report/page/src/theme.js';
import { choiceOf, choose, figureOf, legendOf, readNumbers, readTable } from './look.mjs';
import { makeKernel, makeRun, makeTimelineColumns } from './run_maker.mjs';
import { makeSweep } from './sweep_maker.mjs';

beforeEach(() => {
  drawings.length = 0;
});

const byId = (run) => Object.fromEntries(runSections(run).map((s) => [s.id, s]));
const tilesOf = (section) =>
  Object.fromEntries(
    section
      .querySelectorAll('.tile')
      .map((t) => [t.querySelector('.name').textContent, t.querySelector('.value').textContent]),
  );

test('the tiles', () => {
  const tiles = tilesOf(byId(makeRun()).summary);
  assert.deepEqual(tiles, {
    STP: '1.250',
    Fairness: '0.500',
    ANTT: '2.000',
    'Instructions per cycle': '3.00',
    'Preempted TBs': '0',
    'Context traffic': '0 B',
    Cycles: '1\u2009000',
    'Simulated in': '1.3 s',
  });
});

// Of 1000 cycles, 250 are measured.
const window = { measured_from: 400, measured_to: 650, until: 'done' };

test('counts are over the cycles that are measured, and these are told', () => {
  const { summary, tbs } = byId(makeRun({}, window));
  const tiles = tilesOf(summary);
  assert.equal(tiles['Instructions per cycle'], '12.00');
  assert.equal(tiles.Cycles, '1\u2009000');
  assert.equal(tiles['Measured cycles'], '250');
  const figure = figureOf(tbs, 'TBs on each SM, mean of the measured cycles');
  assert.deepEqual(readNumbers(figure).rows[1], ['0', 'b', '2.00']);
  const facts = runFacts(makeRun({}, window).stats);
  assert.ok(facts.includes('measured from 400 to 650'));
  assert.ok(facts.includes('until all programs had ended'));
});

test('tiles of what a run does not have are dashes', () => {
  const tiles = tilesOf(byId(makeRun({}, { stp: null, wall: undefined, cycles: 0 })).summary);
  assert.equal(tiles.STP, missing);
  assert.equal(tiles['Simulated in'], missing);
  assert.equal(tiles['Instructions per cycle'], missing);
});

test('by replay: nothing is said of the SMs', () => {
  const run = makeRun({}, { host: { device: 'replay' } });
  const { kernels, summary, ...others } = byId(run);
  assert.ok(!Object.keys(others).some((id) => ['stalls', 'tbs', 'decisions'].includes(id)));
  assert.ok('config' in others);
  assert.equal(tilesOf(summary)['Preempted TBs'], missing);
  assert.equal(tilesOf(summary)['Context traffic'], missing);
  assert.match(kernels.textContent, /What happens on the SMs is not known/);
  assert.ok('stalls' in byId(makeRun({}, { host: { device: 'cycle' } })));
});

test('under policy tokens: what each kernel got', () => {
  const none = { tokens: 0, cycles: 0, share: 0, overuse_cycles: 0, overuse_max: 0 };
  const some = { tokens: 2, cycles: 550, share: 0.55, overuse_cycles: 30, overuse_max: 20 };
  const tokens = [some, { ...some, tokens: 1 }, none, none];
  const { headings, rows } = readTable(byId(makeRun({}, { tokens })).summary, 'Tokens');
  assert.deepEqual(headings, [
    ...['slot', 'Kernel', 'tokens', 'cycles', 'share', 'overuse cycles', 'longest overuse'],
  ]);
  assert.deepEqual(rows, [
    ['0', 'a', '2', '550', '55.0 %', '30', '20'],
    ['1', 'b', '1', '550', '55.0 %', '30', '20'],
  ]);
  const kernels = 'abcde'.split('').map((name, slot) => makeKernel(slot, name));
  const many = byId(makeRun({}, { tokens, kernels, sms: [] })).summary;
  assert.deepEqual(readTable(many, 'Tokens').rows[1].slice(0, 2), ['1', '1'], 'no kernel');
  assert.equal(byId(makeRun()).summary.querySelector('table'), null);
});

test('kernels: hits of a cache that nobody asked are a dash', () => {
  const kernels = [makeKernel(0, 'a', { l1_accesses: 0, l1_hit_rate: 0 })];
  const { headings, rows } = readTable(byId(makeRun({}, { kernels })).kernels, 'Kernels');
  assert.equal(rows[0][headings.indexOf('L1 hits')], missing);
});

test('kernels: columns that say nothing are left out', () => {
  const { headings, rows } = readTable(byId(makeRun()).kernels, 'Kernels');
  assert.deepEqual(headings, [
    ...['Kernel', 'IPC', 'isolated', 'normalized', 'instructions', 'TBs done'],
    ...['L1 hits', 'L2 hits', 'DRAM'],
  ]);
  assert.deepEqual(rows[1], [
    ...['b', '1.500', '3.000', '0.500', '1\u2009500', '7', '25.0 %', missing, '1.5 kB'],
  ]);
});

test('kernels: and are there when one kernel has something to say', () => {
  const kernels = [makeKernel(0, 'a'), makeKernel(1, 'b', { arrival: 500, flushes: 3 })];
  const { headings, rows } = readTable(byId(makeRun({}, { kernels })).kernels, 'Kernels');
  assert.ok(headings.includes('arrival') && headings.includes('flushed'));
  assert.ok(!headings.includes('saved'));
  assert.equal(rows[0][headings.indexOf('flushed')], '0');
  assert.equal(rows[1][headings.indexOf('arrival')], '500');
});

test('kernels of one name are told apart', () => {
  const kernels = ['a', 'b', 'a'].map((name, slot) => makeKernel(slot, name));
  const sections = byId(makeRun({}, { kernels, sms: [] }));
  const names = ['a#1', 'b', 'a#2'];
  assert.deepEqual(
    readTable(sections.kernels, 'Kernels').rows.map(([name]) => name),
    names,
  );
  const { rows } = readNumbers(figureOf(sections.stalls, 'Why the kernels waited'));
  assert.deepEqual([...new Set(rows.map(([name]) => name))], names);
});

const decisions = {
  reasons: ['dispatch-new'],
  step: 10,
  steps: 1,
  counts: [[1, 2]],
  log: Object.fromEntries(
    [
      'cycle',
      'last',
      'times',
      'reason',
      'kernel',
      'sm',
      'tb',
      'victim',
      'victim_tbs',
      'shares',
    ].map((name) => [name, []]),
  ),
};

test('jobs of a stream have the colour of their client, as their copies have', async () => {
  const kernels = ['a', 'b', 'a'].map((name, slot) => makeKernel(slot, name));
  const jobs = ['x', 'y', 'x'].map((client, job) => ({ job, client, kernel_slot: 0 }));
  const sms = [{ sm: 0, tb_mean: [1, 2, 3] }];
  const title = 'TBs on each SM, mean of the run';
  const drawn = async (stats) => {
    drawings.length = 0;
    const figure = figureOf(byId(makeRun({}, { kernels, sms, ...stats })).tbs, title);
    const legend = await legendOf(figure);
    return { legend, colours: drawings[0].spec.encoding.color.scale.range };
  };
  const stream = await drawn({ jobs, host: { device: 'cycle' } });
  assert.deepEqual(stream.legend, ['x', 'y']);
  assert.deepEqual(stream.colours, [0, 1, 0].map(kernelColour));
  const run = await drawn({ jobs });
  assert.deepEqual(run.legend, ['a#1', 'b', 'a#2']);
  assert.deepEqual(run.colours, [0, 1, 2].map(kernelColour));
});

test('jobs of a stream of a database, too', async () => {
  const kernels = ['x', 'y', 'x'].map((client) => ({ client }));
  const sweep = makeSweep([{ workload: 'a+b+a', scheduler: 'in-order', device: 'cycle', kernels }]);
  const run = asRun(makeRuns(sweep)[0], sweep);
  const figure = figureOf(byId(run).tbs, 'TBs on each SM, mean of the run');
  assert.deepEqual(await legendOf(figure), ['x', 'y']);
  assert.deepEqual(drawings[0].spec.encoding.color.scale.range, [0, 1, 0].map(kernelColour));
});

test('kernels that were alone in their runs are not added up', async () => {
  const residency = { step: 500, steps: 2, hundredths: [100, 150, 0, 25, 200, 200, 50, 0] };
  const timeline = makeTimelineColumns([
    { tb: 7, start: 10, end: 140 },
    { kernel: 1, tb: 3, start: 10, end: 250 },
  ]);
  const more = { residency, timeline, decisions };
  const sections = byId(makeRun(more, { baseline: true, policy: 'isolated' }));
  assert.ok(!('Instructions per cycle' in tilesOf(sections.summary)));
  assert.match(sections.summary.textContent, /each kernel ran alone on the whole GPU/);
  assert.equal(figureOf(sections.stalls, 'What the schedulers of each SM did'), null);
  assert.equal(
    readNumbers(figureOf(sections.stalls, 'What the schedulers did')).rows[0][0],
    'All runs',
  );
  assert.equal(figureOf(sections.tbs, 'TBs on each SM, mean of the run'), null);
  const means = figureOf(sections.tbs, 'TBs on each SM, mean of the run, b alone');
  assert.deepEqual(readNumbers(means).rows, [
    ['0', 'b', '0.50'],
    ['1', 'b', '0.50'],
  ]);
  const time = figureOf(sections.tbs, 'TBs on each SM over time, b alone');
  assert.deepEqual(readNumbers(time).rows, [
    ['0', 'b', '0', '0.00'],
    ['0', 'b', '500', '0.25'],
    ['1', 'b', '0', '0.50'],
    ['1', 'b', '500', '0.00'],
  ]);
  assert.match(sections.decisions.textContent, /of all runs together/);
  const names = () => sections.timeline.querySelector('.legend').children.map((e) => e.textContent);
  assert.deepEqual(names(), ['a']);
  choose(choiceOf(sections.timeline, 'Kernel, alone'), '1');
  assert.deepEqual(names(), ['b']);
});

test('kernels whose own runs were not as long as each other', () => {
  const kernels = [1000, 250].map((cycles, slot) =>
    makeKernel(slot, 'ab'[slot], { cycles_present: cycles }),
  );
  const made = (own) => byId(makeRun({}, { baseline: true, kernels: own }));
  const { summary, tbs } = made(kernels);
  const alone = figureOf(tbs, 'TBs on each SM, mean of the run, b alone');
  assert.deepEqual(readNumbers(alone).rows[0], ['0', 'b', '2.00'], '500 TBs x cycles of 250');
  assert.match(summary.textContent, /statistics are of 1\u2009000 cycles of a, 250 cycles of b\./);
  assert.ok(!summary.textContent.includes('as many cycles'));
  const same = kernels.map((k) => ({ ...k, cycles_present: 1000 }));
  assert.match(made(same).summary.textContent, /of its own of as many cycles\./);
});

test('a kernel alone is its own run, and nothing is said', () => {
  const kernels = [makeKernel(0, 'a')];
  const sms = [{ sm: 0, tb_mean: [1] }];
  const sections = byId(makeRun({}, { baseline: true, kernels, sms }));
  assert.ok('Instructions per cycle' in tilesOf(sections.summary));
  assert.ok(!sections.summary.textContent.includes('baseline'));
  assert.notEqual(figureOf(sections.tbs, 'TBs on each SM, mean of the run'), null);
});

test('stalls are shares of all scheduler cycles', () => {
  const section = byId(makeRun()).stalls;
  const { rows } = readNumbers(figureOf(section, 'What the schedulers did'));
  assert.deepEqual(rows[0], ['All SMs', 'Issued', '40.0 %', '400']);
  assert.equal(rows.length, 9);
  assert.equal(
    rows.reduce((sum, row) => sum + parseFloat(row[2]), 0),
    100,
  );
});

test('a kernel shows the reasons that it has', async () => {
  const figure = figureOf(byId(makeRun()).stalls, 'Why the kernels waited');
  assert.deepEqual(readNumbers(figure).rows, [
    ['a', 'Pipeline busy', '25.0 %', '10'],
    ['a', 'Waits for memory', '75.0 %', '30'],
    ['b', 'Pipeline busy', '25.0 %', '10'],
    ['b', 'Waits for memory', '75.0 %', '30'],
  ]);
  assert.deepEqual(await legendOf(figure), ['Pipeline busy', 'Waits for memory']);
});

test('a kernel that never waited has no shares', () => {
  const kernels = [makeKernel(0, 'a', { stalls: { pipeline: 0 } })];
  const figure = figureOf(byId(makeRun({}, { kernels, sms: [] })).stalls, 'Why the kernels waited');
  assert.deepEqual(readNumbers(figure).rows, [['a', 'Pipeline busy', missing, '0']]);
});

test('stalls of each SM, when the run has them', () => {
  const title = 'What the schedulers of each SM did';
  assert.equal(readNumbers(figureOf(byId(makeRun()).stalls, title)).rows.length, 18);
  const sms = [{ sm: 0, tb_mean: [1, 2] }];
  assert.equal(figureOf(byId(makeRun({}, { sms })).stalls, title), null);
});

test('mean TBs from cycles, or as the database has them', () => {
  const title = 'TBs on each SM, mean of the run';
  assert.deepEqual(readNumbers(figureOf(byId(makeRun()).tbs, title)).rows, [
    ['0', 'a', '1.00'],
    ['0', 'b', '0.50'],
    ['1', 'a', '1.00'],
    ['1', 'b', '0.50'],
  ]);
  const sms = [{ sm: 0, tb_mean: [1.25, 2] }];
  const figure = figureOf(byId(makeRun({}, { sms })).tbs, title);
  assert.deepEqual(readNumbers(figure).rows, [
    ['0', 'a', '1.25'],
    ['0', 'b', '2.00'],
  ]);
});

test('TBs over time: SM by SM, kernel by kernel, step by step', async () => {
  const residency = { step: 500, steps: 2, hundredths: [100, 150, 0, 25, 200, 200, 50, 0] };
  const section = byId(makeRun({ residency })).tbs;
  const figure = figureOf(section, 'TBs on each SM over time');
  const { rows } = readNumbers(figure);
  assert.equal(rows.length, 8);
  assert.deepEqual(rows[1], ['0', 'a', '500', '1.50']);
  assert.deepEqual(rows[3], ['0', 'b', '500', '0.25']);
  assert.deepEqual(rows[6], ['1', 'b', '0', '0.50']);
  document.body.append(section);
  await scrollThrough();
  const drawn = drawings.find((d) => d.spec.facet);
  assert.deepEqual(drawn.spec.spec.encoding.x.scale.domain, [0, 1000]);
  assert.equal(figureOf(byId(makeRun()).tbs, 'TBs on each SM over time'), null);
});

const manifest = {
  command_line: 'smk run a+b --out x',
  date: '2026-01-02',
  version: '0.4',
  git_describe: 'v0.4-1',
  inputs: [{ kind: 'machine', path: 'gtx980.toml', sha256: 'abc' }],
};

test('the configuration of a folder: command, inputs, config.toml', () => {
  const section = byId(makeRun({ manifest, config_text: 'cycles = 1000\n' })).config;
  const facts = section.querySelector('dl').children.map((c) => c.textContent);
  assert.equal(facts[facts.indexOf('Command') + 1], 'smk run a+b --out x');
  assert.equal(facts[facts.indexOf('Made') + 1], '2026-01-02 by 0.4 (v0.4-1)');
  assert.equal(facts[facts.indexOf('Checks that held') + 1], '1\u2009234');
  assert.ok(!facts.includes('Settings'));
  assert.deepEqual(readTable(section, 'Input files').rows, [['machine', 'gtx980.toml', 'abc']]);
  assert.equal(section.querySelector('pre').textContent, 'cycles = 1000\n');
});

test('the configuration of a run of a database: how to make it again', () => {
  const sweep = makeSweep([{ workload: 'a+b', command: 'smk run again', settings: 'x=1' }]);
  const sections = byId(asRun(makeRuns(sweep)[0], sweep));
  assert.deepEqual(Object.keys(sections), ['summary', 'kernels', 'stalls', 'tbs', 'config']);
  const facts = sections.config.querySelector('dl').children.map((c) => c.textContent);
  assert.equal(facts[facts.indexOf('Command') + 1], 'smk run again');
  assert.equal(facts[facts.indexOf('Settings') + 1], 'x=1');
  assert.ok(!facts.includes('Made'));
  assert.equal(sections.config.querySelector('table'), null);
  assert.match(sections.config.querySelector('p.note').textContent, /makes the same run again/);
});

test('a run of a database by replay: nothing is said of the SMs', () => {
  const lengths = { run_cycles: null, measured_cycles: null };
  const more = { scheduler: 'in-order', device: 'replay', sm_rows: 0, ...lengths };
  const sweep = makeSweep([{ workload: 'a+b', ...more, preemptions: 0 }]);
  const run = asRun(makeRuns(sweep)[0], sweep);
  assert.deepEqual(run.stats.host, { scheduler: 'in-order', device: 'replay' });
  const { summary, config, ...others } = byId(run);
  assert.deepEqual(Object.keys(others), ['kernels']);
  const tiles = tilesOf(summary);
  for (const name of ['Preempted TBs', 'Context traffic', 'Cycles', 'Instructions per cycle'])
    assert.equal(tiles[name], missing, name);
  assert.match(config.textContent, /with --out its page has its jobs over time/);
  assert.ok(!config.textContent.includes('--timeline'));
  assert.ok(!runFacts(run.stats).some((fact) => fact.includes('cycles')));
});

test('a run of a database: counts are over what is measured', () => {
  const lengths = { cycles: 9000, run_cycles: 4000, measured_cycles: 2000 };
  const sweep = makeSweep([{ workload: 'a+b', ...lengths, warp_instructions: 8000 }]);
  const run = asRun(makeRuns(sweep)[0], sweep);
  const tiles = tilesOf(byId(run).summary);
  assert.equal(tiles['Instructions per cycle'], '4.00');
  assert.equal(tiles.Cycles, '4\u2009000');
  assert.ok(runFacts(run.stats).includes('2\u2009000 cycles measured'));
});

test('what heads the page', () => {
  assert.deepEqual(runFacts(makeRun({}, { policy: 'smk-pw' }).stats), [
    ...['policy smk-pw', 'machine gtx980', 'control model', '1\u2009000 cycles', 'seed 1'],
  ]);
});
