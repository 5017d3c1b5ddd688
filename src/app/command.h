// One sub-command as a table: its words, its flags and what it does.  Everything that is printed
// about it (help, completions, suggestions) comes from the table.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace hwtv::app {

struct Option {
  // Where the value goes; a bool is a switch without a value, a vector may be given several times.
  using Target = std::variant<bool*, int64_t*, uint64_t*, double*, std::string*,
                              std::optional<std::string>*, std::vector<std::string>*>;
  std::string flags;       // "-n,--n-tokens"
  std::string value_name;  // "N"; empty for a switch
  std::string help;
  Target target;
  std::vector<std::string> choices = {};  // the only values accepted; empty: any
};

struct Positional {
  std::string name;  // "MODEL"
  std::string help;
  std::string* target;
  bool required = true;
};

struct Command {
  std::string name;     // "run"
  std::string summary;  // one line
  std::string example;  // whole command lines, one per line
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::function<Result<int>()> run;  // gives the exit code
};

}  // namespace hwtv::app
