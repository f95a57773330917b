// SPDX-License-Identifier: Apache-2.0
// What tb/<block>/wave.toml says, and reading a waveform back.
#include "waves/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gtkwave/fstapi.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace smk {
namespace {

using testing::HasSubstr;

// A folder of this process, removed at the end of the test.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "smk_waves_" + std::to_string(getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ErrorOf(const std::string& toml) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() + "/x");
  std::ofstream(folder.path() + "/x/wave.toml") << toml;
  try {
    ReadWaveView(folder.path(), "x");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(WaveViews, EveryDescriptionCanBeRead) {
  unsigned read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SMK_WAVES_DIR)) {
    if (!std::filesystem::exists(entry.path() / "wave.toml")) continue;
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(ReadWaveView(SMK_WAVES_DIR, name, {{"sm", "3"}}).groups.empty()) << name;
    ++read;
  }
  EXPECT_GE(read, 10u);
}

TEST(WaveViews, ErrorsNameFileLineAndWord) {
  EXPECT_THAT(ErrorOf("[[group]]\nname = \"A\"\nkolor = \"red\"\n"),
              HasSubstr("x/wave.toml:3: unknown key 'kolor'"));
  EXPECT_THAT(ErrorOf("[[group]]\nname = \"A\"\nsignals = [\"a_q | | octal\"]\n"),
              HasSubstr("x/wave.toml:3: unknown word 'octal'"));
  EXPECT_THAT(ErrorOf("[[group]]\nsignals = [\"a_q\"]\n"), HasSubstr("a group needs a name"));
  EXPECT_THAT(ErrorOf("[[group]\n"), HasSubstr("x/wave.toml:1: "));
}

TEST(WaveViews, RunShowsTheSmThatIsAskedFor) {
  const WaveView view = ReadWaveView(SMK_WAVES_DIR, "top", {{"sm", "3"}});
  ASSERT_TRUE(view.marker.has_value());
  EXPECT_EQ(view.marker->signal, "top.gen_sm[3].u_tables.u_preempt_engine.buffer_request_o");
  WaveSignal signal;
  signal.scope = "top.gen_sm[3].u_tables.u_preempt_engine";
  signal.name = "state_q";
  signal.path = "top.gen_sm[3].u_tables.smk_sm_tables.u_preempt_engine.state_q";
  const Gtkw gtkw = WriteGtkw(view, {signal}, "", "x.fst", {});
  EXPECT_THAT(gtkw.text, HasSubstr("-SM 3: preemption of one TB\n"));
  EXPECT_THAT(gtkw.text, HasSubstr("-SM 3: all blocks\n"));
  EXPECT_THAT(gtkw.text, HasSubstr("+{state_q} " + signal.path + "\n"));
}

TEST(WaveViews, BlockWithoutDescriptionIsShownByTheNamesOfItsSignals) {
  const WaveView view = BlockWaveView(SMK_WAVES_DIR, "no_such_block");
  WaveSignal signal;
  signal.path = "dut.smk_no_such_block.count_q";
  signal.scope = "dut";
  signal.name = "count_q";
  EXPECT_THAT(WriteGtkw(view, {signal}, "dut", "x.fst", {}).text,
              HasSubstr("-Registers\n@28\n[color] 3\n+{count_q} dut.smk_no_such_block.count_q\n"));
}

