// SPDX-License-Identifier: Apache-2.0
// Traces of every version and address mode are read as the format says.
#include <gmock/gmock.h>

#include "trace/opcodes.h"
#include "trace/rig.h"
#include "workload/trace_stream.h"

namespace smk {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kBase = 0x7f3000000000 & ((std::uint64_t{1} << kTraceMemoryBits) - 1);

class TraceRead : public TraceFolder {
 protected:
  // What one instruction, between two others, becomes. `binary` is the compute capability.
  TraceStep Step(const std::string& instruction, const std::string& binary = "61") {
    const TraceSet set = LoadText(TraceText::OneWarp(
        {"0008 ffffffff 1 R0 MOV 0 0 ", "0010 " + instruction, "0018 ffffffff 0 EXIT 0 0 "},
        binary));
    return WalkTrace(set.streams[0]->kernels[0], 0, 0).at(1);
  }
};

TEST_F(TraceRead, ResourcesComeFromTheHeader) {
  const TraceSet set = LoadText({});
  ASSERT_EQ(set.streams.size(), 1u);
  EXPECT_EQ(set.streams[0]->name, "t");
  const KernelSpec& kernel = set.streams[0]->kernels[0];
  EXPECT_EQ(kernel.name, "_Z4testPf");
  EXPECT_EQ(kernel.threads, 40u);
  EXPECT_EQ(kernel.registers_per_thread, 16u);
  EXPECT_EQ(kernel.shared_memory, 256u);
  EXPECT_EQ(kernel.tb_count(), 2u);
  EXPECT_EQ(kernel.need, TbNeed(40, 16, 256));
  EXPECT_EQ(kernel.idempotence, Idempotence::kNo);
  EXPECT_EQ(set.kernels[0].counts.warp_instructions, 30u);
  EXPECT_EQ(set.kernels[0].counts.thread_instructions, 2u * (7 * 32 + 5 * 8 + 2 + 2));
}

TEST_F(TraceRead, InstructionsAndLinesInOrder) {
  const TraceSet set = LoadText({});
  const KernelSpec& kernel = set.streams[0]->kernels[0];
  const auto first = WalkTrace(kernel, 1, 0);
  ASSERT_EQ(first.size(), 7u);
  EXPECT_EQ(first[0].op, OpClass::kAlu);
  EXPECT_EQ(first[1].op, OpClass::kLoadGlobal);
  EXPECT_THAT(first[1].lines, ElementsAre(kBase));
  EXPECT_EQ(first[2].op, OpClass::kStoreShared);
  EXPECT_EQ(first[3].op, OpClass::kBarrier);
  EXPECT_EQ(first[4].op, OpClass::kLoadShared);
  EXPECT_EQ(first[4].conflicts, 1u) << "one address for all lanes";
  EXPECT_EQ(first[5].dst, 6u);
  EXPECT_EQ(first[6].op, OpClass::kExit);
  const auto second = WalkTrace(kernel, 0, 1);
  ASSERT_EQ(second.size(), 8u);
  EXPECT_THAT(second[1].lines, ElementsAre(kBase + 0x80));
  EXPECT_EQ(second[4].op, OpClass::kAlu) << "all lanes are off";
  EXPECT_EQ(second[4].dst, kNoRegister);
  EXPECT_THAT(second[5].lines, ElementsAre(kBase + 0x100, kBase + 0x1100));
  EXPECT_THAT(second[6].lines, ElementsAre(kBase + 0x200, kBase + 0x2200));
}

TEST_F(TraceRead, PlacesInTheCodeLeaveOutControlWords) {
  TraceSet set = LoadText({});
  std::vector<unsigned> places;
  for (const TraceStep& step : WalkTrace(set.streams[0]->kernels[0], 0, 0)) {
    places.push_back(step.place);
  }
  EXPECT_THAT(places, ElementsAre(0, 1, 2, 3, 4, 5, 6)) << "Pascal: the first word of four";
  set = LoadText(TraceText::OneWarp(
      {"0000 ffffffff 0 MOV 0 0 ", "0010 ffffffff 0 MOV 0 0 ", "0040 ffffffff 0 EXIT 0 0 "}, "75"));
  EXPECT_EQ(WalkTrace(set.streams[0]->kernels[0], 0, 0)[2].place, 4u) << "Volta: 16 bytes";
  set = LoadText(TraceText::OneWarp(
      {"0008 ffffffff 0 MOV 0 0 ", "0038 ffffffff 0 MOV 0 0 ", "0048 ffffffff 0 EXIT 0 0 "}, "35"));
  EXPECT_EQ(WalkTrace(set.streams[0]->kernels[0], 0, 0)[2].place, 7u) << "Kepler: one of eight";
  set = LoadText(TraceText::OneWarp(
      {"0018 ffffffff 0 MOV 0 0 ", "0020 ffffffff 0 MOV 0 0 ", "0028 ffffffff 0 EXIT 0 0 "}));
  EXPECT_EQ(WalkTrace(set.streams[0]->kernels[0], 0, 0)[2].place, 5u) << "no word is left out";
}

TEST_F(TraceRead, AddressModes) {
  const auto lines = [this](const std::string& rest) { return Step(rest).lines; };
  EXPECT_THAT(lines("ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 -4 0"), ElementsAre(0x1000, 0xf80))
      << "lines come in the order of the lanes";
  EXPECT_THAT(lines("00000003 1 R4 LDG.E 1 R2 4 0 0x2000 0x1000 0"), ElementsAre(0x2000, 0x1000));
  EXPECT_THAT(lines("00000007 1 R4 LDG.E 1 R2 4 2 0x1000 256 -512 0"),
              ElementsAre(0x1000, 0x1100, 0xf00));
  EXPECT_THAT(lines("80000000 1 R4 LDG.E 1 R2 4 2 0x1000 0"), ElementsAre(0x1000));
  EXPECT_THAT(lines("80000000 1 R4 LDG.E 1 R2 4 2 0x1000"), ElementsAre(0x1000))
      << "no immediate, as versions before 5";
  EXPECT_THAT(lines("0000ffff 1 R4 LDG.E.128 1 R2 16 1 0x1078 16 0"),
              ElementsAre(0x1000, 0x1080, 0x1100))
      << "16 bytes of a lane may be in two lines";
  EXPECT_EQ(lines("ffffffff 1 R4 LDG.E 1 R2 4 1 0x0 40960 0").size(), 32u);
  EXPECT_THAT(lines("00000001 1 R4 LDG.E.64 1 R2 8 1 0xfffffffffffffffc 0 0"),
              ElementsAre(0xfffffff80, 0x0))
      << "beyond the last address comes the first";
  EXPECT_EQ(lines("00000001 1 R4 LDL.64 1 R2 8 1 0xfffffffffffffffc 0 0").size(), 2u);
}

TEST_F(TraceRead, OlderVersions) {
  TraceText text = TraceText::OneWarp(
      {"0 0 0 0 0008 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4 ", "0 0 0 0 0010 ffffffff 0 EXIT 0 0 "});
  for (const char* key : {"shmem base_addr", "local mem base_addr", "accelsim tracer version",
                          "enable lineinfo", "nvbit version"}) {
    text.Erase(key);
  }
  EXPECT_EQ(WalkTrace(LoadText(text).streams[0]->kernels[0], 0, 0)[0].op, OpClass::kLoadGlobal);
  text = TraceText::OneWarp(
      {"17 0008 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4 ", "18 0010 ffffffff 0 EXIT 0 0 "});
  text.Set("accelsim tracer version", "4");
  text.Set("enable lineinfo", "1");
  EXPECT_EQ(WalkTrace(LoadText(text).streams[0]->kernels[0], 0, 0).size(), 2u);
}

TEST_F(TraceRead, ClassesOfOpcodes) {
  const auto op = [this](const std::string& opcode, const std::string& binary = "61") {
    return Step("ffffffff 1 R4 " + opcode + " 1 R2 0 0", binary).op;
  };
  EXPECT_EQ(op("FFMA.FTZ"), OpClass::kAlu);
  EXPECT_EQ(op("XMAD.PSL.CBCC"), OpClass::kAlu);
  EXPECT_EQ(op("IMAD", "61"), OpClass::kImul);
  EXPECT_EQ(op("IMAD.WIDE", "80"), OpClass::kAlu);
  EXPECT_EQ(op("MUFU.RCP"), OpClass::kSfu);
  EXPECT_EQ(op("HMMA.16816.F32", "80"), OpClass::kSfu);
  EXPECT_EQ(op("DFMA"), OpClass::kDp);
  EXPECT_EQ(op("ULDC.64", "80"), OpClass::kLoadConst);
  EXPECT_EQ(op("BSYNC", "70"), OpClass::kBranch);
  EXPECT_EQ(op("TEX"), OpClass::kSfu) << "without addresses";
  EXPECT_EQ(op("LDG.E"), OpClass::kAlu) << "without addresses";
  EXPECT_EQ(op("EXIT"), OpClass::kBranch) << "not the last: some lanes leave";
  EXPECT_EQ(Step("00000000 0 BAR.SYNC 0 0 0").op, OpClass::kAlu) << "all lanes are off";
  EXPECT_EQ(Step("ffffffff 0 RED.E.ADD 2 R2 R4 4 1 0x1000 4 0").op, OpClass::kAtomicGlobal);
  EXPECT_EQ(Step("ffffffff 1 R4 ATOMS.ADD 1 R2 4 1 0x0 0 0").conflicts, 32u);
  EXPECT_EQ(Step("ffffffff 1 R4 LD.E 1 R2 4 1 0x1000 4 0", "35").op, OpClass::kLoadGlobal);
}

TEST_F(TraceRead, GenericAddressesByTheirWindow) {
  EXPECT_EQ(Step("ffffffff 1 R4 LD.E 1 R2 4 1 0x7f2000000100 4 0").op, OpClass::kLoadShared);
  EXPECT_EQ(Step("ffffffff 1 R4 LD.E 1 R2 4 1 0x7f3000000100 4 0").op, OpClass::kLoadGlobal);
  EXPECT_EQ(Step("ffffffff 0 ST.E 1 R2 4 1 0x7f2001fffc00 0 0").lines.size(), 1u)
      << "local memory: one word of 32 threads is one line";
}

TEST_F(TraceRead, BankConflicts) {
  const auto passes = [this](const std::string& rest) { return Step(rest).conflicts; };
  EXPECT_EQ(passes("ffffffff 1 R4 LDS 1 R2 4 1 0x0 4 0"), 1u);
  EXPECT_EQ(passes("ffffffff 1 R4 LDS 1 R2 4 1 0x0 8 0"), 2u);
  EXPECT_EQ(passes("ffffffff 1 R4 LDS 1 R2 4 1 0x0 128 0"), 32u);
  EXPECT_EQ(passes("ffffffff 1 R4 LDS 1 R2 4 1 0x0 132 0"), 1u);
  EXPECT_EQ(passes("ffffffff 1 R4 LDS.64 1 R2 8 1 0x0 8 0"), 2u) << "64 words";
  EXPECT_EQ(passes("ffffffff 1 R4 LDS.128 1 R2 16 1 0x0 16 0"), 4u) << "128 words";
  EXPECT_EQ(passes("ffffffff 1 R4 LDS.128 1 R2 16 1 0x0 0 0"), 1u) << "all read the same";
  EXPECT_EQ(passes("ffff0000 1 R4 LDS.64 1 R2 8 1 0x0 8 0"), 1u) << "one half is off";
}

TEST_F(TraceRead, AWarpWithoutExitGetsOne) {
  const TraceSet set = LoadText(TraceText::OneWarp({"0008 ffffffff 0 MOV 0 0 "}));
  const auto steps = WalkTrace(set.streams[0]->kernels[0], 0, 0);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].op, OpClass::kExit);
  EXPECT_EQ(steps[1].place, steps[0].place + 1);
}

