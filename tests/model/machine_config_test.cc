// SPDX-License-Identifier: Apache-2.0
#include "config/machine_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"

namespace smk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The message of the InputError, or "" when there is none.
std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    MachineConfig::Parse(text, "m.toml", overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Line number, from 1, of the line that starts with `start`, after the line `[table]`.
int LineOf(const std::string& text, const std::string& table, const std::string& start) {
  std::istringstream lines(text);
  std::string line;
  bool inside = table.empty();
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line == "[" + table + "]") inside = true;
    if (inside && line.compare(0, start.size(), start) == 0) return number;
  }
  return 0;
}

// A correct file, changed at one place: the line of `key` in `table` becomes `replacement`.
class MachineConfigErrors : public testing::Test {
 protected:
  void Replace(const std::string& table, const std::string& key, const std::string& replacement) {
    edited = ToToml(MachineConfig{});
    edited_line = LineOf(edited, table, key + " =");
    ASSERT_NE(edited_line, 0) << table << " " << key;
    std::istringstream lines(edited);
    std::string line, changed;
    for (int number = 1; std::getline(lines, line); ++number) {
      changed += (number == edited_line ? replacement : line) + "\n";
    }
    edited = changed;
  }
  std::string Message() const { return ErrorOf(edited); }
  std::string At() const { return "m.toml:" + std::to_string(edited_line) + ": "; }

  std::string edited;
  int edited_line = 0;
};

TEST(MachineConfigFiles, EveryShippedMachineLoads) {
  EXPECT_THAT(ListMachines(SMK_SOURCE_DIR),
              ElementsAre("c2050", "fermi", "fermi-gpgpusim", "gtx460", "gtx680", "gtx980",
                          "gtx980-accelsim", "gtx980-gpgpusim", "h100", "mini", "v100"));
  for (const std::string& name : ListMachines(SMK_SOURCE_DIR)) {
    const MachineConfig machine = MachineConfig::Load(FindMachine(name, SMK_SOURCE_DIR));
    EXPECT_EQ(machine.name, name);
  }
}

TEST(MachineConfigFiles, Gtx980IsTableFourOfSmk) {
  const MachineConfig m = MachineConfig::Load(FindMachine("gtx980", SMK_SOURCE_DIR));
  EXPECT_EQ(m.core_clock_mhz, 1216);
  EXPECT_EQ(m.sms, 16u);
  EXPECT_EQ(m.sm.limits, (ResourceVector{256, 384, 64, 32}));
  EXPECT_EQ(m.sm.schedulers, 4u);
  EXPECT_EQ(m.memory.controllers, 4u);
  const double bytes_per_second =
      m.memory.dram_clock_mhz * 1e6 * m.memory.dram_bytes_per_clock * m.memory.controllers;
  EXPECT_EQ(bytes_per_second, 224e9);
  EXPECT_EQ(m.memory.l2.bytes * m.memory.l2_slices_per_controller * m.memory.controllers, 2u << 20);
}

TEST(MachineConfigFiles, FermiIsTableOneOfWarpedSlicer) {
  const MachineConfig m = MachineConfig::Load(FindMachine("fermi", SMK_SOURCE_DIR));
  EXPECT_EQ(m.core_clock_mhz, 1400);
  EXPECT_EQ(m.sms, 16u);
  EXPECT_EQ(m.sm.limits, (ResourceVector{128, 192, 48, 8}));
  EXPECT_EQ(m.sm.schedulers, 2u);
  EXPECT_EQ(m.sm.warps_per_scheduler, 24u);
  EXPECT_EQ(m.sm.l1.bytes, 16u << 10);
  EXPECT_EQ(m.sm.l1.ways, 4u);
  EXPECT_EQ(m.sm.l1.mshrs, 64u);
  EXPECT_EQ(m.memory.controllers, 6u);
  EXPECT_EQ(m.memory.l2.bytes * m.memory.l2_slices_per_controller, 128u << 10);
  EXPECT_EQ(m.memory.l2.ways, 8u);
  EXPECT_EQ(m.memory.dram_clock_mhz, 924);
  EXPECT_EQ(m.memory.t_cl, 12u);
  EXPECT_EQ(m.memory.t_rp, 12u);
  EXPECT_EQ(m.memory.t_rc, 40u);
  EXPECT_EQ(m.memory.t_ras, 28u);
  EXPECT_EQ(m.memory.t_rcd, 12u);
  EXPECT_EQ(m.memory.t_rrd, 6u);
}

