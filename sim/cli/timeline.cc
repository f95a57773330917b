// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace smk::cli {
namespace {

using nlohmann::ordered_json;

// Order of the events of one cycle: arrows leave before their slice ends, and arrive after theirs
// began.
enum class Rank { kCounter, kFlowStart, kEnd, kBegin, kFlowEnd };

// One line of the trace with what it is sorted by.
struct Event {
  Cycle cycle;
  Rank rank;
  std::string text;
};

// Builds the events of one report.
class Timeline {
 public:
  explicit Timeline(const Report& report)
      : report_(report),
        from_(report.experiment->timeline_from),
        to_(std::min(report.experiment->timeline_to, report.result.cycles)),
        gpu_pid_(report.result.sms.size()) {}

  std::string ToString() {
    Names();
    for (const TbRecord& tb : report_.result.tbs) Stay(tb);
    Arrows();
    Counters();
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::tie(a.cycle, a.rank) < std::tie(b.cycle, b.rank);
    });
    ordered_json other;
    other["workload"] = report_.experiment->workload_name();
    other["policy"] = report_.policy.name;
    other["machine"] = report_.experiment->machine.name;
    other["core_clock_mhz"] = report_.experiment->machine.core_clock_mhz;
    other["cycles"] = report_.result.cycles;
    std::string text =
        "{\"displayTimeUnit\":\"ns\",\"otherData\":" + other.dump() + ",\n\"traceEvents\":[\n";
    text += fmt::format("{}", fmt::join(names_, ",\n"));
    for (const Event& event : events_) {
      text += ",\n";
      text += event.text;
    }
    return text + "\n]}\n";
  }

 private:
  const std::string& Label(unsigned kernel) const { return report_.experiment->labels.at(kernel); }

  ordered_json Base(const char* phase, Cycle cycle, std::size_t pid) const {
    ordered_json j;
    j["ph"] = phase;
    j["ts"] = static_cast<double>(cycle) / report_.experiment->machine.core_clock_mhz;
    j["pid"] = pid;
    return j;
  }
  void Push(Cycle cycle, Rank rank, const ordered_json& j) {
    events_.push_back({cycle, rank, j.dump()});
  }

  void Name(const char* what, std::size_t pid, std::optional<std::size_t> tid,
            const std::string& name) {
    ordered_json j;
    j["ph"] = "M";
    j["name"] = what;
    j["pid"] = pid;
    if (tid) j["tid"] = *tid;
    j["args"]["name"] = name;
    names_.push_back(j.dump());
  }
  void Names() {
    for (std::size_t sm = 0; sm < gpu_pid_; ++sm) {
      Name("process_name", sm, std::nullopt, fmt::format("SM {}", sm));
      for (unsigned slot = 0; slot < report_.experiment->machine.sm.limits.tbs; ++slot) {
        Name("thread_name", sm, slot, fmt::format("TB slot {}", slot));
      }
    }
    Name("process_name", gpu_pid_, std::nullopt, "GPU");
  }

  bool Visible(const TbRecord& tb) const { return tb.start < to_ && tb.end > from_; }

  void Stay(const TbRecord& tb) {
    if (!Visible(tb) || tb.start == tb.end) return;
    const Cycle begin = std::max(tb.start, from_), end = std::min(tb.end, to_);
    ordered_json b = Base("B", begin, Index(tb.sm));
    b["tid"] = Index(tb.slot);
    b["name"] = fmt::format("{} TB {}", Label(Index(tb.kernel)), Index(tb.tb));
    b["cat"] = Label(Index(tb.kernel));
    b["args"] = {{"launch", tb.launch},     {"tb", Index(tb.tb)},
                 {"start_cycle", tb.start}, {"end_cycle", tb.end},
                 {"restored", tb.restored}, {"outcome", std::string(1, tb.outcome)}};
    Push(begin, Rank::kBegin, b);
    ordered_json e = Base("E", end, Index(tb.sm));
    e["tid"] = Index(tb.slot);
    Push(end, Rank::kEnd, e);
  }

  // A saved stay and the next one of the same TB that began from a saved context belong together.
  void Arrows() {
    std::vector<const TbRecord*> stays;
    for (const TbRecord& tb : report_.result.tbs) stays.push_back(&tb);
    std::stable_sort(stays.begin(), stays.end(),
                     [](const TbRecord* a, const TbRecord* b) { return a->start < b->start; });
    std::map<std::tuple<KernelId, std::uint32_t, TbId>, const TbRecord*> saved;
    for (const TbRecord* tb : stays) {
      const auto key = std::make_tuple(tb->kernel, tb->launch, tb->tb);
      const auto before = saved.find(key);
      if (tb->restored && before != saved.end()) Arrow(*before->second, *tb);
      if (before != saved.end()) saved.erase(before);
      if (tb->outcome == 'S') saved[key] = tb;
    }
  }
  void Arrow(const TbRecord& save, const TbRecord& resume) {
    if (save.end > to_ || !Visible(save) || !Visible(resume) || resume.start < from_) return;
    ++arrows_;
    for (const bool start : {true, false}) {
      const TbRecord& tb = start ? save : resume;
      ordered_json j = Base(start ? "s" : "f", start ? tb.end : tb.start, Index(tb.sm));
      j["tid"] = Index(tb.slot);
      j["id"] = arrows_;
      j["name"] = "preempted";
      j["cat"] = "preemption";
      if (!start) j["bp"] = "e";
      Push(start ? tb.end : tb.start, start ? Rank::kFlowStart : Rank::kFlowEnd, j);
    }
  }

  template <typename Value>
  void Counter(const char* name, Cycle cycle, std::size_t pid, const Value& value) {
    ordered_json j = Base("C", cycle, pid);
    j["name"] = name;
    j["args"] = ordered_json::object();
    for (unsigned k = 0; k < report_.result.kernels.size(); ++k) j["args"][Label(k)] = value(k);
    Push(cycle, Rank::kCounter, j);
  }

  // TBs and quota are as at the sample; IPC is that of the epoch that ends there, drawn from its
  // start.
  void Counters() {
    std::map<SmId, Cycle> previous;
    std::map<Cycle, EpochSample> whole;  // by end of epoch: the sum over the SMs
    std::map<Cycle, Cycle> start_of;
    for (const EpochSample& sample : report_.result.epochs) {
      const Cycle start = std::exchange(previous[sample.sm], sample.cycle);
      if (sample.cycle <= start || start < from_ || sample.cycle > to_) continue;
      const std::size_t pid = Index(sample.sm);
      Counter("resident TBs", sample.cycle, pid,
              [&](unsigned k) { return sample.resident_tbs[k]; });
      Counter("quota", sample.cycle, pid, [&](unsigned k) { return sample.quota[k]; });
      Counter("IPC", start, pid, [&](unsigned k) {
        return HitRate(sample.warp_instructions[k], sample.cycle - start);
      });
      EpochSample& sum = whole[sample.cycle];
      for (unsigned k = 0; k < kMaxKernels; ++k) {
        sum.warp_instructions[k] += sample.warp_instructions[k];
      }
      start_of[sample.cycle] = start;
    }
    for (const auto& [cycle, sum] : whole) {
      const Cycle start = start_of[cycle];
      Counter("IPC", start, gpu_pid_, [&, end = cycle, &s = sum](unsigned k) {
        return HitRate(s.warp_instructions[k], end - start);
      });
    }
  }

  const Report& report_;
  const Cycle from_, to_;
  const std::size_t gpu_pid_;
  std::uint64_t arrows_ = 0;
  std::vector<std::string> names_;
  std::vector<Event> events_;
};

}  // namespace

std::string TimelineJson(const Report& report) { return Timeline(report).ToString(); }

}  // namespace smk::cli
