#include "gguf/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/quoted.h"
#include "gguf/parser.h"
#include "gguf/split_name.h"

namespace hwtv::gguf {
namespace {

constexpr std::string_view kDamaged = "the file is damaged: download or convert it again";

// How messages call a T, and how a value becomes one.
template <typename T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, int64_t>) return "an integer";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_same_v<T, bool>) return "a bool";
  if constexpr (std::is_same_v<T, std::string_view>) return "a string";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "an array of integers";
  if constexpr (std::is_same_v<T, std::vector<float>>) return "an array of floats";
  if constexpr (std::is_same_v<T, std::vector<std::string_view>>) return "an array of strings";
}

template <typename T>
std::optional<T> convert(const Value& value) {
  if constexpr (std::is_same_v<T, int64_t>) return value.as_int();
  if constexpr (std::is_same_v<T, double>) return value.as_float();
  if constexpr (std::is_same_v<T, bool>) return value.as_bool();
  if constexpr (std::is_same_v<T, std::string_view>) return value.as_string();
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return value.as_ints();
  if constexpr (std::is_same_v<T, std::vector<float>>) return value.as_floats();
  if constexpr (std::is_same_v<T, std::vector<std::string_view>>) return value.as_strings();
}

}  // namespace

Result<File> File::open(const std::string& path) {
  HWTV_TRY(File file, open_one(path));
  HWTV_TRY(const std::optional<int64_t> n_parts, file.get<int64_t>("split.count"));
  if (n_parts.value_or(1) <= 1) return file;
  return open_split(path, *n_parts);
}

Result<File> File::parse(std::span<const std::byte> bytes) {
  return parse_one("the file in memory", bytes, nullptr);
}

Result<File> File::open_one(const std::string& path) {
  HWTV_TRY(MappedFile mapping, MappedFile::open(path));
  HWTV_TRY(File file, parse_one(path, {mapping.data(), mapping.size_bytes()}, &mapping));
  file.mappings_.push_back(std::move(mapping));
  return file;
}

Result<File> File::parse_one(const std::string& path, std::span<const std::byte> bytes,
                             const MappedFile* mapping) {
  HWTV_TRY(Header header, parse_header(path, bytes, mapping));
  File file;
  file.parts_.push_back({path, bytes.data(), static_cast<int64_t>(bytes.size())});
  file.version_ = header.version;
  file.alignment_bytes_ = header.alignment_bytes;
  file.entries_ = std::move(header.entries);
  file.entries_by_key_ = std::move(header.entries_by_key);
  file.tensors_ = std::move(header.tensors);
  HWTV_TRY_VOID(file.index_tensors());
  return file;
}

Result<File> File::open_split(const std::string& path, int64_t n_parts) {
  const std::optional<SplitName> name = parse_split_name(path);
  if (!name)
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{} is one of {} parts of a model, but its name does not say which", path,
                    n_parts),
        fmt::format("name the parts {}, ... and open any of them", split_path("NAME", 1, n_parts)));
  if (name->n_parts != n_parts)
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{}: the name says {} parts, its split.count {}", path, name->n_parts, n_parts),
        "download the parts again, under their own names");
  File whole;
  for (int64_t part = 1; part <= n_parts; ++part) {
    const std::string part_path = split_path(name->stem, part, n_parts);
    Result<File> file = open_one(part_path);
    if (!file && file.error().code == ErrorCode::io)
      return fail(ErrorCode::io,
                  fmt::format("part {} of {} of the model is missing: {}", part, n_parts,
                              file.error().what),
                  fmt::format("put all {} parts into one folder", n_parts));
    if (!file) return fail(std::move(file.error()));
    if (part == 1)
      whole = std::move(*file);
    else
      HWTV_TRY_VOID(whole.append(std::move(*file), n_parts));
  }
  HWTV_TRY_VOID(whole.check_split(0, n_parts));
  HWTV_TRY_VOID(whole.index_tensors());
  HWTV_TRY(const auto n_tensors, whole.get<int64_t>("split.tensors.count"));
  const auto n_found = static_cast<int64_t>(whole.tensors_.size());
  if (n_tensors.value_or(n_found) != n_found)
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}: split.tensors.count promises {} tensors, the {} parts hold {}",
                            whole.path(), *n_tensors, n_parts, n_found),
                "download the parts again: they are not of one model");
  return whole;
}

Result<void> File::check_split(int64_t index, int64_t n_parts) const {
  HWTV_TRY(const int64_t no, require<int64_t>("split.no"));
  HWTV_TRY(const int64_t count, require<int64_t>("split.count"));
  if (no == index && count == n_parts) return {};
  return fail(ErrorCode::corrupt_file,
              fmt::format("{}: expected part {} of {} (split.no {}), found split.no {} and "
                          "split.count {}",
                          path(), index + 1, n_parts, index, no, count),
              "download the parts again, under their own names");
}

