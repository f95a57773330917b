// SPDX-License-Identifier: Apache-2.0
// The page of smk synth: what the RTL takes in cells, how fast it is, and beside the papers.
import { chart } from './chart.js';
import { h, section } from './dom.js';
import { count, fixed, isNumber, missing } from './format.js';
import { rowBars, stackedBars } from './specs.js';
import { facts, table, tile } from './table.js';
import { policyColour } from './theme.js';

const places = ['sm', 'gpu'];
const placeNames = { sm: 'in all SMs', gpu: 'once, in the driver' };
const placeColour = (id) => policyColour(id === 'sm' ? 'smk-pw' : 'spatial');
const paths = ['worst_path', 'between_registers'];
const pathNames = { worst_path: 'worst path', between_registers: 'between registers' };
const pathColour = (id) => policyColour(id === 'worst_path' ? 'smk-pw' : 'smk');
const mhz = (value) => (isNumber(value) ? `${count(value)} MHz` : missing);
const square = (um2) => (um2 >= 1e5 ? `${(um2 / 1e6).toFixed(3)} mm²` : `${count(um2)} µm²`);

// How often each block is in the chip: all SMs and the driver; null without them.
export function instancesOf(synth) {
  const blocks = new Map(synth.blocks.map((block) => [block.block, block]));
  if (!blocks.has('sm_control') || !blocks.has('driver')) return null;
  const found = new Map();
  const visit = (name, times) => {
    found.set(name, (found.get(name) ?? 0) + times);
    for (const [inner, n] of Object.entries(blocks.get(name).contains ?? {}))
      visit(inner, n * times);
  };
  visit('sm_control', synth.sms);
  visit('driver', 1);
  return found;
}

// The slowest block; null when nothing was timed.
export function slowest(synth) {
  const timed = synth.blocks.filter((block) => block.worst_path);
  if (timed.length === 0) return null;
  return timed.reduce((a, b) => (b.worst_path.fmax_mhz < a.worst_path.fmax_mhz ? b : a));
}

function summary(synth) {
  const slow = slowest(synth);
  return section(
    'summary',
    'Summary',
    h(
      'div.tiles',
      synth.gpu && tile('control logic of the GPU, without SRAM', square(synth.gpu.um2)),
      synth.gpu && tile('flip-flops', count(synth.gpu.flip_flops)),
      synth.gpu && tile('SRAM bits', count(synth.gpu.sram_bits)),
      slow && tile(`slowest block: ${slow.block}`, mhz(slow.worst_path.fmax_mhz)),
      tile('blocks', count(synth.blocks.length)),
    ),
    facts([
      ['Configuration', `${synth.config}: ${synth.sms} SMs, ${synth.kernels} kernels`],
      ...Object.entries(synth.set ?? {}).map(([name, value]) => [name, String(value)]),
      ['Library', `${synth.library.name}, a NAND2 has ${synth.library.nand2_um2} µm²`],
      ['Clock to be met', mhz(synth.mhz)],
      ['Uncertainty of the clock', `${synth.uncertainty_percent} % of the period`],
      ['Wires', synth.wires],
      [
        'Corner',
        (synth.derate ?? 1) === 1
          ? (synth.corner ?? 'typical')
          : `${synth.corner}, delays x ${synth.derate}`,
      ],
      ...(synth.repair ? [['Changes that may repair paths', `${synth.repair} of each block`]] : []),
    ]),
    h(
      'p.note',
      'Areas are those of the cells after synthesis: no clock tree, no filling, no layout.',
    ),
  );
}

function blockTable(synth) {
  const at = (key, name) => (block) => block[key]?.[name];
  return section(
    'blocks',
    'Blocks',
    table({
      label: 'Blocks',
      rows: synth.blocks,
      columns: [
        { id: 'block', title: 'Block', text: true, value: (b) => b.block },
        { id: 'per', title: 'per', text: true, value: (b) => (b.per === 'sm' ? 'SM' : 'GPU') },
        { id: 'cells', title: 'cells', value: at('own', 'cells'), format: count },
        { id: 'flops', title: 'flip-flops', value: at('own', 'flip_flops'), format: count },
        { id: 'sram', title: 'SRAM bits', value: at('own', 'sram_bits'), format: count },
        {
          id: 'um2',
          title: 'µm²',
          value: at('own', 'um2'),
          format: count,
          hint: 'Without the blocks that it contains',
        },
        {
          id: 'total',
          title: 'with contents, µm²',
          value: (b) => (b.total ?? b.own).um2,
          format: count,
        },
        { id: 'fmax', title: 'Fmax MHz', value: at('worst_path', 'fmax_mhz'), format: count },
        {
          id: 'between',
          title: 'between registers MHz',
          value: at('between_registers', 'fmax_mhz'),
          format: count,
        },
        { id: 'slack', title: 'slack ns', value: at('worst_path', 'slack_ns'), format: fixed(3) },
        { id: 'hold', title: 'hold slack ns', value: (b) => b.hold_slack_ns, format: fixed(3) },
        {
          id: 'recovery',
          title: 'recovery slack ns',
          value: (b) => b.recovery_slack_ns,
          format: fixed(3),
          hint: 'From the end of the reset to the next edge of the clock',
        },
        {
          id: 'removal',
          title: 'removal slack ns',
          value: (b) => b.removal_slack_ns,
          format: fixed(3),
          hint: 'From an edge of the clock to the end of the reset',
        },
        {
          id: 'limits',
          title: 'pins above a limit',
          value: (b) => (isNumber(b.slow_pins) ? b.slow_pins + (b.loaded_pins ?? 0) : undefined),
          format: count,
          hint: "Whose slew or load is above the library's limit",
        },
      ],
    }),
  );
}

