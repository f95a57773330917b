// SPDX-License-Identifier: Apache-2.0
// The page of a sweep shows what the database holds, and its filters choose among it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawAll, openPage } from './browser.mjs';
import {
  chartsLeft,
  emptyCharts,
  numberOf,
  overflow,
  readNumbers,
  readTable,
  sectionIds,
} from './checks.mjs';

const spec = `
name = "smk_paper"
cycles = 12_000
kernels = ["cutcp", "lbm", "sgemm", "stencil"]
[[experiment]]
name = "pairs"
workloads = "all-pairs"
policies = ["spatial", "smk", "smk-p", "smk-pw"]
[[experiment]]
name = "three"
workloads = ["cutcp+lbm+sgemm"]
policies = ["spatial", "smk-pw", "smk-pw2"]
[[experiment]]
name = "overhead"
workloads = ["lbm+sgemm", "cutcp+lbm"]
policies = ["spatial", "smk-pw"]
[experiment.set]
policy.linger_ticks = 0
run.ideal_preemption = [false, true]
[[experiment]]
name = "epoch"
workloads = ["lbm+sgemm"]
policies = "smk-pw"
[experiment.set]
policy.epoch_length = [1000, 10000]
`;

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

// Means by group and ratios, computed here from the export of the database.
async function checkFigures(page, runs, checks) {
  const of = (policy, group) =>
    runs.filter(
      (r) =>
        r.settings === '' &&
        r.kernels.length === 2 &&
        r.policy === policy &&
        (group === 'all' || r.mix === group),
    );
  const { rows } = await readNumbers(page, 'The SMK designs on pairs of kernels');
  const names = { smk: 'smk', 'smk-p': 'smk-p', 'smk-pw': 'smk-pw' };
  const key = { STP: 'stp', Fairness: 'fairness', ANTT: 'antt' };
  for (const [measure, group, name, value] of rows) {
    checks.equal(
      value,
      mean(of(names[name], group).map((r) => r[key[measure]])).toFixed(3),
      `Fig. 10: ${measure} ${group} ${name}`,
    );
  }
  checks.equal(rows.length, 3 * 4 * 3, 'Fig. 10: rows');
  const paper = rows.find((row) => row[0] === 'STP' && row[1] === 'C+M' && row[2] === 'smk-pw');
  checks.equal([paper[4], paper[6]], ['1.520', 'Sec. 6.2'], 'Fig. 10: the paper');
  const over = await readNumbers(page, 'smk-pw relative to spatial');
  const all = over.rows.find((row) => row[0] === 'STP' && row[1] === 'all');
  checks.equal(
    all[3],
    (
      mean(of('smk-pw', 'all').map((r) => r.stp)) / mean(of('spatial', 'all').map((r) => r.stp))
    ).toFixed(3),
    'Fig. 12: ratio',
  );
  const stalls = await readNumbers(page, 'Stall cycles of smk-pw relative to spatial, C+M pairs');
  const sum = (policy) =>
    of(policy, 'C+M')
      .flatMap((r) => r.stalls)
      .reduce((a, s) => a + s.pipeline, 0);
  checks.equal(stalls.rows[0][3], (sum('smk-pw') / sum('spatial')).toFixed(3), 'Fig. 14: pipeline');
}

// The chart over a key that was swept, with the default in its place.
async function checkSwept(page, runs, checks) {
  await page.selectOption('[data-swept=experiment]', { label: 'epoch' });
  const { rows } = await readNumbers(page, 'STP over policy.epoch_length');
  const of = (epoch) =>
    runs.find(
      (r) =>
        r.experiments.includes('smk_paper/epoch') &&
        r.policy === 'smk-pw' &&
        r['policy.epoch_length'] === epoch,
    );
  checks.equal(
    rows.map((row) => [row[0], row[2]]),
    [1000, 10000].map((epoch) => [String(epoch), of(epoch).stp.toFixed(4)]),
    'STP over the length of an epoch',
  );
}

