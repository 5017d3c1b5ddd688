#include "gguf/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/quoted.h"
#include "base/units.h"

namespace hwtv::gguf {
namespace {

// The fewest bytes of a metadata entry (length, 1 of key, type, 1 of value) and of a tensor's entry
// (length, 1 of name, number of dimensions, type, offset): what bounds a count by the file's size.
constexpr int64_t kEntryBytesMin = 8 + 1 + 4 + 1;
constexpr int64_t kTensorEntryBytesMin = 8 + 1 + 4 + 4 + 8;

class Parser {
 public:
  Parser(const std::string& path, std::span<const std::byte> bytes, const MappedFile* mapping)
      : bytes_(bytes), cursor_(path, bytes, mapping) {}

  Result<Header> parse();

 private:
  Result<void> read_magic();
  Result<void> read_version();
  Result<int64_t> read_count(std::string_view what, int64_t bytes_min, int64_t limit);
  Result<void> read_entry(int64_t index);
  Result<ValueType> read_value_type(std::string_view what);
  Result<Value> read_scalar(ValueType type);
  Result<Value> read_array();
  Result<void> walk_strings(int64_t n);
  Result<void> check_bools(std::span<const std::byte> bools, int64_t offset);
  Result<void> check_keys();
  Result<void> read_alignment();
  Result<void> read_tensor(int64_t index);
  Result<void> read_shape(TensorInfo& tensor);
  Result<void> read_type(TensorInfo& tensor);
  Result<void> place_tensors();
  Result<void> check_overlaps();

