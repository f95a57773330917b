// SPDX-License-Identifier: Apache-2.0
#include "run/result_io.h"

#include <type_traits>

#include "machine/statistics.h"

namespace smk::sim {
namespace {

using nlohmann::json;

// Reads the values of an array one after another, in the order in which they were written.
class Reader {
 public:
  explicit Reader(const json& values) : values_(values) {}
  template <typename T>
  void operator()(T& value) {
    values_.at(next_++).get_to(value);
  }

 private:
  const json& values_;
  std::size_t next_ = 0;
};

// Appends values to an array.
class Writer {
 public:
  template <typename T>
  void operator()(const T& value) {
    values_.push_back(value);
  }
  json Take() { return std::move(values_); }

 private:
  json values_ = json::array();
};

// An id or character as the plain number it is.
template <typename Archive, typename T>
void Enum(Archive& archive, T& value) {
  using Value = std::conditional_t<std::is_same_v<std::remove_const_t<T>, char>, unsigned char, T>;
  auto number = static_cast<std::uint32_t>(static_cast<Value>(value));
  archive(number);
  if constexpr (!std::is_const_v<T>) value = static_cast<T>(number);
}

// Where a TB lay, in one number; all ones where that is not known.
template <typename Archive, typename Base>
void Place(Archive& archive, Base& base) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t number = kNone;
  if (base) number = std::uint64_t{base->registers} << 16 | base->shared_memory;
  archive(number);
  if constexpr (!std::is_const_v<Base>) {
    if (number == kNone) {
      base.reset();
    } else {
      base = TbBase{static_cast<std::uint16_t>(number >> 16), static_cast<std::uint16_t>(number)};
    }
  }
}

template <typename Archive, typename Kernel>
void Fields(Archive& archive, Kernel& k, const KernelStats* /*tag*/) {
  archive(k.name);
  for (const KernelCounter& counter : KernelCounters()) archive(k.*counter.value);
  archive(k.stalls);
  archive(k.last_tb_end);
}

template <typename Archive, typename Job>
void Fields(Archive& archive, Job& j, const JobStats* /*tag*/) {
  archive(j.client);
  archive(j.arrival);
  archive(j.ready);
  archive(j.start);
  archive(j.finish);
  archive(j.end);
  archive(j.executions);
  archive(j.kernels_completed);
  archive(j.slices_begun);
  archive(j.slices_completed);
  Enum(archive, j.slot);
}

template <typename Archive, typename Launch>
void Fields(Archive& archive, Launch& l, const LaunchRecord* /*tag*/) {
  archive(l.start);
  archive(l.end);
  Enum(archive, l.job);
  Enum(archive, l.slot);
  archive(l.kernel);
  archive(l.number);
  archive(l.first_tb);
  archive(l.tb_count);
}

template <typename Archive, typename Copy>
void Fields(Archive& archive, Copy& c, const CopyRecord* /*tag*/) {
  archive(c.start);
  archive(c.end);
  Enum(archive, c.job);
  archive(c.out);
  archive(c.bytes);
}

template <typename Archive, typename Sm>
void Fields(Archive& archive, Sm& s, const SmStats* /*tag*/) {
  archive(s.scheduler_cycles);
  archive(s.sim_stalls);
  for (const SmCounter& counter : SmCounters()) archive(s.*counter.value);
}

template <typename Archive, typename Tb>
void Fields(Archive& archive, Tb& t, const TbRecord* /*tag*/) {
  archive(t.start);
  archive(t.end);
  Enum(archive, t.kernel);
  archive(t.launch);
  Enum(archive, t.tb);
  Enum(archive, t.sm);
  Enum(archive, t.slot);
  archive(t.restored);
  Enum(archive, t.outcome);
  Enum(archive, t.job);
  Place(archive, t.base);
}

template <typename Archive, typename D>
void Fields(Archive& archive, D& d, const Decision* /*tag*/) {
  archive(d.cycle);
  Enum(archive, d.reason);
  Enum(archive, d.kernel);
  Enum(archive, d.sm);
  Enum(archive, d.tb);
  Enum(archive, d.victim);
  archive(d.victim_tbs);
  archive(d.share);
}

template <typename Archive, typename E>
void Fields(Archive& archive, E& e, const EpochSample* /*tag*/) {
  archive(e.cycle);
  Enum(archive, e.sm);
  for (auto& job : e.job) Enum(archive, job);
  archive(e.warp_instructions);
  archive(e.resident_tbs);
  archive(e.quota);
  archive(e.quota_left);
  archive(e.taken.registers);
  archive(e.taken.shared_memory);
  archive(e.taken.threads);
  archive(e.taken.tbs);
}

template <typename Archive, typename Copies>
void Fields(Archive& archive, Copies& c, const CopyStats* /*tag*/) {
  archive(c.copies);
  archive(c.in_bytes);
  archive(c.out_bytes);
  archive(c.in_cycles);
  archive(c.out_cycles);
  archive(c.overlapped_cycles);
}

template <typename Archive, typename Tokens>
void Fields(Archive& archive, Tokens& t, const TokenStats* /*tag*/) {
  archive(t.tokens);
  archive(t.cycles);
  archive(t.overuse_cycles);
  archive(t.overuse_max);
}

template <typename T>
json WriteAll(const std::vector<T>& items) {
  json array = json::array();
  for (const T& item : items) {
    Writer writer;
    Fields(writer, item, static_cast<const T*>(nullptr));
    array.push_back(writer.Take());
  }
  return array;
}

template <typename T>
void ReadAll(const json& array, std::vector<T>* items) {
  for (const json& values : array) {
    Reader reader(values);
    T item;
    Fields(reader, item, static_cast<const T*>(nullptr));
    items->push_back(std::move(item));
  }
}

}  // namespace

