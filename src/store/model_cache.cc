#include "store/model_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/folders.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "gguf/split_name.h"
#include "store/file_choice.h"
#include "store/source.h"
#include "store/words.h"

namespace hwtv::store {
namespace {

constexpr int kDepthMax = 8;  // owner, repository and the folders within it

bool same_name(std::string_view a, std::string_view b) {
  return a == b || (a.ends_with(kExtension) && a.substr(0, a.size() - kExtension.size()) == b);
}

// Every GGUF file below the folder; not in hidden folders, where files are half written.
std::vector<std::filesystem::directory_entry> gguf_files(const std::string& folder) {
  std::vector<std::filesystem::directory_entry> found;
  std::error_code code;
  auto at = std::filesystem::recursive_directory_iterator(
      folder, std::filesystem::directory_options::skip_permission_denied, code);
  for (; !code && at != std::filesystem::recursive_directory_iterator(); at.increment(code)) {
    std::error_code ignored;
    const bool is_hidden = at->path().filename().string().starts_with(".");
    if (at->is_directory(ignored) && (is_hidden || at.depth() >= kDepthMax))
      at.disable_recursion_pending();
    if (at->is_regular_file(ignored) && at->path().extension() == kExtension) found.push_back(*at);
  }
  return found;
}

// nullopt: `name` is not of the form "owner/repo[:quant]".
std::optional<Result<CachedModel>> find_pulled(const std::string& name,
                                               const std::vector<CachedModel>& models) {
  const auto hub = parse_hub_name(name);
  if (!hub) return std::nullopt;
  const std::string place = hub->owner + "/" + hub->repo;
  const std::string folder = model_folder() + "/" + place + "/";
  std::vector<ListedFile> files;
  std::error_code code;
  for (const CachedModel& model : models)
    if (model.name.starts_with(place + "/"))
      for (const std::string& part : model.parts)
        files.push_back({part.substr(folder.size()),
                         static_cast<int64_t>(std::filesystem::file_size(part, code)), ""});
  if (files.empty())
    return fail(ErrorCode::invalid_request,
                fmt::format("there is no file {} and nothing of {} in the cache",
                            hwtv::quoted(name), hwtv::quoted(place)),
                fmt::format("fetch it: hwtv pull {}", hwtv::quoted(name)));
  auto parts = choose_files(files, hub->choice, place);
  if (!parts) return fail(std::move(parts.error()));
  const std::string first = folder + (*parts)[0].path;
  for (const CachedModel& model : models)
    if (model.path == first) return model;
  return std::nullopt;
}

}  // namespace

std::string model_folder() {
  const std::string cache = cache_folder();
  return cache.empty() ? "" : cache + "/models";
}

std::vector<CachedModel> cached_models() {
  const std::string folder = model_folder();
  std::map<std::string, CachedModel> by_stem;  // the parts of a split model have one
  for (const auto& entry : gguf_files(folder)) {
    const std::string path = entry.path().string();
    const auto split = gguf::parse_split_name(path);
    CachedModel& model =
        by_stem[split ? fmt::format("{}-of-{}", split->stem, split->n_parts) : path];
    std::error_code code;
    model.size_bytes += static_cast<int64_t>(entry.file_size(code));
    model.parts.push_back(path);
  }
  std::vector<CachedModel> models;
  for (auto& [stem, model] : by_stem) {
    std::sort(model.parts.begin(), model.parts.end());
    model.path = model.parts[0];
    model.name = model.path.substr(folder.size() + 1);
    models.push_back(std::move(model));
  }
  std::sort(models.begin(), models.end(),
            [](const CachedModel& a, const CachedModel& b) { return a.name < b.name; });
  return models;
}

Result<CachedModel> find_model(const std::string& name) {
  const std::vector<CachedModel> models = cached_models();
  std::vector<const CachedModel*> by_file;
  std::vector<std::string> names;
  for (const CachedModel& model : models) {
    if (same_name(model.name, name)) return model;
    if (same_name(base_name(model.name), name)) by_file.push_back(&model);
    names.push_back(model.name);
    names.push_back(model.name.substr(0, model.name.size() - kExtension.size()));
  }
  if (by_file.size() == 1) return *by_file[0];
  if (by_file.size() > 1)
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{} models of the cache have a file {}", by_file.size(), hwtv::quoted(name)),
        fmt::format("name one of them: {}", by_file[0]->name));
  if (auto pulled = find_pulled(name, models)) return std::move(*pulled);
  const std::string near = nearest(name, names);
  return fail(
      ErrorCode::invalid_request,
      fmt::format("there is no file {} and no model of that name in the cache, which has {}",
                  hwtv::quoted(name), models.size()),
      near.empty() ? "give a GGUF file's path, or a name that `hwtv list` shows"
                   : fmt::format("did you mean {}?", near));
}

Result<std::string> resolve_model(const std::string& name_or_path) {
  std::error_code code;
  if (std::filesystem::exists(name_or_path, code)) return name_or_path;
  HWTV_TRY(const CachedModel model, find_model(name_or_path));
  return model.path;
}

Result<void> remove_model(const CachedModel& model) {
  for (const std::string& part : model.parts)
    if (::unlink(part.c_str()) != 0)
      return fail(ErrorCode::io, fmt::format("cannot remove {}: {}", part, std::strerror(errno)),
                  "check the folder's permissions");
  std::filesystem::path folder = std::filesystem::path(model.path).parent_path();
  while (folder.string().size() > model_folder().size() && ::rmdir(folder.c_str()) == 0)
    folder = folder.parent_path();
  return {};
}

}  // namespace hwtv::store
