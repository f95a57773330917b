// SPDX-License-Identifier: Apache-2.0
#include "sweep/spec_kernels.h"

#include <fmt/format.h>

#include <string>

#include "experiment/kernel_names.h"
#include "sweep/mixes.h"

namespace smk::sim {
namespace {

std::vector<MixKernel> Pool(const SpecPlace& place, const Backend& backend) {
  std::vector<MixKernel> pool;
  const auto add = [&](const std::string& name, const SpecText& where) {
    const auto workload =
        place.At("kernels", where, [&] { return backend.find_workload(place.Located(name)); });
    pool.push_back({place.Located(name), workload->type == "compute" ? 'C' : 'M'});
  };
  for (const SpecText& kernel : place.experiment().kernels) add(kernel.text, kernel);
  if (pool.empty()) {
    for (const std::string& name : backend.list_workloads()) {
      if (name.rfind("parboil/", 0) == 0) add(name.substr(8), {});
    }
  }
  return pool;
}

std::vector<std::string> Mixes(const SpecText& item, const MixName& mix, const SpecPlace& place,
                               const Backend& backend) {
  const std::vector<MixKernel> pool = Pool(place, backend);
  auto mixes = AllMixes(pool.size(), mix.size);
  if (mixes.empty()) place.Refuse("kernels", item.line, "expected more kernels to choose from");
  if (mix.random) {
    if (place.experiment().count == 0) {
      place.Refuse("count", item.line,
                   fmt::format("expected a number of workloads for {}", item.text));
    }
    if (place.experiment().count > mixes.size()) {
      place.Refuse("count", place.experiment().count_line,
                   fmt::format("expected at most {}, there are no more", mixes.size()));
    }
    mixes = RandomMixes(pool, mix.size, place.experiment().count, place.experiment().mix_seed);
  }
  std::vector<std::string> workloads;
  workloads.reserve(mixes.size());
  for (const auto& indices : mixes) {
    std::vector<std::string> names;
    names.reserve(indices.size());
    for (const std::size_t index : indices) names.push_back(pool[index].name);
    workloads.push_back(JoinKernels(names));
  }
  return workloads;
}

}  // namespace

double SetsOf(unsigned size, const SpecPlace& place, const Backend& backend) {
  std::size_t kernels = place.experiment().kernels.size();
  if (kernels == 0) kernels = backend.list_workloads().size();
  double sets = 1;
  for (unsigned i = 0; i < size && i < kernels; ++i) {
    sets *= static_cast<double>(kernels - i) / (i + 1);
  }
  return sets;
}

std::vector<SpecText> WorkloadsOf(const SpecPlace& place, const Backend& backend) {
  std::vector<SpecText> workloads;
  for (const SpecText& item : place.experiment().workloads) {
    if (const auto mix = ParseMixName(item.text)) {
      for (const std::string& text : Mixes(item, *mix, place, backend))
        workloads.push_back({text, item.line});
      continue;
    }
    std::vector<std::string> names = SplitKernels(item.text);
    for (std::string& name : names) {
      name = place.Located(name);
      place.At("workloads", item, [&] { return backend.find_workload(name); });
    }
    workloads.push_back({JoinKernels(names), item.line});
  }
  return workloads;
}

}  // namespace smk::sim
