// Where the peer's test files lie: in the cache that `make peer` fills.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace hwtv::text {

inline std::string cache_folder() {
  if (const char* folder = std::getenv("HWTV_CACHE")) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME")) return std::string(folder) + "/hwtv";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.cache/hwtv";
}

// nullopt: there is no cache at all.  Once there is one, a missing file is the test's failure.
inline std::optional<std::string> peer_models_folder() {
  if (!std::filesystem::is_directory(cache_folder())) return std::nullopt;
  return cache_folder() + "/peer/llama_cpp_python-0.3.36/vendor/llama.cpp/models";
}

}  // namespace hwtv::text
