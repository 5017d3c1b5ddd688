// MODEL on a command line: a path, or the name of a file in the model cache.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace hwtv::app {

struct CachedModel {
  std::string name;  // the file's name, without the folder
  std::string path;
  int64_t size_bytes = 0;
};

std::string model_folder();                // cache_folder()/models; empty: there is none
std::vector<CachedModel> cached_models();  // by name; empty when there is no cache

// A path that exists is itself; otherwise the cached file of that name, with or without ".gguf".
// Errors: invalid_request, with the nearest name.
Result<std::string> resolve_model(const std::string& name_or_path);

}  // namespace hwtv::app
