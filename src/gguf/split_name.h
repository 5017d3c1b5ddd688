// The names of a split model's parts: "NAME-00002-of-00003.gguf".  For file.cc and for commands
// that list or remove models.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hwtv::gguf {

struct SplitName {
  std::string stem;  // "NAME", with its folder
  int64_t part;      // 1 to n_parts
  int64_t n_parts;
};

// nullopt: the path does not have that form.
std::optional<SplitName> parse_split_name(std::string_view path);
std::string split_path(std::string_view stem, int64_t part, int64_t n_parts);  // part from 1

}  // namespace hwtv::gguf
