// SPDX-License-Identifier: Apache-2.0
// node page_test.mjs PAGE SMK MODULES: makes results with the program SMK, their page, and looks at it in a
// headless Chromium; what PAGE may be is below. MODULES is where npm has installed. Exit status 77: there is
// no Chromium.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, startBrowser } from './browser.mjs';
import { Checks, smkIn } from './checks.mjs';
import { comparePage } from './compare_page.mjs';
import { looksCompare, looksRun, looksServe, looksSweep, looksSynth } from './looks_page.mjs';
import { manyPage } from './many_page.mjs';
import { runPage } from './run_page.mjs';
import { sweepPage } from './sweep_page.mjs';

const pages = {
  run: runPage,
  compare: comparePage,
  sweep: sweepPage,
  many: manyPage,
  looks_run: looksRun,
  looks_compare: looksCompare,
  looks_sweep: looksSweep,
  looks_serve: looksServe,
  looks_synth: looksSynth,
};
const [name, program, modules] = process.argv.slice(2);

if (!findChromium()) {
  console.log('no Chromium; scripts/setup browser installs one');
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), 'smk_report_'));
const checks = new Checks();
const browser = await startBrowser(modules);
try {
  await pages[name]({ smk: smkIn(program, folder), folder, browser, modules, checks });
} catch (error) {
  checks.that(false, error.stack);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${checks.passed} checks passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