double DramBytesPerSecond(const MemoryConfig& memory) {
  return memory.dram_clock_mhz * 1e6 * memory.dram_bytes_per_clock * memory.controllers;
}

// Core cycles of a read of what is moved at least that hits the L2, and of one that finds its row
// closed: as the comment above [memory] of a machine file adds them up.
unsigned HitLatency(const MemoryConfig& m) {
  const unsigned packet = m.sector_bytes == kLineBytes ? kLineBytes : m.sector_bytes + 8;
  const unsigned reply = (packet + m.xbar_bytes_per_cycle - 1) / m.xbar_bytes_per_cycle;
  return 1 + 2 * m.xbar_latency + m.l2.latency + reply;
}
double MissLatency(const MachineConfig& machine) {
  const MemoryConfig& m = machine.memory;
  const double clocks =
      m.t_rcd + m.t_cl + static_cast<double>(m.sector_bytes) / m.dram_bytes_per_clock;
  return HitLatency(m) + m.dram_latency + clocks * machine.core_clock_mhz / m.dram_clock_mhz;
}

TEST(MachineConfigFiles, V100HasWhatItsWhitePaperAndMicrobenchmarksSay) {
  const MachineConfig m = MachineConfig::Load(FindMachine("v100", SMK_SOURCE_DIR));
  EXPECT_EQ(m.sms, 80u);
  EXPECT_EQ(m.sm.limits, (ResourceVector{256, 384, 64, 32}));
  EXPECT_NEAR(DramBytesPerSecond(m.memory), 900e9, 5e9);
  EXPECT_EQ(m.memory.l2.bytes * m.memory.l2_slices_per_controller * m.memory.controllers, 6u << 20);
  EXPECT_EQ(HitLatency(m.memory), 193u);
  EXPECT_NEAR(MissLatency(m), 375, 1);
}

TEST(MachineConfigFiles, H100HasWhatItsWhitePaperAndMicrobenchmarksSay) {
  const MachineConfig m = MachineConfig::Load(FindMachine("h100", SMK_SOURCE_DIR));
  EXPECT_EQ(m.sms, 132u);
  EXPECT_EQ(m.sm.limits, (ResourceVector{256, 912, 64, 32}));
  EXPECT_NEAR(DramBytesPerSecond(m.memory), 3350e9, 5e9);
  EXPECT_EQ(m.memory.l2.bytes * m.memory.l2_slices_per_controller * m.memory.controllers,
            50u << 20);
  EXPECT_EQ(HitLatency(m.memory), 263u);
  EXPECT_NEAR(MissLatency(m), 478.8, 1);
}

TEST(MachineConfigFiles, DefaultsAreThoseOfGtx980) {
  const MachineConfig m = MachineConfig::Load(FindMachine("gtx980", SMK_SOURCE_DIR));
  EXPECT_EQ(ToToml(m), ToToml(MachineConfig{}));
}

TEST(MachineConfigFiles, SmallIsAnEighthOfGtx980) {
  MachineConfig m = MachineConfig::Load(FindMachine("gtx980", SMK_SOURCE_DIR));
  m.name = "mini";
  m.sms /= 8;
  m.memory.controllers /= 4;
  m.memory.dram_bytes_per_clock /= 2;
  m.memory.l2.bytes /= 2;
  m.memory.l2.mshrs /= 2;
  EXPECT_EQ(ToToml(m), ToToml(MachineConfig::Load(FindMachine("mini", SMK_SOURCE_DIR))));
}

TEST(MachineConfigFiles, WrittenConfigurationReadsBackTheSame) {
  for (const std::string& name : ListMachines(SMK_SOURCE_DIR)) {
    MachineConfig machine = MachineConfig::Load(FindMachine(name, SMK_SOURCE_DIR));
    machine.core_clock_mhz = 1216.3;  // no short binary fraction
    machine.name = "a \"quoted\" \\ name";
    const std::string text = ToToml(machine);
    const MachineConfig again = MachineConfig::Parse(text, "echo");
    EXPECT_EQ(ToToml(again), text);
    EXPECT_EQ(again.core_clock_mhz, machine.core_clock_mhz);
    EXPECT_EQ(again.sm.limits, machine.sm.limits);
    EXPECT_EQ(again.name, machine.name);
  }
}

