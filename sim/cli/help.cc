// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/describe.h"

namespace smk::sim {
namespace {

std::string AllAs(const std::string& format, const CLI::App& app, const Backend& backend) {
  const std::vector<CommandDescription> commands = DescribeCommands(app, backend);
  if (format == "man") return ManPage(commands, app.get_footer());
  if (format == "bash") return BashCompletion(commands);
  if (format == "zsh") return ZshCompletion(commands);
  if (format == "fish") return FishCompletion(commands);
  throw InputError(fmt::format("--as: expected man, bash, zsh or fish, got '{}'", format));
}

std::string HelpText(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) return app.help("", CLI::AppFormatMode::All);
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    if (sub->get_name() == topic) return sub->help("smk");
  }
  throw InputError(fmt::format("help: no command '{}'{}", topic, DidYouMean(topic, names)));
}

}  // namespace

int HelpCommand(const Context& context, CLI::App* app, const HelpOptions& options) {
  app->clear();  // else the help of the command "help" is what comes out
  if (!options.format.empty() && !options.topic.empty()) {
    throw InputError("help: --as is of all commands");
  }
  fmt::print("{}", options.format.empty() ? HelpText(*app, options.topic)
                                          : AllAs(options.format, *app, context.backend));
  return 0;
}

}  // namespace smk::sim
