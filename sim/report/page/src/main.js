// SPDX-License-Identifier: Apache-2.0
// Reads the data, chooses the page, and changes it with the address.
import { comparePage } from './compare.js';
import { h, section } from './dom.js';
import { count, policyName } from './format.js';
import { measuredText } from './lengths.js';
import { setMeanings } from './meanings.js';
import { runFacts, runSections } from './run.js';
import { sweepPage } from './sweep.js';
import { asRun } from './sweepdata.js';
import { synthPage } from './synth.js';
import { table } from './table.js';
import { isDark, onTheme, startTheme, toggleTheme } from './theme.js';

const data = JSON.parse(document.getElementById('data').textContent);
setMeanings(data.statistics);
const deviations = JSON.parse(document.getElementById('assumptions').textContent);

const definitions = [
  ['Isolated IPC', 'of the kernel alone on the whole GPU, for the same number of cycles'],
  ['Normalized IPC', 'IPC / isolated IPC'],
  ['STP', 'system throughput: sum of the normalized IPCs'],
  ['ANTT', 'average normalized turnaround time: mean of 1 / normalized IPC'],
  ['Fairness', 'smallest normalized IPC / largest'],
  ['rK', 'a kernel’s dominant share of the resources'],
];

function assumptions() {
  const ofGates = data.kind === 'synth';
  const rows = deviations.map(([id, topic, paper, ours, reason, status]) => ({
    id,
    topic,
    paper,
    ours,
    reason,
    status,
  }));
  const titles = {
    id: 'No.',
    topic: 'Topic',
    paper: 'Paper',
    ours: 'Here',
    reason: 'Reason',
    status: 'Status',
  };
  return section(
    'assumptions',
    'Assumptions',
    h(
      'p',
      ofGates
        ? 'Differences of what is built from the papers, and what the papers leave open.'
        : 'All numbers come from a model. These are its differences from the papers, and what the papers leave open.',
    ),
    h(
      'details',
      h('summary', `${rows.length} deviations`),
      table({
        label: 'Deviations from the papers',
        rows,
        columns: Object.keys(titles).map((id) => ({
          id,
          title: titles[id],
          text: true,
          wrap: id !== 'id' && id !== 'status',
          value: (r) => r[id].replaceAll('`', ''),
        })),
      }),
    ),
    !ofGates &&
      h(
        'details',
        h('summary', 'Measures'),
        h(
          'dl.facts',
          definitions.map(([name, text]) => [h('dt', name), h('dd', text)]),
        ),
      ),
  );
}

function themeButton() {
  const button = h('button.theme', { type: 'button', onclick: toggleTheme });
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`);
  };
  onTheme(show);
  show();
  return button;
}

function frame({ title, factList, back, content }) {
  const parts = content.flat(3).filter(Boolean);
  const main = h(
    'main',
    { id: 'content', tabindex: '-1' },
    parts,
    assumptions(),
    h('footer', `smk ${data.version} (${data.git_describe}), ${data.date}, from ${data.source}`),
  );
  const contents = h(
    'nav.contents',
    { 'aria-label': 'Contents' },
    h(
      'ol',
      [...main.querySelectorAll('section')].map((s) =>
        h('li', h('a', { href: `#${s.id}` }, s.querySelector('h2').textContent)),
      ),
    ),
  );
  document.getElementById('app').replaceChildren(
    h(
      'header.top',
      h(
        'div',
        back && h('a.back', { href: '#' }, back),
        h('h1', title),
        h(
          'p.facts-line',
          factList.filter(Boolean).map((f) => h('span', f)),
        ),
      ),
      themeButton(),
    ),
    h('div.columns', contents, main),
  );
  document.title = title;
}

let sweep = null; // the page of the sweep, kept while a run is looked at

function overview() {
  if (data.kind === 'run') {
    const [run] = data.runs;
    frame({ title: data.title, factList: runFacts(run.stats), content: runSections(run) });
  } else if (data.kind === 'compare') {
    const { compare } = data;
    frame({
      title: data.title,
      content: comparePage(data),
      factList: [
        `${compare.policies.length} policies`,
        `machine ${compare.machine}`,
        `control ${compare.control}`,
        `${count(compare.cycles)} cycles`,
        measuredText(data.runs[0].stats),
        `seed ${compare.seed}`,
      ],
    });
  } else if (data.kind === 'synth') {
    const { synth } = data;
    frame({
      title: data.title,
      content: synthPage(data),
      factList: [
        `${count(synth.blocks.length)} blocks`,
        `configuration ${synth.config}`,
        `library ${synth.library.name}`,
        `${count(synth.mhz)} MHz`,
      ],
    });
  } else {
    sweep ??= sweepPage(data.sweep);
    frame({
      title: data.title,
      factList: ['sweep', `${count(sweep.runs.length)} runs`],
      content: sweep.content,
    });
  }
}

// The run that the address names, or null.
function findRun(id) {
  if (data.kind === 'compare') return data.runs.find((run) => run.policy === id);
  if (data.kind !== 'sweep') return null;
  sweep ??= sweepPage(data.sweep);
  const run = sweep.runs.find((r) => r.id === id);
  return run && asRun(run, data.sweep);
}

let shown = null;
let scrolled = 0; // of the overview

function route() {
  const match = /^#run=(.+)$/.exec(window.location.hash);
  const id = match && decodeURIComponent(match[1]);
  if (shown !== null && id === null && shown === '') return; // a place in the same page
  const run = id && findRun(id);
  if (run) {
    if (shown === '') scrolled = window.scrollY;
    frame({
      title: `${run.stats.workload} under ${policyName(run.stats.policy)}`,
      factList: runFacts(run.stats),
      back: `← ${data.title}`,
      content: runSections(run),
    });
    window.scrollTo(0, 0);
    document.getElementById('content').focus({ preventScroll: true });
    shown = id;
    return;
  }
  // The contents of a run's page lead to places in it.
  if (
    shown &&
    window.location.hash.length > 1 &&
    document.getElementById(window.location.hash.slice(1))
  )
    return;
  const returning = shown !== null;
  overview();
  shown = '';
  if (returning) window.scrollTo(0, scrolled);
}

startTheme();
window.addEventListener('hashchange', route);
route();
document.documentElement.dataset.ready = 'true';
