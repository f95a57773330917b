// SPDX-License-Identifier: Apache-2.0
// Save files of GTKWave: which signals a reader sees, in which groups, under which names.
//
// A WaveView says what is wanted, by patterns; WriteGtkw() looks for it among the signals that an
// FST really has. What is not there is left out and reported, never written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "waves/fst_file.h"

namespace smk {

// Time units (ps) per clock cycle in all our waves: cycle n is the nanosecond from n to n + 1.
inline constexpr std::uint64_t kWaveCycle = 1000;

// kAuto: enums by name, single bits as they are, all else hexadecimal. kIndex: the number of the
// lowest bit that is set (of a one-hot mask). kCount: how many bits are set.
enum class WaveRadix { kAuto, kHex, kDecimal, kSigned, kBinary, kIndex, kCount };

// GTKWave's numbers.
enum class WaveColor { kNormal, kRed, kOrange, kYellow, kGreen, kBlue, kIndigo, kViolet };

// Signals of one pattern. `*` stands for any text without a dot, and in `name` for what it stood
// for in `pattern`. A struct or an array stands for all its members.
struct WaveLine {
  std::string pattern;  // below the scope of its group
  std::string name;     // empty: the signal's own, in its module
  WaveRadix radix = WaveRadix::kAuto;
};

// A group, once for every scope that matches. `rest`: only signals that no line before has shown.
struct WaveGroup {
  std::string name;
  std::string scope;  // below the scope of the group around it
  WaveColor color = WaveColor::kNormal;
  bool open = true;
  bool rest = false;
  std::vector<WaveLine> lines;
  std::vector<WaveGroup> groups;
};

// The view opens where `signal` first has `value`, with some cycles before and after.
struct WaveMarker {
  std::string signal;
  std::uint64_t value = 1;
  std::uint64_t before = 20, after = 60;
};

struct WaveView {
  std::string test;  // of a testbench: the one whose wave is worth reading
  std::optional<WaveMarker> marker;
  std::vector<WaveGroup> groups;
};

// The part of the time axis that is shown, in time units.
struct WaveWindow {
  std::uint64_t from = 0, to = 0;
  std::optional<std::uint64_t> marker;
};

struct Gtkw {
  std::string text;
  unsigned shown = 0;                // signals
  std::vector<std::string> missing;  // patterns that no signal matches
};

// The save file for `fst_name`. All scopes of the view are below `root` (empty: top level). Clock
// and reset come first, whatever the view says.
Gtkw WriteGtkw(const WaveView& view, const std::vector<WaveSignal>& signals,
               const std::string& root, const std::string& fst_name, const WaveWindow& window);

// Where the view's marker is, and what to show around it; all of a short file.
WaveWindow FindWindow(const WaveView& view, const FstFile& fst, const std::string& root);

}  // namespace smk
