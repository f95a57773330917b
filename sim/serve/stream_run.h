// SPDX-License-Identifier: Apache-2.0
// Executes a stream, or one of its jobs alone, in this process; without files and tables.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "serve/serve.h"

namespace smk::sim {

class ReplayDevice;

// What a stream runs on: the cycle model, or replay with its rates.
class StreamDevice {
 public:
  // `serving` must live as long. Rates of jobs alone are measured here.
  StreamDevice(const Backend& cycle_model, const Serving& serving);
  ~StreamDevice();
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;

  // The backend whose runs are those of the device.
  const Backend& backend() const { return backend_; }
  // What a scheduler's profile of a kernel is taken of, by the cycle model: under replay a kernel
  // may be longer than what the cycle model can run.
  ProfiledTbs profiled_tbs() const;
  // What was measured, as replay_rates.csv; none of the cycle model.
  std::optional<std::string> RatesCsv() const;

 private:
  Backend backend_;
  std::unique_ptr<ReplayDevice> replay_;
};

// The stream under its scheduler, which first measures what it has to know; or the job alone.
RunResult RunStream(const Backend& cycle_model, Serving* serving,
                    const std::optional<std::size_t>& alone);

}  // namespace smk::sim
