// SPDX-License-Identifier: Apache-2.0
// What the tests of the page have in common: calling smk, reading its files, reading tables of the page.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export class Checks {
  constructor() {
    this.failed = 0;
    this.passed = 0;
  }

  that(holds, text) {
    if (holds) {
      this.passed += 1;
    } else {
      this.failed += 1;
      console.log(`not so: ${text}`);
    }
  }

  equal(seen, expected, text) {
    this.that(
      JSON.stringify(seen) === JSON.stringify(expected),
      `${text}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(seen)}`,
    );
  }

  near(seen, expected, tolerance, text) {
    this.that(Math.abs(seen - expected) <= tolerance, `${text}: expected ${expected}, got ${seen}`);
  }
}

// The command in a folder with a cache of its own.
export const smkIn =
  (program, folder) =>
  (...words) =>
    execFileSync(program, words, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, SMK_CACHE_DIR: join(folder, 'cache') },
    });

// Rows of a CSV file without quotes, as objects.
export function readCsv(path) {
  const [header, ...lines] = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return lines.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i]])));
}

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

// "2 271" with thin spaces, "−5.0 %", "0.838".
export const numberOf = (text) => Number(text.replace(/[\u2009\s%+]/g, '').replace('−', '-'));

// The headings and the cells that a table shows; `label` is that of its region.
export async function readTable(scope, label) {
  const region = scope.locator(`.scroll[aria-label="${label}"]`).first();
  return region.evaluate((element) => ({
    headings: [...element.querySelectorAll('th')].map((th) => th.textContent.trim()),
    rows: [...element.querySelectorAll('tbody tr')].map((tr) =>
      [...tr.cells].map((cell) => cell.textContent.trim()),
    ),
  }));
}

// The table of numbers below a chart.
export async function readNumbers(page, title) {
  const figure = page
    .locator('figure', { has: page.locator(`figcaption:text-is(${JSON.stringify(title)})`) })
    .first();
  const details = figure.locator('details.numbers');
  if (!(await details.evaluate((element) => element.open)))
    await details.locator('summary').click();
  return readTable(figure, title);
}

export const sectionIds = (page) =>
  page.locator('main section').evaluateAll((all) => all.map((s) => s.id));

export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

export const chartsLeft = (page) => page.locator('.chart:not([data-drawn])').count();

// That marks were drawn in every chart, not only axes.
export const emptyCharts = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.chart')]
      .filter((chart) => !chart.querySelector('svg .role-mark path, svg .role-mark line'))
      .map((chart) => chart.getAttribute('aria-label')),
  );
