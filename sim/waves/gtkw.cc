// SPDX-License-Identifier: Apache-2.0
#include "waves/gtkw.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace smk {
namespace {

// Trace flags of GTKWave's save files.
constexpr std::uint64_t kHexFlag = 0x2, kDecimalFlag = 0x4, kBinaryFlag = 0x8, kRightFlag = 0x20,
                        kSignedFlag = 0x400, kCountFlag = 0x20000000, kEnumFlag = 0x100000000,
                        kIndexFlag = 0x400000000, kBlankFlag = 0x200, kClosedFlag = 0x400000,
                        kBeginFlag = 0x800000, kEndFlag = 0x1000000;

std::uint64_t Flags(WaveRadix radix, const WaveSignal& signal) {
  switch (radix) {
    case WaveRadix::kHex:
      return kRightFlag | kHexFlag;
    case WaveRadix::kDecimal:
      return kRightFlag | kDecimalFlag;
    case WaveRadix::kSigned:
      return kRightFlag | kSignedFlag;
    case WaveRadix::kBinary:
      return kRightFlag | kBinaryFlag;
    case WaveRadix::kIndex:
      return kRightFlag | kDecimalFlag | kIndexFlag;
    case WaveRadix::kCount:
      return kRightFlag | kDecimalFlag | kCountFlag;
    case WaveRadix::kAuto:
      break;
  }
  if (signal.is_enum) return kRightFlag | kBinaryFlag | kEnumFlag;
  return kRightFlag | (signal.width == 1 ? kBinaryFlag : kHexFlag);
}

using Captures = std::vector<std::string>;

std::string Join(const std::string& scope, const std::string& name) {
  if (scope.empty() || name.empty()) return scope + name;
  return scope + "." + name;
}

std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream text(path);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
  return parts;
}

// True when `text` is what `pattern` says. With `members` it may go on with a member or an index.
bool Matches(std::string_view pattern, std::string_view text, bool members, Captures* captures) {
  if (pattern.empty()) {
    return text.empty() || (members && (text.front() == '.' || text.front() == '['));
  }
  if (pattern.front() != '*') {
    return !text.empty() && pattern.front() == text.front() &&
           Matches(pattern.substr(1), text.substr(1), members, captures);
  }
  for (std::size_t n = 0; n <= text.size(); ++n) {
    captures->push_back(std::string(text.substr(0, n)));
    if (Matches(pattern.substr(1), text.substr(n), members, captures)) return true;
    captures->pop_back();
    if (n < text.size() && text[n] == '.') return false;
  }
  return false;
}

// Puts what the pattern's stars stood for in place of those of `name`.
std::string Fill(const std::string& name, const Captures& captures) {
  std::string filled;
  std::size_t next = 0;
  for (const char c : name) {
    if (c == '*' && next < captures.size()) {
      filled += captures[next++];
    } else {
      filled += c;
    }
  }
  return filled;
}

template <typename What>
struct Match {
  What what;
  Captures captures;
};

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// gen_sm[2] before gen_sm[10]; where stars stand for words, the order of the file remains.
template <typename What>
void SortByNumber(std::vector<Match<What>>* matches) {
  for (const Match<What>& match : *matches) {
    if (!std::all_of(match.captures.begin(), match.captures.end(), IsNumber)) return;
  }
  std::stable_sort(matches->begin(), matches->end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(
        a.captures.begin(), a.captures.end(), b.captures.begin(), b.captures.end(),
        [](const auto& x, const auto& y) { return std::stoul(x) < std::stoul(y); });
  });
}

// The signals of a file by scope.
class Index {
 public:
  explicit Index(const std::vector<WaveSignal>& signals) {
    AddScope("");
    for (const WaveSignal& signal : signals) {
      AddScope(signal.scope);
      Add(&signal);
    }
  }

