// SPDX-License-Identifier: Apache-2.0
// smk validate: traces beside the cycles that are expected of them.
#include <fmt/format.h>

#include "sim/command.h"

namespace smk {
namespace {

class Validate : public CommandTest {
 protected:
  // Two traces of our own, v/a/one and v/two, and what they take.
  void SetUp() override {
    CommandTest::SetUp();
    WriteTiny("tiny.toml");
    ASSERT_EQ(Smk("trace export tiny.toml --tbs 2 --out v/a/one").status, 0);
    ASSERT_EQ(Smk("trace export tiny.toml --tbs 9 --out v/two").status, 0);
    one = CyclesOf("v/a/one");
    two = CyclesOf("v/two");
  }
  // From tbs.csv of a run of its own.
  std::uint64_t CyclesOf(const std::string& trace) const {
    Stats("trace:" + trace + " --machine gtx980-accelsim --policy isolated");
    std::istringstream in(Read("stats/tbs.csv"));
    std::uint64_t last = 0;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream cells(line);
      std::string cell;
      for (int i = 0; i < 8; ++i) std::getline(cells, cell, ',');
      last = std::max<std::uint64_t>(last, std::stoull(cell));
    }
    EXPECT_GT(last, 0u);
    return last;
  }
  void WriteExpected(std::uint64_t one, std::uint64_t two) const {
    Write("v/expected.csv", fmt::format("trace,accelsim_cycles\na/one,{}\ntwo,{}\n", one, two));
  }
  void Refuses(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Smk("validate " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << '\n' << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  std::uint64_t one = 0, two = 0;
};

TEST_F(Validate, SaysTheErrorOfEachTrace) {
  WriteExpected(one * 2, two);
  const Outcome outcome = Smk("validate v --csv v.csv --json v.json");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.LastLine(), "PASS");
  for (const char* part : {"machine gtx980-accelsim", "-50.0 %", "+0.0 %", "2 traces",
                           "mean of |error| 25.0 %", "worst -50.0 % a/one"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << '\n' << outcome.out;
  }
  EXPECT_EQ(Read("v.csv"), fmt::format("trace,expected_cycles,cycles,error\n"
                                       "a/one,{},{},-0.500000\ntwo,{},{},0.000000\n",
                                       one * 2, one, two, two));
  const auto j = Json("v.json");
  EXPECT_EQ(j["machine"], "gtx980-accelsim");
  EXPECT_EQ(j["traces"].size(), 2u);
  EXPECT_EQ(j["traces"][0]["trace"], "a/one");
  EXPECT_EQ(j["traces"][0]["cycles"], one);
  EXPECT_DOUBLE_EQ(j["mean_error"], 0.25);
  EXPECT_EQ(j["worst"]["trace"], "a/one");
  EXPECT_EQ(Smk("validate v --jobs 1 --json one.json --quiet").out, "PASS\n");
  EXPECT_EQ(Read("one.json"), Read("v.json")) << "however many run at a time";
}

TEST_F(Validate, WithinFailsWhenOneIsOffByMore) {
  WriteExpected(one * 100, two * 80);  // -99 %, -98.75 %
  EXPECT_EQ(Smk("validate v --within 99").status, 0) << "exactly 99 per cent are within 99";
  const Outcome off = Smk("validate v --within 98.9");
  EXPECT_EQ(off.status, 1);
  EXPECT_EQ(off.LastLine(), "FAIL: 1 of 2 traces are off by more than 98.9 %");
  EXPECT_EQ(Smk("validate v --within 1 --quiet").out,
            "FAIL: 2 of 2 traces are off by more than 1 %\n");
  Refuses("v --within ten", "--within: expected a number of per cent, got 'ten'");
  Refuses("v --within -1", "--within");
}

TEST_F(Validate, OptionsChooseTracesAndMachine) {
  WriteExpected(one, two);
  const Outcome only = Smk("validate v --only a/");
  EXPECT_NE(only.out.find("1 traces"), std::string::npos) << only.out;
  EXPECT_EQ(only.out.find("two"), std::string::npos) << only.out;
  EXPECT_EQ(Smk("validate v --within 0").status, 0);
  EXPECT_EQ(Smk("validate v --within 0 --set sm.alu.latency=40").status, 1);
  EXPECT_EQ(Smk("validate v --within 0 --machine gtx980").status, 1);
  Refuses("v --only b", "expected at least one trace that --only lets through");
}

TEST_F(Validate, RefusesWhatItCannotRun) {
  Refuses("v", "v/expected.csv");
  Write("v/expected.csv", "trace,cycles\ntwo,3\n");
  Refuses("v", "no column 'accelsim_cycles'");
  Write("v/expected.csv", "trace,accelsim_cycles\ntwo,many\n");
  Refuses("v", "v/expected.csv:2: accelsim_cycles: expected a whole number, got 'many'");
  Write("v/expected.csv", "trace,accelsim_cycles\ntwo,0\n");
  Refuses("v", "two: expected a number of cycles, got 0");
  Write("v/expected.csv", "trace,accelsim_cycles\n");
  Refuses("v", "expected at least one trace");
  Write("v/expected.csv", "trace,accelsim_cycles\nthree,9\n");
  Refuses("v", "v/three: expected a folder with a kernelslist.g");
  WriteExpected(one, two);
  Refuses("v --machine nothing", "nothing");
  Refuses("v --csv v/none/x.csv", "--csv v/none/x.csv: No such file or directory");
  Refuses("v --json v/none/x.json", "--json v/none/x.json: No such file or directory");
  Refuses("v --csv x --json x", "--json: expected another file than --csv");
  Refuses("v --set policy.stream=false",
          "--set policy.stream=false: expected a key of the machine");
  const Outcome longer = Smk("validate v --cycles 100");
  EXPECT_EQ(longer.status, 1);
  EXPECT_NE(longer.LastLine().find("has not ended in 100 cycles"), std::string::npos) << longer.out;
}

}  // namespace
}  // namespace smk
