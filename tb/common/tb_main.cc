// SPDX-License-Identifier: Apache-2.0
// tb_<block>: the lockstep tests of one RTL block as a program of its own. Options: TbHelp().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <verilated.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common/tb_options.h"
#include "common/tb_report.h"
#include "test_options.h"
#include "waves/view.h"

namespace smk {

// Defined in tb_block.cc, compiled for each testbench.
extern const char kTbBlock[];

namespace {

// The scope of the block in its testbench's waves.
constexpr char kRoot[] = "dut";

std::vector<std::string> TestNames() {
  std::vector<std::string> names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      names.emplace_back(suite.GetTestInfo(t)->name());
    }
  }
  return names;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The test whose wave is worth reading.
std::string StoryTest(const WaveView& view) {
  const std::vector<std::string> names = TestNames();
  if (view.test.empty()) return names.at(0);
  if (!Contains(names, view.test)) {
    throw std::runtime_error(std::string(kTbBlock) + ".toml: no test " + view.test);
  }
  return view.test;
}

void List(const WaveView& view) {
  const std::string story = StoryTest(view);
  for (const std::string& name : TestNames()) {
    std::printf("%s%s\n", name.c_str(), name == story ? "   (recorded by --wave)" : "");
  }
}

WaveOptions ChooseWave(const TbOptions& options, const WaveView& view) {
  WaveOptions wave;
  if (!options.wave) return wave;
#if !VM_TRACE
  throw std::runtime_error("built with SMK_TRACE=OFF: no waveforms");
#endif
  std::filesystem::create_directories(options.wave_dir);
  wave.dir = std::filesystem::canonical(options.wave_dir).string();
  wave.from = options.wave_from;
  wave.cycles = options.wave_cycles;
  if (options.wave_test.empty()) {
    wave.test = StoryTest(view);
    wave.file = kTbBlock;
  } else if (options.wave_test != "all") {
    wave.test = options.wave_test;
    if (!Contains(TestNames(), wave.test)) throw std::runtime_error("no test " + wave.test);
  }
  return wave;
}

// The save file beside a wave, and how to open both.
void WriteSaveFile(const LockstepLog::Wave& wave, const WaveView& view) {
  const FstFile fst(wave.path);
  const std::filesystem::path fst_path(wave.path);
  std::filesystem::path path = fst_path;
  path.replace_extension(".gtkw");
  const Gtkw gtkw = WriteGtkw(view, fst.signals(), kRoot, fst_path.filename().string(),
                              FindWindow(view, fst, kRoot));
  std::ofstream file(path);
  file << gtkw.text;
  if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
  std::printf("wave of %s, cycles %llu to %llu, %u signals\n", wave.test.c_str(),
              static_cast<unsigned long long>(fst.start() / kWaveCycle),
              static_cast<unsigned long long>(fst.end() / kWaveCycle), gtkw.shown);
  std::printf("  %s\n  %s\n  open: gtkwave %s %s\n", wave.path.c_str(), path.c_str(),
              wave.path.c_str(), path.c_str());
  for (const std::string& pattern : gtkw.missing) {
    std::printf("  not in the wave: %s\n", pattern.c_str());
  }
}

int Run(const TbOptions& options) {
  const WaveView view = BlockWaveView(SMK_WAVES_DIR, kTbBlock);
  if (options.list) {
    List(view);
    return 0;
  }
  GetTestOptions().seed = options.seed;
  GetTestOptions().wave = ChooseWave(options, view);
  auto* report = new TbReport(kTbBlock);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(report);  // which owns it
  const int failed = RUN_ALL_TESTS();
  for (const LockstepLog::Wave& wave : GetLockstepLog().waves) WriteSaveFile(wave, view);
  if (options.wave && GetLockstepLog().waves.empty()) {
    std::printf("no wave: the test to record did not run, or ended before cycle %llu\n",
                static_cast<unsigned long long>(options.wave_from));
  }
  report->PrintOutcome();
  return failed;
}

int Main(const std::vector<std::string>& args) {
  try {
    const TbOptions options = ParseTbOptions(args);
    if (options.help) {
      std::printf("%s", TbHelp(kTbBlock).c_str());
      return 0;
    }
    return Run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tb_%s: %s\n", kTbBlock, error.what());
    return 2;
  }
}

}  // namespace
}  // namespace smk

int main(int argc, char** argv) {
  // GoogleTest would print its own help and not ours.
  const std::vector<std::string> asked(argv + 1, argv + argc);
  if (smk::Contains(asked, "--help") || smk::Contains(asked, "-h")) return smk::Main({"--help"});
  testing::InitGoogleMock(&argc, argv);
  return smk::Main({argv + 1, argv + argc});
}
