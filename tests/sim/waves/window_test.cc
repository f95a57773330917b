// SPDX-License-Identifier: Apache-2.0
// When a signal has a value, and which part of the time axis a view opens at.
#include <gmock/gmock.h>
#include <gtkwave/fstapi.h>

#include <map>

#include "sim/scratch.h"
#include "waves/gtkw.h"
#include "waves/view.h"

namespace smk {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Values by cycle of the signals of module dut; the first letter of a name gives the width: b1, b4.
class Waves : public sim::ScratchTest {
 protected:
  std::string WriteWaves(const std::map<std::string, std::vector<std::uint64_t>>& signals) const {
    void* fst = fstWriterCreate(Path("x.fst").c_str(), 1);
    fstWriterSetScope(fst, FST_ST_VCD_MODULE, "dut", "");
    std::map<std::string, fstHandle> handles;
    std::size_t cycles = 0;
    for (const auto& [name, values] : signals) {
      handles[name] =
          fstWriterCreateVar(fst, FST_VT_SV_LOGIC, FST_VD_IMPLICIT, Width(name), name.c_str(), 0);
      cycles = std::max(cycles, values.size());
    }
    for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
      fstWriterEmitTimeChange(fst, cycle * kWaveCycle);
      for (const auto& [name, values] : signals) {
        if (cycle >= values.size()) continue;
        std::string bits;
        for (unsigned bit = Width(name); bit-- > 0;) bits += values[cycle] >> bit & 1 ? '1' : '0';
        fstWriterEmitValueChange(fst, handles[name], bits.c_str());
      }
    }
    fstWriterClose(fst);
    return Path("x.fst");
  }
  static unsigned Width(const std::string& name) {
    return static_cast<unsigned>(std::stoul(name.substr(1)));
  }
  // A signal that is 0 but for the cycles given, in a file of `length` cycles.
  static std::vector<std::uint64_t> High(std::size_t length, std::vector<std::size_t> cycles) {
    std::vector<std::uint64_t> values(length, 0);
    for (const std::size_t cycle : cycles) values[cycle] = 1;
    return values;
  }
  WaveWindow Window(std::size_t length, std::vector<std::size_t> cycles,
                    const std::optional<WaveMarker>& marker) const {
    WaveView view;
    view.marker = marker;
    return FindWindow(view, FstFile(WriteWaves({{"b1", High(length, std::move(cycles))}})), "dut");
  }
};

TEST_F(Waves, FirstTimesOfAnyValues) {
  sim::Chance chance;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint64_t> values(1 + chance.Below(60));
    for (std::uint64_t& value : values) value = chance.Below(16);
    const FstFile fst(WriteWaves({{"b4", values}, {"c1", High(60, {7})}}));
    ASSERT_EQ(fst.signals().size(), 2u);
    for (std::uint64_t wanted = 0; wanted < 16; ++wanted) {
      const auto first = std::find(values.begin(), values.end(), wanted);
      const std::optional<std::uint64_t> time = fst.FirstTime(fst.signals()[0], wanted);
      if (first == values.end()) {
        EXPECT_EQ(time, std::nullopt) << wanted;
      } else {
        EXPECT_EQ(time, static_cast<std::uint64_t>(first - values.begin()) * kWaveCycle) << wanted;
      }
    }
    EXPECT_EQ(fst.FirstTime(fst.signals()[1], 1), 7 * kWaveCycle) << "the other signal";
  }
}

TEST_F(Waves, AFileHasAStartAndAnEnd) {
  const FstFile fst(WriteWaves({{"b1", High(5, {})}}));
  EXPECT_EQ(fst.start(), 0u);
  EXPECT_EQ(fst.end(), 4 * kWaveCycle);
  EXPECT_EQ(fst.signals()[0].range, "") << "of one bit";
}

TEST_F(Waves, AWideSignalIsComparedInAllItsBits) {
  const FstFile fst(WriteWaves({{"b63", {1ull << 62, 1, 1ull << 62 | 1}}}));
  EXPECT_EQ(fst.FirstTime(fst.signals()[0], 1), kWaveCycle);
  EXPECT_EQ(fst.FirstTime(fst.signals()[0], 1ull << 62 | 1), 2 * kWaveCycle);
  EXPECT_EQ(fst.FirstTime(fst.signals()[0], 0), std::nullopt);
}

