#include "app/command_line.h"
#include "app/commands.h"

int main(int argc, char** argv) {
  const auto commands = hwtv::app::all_commands();
  return hwtv::app::run_command_line(commands, argc, argv);
}
