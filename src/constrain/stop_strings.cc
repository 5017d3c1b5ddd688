#include "constrain/stop_strings.h"

#include <algorithm>
#include <utility>

namespace hwtv::constrain {
namespace {

std::vector<std::string> without_empty(std::vector<std::string> stops) {
  std::erase_if(stops, [](const std::string& stop) { return stop.empty(); });
  return stops;
}

}  // namespace

StopStrings::StopStrings(text::StreamDetokenizer detokenizer, std::vector<std::string> stops)
    : detokenizer_(std::move(detokenizer)), stops_(without_empty(std::move(stops))) {}

bool StopStrings::accept(int32_t token) {
  if (!stopped_) add_text(detokenizer_.push(token));
  return stopped_;
}

void StopStrings::finish() {
  if (stopped_) return;
  add_text(detokenizer_.flush());
  if (!stopped_) certain_ += std::exchange(pending_, {});
}

std::string StopStrings::take_text() { return std::exchange(certain_, {}); }

void StopStrings::add_text(std::string_view text) {
  pending_ += text;
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, pending_.find(stop));
  if (first != std::string::npos) {
    stopped_ = true;
    certain_.append(pending_, 0, first);
    pending_.clear();
    return;
  }
  const size_t n_certain = pending_.size() - n_held_back();
  certain_.append(pending_, 0, n_certain);
  pending_.erase(0, n_certain);
}

// The length of the longest end of `pending_` that begins one of the stop strings.
size_t StopStrings::n_held_back() const {
  size_t longest = 0;
  for (const std::string& stop : stops_)
    for (size_t n = std::min(stop.size() - 1, pending_.size()); n > longest; --n)
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) longest = n;
  return longest;
}

}  // namespace hwtv::constrain
