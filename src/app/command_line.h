// From the words of a command line to one command's run(): parsing, help, suggestions, exit codes.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"

namespace hwtv::app {

// Parses, runs the chosen command and gives the process's exit code.  Help goes to stdout, errors
// as two lines to stderr.
int run_command_line(std::span<const Command> commands, int argc, char** argv);

// Prints an error as two lines to stderr: what, then advice.
void print_error(const Error& error);

// A completion script for "bash", "zsh" or "fish".  Errors: invalid_request.
Result<std::string> completions(std::span<const Command> commands, std::string_view shell);

}  // namespace hwtv::app
