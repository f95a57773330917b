// SPDX-License-Identifier: Apache-2.0
// From a preempted TB to its decision and to the TB in its place: by example, and in a run.
#include "run/tb_links.h"

#include <gmock/gmock.h>

#include <map>

#include "base/csv_table.h"
#include "experiment/requests.h"
#include "sim/command.h"
#include "sim/fake.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;

// Two jobs, each in the slot of its number, and what their TBs did.
class TbLinking : public testing::Test {
 protected:
  TbLinking() {
    options.kernels = "a+b";
    options.cycles = "1600";
    experiment = Resolve(options, backend);
    results.experiment = &experiment;
    results.policy = FindPolicy("smk", 2);
    for (unsigned job = 0; job < 2; ++job) {
      LaunchRecord launch;
      launch.slot = KernelId{static_cast<std::uint8_t>(job)};
      launch.job = JobId{job};
      results.result.launches.push_back(launch);
    }
  }
  Decision& Decide(Cycle cycle, DecisionReason reason, unsigned kernel, unsigned tb = 0) {
    Decision d;
    d.cycle = cycle;
    d.reason = reason;
    d.kernel = KernelId{static_cast<std::uint8_t>(kernel)};
    d.tb = TbId{tb};
    results.result.decisions.push_back(d);
    return results.result.decisions.back();
  }
  void Preempt(Cycle cycle, unsigned kernel, unsigned victim, std::uint8_t tbs) {
    Decision& d = Decide(cycle, DecisionReason::kPreempt, kernel);
    d.victim = KernelId{static_cast<std::uint8_t>(victim)};
    d.victim_tbs = tbs;
  }
  void Stay(unsigned job, unsigned tb, unsigned slot, Cycle start, Cycle end, char outcome) {
    TbRecord stay;
    stay.job = JobId{job};
    stay.tb = TbId{tb};
    stay.slot = TbSlot{static_cast<std::uint8_t>(slot)};
    stay.start = start;
    stay.end = end;
    stay.outcome = outcome;
    results.result.tbs.push_back(stay);
  }
  // Of a stay: decision and the stay in its place; -1 is none.
  std::vector<int> Links(std::size_t stay) const {
    const TbLinks links = LinkTbs(results).at(stay);
    const auto number = [](const std::optional<std::size_t>& place) {
      return place ? static_cast<int>(*place) : -1;
    };
    return {number(links.dispatched_by), number(links.preempted_by), number(links.replaced_by)};
  }

  Backend backend = FakeBackend();
  Options options;
  Experiment experiment;
  Results results;
};

TEST_F(TbLinking, APreemptedTbHasItsDecisionAndTheTbInItsPlace) {
  Decide(1, DecisionReason::kDispatchNew, 0, 7);
  Preempt(100, 1, 0, 1);
  Decide(150, DecisionReason::kDispatchNew, 1, 3);
  Decide(300, DecisionReason::kDispatchRestored, 0, 7);
  Stay(0, 7, 0, 10, 140, 'S');
  Stay(1, 3, 0, 160, 250, 'C');
  Stay(0, 7, 1, 320, 400, 'R');
  EXPECT_THAT(Links(0), ElementsAre(0, 1, 1));
  EXPECT_THAT(Links(1), ElementsAre(2, -1, -1));
  EXPECT_THAT(Links(2), ElementsAre(3, -1, -1));
}

TEST_F(TbLinking, TheEarlierDecisionHasTheTbsThatLeaveFirst) {
  for (unsigned tb = 0; tb < 3; ++tb) Decide(1 + tb, DecisionReason::kDispatchNew, 0, tb);
  Preempt(100, 1, 0, 2);
  Preempt(110, 1, 0, 1);
  Decide(190, DecisionReason::kDispatchNew, 1, 0);
  Decide(200, DecisionReason::kDispatchNew, 1, 1);
  Stay(0, 0, 0, 10, 150, 'S');
  Stay(0, 2, 2, 10, 160, 'S');
  Stay(0, 1, 1, 10, 180, 'S');
  Stay(1, 0, 0, 200, 300, 'R');
  Stay(1, 1, 1, 210, 300, 'R');
  EXPECT_THAT(Links(0), ElementsAre(0, 3, 3));
  EXPECT_THAT(Links(1), ElementsAre(2, 3, 3));
  EXPECT_THAT(Links(2), ElementsAre(1, 4, 4)) << "each decision is for one TB";
}

TEST_F(TbLinking, AnEarlierTbThatCompletedLeavesNothingToALaterOne) {
  Decide(1, DecisionReason::kDispatchNew, 0, 0);
  Preempt(100, 1, 0, 1);
  Decide(200, DecisionReason::kDispatchNew, 0, 1);
  Preempt(300, 1, 0, 1);
  Stay(0, 0, 0, 10, 110, 'C');
  Stay(0, 1, 0, 210, 330, 'S');
  EXPECT_THAT(Links(0), ElementsAre(0, -1, -1));
  EXPECT_THAT(Links(1), ElementsAre(2, 3, -1)) << "it was not there at the first";
}

