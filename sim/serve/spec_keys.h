// SPDX-License-Identifier: Apache-2.0
// Keys that streams of jobs and clients with scripts have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "serve/devices.h"
#include "serve/spec.h"
#include "workload/toml_reader.h"

namespace smk::sim {

// Bytes as a number or a text such as "8M".
std::uint64_t ReadBytesKey(TomlReader* in, const std::string& key);
// scale and tbs.
JobSize ReadSizeKeys(TomlReader* in);
// A number, or a text such as "2M", which the option checks.
std::optional<std::string> ReadCountKey(TomlReader* in, const std::string& key);
// The table [set] as --set has it.
std::vector<std::string> ReadSetKeys(TomlReader* in);
// The same back: the table, or nothing.
std::string SetToml(const std::vector<std::string>& sets);
// Where the file says what an option could have said.
Origins OriginsIn(const toml::table& root, const std::string& path);
// Refuses settings of what is measured, which a stream has no use for; `why` ends the message.
void CheckSets(const Options& options, const char* why);
// What the command line says, the file does not.
void ForgetGiven(const Options& options, const std::string& scheduler, const DeviceOptions& device,
                 Origins* origins);

}  // namespace smk::sim
