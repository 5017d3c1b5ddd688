#include "store/file_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/quoted.h"
#include "base/units.h"
#include "gguf/split_name.h"
#include "store/words.h"

namespace hwtv::store {
namespace {

constexpr std::string_view kUsual = "Q4_K_M";  // where nothing is asked for

struct ModelFiles {
  std::string stem;               // the path without ".gguf" and without the number of a part
  int64_t n_parts = 1;            // as the names say
  std::vector<ListedFile> parts;  // that are there, by their number
  int64_t size_bytes() const {
    int64_t sum = 0;
    for (const ListedFile& part : parts) sum += part.size_bytes;
    return sum;
  }
};

std::vector<ModelFiles> models_of(std::span<const ListedFile> files) {
  std::map<std::pair<std::string, int64_t>, std::map<int64_t, ListedFile>> by_name;
  for (const ListedFile& file : files) {
    if (!lower(file.path).ends_with(kExtension)) continue;
    const auto split = gguf::parse_split_name(file.path);
    if (split)
      by_name[{split->stem, split->n_parts}][split->part] = file;
    else
      by_name[{file.path.substr(0, file.path.size() - kExtension.size()), 1}][1] = file;
  }
  std::vector<ModelFiles> models;
  for (auto& [name, parts] : by_name) {
    ModelFiles model{name.first, name.second, {}};
    for (auto& [number, part] : parts) model.parts.push_back(std::move(part));
    models.push_back(std::move(model));
  }
  return models;
}

// "Q4_K_M" is a word of "UD-Q4_K_M" and of "q4_k_m/model", but not of "Q4_K_M_L" or of "IQ4_K_M".
bool has_word(std::string_view stem, std::string_view word) {
  const std::string text = lower(stem), wanted = lower(word);
  const auto bounds = [&](size_t at, std::string_view marks) {
    return at >= text.size() || marks.find(text[at]) != std::string_view::npos;
  };
  for (size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1))
    if ((at == 0 || bounds(at - 1, "-._/")) && bounds(at + wanted.size(), "-./")) return true;
  return false;
}

bool is_model(const ModelFiles& model) {
  const std::string name = lower(base_name(model.stem));
  return name.find("mmproj") == std::string::npos && name.find("imatrix") == std::string::npos;
}

// By the name of any of its files.
bool bears(const ModelFiles& model, std::string_view file_name) {
  return std::any_of(model.parts.begin(), model.parts.end(), [&](const ListedFile& part) {
    return part.path == file_name || base_name(part.path) == file_name;
  });
}

std::string names_of(std::span<const ModelFiles> models) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ",
                        hwtv::quoted(base_name(models[i].parts[0].path)),
                        format_bytes(models[i].size_bytes()));
  if (models.size() > kShown) text += fmt::format(" and {} more", models.size() - kShown);
  return text;
}

std::vector<ModelFiles> fitting(std::span<const ModelFiles> models, std::string_view choice) {
  const bool by_file = lower(choice).ends_with(kExtension);
  std::vector<ModelFiles> found;
  for (const ModelFiles& model : models) {
    if (by_file ? !bears(model, choice) : !is_model(model)) continue;
    if (!by_file && !choice.empty() && !has_word(model.stem, choice)) continue;
    found.push_back(model);
  }
  if (!choice.empty() || found.size() <= 1) return found;
  std::vector<ModelFiles> usual;
  for (const ModelFiles& model : found)
    if (has_word(model.stem, kUsual)) usual.push_back(model);
  return usual.size() == 1 ? usual : found;
}

}  // namespace

Result<std::vector<ListedFile>> choose_files(std::span<const ListedFile> files,
                                             std::string_view choice, const std::string& place) {
  std::vector<ModelFiles> all = models_of(files);
  if (all.empty())
    return fail(ErrorCode::invalid_request,
                fmt::format("{} has {} files and none of them is a GGUF file", place, files.size()),
                "name a repository with GGUF files: they are often called NAME-GGUF");
  std::vector<ModelFiles> found = fitting(all, choice);
  if (found.empty())
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{} has no model {}; it has {}", place, hwtv::quoted(choice), names_of(all)),
        fmt::format("name one of them: {}:{}", place,
                    hwtv::quoted(base_name(all[0].parts[0].path))));
  if (found.size() > 1)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} models of {} fit{}: {}", found.size(), place,
                            choice.empty() ? "" : " " + hwtv::quoted(choice), names_of(found)),
                fmt::format("name one of them: {}:{}", place,
                            hwtv::quoted(base_name(found[0].parts[0].path))));
  ModelFiles& model = found[0];
  if (static_cast<int64_t>(model.parts.size()) != model.n_parts)
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has {} of the {} parts of {}", place, model.parts.size(),
                            model.n_parts, hwtv::quoted(base_name(model.stem))),
                "choose another quantization, or get the parts that lack");
  return std::move(model.parts);
}

}  // namespace hwtv::store
