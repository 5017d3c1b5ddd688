#include "app/command_line.h"
#include "app/commands.h"
#include "app/lost_page.h"

int main(int argc, char** argv) {
  hwtv::app::report_lost_pages();
  const auto commands = hwtv::app::all_commands();
  return hwtv::app::run_command_line(commands, argc, argv);
}
