// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: a table as in compare.json, and a page for each policy.
import { join } from 'node:path';
import { drawAll, openPage } from './browser.mjs';
import { chartsLeft, emptyCharts, readJson, readTable } from './checks.mjs';

export async function comparePage({ smk, folder, browser, checks }) {
  smk(
    'compare',
    'lbm+sgemm',
    '--policies',
    'isolated,spatial,smk-pw,table:2,3',
    '--cycles',
    '20k',
    '--out',
    'all',
    '--quiet',
  );
  smk('report', 'all', '--out', 'all.html', '--quiet');
  const { page, problems } = await openPage(browser, join(folder, 'all.html'));
  const { policies } = readJson(join(folder, 'all/compare.json'));
  const { rows } = await readTable(page, 'Policies');
  checks.equal(
    rows.map((row) => row[1]),
    policies.map((p) => p.stp.toFixed(3)),
    'STP',
  );
  checks.equal(
    rows.map((row) => row[4]),
    policies.map((p) => p.kernels[0].normalized_ipc.toFixed(3)),
    'normalized IPC of lbm',
  );
  await drawAll(page);
  checks.equal([await chartsLeft(page), await emptyCharts(page)], [0, []], 'charts');
  await page.locator('section#summary a', { hasText: 'table:2,3' }).click();
  await page.waitForSelector('#decisions');
  checks.equal(
    await page.locator('.tile .value').first().textContent(),
    policies[3].stp.toFixed(3),
    'STP on the page of the run',
  );
  await page.locator('a.back').click();
  await page.waitForSelector('#measured');
  await page.goBack();
  await page.waitForSelector('#decisions');
  await page.locator('a.back').click();
  await page.waitForSelector('#measured');
  await page.locator('section#summary a', { hasText: 'isolated' }).click();
  await page.waitForSelector('#decisions');
  await drawAll(page);
  const titles = await page.locator('#tbs figcaption').allTextContents();
  checks.equal(
    titles.slice(0, 2),
    ['lbm', 'sgemm'].map((name) => `TBs on each SM, mean of the run, ${name} alone`),
    'kernels that had runs of their own are drawn by themselves',
  );
  checks.equal([await chartsLeft(page), await emptyCharts(page)], [0, []], 'charts of isolated');
  checks.equal(problems, [], 'problems');
}
