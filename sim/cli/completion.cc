// SPDX-License-Identifier: Apache-2.0
// smk help --as bash, zsh, fish. Each script first finds the command among the words before the
// cursor; where words are joined, as in sgemm+lbm, the last of them is completed.
#include <fmt/format.h>

#include "base/numbers.h"
#include "cli/describe.h"

namespace smk::sim {
namespace {

using Commands = std::vector<CommandDescription>;

// Text between single quotes; `special` characters get a backslash.
std::string Quoted(const std::string& text, const std::string& special = "",
                   const std::string& quote = "'\\''") {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) out += '\\';
    c == '\'' ? out += quote : out += c;
  }
  return "'" + out + "'";
}

std::string Names(const CommandDescription& command) {
  std::vector<std::string> names = command.commands;
  for (const OptionDescription& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return Join(names, " ");
}

// A line for each command; in `line`, {0} is the one that holds it and the word: "trace/info", {1}
// its name: "trace info".
std::string Tree(const Commands& commands, const char* line) {
  std::string text;
  for (const CommandDescription& command : commands) {
    if (command.name.empty()) continue;
    const std::size_t space = command.name.find(' ');
    const std::string path = space == std::string::npos ? "/" + command.name
                                                        : command.name.substr(0, space) + "/" +
                                                              command.name.substr(space + 1);
    text += fmt::format(fmt::runtime(line), path, command.name);
  }
  return text;
}

// ---- bash ----

std::string BashValue(const ValueDescription& value) {
  std::string text;
  if (!value.words.empty()) text += fmt::format(" words='{}'", Join(value.words, " "));
  if (!value.separator.empty()) text += fmt::format(" separator='{}'", value.separator);
  if (value.file) text += " files=-f";
  if (value.folder) text += " files=-d";
  return text.empty() ? " return" : text;
}

constexpr char kBashBegin[] = R"(# Completions of smk for bash, written by smk help --as bash.
_smk() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  local words='' separator='' files='' before=''
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command/$word" in
)";
constexpr char kBashEnd[] = R"(  esac
  [[ -z $separator || $cur != *"$separator"* ]] || before=${cur%"$separator"*}$separator
  local IFS=$'\n'
  COMPREPLY=($(compgen -P "$before" -W "${words// /$'\n'}" -- "${cur#"$before"}"))
  [[ -z $files ]] || COMPREPLY+=($(compgen "$files" -- "$cur"))
}
complete -o filenames -F _smk smk
)";

// ---- zsh ----

std::string ZshValue(const ValueDescription& value) {
  if (value.type.empty()) return "";
  std::string action = value.folder ? "_files -/" : value.file ? "_files" : " ";
  if (!value.words.empty()) {
    action = value.separator.empty() ? fmt::format("({})", Join(value.words, " "))
                                     : fmt::format(" _sequence -s {} compadd - {}", value.separator,
                                                   Join(value.words, " "));
  }
  std::string type;
  for (const char c : value.type) type += c == ':' ? "\\:" : std::string(1, c);
  return fmt::format("{}:{}:{}", value.optional ? ":" : "", type, action);
}

std::string ZshArguments(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string help = Quoted(option.help, "[]\\");
      text += fmt::format(" \\\n        '*{}['{}']{}'", name, help, ZshValue(option.value));
    }
  }
  const ValueDescription words = command.Words();
  if (!words.type.empty()) {
    text += fmt::format(" \\\n        '*{}'", ZshValue(words));
  } else if (!command.commands.empty()) {
    text += fmt::format(" \\\n        '*:command:({})'", Join(command.commands, " "));
  }
  return text;
}

// ---- fish ----

std::string FishValue(const OptionDescription& option) {
  const ValueDescription& value = option.value;
  std::string text = value.file || value.folder ? " -F" : " -f";
  if (!value.type.empty() && !value.optional && !option.names.empty()) text += " -r";
  if (value.words.empty()) return text;
  const std::string words = Join(value.words, " ");
  return text + (value.separator.empty()
                     ? fmt::format(" -a '{}'", words)
                     : fmt::format(" -a '(__smk_joined {} {})'", value.separator, words));
}

constexpr char kFishBegin[] = R"(# Completions of smk for fish, written by smk help --as fish.
function __smk_is --argument-names wanted
    set -l command ''
    for word in (commandline -opc)[2..]
        switch "$command/$word"
)";
constexpr char kFishMiddle[] = R"(        end
    end
    test "$command" = "$wanted"
end
function __smk_joined --argument-names separator
    set -l before (commandline -ct | string replace -r "[^$separator]*\$" '')
    printf '%s\n' $before$argv[2..]
end
complete -c smk -f
)";

}  // namespace

std::string BashCompletion(const Commands& commands) {
  std::string values, names;
  for (const CommandDescription& command : commands) {
    for (const OptionDescription& option : command.options) {
      if (option.value.type.empty() || option.value.optional) continue;
      for (const std::string& name : option.names) {
        values += fmt::format("    '{}/{}'){} ;;\n", command.name, name, BashValue(option.value));
      }
    }
    const ValueDescription words = command.Words();
    const std::string all = fmt::format(" words='{}'", Names(command));
    names += fmt::format("    '{}/-'*){} ;;\n", command.name, all);
    names += fmt::format("    '{}/'*){} ;;\n", command.name,
                         words.type.empty() ? all : BashValue(words));
  }
  return kBashBegin + Tree(commands, "      '{0}') command='{1}' ;;\n") +
         "    esac\n  done\n  case \"$command/$prev\" in\n" + values +
         "    *) prev='' ;;\n  esac\n  [[ -n $prev ]] || case \"$command/$cur\" in\n" + names +
         kBashEnd;
}

std::string ZshCompletion(const Commands& commands) {
  std::string cases;
  for (const CommandDescription& command : commands) {
    cases += fmt::format("    '{}')\n      _arguments{}\n      ;;\n", command.name,
                         ZshArguments(command));
  }
  return "#compdef smk\n# Completions of smk for zsh, written by smk help --as zsh.\n"
         "_smk() {\n  local command='' word\n  for word in ${words[2,CURRENT-1]}; do\n"
         "    case \"$command/$word\" in\n" +
         Tree(commands, "      '{0}') command='{1}' ;;\n") +
         "    esac\n  done\n  case $command in\n" + cases + "  esac\n}\n_smk \"$@\"\n";
}

std::string FishCompletion(const Commands& commands) {
  std::string text = kFishBegin +
                     Tree(commands, "            case '{0}'\n                set command '{1}'\n") +
                     kFishMiddle;
  for (const CommandDescription& command : commands) {
    const std::string begin = fmt::format("complete -c smk -n \"__smk_is '{}'\"", command.name);
    if (!command.commands.empty()) {
      text += fmt::format("{} -a '{}'\n", begin, Join(command.commands, " "));
    }
    for (const OptionDescription& option : command.options) {
      std::string names;
      for (const std::string& name : option.names) {
        names += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += fmt::format("{}{}{} -d {}\n", begin, names, FishValue(option),
                          Quoted(option.help, "\\", "\\'"));
    }
  }
  return text;
}

}  // namespace smk::sim