TEST_F(TraceRead, AWarpWithoutInstructionsOnlyExits) {
  TraceText text;
  text.warps[0].clear();
  const TraceSet set = LoadText(text);
  const auto steps = WalkTrace(set.streams[0]->kernels[0], 0, 0);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].op, OpClass::kExit);
  EXPECT_EQ(WalkTrace(set.streams[0]->kernels[0], 1, 1).size(), 8u) << "the other warp";
  text.warps[1].clear();
  EXPECT_EQ(WalkTrace(LoadText(text).streams[0]->kernels[0], 1, 1).size(), 1u) << "no other";
}

TEST_F(TraceRead, LoopsRepeatTheirRuns) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) {
    lines.push_back("0008 ffffffff 1 R4 LDG.E 1 R2 4 1 0x" + std::to_string(1000 + i) + "00 4 0");
    lines.push_back("0010 ffffffff 1 R0 IADD 1 R4 0 0");
    lines.push_back("0018 ffffffff 0 BRA 0 0 0");
  }
  lines.push_back("0028 ffffffff 0 EXIT 0 0 0");
  const TraceSet set = LoadText(TraceText::OneWarp(lines));
  EXPECT_EQ(set.kernels[0].instructions, 4u);
  const auto steps = WalkTrace(set.streams[0]->kernels[0], 0, 0);
  ASSERT_EQ(steps.size(), 301u);
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(steps[3 * i].lines.at(0),
              (std::stoull(std::to_string(1000 + i) + "00", nullptr, 16)) & ~std::uint64_t{127});
    EXPECT_EQ(steps[3 * i + 2].op, OpClass::kBranch);
  }
}