TEST_F(TbLinking, OnlyTheVictimIsPreemptedAndOnlyThere) {
  Decide(1, DecisionReason::kDispatchNew, 0, 0);
  Preempt(100, 0, 1, 1);
  Preempt(110, 1, 0, 1);
  results.result.decisions.back().sm = SmId{1};
  Stay(0, 0, 0, 10, 200, 'S');
  EXPECT_THAT(Links(0), ElementsAre(0, -1, -1));
}

TEST_F(TbLinking, ADecisionAboutTheSmIsThatOfAllItsTbs) {
  Decide(1, DecisionReason::kDispatchNew, 0, 0);
  Decide(2, DecisionReason::kDispatchNew, 0, 1);
  Decide(100, DecisionReason::kEvictSm, 1);
  Decide(200, DecisionReason::kDispatchNew, 1, 5);
  Stay(0, 0, 0, 10, 130, 'F');
  Stay(0, 1, 1, 10, 150, 'S');
  Stay(1, 5, 1, 210, 400, 'R');
  EXPECT_THAT(Links(0), ElementsAre(0, 2, -1)) << "its slot stays empty";
  EXPECT_THAT(Links(1), ElementsAre(1, 2, 2));
}

class TbLinksOfRuns : public CommandTest {};

// Each saved TB has a decision that names its kernel and SM, and no decision has more than it asked
// for.
TEST_F(TbLinksOfRuns, EverySavedTbHasADecision) {
  ASSERT_EQ(Smk("run lbm+sgemm --cycles 60k --policy smk --arrive sgemm@10k --out out").status, 0);
  struct Asked {
    std::string reason, kernel, sm, victim;
    std::uint64_t cycle = 0, tbs = 0, found = 0;
  };
  std::vector<Asked> asked;
  CsvTable decisions(Path("out/decisions.csv"), {});
  const auto decision = [&](const char* name) { return decisions.Column(name); };
  while (decisions.Next()) {
    EXPECT_EQ(decisions.Number(decision("id")), asked.size());
    Asked a{decisions.Text(decision("reason")), decisions.Text(decision("kernel")),
            decisions.Text(decision("sm")), decisions.Text(decision("victim"))};
    a.cycle = decisions.Number(decision("cycle"));
    if (a.reason == "preempt") a.tbs = decisions.Number(decision("victim_tbs"));
    asked.push_back(a);
  }
  struct Stay {
    std::string kernel, sm, preempted, replaced;
    std::uint64_t start, end;
  };
  std::vector<Stay> stays;
  CsvTable tbs(Path("out/tbs.csv"), {});
  const auto tb = [&](const char* name) { return tbs.Column(name); };
  while (tbs.Next()) {
    EXPECT_EQ(tbs.Number(tb("id")), stays.size());
    EXPECT_FALSE(tbs.IsEmpty(tb("dispatched_by")));
    const Asked& from = asked.at(tbs.Number(tb("dispatched_by")));
    EXPECT_EQ(from.reason == "dispatch-restored", tbs.Text(tb("restored")) == "1");
    EXPECT_EQ(tbs.IsEmpty(tb("preempted_by")), tbs.Text(tb("outcome")) != "saved");
    stays.push_back({tbs.Text(tb("kernel")), tbs.Text(tb("sm")), tbs.Text(tb("preempted_by")),
                     tbs.Text(tb("replaced_by")), tbs.Number(tb("start_cycle")),
                     tbs.Number(tb("end_cycle"))});
  }
  std::size_t saved = 0, replaced = 0;
  for (const Stay& stay : stays) {
    if (stay.preempted.empty()) continue;
    Asked& by = asked.at(std::stoul(stay.preempted));
    ++saved;
    EXPECT_EQ(by.reason, "preempt");
    EXPECT_EQ(by.victim, stay.kernel);
    EXPECT_EQ(by.sm, stay.sm);
    EXPECT_LT(by.cycle, stay.end);
    EXPECT_LE(++by.found, by.tbs) << "decision " << stay.preempted;
    if (stay.replaced.empty()) continue;
    const Stay& next = stays.at(std::stoul(stay.replaced));
    ++replaced;
    EXPECT_EQ(next.kernel, by.kernel);
    EXPECT_EQ(next.sm, stay.sm);
    EXPECT_GE(next.start, stay.end);
  }
  EXPECT_GT(saved, 30u);
  EXPECT_GT(replaced, saved * 9 / 10);
}

}  // namespace
}  // namespace smk::sim
