// One metadata value of a GGUF file, viewed in the file's bytes: nothing is copied until it is
// asked for, so a vocabulary of 250,000 strings costs nothing to open.  Valid as long as its File.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hwtv::gguf {

// The value is the type's id in a GGUF file.
enum class ValueType : uint32_t {
  U8 = 0,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  BOOL,
  STRING,
  ARRAY,
  U64,
  I64,
  F64,
};

std::string_view value_type_name(ValueType type);  // "u32", "string", "array"

// Bytes of one scalar; 0 for STRING and ARRAY, whose size is in the file.
int64_t scalar_bytes(ValueType type);

class Value {
 public:
  // Requires: `payload` holds n_elements well-formed elements and nothing else (the parser checks).
  static Value scalar(ValueType type, std::span<const std::byte> payload);
  static Value array(ValueType element_type, int64_t n_elements,
                     std::span<const std::byte> payload);

  ValueType type() const { return type_; }
  ValueType element_type() const { return element_type_; }  // of an ARRAY; otherwise type()
  int64_t n_elements() const { return n_elements_; }        // 1 for anything but an ARRAY

  // The elements as the file encodes them (a string: 8 bytes of length, then its bytes).
  std::span<const std::byte> payload() const { return payload_; }

  std::string description() const;  // "u32", "array of 49,152 strings"

  // nullopt: the value has another type.
  std::optional<int64_t> as_int() const;   // every integer width; nullopt above 2^63 - 1
  std::optional<double> as_float() const;  // F32, F64 and every integer width
  std::optional<bool> as_bool() const;
  std::optional<std::string_view> as_string() const;

  // Arrays: the first `limit` elements.  Integer arrays may be of any width or of BOOL (0 and 1).
  std::optional<std::vector<int64_t>> as_ints(int64_t limit = INT64_MAX) const;
  std::optional<std::vector<float>> as_floats(int64_t limit = INT64_MAX) const;  // F32 or F64
  std::optional<std::vector<std::string_view>> as_strings(int64_t limit = INT64_MAX) const;

 private:
  Value() = default;
  ValueType type_ = ValueType::U8;
  ValueType element_type_ = ValueType::U8;
  int64_t n_elements_ = 1;
  std::span<const std::byte> payload_;
};

}  // namespace hwtv::gguf
