// SPDX-License-Identifier: Apache-2.0
// Light and dark, and the colours of policies, kernels and reasons, the same in every chart.

const policyColours = {
  isolated: ['#9a9a94', '#85857f'],
  leftover: ['#b0875a', '#b88d5e'],
  even: ['#cdb04a', '#c7aa48'],
  spatial: ['#d9772b', '#e0833c'],
  smk: ['#9cc4e4', '#9ec5e6'],
  'smk-p': ['#5796cc', '#5d9bd1'],
  'smk-pw': ['#1d5c9e', '#3576c4'],
  'smk-pw2': ['#7a4fa3', '#a07bd0'],
  'warped-slicer': ['#2f8f6b', '#3fa981'],
  'warped-slicer+w': ['#86b86a', '#9ac77f'],
  tokens: ['#a3475b', '#c9687c'],
};
// Of systems and of policies with arguments, in the order in which the page shows them; the first are farthest
// apart.
const otherColours = [
  ['#eb8ccd', '#fe9ddf'],
  ['#215515', '#4c8141'],
  ['#6f226b', '#9e4f98'],
  ['#30b4ad', '#4dcac3'],
  ['#874213', '#af673c'],
  ['#7a7cf0', '#959afb'],
  ['#e99c70', '#fcad81'],
  ['#334a62', '#5b748e'],
  ['#926e7e', '#b08b9c'],
  ['#728431', '#8fa14f'],
  ['#d46568', '#f07e81'],
  ['#a7b897', '#b8c9a8'],
  ['#4a44b3', '#6d70cd'],
  ['#1d777b', '#46989d'],
  ['#bba9c9', '#ccbadb'],
  ['#b16ec0', '#cc87dc'],
];
// Of kernels, and of clients: timeline_svg.cc has the same in light.
const kernelColours = [
  ['#2a6f97', '#4d9bc9'],
  ['#e07a5f', '#e58b72'],
  ['#6a994e', '#86b86a'],
  ['#8d5a97', '#b283bd'],
  ['#c9a227', '#d6b23f'],
  ['#3f8f8a', '#56aca6'],
  ['#b0567a', '#cf7599'],
  ['#7a6f5d', '#9c9080'],
];
const jobColours = {
  waiting: ['#d9d9d3', '#43474d'],
  ready: ['#eed9a2', '#6b5a2c'],
  running: ['#c9dcea', '#2f4559'],
  launch: ['#2a6f97', '#4d9bc9'],
  waits: ['#8f8f88', '#9a9a94'],
  isReady: ['#c98f1f', '#d9a845'],
  copy: ['#6a994e', '#86b86a'],
};
const stallColours = {
  issued: ['#2f8f6b', '#3fa981'],
  pipeline: ['#e2b04a', '#d9a845'],
  control: ['#8b7bb8', '#9d8dcb'],
  data_memory: ['#b5483f', '#cf6359'],
  data_short: ['#de8f6e', '#dd9474'],
  barrier: ['#5b7fa6', '#6f95be'],
  quota: ['#3aa0b8', '#4cb3cb'],
  preemption: ['#c25b9b', '#d373b0'],
  empty: ['#d9d9d3', '#43474d'],
};

const listeners = new Set();
const system = window.matchMedia('(prefers-color-scheme: dark)');
let chosen = null; // 'light', 'dark', or null: as the system has it

let printing = false; // paper is white

export const isDark = () => !printing && (chosen ?? (system.matches ? 'dark' : 'light')) === 'dark';

export const onTheme = (listener) => listeners.add(listener);

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export function startTheme() {
  system.addEventListener('change', () => chosen ?? apply());
  apply();
}

const paper = window.matchMedia('print');

// What is called when the page is about to be printed, in light colours.
const printListeners = new Set();
export const onPrint = (listener) => printListeners.add(listener);

function print(begins) {
  if (printing === begins) return;
  const was = isDark();
  printing = begins;
  if (was !== isDark()) apply();
  if (begins) for (const listener of printListeners) listener();
}
window.addEventListener('beforeprint', () => print(true));
window.addEventListener('afterprint', () => print(false));
paper.addEventListener('change', () => print(paper.matches));

export function toggleTheme() {
  chosen = isDark() ? 'light' : 'dark';
  apply();
}

const shade = (pair) => pair[isDark() ? 1 : 0];

// Places among the other colours, of those that have been shown.
const places = new Map();

// Tells what a page shows before it is drawn, so that what is seen first does not matter.
export function orderPolicies(ids) {
  places.clear();
  ids.forEach(policyColour);
}

export function policyColour(id) {
  const base = id.replace(/-ideal$/, '');
  if (policyColours[base]) return shade(policyColours[base]);
  if (!places.has(base)) places.set(base, places.size % otherColours.length);
  return shade(otherColours[places.get(base)]);
}

export const kernelColour = (slot) => shade(kernelColours[slot % kernelColours.length]);
export const jobColour = (state) => shade(jobColours[state]);
export const stallColour = (reason) => shade(stallColours[reason] ?? ['#888888', '#888888']);

export const css = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What the charts take from the style sheet.
export function chartConfig() {
  const text = css('--text');
  const quiet = css('--quiet');
  const line = css('--line');
  const font = css('--sans');
  const axis = {
    domainColor: css('--strong-line'),
    tickColor: line,
    gridColor: line,
    labelColor: quiet,
    titleColor: quiet,
    labelFont: font,
    titleFont: font,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal',
    tickSize: 3,
    gridWidth: 1,
    labelLimit: 140,
  };
  return {
    background: null,
    font,
    view: { stroke: null },
    axis,
    header: {
      labelColor: text,
      titleColor: quiet,
      labelFont: font,
      labelFontSize: 11,
      labelPadding: 4,
    },
    legend: {
      orient: 'top',
      direction: 'horizontal',
      title: null,
      labelColor: text,
      labelFont: font,
      labelFontSize: 11.5,
      symbolType: 'square',
      symbolSize: 90,
      columnPadding: 14,
      offset: 8,
      labelLimit: 260,
    },
    title: { color: text, font, fontSize: 12, fontWeight: 600, anchor: 'start' },
    text: { font, color: text },
  };
}

export const paperColour = () => css('--paper-mark');
export const pageColour = () => css('--page');
