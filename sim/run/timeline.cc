// SPDX-License-Identifier: Apache-2.0
#include "run/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "run/host_tracks.h"
#include "run/slot_jobs.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kTracksOfAProcess = 100;

// Order of the events of one cycle: arrows leave before their slice ends, and arrive after theirs
// began.
enum class Rank { kCounter, kFlowStart, kEnd, kBegin, kFlowEnd };

// One line of the trace with what it is sorted by.
struct Event {
  Cycle cycle;
  Rank rank;
  std::string text;
};

std::string Quoted(const std::string& text) { return ordered_json(text).dump(); }

// Of the decisions, those after which TBs or whole SMs change hands.
bool MovesTbs(DecisionReason reason) {
  return reason == DecisionReason::kPreempt || reason == DecisionReason::kRepartition ||
         reason == DecisionReason::kEvictSm;
}

// Builds the events of one run.
class Timeline {
 public:
  Timeline(const Results& results, std::size_t max_events)
      : results_(results),
        from_(results.experiment->timeline_from),
        to_(std::min(results.experiment->timeline_to, results.result.cycles)),
        gpu_pid_(results.result.sms.size()),
        slot_jobs_(SlotJobsOf(results)),
        host_tracks_(HostTracks(results)) {
    for (const std::string& label : results.experiment->labels) labels_.push_back(Quoted(label));
    FindCut(max_events);
  }

