#include "gguf/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/units.h"

namespace hwtv::gguf {
namespace {

static_assert(std::endian::native == std::endian::little, "values are read as the file has them");

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::optional<int64_t> load_int(ValueType type, const std::byte* at) {
  switch (type) {
    case ValueType::U8:
      return load<uint8_t>(at);
    case ValueType::I8:
      return load<int8_t>(at);
    case ValueType::U16:
      return load<uint16_t>(at);
    case ValueType::I16:
      return load<int16_t>(at);
    case ValueType::U32:
      return load<uint32_t>(at);
    case ValueType::I32:
      return load<int32_t>(at);
    case ValueType::I64:
      return load<int64_t>(at);
    case ValueType::U64: {
      const auto value = load<uint64_t>(at);
      if (value > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::string_view load_string(const std::byte* at) {
  return {reinterpret_cast<const char*>(at) + sizeof(uint64_t), load<uint64_t>(at)};
}

}  // namespace

std::string_view value_type_name(ValueType type) {
  static constexpr std::string_view kNames[] = {"u8",  "i8",  "u16",  "i16",    "u32",
                                                "i32", "f32", "bool", "string", "array",
                                                "u64", "i64", "f64"};
  CHECK(static_cast<size_t>(type) < std::size(kNames));
  return kNames[static_cast<size_t>(type)];
}

int64_t scalar_bytes(ValueType type) {
  switch (type) {
    case ValueType::U8:
    case ValueType::I8:
    case ValueType::BOOL:
      return 1;
    case ValueType::U16:
    case ValueType::I16:
      return 2;
    case ValueType::U32:
    case ValueType::I32:
    case ValueType::F32:
      return 4;
    case ValueType::U64:
    case ValueType::I64:
    case ValueType::F64:
      return 8;
    case ValueType::STRING:
    case ValueType::ARRAY:
      return 0;
  }
  CHECK(false);
}

Value Value::scalar(ValueType type, std::span<const std::byte> payload) {
  CHECK(type != ValueType::ARRAY);
  Value value;
  value.type_ = value.element_type_ = type;
  value.payload_ = payload;
  return value;
}

Value Value::array(ValueType element_type, int64_t n_elements, std::span<const std::byte> payload) {
  CHECK(element_type != ValueType::ARRAY && n_elements >= 0);
  Value value;
  value.type_ = ValueType::ARRAY;
  value.element_type_ = element_type;
  value.n_elements_ = n_elements;
  value.payload_ = payload;
  return value;
}

std::string Value::description() const {
  if (type_ != ValueType::ARRAY) return std::string(value_type_name(type_));
  return fmt::format("array of {} {}{}", format_count(n_elements_), value_type_name(element_type_),
                     n_elements_ == 1 ? "" : "s");
}

std::optional<int64_t> Value::as_int() const { return load_int(type_, payload_.data()); }

std::optional<double> Value::as_float() const {
  if (type_ == ValueType::F32) return load<float>(payload_.data());
  if (type_ == ValueType::F64) return load<double>(payload_.data());
  if (type_ == ValueType::U64) return static_cast<double>(load<uint64_t>(payload_.data()));
  if (const auto value = as_int()) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<bool> Value::as_bool() const {
  if (type_ != ValueType::BOOL) return std::nullopt;
  return payload_[0] != std::byte{0};
}

std::optional<std::string_view> Value::as_string() const {
  if (type_ != ValueType::STRING) return std::nullopt;
  return load_string(payload_.data());
}

std::optional<std::vector<int64_t>> Value::as_ints(int64_t limit) const {
  if (type_ != ValueType::ARRAY || element_type_ == ValueType::STRING) return std::nullopt;
  const ValueType type = element_type_ == ValueType::BOOL ? ValueType::U8 : element_type_;
  if (type == ValueType::F32 || type == ValueType::F64) return std::nullopt;
  const int64_t n = std::min(n_elements_, limit);
  std::vector<int64_t> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto value = load_int(type, payload_.data() + i * scalar_bytes(type));
    if (!value) return std::nullopt;
    values[static_cast<size_t>(i)] = *value;
  }
  return values;
}

std::optional<std::vector<float>> Value::as_floats(int64_t limit) const {
  if (type_ != ValueType::ARRAY) return std::nullopt;
  const bool is_f32 = element_type_ == ValueType::F32;
  if (!is_f32 && element_type_ != ValueType::F64) return std::nullopt;
  const auto n = static_cast<size_t>(std::min(n_elements_, limit));
  std::vector<float> values(n);
  if (is_f32 && n > 0) std::memcpy(values.data(), payload_.data(), n * sizeof(float));
  if (!is_f32)
    for (size_t i = 0; i < n; ++i)
      values[i] = static_cast<float>(load<double>(payload_.data() + i * sizeof(double)));
  return values;
}

std::optional<std::vector<std::string_view>> Value::as_strings(int64_t limit) const {
  if (type_ != ValueType::ARRAY || element_type_ != ValueType::STRING) return std::nullopt;
  std::vector<std::string_view> values(static_cast<size_t>(std::min(n_elements_, limit)));
  const std::byte* at = payload_.data();
  for (std::string_view& value : values) {
    value = load_string(at);
    at += sizeof(uint64_t) + value.size();
  }
  return values;
}

}  // namespace hwtv::gguf
