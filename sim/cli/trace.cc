// SPDX-License-Identifier: Apache-2.0
// smk trace info|export
#include "cli/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "experiment/trace_name.h"
#include "trace/export.h"
#include "workload/program_summary.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

double Ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Dim(const std::array<unsigned, 3>& dim) {
  return fmt::format("{}x{}x{}", dim[0], dim[1], dim[2]);
}

ordered_json KernelJson(const TraceKernelInfo& kernel) {
  const TraceHeader& header = kernel.header;
  const TraceCounts& counts = kernel.counts;
  ordered_json j;
  j["file"] = kernel.file;
  j["kernel"] = header.name;
  j["id"] = header.id;
  j["stream"] = header.stream;
  j["binary_version"] = header.binary_version;
  j["tracer_version"] = header.tracer_version;
  j["grid"] = header.grid;
  j["block"] = header.block;
  j["tbs"] = header.tbs();
  j["threads"] = header.threads();
  j["registers_per_thread"] = header.registers;
  j["shared_memory"] = header.shared_memory;
  j["warp_instructions"] = counts.warp_instructions;
  j["thread_instructions"] = counts.thread_instructions;
  j["different_instructions"] = kernel.instructions;
  ordered_json classes;
  for (unsigned i = 0; i < kNumOpClasses; ++i) {
    if (counts.by_class[i] != 0) classes[kOpClassNames[i]] = counts.by_class[i];
  }
  j["by_class"] = classes;
  j["accesses"] = counts.accesses;
  j["lines_per_access"] = Ratio(counts.lines, counts.accesses);
  j["shared_accesses"] = counts.shared_accesses;
  j["passes_per_shared_access"] = Ratio(counts.passes, counts.shared_accesses);
  j["footprint_bytes"] = counts.footprint_lines * kLineBytes;
  return j;
}

// "alu 61 %, load_global 20 %", the largest first.
std::string Mix(const TraceCounts& counts) {
  std::array<unsigned, kNumOpClasses> order;
  for (unsigned i = 0; i < kNumOpClasses; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return counts.by_class[a] > counts.by_class[b]; });
  std::string text;
  for (const unsigned i : order) {
    if (counts.by_class[i] == 0) break;
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", kOpClassNames[i],
                        100 * Ratio(counts.by_class[i], counts.warp_instructions));
  }
  return text;
}

std::string Table(const TraceSet& set) {
  TextTable table({"file", "kernel", "stream", "SM", "grid", "block", "regs", "smem", "warp instr.",
                   "thread instr.", "lines/access", "passes/shared", "footprint KB"},
                  {0, 1});
  for (const TraceKernelInfo& kernel : set.kernels) {
    const TraceHeader& h = kernel.header;
    const TraceCounts& c = kernel.counts;
    table.Add({kernel.file, h.name.substr(0, 40), fmt::to_string(h.stream),
               fmt::to_string(h.binary_version), Dim(h.grid), Dim(h.block),
               fmt::to_string(h.registers), fmt::to_string(h.shared_memory),
               fmt::to_string(c.warp_instructions), fmt::to_string(c.thread_instructions),
               fmt::format("{:.2f}", Ratio(c.lines, c.accesses)),
               fmt::format("{:.2f}", Ratio(c.passes, c.shared_accesses)),
               fmt::format("{:.1f}", static_cast<double>(c.footprint_lines) * kLineBytes / 1024)});
  }
  std::string text = table.ToString() + '\n';
  for (const TraceKernelInfo& kernel : set.kernels) {
    text += fmt::format("{}: {}\n", kernel.file, Mix(kernel.counts));
  }
  text +=
      fmt::format("\n{} kernels in {} streams, {:.1f} KB in compact form{}\n", set.kernels.size(),
                  set.streams.size(), static_cast<double>(set.compact_bytes) / 1024,
                  set.from_cache ? ", which was there" : "");
  return text;
}

}  // namespace

int TraceInfoCommand(const Context& context, const TraceInfoOptions& options) {
  const std::string path =
      IsTraceName(options.path) ? ParseTraceName(options.path).path : options.path;
  const TraceSet set =
      context.backend.load_trace(path, {options.strict, !options.no_cache, options.verify});
  if (!set.warning.empty()) fmt::print(stderr, "smk: warning: {}\n", set.warning);
  if (!options.json) {
    fmt::print("{}", Table(set));
    return 0;
  }
  ordered_json j;
  j["kernels"] = ordered_json::array();
  for (const TraceKernelInfo& kernel : set.kernels) j["kernels"].push_back(KernelJson(kernel));
  j["streams"] = set.streams.size();
  j["compact_bytes"] = set.compact_bytes;
  fmt::print("{}\n", j.dump(2));
  return 0;
}

int TraceExportCommand(const Context& context, const TraceExportOptions& options) {
  TraceExport what;
  what.folder = options.out;
  if (options.out.empty()) throw InputError("--out: expected a folder to write the trace to");
  if (std::filesystem::exists(options.out + "/kernelslist.g") && !options.force) {
    throw InputError(fmt::format("--out {}: holds a trace; --force writes over it", options.out));
  }
  const auto number = [](const char* name, const std::string& text, std::uint64_t max) {
    return text.empty() ? 0 : ParseCount(name, text, 1, max);
  };
  what.tbs = static_cast<std::uint32_t>(number("--tbs", options.tbs, 0x7fffffff));
  what.launches = number("--launches", options.launches, 65535);
  what.max_instructions = number("--max-instructions", options.max_instructions, 0x7ffffffe);
  what.seed = ParseCount("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  const TraceExported done = ExportTrace(*context.backend.find_workload(options.kernel), what);
  fmt::print("{}: {} kernels, {} TBs, {} warp instructions, {:.1f} MB\nPASS\n", options.out,
             done.kernels, done.tbs, done.warp_instructions, static_cast<double>(done.bytes) / 1e6);
  return 0;
}

}  // namespace smk::sim
