#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/version.h"
#include "base/nearest.h"

namespace hwtv::app {
namespace {

// Every flag of a command as it is typed: "-n,--n-tokens" is two.
std::vector<std::string> flag_words(const Command& command) {
  std::vector<std::string> words;
  for (const Option& option : command.options)
    for (size_t at = 0; at < option.flags.size();) {
      const size_t comma = std::min(option.flags.find(',', at), option.flags.size());
      words.push_back(option.flags.substr(at, comma - at));
      at = comma + 1;
    }
  words.push_back("--help");
  return words;
}

std::vector<std::string> command_words(std::span<const Command> commands) {
  std::vector<std::string> words;
  for (const Command& command : commands) words.push_back(command.name);
  return words;
}

// Empty for a word that is a number of type T, otherwise what is wrong with it.
template <typename T>
std::string number_fault(const std::string& word) {
  T value{};
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, value);
  if (parsed.ec == std::errc::result_out_of_range)
    return fmt::format("{} is out of range", word);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return fmt::format("'{}' is not {}", word,
                       std::is_floating_point_v<T> ? "a number such as 0.7" : "a whole number");
  return {};
}

template <typename T>
CLI::Option* add_value(CLI::App& parser, const Option& option, T* target) {
  CLI::Option* added = parser.add_option(option.flags, *target, option.help);
  if constexpr (std::is_arithmetic_v<T>) added->check(CLI::Validator(number_fault<T>, "", ""));
  return added;
}

void add_option(CLI::App& parser, const Option& option) {
  CLI::Option* added = std::visit(
      [&](auto* target) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(target), bool*>)
          return parser.add_flag(option.flags, *target, option.help);
        else
          return add_value(parser, option, target);
      },
      option.target);
  if (!option.value_name.empty()) added->type_name(option.value_name);
  if (std::holds_alternative<std::vector<std::string>*>(option.target))
    added->expected(1)->take_all();
  else if (!std::holds_alternative<bool*>(option.target))
    added->take_last();
  // The value becomes the choice as it is written in the table.
  if (!option.choices.empty()) added->transform(CLI::IsMember(option.choices, CLI::ignore_case));
}

void add_command(CLI::App& root, const Command& command, const Command*& chosen) {
  CLI::App* parser = root.add_subcommand(command.name, command.summary);
  parser->footer("Example:\n  " + command.example);
  for (const Positional& positional : command.positionals) {
    CLI::Option* added = parser->add_option(positional.name, *positional.target, positional.help);
    if (positional.required) added->required();
  }
  for (const Option& option : command.options) add_option(*parser, option);
  parser->callback([&chosen, &command] { chosen = &command; });
}

// The command that the words name, for messages about its flags; nullptr: none.
const Command* named_command(std::span<const Command> commands, int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    for (const Command& command : commands)
      if (command.name == argv[i]) return &command;
  return nullptr;
}

// The first word that no table knows: an unknown flag of the command, or an unknown command.
Error unknown_word(std::span<const Command> commands, int argc, char** argv) {
  const Command* command = named_command(commands, argc, argv);
  const std::vector<std::string> known = command ? flag_words(*command) : command_words(commands);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word =
        std::string_view(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if ((command && !word.starts_with("-")) || (!command && word.starts_with("-"))) continue;
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const std::string near = nearest(word, known);
    return {ErrorCode::invalid_request,
            command ? fmt::format("hwtv {} has no flag {}", command->name, word)
                    : fmt::format("hwtv has no command '{}'", word),
            near.empty() ? fmt::format("see: hwtv {}--help", command ? command->name + " " : "")
                         : fmt::format("did you mean {}?", near)};
  }
  return {ErrorCode::invalid_request, "too many words on the command line",
          command ? fmt::format("see: hwtv {} --help", command->name) : "see: hwtv --help"};
}

Error usage_error(const CLI::ParseError& error, std::span<const Command> commands, int argc,
                  char** argv) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) return unknown_word(commands, argc, argv);
  const Command* command = named_command(commands, argc, argv);
  if (!command && argc > 1) return unknown_word(commands, argc, argv);
  return {ErrorCode::invalid_request, error.what(),
          command ? fmt::format("see: hwtv {} --help", command->name) : "see: hwtv --help"};
}

// What --help or --version asks for.
int print_asked(const CLI::App& root, const CLI::Success& success) {
  std::ostringstream text, nothing;
  root.exit(success, text, nothing);
  const Result<void> written = Output().write(text.str());
  if (written) return kExitOk;
  print_error(written.error());
  return exit_code(written.error().code);
}

}  // namespace

void print_error(const Error& error) {
  std::fflush(stdout);
  note("hwtv: {}\n", error.what);
  if (!error.advice.empty()) note("      {}\n", error.advice);
}

int run_command_line(std::span<const Command> commands, int argc, char** argv) {
  CLI::App root("Runs and serves large language models and accounts for the hardware.", "hwtv");
  root.set_version_flag("--version", version_text());
  root.require_subcommand(1);
  root.footer("Example:\n  hwtv run SmolLM2-135M-Instruct.Q4_1.gguf -p \"Why is the sky blue?\"");
  const Command* chosen = nullptr;
  for (const Command& command : commands) add_command(root, command, chosen);
  if (argc <= 1) {
    fmt::print("{}", root.help());
    return exit_code(ErrorCode::invalid_request);
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return print_asked(root, success);
  } catch (const CLI::ParseError& error) {
    print_error(usage_error(error, commands, argc, argv));
    return exit_code(ErrorCode::invalid_request);
  }
  const Result<int> result = chosen->run();
  if (result) return *result;
  print_error(result.error());
  return exit_code(result.error().code);
}

}  // namespace hwtv::app
