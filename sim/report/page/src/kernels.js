// SPDX-License-Identifier: Apache-2.0
// The kernels of a run: their names and colours, and whether they were there together.
import { kernelColour } from './theme.js';

// The clients in the order of their first jobs.
export const clientsOf = (jobs) => [...new Set(jobs.client)];

// Of a stream, whose kernels are its jobs: the client of each. Null for other runs.
function clientsOfKernels({ host, jobs, kernels }) {
  if (!host || !jobs) return null;
  const byJob = new Map(jobs.map((job) => [job.job, job.client]));
  return kernels.every((k) => byJob.has(k.slot)) ? byJob : null;
}

// The run with a name for each of its kernels: jobs of a stream may have the same program. In a stream all
// kernels of a client have its colour, as its copies have.
export function withOwnNames(run) {
  const { kernels, jobs } = run.stats;
  const byJob = clientsOfKernels(run.stats);
  const clients = byJob && clientsOf({ client: jobs.map((job) => job.client) });
  const several = (name) => kernels.filter((k) => k.name === name).length > 1;
  const numbers = new Map();
  const named = kernels.map((kernel, slot) => {
    const number = (numbers.get(kernel.name) ?? 0) + 1;
    numbers.set(kernel.name, number);
    const name = several(kernel.name) ? `${kernel.name}#${number}` : kernel.name;
    if (!byJob) return { ...kernel, name, colour: slot, group: name };
    const client = byJob.get(kernel.slot);
    return { ...kernel, name, colour: clients.indexOf(client), group: client };
  });
  return { ...run, stats: { ...run.stats, kernels: named } };
}

// The colour of a kernel of the run, by its place among them.
export const coloursOf = (run) => (slot) => kernelColour(run.stats.kernels[slot].colour ?? slot);

// What has a colour of its own: kernels, or clients.
export function kernelLegend(run) {
  const colourOf = coloursOf(run);
  const entries = new Map();
  run.stats.kernels.forEach((kernel, slot) => {
    const name = kernel.group ?? kernel.name;
    if (!entries.has(name)) entries.set(name, () => colourOf(slot));
  });
  return [...entries];
}

// The kernel slots of the hardware.
const kernelSlots = 4;

// Whether each kernel has a kernel slot of its own. More kernels, and jobs of a stream, take turns.
export const haveOwnSlots = ({ kernels, host }) => !host && kernels.length <= kernelSlots;

// A name for each kernel slot that a run can have used: its kernel, when that has it for itself.
export function slotNames(stats) {
  const { kernels } = stats;
  if (haveOwnSlots(stats)) return kernels.map((k) => k.name);
  return Array.from({ length: Math.min(kernels.length, kernelSlots) }, (_, slot) => `slot ${slot}`);
}

// The baseline: each kernel has the whole GPU, in a run of its own. Nothing of them can be added up.
export const inOwnRuns = ({ baseline, kernels }) => Boolean(baseline) && kernels.length > 1;
