// SPDX-License-Identifier: Apache-2.0
// The page of one run shows what the run's files say.
import { join } from 'node:path';
import { drawAll, openPage } from './browser.mjs';
import {
  chartsLeft,
  emptyCharts,
  numberOf,
  overflow,
  readCsv,
  readJson,
  readNumbers,
  readTable,
  sectionIds,
} from './checks.mjs';

async function checkTables(page, folder, checks) {
  const stats = readJson(join(folder, 'stats.json'));
  const tiles = await page.locator('.tile .value').allTextContents();
  checks.equal(
    tiles.slice(0, 3),
    [stats.stp, stats.fairness, stats.antt].map((v) => v.toFixed(3)),
    'STP, fairness, ANTT',
  );
  const kernels = await readTable(page, 'Kernels');
  const column = (name) => kernels.rows.map((row) => numberOf(row[kernels.headings.indexOf(name)]));
  checks.equal(
    column('instructions'),
    stats.kernels.map((k) => k.warp_instructions),
    'instructions',
  );
  checks.equal(
    column('TBs done'),
    stats.kernels.map((k) => k.tbs_completed),
    'TBs done',
  );
  checks.equal(
    column('normalized'),
    stats.kernels.map((k) => Number(k.normalized_ipc.toFixed(3))),
    'normalized IPC',
  );
  const stalls = await readNumbers(page, 'What the schedulers did');
  checks.equal(
    stalls.rows.map((row) => numberOf(row[3])),
    Object.values(stats.scheduler_cycles),
    'scheduler cycles',
  );
  const tbs = await readNumbers(page, 'TBs on each SM, mean of the run');
  const means = stats.sms.flatMap((sm) =>
    sm.tb_cycles.map((cycles) => (cycles / (stats.measured_to - stats.measured_from)).toFixed(2)),
  );
  checks.equal(
    tbs.rows.map((row) => row[2]),
    means.slice(0, tbs.rows.length),
    'mean TBs',
  );
}

async function checkLogs(page, folder, checks) {
  const decisions = readCsv(join(folder, 'decisions.csv'));
  const reasons = await readTable(page, 'Decisions by reason');
  for (const row of reasons.rows) {
    checks.equal(
      numberOf(row.at(-1)),
      decisions.filter((d) => d.reason === row[0]).length,
      `decisions ${row[0]}`,
    );
  }
  checks.equal(
    reasons.rows.length,
    new Set(decisions.map((d) => d.reason)).size,
    'number of reasons',
  );
  const gone = readCsv(join(folder, 'tbs.csv')).filter(
    (t) => t.outcome === 'saved' || t.outcome === 'flushed',
  );
  checks.that(gone.length > 0, 'the run preempts');
  const log = await readTable(page, 'Preemption log');
  checks.equal(
    log.rows.map((row) => numberOf(row[0])),
    gone.slice(0, log.rows.length).map((t) => Number(t.end_cycle)),
    'preemption log',
  );
  const status = await page.locator('#preemptions .pages .status').textContent();
  checks.that(status.endsWith(` of ${gone.length}`), `preemption log: ${status}`);
  const samples = readCsv(join(folder, 'samples.csv')).filter(
    (s) => s.kernel === '0' && s.cycle === '10000',
  );
  const numbers = await readNumbers(page, 'IPC of each sample, all SMs');
  const ipc =
    samples.reduce((sum, s) => sum + Number(s.warp_instructions), 0) / Number(samples[0].length);
  const row = numbers.rows.find((r) => numberOf(r[0]) === 10000);
  checks.equal(row[2], ipc.toFixed(3), 'IPC of the first epoch');
}

