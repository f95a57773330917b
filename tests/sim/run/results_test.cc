// SPDX-License-Identifier: Apache-2.0
// Results: the laws that each obeys, the baseline made of several runs, measures by hand, and that
// nothing is lost on the way between processes.
#include "run/results.h"

#include <gmock/gmock.h>

#include <cmath>

#include "machine/statistics.h"
#include "run/result_io.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunRequest Request(unsigned kernels = 2) {
  RunRequest request;
  request.cycles = 1600;
  for (unsigned k = 0; k < kernels; ++k) {
    request.jobs.push_back({FakeWorkload(std::string(1, static_cast<char>('a' + k))), 0, true});
  }
  return request;
}

// What CheckResult says of a result in which something was changed.
template <typename Change>
std::string BrokenLaw(const Change& change) {
  const RunRequest request = Request();
  RunResult result = FakeResult(request);
  change(&result);
  try {
    CheckResult(request, &result);
  } catch (const CheckFailure& failure) {
    return failure.what();
  }
  return "all hold";
}

TEST(ResultLaws, AGoodResultObeysThemAllAndTheyAreCounted) {
  const RunRequest request = Request();
  RunResult result = FakeResult(request);
  result.checks = 100;
  CheckResult(request, &result);
  EXPECT_EQ(result.checks, 100u + 2 + 2 * request.machine.sms + 3);
}

TEST(ResultLaws, EachIsToldWhenItIsBroken) {
  const unsigned issued = static_cast<unsigned>(Stall::kIssued);
  const unsigned empty = static_cast<unsigned>(Stall::kEmpty);
  EXPECT_EQ(BrokenLaw([](RunResult*) {}), "all hold");
  EXPECT_EQ(BrokenLaw([](RunResult* r) { --r->cycles; }),
            "statistics: the run did not last as long as it was asked to");
  EXPECT_EQ(BrokenLaw([](RunResult* r) { r->kernels.pop_back(); }),
            "statistics: a kernel has no statistics");
  EXPECT_EQ(BrokenLaw([](RunResult* r) { r->jobs.pop_back(); }),
            "statistics: a kernel has no statistics");
  EXPECT_EQ(BrokenLaw([&](RunResult* r) { ++r->sms[3].scheduler_cycles[empty]; }),
            "statistics: SM 3: 6401 scheduler cycles have a reason, of 6400");
  const std::uint64_t stalls = FakeResult(Request()).sms[3].scheduler_cycles[empty];
  EXPECT_EQ(BrokenLaw([](RunResult* r) { ++r->sms[3].sim_stalls[0]; }),
            "statistics: SM 3: " + std::to_string(stalls + 1) +
                " stalls as the papers' simulator counts them, of " + std::to_string(stalls));
  EXPECT_EQ(BrokenLaw([](RunResult* r) { ++r->sms[2].warp_instructions[1]; }),
            "statistics: the SMs' instructions are not those of the run");
  EXPECT_EQ(BrokenLaw([&](RunResult* r) {
              ++r->sms[2].scheduler_cycles[issued];
              --r->sms[2].scheduler_cycles[empty];
              --r->sms[2].sim_stalls[static_cast<unsigned>(SimStall::kControl)];
            }),
            "statistics: issue cycles and instructions differ");
  EXPECT_EQ(BrokenLaw([](RunResult* r) { --r->kernels[1].warp_instructions; }),
            "statistics: the kernels' instructions are not those of the run");
}

// The replay device knows nothing of SMs, and says so.
TEST(ResultLaws, OfRatesThereAreNoSms) {
  const auto without_sms = [](RunResult* r) { r->sms.clear(); };
  EXPECT_NE(BrokenLaw(without_sms), "all hold");
  EXPECT_EQ(BrokenLaw([&](RunResult* r) {
              without_sms(r);
              r->from_rates = true;
            }),
            "all hold");
  EXPECT_EQ(BrokenLaw([&](RunResult* r) {
              without_sms(r);
              r->from_rates = true;
              ++r->kernels[0].warp_instructions;
            }),
            "statistics: the kernels' instructions are not those of the run");
}

