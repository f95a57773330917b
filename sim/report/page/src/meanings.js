// SPDX-License-Identifier: Apache-2.0
// What the statistics mean, as the program says it: by object of stats.json and name.
let known = {};

export const setMeanings = (statistics) => {
  known = statistics ?? {};
};

// "read from DRAM for this kernel (bytes)"; undefined for what the program does not know.
export function meaning(object, name) {
  const found = known[object]?.[name];
  if (!found) return undefined;
  return found.unit ? `${found.meaning} (${found.unit})` : found.meaning;
}
