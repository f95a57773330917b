// SPDX-License-Identifier: Apache-2.0
// What the lists of counters and knobs name is in the database, in the column of its name.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "machine/statistics.h"
#include "run/results.h"
#include "sim/fake.h"
#include "sim/other_value.h"
#include "sim/scratch.h"
#include "sweep/schema.h"
#include "sweep/store.h"

namespace smk::sim {
namespace {

// A database with one isolated run in which every counter has a value of its own.
class Columns : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    run.options.kernels = "a";
    run.policy = "smk-pw";
    run.id = "0123456789abcdef";
    run.isolated = {run.id};
    run.options.machine = "gtx980";
    run.options.control = "reference";
    run.options.cycles = "1000";
    run.options.seed = "1";
    for (const Knob* knob : SettableKnobs()) {
      run.options.sets.push_back(knob->path + "=" + OtherValue(*knob));
    }
    loaded = LoadRun(run, FakeBackend());
    result = FakeResult(loaded.request);
    std::uint64_t next = 1000;
    for (const RunCounter& counter : RunCounters()) result.*counter.value = next++;
    for (const KernelCounter& counter : KernelCounters()) {
      result.kernels[0].*counter.value = next++;
    }
    for (std::uint64_t& cycles : result.kernels[0].stalls) cycles = next++;
    for (const SmCounter& counter : SmCounters()) (result.sms[3].*counter.value)[0] = next++;
    for (std::uint64_t& cycles : result.sms[3].scheduler_cycles) cycles = next++;
    for (std::uint64_t& cycles : result.sms[3].sim_stalls) cycles = next++;
    result.cycles = 900;
    result.measured_from = 200;
    result.measured_to = 500;
    result.late_reservations = 7;
    store = std::make_unique<SweepStore>(Path("db"), StoreOptions{true, true});
    store->StoreResult(run, loaded, result, "");
  }
  void TearDown() override {
    store.reset();
    ScratchTest::TearDown();
  }
  std::string Value(const std::string& column, const std::string& from) {
    return store->database().Text("SELECT " + column + " FROM " + from);
  }

  SweepRun run;
  LoadedRun loaded;
  RunResult result;
  std::unique_ptr<SweepStore> store;
};

TEST_F(Columns, HoldEveryCounter) {
  for (const RunCounter& c : RunCounters()) {
    EXPECT_EQ(Value(c.name, "runs"), std::to_string(result.*c.value)) << c.name;
  }
  for (const KernelCounter& c : KernelCounters()) {
    EXPECT_EQ(c.of_preemption != nullptr ? Value(c.of_preemption, "preemptions")
                                         : Value(c.name, c.of_unit ? "units" : "kernels"),
              std::to_string(result.kernels[0].*c.value))
        << c.name;
  }
  for (const SmCounter& c : SmCounters()) {
    EXPECT_EQ(Value(c.name, "sms WHERE sm = 3"), std::to_string((result.sms[3].*c.value)[0]))
        << c.name;
  }
  for (unsigned i = 0; i < kNumStalls; ++i) {
    EXPECT_EQ(Value(kStallNames[i], "stalls WHERE sm = 3"),
              std::to_string(result.sms[3].scheduler_cycles[i]));
  }
  for (unsigned i = 0; i < kNumSimStalls; ++i) {
    EXPECT_EQ(Value(kSimStalls[i].name, "stalls WHERE sm = 3"),
              std::to_string(result.sms[3].sim_stalls[i]));
  }
  for (const unsigned i : KernelStalls()) {
    EXPECT_EQ(Value(std::string("stall_") + kStallNames[i], "kernels"),
              std::to_string(result.kernels[0].stalls[i]));
  }
}

// The limit, what was run, and what was measured.
TEST_F(Columns, HoldTheLengthsOfTheRun) {
  EXPECT_EQ(Value("cycles || ' ' || run_cycles || ' ' || measured_cycles", "runs"), "1000 900 300");
  EXPECT_EQ(Value("late_reservations", "results"), "7");
}

TEST_F(Columns, HoldTheKnobsThatHaveOne) {
  for (const Knob& knob : Knobs()) {
    if (!knob.has_column) continue;
    const std::string value = OtherValue(knob);
    EXPECT_EQ(Value(knob.name(), "runs"), value == "true" ? "1" : value) << knob.path;
  }
}

// Also what nobody has set.
TEST_F(Columns, HoldEverySettingUnderItsKey) {
  for (const Knob* knob : SettableKnobs()) {
    EXPECT_EQ(Value("\"" + knob->path + "\"", "results"), OtherValue(*knob)) << knob->path;
  }
  std::size_t keys = 0;
  for (const auto& [key, value] : loaded.experiment.loaded_machine->leaves) {
    if (key == "name" || key == "sms") continue;
    ++keys;
    const std::string column = "\"" + key + "\"";
    EXPECT_EQ(
        Value(column + " = " +
                  (value.find_first_not_of("0123456789.") == std::string::npos ? value
                                                                               : "'" + value + "'"),
              "results"),
        "1")
        << key;
  }
  EXPECT_EQ(keys + SettableKnobs().size(), SettingColumns().size());
}

// As databases in the world have them: another column is another version of the schema.
TEST_F(Columns, StandInTheirOrder) {
  const auto names = [&](const std::string& table) {
    Statement columns(store->database(), "SELECT name FROM pragma_table_info('" + table + "')");
    std::string text;
    while (columns.Step()) text += (text.empty() ? "" : ",") + columns.Text(0);
    return text;
  };
  EXPECT_EQ(names("runs"),
            "run,status,workload,mix,policy,preempt,machine,control,cycles,run_cycles,"
            "measured_cycles,seed,settings,sms,schedulers,kernels_per_sm,epoch_length,latency_"
            "scale,ideal_preemption,grid_divisor,"
            "command,warp_instructions,dram_read_bytes,dram_write_bytes,late_reservations,"
            "dram_row_hits,dram_row_misses,checks,place_waits,place_wait_cycles,result_sha256,rows_"
            "sha256,wall_seconds,finished,host,version,"
            "model_version,executable_sha256,attempts,error,stderr");
  EXPECT_EQ(names("kernels"),
            "run,slot,name,type,isolated_run,arrival,cycles_present,warp_instructions,"
            "thread_instructions,tbs_completed,launches_completed,program_runs,l1_accesses,"
            "l1_hits,l2_accesses,l2_hits,dram_read_bytes,dram_write_bytes,stall_pipeline,"
            "stall_control,stall_data_memory,stall_data_short,stall_barrier,stall_quota,"
            "stall_preemption");
  EXPECT_EQ(names("sms"), "run,sm,slot,warp_instructions,tb_cycles,partition_tbs");
  EXPECT_EQ(names("stalls"),
            "run,sm,issued,pipeline,control,data_memory,data_short,barrier,quota,preemption,empty,"
            "sim_pipeline,sim_control,sim_data");
  EXPECT_EQ(names("preemptions"), "run,slot,count,restores,flushes,context_bytes,cycles");
  EXPECT_EQ(names("units"), "run,slot,alu_busy,sfu_busy,dp_busy,lsu_busy");
}

}  // namespace
}  // namespace smk::sim
