// SPDX-License-Identifier: Apache-2.0
// Every kind of page at three widths, in light and dark, on paper, and by the rules of axe.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawAll, openPage } from './browser.mjs';
import { chartsLeft, emptyCharts, overflow, sectionIds } from './checks.mjs';

// Labels of an axis that lie on each other.
const collisions = (page) =>
  page.evaluate(() => {
    const over = (a, b) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
    const found = [];
    for (const axis of document.querySelectorAll('.chart svg .role-axis-label')) {
      // A label at a slant has a box that is larger than it is.
      const texts = [...axis.querySelectorAll('text')].filter(
        (text) =>
          text.textContent !== '' &&
          text.getAttribute('opacity') !== '0' &&
          !text.getAttribute('transform').includes('rotate'),
      );
      const boxes = texts.map((text) => text.getBoundingClientRect());
      boxes.forEach((box, i) => {
        const other = boxes.findIndex((b, j) => j > i && over(box, b));
        if (other >= 0) found.push(`${texts[i].textContent} and ${texts[other].textContent}`);
      });
    }
    return found;
  });

async function checkWidths(browser, file, checks, name) {
  for (const [width, colorScheme] of [
    [400, 'dark'],
    [800, 'light'],
    [1400, 'dark'],
  ]) {
    const { page, problems, context } = await openPage(browser, file, { width, colorScheme });
    await drawAll(page);
    checks.equal(await overflow(page), 0, `${name} is wider than a window of ${width}`);
    checks.equal(await collisions(page), [], `${name}: labels on each other at ${width}`);
    checks.equal(
      [await chartsLeft(page), await emptyCharts(page), problems],
      [0, [], []],
      `${name}: charts and problems at ${width}`,
    );
    await context.close();
  }
}

// Tables that end outside of the window.
const wideTables = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('table')]
      .filter((table) => table.getBoundingClientRect().right > window.innerWidth + 1)
      .map((table) => table.closest('[aria-label]')?.getAttribute('aria-label')),
  );

// Nobody has scrolled, and the window is dark.
async function checkPaper(browser, file, checks, name) {
  const { page, context } = await openPage(browser, file, { colorScheme: 'dark', height: 300 });
  await page.evaluate(() => {
    window.addEventListener('afterprint', () => {
      const charts = [...document.querySelectorAll('.chart')];
      document.documentElement.dataset.printed = JSON.stringify([
        charts.length,
        charts.filter((chart) => chart.querySelector('svg .role-mark path, svg .role-mark line'))
          .length,
      ]);
    });
  });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  checks.that((await chartsLeft(page)) > 0, `${name}: some charts wait to be seen`);
  await page.pdf({ format: 'A4' });
  const [all, drawn] = JSON.parse(
    await page.evaluate(() => document.documentElement.dataset.printed),
  );
  checks.that(all > 0 && all === drawn, `${name}: ${drawn} of ${all} charts on paper`);
  checks.equal(await theme(), 'dark', `${name}: dark again`);
  await page.emulateMedia({ media: 'print' });
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
  checks.equal(
    await page.evaluate(
      () =>
        [...document.querySelectorAll('.search, button.page, .contents')].filter(
          (e) => e.offsetParent !== null,
        ).length,
    ),
    0,
    `${name}: nothing for the hand on paper`,
  );
  // A4 between margins of a centimetre.
  await page.setViewportSize({ width: 718, height: 1000 });
  checks.equal(await wideTables(page), [], `${name}: tables cut off on paper`);
  await context.close();
}

