#include "model/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hwtv::model {

std::string Metadata::key(std::string_view suffix) const {
  return fmt::format("{}.{}", architecture_, suffix);
}

tl::unexpected<Error> Metadata::corrupt(std::string_view suffix, std::string_view complaint) const {
  return fail(ErrorCode::corrupt_file, fmt::format("{} {}", key(suffix), complaint), kFetchAgain);
}

tl::unexpected<Error> Metadata::unsupported(std::string_view suffix,
                                            std::string_view complaint) const {
  return fail(ErrorCode::unsupported, fmt::format("{} {}", key(suffix), complaint),
              "use another model");
}

tl::unexpected<Error> Metadata::missing(std::string_view suffix) const {
  return corrupt(suffix, "is missing");
}

Result<std::optional<int64_t>> Metadata::find_count(std::string_view suffix,
                                                    CountBounds bounds) const {
  const std::string full_key = key(suffix);
  const gguf::Value* found = file_.find(full_key);
  if (found == nullptr) return std::nullopt;
  int64_t value = 0;
  if (found->type() == gguf::ValueType::ARRAY) {
    const auto layers = found->as_ints();
    if (!layers || layers->empty())
      return corrupt(suffix, fmt::format("is an {}, not a count", found->description()));
    value = layers->front();
    if (std::any_of(layers->begin(), layers->end(), [&](int64_t other) { return other != value; }))
      return unsupported(suffix, "differs from layer to layer, which this program does not run");
  } else {
    HWTV_TRY(const std::optional<int64_t> scalar, file_.get<int64_t>(full_key));
    value = *scalar;
  }
  if (value < bounds.min || value > bounds.max)
    return corrupt(suffix,
                   fmt::format("is {}, expected {} to {}", value, bounds.min, bounds.max));
  return value;
}

Result<int64_t> Metadata::count(std::string_view suffix, CountBounds bounds) const {
  HWTV_TRY(const std::optional<int64_t> value, find_count(suffix, bounds));
  if (!value) return missing(suffix);
  return *value;
}

Result<int64_t> Metadata::count_or(std::string_view suffix, int64_t otherwise,
                                   CountBounds bounds) const {
  HWTV_TRY(const std::optional<int64_t> value, find_count(suffix, bounds));
  return value.value_or(otherwise);
}

Result<std::optional<std::vector<bool>>> Metadata::find_layer_flags(std::string_view suffix,
                                                                    int64_t n_layers) const {
  const gguf::Value* found = file_.find(key(suffix));
  if (found == nullptr || found->type() != gguf::ValueType::ARRAY) return std::nullopt;
  const auto flags = found->as_ints(n_layers);
  if (!flags || static_cast<int64_t>(flags->size()) < n_layers)
    return corrupt(suffix, fmt::format("is an {}, expected a flag for each of {} layers",
                                       found->description(), n_layers));
  return std::vector<bool>(flags->begin(), flags->end());
}

Result<std::optional<double>> Metadata::find_number(std::string_view suffix,
                                                    NumberBounds bounds) const {
  HWTV_TRY(const std::optional<double> value, file_.get<double>(key(suffix)));
  // Written so that a NaN fails.
  if (value && !(*value >= bounds.min && *value <= bounds.max))
    return corrupt(suffix, fmt::format("is {}, expected {} to {}", *value, bounds.min, bounds.max));
  return value;
}

Result<double> Metadata::number(std::string_view suffix, NumberBounds bounds) const {
  HWTV_TRY(const std::optional<double> value, find_number(suffix, bounds));
  if (!value) return missing(suffix);
  return *value;
}

Result<double> Metadata::number_or(std::string_view suffix, double otherwise,
                                   NumberBounds bounds) const {
  HWTV_TRY(const std::optional<double> value, find_number(suffix, bounds));
  return value.value_or(otherwise);
}

Result<std::optional<std::string_view>> Metadata::find_string(std::string_view suffix) const {
  return file_.get<std::string_view>(key(suffix));
}

Result<bool> Metadata::flag_or(std::string_view suffix, bool otherwise) const {
  HWTV_TRY(const std::optional<bool> value, file_.get<bool>(key(suffix)));
  return value.value_or(otherwise);
}

}  // namespace hwtv::model