TEST_F(Waves, DamagedFilesAreErrorsWithTheirName) {
  Write("text.fst", "not a waveform\n");
  Write("empty.fst", "");
  for (const char* name : {"text.fst", "empty.fst"}) {
    try {
      FstFile fst(Path(name));
      FAIL() << name;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), Path(name) + ": not an FST file that can be read");
    }
  }
}

TEST_F(Waves, AShortFileIsShownWhole) {
  const WaveWindow window = Window(101, {50}, WaveMarker{"b1", 1, 5, 5});
  EXPECT_EQ(window.from, 0u);
  EXPECT_EQ(window.to, 100 * kWaveCycle);
  EXPECT_EQ(window.marker, 50 * kWaveCycle);
}

TEST_F(Waves, ALongFileIsShownAroundItsMarker) {
  const WaveWindow window = Window(500, {300, 400}, WaveMarker{"b1", 1, 20, 60});
  EXPECT_EQ(window.marker, 300 * kWaveCycle);
  EXPECT_EQ(window.from, 280 * kWaveCycle);
  EXPECT_EQ(window.to, 360 * kWaveCycle);
}

TEST_F(Waves, AMarkerNearAnEndDoesNotLeaveTheFile) {
  const WaveWindow early = Window(500, {3}, WaveMarker{"b1", 1, 20, 60});
  EXPECT_EQ(early.from, 0u);
  EXPECT_EQ(early.to, 80 * kWaveCycle);
  const WaveWindow late = Window(500, {490}, WaveMarker{"b1", 1, 20, 60});
  EXPECT_EQ(late.from, 470 * kWaveCycle);
  EXPECT_EQ(late.to, 499 * kWaveCycle);
}

TEST_F(Waves, WithoutAMarkerALongFileIsShownFromItsStart) {
  for (const std::optional<WaveMarker>& marker :
       {std::optional<WaveMarker>(), std::optional<WaveMarker>(WaveMarker{"gone", 1, 20, 60}),
        std::optional<WaveMarker>(WaveMarker{"b1", 1, 20, 60})}) {
    const WaveWindow window = Window(500, {}, marker);
    EXPECT_EQ(window.from, 0u);
    EXPECT_EQ(window.to, 80 * kWaveCycle);
    EXPECT_EQ(window.marker, std::nullopt);
  }
}

TEST_F(Waves, TheMarkersValueMayBeAny) {
  WaveView view;
  view.marker = WaveMarker{"b4", 9, 1, 2};
  std::vector<std::uint64_t> values(300, 4);
  values[200] = 9;
  const WaveWindow window = FindWindow(view, FstFile(WriteWaves({{"b4", values}})), "dut");
  EXPECT_EQ(window.marker, 200 * kWaveCycle);
  EXPECT_EQ(window.to - window.from, 3 * kWaveCycle);
}

