// SPDX-License-Identifier: Apache-2.0
// A page of smk report in a headless Chromium.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

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

// Scrolls down until every chart was drawn.
export async function drawAll(page) {
  await page.evaluate(async () => {
    const wait = (ms) =>
      new Promise((done) => {
        setTimeout(done, ms);
      });
    document.documentElement.style.scrollBehavior = 'auto';
    for (let y = 0; y < document.body.scrollHeight; y += 600) {
      window.scrollTo(0, y);
      await wait(60);
    }
    for (let i = 0; i < 100 && document.querySelector('.chart:not([data-drawn])'); ++i) {
      document.querySelector('.chart:not([data-drawn])').scrollIntoView({ block: 'center' });
      await wait(100);
    }
    window.scrollTo(0, 0);
  });
}
