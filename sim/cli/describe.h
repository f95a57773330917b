// SPDX-License-Identifier: Apache-2.0
// The command line as others want to know it: readers of a manual, and shells that complete words.
// All of it comes from the commands and options as CLI11 has them, so nothing is listed twice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "experiment/backend.h"

namespace smk::sim {

// A word that an option or a command takes.
struct ValueDescription {
  std::string type;                // as the help names it: "NAME", "FILE"; "": there is none
  std::vector<std::string> words;  // all that it can be, when it is one of a list
  std::string separator;           // of several of them: "+"
  bool file = false, folder = false;
  bool optional = false;
};

struct OptionDescription {
  std::vector<std::string> names;  // "-h", "--help"; none: the words of the command itself
  std::string help;
  ValueDescription value;
};

struct CommandDescription {
  std::string name;  // "trace info"; "" for smk itself
  std::string help;
  std::vector<std::string> commands;  // of its own: info, export
  std::vector<OptionDescription> options;

  // What its own words can be, all of them together; no type: it takes none.
  ValueDescription Words() const;
};

// smk itself first, then each command before those that belong to it.
std::vector<CommandDescription> DescribeCommands(const CLI::App& app, const Backend& backend);

// A page for man(1); `footer` ends it.
std::string ManPage(const std::vector<CommandDescription>& commands, const std::string& footer);

// Scripts that make a shell complete the words of smk.
std::string BashCompletion(const std::vector<CommandDescription>& commands);
std::string ZshCompletion(const std::vector<CommandDescription>& commands);
std::string FishCompletion(const std::vector<CommandDescription>& commands);

}  // namespace smk::sim
