// SPDX-License-Identifier: Apache-2.0
// What a program's verilated models covered, in one file: $SMK_COVERAGE_DIR/<program>-<pid>.dat, of
// Verilator's format. Built with SMK_COVERAGE=ON only; tests/coverage/report.py says how it counts.
#pragma once

#include <verilated.h>
#if VM_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#endif

namespace smk {

#if VM_COVERAGE

// The points of all runs of this program. A toggle counts the changes of the run and instance that
// saw most of them, any other point the sum.
class CoverageSum {
 public:
  static CoverageSum& Get() {
    static CoverageSum sum;
    return sum;
  }
  ~CoverageSum() {
    if (!wanted()) return;
    std::ofstream file(path_ + ".dat");
    file << "# SystemC::Coverage-3\n";
    for (const auto& [key, count] : counts_) file << "C '" << key << "' " << count << "\n";
  }
  CoverageSum(const CoverageSum&) = delete;
  CoverageSum& operator=(const CoverageSum&) = delete;

  bool wanted() const { return !path_.empty(); }
  // True for the first asker with this name.
  bool First(const std::string& name) { return names_.insert(name).second; }
  void Add(VerilatedContext* context, bool with_toggles) {
    const std::string part = path_ + ".part";
    context->coveragep()->forcePerInstance(true);
    context->coveragep()->write(part.c_str());
    std::ifstream file(part);
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("C '", 0) == 0) AddPoint(line, with_toggles);
    }
    std::remove(part.c_str());
  }

 private:
  CoverageSum() {
    const char* const dir = std::getenv("SMK_COVERAGE_DIR");
    if (dir == nullptr) return;
    path_ = std::string(dir) + "/" + program_invocation_short_name + "-" +
            std::to_string(static_cast<long>(getpid()));
  }
  // C '<key>^Ah^B<instance>' <count>
  void AddPoint(const std::string& line, bool with_toggles) {
    const std::size_t quote = line.rfind('\'');
    const std::size_t instance = line.find("\001h\002");
    const std::string key = line.substr(3, std::min(quote, instance) - 3);
    const std::uint64_t count = std::strtoull(&line[quote + 1], nullptr, 10);
    const bool toggle = key.find("\001page\002v_toggle/") != std::string::npos;
    if (toggle && !with_toggles) return;
    std::uint64_t& sum = counts_[key];
    sum = toggle ? std::max(sum, count) : sum + count;
  }

  std::string path_;
  std::set<std::string> names_;
  std::map<std::string, std::uint64_t> counts_;
};

// The coverage of one context: declared after the models, so that they still exist when it counts.
class RtlCoverage {
 public:
  explicit RtlCoverage(VerilatedContext* context) : context_(context) {}
  ~RtlCoverage() {
    if (kept_ && CoverageSum::Get().wanted()) CoverageSum::Get().Add(context_, true);
  }
  RtlCoverage(const RtlCoverage&) = delete;
  RtlCoverage& operator=(const RtlCoverage&) = delete;

  // Registers start random: what changes up to the end of the first reset says nothing. Its lines
  // are kept, once for models of a `name`.
  void AfterReset(const std::string& name) {
    if (reset_ || !CoverageSum::Get().wanted()) return;
    reset_ = true;
    if (CoverageSum::Get().First(name)) CoverageSum::Get().Add(context_, false);
    context_->coveragep()->zero();
  }
  // The run found a mismatch: what it did is not checked.
  void Discard() { kept_ = false; }

 private:
  VerilatedContext* context_;
  bool reset_ = false, kept_ = true;
};

#else

class RtlCoverage {
 public:
  explicit RtlCoverage(VerilatedContext*) {}
  template <typename Name>
  void AfterReset(const Name&) {}
  void Discard() {}
};

#endif

}  // namespace smk
