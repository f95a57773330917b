// SPDX-License-Identifier: Apache-2.0
// The whole command: calls what the command line asks for, and says how errors come out.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/reason.h"
#include "cli/command_line.h"
#include "run/manifest.h"

namespace smk::sim {
namespace {

// Most bytes of a message; what it quotes of a file may have any length.
constexpr std::size_t kLongestLine = 1000;

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  std::string line = Printable(text);
  if (line.size() <= kLongestLine) return line;
  std::size_t end = kLongestLine;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

int Usage(const std::string& message) {
  fmt::print(stderr, "smk: {}\n", OneLine(message));
  return 2;
}

// Flushes what was printed; a full disk or a closed pipe is a failure too.
int Finish(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "smk: standard output: cannot be written{}\n",
             errno == 0 ? "" : fmt::format(": {}", std::strerror(errno)));
  return std::max(status, 1);
}

// fmt::print() throws when it cannot write.
int Show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return Finish(0);
}

// What is said of words that no command takes.
std::string Unexpected(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return "";
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word.rfind('-', 0) == 0; });
  std::vector<std::string> known;
  const std::string before = name.empty() ? "" : name + ": ";
  if (option != words.end()) {
    for (const CLI::Option* each : command->get_options()) {
      for (const std::string& long_name : each->get_lnames()) known.push_back("--" + long_name);
    }
    const std::string typed = option->substr(0, option->find('='));
    return fmt::format("{}no option '{}'{}", before, typed, DidYouMean(typed, known));
  }
  for (const CLI::App* sub : command->get_subcommands(nullptr)) known.push_back(sub->get_name());
  if (known.empty()) {
    return fmt::format("{}expected no more words, got '{}'", before, words.front());
  }
  return fmt::format("{}no command '{}'{}", before, words.front(),
                     DidYouMean(words.front(), known));
}

// What is on stdout of a command that failed.
std::string Failure(const CommandLineParser& parser, const std::string& reason) {
  const std::string status = "FAIL: " + OneLine(reason);
  if (!parser.PrintsJson()) return status + '\n';
  return nlohmann::ordered_json{{"status", status}}.dump(2) + '\n';
}

int Execute(const CommandLineParser& parser, const Context& context) {
  try {
    return Finish(parser.action(context));
  } catch (const InputError& error) {
    return Usage(error.what());
  } catch (const std::exception& error) {
    if (IsWrongPath(error)) return Usage(Reason(error));
    std::fputs(Failure(parser, Reason(error)).c_str(), stdout);
    return Finish(1);
  }
}

}  // namespace

int Main(int argc, const char* const* argv, const Backend& backend) {
  CommandLineParser parser;
  try {
    // They go into files, such as the manifest, when there is much to lose.
    for (int i = 1; i < argc; ++i) CheckName(fmt::format("word {} of the command", i), argv[i]);
    parser.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Show(parser.app.help());
  } catch (const CLI::CallForVersion& version) {
    return Show(std::string(version.what()) + "\n");
  } catch (const InputError& error) {
    return Usage(error.what());
  } catch (const CLI::ParseError& error) {
    const std::string unexpected = Unexpected(parser.app);
    return Usage((unexpected.empty() ? error.what() : unexpected) + "; see smk help");
  }
  if (!parser.action) return Usage("no command given; see smk help");
  return Execute(parser, {backend, CommandLine({argv, argv + argc})});
}

}  // namespace smk::sim
