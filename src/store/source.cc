#include "store/source.h"

#include <algorithm>
#include <cctype>

namespace hwtv::store {
namespace {

constexpr size_t kNameBytesMax = 96;  // of an owner or a repository, as the hubs allow
constexpr size_t kPathBytesMax = 1024,
                 kFileNameBytesMax = 240;  // less than NAME_MAX by ".part.state"

bool is_repo_word(std::string_view word) {
  if (word.empty() || word.size() > kNameBytesMax || word.front() == '.' || word.front() == '-')
    return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t slash = std::min(text.find('/'), text.size());
    if (slash > 0) words.emplace_back(text.substr(0, slash));
    text.remove_prefix(std::min(slash + 1, text.size()));
  }
  return words;
}

}  // namespace

std::optional<HubName> parse_hub_name(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const size_t colon = std::min(text.find(':'), text.size());
  if (colon < slash) return std::nullopt;
  HubName name;
  name.owner = text.substr(0, slash);
  name.repo = text.substr(slash + 1, colon - slash - 1);
  if (!is_repo_word(name.owner) || !is_repo_word(name.repo)) return std::nullopt;
  if (colon == text.size()) return name;
  name.choice = text.substr(colon + 1);
  if (!safe_path(name.choice)) return std::nullopt;
  return name;
}

std::optional<HubName> hub_name_of(const Url& url) {
  std::vector<std::string> words = split(percent_decoded(url.path));
  if (!words.empty() && words[0] == "models") words.erase(words.begin());  // ModelScope's pages
  if (words.size() < 2 || !is_repo_word(words[0]) || !is_repo_word(words[1])) return std::nullopt;
  HubName name{words[0], words[1], "", ""};
  if (words.size() == 2) return name;
  const std::string& kind = words[2];
  if (kind == "summary" || kind == "files") return name;
  if (kind == "tree" && words.size() == 4) {
    name.revision = words[3];
    return name;
  }
  if ((kind != "blob" && kind != "resolve") || words.size() < 5) return std::nullopt;
  name.revision = words[3];
  for (size_t i = 4; i < words.size(); ++i) name.choice += (i == 4 ? "" : "/") + words[i];
  if (!safe_path(name.choice)) return std::nullopt;
  return name;
}

std::optional<std::string> safe_path(std::string_view path) {
  if (path.empty() || path.size() > kPathBytesMax || path.front() == '/' || path.back() == '/')
    return std::nullopt;
  for (const char c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return std::nullopt;
  for (size_t at = 0; at <= path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view word = path.substr(at, slash - at);
    if (word.empty() || word.front() == '.' || word.size() > kFileNameBytesMax) return std::nullopt;
    at = slash + 1;
  }
  return std::string(path);
}

}  // namespace hwtv::store