TEST(ResultLaws, ARunUntilAllIsDoneMayEndEarly) {
  RunRequest shorter = Request(), request = Request();
  shorter.cycles = 800;
  RunResult result = FakeResult(shorter);
  request.until = RunUntil::kDone;
  EXPECT_NO_THROW(CheckResult(request, &result));
  result.cut_short = true;
  EXPECT_THROW(CheckResult(request, &result), CheckFailure) << "it had cycles left";
  request.cycles = 700;
  result.cut_short = false;
  EXPECT_THROW(CheckResult(request, &result), CheckFailure) << "longer than allowed";
}

TEST(ResultLaws, SpeedIsOfAllThatWasSimulated) {
  Results results;
  results.result = FakeResult(Request());
  results.result.wall_seconds = 2;
  EXPECT_DOUBLE_EQ(results.cycles_per_second(), 800);
  results.policy.time_shared = true;
  results.baseline_cycles = 3200;
  EXPECT_DOUBLE_EQ(results.cycles_per_second(), 1600) << "two runs of 1600 cycles";
  results.result.wall_seconds = 0;
  EXPECT_EQ(results.cycles_per_second(), 0);
}

TEST(Baselines, JobsStandSideBySide) {
  std::vector<RunResult> alone;
  for (unsigned k = 0; k < 3; ++k) {
    RunResult result = FakeResult(Request(1), 4 * (k + 1));
    result.kernels[0].name = std::string(1, static_cast<char>('a' + k));
    result.jobs[0].client = "client " + result.kernels[0].name;
    result.sms[0].tb_cycles[0] = 10 * (k + 1);
    result.tbs.emplace_back();
    result.launches.emplace_back();
    result.decisions.emplace_back();
    result.decisions[0].share[0] = 7 + k;
    result.partitions[1][0] = static_cast<std::uint8_t>(k + 1);
    result.dram_row_hits = 100 * (k + 1);
    result.late_reservations = k + 1;
    result.checks = 1;
    alone.push_back(result);
  }
  const std::uint64_t instructions = alone[2].sms[0].warp_instructions[0];
  const RunResult all = MergeBaseline(alone);
  ASSERT_EQ(all.kernels.size(), 3u);
  EXPECT_EQ(all.kernels[2].name, "c");
  EXPECT_EQ(all.jobs[2].client, "client c");
  EXPECT_EQ(all.jobs[2].slot, KernelId{2});
  EXPECT_THAT(all.sms[0].tb_cycles, ElementsAre(10, 20, 30));
  EXPECT_EQ(all.sms[0].warp_instructions[2], instructions);
  EXPECT_THAT(all.partitions[1], ElementsAre(1, 2, 3));
  ASSERT_EQ(all.tbs.size(), 3u);
  EXPECT_EQ(all.tbs[1].job, JobId{1});
  EXPECT_EQ(all.launches[2].job, JobId{2});
  EXPECT_EQ(all.decisions[2].kernel, KernelId{2});
  EXPECT_EQ(all.decisions[2].share[2], 9u);
  EXPECT_EQ(all.decisions[2].share[0], 0u);
  EXPECT_EQ(all.dram_row_hits, 600u);
  EXPECT_EQ(all.late_reservations, 6u);
  EXPECT_EQ(all.checks, 3u);
  EXPECT_EQ(all.warp_instructions,
            alone[0].warp_instructions + alone[1].warp_instructions + alone[2].warp_instructions);
  EXPECT_EQ(all.cycles, 1600u) << "each ran for so long";
  EXPECT_DOUBLE_EQ(all.wall_seconds, 1.5);
}

TEST(Baselines, DecisionsOfMoreJobsThanSlotsAreLeftOut) {
  std::vector<RunResult> alone(kNumKernels + 1, FakeResult(Request(1)));
  for (RunResult& result : alone) {
    result.tbs.emplace_back();
    result.decisions.emplace_back();
  }
  const RunResult all = MergeBaseline(alone);
  EXPECT_EQ(all.kernels.size(), kNumKernels + 1u);
  EXPECT_EQ(all.decisions.size(), kNumKernels);
  EXPECT_EQ(all.tbs.back().job, JobId{kNumKernels}) << "a TB knows its job all the same";
}