TEST(MachineConfigFiles, EveryKeyOfAFileHasAComment) {
  // In the key's line, or for a group of keys in the lines before its first.
  for (const std::string& name : ListMachines(SMK_SOURCE_DIR)) {
    std::istringstream lines(ReadAll(FindMachine(name, SMK_SOURCE_DIR)));
    std::string line;
    bool comment_above = false;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (line.empty()) comment_above = false;
      if (line[0] == '#') comment_above = true;
      if (line.find(" = ") == std::string::npos || line.compare(0, 4, "name") == 0) continue;
      EXPECT_TRUE(comment_above || line.find(" # ") != std::string::npos)
          << name << ":" << number << ": " << line;
    }
  }
}

// Registers of whole warps in multiples of four, or what the threads have together.
TEST(MachineConfigFiles, RegistersAreAllocatedAsTheMachineSays) {
  SmConfig sm;
  EXPECT_EQ(TbNeedOn(sm, 169, 18, 0), TbNeed(169, 18, 0));
  EXPECT_EQ(TbNeedOn(sm, 169, 18, 0).registers, 15u) << "6 warps x 32 x 20";
  sm.register_allocation = "threads";
  EXPECT_EQ(TbNeedOn(sm, 169, 18, 0).registers, 12u) << "169 x 18, in units of 256";
  EXPECT_EQ(TbNeedOn(sm, 128, 30, 512).registers, 15u);
  EXPECT_EQ(TbNeedOn(sm, 128, 30, 512).shared_memory, 2u);
  EXPECT_EQ(TbNeedOn(sm, 120, 36, 0).threads, 4u) << "warps are whole in any case";
}

TEST(MachineConfigFiles, UnknownMachineNamesTheKnownOnes) {
  try {
    FindMachine("volta", SMK_SOURCE_DIR);
    FAIL() << "found";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("expected one of c2050, fermi, fermi-gpgpusim, gtx460, gtx680, "
                          "gtx980, gtx980-accelsim, gtx980-gpgpusim, h100, mini, v100"));
    EXPECT_THAT(error.what(), HasSubstr("got volta"));
  }
}

TEST(MachineConfigFiles, PathsAreTakenAsTheyAre) {
  const std::string path = FindMachine("mini", SMK_SOURCE_DIR);
  EXPECT_EQ(FindMachine(path, "nowhere"), path);
  EXPECT_THROW(FindMachine("./absent.toml", SMK_SOURCE_DIR), InputError);
  EXPECT_THROW(MachineConfig::Load("./absent.toml"), InputError);
}

TEST_F(MachineConfigErrors, UnknownMemoryModelNamesThoseThereAre) {
  Replace("memory", "model", "model = \"hbm\"");
  EXPECT_EQ(Message(), At() + "memory.model: expected one of gddr, fixed, got 'hbm'");
  Replace("memory", "model", "model = 3");
  EXPECT_EQ(Message(), At() + "memory.model: expected one of gddr, fixed, got 3");
  const std::string good = ToToml(MachineConfig{});
  EXPECT_EQ(ErrorOf(good, {"memory.model=fixed"}), "");
  EXPECT_EQ(ErrorOf(good, {"memory.model=hbm"}),
            "--set memory.model: expected one of gddr, fixed, got hbm");
}

TEST_F(MachineConfigErrors, CorrectFileHasNone) {
  Replace("sm.l1", "bytes", "bytes = 49152");
  EXPECT_EQ(Message(), "");
}

TEST_F(MachineConfigErrors, SyntaxErrorNamesItsLine) {
  Replace("sm.l1", "bytes", "bytes = = 3");
  EXPECT_THAT(Message(), HasSubstr(At() + "expected TOML, got: "));
}

TEST_F(MachineConfigErrors, UnknownKeyNamesItsNeighbours) {
  Replace("sm.l1", "bytes", "byte = 49152");
  EXPECT_EQ(Message(), At() +
                           "sm.l1.byte: expected one of bytes, latency, mshr_merges, mshrs, ways, "
                           "got an unknown key");
}

TEST_F(MachineConfigErrors, UnknownTableNamesItsNeighbours) {
  edited = ToToml(MachineConfig{}) + "[sm.l3]\nbytes = 1\n";
  EXPECT_THAT(Message(), HasSubstr("sm.l3: expected one of alu, barrier_latency"));
}

TEST_F(MachineConfigErrors, MissingKeyNamesTheLineOfItsTable) {
  Replace("sm.l1", "ways", "");
  edited_line = LineOf(edited, "sm.l1", "[sm.l1]");
  EXPECT_EQ(Message(), At() + "sm.l1.ways: expected an integer from 1 to 64, got nothing");
}

