// The models on this disk by name: MODEL on a command line is a path, or one of these.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace hwtv::store {

struct CachedModel {
  std::string name;        // the path within the model folder: "tiny.gguf", "owner/repo/tiny.gguf"
  std::string path;        // of the first part
  int64_t size_bytes = 0;  // of all parts
  std::vector<std::string> parts;  // the paths of all files; one unless the model is split
};

std::string model_folder();                // cache_folder()/models; empty: there is none
std::vector<CachedModel> cached_models();  // by name; empty when there is no cache

// The cached model of that name: its whole name or its file's alone, with or without ".gguf", or
// "owner/repo[:quant]" as it was pulled.  Errors: invalid_request with the nearest name, or with
// the names where several fit.
Result<CachedModel> find_model(const std::string& name);

// A path that exists is itself; otherwise the path of find_model().
Result<std::string> resolve_model(const std::string& name_or_path);

// Removes its files and the folders that are empty then.  Errors: io.
Result<void> remove_model(const CachedModel& model);

}  // namespace hwtv::store
