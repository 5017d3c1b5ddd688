#include "safetensors/header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/quoted.h"
#include "safetensors/file.h"

namespace hwtv::safetensors {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFreeText = "__metadata__";

// Takes the parser's events one by one: nothing but the list is ever in memory, a name that comes
// twice is seen, and depth costs nothing.
class Events {
 public:
  explicit Events(const std::string& path) : path_(path) {}

  bool null() { return odd("null"); }
  bool boolean(bool) { return odd("a boolean"); }
  bool number_integer(Json::number_integer_t) { return odd("a negative number"); }
  bool number_float(Json::number_float_t, const std::string&) { return odd("a fraction"); }
  bool binary(Json::binary_t&) { return odd("bytes"); }

  bool number_unsigned(Json::number_unsigned_t value) {
    if (depth_ < 3 || in_free_text_) return odd("a number");
    if (value > static_cast<uint64_t>(INT64_MAX))
      return corrupt(fmt::format("{} is beyond 2^63", value));
    const auto n = static_cast<int64_t>(value);
    HeaderEntry& entry = entries_.back();
    if (field_ == "shape") {
      if (entry.shape.size() == kDimensionsMax)
        return unsupported(fmt::format("more than {} dimensions", kDimensionsMax));
      entry.shape.push_back(n);
    } else if (entry.begin < 0) {
      entry.begin = n;
    } else if (entry.end < 0) {
      entry.end = n;
    } else {
      return corrupt("data_offsets has more than 2 numbers");
    }
    return true;
  }

  bool string(std::string& value) {
    if (in_free_text_ && depth_ == 2) return true;
    if (depth_ != 2 || field_ != "dtype") return odd("a text");
    entries_.back().type = std::move(value);
    return true;
  }

  bool start_object(size_t) {
    if (++depth_ > 2 || in_array_) return odd("an object");
    return true;
  }

  bool end_object() {
    if (depth_-- == 2 && !std::exchange(in_free_text_, false)) return complete();
    return true;
  }

  bool start_array(size_t) {
    if (depth_ != 2 || in_free_text_ || (field_ != "shape" && field_ != "data_offsets"))
      return odd("an array");
    in_array_ = true;
    ++depth_;
    return true;
  }

  bool end_array() {
    in_array_ = false;
    --depth_;
    return true;
  }

  bool key(std::string& value) {
    if (depth_ == 1) return start_entry(value);
    if (in_free_text_) return true;
    if (value != "dtype" && value != "shape" && value != "data_offsets")
      return corrupt(fmt::format("has a field {}, where dtype, shape or data_offsets were expected",
                                 hwtv::quoted(value)));
    const int bit = value == "dtype" ? 1 : value == "shape" ? 2 : 4;
    if (seen_ & bit) return corrupt(fmt::format("has {} twice", value));
    seen_ |= bit;
    field_ = std::move(value);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception&) {
    return fail_with(ErrorCode::corrupt_file,
                     fmt::format("{}: byte {} of its header is no JSON", path_, 7 + position));
  }

  Result<std::vector<HeaderEntry>> take() {
    if (error_) return fail(std::move(*error_));
    return std::move(entries_);
  }

 private:
  bool start_entry(std::string& name) {
    in_free_text_ = name == kFreeText;
    if (in_free_text_) return true;
    if (name.size() > kNameBytesMax)
      return fail_with(ErrorCode::unsupported,
                       fmt::format("{}: a tensor's name has {} bytes, {} are read", path_,
                                   name.size(), kNameBytesMax));
    if (static_cast<int64_t>(entries_.size()) == kTensorsMax)
      return fail_with(ErrorCode::unsupported,
                       fmt::format("{} has more than {} tensors", path_, kTensorsMax));
    entries_.emplace_back().name = std::move(name);
    seen_ = 0;
    return true;
  }

  bool complete() {
    const HeaderEntry& entry = entries_.back();
    if (seen_ != 7 || entry.end < 0)
      return corrupt("lacks its dtype, its shape or both of its data_offsets");
    return true;
  }

  bool odd(std::string_view what) {
    if (entries_.empty())
      return fail_with(ErrorCode::corrupt_file, fmt::format("{}: its header has {} where tensors "
                                                            "were expected",
                                                            path_, what));
    return corrupt(fmt::format("has {} in its entry", what));
  }

  bool corrupt(std::string what) { return fail_entry(ErrorCode::corrupt_file, what); }
  bool unsupported(std::string what) { return fail_entry(ErrorCode::unsupported, what); }

  bool fail_entry(ErrorCode code, std::string_view what) {
    return fail_with(
        code, fmt::format("{}: tensor {} {}", path_, hwtv::quoted(entries_.back().name), what));
  }

  // False, which ends the parser.
  bool fail_with(ErrorCode code, std::string what) {
    const bool bad = code == ErrorCode::corrupt_file;
    error_ = Error{code, std::move(what),
                   bad ? "the file is damaged or no safetensors file: fetch it again"
                       : "only files of ordinary models are read"};
    return false;
  }

  const std::string& path_;
  std::vector<HeaderEntry> entries_;
  std::optional<Error> error_;
  std::string field_;  // of the entry that is being read
  int seen_ = 0;       // its fields: 1 dtype, 2 shape, 4 data_offsets
  int depth_ = 0;
  bool in_array_ = false;
  bool in_free_text_ = false;
};

}  // namespace

Result<std::vector<HeaderEntry>> parse_header(const std::string& path, std::string_view json) {
  Events events(path);
  Json::sax_parse(json.begin(), json.end(), &events);
  return events.take();
}

}  // namespace hwtv::safetensors
