#include "safetensors/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/quoted.h"
#include "base/units.h"
#include "safetensors/header.h"

namespace hwtv::safetensors {
namespace {

constexpr int64_t kLengthBytes = 8;

struct ElementType {
  std::string_view name;
  int64_t n_bytes;
  std::optional<DType> dtype;
};

constexpr ElementType kTypes[] = {
    {"F32", 4, DType::F32}, {"F16", 2, DType::F16}, {"BF16", 2, DType::BF16},
    {"F64", 8, {}},         {"F8_E4M3", 1, {}},     {"F8_E5M2", 1, {}},
    {"F8_E8M0", 1, {}},     {"F8_E4M3FNUZ", 1, {}}, {"F8_E5M2FNUZ", 1, {}},
    {"BOOL", 1, {}},        {"U8", 1, {}},          {"I8", 1, {}},
    {"U16", 2, {}},         {"I16", 2, {}},         {"U32", 4, {}},
    {"I32", 4, {}},         {"U64", 8, {}},         {"I64", 8, {}},
    {"C64", 8, {}},
};

tl::unexpected<Error> corrupt(const std::string& path, std::string what) {
  return fail(ErrorCode::corrupt_file, fmt::format("{}{}", path, what),
              "the file is damaged or cut short: fetch it again");
}

// The header's JSON, after its length has been held against the file's.
Result<std::string_view> header_of(const std::string& path, std::span<const std::byte> bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size < kLengthBytes)
    return corrupt(
        path, fmt::format(" has {} bytes, a safetensors file at least {}", size, kLengthBytes));
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > static_cast<uint64_t>(kHeaderBytesMax))
    return corrupt(path, fmt::format(": its header would have {} bytes, {} are allowed", length,
                                     kHeaderBytesMax));
  if (static_cast<int64_t>(length) > size - kLengthBytes)
    return corrupt(path, fmt::format(": its header would have {} bytes, {} are left in the file",
                                     length, size - kLengthBytes));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
                          static_cast<size_t>(length));
}

// The tensor of one entry; `data` is all that follows the header.
Result<TensorInfo> tensor_of(const std::string& path, HeaderEntry entry,
                             std::span<const std::byte> data) {
  const auto* type = std::ranges::find(kTypes, std::string_view(entry.type), &ElementType::name);
  if (type == std::end(kTypes))
    return fail(ErrorCode::unsupported,
                fmt::format("{}: tensor {} has elements of type {}", path, quoted(entry.name),
                            quoted(entry.type)),
                "F32, F16 and BF16 can be converted");
  int64_t n_elements = 1;
  for (const int64_t n : entry.shape)
    if (__builtin_mul_overflow(n_elements, n, &n_elements) || n_elements > INT64_MAX / 8)
      return corrupt(path, fmt::format(": tensor {} has the shape {}, beyond any file",
                                       quoted(entry.name), shape_text(entry.shape)));
  if (entry.begin > entry.end || entry.end > static_cast<int64_t>(data.size()))
    return corrupt(path, fmt::format(": tensor {} lies at bytes {} to {} of {}", quoted(entry.name),
                                     entry.begin, entry.end, data.size()));
  const int64_t n_bytes = entry.end - entry.begin;
  if (n_bytes != n_elements * type->n_bytes)
    return corrupt(
        path, fmt::format(": tensor {} has {} bytes, {} of {} need {}", quoted(entry.name), n_bytes,
                          shape_text(entry.shape), type->name, n_elements * type->n_bytes));
  TensorInfo tensor;
  tensor.name = std::move(entry.name);
  tensor.type = type->name;
  tensor.dtype = type->dtype;
  tensor.shape = std::move(entry.shape);
  tensor.n_elements = n_elements;
  tensor.bytes = data.subspan(static_cast<size_t>(entry.begin), static_cast<size_t>(n_bytes));
  return tensor;
}

// The tensors fill the file, one after the other.
Result<void> check_extents(const std::string& path, const std::vector<TensorInfo>& tensors,
                           std::span<const std::byte> data) {
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : tensors) order.push_back(&tensor);
  // An empty tensor comes before the one that starts at the same byte.
  std::ranges::sort(order, {}, [](const TensorInfo* tensor) {
    return std::pair(tensor->bytes.data(), tensor->bytes.size());
  });
  const std::byte* at = data.data();
  for (const TensorInfo* tensor : order) {
    if (tensor->bytes.data() != at)
      return corrupt(
          path,
          fmt::format(": tensor {} starts at byte {}, the one before it ends at {}",
                      quoted(tensor->name), tensor->bytes.data() - data.data(), at - data.data()));
    at += tensor->bytes.size();
  }
  if (at == data.data() + data.size()) return {};
  return corrupt(path,
                 fmt::format(": its tensors end at byte {} of {}", at - data.data(), data.size()));
}

Result<std::vector<TensorInfo>> read_tensors(const std::string& path,
                                             std::span<const std::byte> bytes) {
  HWTV_TRY(const std::string_view json, header_of(path, bytes));
  HWTV_TRY(std::vector<HeaderEntry> entries, parse_header(path, json));
  const auto data = bytes.subspan(static_cast<size_t>(kLengthBytes) + json.size());
  std::vector<TensorInfo> tensors;
  for (HeaderEntry& entry : entries) {
    HWTV_TRY(TensorInfo tensor, tensor_of(path, std::move(entry), data));
    tensors.push_back(std::move(tensor));
  }
  HWTV_TRY_VOID(check_extents(path, tensors, data));
  return tensors;
}

// Indices in the order of the names.  Errors: corrupt_file (a name twice).
Result<std::vector<uint32_t>> sorted_by_name(const std::string& path,
                                             const std::vector<TensorInfo>& tensors) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto name = [&](uint32_t i) -> const std::string& { return tensors[i].name; };
  std::ranges::sort(order, {}, name);
  const auto twice = std::ranges::adjacent_find(order, {}, name);
  if (twice == order.end()) return order;
  return corrupt(path, fmt::format(": it has a tensor {} twice", quoted(name(*twice))));
}

}  // namespace

std::string shape_text(std::span<const int64_t> shape) {
  return shape.empty() ? "one element" : format_shape(shape);
}

Result<File> File::open(const std::string& path) {
  HWTV_TRY(MappedFile mapping, MappedFile::open(path));
  File file;
  file.path_ = path;
  HWTV_TRY(file.tensors_, read_tensors(path, {mapping.data(), mapping.size_bytes()}));
  HWTV_TRY(file.by_name_, sorted_by_name(path, file.tensors_));
  file.mapping_ = std::move(mapping);
  return file;
}

Result<File> File::parse(std::span<const std::byte> bytes) {
  File file;
  file.path_ = "the file in memory";
  HWTV_TRY(file.tensors_, read_tensors(file.path_, bytes));
  HWTV_TRY(file.by_name_, sorted_by_name(file.path_, file.tensors_));
  return file;
}

const TensorInfo* File::find(std::string_view name) const {
  const auto name_of = [&](uint32_t i) { return std::string_view(tensors_[i].name); };
  const auto at = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return at != by_name_.end() && name_of(*at) == name ? &tensors_[*at] : nullptr;
}

void File::release(std::span<const std::byte> bytes) const {
  if (mapping_)
    mapping_->release_pages(bytes.data() - mapping_->data(), static_cast<int64_t>(bytes.size()));
}

}  // namespace hwtv::safetensors
