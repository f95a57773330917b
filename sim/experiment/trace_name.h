// SPDX-License-Identifier: Apache-2.0
// Accel-Sim traces by name: what stands for a kernel on the command line.
#pragma once

#include <string>

namespace smk::sim {

// A kernel of a run that is a trace: "trace:PATH", or "trace:PATH:N" for one of its streams.
struct TraceName {
  std::string path;
  std::size_t stream = 0;  // from 1; 0: all
};

// Whether `name` names a trace at all.
bool IsTraceName(const std::string& name);
// Takes the name apart.
TraceName ParseTraceName(const std::string& name);
// The same name with an absolute path.
std::string PortableTraceName(const std::string& name);

}  // namespace smk::sim