  std::vector<Match<std::string>> FindScopes(const std::string& pattern) const {
    std::vector<Match<std::string>> found;
    const std::vector<std::string> parts = Split(pattern);
    for (const Scope& scope : scopes_) {
      Captures captures;
      if (scope.parts.size() == parts.size() && StartsLike(scope, parts, &captures)) {
        found.push_back({scope.path, captures});
      }
    }
    SortByNumber(&found);
    return found;
  }
  std::vector<Match<const WaveSignal*>> FindSignals(const std::string& pattern) const {
    std::vector<Match<const WaveSignal*>> found;
    const std::vector<std::string> parts = Split(pattern);
    for (const Scope& scope : scopes_) {
      Captures captures;
      if (scope.parts.size() >= parts.size() || !StartsLike(scope, parts, &captures)) continue;
      std::string local;
      for (std::size_t i = scope.parts.size(); i < parts.size(); ++i) local = Join(local, parts[i]);
      for (const WaveSignal* signal : scope.signals) {
        Captures all = captures;
        if (Matches(local, signal->name, true, &all)) found.push_back({signal, all});
      }
    }
    SortByNumber(&found);
    return found;
  }

 private:
  struct Scope {
    std::string path;
    std::vector<std::string> parts;
    std::vector<const WaveSignal*> signals;
  };

  static bool StartsLike(const Scope& scope, const std::vector<std::string>& parts,
                         Captures* captures) {
    for (std::size_t i = 0; i < scope.parts.size(); ++i) {
      if (!Matches(parts[i], scope.parts[i], false, captures)) return false;
    }
    return true;
  }
  void AddScope(const std::string& path) {
    if (known_.count(path) != 0) return;
    const std::size_t dot = path.rfind('.');
    if (dot != std::string::npos) AddScope(path.substr(0, dot));
    known_[path] = scopes_.size();
    scopes_.push_back({path, Split(path), {}});
  }
  // The top's ports and those of the module below it are the same: the latter count.
  void Add(const WaveSignal* signal) {
    auto& signals = scopes_[known_[signal->scope]].signals;
    const auto [at, is_new] = places_.insert({Join(signal->scope, signal->name), signals.size()});
    if (is_new) {
      signals.push_back(signal);
    } else {
      signals[at->second] = signal;
    }
  }

  std::vector<Scope> scopes_;
  std::map<std::string, std::size_t> known_;
  std::map<std::string, std::size_t> places_;
};

// Writes the lines of one save file.
class Writer {
 public:
  explicit Writer(const Index& index) : index_(index) {}

  void ClockAndReset(const std::string& root) {
    WaveGroup group;
    group.name = "Clock and reset";
    for (const char* name : {"clk_i", "rst_ni"}) {
      // The outermost one, if the root itself has none.
      std::string pattern = name;
      for (int depth = 0; depth < 4 && index_.FindSignals(Join(root, pattern)).empty(); ++depth) {
        pattern = "*." + pattern;
      }
      const auto found = index_.FindSignals(Join(root, pattern));
      if (!found.empty()) Show(*found.front().what, name, WaveRadix::kAuto, group.color);
    }
    Close(group, group.name, 0);
  }
  // All instances of a group, each with its lines and the groups inside it.
  void Write(const WaveGroup& group, const std::string& outer) {
    const std::string pattern = Join(outer, group.scope);
    const auto scopes = index_.FindScopes(pattern);
    if (scopes.empty()) missing_.push_back(pattern);
    for (const auto& scope : scopes) {
      const std::size_t begin = body_.size();
      for (const WaveLine& line : group.lines) Write(line, group, scope.what);
      for (const WaveGroup& inner : group.groups) Write(inner, scope.what);
      Close(group, Fill(group.name, scope.captures), begin);
    }
  }

  const std::vector<std::string>& body() const { return body_; }
  const std::vector<std::string>& missing() const { return missing_; }
  unsigned shown() const { return static_cast<unsigned>(shown_.size()); }