  std::span<const std::byte> bytes_;
  Cursor cursor_;
  Header header_;
};

Result<Header> Parser::parse() {
  HWTV_TRY_VOID(read_magic());
  HWTV_TRY_VOID(read_version());
  HWTV_TRY(const int64_t n_tensors, read_count("tensors", kTensorEntryBytesMin, kTensorsMax));
  HWTV_TRY(const int64_t n_entries, read_count("metadata entries", kEntryBytesMin, kEntriesMax));
  header_.entries.reserve(static_cast<size_t>(n_entries));
  for (int64_t i = 0; i < n_entries; ++i) HWTV_TRY_VOID(read_entry(i));
  HWTV_TRY_VOID(check_keys());
  HWTV_TRY_VOID(read_alignment());
  header_.tensors.reserve(static_cast<size_t>(n_tensors));
  for (int64_t i = 0; i < n_tensors; ++i) HWTV_TRY_VOID(read_tensor(i));
  HWTV_TRY_VOID(place_tensors());
  HWTV_TRY_VOID(check_overlaps());
  return std::move(header_);
}

Result<void> Parser::read_magic() {
  constexpr std::string_view kMagic = "GGUF", kLfsPointer = "version https://git-lfs";
  const auto text = [&](size_t n) {
    return std::string_view(reinterpret_cast<const char*>(bytes_.data()),
                            std::min(n, bytes_.size()));
  };
  if (text(kMagic.size()) == kMagic) {
    HWTV_TRY_VOID(cursor_.read<uint32_t>("the magic 'GGUF'"));
    return {};
  }
  const std::string found = bytes_.empty() ? "an empty file" : quoted(text(kMagic.size()));
  Error error = cursor_.corrupt(0, "the magic 'GGUF'", found).value();
  error.advice = text(kLfsPointer.size()) == kLfsPointer
                     ? "this is a Git LFS pointer, not the model: run 'git lfs pull' in its folder"
                     : "give a GGUF file; other formats must be converted first";
  return fail(std::move(error));
}

Result<void> Parser::read_version() {
  const int64_t at = cursor_.offset_bytes();
  HWTV_TRY(const uint32_t version, cursor_.read<uint32_t>("the version"));
  header_.version = version;
  if (version == 2 || version == 3) return {};
  constexpr std::string_view kExpected = "version 2 or 3";
  if (version == 0) return cursor_.corrupt(at, kExpected, "0");
  if ((version & 0xffff) == 0)  // 3 with its bytes swapped is 0x03000000
    return cursor_.unsupported(at, "a little-endian file", "a big-endian one",
                               "convert the model again without --bigendian");
  return cursor_.unsupported(at, kExpected, fmt::format("version {}", version),
                             version == 1 ? "convert the model again: version 1 ended in 2023"
                                          : "update this program, or use a file of version 3");
}

Result<int64_t> Parser::read_count(std::string_view what, int64_t bytes_min, int64_t limit) {
  const int64_t at = cursor_.offset_bytes();
  HWTV_TRY(const uint64_t n, cursor_.read<uint64_t>(fmt::format("the number of {}", what)));
  const int64_t fit = cursor_.left_bytes() / bytes_min;
  if (n > static_cast<uint64_t>(fit))
    return cursor_.corrupt(
        at, fmt::format("at most {} {} in a file of {} bytes", fit, what, cursor_.size_bytes()),
        fmt::format("{}", n));
  if (n > static_cast<uint64_t>(limit))
    return cursor_.unsupported(at, fmt::format("at most {} {}", limit, what), fmt::format("{}", n),
                               "this program reads models of that size only");
  return static_cast<int64_t>(n);
}

Result<void> Parser::read_entry(int64_t index) {
  cursor_.enter("metadata entry", index);
  const int64_t at = cursor_.offset_bytes();
  HWTV_TRY(const std::string_view key, cursor_.read_string("a key"));
  if (key.empty() || key.size() > static_cast<size_t>(kKeyBytesMax))
    return cursor_.corrupt(at, fmt::format("a key of 1 to {} bytes", kKeyBytesMax),
                           fmt::format("one of {}", key.size()));
  cursor_.enter("metadata entry", index, key);
  HWTV_TRY(const ValueType type, read_value_type("a value's type"));
  HWTV_TRY(const Value value, type == ValueType::ARRAY ? read_array() : read_scalar(type));
  header_.entries.push_back({key, value, at});
  return {};
}

Result<ValueType> Parser::read_value_type(std::string_view what) {
  const int64_t at = cursor_.offset_bytes();
  HWTV_TRY(const uint32_t id, cursor_.read<uint32_t>(what));
  constexpr auto kLast = static_cast<uint32_t>(ValueType::F64);
  if (id > kLast)
    return cursor_.corrupt(at, fmt::format("{} from 0 to {}", what, kLast), fmt::format("{}", id));
  return static_cast<ValueType>(id);
}

Result<Value> Parser::read_scalar(ValueType type) {
  const int64_t at = cursor_.offset_bytes();
  if (type == ValueType::STRING) {
    HWTV_TRY_VOID(cursor_.read_string("a string"));
  } else {
    HWTV_TRY(const auto payload,
             cursor_.read_bytes(static_cast<uint64_t>(scalar_bytes(type)), "a value"));
    if (type == ValueType::BOOL) HWTV_TRY_VOID(check_bools(payload, at));
  }
  const auto begin = static_cast<size_t>(at);
  return Value::scalar(type,
                       bytes_.subspan(begin, static_cast<size_t>(cursor_.offset_bytes()) - begin));
}

Result<Value> Parser::read_array() {
  const int64_t at_type = cursor_.offset_bytes();
  HWTV_TRY(const ValueType type, read_value_type("an array's element type"));
  if (type == ValueType::ARRAY)
    return cursor_.unsupported(at_type, "an array of scalars or strings", "an array of arrays",
                               "no model needs this entry: write the file without it");
  const int64_t at_count = cursor_.offset_bytes();
  HWTV_TRY(const uint64_t n, cursor_.read<uint64_t>("an array's length"));
  const bool strings = type == ValueType::STRING;
  const int64_t element_bytes = strings ? int64_t{sizeof(uint64_t)} : scalar_bytes(type);
  const int64_t fit = cursor_.left_bytes() / element_bytes;
  if (n > static_cast<uint64_t>(fit))
    return cursor_.truncated(at_count,
                             fmt::format("an array of at most {} {}s, as many as the rest of the "
                                         "file can hold",
                                         fit, value_type_name(type)),
                             fmt::format("{}", n));
  if (n > static_cast<uint64_t>(kArrayElementsMax))
    return cursor_.unsupported(at_count,
                               fmt::format("an array of at most {} elements", kArrayElementsMax),
                               fmt::format("{}", n), "use a file with less metadata");
  const int64_t begin = cursor_.offset_bytes();
  const auto count = static_cast<int64_t>(n);
  if (strings) {
    HWTV_TRY_VOID(walk_strings(count));
  } else {
    HWTV_TRY(const auto payload,
             cursor_.read_bytes(n * static_cast<uint64_t>(element_bytes), "an array"));
    if (type == ValueType::BOOL) HWTV_TRY_VOID(check_bools(payload, begin));
  }
  const auto n_bytes = static_cast<size_t>(cursor_.offset_bytes() - begin);
  return Value::array(type, count, bytes_.subspan(static_cast<size_t>(begin), n_bytes));
}

Result<void> Parser::walk_strings(int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (Result<std::string_view> text = cursor_.read_string("a string of an array"); !text)
      return fail(std::move(text.error()));
  return {};
}

Result<void> Parser::check_bools(std::span<const std::byte> bools, int64_t offset) {
  const auto bad =
      std::find_if(bools.begin(), bools.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == bools.end()) return {};
  return cursor_.corrupt(offset + (bad - bools.begin()), "a bool of 0 or 1",
                         fmt::format("{}", static_cast<unsigned>(*bad)));
}

Result<void> Parser::check_keys() {
  const std::vector<Entry>& entries = header_.entries;
  std::vector<uint32_t>& order = header_.entries_by_key;
  order.resize(entries.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int sign = entries[a].key.compare(entries[b].key);
    return sign != 0 ? sign < 0 : a < b;
  });
  const auto twice = std::adjacent_find(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return entries[a].key == entries[b].key;
  });
  if (twice == order.end()) return {};
  const Entry& first = entries[twice[0]];
  const Entry& second = entries[twice[1]];
  cursor_.enter("metadata entry", twice[1]);
  return cursor_.corrupt(
      second.offset_bytes, "a key that is new",
      fmt::format("{} again, first at byte {}", quoted(second.key), first.offset_bytes));
}

