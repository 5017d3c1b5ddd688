#include "app/model_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/command_line.h"
#include "base/folders.h"
#include "gguf/quoted.h"

namespace hwtv::app {

std::string model_folder() {
  const std::string cache = cache_folder();
  return cache.empty() ? "" : cache + "/models";
}

std::vector<CachedModel> cached_models() {
  std::vector<CachedModel> models;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(model_folder(), code)) {
    if (!entry.is_regular_file(code) || entry.path().extension() != ".gguf") continue;
    models.push_back({entry.path().filename().string(), entry.path().string(),
                      static_cast<int64_t>(entry.file_size(code))});
  }
  std::sort(models.begin(), models.end(),
            [](const CachedModel& a, const CachedModel& b) { return a.name < b.name; });
  return models;
}

Result<std::string> resolve_model(const std::string& name_or_path) {
  std::error_code code;
  if (std::filesystem::exists(name_or_path, code)) return name_or_path;
  std::vector<std::string> names;
  for (const CachedModel& model : cached_models()) {
    if (model.name == name_or_path || model.name == name_or_path + ".gguf") return model.path;
    names.push_back(model.name);
    names.push_back(model.name.substr(0, model.name.size() - 5));  // without ".gguf"
  }
  const std::string near = nearest(name_or_path, names);
  return fail(
      ErrorCode::invalid_request,
      fmt::format("there is no file {} and no model of that name in the cache, which has {}",
                  gguf::quoted(name_or_path), names.size() / 2),
      near.empty() ? "give a GGUF file's path, or a name that `hwtv list` shows"
                   : fmt::format("did you mean {}?", near));
}

}  // namespace hwtv::app