Result<void> File::append(File part, int64_t n_parts) {
  const auto index = static_cast<int>(parts_.size());
  HWTV_TRY_VOID(part.check_split(index, n_parts));
  if (tensors_.size() + part.tensors_.size() > static_cast<size_t>(kTensorsMax))
    return fail(ErrorCode::unsupported,
                fmt::format("{}: more than {} tensors up to this part", part.path(), kTensorsMax),
                "this program reads models of that size only");
  for (TensorInfo& tensor : part.tensors_) {
    tensor.part = index;
    tensors_.push_back(std::move(tensor));
  }
  parts_.push_back(std::move(part.parts_[0]));
  mappings_.push_back(std::move(part.mappings_[0]));
  return {};
}

Result<void> File::index_tensors() {
  tensors_by_name_.resize(tensors_.size());
  std::iota(tensors_by_name_.begin(), tensors_by_name_.end(), 0u);
  std::sort(tensors_by_name_.begin(), tensors_by_name_.end(), [&](uint32_t a, uint32_t b) {
    const int sign = tensors_[a].name.compare(tensors_[b].name);
    return sign != 0 ? sign < 0 : a < b;
  });
  const auto twice = std::adjacent_find(
      tensors_by_name_.begin(), tensors_by_name_.end(),
      [&](uint32_t a, uint32_t b) { return tensors_[a].name == tensors_[b].name; });
  if (twice == tensors_by_name_.end()) return {};
  const auto place = [&](const TensorInfo& tensor) {  // of the name's length, before the name
    const Part& part = parts_[static_cast<size_t>(tensor.part)];
    const auto* name = reinterpret_cast<const std::byte*>(tensor.name.data());
    return fmt::format("{} at byte {}", part.path,
                       name - part.data - static_cast<int64_t>(sizeof(uint64_t)));
  };
  const TensorInfo& first = tensors_[twice[0]];
  const TensorInfo& second = tensors_[twice[1]];
  return fail(ErrorCode::corrupt_file,
              fmt::format("{}: expected a tensor name that is new, found {} again (tensor {}), "
                          "first in {}",
                          place(second), quoted(second.name), twice[1], place(first)),
              std::string(kDamaged));
}

void File::release(std::span<const std::byte> bytes) const {
  for (const MappedFile& mapping : mappings_) {
    const std::byte* const begin = mapping.data();
    if (bytes.data() < begin || bytes.data() >= begin + mapping.size_bytes()) continue;
    mapping.release_pages(bytes.data() - begin, static_cast<int64_t>(bytes.size()));
  }
}

int64_t File::metadata_bytes() const {
  int64_t sum = 0;
  for (const Entry& entry : entries_) sum += std::ssize(entry.value.payload());
  return sum;
}

int64_t File::size_bytes() const {
  int64_t sum = 0;
  for (const Part& part : parts_) sum += part.size_bytes;
  return sum;
}

const TensorInfo* File::find_tensor(std::string_view name) const {
  const auto at = std::lower_bound(
      tensors_by_name_.begin(), tensors_by_name_.end(), name,
      [&](uint32_t index, std::string_view wanted) { return tensors_[index].name < wanted; });
  if (at == tensors_by_name_.end() || tensors_[*at].name != name) return nullptr;
  return &tensors_[*at];
}

const Entry* File::find_entry(std::string_view key) const {
  const auto at = std::lower_bound(
      entries_by_key_.begin(), entries_by_key_.end(), key,
      [&](uint32_t index, std::string_view wanted) { return entries_[index].key < wanted; });
  if (at == entries_by_key_.end() || entries_[*at].key != key) return nullptr;
  return &entries_[*at];
}

const Value* File::find(std::string_view key) const {
  const Entry* entry = find_entry(key);
  return entry ? &entry->value : nullptr;
}

template <typename T>
Result<std::optional<T>> File::get(std::string_view key) const {
  const Entry* entry = find_entry(key);
  if (!entry) return std::optional<T>();
  std::optional<T> value = convert<T>(entry->value);
  if (value) return value;
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("{} at byte {}: expected {} for {}, found {}", path(), entry->offset_bytes,
                  type_name<T>(), quoted(key), entry->value.description()),
      std::string(kDamaged));
}

template <typename T>
Result<T> File::require(std::string_view key) const {
  HWTV_TRY(std::optional<T> value, get<T>(key));
  if (value) return std::move(*value);
  return fail(ErrorCode::corrupt_file,
              fmt::format("{}: the metadata lacks {}, {}", path(), quoted(key), type_name<T>()),
              "use a file that was converted by a current converter");
}

#define HWTV_GGUF_GETTERS(T)                                              \
  template Result<std::optional<T>> File::get<T>(std::string_view) const; \
  template Result<T> File::require<T>(std::string_view) const;
HWTV_GGUF_GETTERS(int64_t)
HWTV_GGUF_GETTERS(double)
HWTV_GGUF_GETTERS(bool)
HWTV_GGUF_GETTERS(std::string_view)
HWTV_GGUF_GETTERS(std::vector<int64_t>)
HWTV_GGUF_GETTERS(std::vector<float>)
HWTV_GGUF_GETTERS(std::vector<std::string_view>)
#undef HWTV_GGUF_GETTERS

}  // namespace hwtv::gguf