TEST_F(MachineConfigErrors, MissingTableNamesTheLineOfItsOwner) {
  EXPECT_EQ(ErrorOf(""), "m.toml:1: name: expected a text that is not empty, got nothing");
}

TEST_F(MachineConfigErrors, WrongTypesAreRefused) {
  Replace("sm.l1", "ways", "ways = \"four\"");
  EXPECT_EQ(Message(), At() + "sm.l1.ways: expected an integer from 1 to 64, got 'four'");
  Replace("sm.l1", "ways", "ways = 4.0");
  EXPECT_THAT(Message(), HasSubstr(At() + "sm.l1.ways: expected an integer from 1 to 64, got 4"));
  Replace("sm.l1", "ways", "ways = [4]");
  EXPECT_EQ(Message(), At() + "sm.l1.ways: expected an integer from 1 to 64, got an array");
  Replace("sm.l1", "ways", "ways.of = 4");
  EXPECT_EQ(Message(), At() + "sm.l1.ways: expected an integer from 1 to 64, got a table");
  Replace("", "name", "name = 7");
  EXPECT_EQ(Message(), At() + "name: expected a text that is not empty, got 7");
  Replace("", "sms", "sms = 16\nsm = 3");
  EXPECT_THAT(Message(),
              testing::AnyOf(HasSubstr("sm: expected a table, got 3"), HasSubstr("expected TOML")));
}

TEST_F(MachineConfigErrors, AbsurdValuesAreRefused) {
  Replace("", "sms", "sms = 133");
  EXPECT_EQ(Message(), At() + "sms: expected an integer from 1 to 132, got 133");
  Replace("", "sms", "sms = -1");
  EXPECT_EQ(Message(), At() + "sms: expected an integer from 1 to 132, got -1");
  Replace("", "core_clock_mhz", "core_clock_mhz = nan");
  EXPECT_THAT(Message(), HasSubstr("core_clock_mhz: expected a number from 10 to 10000"));
  Replace("memory", "t_rrd", "t_rrd = 0");
  EXPECT_EQ(Message(), At() + "memory.t_rrd: expected an integer from 1 to 64, got 0");
}

TEST_F(MachineConfigErrors, LimitsAreMultiplesOfTheirUnits) {
  Replace("sm.limits", "registers", "registers = 65537");
  EXPECT_EQ(
      Message(),
      At() + "sm.limits.registers: expected a multiple of 256 from 256 to 1048576, got 65537");
  Replace("sm.limits", "threads", "threads = 2000");
  EXPECT_EQ(Message(),
            At() + "sm.limits.threads: expected a multiple of 32 from 32 to 2048, got 2000");
}

TEST_F(MachineConfigErrors, PowersOfTwoArePowersOfTwo) {
  Replace("memory", "banks", "banks = 12");
  EXPECT_EQ(Message(), At() + "memory.banks: expected a power of two from 1 to 64, got 12");
  Replace("sm", "fetch_warps", "fetch_warps = 3");
  EXPECT_EQ(Message(), At() + "sm.fetch_warps: expected a power of two from 1 to 8, got 3");
  Replace("memory.l2", "ways", "ways = 6");
  edited_line = LineOf(edited, "memory.l2", "bytes");
  EXPECT_EQ(Message(),
            At() + "memory.l2.bytes: expected a multiple of ways x 128 = 768, got 524288");
  Replace("memory.l2", "bytes", "bytes = 196608");
  EXPECT_EQ(Message(),
            At() + "memory.l2.bytes: expected a power of two of ways x 128 = 2048, got 196608");
}