json ToJson(const RunResult& result) {
  json j;
  j["cycles"] = result.cycles;
  j["cut_short"] = result.cut_short;
  j["from_rates"] = result.from_rates;
  j["measured"] = {result.measured_from, result.measured_to};
  j["wall_seconds"] = result.wall_seconds;
  for (const RunCounter& counter : RunCounters()) j[counter.name] = result.*counter.value;
  j["kernels"] = WriteAll(result.kernels);
  j["jobs"] = WriteAll(result.jobs);
  j["copies"] = WriteAll(std::vector<CopyStats>{result.copies}).front();
  if (!result.tokens.empty()) j["tokens"] = WriteAll(result.tokens);
  j["sms"] = WriteAll(result.sms);
  j["launches"] = WriteAll(result.launches);
  j["copy_records"] = WriteAll(result.copy_records);
  j["tbs"] = WriteAll(result.tbs);
  j["decisions"] = WriteAll(result.decisions);
  j["epochs"] = WriteAll(result.epochs);
  j["partitions"] = result.partitions;
  j["late_reservations"] = result.late_reservations;
  j["lockstep_events"] = result.lockstep_events;
  return j;
}

RunResult FromJson(const json& j) {
  RunResult result;
  j.at("cycles").get_to(result.cycles);
  j.at("cut_short").get_to(result.cut_short);
  j.at("from_rates").get_to(result.from_rates);
  j.at("measured").at(0).get_to(result.measured_from);
  j.at("measured").at(1).get_to(result.measured_to);
  j.at("wall_seconds").get_to(result.wall_seconds);
  for (const RunCounter& counter : RunCounters()) {
    j.at(counter.name).get_to(result.*counter.value);
  }
  ReadAll(j.at("kernels"), &result.kernels);
  ReadAll(j.at("jobs"), &result.jobs);
  Reader copies(j.at("copies"));
  Fields(copies, result.copies, static_cast<const CopyStats*>(nullptr));
  if (j.contains("tokens")) ReadAll(j.at("tokens"), &result.tokens);
  ReadAll(j.at("sms"), &result.sms);
  ReadAll(j.at("launches"), &result.launches);
  ReadAll(j.at("copy_records"), &result.copy_records);
  ReadAll(j.at("tbs"), &result.tbs);
  ReadAll(j.at("decisions"), &result.decisions);
  ReadAll(j.at("epochs"), &result.epochs);
  j.at("partitions").get_to(result.partitions);
  result.late_reservations = j.value("late_reservations", std::uint64_t{0});
  result.lockstep_events = j.value("lockstep_events", std::uint64_t{0});
  return result;
}

}  // namespace smk::sim