async function checkFilters(page, runs, checks) {
  const shown = async () => (await page.locator('#shown').textContent()).replace(/\u2009/g, '');
  const pairs = async () => (await readTable(page, 'Workloads by policy')).rows;
  const usual = (filter) =>
    new Set(
      runs
        .filter((r) => r.settings === '' && r.kernels.length > 1 && filter(r))
        .map((r) => r.workload),
    ).size;
  checks.equal(
    (await pairs()).length,
    usual(() => true),
    'workloads',
  );
  await page.selectOption('[data-filter=mix]', 'C+M');
  checks.equal(
    (await pairs()).length,
    usual((r) => r.mix === 'C+M'),
    'workloads of C+M',
  );
  checks.equal(
    await shown(),
    `${runs.filter((r) => r.mix === 'C+M').length} of ${runs.length} runs`,
    'runs of C+M',
  );
  await page.selectOption('[data-filter=kernel]', 'stencil');
  checks.equal(
    (await pairs()).length,
    usual((r) => r.mix === 'C+M' && r.workload.includes('stencil')),
    'workloads of C+M with stencil',
  );
  const figure = await readNumbers(page, 'STP of smk-pw and spatial, C+M pairs');
  checks.that(
    figure.rows.every((row) => row[0].includes('stencil')),
    'figures obey the filters',
  );
  await page.selectOption('[data-filter=mix]', '');
  await page.selectOption('[data-filter=kernel]', '');
  await page.locator('#pairs input.search').fill('LBM sgemm');
  checks.equal(
    (await pairs()).map((row) => row[0]),
    ['cutcp+lbm+sgemm', 'lbm+sgemm'],
    'search',
  );
  await page.locator('#pairs input.search').fill('');
  await page.selectOption('[data-filter=settings]', 'policy.linger_ticks=0');
  checks.equal((await pairs()).length, 2, 'workloads with other settings');
  await page.selectOption('[data-filter=settings]', '');
}

async function checkPairTable(page, runs, checks) {
  for (const [button, measure] of [
    ['STP', 'stp'],
    ['ANTT', 'antt'],
  ]) {
    await page.locator('#pairs .segments button', { hasText: button }).click();
    const { headings, rows } = await readTable(page, 'Workloads by policy');
    const column = headings.findIndex((name) => name === 'smk-pw');
    for (const row of rows) {
      const run = runs.find(
        (r) => r.workload === row[0] && r.policy === 'smk-pw' && r.settings === '',
      );
      checks.equal(row[column], run[measure].toFixed(3), `${button} of ${row[0]}`);
    }
  }
  await page.locator('#pairs .segments button', { hasText: 'STP' }).click();
  await page.locator('#pairs th button', { hasText: 'smk-p' }).first().click();
  const { headings, rows } = await readTable(page, 'Workloads by policy');
  const values = rows
    .map((row) => row[headings.findIndex((name) => name.startsWith('smk-p'))])
    .filter((v) => v !== '–')
    .map(numberOf);
  checks.equal(
    values,
    [...values].sort((a, b) => b - a),
    'sorted by smk-p',
  );
}

// From a bar to its run, and back to where one was.
async function checkLinks(page, runs, checks) {
  const bar = page.locator('#fig13 svg .mark-rect path').first();
  await bar.scrollIntoViewIfNeeded();
  await bar.hover();
  await page.waitForSelector('#chart-tip.visible');
  checks.that((await page.locator('#chart-tip').textContent()).includes('STP'), 'a tooltip');
  const before = await page.evaluate(() => window.scrollY);
  await bar.click();
  await page.waitForSelector('#config');
  const id = (await page.evaluate(() => window.location.hash)).slice('#run='.length);
  const run = runs.find((r) => r.run === id);
  checks.equal(
    await page.locator('.tile .value').first().textContent(),
    run.stp.toFixed(3),
    'STP of the run',
  );
  checks.that(
    (await page.locator('#config').textContent()).includes(run.command),
    'the command of the run',
  );
  await drawAll(page);
  checks.equal(await emptyCharts(page), [], 'charts of the run');
  await page.goBack();
  await page.waitForSelector('#fig13');
  checks.near(await page.evaluate(() => window.scrollY), before, 5, 'back to where one was');
}

export async function sweepPage({ smk, folder, browser, checks }) {
  writeFileSync(join(folder, 'pages.toml'), spec);
  smk('sweep', 'pages.toml', '--out', 'pages.db', '--quiet');
  checks.equal(smk('report', 'pages.db'), 'pages.html\n', 'smk report prints the page');
  const { runs } = JSON.parse(smk('sweep', 'pages.toml', '--out', 'pages.db', '--export', 'json'));
  const file = join(folder, 'pages.html');
  const { page, problems } = await openPage(browser, file);
  checks.equal(
    await sectionIds(page),
    [
      'summary',
      'swept',
      'fig-all',
      'fig5',
      'fig9',
      'fig10',
      'fig11',
      'fig12',
      'fig13',
      'fig14',
      'fig15',
      'fig16',
      'sensitivity',
      'pairs',
      'runs',
      'assumptions',
    ],
    'sections',
  );
  await drawAll(page);
  checks.equal([await chartsLeft(page), await emptyCharts(page)], [0, []], 'charts');
  checks.equal(await page.locator('.empty').allTextContents(), [], 'figures that are missing');
  await checkSwept(page, runs, checks);
  await checkFigures(page, runs, checks);
  await checkFilters(page, runs, checks);
  await checkPairTable(page, runs, checks);
  await drawAll(page);
  await checkLinks(page, runs, checks);
  checks.equal(problems, [], 'problems');
  const narrow = await openPage(browser, file, { width: 380, colorScheme: 'dark' });
  await drawAll(narrow.page);
  checks.equal([await overflow(narrow.page), narrow.problems], [0, []], 'narrow and dark');
}