TEST(Baselines, OfOneKernelItIsItsRun) {
  const RunResult alone = FakeResult(Request(1));
  EXPECT_EQ(ToJson(MergeBaseline({alone})), ToJson(alone));
}

// Kernels that issued so many instructions in 1000 cycles.
RunResult Issued(const std::vector<std::uint64_t>& instructions) {
  RunResult result;
  for (const std::uint64_t n : instructions) {
    KernelStats kernel;
    kernel.warp_instructions = n;
    kernel.cycles_present = 1000;
    result.kernels.push_back(kernel);
  }
  return result;
}

TEST(Measures, ByHand) {
  const Metrics m = ComputeMetrics(Issued({1000, 3000}), {2.0, 4.0});
  EXPECT_THAT(m.ipc, ElementsAre(1.0, 3.0));
  EXPECT_THAT(m.normalized, ElementsAre(0.5, 0.75));
  EXPECT_DOUBLE_EQ(*m.stp, 1.25);
  EXPECT_DOUBLE_EQ(*m.antt, (2 + 4.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(*m.fairness, 0.5 / 0.75);
}

TEST(Measures, IpcCountsFromTheArrival) {
  RunResult result = Issued({1000});
  result.kernels[0].cycles_present = 250;
  EXPECT_DOUBLE_EQ(Ipc(result.kernels[0]), 4);
  result.kernels[0].cycles_present = 0;
  EXPECT_DOUBLE_EQ(Ipc(result.kernels[0]), 0) << "it has not come";
}

// As in the database, which has NULL there.
TEST(Measures, AKernelThatWasNotThereHasNoIpcToCompare) {
  RunResult result = Issued({1000, 0});
  result.kernels[1].cycles_present = 0;
  const Metrics m = ComputeMetrics(result, {2.0, 4.0});
  EXPECT_EQ(m.normalized[1], std::nullopt);
  EXPECT_EQ(m.stp, std::nullopt);
  EXPECT_EQ(m.fairness, std::nullopt);
}

TEST(Measures, AKernelThatIssuedNothingHasNoTurnaround) {
  const Metrics m = ComputeMetrics(Issued({0, 3000}), {2.0, 4.0});
  EXPECT_DOUBLE_EQ(*m.stp, 0.75);
  EXPECT_EQ(m.antt, std::nullopt);
  EXPECT_DOUBLE_EQ(*m.fairness, 0);
}

TEST(Measures, WithoutAnIsolatedIpcThereIsNothingToCompare) {
  const Metrics m = ComputeMetrics(Issued({1000, 3000}), {0.0, 4.0});
  EXPECT_EQ(m.normalized[0], std::nullopt);
  EXPECT_DOUBLE_EQ(*m.normalized[1], 0.75);
  EXPECT_EQ(m.stp, std::nullopt);
  EXPECT_EQ(m.antt, std::nullopt);
  EXPECT_EQ(m.fairness, std::nullopt);
}

TEST(Measures, NobodyRan) {
  const Metrics m = ComputeMetrics(Issued({0, 0}), {2.0, 4.0});
  EXPECT_DOUBLE_EQ(*m.stp, 0);
  EXPECT_EQ(m.fairness, std::nullopt) << "0 / 0";
  EXPECT_EQ(ComputeMetrics(Issued({}), {}).stp, std::nullopt);
}

TEST(Measures, TheBaselineTakesTurns) {
  const Metrics m = BaselineMetrics(Issued({1000, 3000, 500}));
  EXPECT_THAT(m.normalized, ElementsAre(1.0, 1.0, 1.0));
  EXPECT_DOUBLE_EQ(*m.stp, 1) << "by definition, not 3";
  EXPECT_DOUBLE_EQ(*m.antt, 1);
  EXPECT_DOUBLE_EQ(*m.fairness, 1);
  EXPECT_EQ(BaselineMetrics(Issued({0, 3000})).stp, std::nullopt);
}

TEST(Measures, BoundsHoldForAnyNumbers) {
  Chance chance;
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint64_t> instructions;
    std::vector<double> isolated;
    for (std::uint64_t k = 1 + chance.Below(4); k > 0; --k) {
      instructions.push_back(1 + chance.Below(100'000));
      isolated.push_back(0.01 + static_cast<double>(chance.Below(10'000)) / 100);
    }
    const Metrics m = ComputeMetrics(Issued(instructions), isolated);
    double sum = 0, harmonic = 0;
    for (const auto& n : m.normalized) {
      sum += *n;
      harmonic += 1 / *n;
    }
    const auto kernels = static_cast<double>(instructions.size());
    EXPECT_NEAR(*m.stp, sum, 1e-9 * sum);
    EXPECT_NEAR(*m.antt, harmonic / kernels, 1e-9 * harmonic);
    EXPECT_GE(*m.antt * *m.stp, kernels * (1 - 1e-9)) << "means: harmonic below arithmetic";
    EXPECT_GT(*m.fairness, 0);
    EXPECT_LE(*m.fairness, 1);
  }
}

TEST(SmallNumbers, AsPeopleReadThem) {
  EXPECT_EQ(Ratio(0.9314), "0.931");
  EXPECT_EQ(Ratio(2.0), "2.000");
  EXPECT_EQ(Ratio(std::nullopt), "-");
  EXPECT_DOUBLE_EQ(HitRate(1, 4), 0.25);
  EXPECT_DOUBLE_EQ(HitRate(0, 0), 0);
  EXPECT_EQ(Total(Issued({1, 2, 39}), &KernelStats::warp_instructions), 42u);
  EXPECT_EQ(Total({}, &KernelStats::warp_instructions), 0u);
}

TEST(SmallNumbers, AKernelWaitsForEveryReasonButTwo) {
  const std::vector<unsigned>& reasons = KernelStalls();
  EXPECT_EQ(reasons.size(), kNumStalls - 2);
  for (const Stall none : {Stall::kIssued, Stall::kEmpty}) {
    EXPECT_EQ(std::count(reasons.begin(), reasons.end(), static_cast<unsigned>(none)), 0);
  }
}

TEST(Clients, TheirJobsAreAddedUp) {
  RunResult result = FakeResult(Request(3));
  const std::vector<std::string> clients = {"x", "y", "x"};
  for (std::size_t i = 0; i < 3; ++i) {
    result.jobs[i].client = clients[i];
    result.jobs[i].arrival = 100;
    result.jobs[i].executions = i;
    result.kernels[i].tbs_completed = 10 * (i + 1);
    result.jobs[i].slices_completed = i + 1;
  }
  result.jobs[0].finish = 300;
  result.jobs[2].finish = 500;
  const std::vector<ClientTotals> totals = ComputeMetrics(result, {1, 1, 1}).clients;
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].name, "x");
  EXPECT_EQ(totals[0].jobs, 2u);
  EXPECT_EQ(totals[0].finished, 2u);
  EXPECT_DOUBLE_EQ(*totals[0].mean_turnaround, 300) << "200 and 400";
  EXPECT_EQ(totals[0].executions, 2u);
  EXPECT_EQ(totals[0].tbs_completed, 40u);
  EXPECT_EQ(totals[0].slices_completed, 4u);
  EXPECT_EQ(totals[1].name, "y");
  EXPECT_EQ(totals[1].finished, 0u);
  EXPECT_EQ(totals[1].mean_turnaround, std::nullopt) << "it did not end";
}

// A result whose every number is by chance.
RunResult AnyResult(Chance* chance) {
  RunResult r;
  r.cycles = chance->Any();
  r.cut_short = chance->Happens();
  r.wall_seconds = static_cast<double>(chance->Below(1'000'000)) / 7;
  for (const RunCounter& counter : RunCounters()) r.*counter.value = chance->Any();
  r.late_reservations = chance->Any();
  for (std::uint64_t n = chance->Below(4); n > 0; --n) {
    KernelStats k;
    k.last_tb_end = chance->Any();
    k.name = chance->Text(8, "ab\",\n ");
    for (const KernelCounter& counter : KernelCounters()) k.*counter.value = chance->Any();
    for (auto& stall : k.stalls) stall = chance->Any();
    r.kernels.push_back(k);
  }
  for (std::uint64_t n = chance->Below(5); n > 0; --n) {
    SmStats s;
    for (auto& cycles : s.scheduler_cycles) cycles = chance->Any();
    for (auto& cycles : s.sim_stalls) cycles = chance->Any();
    for (const SmCounter& counter : SmCounters()) s.*counter.value = {chance->Any(), 7};
    r.sms.push_back(s);
    JobStats j;
    j.client = "client " + std::to_string(chance->Below(10));
    j.arrival = chance->Any();
    j.start = chance->Happens() ? kNever : chance->Any();
    j.finish = chance->Happens() ? kNever : chance->Any();
    j.end = chance->Happens() ? kNever : chance->Any();
    j.slices_begun = chance->Any();
    j.executions = chance->Any();
    j.kernels_completed = chance->Any();
    j.slices_completed = chance->Any();
    j.slot = static_cast<KernelId>(chance->Below(kNumKernels));
    r.jobs.push_back(j);
    LaunchRecord l;
    l.start = chance->Any();
    l.end = chance->Any();
    l.job = static_cast<JobId>(chance->Below(1000));
    l.slot = static_cast<KernelId>(chance->Below(kNumKernels));
    l.kernel = static_cast<std::uint32_t>(chance->Any());
    l.number = static_cast<std::uint32_t>(chance->Any());
    l.first_tb = static_cast<std::uint32_t>(chance->Any());
    l.tb_count = static_cast<std::uint32_t>(chance->Any());
    r.launches.push_back(l);
    CopyRecord c;
    c.start = chance->Any();
    c.end = chance->Any();
    c.job = static_cast<JobId>(chance->Below(1000));
    c.out = chance->Happens();
    c.bytes = chance->Any();
    r.copy_records.push_back(c);
    TbRecord t;
    t.start = chance->Any();
    t.end = chance->Any();
    t.kernel = static_cast<KernelId>(chance->Below(kNumKernels));
    t.launch = static_cast<std::uint32_t>(chance->Any());
    t.job = static_cast<JobId>(chance->Below(1000));
    t.tb = static_cast<TbId>(chance->Below(1'000'000));
    t.sm = static_cast<SmId>(chance->Below(16));
    t.slot = static_cast<TbSlot>(chance->Below(32));
    t.restored = chance->Happens();
    t.outcome = "CSFR"[chance->Below(4)];
    if (chance->Happens()) {
      t.base = TbBase{static_cast<std::uint16_t>(chance->Any()),
                      static_cast<std::uint16_t>(chance->Any())};
    }
    r.tbs.push_back(t);
    Decision d;
    d.cycle = chance->Any();
    d.reason = static_cast<DecisionReason>(chance->Below(8));
    d.kernel = static_cast<KernelId>(chance->Below(kNumKernels));
    d.sm = static_cast<SmId>(chance->Below(16));
    d.tb = static_cast<TbId>(chance->Below(1'000'000));
    d.victim = static_cast<KernelId>(chance->Below(kNumKernels));
    d.victim_tbs = static_cast<std::uint8_t>(chance->Any());
    for (auto& share : d.share) share = static_cast<std::uint32_t>(chance->Any());
    r.decisions.push_back(d);
    EpochSample e;
    e.cycle = chance->Any();
    e.sm = static_cast<SmId>(chance->Below(16));
    for (auto& job : e.job) job = static_cast<JobId>(chance->Below(1000));
    for (auto& count : e.warp_instructions) count = chance->Any();
    for (auto& tbs : e.resident_tbs) tbs = static_cast<std::uint8_t>(chance->Any());
    for (auto& quota : e.quota) quota = static_cast<std::uint16_t>(chance->Any());
    for (auto& left : e.quota_left) left = static_cast<std::uint16_t>(chance->Any());
    e.taken = {7, 8, 9, 10};
    r.epochs.push_back(e);
    r.partitions.push_back({static_cast<std::uint8_t>(chance->Any()), 7});
  }
  return r;
}

TEST(ResultsAsJson, AnyResultComesBack) {
  Chance chance;
  for (int round = 0; round < 200; ++round) {
    const RunResult before = AnyResult(&chance);
    const nlohmann::json json = ToJson(before);
    const RunResult after = FromJson(nlohmann::json::parse(json.dump()));
    ASSERT_EQ(ToJson(after), json) << "as text";
    ASSERT_EQ(ToJson(FromJson(nlohmann::json::from_msgpack(nlohmann::json::to_msgpack(json)))),
              json)
        << "between processes";
    // Not only by the same means that wrote it.
    ASSERT_EQ(after.cycles, before.cycles);
    ASSERT_EQ(after.wall_seconds, before.wall_seconds);
    ASSERT_EQ(after.cut_short, before.cut_short);
    ASSERT_EQ(after.lockstep_events, before.lockstep_events);
    ASSERT_EQ(after.late_reservations, before.late_reservations);
    ASSERT_EQ(after.kernels.size(), before.kernels.size());
    for (std::size_t k = 0; k < before.kernels.size(); ++k) {
      ASSERT_EQ(after.kernels[k].name, before.kernels[k].name);
      ASSERT_EQ(after.kernels[k].stalls, before.kernels[k].stalls);
      ASSERT_EQ(after.kernels[k].last_tb_end, before.kernels[k].last_tb_end);
      ASSERT_EQ(after.kernels[k].preemption_cycles, before.kernels[k].preemption_cycles);
    }
    for (std::size_t i = 0; i < before.tbs.size(); ++i) {
      ASSERT_EQ(after.sms[i].tb_cycles, before.sms[i].tb_cycles);
      ASSERT_EQ(after.sms[i].sim_stalls, before.sms[i].sim_stalls);
      ASSERT_EQ(after.jobs[i].client, before.jobs[i].client);
      ASSERT_EQ(after.jobs[i].finish, before.jobs[i].finish);
      ASSERT_EQ(after.jobs[i].end, before.jobs[i].end);
      ASSERT_EQ(after.launches[i].first_tb, before.launches[i].first_tb);
      ASSERT_EQ(after.copy_records[i].start, before.copy_records[i].start);
      ASSERT_EQ(after.copy_records[i].end, before.copy_records[i].end);
      ASSERT_EQ(after.copy_records[i].job, before.copy_records[i].job);
      ASSERT_EQ(after.copy_records[i].out, before.copy_records[i].out);
      ASSERT_EQ(after.copy_records[i].bytes, before.copy_records[i].bytes);
      ASSERT_EQ(after.tbs[i].job, before.tbs[i].job);
      ASSERT_EQ(after.tbs[i].outcome, before.tbs[i].outcome);
      ASSERT_EQ(after.tbs[i].restored, before.tbs[i].restored);
      ASSERT_EQ(after.tbs[i].slot, before.tbs[i].slot);
      ASSERT_EQ(after.tbs[i].base.has_value(), before.tbs[i].base.has_value());
      if (before.tbs[i].base) {
        ASSERT_EQ(after.tbs[i].base->registers, before.tbs[i].base->registers);
        ASSERT_EQ(after.tbs[i].base->shared_memory, before.tbs[i].base->shared_memory);
      }
      ASSERT_EQ(after.decisions[i].reason, before.decisions[i].reason);
      ASSERT_EQ(after.decisions[i].share, before.decisions[i].share);
      ASSERT_EQ(after.epochs[i].quota_left, before.epochs[i].quota_left);
    }
    ASSERT_EQ(after.partitions, before.partitions);
  }
}

TEST(ResultsAsJson, DamageIsAnExceptionOfTheParser) {
  Chance chance;
  const nlohmann::json good = ToJson(FakeResult(Request()));
  for (const auto& [key, value] : good.items()) {
    // Entries of older versions do not have these.
    if (key == "lockstep_events" || key == "late_reservations") continue;
    nlohmann::json without = good;
    without.erase(key);
    EXPECT_THROW(FromJson(without), nlohmann::json::exception) << key;
    nlohmann::json other = good;
    other[key] = "text";
    EXPECT_THROW(FromJson(other), nlohmann::json::exception) << key;
  }
  nlohmann::json shorter = good;
  shorter["kernels"][0].erase(shorter["kernels"][0].size() - 1);
  EXPECT_THROW(FromJson(shorter), nlohmann::json::exception);
  EXPECT_THROW(FromJson(7), nlohmann::json::exception);
}

}  // namespace
}  // namespace smk::sim
