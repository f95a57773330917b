// SPDX-License-Identifier: Apache-2.0
// A page of smk report in a headless Chromium.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// A machine with other work may need long for what takes a moment.
const patience = 120_000;

const names = ['chromium', 'chromium-browser', 'google-chrome'];

// The program, or null when there is none.
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(':');
  const candidates = [
    process.env.CHROMIUM,
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
  ];
  return candidates.find((path) => path && existsSync(path)) ?? null;
}

export async function startBrowser(modules) {
  const { chromium } = createRequire(join(modules, 'package.json'))('playwright-core');
  return chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

// Opens a file. `problems` collects what must not be: messages of the console, errors, requests.
export async function openPage(
  browser,
  file,
  { width = 1280, height = 900, colorScheme = 'light', hash = '' } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    offline: true,
    deviceScaleFactor: 1,
  });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const problems = [];
  page.on(
    'console',
    (message) =>
      ['error', 'warning'].includes(message.type()) && problems.push(`console: ${message.text()}`),
  );
  page.on('pageerror', (error) => problems.push(`error: ${error.stack}`));
  page.on(
    'request',
    (request) =>
      !/^(file|data|blob):/.test(request.url()) && problems.push(`request: ${request.url()}`),
  );
  const url = pathToFileURL(file).href;
  const begin = Date.now();
  await page.goto(url + hash);
  await page.waitForSelector('html[data-ready]');
  return { page, problems, context, milliseconds: Date.now() - begin };
}

// Scrolls to one chart after another, as a chart is drawn when it is near what is seen, and waits for
// each as long as a loaded machine may need. One that is never drawn is left to the test's own check.
export async function drawAll(page) {
  await page.evaluate(() => {
    document.documentElement.style.scrollBehavior = 'auto';
  });
  for (;;) {
    const chart = await page.$('.chart:not([data-drawn])');
    if (chart === null) break;
    await chart.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    try {
      await page.waitForFunction((element) => 'drawn' in element.dataset, chart);
    } catch {
      break;
    }
  }
  await page.evaluate(() => window.scrollTo(0, 0));
}
