#include "base/quoted.h"

#include <fmt/format.h>

namespace hwtv {

std::string quoted(std::string_view text) {
  constexpr size_t kShownBytesMax = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kShownBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\')
      out += c;
    else
      out += fmt::format("\\x{:02x}", byte);
  }
  out += text.size() > kShownBytesMax ? "...'" : "'";
  return out;
}

}  // namespace hwtv