TEST_F(MachineConfigErrors, KeysThatContradictEachOtherAreRefused) {
  Replace("sm", "warps_per_scheduler", "warps_per_scheduler = 8");
  edited_line = LineOf(edited, "sm.limits", "threads");
  EXPECT_EQ(Message(), At() +
                           "sm.limits.threads: expected at most schedulers x warps_per_scheduler x "
                           "32 = 1024, got 2048");
  Replace("sm", "warps_per_scheduler", "warps_per_scheduler = 17");
  EXPECT_EQ(
      Message(),
      At() + "sm.warps_per_scheduler: expected at most 16 with more than 2 schedulers, got 17");
  Replace("sm", "warps_per_scheduler", "warps_per_scheduler = 33");
  EXPECT_EQ(Message(), At() + "sm.warps_per_scheduler: expected an integer from 1 to 32, got 33");
  Replace("memory", "t_rc", "t_rc = 27");
  EXPECT_EQ(Message(), At() + "memory.t_rc: expected at least t_ras = 28, got 27");
  Replace("memory", "t_rc", "t_rc = 40");
  Replace("memory", "xbar_order", "xbar_order = \"turns\"");
  edited_line = LineOf(edited, "sm.l1", "bytes");
  EXPECT_EQ(Message(), At() + "sm.l1.bytes: expected 0 with memory.xbar_order = turns, got 16384");
  Replace("memory", "l2_write_miss", "l2_write_miss = \"fetch\"");
  edited.replace(edited.find("sector_bytes = 128"), 18, "sector_bytes = 32");
  edited_line = LineOf(edited, "memory", "sector_bytes");
  EXPECT_EQ(Message(),
            At() + "memory.sector_bytes: expected 128 with memory.l2_write_miss = fetch, got 32");
}

// There is nothing between a sector and a whole line: 64 would be taken for 32.
TEST_F(MachineConfigErrors, ASectorIs32BytesOrALine) {
  for (const char* other : {"64", "96", "16", "256"}) {
    Replace("memory", "sector_bytes", std::string("sector_bytes = ") + other);
    EXPECT_EQ(Message(), At() + "memory.sector_bytes: expected one of 32, 128, got " + other);
  }
  const std::string text = ToToml(MachineConfig{});
  EXPECT_EQ(ErrorOf(text, {"memory.sector_bytes=32"}), "");
  EXPECT_EQ(ErrorOf(text, {"memory.sector_bytes=128"}), "");
}

// Like those of any other cache, the sets of the texture cache are whole.
TEST_F(MachineConfigErrors, ATextureCacheHasWholeSets) {
  const std::string text = ToToml(MachineConfig{});
  EXPECT_EQ(ErrorOf(text, {"sm.texture.bytes=1024"}),
            "--set sm.texture.bytes: expected a multiple of ways x 128 = 2048, got 1024");
  EXPECT_EQ(ErrorOf(text, {"sm.texture.bytes=3072"}),
            "--set sm.texture.bytes: expected a multiple of ways x 128 = 2048, got 3072");
  EXPECT_EQ(ErrorOf(text, {"sm.texture.bytes=6144"}), "");
  EXPECT_EQ(ErrorOf(text, {"sm.texture.bytes=0"}), "");
}

TEST(MachineConfigOverrides, ChangeWhatTheyName) {
  const MachineConfig m = MachineConfig::Parse(
      ToToml(MachineConfig{}), "m.toml",
      {"sm.l1.bytes=49152", "core_clock_mhz=1000.5", "name=mine", "sm.limits.threads=1024"});
  EXPECT_EQ(m.sm.l1.bytes, 49152u);
  EXPECT_EQ(m.core_clock_mhz, 1000.5);
  EXPECT_EQ(m.name, "mine");
  EXPECT_EQ(m.sm.limits.threads, 32u);
}

TEST(MachineConfigOverrides, PassTheSameChecks) {
  const std::string text = ToToml(MachineConfig{});
  EXPECT_EQ(ErrorOf(text, {"sm.l1.ways=0"}),
            "--set sm.l1.ways: expected an integer from 1 to 64, got 0");
  EXPECT_EQ(ErrorOf(text, {"sm.l1.ways=6x"}),
            "--set sm.l1.ways: expected an integer from 1 to 64, got 6x");
  EXPECT_EQ(ErrorOf(text, {"sm.l1.ways="}),
            "--set sm.l1.ways: expected an integer from 1 to 64, got nothing");
  EXPECT_EQ(ErrorOf(text, {"sm.l1.bytes=25344"}),
            "--set sm.l1.bytes: expected a multiple of ways x 128 = 512, got 25344");
  EXPECT_EQ(ErrorOf(text, {"sm.l1.bytes=25344", "sm.l1.ways=6"}), "");
  EXPECT_EQ(ErrorOf(text, {"sm.l1.way=4"}),
            "--set sm.l1.way: expected one of bytes, latency, mshr_merges, mshrs, ways, got an "
            "unknown key");
  EXPECT_EQ(ErrorOf(text, {"sm.l1.ways"}), "--set sm.l1.ways: expected key=value, got no '='");
}

}  // namespace
}  // namespace smk
