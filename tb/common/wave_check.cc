// SPDX-License-Identifier: Apache-2.0
// wave_check FST GTKW SCOPE: says whether the waveform can be read back, has signals in SCOPE and
// in time, and whether the save file names only signals that the waveform has. Knows nothing of the
// library that wrote the save file.
#include <gtkwave/fstapi.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

using Signals = std::set<std::string>;

// Full names with their ranges, as GTKWave shows them.
Signals ReadSignals(void* fst) {
  Signals signals;
  std::vector<std::string> scopes = {""};
  while (const fstHier* hier = fstReaderIterateHier(fst)) {
    if (hier->htyp == FST_HT_SCOPE) scopes.push_back(scopes.back() + hier->u.scope.name + ".");
    if (hier->htyp == FST_HT_UPSCOPE) scopes.pop_back();
    if (hier->htyp != FST_HT_VAR) continue;
    std::string name = scopes.back() + hier->u.var.name;
    const std::size_t space = name.find(' ');
    if (space != std::string::npos) name.erase(space, 1);
    signals.insert(name);
  }
  return signals;
}

// Names in a save file: lines that are neither flags, attributes, comments nor settings. What
// stands before the first flags is the file's head.
std::vector<std::string> ReadNames(const char* path) {
  std::vector<std::string> names;
  std::ifstream file(path);
  bool in_body = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    in_body = in_body || line.front() == '@';
    if (!in_body || line.front() == '@' || line.front() == '-' || line.front() == '[') continue;
    const std::size_t alias_end = line.front() == '+' ? line.find("} ") + 2 : 0;
    names.push_back(line.substr(alias_end));
  }
  return names;
}

void CountChange(void* count, std::uint64_t, fstHandle, const unsigned char*) {
  ++*static_cast<std::uint64_t*>(count);
}

int Complain(const std::string& what) {
  std::printf("wave_check: %s\n", what.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Complain("usage: wave_check FST GTKW SCOPE");
  void* fst = fstReaderOpen(argv[1]);
  if (fst == nullptr) return Complain(std::string(argv[1]) + " cannot be read");
  const Signals signals = ReadSignals(fst);
  const auto in_scope = signals.lower_bound(std::string(argv[3]) + ".");
  if (in_scope == signals.end() || in_scope->rfind(argv[3], 0) != 0) {
    return Complain(std::string("no signal in scope ") + argv[3]);
  }
  std::uint64_t changes = 0;
  fstReaderSetFacProcessMaskAll(fst);
  fstReaderIterBlocks(fst, CountChange, &changes, nullptr);
  const std::uint64_t time = fstReaderGetEndTime(fst) - fstReaderGetStartTime(fst);
  fstReaderClose(fst);
  if (changes == 0 || time == 0) return Complain("nothing happens in the wave");

  const std::vector<std::string> names = ReadNames(argv[2]);
  for (const std::string& name : names) {
    if (signals.count(name) == 0) return Complain("the save file names " + name);
  }
  if (names.size() < 4) return Complain("the save file shows next to nothing");
  std::printf("wave_check: %zu signals shown of %zu, %llu changes in %llu time units\n",
              names.size(), signals.size(), static_cast<unsigned long long>(changes),
              static_cast<unsigned long long>(time));
  return 0;
}
