// SPDX-License-Identifier: Apache-2.0
// smk help --as man
#include <fmt/format.h>

#include "cli/describe.h"
#include "smk/version.h"

namespace smk::sim {
namespace {

// Text as roff wants it.
std::string Roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-') out += '\\';
    c == '\\' ? out += "\\e" : out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string Value(const ValueDescription& value) {
  if (value.type.empty()) return "";
  return fmt::format(value.optional ? " [\\fI{}\\fR]" : " \\fI{}\\fR", Roff(value.type));
}

std::string Synopsis(const CommandDescription& command) {
  std::string words;
  for (const OptionDescription& option : command.options) {
    if (option.names.empty()) words += Value(option.value);
  }
  return fmt::format("\\fBsmk {}\\fR{} [\\fIOPTION\\fR...]", Roff(command.name), words);
}

std::string OptionText(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Roff(name));
  }
  if (names.empty()) {
    names = fmt::format("\\fI{}\\fR", Roff(option.value.type));
  } else {
    names += Value(option.value);
  }
  return fmt::format(".TP\n{}\n{}\n", names, Roff(option.help));
}

std::string OptionTexts(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) text += OptionText(option);
  return text;
}

}  // namespace

std::string ManPage(const std::vector<CommandDescription>& commands, const std::string& footer) {
  const CommandDescription& all = commands.front();
  std::string text = fmt::format(".TH SMK 1 \"\" \"smk {}\" \"User Commands\"\n", kVersion);
  text += ".SH NAME\nsmk \\- simulator of GPUs that kernels share\n.SH SYNOPSIS\n";
  text += "\\fBsmk\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n";
  text += ".SH DESCRIPTION\n" + Roff(all.help) + "\n.SH OPTIONS\n" + OptionTexts(all);
  text += ".SH COMMANDS\n";
  for (const CommandDescription& command : commands) {
    if (&command == &all || !command.commands.empty()) continue;
    text +=
        fmt::format(".SS {}\n{}\n{}", Synopsis(command), Roff(command.help), OptionTexts(command));
  }
  return text + ".SH NOTES\n" + Roff(footer) + "\n";
}

}  // namespace smk::sim