Result<void> Parser::read_alignment() {
  for (const Entry& entry : header_.entries) {
    if (entry.key != "general.alignment") continue;
    const Value& value = entry.value;
    const auto bytes = value.type() == ValueType::U32 ? value.as_int() : std::nullopt;
    if (bytes && *bytes >= 8 && std::has_single_bit(static_cast<uint64_t>(*bytes))) {
      header_.alignment_bytes = *bytes;
      return {};
    }
    cursor_.enter("metadata entry", &entry - header_.entries.data(), entry.key);
    return cursor_.corrupt(value.payload().data() - bytes_.data(),
                           "a u32 that is a power of two, 8 or more",
                           bytes ? fmt::format("{}", *bytes) : value.description());
  }
  return {};
}

Result<void> Parser::read_tensor(int64_t index) {
  cursor_.enter("tensor", index);
  const int64_t at = cursor_.offset_bytes();
  TensorInfo tensor;
  HWTV_TRY(tensor.name, cursor_.read_string("a tensor's name"));
  if (tensor.name.empty() || tensor.name.size() > static_cast<size_t>(kNameBytesMax))
    return cursor_.corrupt(at, fmt::format("a name of 1 to {} bytes", kNameBytesMax),
                           fmt::format("one of {}", tensor.name.size()));
  cursor_.enter("tensor", index, tensor.name);
  HWTV_TRY_VOID(read_shape(tensor));
  HWTV_TRY_VOID(read_type(tensor));
  const int64_t at_offset = cursor_.offset_bytes();
  HWTV_TRY(const uint64_t offset, cursor_.read<uint64_t>("a tensor's offset"));
  if (offset % static_cast<uint64_t>(header_.alignment_bytes) != 0)
    return cursor_.corrupt(
        at_offset, fmt::format("an offset that is a multiple of {}", header_.alignment_bytes),
        fmt::format("{}", offset));
  // Relative to the data section, whose start is known after the last tensor's entry.
  if (offset > static_cast<uint64_t>(cursor_.size_bytes()))
    return cursor_.truncated(
        at_offset, fmt::format("an offset inside a file of {} bytes", cursor_.size_bytes()),
        fmt::format("{}", offset));
  tensor.offset_bytes = static_cast<int64_t>(offset);
  header_.tensors.push_back(std::move(tensor));
  return {};
}