TEST_F(Waves, TheTextTellsTheMarkerOrNone) {
  WaveWindow window{0, 950'000, std::nullopt};
  EXPECT_THAT(WriteGtkw({}, {}, "", "x.fst", window).text, HasSubstr("\n*-17.609640 -1 -1 "));
  window.marker = 5000;
  EXPECT_THAT(WriteGtkw({}, {}, "", "x.fst", window).text, HasSubstr("\n*-17.609640 5000 -1 "));
  window.to = window.from;  // of a file of one moment
  EXPECT_THAT(WriteGtkw({}, {}, "", "x.fst", window).text, HasSubstr("\n*2.2"));
}

// The part of a save file that shows one signal of module dut.
std::string Shown(const WaveSignal& signal, WaveRadix radix) {
  WaveView view;
  WaveGroup group;
  group.name = "G";
  group.lines = {{"*", "", radix}};
  view.groups = {group};
  const std::string text = WriteGtkw(view, {signal}, "dut", "x", {}).text;
  const std::size_t begin = text.find("-G\n") + 3;
  return text.substr(begin, text.find("\n+", begin) - begin);
}

TEST(GtkwFlags, EachRadixHasItsOwn) {
  WaveSignal signal;
  signal.path = "dut.x";
  signal.scope = "dut";
  signal.name = "x";
  signal.width = 8;
  const std::map<WaveRadix, std::string> flags = {
      {WaveRadix::kAuto, "@22"},       {WaveRadix::kHex, "@22"},
      {WaveRadix::kDecimal, "@24"},    {WaveRadix::kSigned, "@420"},
      {WaveRadix::kBinary, "@28"},     {WaveRadix::kIndex, "@400000024"},
      {WaveRadix::kCount, "@20000024"}};
  for (const auto& [radix, text] : flags) EXPECT_EQ(Shown(signal, radix), text);
  signal.is_enum = true;
  EXPECT_EQ(Shown(signal, WaveRadix::kAuto), "@100000028") << "by the names of its values";
  EXPECT_EQ(Shown(signal, WaveRadix::kDecimal), "@24") << "what was asked for";
  signal.is_enum = false;
  signal.width = 1;
  EXPECT_EQ(Shown(signal, WaveRadix::kAuto), "@28");
}

class Views : public sim::ScratchTest {
 protected:
  WaveView ViewOf(const std::string& toml, const WaveVariables& variables = {}) const {
    Write("x/wave.toml", toml);
    return ReadWaveView(folder().string(), "x", variables);
  }
  std::string ErrorOf(const std::string& toml) const {
    try {
      ViewOf(toml);
    } catch (const std::runtime_error& error) {
      const std::string what = error.what(), path = Path("x/wave.toml:");
      EXPECT_EQ(what.rfind(path, 0), 0u) << what;
      return what.substr(std::min(path.size(), what.size()));
    }
    return "accepted";
  }
};

TEST_F(Views, EveryKeyIsTaken) {
  const WaveView view = ViewOf(R"(
test = "Block.Test"
[marker]
signal = "busy_q"
value = 3
before = 7
after = 9
[[group]]
name = "Outer"
scope = "u_x"
color = "violet"
open = false
rest = true
signals = ["a_q", " b_q | name of b | hex ", "c_q || signed"]
[[group.group]]
name = "Inner"
signals = ["d_q | | count"]
)");
  EXPECT_EQ(view.test, "Block.Test");
  ASSERT_TRUE(view.marker.has_value());
  EXPECT_EQ(view.marker->signal, "busy_q");
  EXPECT_EQ(view.marker->value, 3u);
  EXPECT_EQ(view.marker->before, 7u);
  EXPECT_EQ(view.marker->after, 9u);
  ASSERT_EQ(view.groups.size(), 1u);
  const WaveGroup& outer = view.groups[0];
  EXPECT_EQ(outer.name, "Outer");
  EXPECT_EQ(outer.scope, "u_x");
  EXPECT_EQ(outer.color, WaveColor::kViolet);
  EXPECT_FALSE(outer.open);
  EXPECT_TRUE(outer.rest);
  ASSERT_EQ(outer.lines.size(), 3u);
  EXPECT_EQ(outer.lines[0].pattern, "a_q");
  EXPECT_EQ(outer.lines[0].name, "");
  EXPECT_EQ(outer.lines[1].pattern, "b_q");
  EXPECT_EQ(outer.lines[1].name, "name of b");
  EXPECT_EQ(outer.lines[1].radix, WaveRadix::kHex);
  EXPECT_EQ(outer.lines[2].radix, WaveRadix::kSigned);
  ASSERT_EQ(outer.groups.size(), 1u);
  EXPECT_EQ(outer.groups[0].lines[0].radix, WaveRadix::kCount);
}

TEST_F(Views, WhatIsNotSaidIsUsual) {
  const WaveView view = ViewOf("[marker]\nsignal = 'a'\n[[group]]\nname = 'A'\n");
  EXPECT_EQ(view.test, "");
  EXPECT_EQ(view.marker->value, 1u);
  EXPECT_EQ(view.marker->before, 20u);
  EXPECT_EQ(view.marker->after, 60u);
  EXPECT_EQ(view.groups[0].color, WaveColor::kNormal);
  EXPECT_TRUE(view.groups[0].open);
  EXPECT_FALSE(view.groups[0].rest);
  EXPECT_FALSE(ViewOf("").marker.has_value());
}

TEST_F(Views, WordsInBracesAreReplacedEverywhere) {
  const WaveView view = ViewOf(
      "[marker]\nsignal = 'sm[{sm}].x'\n[[group]]\nname = 'SM {sm}'\nscope = 'gen[{sm}]'\n"
      "signals = ['a_{sm}_{sm} | of {sm}', 'b_{other}']\n",
      {{"sm", "12"}});
  EXPECT_EQ(view.marker->signal, "sm[12].x");
  EXPECT_EQ(view.groups[0].name, "SM 12");
  EXPECT_EQ(view.groups[0].scope, "gen[12]");
  EXPECT_EQ(view.groups[0].lines[0].pattern, "a_12_12");
  EXPECT_EQ(view.groups[0].lines[0].name, "of 12");
  EXPECT_EQ(view.groups[0].lines[1].pattern, "b_{other}") << "what nobody knows stays";
}

TEST_F(Views, AViewMayIncludeThatOfAnotherBlock) {
  Write("y/wave.toml", "[[group]]\nname = 'Of Y {sm}'\nsignals = ['y_q']\n");
  const WaveView view = ViewOf(
      "[[group]]\nname = 'Y'\nscope = 'u_y'\ninclude = 'y'\n"
      "[[group.group]]\nname = 'Own'\n",
      {{"sm", "3"}});
  ASSERT_EQ(view.groups[0].groups.size(), 2u);
  EXPECT_EQ(view.groups[0].groups[0].name, "Own");
  EXPECT_EQ(view.groups[0].groups[1].name, "Of Y 3");
}

TEST_F(Views, AnErrorInWhatIsIncludedNamesThatFile) {
  Write("y/wave.toml", "\n\n[[group]]\ncolour = 'red'\n");
  Write("x/wave.toml", "[[group]]\nname = 'Y'\ninclude = 'y'\n");
  try {
    ReadWaveView(folder().string(), "x");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), Path("y/wave.toml") + ":4: unknown key 'colour'");
  }
}

