// SPDX-License-Identifier: Apache-2.0
// The statistics of a run: what stats.json, the CSV files, the manual and the report are loops
// over. Counters come from the lists of the model (machine/statistics.h); here they meet what is
// computed from them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/results.h"

namespace smk::sim {

// One statistic of the run, or of the kernel, job, client or SM `index`. A discarded value: not in
// this run.
struct Statistic {
  std::string name, unit, meaning;
  std::function<nlohmann::ordered_json(const Results&, std::size_t index)> get;
};

// The statistics of one object of stats.json.
struct StatisticTable {
  std::string object;  // "run", "kernels", "jobs", "clients", "host", "preemptions", "tokens",
                       // "dram", "sms", "wall"
  std::vector<Statistic> statistics;
};

// All, in the order of the manual; the first is the run's.
const std::vector<StatisticTable>& StatisticTables();
const std::vector<Statistic>& StatisticsOf(const std::string& object);

// The object for `index`, in the order of the list.
nlohmann::ordered_json StatisticsJson(const std::string& object, const Results& results,
                                      std::size_t index = 0);

}  // namespace smk::sim
