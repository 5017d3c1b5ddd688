#include "transform/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_member.h"
#include "base/quoted.h"
#include "transform/json_file.h"

namespace hwtv::transform {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kIndex = "model.safetensors.index.json";

using Listed = std::map<std::string, std::string>;  // tensor: part

Result<Listed> read_index(const std::string& folder) {
  const std::string path = folder + "/" + kIndex;
  HWTV_TRY(const Json json, read_json(path));
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::corrupt_file, fmt::format("{}: {}", path, what), "fetch it again");
  };
  const Json* map = json_member(json, "weight_map");
  if (!map || !map->is_object() || map->empty()) return bad("weight_map is no list of tensors");
  Listed listed;
  for (const auto& [name, part] : map->items()) {
    if (!part.is_string()) return bad(fmt::format("{} has no part", hwtv::quoted(name)));
    const auto file = part.get<std::string>();
    // A name, so that an index cannot lead out of its folder.
    if (file.empty() || file.find('/') != std::string::npos)
      return bad(fmt::format("{} is in {}, which is no file's name", hwtv::quoted(name),
                             hwtv::quoted(file)));
    listed.emplace(name, file);
  }
  return listed;
}

// "model*.safetensors", as folders without an index have them.
std::vector<std::string> part_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("model") && name.ends_with(".safetensors")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<void> check_parts_there(const std::string& folder, const std::set<std::string>& names) {
  std::vector<std::string> missing;
  std::error_code code;
  for (const std::string& name : names)
    if (!fs::exists(folder + "/" + name, code)) missing.push_back(name);
  if (missing.empty()) return {};
  return fail(
      ErrorCode::io,
      fmt::format("{} of the {} parts that {}/{} lists are missing, first {}", missing.size(),
                  names.size(), folder, kIndex, hwtv::quoted(missing.front())),
      "fetch them into the folder");
}

std::string first_of(const std::vector<std::string>& names) {
  return names.empty() ? std::string() : fmt::format(", first {}", hwtv::quoted(names.front()));
}

// What the index lists and what the parts hold are the same.
Result<void> check_index(const std::string& folder, const Listed& listed,
                         const std::map<std::string, std::string>& held) {
  std::vector<std::string> missing, extra;
  for (const auto& [name, part] : listed) {
    const auto found = held.find(name);
    if (found == held.end() || found->second != part) missing.push_back(name);
  }
  for (const auto& [name, part] : held)
    if (!listed.contains(name)) extra.push_back(name);
  if (missing.empty() && extra.empty()) return {};
  return fail(ErrorCode::corrupt_file,
              fmt::format("{}/{} lists {} tensors: {} are not in their parts{}; the parts hold {} "
                          "that it does not list{}",
                          folder, kIndex, listed.size(), missing.size(), first_of(missing),
                          extra.size(), first_of(extra)),
              "the folder is a mix of two models, or a part is cut short: fetch it again");
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code))
    return fail(ErrorCode::io, fmt::format("{} is no folder", folder),
                "give the folder of a Hugging Face model, the one with its config.json");
  Listed listed;
  std::set<std::string> names;
  if (fs::exists(folder + "/" + kIndex, code)) {
    HWTV_TRY(listed, read_index(folder));
    for (const auto& [tensor, part] : listed) names.insert(part);
    HWTV_TRY_VOID(check_parts_there(folder, names));
  } else {
    for (const std::string& name : part_names(folder)) names.insert(name);
  }
  if (names.empty())
    return fail(ErrorCode::io, fmt::format("{} has no model.safetensors", folder),
                "weights of other kinds (pytorch_model.bin) must be saved as safetensors first");
  Checkpoint checkpoint;
  for (const std::string& name : names) {
    HWTV_TRY(safetensors::File file, safetensors::File::open(folder + "/" + name));
    checkpoint.files_.push_back(std::move(file));
  }
  std::map<std::string, std::string> held;
  auto name = names.begin();
  for (const safetensors::File& file : checkpoint.files_) {
    for (const safetensors::TensorInfo& tensor : file.tensors()) {
      const auto [at, is_new] = held.emplace(tensor.name, *name);
      if (!is_new)
        return fail(ErrorCode::corrupt_file,
                    fmt::format("{}: tensor {} is in {} and in {}", folder,
                                hwtv::quoted(tensor.name), at->second, *name),
                    "the folder is a mix of two models: fetch it again");
      checkpoint.tensors_.push_back({&tensor, &file});
    }
    ++name;
  }
  if (!listed.empty()) HWTV_TRY_VOID(check_index(folder, listed, held));
  return checkpoint;
}

int64_t Checkpoint::size_bytes() const {
  int64_t sum = 0;
  for (const CheckpointTensor& tensor : tensors_)
    sum += static_cast<int64_t>(tensor.info->bytes.size());
  return sum;
}

}  // namespace hwtv::transform
