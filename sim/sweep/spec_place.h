// SPDX-License-Identifier: Apache-2.0
// A place in a specification: the experiment that is expanded.
//
// Purpose     Says of what is wrong where it stands: file, line, key; or of a specification that
//             came from options, the option.
#pragma once

#include <string>

#include "base/error.h"
#include "sweep/spec.h"

namespace smk::sim {

// See the head of this file.
class SpecPlace {
 public:
  // `spec` outlives it.
  explicit SpecPlace(const SweepSpec& spec) : spec_(spec) {}

  void Enter(const SpecExperiment& experiment) { experiment_ = &experiment; }
  const SpecExperiment& experiment() const { return *experiment_; }

  // Throws InputError; `line` 0: that of the experiment.
  [[noreturn]] void Refuse(const std::string& key, unsigned line, const std::string& what) const;
  // The same of an error of Resolve or PrepareServing, as far as its text tells where it comes
  // from; else it is the workload's or the stream's.
  [[noreturn]] void RefuseResolve(const std::string& what, const SpecText& workload,
                                  const char* key = "workloads") const;
  [[noreturn]] void RefuseServing(const std::string& what, const SpecText& stream) const;
  // Calls `look`, and says where in the file it was when it fails.
  template <typename Look>
  auto At(const char* key, const SpecText& text, const Look& look) const {
    try {
      return look();
    } catch (const InputError& error) {
      Refuse(key, text.line, error.what());
    }
  }

  // Files are looked for beside the specification.
  std::string Located(const std::string& name) const;

 private:
  const SweepSpec& spec_;
  const SpecExperiment* experiment_ = nullptr;
};

}  // namespace smk::sim
