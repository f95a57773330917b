// SPDX-License-Identifier: Apache-2.0
// smk_sm_control with a clock that clock_en_o gates, and the diagrams of docs/integration.md.
#include <Vsmk_sm_control.h>
#include <Vsmk_sm_control_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sm_control/bench.h"
#include "sm_control/pair.h"
#include "sm_control/traffic.h"

namespace smk {
namespace {

using Gtx980 = SmControlPair<Vsmk_sm_control, Vsmk_sm_control_smk_pkg>;

// The reference has every edge, the block only those that it asks for: the same outputs.
TEST(SmControlClock, GatedByItsEnableChangesNoOutput) {
  SmControlTally tally;
  unsigned gated = 0;
  for (std::uint64_t seed = GetTestOptions().seed; seed < GetTestOptions().seed + 4; ++seed) {
    Gtx980 sm({}, seed);
    sm.gate = [](const Vsmk_sm_control& dut) { return dut.clock_en_o != 0; };
    SmControlTraffic<Gtx980>(&sm, seed, &tally).Run(40'000);
    ASSERT_TRUE(sm.lockstep().ok()) << sm.lockstep().mismatch();
    gated += sm.gated_edges;
  }
  EXPECT_GT(gated, 4'000u) << "the clock stands still in some cycles";
  EXPECT_GT(tally.reloads, 50u);
}

// What comes from outside is lost then.
TEST(SmControlClock, AwakeAloneIsNotEnough) {
  SmControlTally tally;
  Gtx980 sm({}, GetTestOptions().seed);
  sm.gate = [](const Vsmk_sm_control& dut) { return dut.awake_o != 0; };
  SmControlTraffic<Gtx980>(&sm, GetTestOptions().seed, &tally).Run(2'000);
  EXPECT_FALSE(sm.lockstep().ok());
}

// Signals over cycles, as WaveJSON: one line each, a character per cycle.
class Diagram {
 public:
  explicit Diagram(std::vector<std::string> names) : names_(std::move(names)) {
    values_.resize(names_.size());
  }
  // One cycle: a value per signal; those of more than a bit are shown in hexadecimal.
  void Cycle(const std::vector<std::uint64_t>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) values_[i].push_back(values[i]);
  }
  std::string Text() const {
    std::string text = "{\"signal\": [\n";
    for (std::size_t i = 0; i < names_.size(); ++i) {
      text += Line(i) + (i + 1 < names_.size() ? ",\n" : "\n");
    }
    return text + "]}\n";
  }

 private:
  std::string Line(std::size_t i) const {
    const bool bus = names_[i].find(':') != std::string::npos;
    std::string wave, data;
    for (std::size_t cycle = 0; cycle < values_[i].size(); ++cycle) {
      const std::uint64_t value = values_[i][cycle];
      if (cycle > 0 && value == values_[i][cycle - 1]) {
        wave += '.';
      } else if (bus) {
        std::ostringstream hex;
        hex << std::hex << value;
        wave += '=';
        data += (data.empty() ? "\"" : " ") + hex.str();
      } else {
        wave += value != 0 ? '1' : '0';
      }
    }
    std::string line = "  {\"name\": \"" + names_[i] + "\",";
    line.resize(std::max<std::size_t>(line.size(), 46), ' ');
    line += " \"wave\": \"" + wave + "\"";
    return line + (bus ? ", \"data\": " + data + "\"}" : "}");
  }

  std::vector<std::string> names_;
  std::vector<std::vector<std::uint64_t>> values_;
};

// What stands in the page between the line that names the diagram and the end of its block.
// SMK_WRITE_WAVES=1 puts there what the RTL does.
void ExpectInPage(const std::string& name, const std::string& diagram) {
  const std::string path = std::string(SMK_SOURCE_DIR) + "/../docs/integration.md";
  std::ostringstream read;
  read << std::ifstream(path).rdbuf();
  std::string page = read.str();
  const std::string open = "<!-- wave " + name + " -->\n\n```json\n";
  const std::size_t found = page.find(open);
  ASSERT_NE(found, std::string::npos) << path << ": no line '<!-- wave " << name << " -->'";
  const std::size_t begin = found + open.size();
  const std::size_t end = page.find("```\n", begin);
  ASSERT_NE(end, std::string::npos);
  if (std::getenv("SMK_WRITE_WAVES") != nullptr) {
    std::ofstream(path) << page.replace(begin, end - begin, diagram);
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), diagram)
      << "SMK_WRITE_WAVES=1 tb_sm_control writes what the RTL does";
}

using Bench = SmControlBench<Gtx980>;

TEST(SmControlWaves, FromReadyToGrant) {
  Bench bench;
  bench.Place(0, 1);
  bench.Quota(0, 2, true, true);
  bench.Run(8);
  Diagram diagram({"ready_i, scheduler 0 [3:0]", "grant_valid_o[0]",
                   "grant_warp_o, scheduler 0 [3:0]", "quota_left_o, kernel 0 [15:0]", "reload_o",
                   "awake_o", "clock_en_o"});
  bench.control().watch = [&](const Vsmk_sm_control& dut) {
    std::array<std::uint16_t, kMaxKernels> left{};
    Unpack<QuotaVec<Gtx980::Package>>(dut.quota_left_o, &left);
    const bool granted = (dut.grant_valid_o & 1) != 0;
    diagram.Cycle({GetBits(dut.ready_i, 0, 4), granted,
                   granted ? GetBits(dut.grant_warp_o, 0, 4) : 0, left[0], dut.reload_o,
                   dut.awake_o, dut.clock_en_o});
  };
  for (const unsigned ready : {0u, 0u, 1u, 1u, 1u, 0u, 1u, 0u, 0u}) {
    bench.in.ready[0] = static_cast<WarpMask>(ready);
    bench.Step();
  }
  EXPECT_TRUE(bench.control().lockstep().ok()) << bench.control().lockstep().mismatch();
  ExpectInPage("ready_to_grant", diagram.Text());
}

TEST(SmControlWaves, FromStopToSaved) {
  Bench bench;
  for (auto& view : bench.views) {
    view.need = {1, 0, 4, 1};
    view.context_lines = static_cast<std::uint16_t>(ContextLines(view.need));
  }
  bench.Place(0, 1);
  bench.Run(4);
  Diagram diagram({"command_valid_i", "buffer_request_o", "buffer_valid_i", "tb_stop_o[0]",
                   "tb_quiet_i[0]", "context_o.valid", "context_o.line [3:0]", "context_ready_i",
                   "context_done_i [7:0]", "release_valid_o", "event_o.valid", "event_ack_i",
                   "awake_o"});
  bench.control().watch = [&](const Vsmk_sm_control& dut) {
    ContextRequest line;
    Unpack<ContextRequestFields<Gtx980::Package>>(dut.context_o, &line);
    const auto event = Unpack<SmEventFields<Gtx980::Package>>(dut.event_o);
    diagram.Cycle({dut.command_valid_i, dut.buffer_request_o, dut.buffer_valid_i,
                   dut.tb_stop_o & 1u, dut.tb_quiet_i & 1u, line.valid, line.valid ? line.line : 0u,
                   dut.context_ready_i, dut.context_done_i, dut.release_valid_o, event.valid,
                   dut.event_ack_i, dut.awake_o});
  };
  bench.in.context_ready = true;
  bench.Preempt(0, 1);
  for (unsigned cycle = 0; cycle < 34; ++cycle) {
    bench.in.context_ready = true;
    bench.Step();
  }
  EXPECT_TRUE(bench.control().lockstep().ok()) << bench.control().lockstep().mismatch();
  EXPECT_THAT(bench.events, testing::SizeIs(2)) << "saved, and settled";
  ExpectInPage("stop_to_saved", diagram.Text());
}

}  // namespace
}  // namespace smk
