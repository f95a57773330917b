// SPDX-License-Identifier: Apache-2.0
// OracleCandidates: every table that fits, and no other.
#include "run/oracle.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/fake.h"
#include "sim/refusal.h"

namespace smk::sim {
namespace {

Experiment Resolved(const std::string& kernels) {
  static const Backend kBackend = FakeBackend();
  Options options;
  options.kernels = kernels;
  return Resolve(options, kBackend);
}

TEST(Oracle, CandidatesAreAllTablesThatFit) {
  const Experiment experiment = Resolved("a+b");
  const ResourceVector limits = experiment.machine.sm.limits;
  const ResourceVector a = LeastNeed(*experiment.workloads[0]);
  const ResourceVector b = LeastNeed(*experiment.workloads[1]);
  std::set<std::string> expected = {"leftover", "even", "spatial"};
  for (unsigned i = 1; i <= limits.tbs; ++i) {
    for (unsigned j = 1; j <= limits.tbs; ++j) {
      const auto fits = [&](auto of, unsigned limit) { return i * of(a) + j * of(b) <= limit; };
      if (fits([](const ResourceVector& v) { return unsigned{v.registers}; }, limits.registers) &&
          fits([](const ResourceVector& v) { return unsigned{v.shared_memory}; },
               limits.shared_memory) &&
          fits([](const ResourceVector& v) { return unsigned{v.threads}; }, limits.threads) &&
          i + j <= limits.tbs) {
        expected.insert("table:" + std::to_string(i) + "," + std::to_string(j));
      }
    }
  }
  std::set<std::string> names;
  for (const Policy& policy : OracleCandidates(experiment)) names.insert(policy.name);
  EXPECT_EQ(names, expected);
  EXPECT_GT(names.size(), 10u);
}

TEST(Oracle, TooManyTablesAreRefused) {
  Experiment experiment = Resolved("a+b+c+d");
  EXPECT_EQ(OracleCandidates(experiment).size(), 3u + 1820u) << "4 of 16 places end a kernel's TBs";
  for (auto& workload : experiment.workloads) workload = FakeWorkload("small", 32);
  EXPECT_NE(Refusal([&] { OracleCandidates(experiment); }).find("more than 5000 tables"),
            std::string::npos);
}

}  // namespace
}  // namespace smk::sim
