#include <fmt/format.h>

#include "app/command_line.h"

namespace hwtv::app {
namespace {

// The flags of one command, separated by spaces.
std::string flags_of(const Command& command) {
  std::string words = "--help";
  for (const Option& option : command.options) {
    std::string flags = option.flags;
    for (char& c : flags)
      if (c == ',') c = ' ';
    words += " " + flags;
  }
  return words;
}

std::string names_of(std::span<const Command> commands) {
  std::string names;
  for (const Command& command : commands) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

std::string quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string bash_script(std::span<const Command> commands) {
  std::string cases;
  for (const Command& command : commands)
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, flags_of(command));
  return fmt::format(
      "_hwtv() {{\n  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" words\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\")); return\n  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "  if [[ \"$word\" == -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else COMPREPLY=($(compgen -W \"$(hwtv list --names 2>/dev/null)\" -f -- \"$word\")); fi\n"
      "}}\ncomplete -o filenames -F _hwtv hwtv\n",
      names_of(commands), cases);
}

std::string zsh_script(std::span<const Command> commands) {
  std::string names, cases;
  for (const Command& command : commands) {
    names += fmt::format("    {}\n", quoted(command.name + ":" + command.summary));
    cases += fmt::format("    {}) compadd -- {} ;;\n", command.name, flags_of(command));
  }
  return fmt::format(
      "#compdef hwtv\n_hwtv() {{\n  local -a commands\n  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi\n"
      "  if [[ \"$PREFIX\" != -* ]]; then _files; compadd -- $(hwtv list --names 2>/dev/null); "
      "return; fi\n"
      "  case \"$words[2]\" in\n{}  esac\n}}\n_hwtv \"$@\"\n",
      names, cases);
}

std::string fish_script(std::span<const Command> commands) {
  std::string script;
  for (const Command& command : commands) {
    script += fmt::format("complete -c hwtv -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          quoted(command.summary));
    for (const Option& option : command.options) {
      const size_t at = option.flags.find("--");
      if (at == std::string::npos) continue;
      script += fmt::format("complete -c hwtv -n '__fish_seen_subcommand_from {}' -l {} -d {}{}\n",
                            command.name, option.flags.substr(at + 2), quoted(option.help),
                            std::holds_alternative<bool*>(option.target) ? "" : " -r");
    }
  }
  return script;
}

}  // namespace

Result<std::string> completions(std::span<const Command> commands, std::string_view shell) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  return fail(ErrorCode::invalid_request, fmt::format("no completions for '{}'", shell),
              "choose bash, zsh or fish");
}

}  // namespace hwtv::app