TEST_F(Views, EveryMistakeIsToldByItsLine) {
  EXPECT_EQ(ErrorOf("test = 'x'\nteste = 'y'\n"), "2: unknown key 'teste'");
  EXPECT_EQ(ErrorOf("[marker]\nsignal = 'a'\nuntil = 3\n"), "3: unknown key 'until'");
  EXPECT_EQ(ErrorOf("[[group]]\nname = 'A'\ncolor = 'pink'\n"), "1: unknown word 'pink'");
  EXPECT_EQ(ErrorOf("[[group]]\nname = 'A'\nsignals = ['a | b | hex | x']\n"),
            "3: more than three columns");
  EXPECT_EQ(ErrorOf("[[group]]\nname = 'A'\nsignals = [\n'a',\n' | b']\n"), "5: no signal");
  EXPECT_EQ(ErrorOf("group = [1]\n"), "1: a group is a table");
  EXPECT_EQ(ErrorOf("[[group]]\nname = 'A'\n[[group.group]]\nscope = 'x'\n"),
            "3: a group needs a name");
  EXPECT_THAT(ErrorOf("test = \n"), StartsWith("1: "));
}

TEST_F(Views, ABlockWithAFileIsShownAsTheFileSays) {
  Write("block/wave.toml", "[[group]]\nname = 'Only this'\n");
  const WaveView view = BlockWaveView(folder().string(), "block");
  ASSERT_EQ(view.groups.size(), 1u);
  EXPECT_EQ(view.groups[0].name, "Only this");
  EXPECT_EQ(BlockWaveView(folder().string(), "other").groups.size(), 3u);
}

}  // namespace
}  // namespace smk
