#include <memory>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/output.h"

namespace hwtv::app {

Command make_completions_command() {
  auto shell = std::make_shared<std::string>();
  Command command;
  command.name = "completions";
  command.summary = "Print the completion script of a shell";
  command.example = "hwtv completions bash > ~/.local/share/bash-completion/completions/hwtv";
  command.positionals = {{"SHELL", "bash, zsh or fish", shell.get()}};
  command.run = [shell]() -> Result<int> {
    HWTV_TRY(const std::string script, completions(all_commands(), *shell));
    Output output;
    HWTV_TRY_VOID(output.write(script));
    return kExitOk;
  };
  return command;
}

}  // namespace hwtv::app