// dut.smk_block with an enum, a struct with a member of 2 bits, and a parameter.
void WriteFst(const std::string& path) {
  void* fst = fstWriterCreate(path.c_str(), 1);
  fstWriterSetScope(fst, FST_ST_VCD_MODULE, "dut", "");
  fstWriterSetScope(fst, FST_ST_VCD_MODULE, "smk_block", "");
  const char* names[] = {"StIdle", "StBusy"};
  const char* values[] = {"0", "1"};
  const fstEnumHandle states = fstWriterCreateEnumTable(fst, "state_e", 2, 1, names, values);
  fstWriterEmitEnumTableRef(fst, states);
  const fstHandle state =
      fstWriterCreateVar(fst, FST_VT_SV_LOGIC, FST_VD_IMPLICIT, 1, "state_q", 0);
  fstWriterSetScope(fst, FST_ST_VCD_STRUCT, "left_q", "");
  const fstHandle left =
      fstWriterCreateVar(fst, FST_VT_SV_LOGIC, FST_VD_IMPLICIT, 2, "kernel[0] [1:0]", 0);
  fstWriterSetUpscope(fst);
  fstWriterCreateVar(fst, FST_VT_VCD_PARAMETER, FST_VD_IMPLICIT, 32, "Width [31:0]", 0);
  for (unsigned time = 0; time < 4; ++time) {
    fstWriterEmitTimeChange(fst, time * kWaveCycle);
    fstWriterEmitValueChange(fst, state, time == 2 ? "1" : "0");
    fstWriterEmitValueChange(fst, left, time < 3 ? "00" : "10");
  }
  fstWriterClose(fst);
}

TEST(FstFiles, SignalsAndTimesAreReadBack) {
  const Folder folder;
  WriteFst(folder.path() + "/x.fst");
  const FstFile fst(folder.path() + "/x.fst");
  ASSERT_EQ(fst.signals().size(), 2u) << "parameters are left out";
  const WaveSignal &state = fst.signals()[0], &left = fst.signals()[1];
  EXPECT_EQ(state.path, "dut.smk_block.state_q");
  EXPECT_EQ(state.scope, "dut");
  EXPECT_TRUE(state.is_enum);
  EXPECT_EQ(left.path, "dut.smk_block.left_q.kernel[0]");
  EXPECT_EQ(left.name, "left_q.kernel[0]");
  EXPECT_EQ(left.range, "[1:0]");
  EXPECT_EQ(left.width, 2u);
  EXPECT_FALSE(left.is_enum);
  EXPECT_EQ(fst.end(), 3 * kWaveCycle);
  EXPECT_EQ(fst.FirstTime(state, 1), 2 * kWaveCycle);
  EXPECT_EQ(fst.FirstTime(left, 2), 3 * kWaveCycle);
  EXPECT_EQ(fst.FirstTime(left, 3), std::nullopt);
}

// SMs 0, 2 and 11 ask for a buffer at 9, 7 and 8; SM 4 never does.
TEST(WaveViews, RunShowsTheSmThatAsksForABufferFirst) {
  const Folder folder;
  void* fst = fstWriterCreate((folder.path() + "/x.fst").c_str(), 1);
  std::map<unsigned, fstHandle> requests;  // by the time at which they rise
  for (const auto& [sm, time] : std::map<unsigned, unsigned>{{0, 9}, {2, 7}, {4, 99}, {11, 8}}) {
    const std::string scope = "gen_sm[" + std::to_string(sm) + "]";
    for (const char* name : {"top", scope.c_str(), "u_tables", "u_preempt_engine"}) {
      fstWriterSetScope(fst, FST_ST_VCD_MODULE, name, "");
    }
    requests[time] =
        fstWriterCreateVar(fst, FST_VT_SV_LOGIC, FST_VD_IMPLICIT, 1, "buffer_request_o", 0);
    for (int scopes = 0; scopes < 4; ++scopes) fstWriterSetUpscope(fst);
  }
  for (unsigned time = 0; time < 10; ++time) {
    fstWriterEmitTimeChange(fst, time * kWaveCycle);
    for (const auto& [rise, request] : requests) {
      fstWriterEmitValueChange(fst, request, time >= rise ? "1" : "0");
    }
  }
  fstWriterClose(fst);
  const FstFile file(folder.path() + "/x.fst");
  const WaveView view = RunWaveView(SMK_WAVES_DIR, file);
  EXPECT_EQ(view.marker->signal, "top.gen_sm[2].u_tables.u_preempt_engine.buffer_request_o");
  EXPECT_EQ(FindWindow(view, file, "").marker, 7 * kWaveCycle);
}

TEST(FstFiles, FileThatIsNotThereIsAnError) {
  EXPECT_THROW(FstFile("/no/such/file.fst"), std::runtime_error);
}

}  // namespace
}  // namespace smk