 private:
  void Write(const WaveLine& line, const WaveGroup& group, const std::string& scope) {
    const auto found = index_.FindSignals(Join(scope, line.pattern));
    if (found.empty()) missing_.push_back(Join(scope, line.pattern));
    for (const auto& [signal, captures] : found) {
      if (group.rest && shown_.count(signal->path) != 0) continue;
      Show(*signal, Name(line, *signal, captures, scope), line.radix, group.color);
    }
  }
  static std::string Name(const WaveLine& line, const WaveSignal& signal, const Captures& captures,
                          const std::string& scope) {
    const std::string full = Join(signal.scope, signal.name);
    std::string below = scope.empty() ? full : full.substr(scope.size() + 1);
    if (line.name.empty()) return below;
    // Members of a struct, when the pattern means all of it.
    return Fill(line.name, captures) + below.substr(Fill(line.pattern, captures).size());
  }
  void Show(const WaveSignal& signal, std::string name, WaveRadix radix, WaveColor color) {
    // Of a name with dots GTKWave shows the last part only.
    std::replace(name.begin(), name.end(), '.', ' ');
    std::ostringstream flags;
    flags << '@' << std::hex << Flags(radix, signal);
    body_.push_back(flags.str());
    if (color != WaveColor::kNormal) {
      body_.push_back("[color] " + std::to_string(static_cast<int>(color)));
    }
    body_.push_back("+{" + name + "} " + signal.path + signal.range);
    shown_.insert(signal.path);
  }
  // Puts what was written since `begin` into a group; nothing makes no group.
  void Close(const WaveGroup& group, const std::string& name, std::size_t begin) {
    if (body_.size() == begin) return;
    const std::uint64_t closed = group.open ? 0 : kClosedFlag;
    std::ostringstream first, last;
    first << '@' << std::hex << (kBlankFlag | kBeginFlag | closed);
    last << '@' << std::hex << (kBlankFlag | kEndFlag | closed);
    body_.insert(body_.begin() + static_cast<std::ptrdiff_t>(begin), {first.str(), "-" + name});
    body_.insert(body_.end(), {last.str(), "-" + name});
  }

  const Index& index_;
  std::vector<std::string> body_;
  std::vector<std::string> missing_;
  std::set<std::string> shown_;
};

// Pixels: the window, its closed tree of scopes, the names with values, and what is left for waves.
constexpr int kWidth = 1500, kHeight = 950, kTree = 60, kNames = 440, kWaves = 950;

std::string Head(const std::string& fst_name, const WaveWindow& window,
                 const std::vector<std::string>& missing) {
  std::ostringstream text;
  text << "[*]\n[*] Written by smk: open with gtkwave " << fst_name << " and this file.\n";
  for (const std::string& pattern : missing) text << "[*] not in the waves: " << pattern << '\n';
  text << "[*]\n[dumpfile] \"" << fst_name << "\"\n[timestart] " << window.from << '\n';
  text << "[size] " << kWidth << ' ' << kHeight << "\n[pos] -1 -1\n";
  // GTKWave's zoom is the logarithm of the time units that 200 pixels show.
  const double span = static_cast<double>(std::max(window.to, window.from + 1) - window.from);
  text.setf(std::ios::fixed);
  text << '*' << -std::log2(200.0 * span / kWaves) << ' ';
  if (window.marker) {
    text << *window.marker;
  } else {
    text << -1;
  }
  for (int named_marker = 0; named_marker < 26; ++named_marker) text << " -1";
  text << "\n[sst_width] " << kTree << "\n[signals_width] " << kNames << "\n[sst_expanded] 0\n";
  return text.str();
}

}  // namespace

Gtkw WriteGtkw(const WaveView& view, const std::vector<WaveSignal>& signals,
               const std::string& root, const std::string& fst_name, const WaveWindow& window) {
  const Index index(signals);
  Writer writer(index);
  writer.ClockAndReset(root);
  for (const WaveGroup& group : view.groups) writer.Write(group, root);
  Gtkw gtkw;
  gtkw.missing = writer.missing();
  gtkw.shown = writer.shown();
  gtkw.text = Head(fst_name, window, gtkw.missing);
  for (const std::string& line : writer.body()) gtkw.text += line + "\n";
  return gtkw;
}

WaveWindow FindWindow(const WaveView& view, const FstFile& fst, const std::string& root) {
  constexpr std::uint64_t kAll = 100;  // cycles that can be shown at once
  WaveWindow window{fst.start(), fst.end(), std::nullopt};
  WaveMarker marker;
  if (view.marker) {
    marker = *view.marker;
    const auto found = Index(fst.signals()).FindSignals(Join(root, marker.signal));
    if (!found.empty()) window.marker = fst.FirstTime(*found.front().what, marker.value);
  }
  if (window.to - window.from <= kAll * kWaveCycle) return window;
  const std::uint64_t before = marker.before * kWaveCycle;
  if (window.marker && *window.marker > window.from + before) {
    window.from = *window.marker - before;
  }
  window.to = std::min(window.to, window.from + (marker.before + marker.after) * kWaveCycle);
  return window;
}

}  // namespace smk