async function checkRules(browser, file, axe, checks, name) {
  for (const colorScheme of ['light', 'dark']) {
    const { page, context } = await openPage(browser, file, { width: 900, colorScheme });
    await drawAll(page);
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
      const { violations } = await window.axe.run(document, { runOnly: rules });
      return violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`);
    });
    checks.equal(found, [], `${name} in ${colorScheme}: findings of axe`);
    await context.close();
  }
}

// The results of one kind, and their page: what is asked of smk before.
async function look(test, name, words, source, file) {
  test.smk(...words, '--quiet', '--out', source);
  test.smk('report', source, '--quiet');
  return lookAt(test, name, join(test.folder, file));
}

async function lookAt({ browser, modules, checks }, name, path) {
  const axe = readFileSync(join(modules, 'node_modules/axe-core/axe.min.js'), 'utf8');
  await checkWidths(browser, path, checks, name);
  await checkPaper(browser, path, checks, name);
  await checkRules(browser, path, axe, checks, name);
  return (await openPage(browser, path)).page;
}

export async function looksRun(test) {
  const words = ['run', 'lbm+sgemm', '--policy', 'smk', '--cycles', '12k'];
  const page = await look(test, 'run', words, 'run', 'run/report.html');
  test.checks.equal(
    await page.locator('#epochs h2').textContent(),
    'IPC per epoch',
    'no chart of quotas without quotas',
  );
}

export async function looksCompare(test) {
  await look(
    test,
    'compare',
    ['compare', 'lbm+sgemm', '--cycles', '12k'],
    'compare',
    'compare/report.html',
  );
}

export async function looksSweep(test) {
  const sets = ['sm.l1.bytes=12288,24576,49152', 'policy.epoch_length=1000,10000'];
  const words = ['sweep', 'lbm+sgemm', '--policies', 'spatial,smk-pw', '--cycles', '12k'];
  words.push(...sets.flatMap((set) => ['--set', set]));
  const page = await look(test, 'sweep', words, 's.db', 's.html');
  test.checks.equal(
    await page.locator('h1').textContent(),
    'lbm+sgemm-sm.l1.bytes-policy.epoch_length',
    'the title is that of the sweep',
  );
  test.checks.equal(
    await sectionIds(page),
    ['summary', 'swept', 'fig-all', 'pairs', 'runs', 'assumptions'],
    'no figures of the paper',
  );
}

// The page of smk synth with the table of all blocks: to make that takes minutes.
export async function looksSynth(test) {
  test.smk('run', 'sgemm', '--cycles', '2k', '--quiet', '--out', 'run');
  test.smk('report', 'run', '--quiet');
  const table = new URL('../../synth/area/gtx980.json', import.meta.url);
  const synth = JSON.parse(readFileSync(table, 'utf8'));
  const papers = [{ what: 'profile counters of one SM, um2', paper: '714', here: '2000' }];
  const head = { version: '0', git_describe: '0', date: '2026-01-01', source: 'smk synth' };
  const data = JSON.stringify({ ...head, kind: 'synth', title: 'Gates', synth, papers });
  const path = join(test.folder, 'synth.html');
  const page = readFileSync(join(test.folder, 'run/report.html'), 'utf8');
  const place = /(<script[^>]* id="data"[^>]*>)[^<]*(<)/;
  test.checks.that(place.test(page), 'the page has a place for data');
  writeFileSync(
    path,
    page.replace(place, (all, before, after) => before + data + after),
  );
  const seen = await lookAt(test, 'synth', path);
  test.checks.equal(
    await sectionIds(seen),
    ['summary', 'area', 'clock', 'blocks', 'papers', 'assumptions'],
    'sections of the page of gates',
  );
}

// A stream of jobs with copies, and clients with scripts.
export async function looksServe(test) {
  writeFileSync(
    join(test.folder, 'jobs.toml'),
    `machine = "mini"
scheduler = "kernelet"
launches = 1
tbs = 40
copy_in = "64K"
copy_out = "16K"
[[client]]
name = "adds"
workload = "vector_add"
count = 3
rate = 50_000
[[client]]
name = "encrypts"
workload = "tea"
count = 2
`,
  );
  const page = await look(test, 'stream', ['serve', 'jobs.toml'], 'jobs', 'jobs/report.html');
  const ids = await sectionIds(page);
  test.checks.equal(ids.slice(0, 3), ['summary', 'jobs', 'kernels'], 'jobs come first');
  for (const id of ['jobs-over-time', 'host-tracks', 'job-states'])
    test.checks.equal(await page.locator(`#${id}`).count(), 1, `stream: ${id}`);
  writeFileSync(
    join(test.folder, 'clients.toml'),
    `duration = "20s"
${['server', 'trainer']
  .map(
    (name, i) => `[[client]]
name = "${name}"
request = ${0.2 + 0.3 * i}
[[client.step]]
host = "5ms"
[[client.step]]
kernel = "1ms"
count = 40
[[client.step]]
sync = true
`,
  )
  .join('')}`,
  );
  const other = await look(test, 'clients', ['serve', 'clients.toml'], 'c', 'c/report.html');
  test.checks.equal(
    await sectionIds(other),
    ['summary', 'clients', 'shares', 'tokens', 'config', 'assumptions'],
    'clients have shares and tokens, and nothing of SMs',
  );
}
