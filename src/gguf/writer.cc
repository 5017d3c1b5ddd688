#include "gguf/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/file.h"
#include "base/quoted.h"
#include "gguf/parser.h"

namespace hwtv::gguf {
namespace {

constexpr uint32_t kVersion = 3;
constexpr std::string_view kAlignmentKey = "general.alignment";

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename T>
void put(std::string& out, T value) {
  out += as_text(std::as_bytes(std::span(&value, 1)));
}

void put_string(std::string& out, std::string_view text) {
  put(out, uint64_t{text.size()});
  out += text;
}

int64_t padding(int64_t offset, uint32_t alignment) { return -offset & (int64_t{alignment} - 1); }

}  // namespace

Writer::Writer(uint32_t alignment_bytes) : alignment_bytes_(alignment_bytes) {
  CHECK(alignment_bytes >= 8 && std::has_single_bit(alignment_bytes));
  if (alignment_bytes == kDefaultAlignmentBytes) return;
  std::string encoded;
  put(encoded, ValueType::U32);
  put(encoded, alignment_bytes);
  metadata_.push_back({std::string(kAlignmentKey), std::move(encoded)});
}

void Writer::set(std::string_view key, std::string_view value) {
  std::string encoded;
  put(encoded, ValueType::STRING);
  put_string(encoded, value);
  set_encoded(key, std::move(encoded));
}

void Writer::set(std::string_view key, const Value& value) {
  if (value.type() == ValueType::ARRAY)
    set_array_payload(key, value.element_type(), static_cast<size_t>(value.n_elements()),
                      value.payload());
  else
    set_payload(key, value.type(), value.payload());
}

void Writer::set_strings(std::string_view key, std::span<const std::string_view> values) {
  std::string payload;
  for (const std::string_view value : values) put_string(payload, value);
  set_array_payload(key, ValueType::STRING, values.size(), std::as_bytes(std::span(payload)));
}

void Writer::set_strings(std::string_view key, const std::vector<std::string>& values) {
  set_strings(key, std::vector<std::string_view>(values.begin(), values.end()));
}

void Writer::set_payload(std::string_view key, ValueType type, std::span<const std::byte> payload) {
  std::string encoded;
  put(encoded, type);
  encoded += as_text(payload);
  set_encoded(key, std::move(encoded));
}

void Writer::set_array_payload(std::string_view key, ValueType element_type, size_t n_elements,
                               std::span<const std::byte> payload) {
  std::string encoded;
  put(encoded, ValueType::ARRAY);
  put(encoded, element_type);
  put(encoded, uint64_t{n_elements});
  encoded += as_text(payload);
  set_encoded(key, std::move(encoded));
}

void Writer::set_encoded(std::string_view key, std::string encoded) {
  CHECK(!key.empty() && key.size() <= static_cast<size_t>(kKeyBytesMax));
  if (key == kAlignmentKey) return;
  const auto same = std::find_if(metadata_.begin(), metadata_.end(),
                                 [&](const Metadata& entry) { return entry.key == key; });
  if (same != metadata_.end())
    same->encoded = std::move(encoded);
  else
    metadata_.push_back({std::string(key), std::move(encoded)});
}

Result<void> Writer::add_tensor(std::string_view name, DType dtype, std::vector<int64_t> shape,
                                std::span<const std::byte> bytes) {
  HWTV_TRY_VOID(
      add_tensor(name, dtype, std::move(shape), [bytes](const Sink& sink) { return sink(bytes); }));
  const int64_t needed = tensors_.back().n_bytes;
  if (needed == static_cast<int64_t>(bytes.size())) return {};
  tensors_.pop_back();
  return fail(ErrorCode::invalid_request,
              fmt::format("tensor {} needs {} bytes, given {}", quoted(name), needed, bytes.size()),
              "give the bytes of the whole tensor");
}

Result<void> Writer::add_tensor(std::string_view name, DType dtype, std::vector<int64_t> shape,
                                Source source) {
  const auto refuse = [&](std::string what, std::string advice) {
    return fail(ErrorCode::invalid_request,
                fmt::format("cannot write tensor {}: {}", quoted(name), what), std::move(advice));
  };
  if (name.empty() || name.size() > static_cast<size_t>(kNameBytesMax))
    return refuse(fmt::format("its name has {} bytes", name.size()),
                  fmt::format("name it with 1 to {} bytes", kNameBytesMax));
  if (std::any_of(tensors_.begin(), tensors_.end(),
                  [&](const Tensor& tensor) { return tensor.name == name; }))
    return refuse("it is there already", "give each tensor its own name");
  if (shape.size() > kDimensionsMax)
    return refuse(fmt::format("{} dimensions", shape.size()),
                  fmt::format("use at most {}", kDimensionsMax));
  const DTypeInfo& type = dtype_info(dtype);
  int64_t n_elements = 1;
  for (const int64_t size : shape) {
    if (size < 1 || size > INT64_MAX / type.block_bytes / n_elements)
      return refuse(fmt::format("dimension {}", size), "use dimensions from 1, below 2^63 bytes");
    n_elements *= size;
  }
  if ((shape.empty() ? 1 : shape[0]) % type.block_elements != 0)
    return refuse(fmt::format("rows of {} elements do not fill blocks of {}",
                              shape.empty() ? 1 : shape[0], type.name),
                  fmt::format("use rows of a multiple of {}", type.block_elements));
  tensors_.push_back({std::string(name), dtype, std::move(shape), dtype_bytes(dtype, n_elements),
                      std::move(source)});
  return {};
}

std::string Writer::header() const {
  std::string out = "GGUF";
  put(out, kVersion);
  put(out, uint64_t{tensors_.size()});
  put(out, uint64_t{metadata_.size()});
  for (const Metadata& entry : metadata_) {
    put_string(out, entry.key);
    out += entry.encoded;
  }
  int64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    put_string(out, tensor.name);
    put(out, static_cast<uint32_t>(tensor.shape.size()));
    for (const int64_t size : tensor.shape) put(out, size);
    put(out, tensor.dtype);
    put(out, offset);
    offset += tensor.n_bytes + padding(tensor.n_bytes, alignment_bytes_);
  }
  out.append(static_cast<size_t>(padding(static_cast<int64_t>(out.size()), alignment_bytes_)),
             '\0');
  return out;
}

Result<void> Writer::write(const std::string& path) const {
  HWTV_TRY(AtomicFile file, AtomicFile::create(path));
  HWTV_TRY_VOID(file.write(header()));
  for (const Tensor& tensor : tensors_) {
    int64_t n_written = 0;
    HWTV_TRY_VOID(tensor.source([&](std::span<const std::byte> bytes) {
      n_written += static_cast<int64_t>(bytes.size());
      CHECK(n_written <= tensor.n_bytes);
      return file.write(as_text(bytes));
    }));
    CHECK(n_written == tensor.n_bytes);
    HWTV_TRY_VOID(
        file.write(std::string(static_cast<size_t>(padding(n_written, alignment_bytes_)), '\0')));
  }
  return file.commit();
}

}  // namespace hwtv::gguf
