#include "hw/rates.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hwtv::hw {

double Rates::read_bytes_per_s(double working_set_bytes) const {
  CHECK(!read.empty());
  const auto upper = std::find_if(read.begin(), read.end(), [&](const ReadBandwidth& point) {
    return static_cast<double>(point.buffer_bytes) >= working_set_bytes;
  });
  if (upper == read.begin()) return read.front().bytes_per_s;
  if (upper == read.end()) return read.back().bytes_per_s;
  const ReadBandwidth& lower = *(upper - 1);
  const double from = std::log2(static_cast<double>(lower.buffer_bytes));
  const double to = std::log2(static_cast<double>(upper->buffer_bytes));
  const double share = (std::log2(working_set_bytes) - from) / (to - from);
  return 1 / ((1 - share) / lower.bytes_per_s + share / upper->bytes_per_s);
}

Peak Rates::peak(double working_set_bytes, std::string_view isa) const {
  const auto found = std::find_if(isas.begin(), isas.end(), [&](const IsaPeak& candidate) {
    return isa.empty() || candidate.isa == isa;
  });
  CHECK(found != isas.end());
  return {read_bytes_per_s(working_set_bytes), found->flops_per_s, found->int8_ops_per_s};
}

}  // namespace hwtv::hw
