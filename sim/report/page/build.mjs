// SPDX-License-Identifier: Apache-2.0
// node build.mjs MODULES PAGE: writes the page without data. MODULES is where npm has installed.
// Everything is inlined; the page asks no server for anything, and its policy forbids it to.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, page] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
// npm has failed, and install.cmake has said so.
if (!existsSync(join(modules, 'installed'))) process.exit(0);
const { build } = createRequire(join(modules, 'package.json'))('esbuild');

async function bundle(entry, extra = {}) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    nodePaths: [join(modules, 'node_modules')],
    logLevel: 'error',
    ...extra,
  });
  return result.outputFiles[0].text;
}

// The rows of the table in docs/deviations.md.
function deviations() {
  const text = readFileSync(join(here, '../../../docs/deviations.md'), 'utf8');
  return text
    .split('\n')
    .filter((line) => /^\| D\d+ \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

// Nothing that we inline may end the element that it is in.
const inScript = (text) => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

const parts = {
  STYLE: await bundle('style.css'),
  APP: inScript(await bundle('main.js', { format: 'iife' })),
  CHARTS: inScript(await bundle('vega.js', { format: 'iife', globalName: 'smkVega' })),
  ASSUMPTIONS: JSON.stringify(deviations()).replaceAll('<', '\\u003c'),
};
let html = readFileSync(join(here, 'src/page.html'), 'utf8');
for (const [name, text] of Object.entries(parts)) html = html.replace(`/*${name}*/`, () => text);
writeFileSync(`${page}.part`, html);
renameSync(`${page}.part`, page);
