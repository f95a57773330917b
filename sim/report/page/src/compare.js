// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: all policies on one workload.
import { chart } from './chart.js';
import { h, section } from './dom.js';
import { bytes, count, policyName, ratio, stallNames } from './format.js';
import { tbChart } from './run.js';
import { groupedBars, legendOf, stackedBars } from './specs.js';
import { measures } from './sweepdata.js';
import { table } from './table.js';
import { kernelColour, orderPolicies, policyColour, stallColour } from './theme.js';

const runHref = (policy) => `#run=${encodeURIComponent(policy)}`;
const open = (datum) => {
  if (datum.policy) window.location.hash = runHref(datum.policy);
};

function policyTable(policies, kernels) {
  return table({
    label: 'Policies',
    rows: policies,
    columns: [
      {
        id: 'policy',
        title: 'Policy',
        text: true,
        value: (p) => policyName(p.policy),
        render: (p) => [
          h('span.key', { style: { background: policyColour(p.policy) } }),
          h('a', { href: runHref(p.policy) }, policyName(p.policy)),
        ],
      },
      {
        id: 'stp',
        title: 'STP',
        value: (p) => p.stp,
        format: ratio,
        hint: 'Sum of the normalized IPCs; 1 is time-sharing',
      },
      {
        id: 'fairness',
        title: 'fairness',
        value: (p) => p.fairness,
        format: ratio,
        hint: 'Smallest normalized IPC / largest',
      },
      {
        id: 'antt',
        title: 'ANTT',
        value: (p) => p.antt,
        format: ratio,
        hint: 'Mean of 1 / normalized IPC',
      },
      ...kernels.map((name, slot) => ({
        id: `k${slot}`,
        title: name,
        value: (p) => p.kernels[slot].normalized_ipc,
        format: ratio,
        hint: 'Normalized IPC',
      })),
      { id: 'preempted', title: 'preempted TBs', value: (p) => p.preemptions.count, format: count },
      { id: 'context', title: 'context', value: (p) => p.preemptions.bytes, format: bytes },
    ],
  });
}

function measureChart(policies) {
  const series = policies.map((p) => p.policy);
  const rows = measures.flatMap((m) =>
    policies.map((p) => ({
      measure: m.title,
      group: policyName(p.policy),
      series: p.policy,
      policy: p.policy,
      name: policyName(p.policy),
      value: p[m.id],
    })),
  );
  return chart({
    id: 'measures',
    title: 'STP, fairness and ANTT',
    rows: () => rows,
    onselect: open,
    note: 'A bar leads to its run.',
    columns: [
      { id: 'measure', title: 'Measure', text: true, value: (r) => r.measure },
      {
        id: 'policy',
        title: 'Policy',
        text: true,
        value: (r) => r.name,
        href: (r) => runHref(r.policy),
      },
      { id: 'value', title: 'value', value: (r) => r.value, format: ratio },
    ],
    panels: measures.map((m) => ({
      title: `${m.title}, ${m.better}`,
      spec: (width) => {
        const spec = groupedBars({
          rows: rows.filter((r) => r.measure === m.title),
          groups: series.map(policyName),
          series,
          colourOf: policyColour,
          rule: m.rule,
        })(width);
        spec.layer[0].mark.cursor = 'pointer';
        spec.layer[0].encoding.xOffset = undefined;
        spec.layer[0].encoding.x.axis.labelAngle = width / series.length < 80 ? -35 : 0;
        return spec;
      },
    })),
  });
}

function normalizedChart(policies, kernels) {
  const shared = policies.filter((p) => !p.baseline);
  if (shared.length === 0) return null;
  const rows = shared.flatMap((p) =>
    p.kernels.map((k, slot) => ({
      label: policyName(p.policy),
      policy: p.policy,
      part: slot,
      order: slot,
      name: kernels[slot],
      value: k.normalized_ipc,
      ipc: k.ipc,
    })),
  );
  return chart({
    id: 'normalized',
    title: 'Normalized IPC of each kernel, stacked to STP',
    legend: kernels.map((name, slot) => [name, () => kernelColour(slot)]),
    rows: () => rows,
    onselect: open,
    columns: [
      { id: 'policy', title: 'Policy', text: true, value: (r) => r.label },
      { id: 'kernel', title: 'Kernel', text: true, value: (r) => r.name },
      { id: 'value', title: 'normalized IPC', value: (r) => r.value, format: ratio },
      { id: 'ipc', title: 'IPC', value: (r) => r.ipc, format: ratio },
    ],
    panels: [
      {
        spec: stackedBars({
          rows,
          labelsInOrder: shared.map((p) => policyName(p.policy)),
          parts: kernels.map((k, slot) => slot),
          colourOf: kernelColour,
          horizontal: true,
          height: 30 + 30 * shared.length,
          tips: [
            ['label', 'Policy'],
            ['name', 'Kernel'],
            ['value', 'Normalized IPC', '.3f'],
            ['ipc', 'IPC', '.3f'],
          ],
        }),
      },
    ],
  });
}

function stallChart(runs) {
  const reasons = Object.keys(runs[0].stats.scheduler_cycles);
  const rows = runs.flatMap((run) => {
    const cycles = run.stats.scheduler_cycles;
    const sum = reasons.reduce((a, reason) => a + cycles[reason], 0);
    return reasons.map((reason, order) => ({
      label: policyName(run.policy),
      policy: run.policy,
      part: reason,
      order,
      name: stallNames[reason],
      value: cycles[reason] / sum,
      cycles: cycles[reason],
    }));
  });
  const parts = reasons.filter((reason) => rows.some((r) => r.part === reason && r.cycles > 0));
  return chart({
    id: 'schedulers',
    title: 'What the schedulers did',
    legend: legendOf(
      parts,
      parts.map((p) => stallNames[p]),
      stallColour,
    ),
    rows: () => rows,
    onselect: open,
    columns: [
      { id: 'policy', title: 'Policy', text: true, value: (r) => r.label },
      { id: 'reason', title: 'Reason', text: true, value: (r) => r.name },
      { id: 'cycles', title: 'scheduler cycles', value: (r) => r.cycles, format: count },
    ],
    panels: [
      {
        spec: stackedBars({
          rows,
          labelsInOrder: runs.map((r) => policyName(r.policy)),
          parts,
          colourOf: stallColour,
          horizontal: true,
          height: 30 + 30 * runs.length,
          axisFormat: '.0%',
          tips: [
            ['label', 'Policy'],
            ['name', 'Reason'],
            ['value', 'Share', '.1%'],
            ['cycles', 'Scheduler cycles', ',d'],
          ],
        }),
      },
    ],
  });
}

export function comparePage(data) {
  const { policies } = data.compare;
  orderPolicies(policies.map((p) => p.policy));
  const kernels = policies[0].kernels.map((k) => k.name);
  return [
    section(
      'summary',
      'Policies',
      policyTable(policies, kernels),
      h(
        'p.note',
        'Columns with a kernel’s name: its normalized IPC. Isolated is the baseline, where the kernels take turns: its STP is 1 by definition.',
      ),
    ),
    section(
      'measured',
      'Measures',
      measureChart(policies),
      h('div.pair', normalizedChart(policies, kernels), stallChart(data.runs)),
    ),
    section(
      'tbs',
      'Thread blocks',
      h(
        'div.pair',
        data.runs
          .filter((run) => !run.stats.baseline)
          .map((run) =>
            tbChart(
              run,
              `Mean TBs on each SM under ${policyName(run.policy)}`,
              h('a', { href: runHref(run.policy) }, 'This run'),
            ),
          ),
      ),
    ),
  ];
}
