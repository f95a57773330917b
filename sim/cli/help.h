// SPDX-License-Identifier: Apache-2.0
// smk help: one command, all of them, or all of them for man and for shells.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/commands.h"

namespace smk::sim {

struct HelpOptions {
  std::string topic;   // a command; "": all
  std::string format;  // man, bash, zsh, fish; "": as text
};

int HelpCommand(const Context& context, CLI::App* app, const HelpOptions& options);

}  // namespace smk::sim