Result<void> Parser::read_shape(TensorInfo& tensor) {
  const int64_t at_dimensions = cursor_.offset_bytes();
  HWTV_TRY(const uint32_t n_dimensions, cursor_.read<uint32_t>("a number of dimensions"));
  if (n_dimensions > kDimensionsMax)
    return cursor_.corrupt(at_dimensions, fmt::format("at most {} dimensions", kDimensionsMax),
                           fmt::format("{}", n_dimensions));
  tensor.n_elements = 1;
  for (uint32_t i = 0; i < n_dimensions; ++i) {
    const int64_t at = cursor_.offset_bytes();
    HWTV_TRY(const uint64_t size, cursor_.read<uint64_t>("a dimension"));
    const int64_t left = INT64_MAX / tensor.n_elements;
    if (size == 0 || size > static_cast<uint64_t>(left))
      return cursor_.corrupt(at, fmt::format("a dimension from 1 to {}", left),
                             fmt::format("{}", size));
    tensor.shape.push_back(static_cast<int64_t>(size));
    tensor.n_elements *= static_cast<int64_t>(size);
  }
  return {};
}

Result<void> Parser::read_type(TensorInfo& tensor) {
  const int64_t at = cursor_.offset_bytes();
  HWTV_TRY(tensor.type_id, cursor_.read<uint32_t>("a tensor's type"));
  tensor.dtype = dtype_from_gguf_id(tensor.type_id);
  const std::optional<BlockShape> block = block_shape_from_gguf_id(tensor.type_id);
  if (!block) return {};
  const int64_t row = tensor.shape.empty() ? 1 : tensor.shape[0];
  if (row % block->elements != 0)
    return cursor_.corrupt(at,
                           fmt::format("rows of a multiple of {} elements, as {} needs",
                                       block->elements, tensor.type_name()),
                           fmt::format("rows of {}", row));
  const int64_t n_blocks = tensor.n_elements / block->elements;
  if (n_blocks > INT64_MAX / block->bytes)
    return cursor_.corrupt(at, "a tensor of less than 2^63 bytes",
                           fmt::format("{} elements of {}", tensor.n_elements, tensor.type_name()));
  tensor.n_bytes = n_blocks * block->bytes;
  return {};
}

Result<void> Parser::place_tensors() {
  const int64_t mask = header_.alignment_bytes - 1;
  const int64_t data_offset = (cursor_.offset_bytes() + mask) & ~mask;
  int64_t index = 0;
  for (TensorInfo& tensor : header_.tensors) {
    cursor_.enter("tensor", index++, tensor.name);
    tensor.offset_bytes += data_offset;  // both below 2^62: a file's size, and 2^27 + 2^31
    // A type of unknown size has at least one byte.
    const int64_t n_bytes = std::max<int64_t>(tensor.n_bytes, 1);
    const int64_t left = cursor_.size_bytes() - tensor.offset_bytes;
    if (n_bytes > left)
      return cursor_.truncated(
          tensor.offset_bytes, fmt::format("{} bytes of tensor data", n_bytes),
          left > 0 ? fmt::format("{} until the end of the file", left)
                   : fmt::format("the file's end at byte {}", cursor_.size_bytes()));
    tensor.data = bytes_.data() + tensor.offset_bytes;
  }
  return {};
}

Result<void> Parser::check_overlaps() {
  const std::vector<TensorInfo>& tensors = header_.tensors;
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int64_t left = tensors[a].offset_bytes, right = tensors[b].offset_bytes;
    return left != right ? left < right : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = tensors[order[i - 1]];
    const TensorInfo& tensor = tensors[order[i]];
    const int64_t end = before.offset_bytes + std::max<int64_t>(before.n_bytes, 1);
    if (tensor.offset_bytes >= end) continue;
    cursor_.enter("tensor", order[i], tensor.name);
    return cursor_.corrupt(
        tensor.offset_bytes, "bytes that belong to one tensor",
        fmt::format("bytes of tensor {}, which ends at byte {}", quoted(before.name), end));
  }
  return {};
}

}  // namespace

Result<Header> parse_header(const std::string& path, std::span<const std::byte> bytes,
                            const MappedFile* mapping) {
  return Parser(path, bytes, mapping).parse();
}

}  // namespace hwtv::gguf
