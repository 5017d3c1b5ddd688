#include "store/url.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <optional>

#include "base/quoted.h"
#include "store/words.h"

namespace hwtv::store {
namespace {

constexpr size_t kUrlBytesMax = 8192;
constexpr const char* kExample = "give an address such as https://huggingface.co/owner/repo";

int own_port(const std::string& scheme) { return scheme == "https" ? 443 : 80; }

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool is_host(std::string_view host) {
  if (host.empty()) return false;
  for (const char c : host)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("-._[]:").find(c) == std::string_view::npos)
      return false;
  return true;
}

// Sets host and port; false where they cannot be.
bool read_authority(std::string_view authority, Url& url) {
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  url.port = own_port(url.scheme);
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    if (error != std::errc() || end != digits.data() + digits.size()) return false;
    if (url.port < 1 || url.port > 65535) return false;
    authority = authority.substr(0, colon);
  }
  url.host = lower(authority);
  return is_host(url.host) &&
         (url.host.find(':') == std::string::npos || bracket != std::string_view::npos);
}

}  // namespace

std::string Url::origin() const {
  if (port == own_port(scheme)) return scheme + "://" + host;
  return fmt::format("{}://{}:{}", scheme, host, port);
}

std::string Url::text() const { return origin() + path + query; }

std::string Url::shown() const {
  std::string text = origin() + path;
  constexpr size_t kShownMax = 200;
  return text.size() > kShownMax ? text.substr(0, kShownMax) + "..." : text;
}

Result<Url> parse_url(std::string_view text) {
  const auto refuse = [&](ErrorCode code, const char* why, const char* advice) {
    return fail(code,
                fmt::format("{} is no address that can be fetched: {}",
                            hwtv::quoted(text.substr(0, text.find('?'))), why),
                advice);
  };
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos)
    return refuse(ErrorCode::invalid_request, "it does not begin with https://", kExample);
  Url url;
  url.scheme = lower(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https")
    return refuse(ErrorCode::unsupported, "only https and http are spoken", kExample);
  if (text.size() > kUrlBytesMax)
    return refuse(ErrorCode::invalid_request, "it is longer than 8192 bytes", kExample);
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\')
      return refuse(ErrorCode::invalid_request, "it holds a blank or a control character",
                    "write %20 for a blank");
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const size_t path = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, path);
  if (authority.find('@') != std::string_view::npos)
    return fail(ErrorCode::unsupported, "the address holds a user name or a password",
                "give an address without them; a hub's token goes into HF_TOKEN");
  if (!read_authority(authority, url))
    return refuse(ErrorCode::invalid_request, "its host or port cannot be", kExample);
  rest.remove_prefix(path);
  const size_t question = std::min(rest.find('?'), rest.size());
  url.path = question == 0 ? "/" : std::string(rest.substr(0, question));
  url.query = rest.substr(question);
  return url;
}

bool same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

bool is_private(const Url& url) {
  return url.scheme == "https" || url.host == "localhost" || url.host == "[::1]" ||
         (url.host.starts_with("127.") &&
          url.host.find_first_not_of("0123456789.") == std::string::npos);
}

std::string percent_encoded(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~/").find(c) != std::string_view::npos)
      text += c;
    else
      text += fmt::format("%{:02X}", byte);
  }
  return text;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    if (low) {
      decoded += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace hwtv::store
