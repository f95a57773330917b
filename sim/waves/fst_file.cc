// SPDX-License-Identifier: Apache-2.0
#include "waves/fst_file.h"

#include <gtkwave/fstapi.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

namespace smk {
namespace {

// The scopes that are open while the hierarchy is read.
class Scopes {
 public:
  void Push(const fstHier& hier) {
    const std::string name(hier.u.scope.name, hier.u.scope.name_length);
    open_.push_back({name, hier.u.scope.typ == FST_ST_VCD_STRUCT});
  }
  void Pop() { open_.pop_back(); }

  // Fills in path, scope and name of a variable of the innermost scope.
  void Place(const std::string& variable, WaveSignal* signal) const {
    for (const Scope& scope : open_) {
      signal->path += scope.name + ".";
      if (scope.is_struct) {
        signal->name += scope.name + ".";
      } else if (scope.name.rfind("smk_", 0) != 0) {
        signal->scope += (signal->scope.empty() ? "" : ".") + scope.name;
      }
    }
    signal->path += variable;
    signal->name += variable;
  }

 private:
  struct Scope {
    std::string name;
    bool is_struct;
  };
  std::vector<Scope> open_;
};

WaveSignal MakeSignal(const fstHier& hier, const Scopes& scopes) {
  WaveSignal signal;
  std::string_view variable(hier.u.var.name, hier.u.var.name_length);
  const std::size_t space = variable.find(' ');
  if (space != std::string_view::npos) {
    signal.range = variable.substr(space + 1);
    variable = variable.substr(0, space);
  }
  scopes.Place(std::string(variable), &signal);
  signal.width = hier.u.var.length;
  signal.handle = hier.u.var.handle;
  return signal;
}

struct Search {
  std::string value;  // as the reader writes it: '0' and '1', most significant first
  std::optional<std::uint64_t> found;
};

void LookAt(void* user, std::uint64_t time, fstHandle, const unsigned char* value) {
  auto* search = static_cast<Search*>(user);
  if (!search->found && search->value == reinterpret_cast<const char*>(value)) {
    search->found = time;
  }
}

}  // namespace

FstFile::FstFile(const std::string& path) : reader_(fstReaderOpen(path.c_str())) {
  if (reader_ == nullptr) throw std::runtime_error(path + ": not an FST file that can be read");
  ReadSignals();
}

FstFile::~FstFile() { fstReaderClose(reader_); }

std::uint64_t FstFile::start() const { return fstReaderGetStartTime(reader_); }
std::uint64_t FstFile::end() const { return fstReaderGetEndTime(reader_); }

void FstFile::ReadSignals() {
  Scopes scopes;
  bool is_enum = false;  // an attribute goes before its variable
  fstReaderIterateHierRewind(reader_);
  while (const fstHier* hier = fstReaderIterateHier(reader_)) {
    switch (hier->htyp) {
      case FST_HT_SCOPE:
        scopes.Push(*hier);
        break;
      case FST_HT_UPSCOPE:
        scopes.Pop();
        break;
      case FST_HT_ATTRBEGIN:
        is_enum = hier->u.attr.typ == FST_AT_MISC && hier->u.attr.subtype == FST_MT_ENUMTABLE;
        break;
      case FST_HT_VAR:
        if (hier->u.var.typ != FST_VT_VCD_PARAMETER) {
          signals_.push_back(MakeSignal(*hier, scopes));
          signals_.back().is_enum = is_enum;
        }
        is_enum = false;
        break;
      default:
        break;
    }
  }
}

std::optional<std::uint64_t> FstFile::FirstTime(const WaveSignal& signal,
                                                std::uint64_t value) const {
  Search search;
  for (unsigned bit = signal.width; bit-- > 0;) {
    search.value += bit < 64 && (value >> bit & 1) != 0 ? '1' : '0';
  }
  fstReaderClrFacProcessMaskAll(reader_);
  fstReaderSetFacProcessMask(reader_, signal.handle);
  fstReaderIterBlocks(reader_, LookAt, &search, nullptr);
  return search.found;
}

}  // namespace smk