function areaChart(synth) {
  const instances = instancesOf(synth);
  if (!instances) return null;
  const rows = synth.blocks
    .filter((block) => instances.has(block.block))
    .map((block) => ({
      label: block.block,
      part: block.per,
      order: 0,
      name: placeNames[block.per],
      times: instances.get(block.block),
      value: block.own.um2 * instances.get(block.block),
    }))
    .sort((a, b) => b.value - a.value);
  const sum = rows.reduce((all, row) => all + row.value, 0);
  for (const row of rows) row.share = row.value / sum;
  return section(
    'area',
    'Where the area is',
    chart({
      id: 'area-by-block',
      title: 'Area of each block, all its instances, µm²',
      legend: places.map((id) => [placeNames[id], () => placeColour(id)]),
      rows: () => rows,
      height: 40 + 22 * rows.length,
      columns: [
        { id: 'block', title: 'Block', text: true, value: (r) => r.label },
        { id: 'times', title: 'instances', value: (r) => r.times, format: count },
        { id: 'um2', title: 'µm²', value: (r) => r.value, format: count },
        { id: 'share', title: 'share, %', value: (r) => 100 * r.share, format: fixed(1) },
      ],
      panels: [
        {
          spec: stackedBars({
            rows,
            labelsInOrder: rows.map((row) => row.label),
            parts: places,
            colourOf: placeColour,
            horizontal: true,
            axisFormat: '~s',
            height: 40 + 22 * rows.length,
            tips: [
              ['label', 'Block'],
              ['times', 'Instances', 'd'],
              ['value', 'µm²', ',.0f'],
              ['share', 'Share', '.1%'],
            ],
          }),
        },
      ],
    }),
  );
}

function clockChart(synth) {
  const timed = synth.blocks.filter((block) => block.worst_path);
  if (timed.length === 0) return null;
  const rows = timed.flatMap((block) =>
    paths
      .filter((path) => block[path])
      .map((path) => ({
        label: block.block,
        series: path,
        name: pathNames[path],
        value: block[path].fmax_mhz,
      })),
  );
  return section(
    'clock',
    'Clock',
    chart({
      id: 'fmax',
      title: `Fmax of each block, MHz; the line is the clock to be met, ${count(synth.mhz)}`,
      legend: paths.map((id) => [pathNames[id], () => pathColour(id)]),
      rows: () => rows,
      height: 60 + 24 * timed.length,
      columns: [
        { id: 'block', title: 'Block', text: true, value: (r) => r.label },
        { id: 'path', title: 'Paths', text: true, value: (r) => r.name },
        { id: 'mhz', title: 'MHz', value: (r) => r.value, format: count },
      ],
      panels: [
        {
          spec: rowBars({
            rows,
            labelsInOrder: timed.map((block) => block.block),
            series: paths,
            colourOf: pathColour,
            title: 'MHz',
            rule: synth.mhz,
            words: ['Block', 'Paths'],
            format: ',.0f',
            plain: true,
          }),
        },
      ],
    }),
    table({
      label: 'Worst paths',
      rows: timed,
      columns: [
        { id: 'block', title: 'Block', text: true, value: (b) => b.block },
        { id: 'start', title: 'from', text: true, wrap: true, value: (b) => b.worst_path.start },
        { id: 'end', title: 'to', text: true, wrap: true, value: (b) => b.worst_path.end },
        { id: 'depth', title: 'cells', value: (b) => b.worst_path.depth, format: count },
        { id: 'ns', title: 'ns', value: (b) => b.worst_path.arrival_ns, format: fixed(3) },
      ],
    }),
  );
}

function paperTable(papers) {
  if (papers.length === 0) return null;
  return section(
    'papers',
    'Beside the papers',
    table({
      label: 'Beside the papers',
      rows: papers,
      columns: [
        { id: 'what', title: 'What', text: true, wrap: true, value: (r) => r.what },
        { id: 'paper', title: 'paper', text: true, value: (r) => r.paper },
        { id: 'here', title: 'here', text: true, value: (r) => r.here },
      ],
    }),
  );
}

// `synth` is what --json writes; `papers` are rows of { what, paper, here }.
export const synthPage = ({ synth, papers }) => [
  summary(synth),
  areaChart(synth),
  clockChart(synth),
  blockTable(synth),
  paperTable(papers),
];
