// A fact as read, or the reason why it cannot be seen here.  "Not observable" is a value like any
// other: virtual machines and containers hide most of what a bare machine shows.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace hwtv::probe {

enum class Why { absent, denied, unparsable };

struct Unobserved {
  Why why;
  std::string what;  // the path below the root, and for `unparsable` what stood there
};

template <typename T>
using Observed = tl::expected<T, Unobserved>;

inline tl::unexpected<Unobserved> unobserved(Why why, std::string what) {
  return tl::unexpected<Unobserved>(Unobserved{why, std::move(what)});
}

// "/sys/class/powercap is not present here"
std::string describe(const Unobserved& reason);

}  // namespace hwtv::probe
