// SPDX-License-Identifier: Apache-2.0
#include "cosim/wave_writer.h"

#include <filesystem>
#include <vector>

#include "base/error.h"

namespace smk {

WaveWriter::~WaveWriter() {
  if (!fst_ || !fst_->isOpen()) return;
  try {
    fst_->close();
  } catch (const std::exception& error) {
    if (failure_ != nullptr) *failure_ = error.what();
    Abandon();
  }
}

void WaveWriter::Open() {
  fst_->set_time_unit("1ps");
  fst_->set_time_resolution("1ps");
  try {
    fst_->open(request_.path.c_str());
  } catch (const std::exception&) {
    Abandon();
    throw;
  }
  if (!fst_->isOpen()) throw InputError(request_.path + ": cannot write the waveform");
}

void WaveWriter::Dump(std::uint64_t time) {
  try {
    fst_->dump(time);
  } catch (const std::exception&) {
    Abandon();
    throw;
  }
}

void WaveWriter::Abandon() {
  // The library's object can no longer be destroyed. It keeps its files open, so they are made
  // empty before they go: what is written next has their room.
  static std::vector<VerilatedFstC*> abandoned;
  abandoned.push_back(fst_.release());
  for (const char* part : {"", ".hier"}) {
    std::error_code ignored;
    std::filesystem::resize_file(request_.path + part, 0, ignored);
    std::filesystem::remove(request_.path + part, ignored);
  }
}

}  // namespace smk
