// Writes a GGUF file (version 3, little-endian): collect metadata and tensors, then write().  For
// quantize, `hwtv logits -o` and the tests.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "gguf/value.h"

namespace hwtv::gguf {

// The C++ types that stand for the file's scalars: fixed-width integers, float, double, bool.
template <typename T>
concept Scalar = std::same_as<T, bool> || std::same_as<T, float> || std::same_as<T, double> ||
    (std::integral<T> && !std::same_as<T, char>);

template <Scalar T>
constexpr ValueType value_type_of() {
  using enum ValueType;
  if constexpr (std::same_as<T, bool>) return BOOL;
  if constexpr (std::floating_point<T>) return sizeof(T) == 4 ? F32 : F64;
  constexpr bool is_signed = std::signed_integral<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? I8 : U8;
  if constexpr (sizeof(T) == 2) return is_signed ? I16 : U16;
  if constexpr (sizeof(T) == 4) return is_signed ? I32 : U32;
  return is_signed ? I64 : U64;
}

class Writer {
 public:
  // Takes bytes in order; Errors: io.
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;
  // Called once, by write(): passes the tensor's bytes to the sink, exactly as many as its shape
  // and type need.  Its error ends the write and leaves nothing behind.
  using Source = std::function<Result<void>(const Sink&)>;

  // Requires: a power of two, at least 8.
  explicit Writer(uint32_t alignment_bytes = 32);

  // Sets or replaces a metadata value; the C++ type decides the type in the file.  The alignment is
  // the Writer's own: a "general.alignment" (copied from another file) is ignored.
  template <Scalar T>
  void set(std::string_view key, T value) {
    set_payload(key, value_type_of<T>(), std::as_bytes(std::span(&value, 1)));
  }
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, const char* value) { set(key, std::string_view(value)); }
  void set(std::string_view key, const Value& value);  // as another file has it
  template <Scalar T>
  void set_array(std::string_view key, std::span<const T> values) {
    set_array_payload(key, value_type_of<T>(), values.size(), std::as_bytes(values));
  }
  template <Scalar T>
  void set_array(std::string_view key, const std::vector<T>& values) {
    set_array(key, std::span<const T>(values));
  }
  void set_strings(std::string_view key, std::span<const std::string_view> values);
  void set_strings(std::string_view key, const std::vector<std::string>& values);

  // Adds a tensor; `shape` in GGUF order, shape[0] contiguous.  `bytes` must live until write().
  // Errors: invalid_request (a name twice or over 256 bytes, a bad shape, a row that is no whole
  // number of quant_blocks, a wrong number of bytes).
  Result<void> add_tensor(std::string_view name, DType dtype, std::vector<int64_t> shape,
                          std::span<const std::byte> bytes);
  Result<void> add_tensor(std::string_view name, DType dtype, std::vector<int64_t> shape,
                          Source source);

  // Writes beside `path` and renames: a reader sees the old file or the whole new one.
  // Errors: io; what a Source returns.
  Result<void> write(const std::string& path) const;

 private:
  struct Metadata {
    std::string key;
    std::string encoded;  // type id and payload, as in the file
  };
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    int64_t n_bytes;
    Source source;
  };
  void set_payload(std::string_view key, ValueType type, std::span<const std::byte> payload);
  void set_array_payload(std::string_view key, ValueType element_type, size_t n_elements,
                         std::span<const std::byte> payload);
  void set_encoded(std::string_view key, std::string encoded);
  std::string header() const;

  uint32_t alignment_bytes_;
  std::vector<Metadata> metadata_;
  std::vector<Tensor> tensors_;
};

}  // namespace hwtv::gguf
