// Builds the bytes of a GGUF file piece by piece, right or wrong: unlike gguf::Writer it checks
// nothing.  For tests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "gguf/value.h"

namespace hwtv::gguf {

class Bytes {
 public:
  explicit Bytes(std::string start = {}) : out_(std::move(start)) {}

  template <typename T>
  Bytes& put(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& text(std::string_view raw) {
    out_ += raw;
    return *this;
  }
  Bytes& fill(size_t n, char c = '\0') {
    out_.append(n, c);
    return *this;
  }
  Bytes& pad_to(size_t size) {
    out_.resize(std::max(size, out_.size()), '\0');
    return *this;
  }
  Bytes& string(std::string_view value) { return put(uint64_t{value.size()}).text(value); }

  // 24 bytes.
  Bytes& header(uint64_t n_tensors, uint64_t n_entries, uint32_t version = 3) {
    return text("GGUF").put(version).put(n_tensors).put(n_entries);
  }
  Bytes& key(std::string_view name, ValueType type) { return string(name).put(type); }
  Bytes& array(std::string_view name, ValueType element_type, uint64_t n) {
    return key(name, ValueType::ARRAY).put(element_type).put(n);
  }
  Bytes& tensor(std::string_view name, std::initializer_list<uint64_t> shape, uint32_t type,
                uint64_t offset) {
    string(name).put(static_cast<uint32_t>(shape.size()));
    for (const uint64_t size : shape) put(size);
    return put(type).put(offset);
  }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace hwtv::gguf