TEST_F(TraceRead, StreamsAreProgramsOfTheirOwn) {
  TraceText text;
  const char* const streams[] = {"7", "140737488355328", "7"};
  std::string list;
  for (unsigned i = 0; i < 3; ++i) {
    text.Set("cuda stream id", streams[i]);
    const std::string name = "kernel-" + std::to_string(i + 1) + "-ctx_0x55e3a796e730.traceg";
    Write(name, text.Text());
    list += name + "\nMemcpyDtoH,0x7f3000000000,512\n\n";
  }
  Write("kernelslist.g", list);
  const TraceSet set = Load();
  ASSERT_EQ(set.streams.size(), 2u);
  EXPECT_EQ(set.streams[0]->name, "t:1");
  EXPECT_EQ(set.streams[0]->launches.size(), 2u);
  EXPECT_EQ(set.streams[1]->launches.size(), 1u);
}

TEST_F(TraceRead, UnknownOpcodesAreNamedOnce) {
  WriteTrace(TraceText::OneWarp({"0008 ffffffff 1 R0 FROB.X 0 0 ", "0010 ffffffff 1 R0 FROB 0 0 ",
                                 "0018 ffffffff 1 R0 NICATE 1 R2 4 1 0x1000 4 0",
                                 "0028 ffffffff 0 EXIT 0 0 "}));
  for (int i = 0; i < 2; ++i) {
    const TraceSet set = Load();
    EXPECT_EQ(set.from_cache, i == 1);
    EXPECT_THAT(set.warning, testing::HasSubstr("3 warp instructions of 2 unknown opcodes (FROB, "
                                                "NICATE) are run as alu"));
    const auto steps = WalkTrace(set.streams[0]->kernels[0], 0, 0);
    EXPECT_EQ(steps[0].op, OpClass::kAlu);
    EXPECT_EQ(steps[2].op, OpClass::kLoadGlobal);
    EXPECT_THROW(Load(true), InputError) << "from the cache too";
  }
}

TEST_F(TraceRead, NoControlCharactersOfAnOpcodeAreShown) {
  WriteTrace(TraceText::OneWarp({"0008 ffffffff 1 R0 FR\x1b[31mB.X 0 0 "}));
  EXPECT_THAT(Load().warning, testing::HasSubstr("(FR?[31mB)"));
  try {
    Load(true);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(": FR?[31mB: expected"));
  }
}

}  // namespace
}  // namespace smk
