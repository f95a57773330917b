// SPDX-License-Identifier: Apache-2.0
// A page with 5,000 runs opens fast.
import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage } from './browser.mjs';

const wanted = 5000;
// Milliseconds of the processor, several times what it takes: a machine with other work to do may need any time.
const most = 6000;

// What the pages have taken of the processor so far.
async function processorTime(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pages = processInfo.filter(({ type }) => type === 'renderer');
  return Math.round(1000 * pages.reduce((sum, { cpuTime }) => sum + cpuTime, 0));
}

export async function manyPage({ smk, folder, browser, checks }) {
  writeFileSync(
    join(folder, 'few.toml'),
    'name = "few"\ncycles = 4000\nkernels = ["cutcp", "lbm", "sgemm", "stencil"]\nworkloads = "all-pairs"\npolicies = ["spatial", "smk", "smk-p", "smk-pw"]\n',
  );
  smk('sweep', 'few.toml', '--quiet');
  const script = join(dirname(fileURLToPath(import.meta.url)), 'many_runs.py');
  execFileSync('/usr/bin/env', ['python3', '-B', script, 'few.db', 'many.db', String(wanted)], {
    cwd: folder,
  });
  const begin = Date.now();
  smk('report', 'many.db', '--quiet');
  const written = Date.now() - begin;
  const file = join(folder, 'many.html');
  const session = await browser.newBrowserCDPSession();
  const { page, problems, milliseconds } = await openPage(browser, file);
  const opened = await processorTime(session);
  console.log(
    `${wanted} runs: ${(statSync(file).size / 1e6).toFixed(1)} MB, written in ${written} ms, opened in ${milliseconds} ms (${opened} ms of the processor)`,
  );
  checks.that(opened > 0 && opened < most, `opened in less than ${most} ms of the processor`);
  checks.that(
    (await page.locator('#shown').textContent())
      .replace(/\u2009/g, '')
      .endsWith(` of ${wanted} runs`),
    'all runs are there',
  );
  await page.selectOption('[data-filter=mix]', 'C+M');
  const filtered = (await processorTime(session)) - opened;
  console.log(`a filter takes ${filtered} ms of the processor`);
  checks.that(filtered < most / 2, 'filters are fast');
  checks.equal(problems, [], 'problems');
}
