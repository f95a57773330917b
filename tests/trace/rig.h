// SPDX-License-Identifier: Apache-2.0
// Small traces for tests, and a folder of their own to read them from.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/load.h"
#include "workload/program_code.h"

namespace smk {

// Text of one kernel's trace. The first line of the body is behind the header, line by line as it
// is written here.
struct TraceText {
  std::vector<std::string> header = {"-kernel name = _Z4testPf",
                                     "-kernel id = 1",
                                     "-grid dim = (2,1,1)",
                                     "-block dim = (40,1,1)",
                                     "-shmem = 256",
                                     "-nregs = 16",
                                     "-binary version = 61",
                                     "-cuda stream id = 0",
                                     "-shmem base_addr = 0x00007f2000000000",
                                     "-local mem base_addr = 0x00007f2001000000",
                                     "-nvbit version = 1.5.5",
                                     "-accelsim tracer version = 5",
                                     "-enable lineinfo = 0",
                                     "",
                                     "#traces format = PC mask and so on"};
  // Lines of the warps of a TB; every TB is the same.
  std::vector<std::vector<std::string>> warps = {
      {"0008 ffffffff 1 R0 S2R 0 0 0 ", "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f3000000000 4 0 ",
       "0018 ffffffff 0 STS 2 R0 R4 4 1 0x0 4 0 ", "0028 ffffffff 0 BAR.SYNC 0 0 0 ",
       "0030 ffffffff 1 R5 LDS.U.32 1 R255 4 1 0x40 0 0 ",
       "0038 ffffffff 1 R6 FFMA 3 R4 R5 R5 0 0 ", "0048 ffffffff 0 EXIT 0 0 0 "},
      {"0008 000000ff 1 R0 S2R 0 0 0 ", "0010 000000ff 1 R4 LDG.E 1 R2 4 1 0x7f3000000080 4 0 ",
       "0018 000000ff 0 STS 2 R0 R4 4 1 0x80 4 0 ", "0028 000000ff 0 BAR.SYNC 0 0 0 ",
       "0030 00000000 1 R5 LDG.E.64 1 R2 8 2 0x0 0 ",
       "0038 00000005 1 R6 LDG.E 1 R2 4 2 0x7f3000000100 4096 0 ",
       "0048 0000000a 0 STG.E 2 R2 R6 4 0 0x00007f3000000200 0x00007f3000002210 0 ",
       "0050 000000ff 0 EXIT 0 0 0 "}};
  unsigned tbs = 2;

  void Set(const std::string& key, const std::string& value) {
    const std::string start = "-" + key + " =";
    for (std::string& line : header) {
      if (line.rfind(start, 0) == 0) line = std::string(start).append(" ").append(value);
    }
  }
  void Erase(const std::string& key) {
    const std::string start = "-" + key + " =";
    header.erase(std::remove_if(header.begin(), header.end(),
                                [&](const std::string& line) { return line.rfind(start, 0) == 0; }),
                 header.end());
  }
  std::string Text() const {
    std::string text;
    for (const std::string& line : header) text.append(line).append("\n");
    for (unsigned tb = 0; tb < tbs; ++tb) {
      text += "\n#BEGIN_TB\n\nthread block = " + std::to_string(tb) + ",0,0\n";
      for (std::size_t w = 0; w < warps.size(); ++w) {
        text += "\nwarp = " + std::to_string(w) + "\ninsts = " + std::to_string(warps[w].size());
        text += "\n";
        for (const std::string& line : warps[w]) text.append(line).append("\n");
      }
      text += "\n#END_TB\n";
    }
    return text;
  }
  // One warp of one TB with these lines and an exit.
  static TraceText OneWarp(std::vector<std::string> lines, const std::string& binary = "61") {
    TraceText text;
    text.Set("grid dim", "(1,1,1)");
    text.Set("block dim", "(32,1,1)");
    text.Set("binary version", binary);
    text.tbs = 1;
    text.warps = {std::move(lines)};
    return text;
  }
};

// A folder with traces and a cache, gone after the test.
class TraceFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    folder = std::filesystem::temp_directory_path() /
             ("smk_trace_" + std::to_string(getpid()) + "_" + name);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "t");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Trace() const { return (folder / "t").string(); }
  std::string Cache() const { return (folder / "cache").string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / "t" / name, std::ios::binary) << text;
  }
  void WriteTrace(const TraceText& text) const {
    Write("kernelslist.g", "MemcpyHtoD,0x00007f3000000000,512\nkernel-1.traceg\n");
    Write("kernel-1.traceg", text.Text());
  }
  TraceSet Load(bool strict = false) const { return LoadTrace(Trace(), {Cache(), strict}); }
  TraceSet LoadText(const TraceText& text) const {
    WriteTrace(text);
    return Load();
  }
  // Compact forms in the cache.
  std::vector<std::filesystem::path> CacheFiles() const {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "cache/traces", none)) {
      if (entry.path().extension() == ".smktrace") files.push_back(entry.path());
    }
    return files;
  }
  // The message of the InputError; it is one line, and no cache is left behind.
  std::string Refusal() const {
    std::string message;
    try {
      Load();
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(CacheFiles().empty()) << message;
    return message;
  }
  std::string RefusalOf(const TraceText& text) const {
    WriteTrace(text);
    return Refusal();
  }

  std::filesystem::path folder;
};

// One step of a warp.
struct TraceStep {
  OpClass op;
  std::uint8_t dst;
  unsigned conflicts;
  unsigned place;
  std::vector<std::uint64_t> lines;
};

inline std::vector<TraceStep> WalkTrace(const KernelSpec& kernel, unsigned tb, unsigned warp) {
  const Program& program = *kernel.program;
  WarpIdentity id;
  id.tb = tb;
  id.warp = static_cast<std::uint16_t>(warp);
  id.trace = program.Record(tb, warp);
  WarpCursor cursor;
  std::vector<TraceStep> steps;
  for (program.Start(id, &cursor);; program.Advance(id, &cursor)) {
    const Instruction& in = program.At(cursor);
    TraceStep step{in.op, in.dst, in.conflicts, program.Place(cursor), {}};
    if (in.op >= OpClass::kLoadGlobal && in.op <= OpClass::kAtomicGlobal) {
      std::uint64_t lines[kMaxLines];
      step.lines.assign(lines, lines + program.Lines(in, id, cursor, lines));
    }
    steps.push_back(std::move(step));
    if (in.op == OpClass::kExit) return steps;
  }
}

}  // namespace smk
