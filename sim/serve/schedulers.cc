// SPDX-License-Identifier: Apache-2.0
#include "serve/schedulers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/numbers.h"
#include "host/in_order.h"

namespace smk::sim {
namespace {

constexpr std::uint64_t kMostGroups = std::uint64_t{kMaxSms} * kMaxTbSlots;
constexpr std::uint64_t kMostQuota = 1'000'000;  // ms

}  // namespace

const std::vector<SchedulerInfo>& Schedulers() {
  static const std::vector<SchedulerInfo> kSchedulers = {
      {"sequential", "[Kernelet] Fig. 6", "one kernel, or client with a script, after the other",
       MakeSequential, PairSource::kNone, false, gemini::Control::kSequential},
      {"in-order", "[Kernelet] Base",
       "whole kernels in the order of their jobs, as many as there are kernel slots: consolidation",
       MakeInOrder},
      {"kernelet", "[Kernelet]",
       "slices of the two kernels that its performance model finds best together", nullptr,
       PairSource::kModel},
      {"kernelet-opt", "[Kernelet] OPT",
       "the same, but that every pair has been measured in all its sizes", nullptr,
       PairSource::kMeasured},
      {"kernelet-random", "[Kernelet] MC",
       "the same, but any pair in any of its sizes; kernelet-random:7 draws by the seed 7", nullptr,
       PairSource::kRandom},
      {"kernel-merge", "[KernelMerge]",
       "two kernels merged into one launch whose groups take TBs of both; kernel-merge:4 gives 4 "
       "groups to the first, kernel-merge:sms:4 those of 4 SMs",
       nullptr, PairSource::kNone, true},
      {"gemini", "[Gemini]",
       "of clients with scripts: tokens whose quotas follow their bursts of kernels", nullptr,
       PairSource::kNone, false, gemini::Control::kDynamic},
      {"static-quota", "[Gemini] GaiaGPU",
       "the same, but one quota for all; static-quota:80 gives 80 ms", nullptr, PairSource::kNone,
       false, gemini::Control::kStatic},
      {"none", "[Gemini]", "of clients with scripts: the time slices of the GPU only", nullptr,
       PairSource::kNone, false, gemini::Control::kNone},
  };
  return kSchedulers;
}

namespace {

// "4": groups. "sms:4": SMs.
MergeSplit ParseSplit(const std::string& what, const std::string& text) {
  const std::string prefix = "sms:";
  const bool sms = text.rfind(prefix, 0) == 0;
  const auto count = static_cast<std::uint32_t>(
      ParseCount(what, sms ? text.substr(prefix.size()) : text, 1, kMostGroups));
  return sms ? MergeSplit{0, count} : MergeSplit{count, 0};
}

}  // namespace

SchedulerChoice ParseScheduler(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto& all = Schedulers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const SchedulerInfo& s) { return s.name == name; });
  if (found != all.end()) {
    SchedulerChoice choice{text, *found};
    if (colon == std::string::npos) return choice;
    if (found->merges) {
      choice.split = ParseSplit("--scheduler " + name, text.substr(colon + 1));
      return choice;
    }
    if (found->control == gemini::Control::kStatic) {
      choice.quota_ms = static_cast<std::uint32_t>(
          ParseCount("--scheduler " + name, text.substr(colon + 1), 1, kMostQuota));
      return choice;
    }
    if (found->pairs != PairSource::kRandom) {
      throw InputError(fmt::format("--scheduler: {} has no seed, got '{}'", name, text));
    }
    choice.seed = ParseCount("--scheduler " + name, text.substr(colon + 1), 0, ~std::uint64_t{0});
    return choice;
  }
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const SchedulerInfo& info : all) names.push_back(info.name);
  throw InputError(fmt::format("--scheduler: expected one of {}, got '{}'", Join(names), text));
}

}  // namespace smk::sim