// The picture has something in it, zooms, and leads from a preempted TB to its decision and to the TB in its
// place, as the files have them.
async function checkTimeline(page, folder, checks) {
  const timeline = page.locator('#timeline');
  const frame = timeline.locator('.timeline');
  const view = () => frame.getAttribute('data-drawn');
  checks.equal(await view(), '0 40000', 'the whole run');
  const colours = await frame.locator('canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const key = `${data[i]} ${data[i + 1]} ${data[i + 2]} ${data[i + 3]}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    return [...seen.values()].filter((pixels) => pixels > 2000).length;
  });
  checks.that(colours >= 3, `${colours} colours of some size: page and two kernels`);
  await frame.focus();
  await page.keyboard.press('+');
  checks.equal(await view(), '10000 30000', 'zoomed by keyboard');
  await page.keyboard.press('0');
  const tbs = readCsv(join(folder, 'tbs.csv'));
  const decisions = readCsv(join(folder, 'decisions.csv'));
  const gone = tbs.filter((t) => t.outcome === 'saved');
  const asked = async () => (await timeline.locator('.asked').textContent()).replace(/\u2009/g, '');
  for (const tb of gone.slice(0, 3)) {
    await timeline.locator('button', { hasText: 'next preempted' }).click();
    const text = await asked();
    const decision = decisions[Number(tb.preempted_by)];
    checks.that(text.includes(`${tb.name} TB ${tb.tb}, launch ${tb.launch}`), `TB of ${text}`);
    checks.that(
      text.includes(
        `on SM ${tb.sm} at ${decision.cycle}: ${decision.victim_tbs} of ${tb.name} leave`,
      ),
      `decision ${tb.preempted_by} of ${text}`,
    );
    checks.that(text.includes(`id ${tb.preempted_by} in decisions.csv`), `id in ${text}`);
    const next = tbs[Number(tb.replaced_by)];
    checks.that(
      text.includes(
        `In its place${next.name} TB ${next.tb} on SM ${next.sm}, slot ${next.tb_slot}`,
      ),
      `${next.name} TB ${next.tb} in ${text}`,
    );
    await timeline.locator('.asked button', { hasText: `${next.name} TB ${next.tb}` }).click();
    checks.that((await asked()).includes(`${next.start_cycle} to ${next.end_cycle}`), 'one click');
    await timeline.locator('button', { hasText: 'next preempted' }).click();
    await page.locator('#preemptions button.link').nth(gone.indexOf(tb)).click();
    checks.that((await asked()).includes(`to ${tb.end_cycle}, saved`), 'from the log');
  }
}

// A table is sorted by keyboard.
async function checkKeyboard(page, checks) {
  const heading = page.locator('#preemptions th button', { hasText: 'away' });
  await heading.focus();
  await page.keyboard.press('Enter');
  const sorted = page.locator('#preemptions th', { hasText: 'away' });
  checks.equal(await sorted.getAttribute('aria-sort'), 'descending', 'aria-sort');
  const first = (await readTable(page, 'Preemption log')).rows.map((row) => numberOf(row.at(-1)));
  checks.equal(
    first,
    [...first].sort((a, b) => b - a),
    'rows in order',
  );
  await page.keyboard.press('Enter');
  checks.equal(await sorted.getAttribute('aria-sort'), 'ascending', 'aria-sort, again');
  const outline = await heading.evaluate((element) => getComputedStyle(element).outlineStyle);
  checks.equal(outline, 'solid', 'focus is visible');
}

async function checkTheme(page, checks) {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = [await theme(), await background()];
  await page.locator('button.theme').click();
  checks.equal([before[0], await theme()], ['light', 'dark'], 'the button changes the theme');
  checks.that(before[1] !== (await background()), 'another background');
}

export async function runPage({ smk, folder, browser, checks }) {
  smk(
    'run',
    'lbm+sgemm',
    '--policy',
    'smk',
    '--cycles',
    '40k',
    '--arrive',
    'sgemm@4k',
    '--out',
    'one',
    '--quiet',
  );
  const out = smk('report', 'one', '--title', 'a <b> & "c"');
  checks.equal(out, 'one/report.html\n', 'smk report prints the page');
  const file = join(folder, 'one/report.html');
  const { page, problems } = await openPage(browser, file);
  checks.equal(
    await sectionIds(page),
    [
      'summary',
      'kernels',
      'stalls',
      'tbs',
      'timeline',
      'epochs',
      'preemptions',
      'decisions',
      'config',
      'assumptions',
    ],
    'sections',
  );
  checks.equal(await page.locator('h1').textContent(), 'a <b> & "c"', 'title');
  checks.equal(await page.title(), 'a <b> & "c"', 'title of the window');
  await page.keyboard.press('Tab');
  checks.equal(
    await page.evaluate(() => document.activeElement.className),
    'skip',
    'the first stop is the skip link',
  );
  await drawAll(page);
  checks.equal(await chartsLeft(page), 0, 'charts that were not drawn');
  checks.equal(await emptyCharts(page), [], 'charts without marks');
  await checkTables(page, join(folder, 'one'), checks);
  await checkLogs(page, join(folder, 'one'), checks);
  await checkTimeline(page, join(folder, 'one'), checks);
  await checkKeyboard(page, checks);
  await checkTheme(page, checks);
  checks.that((await page.locator('pre').textContent()).includes('[machine.sm.l1]'), 'config.toml');
  checks.equal(problems, [], 'problems');
  for (const [width, colorScheme] of [
    [380, 'dark'],
    [800, 'light'],
  ]) {
    const other = await openPage(browser, file, { width, colorScheme });
    await drawAll(other.page);
    checks.equal(await overflow(other.page), 0, `wider than a window of ${width}`);
    checks.equal(
      await other.page.evaluate(() => document.documentElement.dataset.theme),
      colorScheme,
      'theme of the system',
    );
    checks.equal(other.problems, [], 'problems');
  }
}
