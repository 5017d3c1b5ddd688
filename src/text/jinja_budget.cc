#include "text/jinja_budget.h"

#include <fmt/format.h>

namespace hwtv::text::jinja {

void raise(std::string message) { throw Failure{ErrorCode::invalid_request, std::move(message)}; }

void raise_unsupported(std::string message) {
  throw Failure{ErrorCode::unsupported, std::move(message)};
}

void Budget::too_many_steps() const {
  raise_unsupported(fmt::format("more than {} steps", limits_.steps_max));
}

void Budget::too_many_bytes(size_t n_bytes) const {
  raise_unsupported(fmt::format("{} more bytes beside {} exceed the limit of {}", n_bytes,
                                live_bytes_, limits_.live_bytes_max));
}

void Budget::too_deep() const {
  raise_unsupported(fmt::format("nested deeper than {}", kDepthMax));
}

}  // namespace hwtv::text::jinja
