// SPDX-License-Identifier: Apache-2.0
// Where the files lie that the program reads and that are no input of the user's.
#pragma once

#include <string>

namespace smk::sim {

// share/smk beside the folder of the program that runs, so that an installation can be moved: it
// has sim/machines, sim/workloads, sim/sweeps, rtl, synth, tb and page.html. In a build folder its
// entries are links into the source tree, and so is what is made of them: links are resolved.
// `name` is what is wanted of it.
std::string SharedFile(const std::string& name);

}  // namespace smk::sim