  TimelineTrace Take() {
    Names();
    for (const TbRecord& tb : results_.result.tbs) Stay(tb);
    Arrows();
    for (const Decision& decision : results_.result.decisions) Mark(decision);
    Host();
    Counters();
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::tie(a.cycle, a.rank) < std::tie(b.cycle, b.rank);
    });
    std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":" + OtherData().dump() +
                       ",\n\"traceEvents\":[\n";
    text += fmt::format("{}", fmt::join(names_, ",\n"));
    for (const Event& event : events_) {
      text += ",\n";
      text += event.text;
    }
    return {text + "\n]}\n", cut_};
  }

 private:
  // A limit on stays and decisions together; arrows are no more than stays.
  void FindCut(std::size_t max_events) {
    std::vector<Cycle> starts;
    for (const TbRecord& tb : results_.result.tbs) {
      if (Visible(tb)) starts.push_back(std::max(tb.start, from_));
    }
    for (const Decision& d : results_.result.decisions) {
      if (Shown(d)) starts.push_back(d.cycle);
    }
    if (starts.size() <= max_events) return;
    const auto next = starts.begin() + static_cast<std::ptrdiff_t>(max_events);
    std::nth_element(starts.begin(), next, starts.end());
    cut_ = to_ = *next;
  }

  ordered_json OtherData() const {
    const Experiment& e = *results_.experiment;
    ordered_json other;
    other["workload"] = e.workload_name();
    other["policy"] = results_.policy.name;
    other["machine"] = e.machine.name;
    other["core_clock_mhz"] = e.machine.core_clock_mhz;
    other["cycles"] = results_.result.cycles;
    other["from"] = from_;
    other["to"] = to_;
    other["complete"] = !cut_.has_value();
    return other;
  }

  // The fields that all events have, with more of them in `rest`.
  void Push(char phase, Cycle cycle, Rank rank, std::size_t pid, std::optional<std::size_t> slot,
            const std::string& rest) {
    const double us = static_cast<double>(cycle) / results_.experiment->machine.core_clock_mhz;
    std::string text = fmt::format("{{\"ph\":\"{}\",\"ts\":{:.6f},\"pid\":{}", phase, us, pid);
    if (slot) text += fmt::format(",\"tid\":{}", Track(pid, *slot));
    events_.push_back({cycle, rank, text + rest + "}"});
  }
  static std::size_t Track(std::size_t pid, std::size_t slot) {
    return kTracksOfAProcess * (pid + 1) + slot;
  }

  void Name(const char* kind, std::size_t pid, std::optional<std::size_t> slot, std::size_t order,
            const std::string& name) {
    const std::string track = slot ? fmt::format(",\"tid\":{}", Track(pid, *slot)) : "";
    const auto line = [&](const char* what, const std::string& args) {
      names_.push_back(fmt::format("{{\"ph\":\"M\",\"name\":\"{}_{}\",\"pid\":{}{},\"args\":{}}}",
                                   kind, what, pid, track, args));
    };
    line("name", fmt::format("{{\"name\":{}}}", Quoted(name)));
    line("sort_index", fmt::format("{{\"sort_index\":{}}}", order));
  }
  void Names() {
    for (std::size_t sm = 0; sm < gpu_pid_; ++sm) {
      Name("process", sm, std::nullopt, sm + 1, fmt::format("SM {}", sm));
      for (unsigned slot = 0; slot < results_.experiment->machine.sm.limits.tbs; ++slot) {
        Name("thread", sm, slot, slot, fmt::format("TB slot {}", slot));
      }
    }
    Name("process", gpu_pid_, std::nullopt, 0, "GPU");
    Name("thread", gpu_pid_, 0, 0, "decisions");
    if (host_tracks_.empty()) return;
    Name("process", host_pid(), std::nullopt, 0, "host");
    for (std::size_t i = 0; i < host_tracks_.size(); ++i) {
      Name("thread", host_pid(), i, i, host_tracks_[i].name);
    }
  }
  std::size_t host_pid() const { return gpu_pid_ + 1; }

  bool Visible(const TbRecord& tb) const {
    return tb.start < to_ && tb.end > from_ && tb.start != tb.end;
  }
  bool Shown(const Decision& d) const {
    return MovesTbs(d.reason) && d.cycle >= from_ && d.cycle < to_;
  }

  void Stay(const TbRecord& tb) {
    if (!Visible(tb)) return;
    const Cycle begin = std::max(tb.start, from_), end = std::min(tb.end, to_);
    const std::string& label = results_.experiment->labels.at(Index(tb.job));
    Push(
        'B', begin, Rank::kBegin, Index(tb.sm), Index(tb.slot),
        fmt::format(",\"name\":{},\"cat\":{},\"args\":{{\"launch\":{},\"tb\":{},\"start_cycle\":{},"
                    "\"end_cycle\":{},\"restored\":{},\"outcome\":\"{}\"}}",
                    Quoted(fmt::format("{} TB {}", label, Index(tb.tb))), labels_.at(Index(tb.job)),
                    tb.launch, Index(tb.tb), tb.start, tb.end, tb.restored, tb.outcome));
    Push('E', end, Rank::kEnd, Index(tb.sm), Index(tb.slot), "");
  }

  // A saved stay and the next one of the same TB that began from a saved context belong together.
  void Arrows() {
    std::vector<const TbRecord*> stays;
    for (const TbRecord& tb : results_.result.tbs) stays.push_back(&tb);
    std::stable_sort(stays.begin(), stays.end(),
                     [](const TbRecord* a, const TbRecord* b) { return a->start < b->start; });
    std::map<std::tuple<JobId, std::uint32_t, TbId>, const TbRecord*> saved;
    for (const TbRecord* tb : stays) {
      const auto key = std::make_tuple(tb->job, tb->launch, tb->tb);
      const auto before = saved.find(key);
      if (tb->restored && before != saved.end()) Arrow(*before->second, *tb);
      if (before != saved.end()) saved.erase(before);
      if (tb->outcome == 'S') saved[key] = tb;
    }
  }
  void Arrow(const TbRecord& save, const TbRecord& resume) {
    if (save.end > to_ || !Visible(save) || !Visible(resume) || resume.start < from_) return;
    const std::string rest =
        fmt::format(",\"id\":{},\"name\":\"preempted\",\"cat\":\"preemption\"", ++arrows_);
    Push('s', save.end, Rank::kFlowStart, Index(save.sm), Index(save.slot), rest);
    Push('f', resume.start, Rank::kFlowEnd, Index(resume.sm), Index(resume.slot),
         rest + ",\"bp\":\"e\"");
  }

  // Copies and launches of a stream, and how many jobs are in which state.
  void Host() {
    for (std::size_t track = 0; track < host_tracks_.size(); ++track) {
      for (const HostSlice& slice : host_tracks_[track].slices) {
        const Cycle begin = std::max(slice.begin, from_), end = std::min(slice.end, to_);
        if (begin >= end) continue;
        Push('B', begin, Rank::kBegin, host_pid(), track,
             fmt::format(",\"name\":{},\"cat\":{},\"args\":{}", Quoted(slice.name),
                         labels_.at(Index(slice.job)), slice.args.dump()));
        Push('E', end, Rank::kEnd, host_pid(), track, "");
      }
    }
    if (host_tracks_.empty()) return;
    for (const JobCounts& jobs : CountJobs(results_.result.jobs)) {
      if (jobs.cycle >= to_) break;
      Counter("jobs", std::max(jobs.cycle, from_), host_pid(),
              fmt::format("\"waiting\":{},\"ready\":{},\"running\":{}", jobs.waiting, jobs.ready,
                          jobs.running));
    }
  }

  void Mark(const Decision& d) {
    if (!Shown(d)) return;
    std::string args = fmt::format("{{\"cycle\":{},\"kernel\":{},\"sm\":{}", d.cycle,
                                   labels_.at(slot_jobs_.At(d.kernel, d.cycle)), Index(d.sm));
    if (d.reason == DecisionReason::kPreempt) {
      args += fmt::format(",\"victim\":{},\"victim_tbs\":{}",
                          labels_.at(slot_jobs_.At(d.victim, d.cycle)), d.victim_tbs);
    }
    Push('i', d.cycle, Rank::kBegin, gpu_pid_, 0,
         fmt::format(",\"name\":\"{}\",\"cat\":\"decision\",\"s\":\"t\",\"args\":{}}}",
                     sim::Name(d.reason), args));
  }

  // A counter holds its value until the next one, so that equal ones are left out.
  void Counter(const char* name, Cycle cycle, std::size_t pid, const std::string& args) {
    std::string& last = last_[{pid, name}];
    if (last == args) return;
    last = args;
    Push('C', cycle, Rank::kCounter, pid, std::nullopt,
         fmt::format(",\"name\":\"{}\",\"args\":{{{}}}", name, args));
  }
  // `value` is that of a kernel slot in the sample, which counts for the slot's job; `text` writes
  // a job's.
  template <typename Value, typename Text>
  void ByKernel(const char* name, Cycle cycle, std::size_t pid, const EpochSample& sample,
                const Value& value, const Text& text) {
    std::string args;
    for (std::size_t job = 0; job < results_.result.kernels.size(); ++job) {
      std::uint64_t sum = 0;
      for (unsigned k = 0; k < kNumKernels; ++k) {
        if (Index(sample.job[k]) == job) sum += value(k);
      }
      args += fmt::format("{}{}:{}", job == 0 ? "" : ",", labels_[job], text(sum));
    }
    Counter(name, cycle, pid, args);
  }
  static std::string Whole(std::uint64_t value) { return fmt::to_string(value); }

  // What an SM holds when the sample is taken.
  void State(const EpochSample& s) {
    const std::size_t pid = Index(s.sm);
    const auto by_kernel = [&](const char* name, const auto& values) {
      ByKernel(
          name, s.cycle, pid, s, [&](unsigned k) { return values[k]; }, Whole);
    };
    by_kernel("resident TBs", s.resident_tbs);
    const auto in_use = [&](const char* name, double amount) {
      Counter(name, s.cycle, pid, fmt::format("\"in use\":{}", amount));
    };
    in_use("registers (KB)", s.taken.registers * kRegisterUnitKb);
    in_use("shared memory (KB)", s.taken.shared_memory * kSharedMemoryUnitKb);
    in_use("threads", s.taken.threads * kThreadUnit);
    if (!results_.policy.config.quota_enable) return;
    by_kernel("quota", s.quota);
    by_kernel("quota left", s.quota_left);
  }

  // IPC is that of the time since the sample before, and is drawn from there.
  void Counters() {
    std::map<SmId, Cycle> previous;
    std::map<Cycle, std::pair<Cycle, EpochSample>> whole;  // by start: end, and sum over the SMs
    for (const EpochSample& sample : results_.result.epochs) {
      if (sample.cycle < from_ || sample.cycle > to_) continue;
      State(sample);
      const auto before = previous.find(sample.sm);
      if (before != previous.end() && before->second < sample.cycle) {
        const Cycle start = before->second;
        Rates(start, sample.cycle, Index(sample.sm), sample);
        auto& [end, sum] = whole[start];
        end = sample.cycle;
        sum.job = sample.job;
        for (unsigned k = 0; k < kNumKernels; ++k) {
          sum.warp_instructions[k] += sample.warp_instructions[k];
        }
      }
      previous[sample.sm] = sample.cycle;
    }
    for (const auto& [start, rest] : whole) Rates(start, rest.first, gpu_pid_, rest.second);
  }
  void Rates(Cycle start, Cycle end, std::size_t pid, const EpochSample& sample) {
    ByKernel(
        "IPC", start, pid, sample, [&](unsigned k) { return sample.warp_instructions[k]; },
        [&](std::uint64_t issued) { return fmt::format("{:.4g}", HitRate(issued, end - start)); });
  }

  // Allocation units [D12].
  static constexpr double kRegisterUnitKb = 1.0, kSharedMemoryUnitKb = 0.25;
  static constexpr unsigned kThreadUnit = 32;

  const Results& results_;
  const Cycle from_;
  Cycle to_;
  const std::size_t gpu_pid_;
  const SlotJobs slot_jobs_;
  const std::vector<HostTrack> host_tracks_;
  std::optional<Cycle> cut_;
  std::uint64_t arrows_ = 0;
  std::vector<std::string> labels_;  // of the kernels, as JSON
  std::vector<std::string> names_;
  std::vector<Event> events_;
  std::map<std::pair<std::size_t, std::string>, std::string> last_;  // arguments of each counter
};

}  // namespace

TimelineTrace TimelineJson(const Results& results, std::size_t max_events) {
  return Timeline(results, max_events).Take();
}

}  // namespace smk::sim
