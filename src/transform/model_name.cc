#include "transform/model_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace hwtv::transform {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

template <char (*change)(char)>
std::string each(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), change);
  return out;
}

// Takes letters and digits off the front of a word.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool is_at_end() const { return rest_.empty(); }
  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  bool take_one_of(std::string_view letters) {
    if (rest_.empty() || letters.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool digits() {
    const size_t n = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    rest_.remove_prefix(n);
    return n > 0;
  }
  bool word_letter() {
    if (rest_.empty() ||
        !(is_letter(rest_.front()) || is_digit(rest_.front()) || rest_.front() == '_'))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

 private:
  std::string_view rest_;
};

// "v0.3", "2.5", "iter2".  All words are in lower case.
bool is_version(std::string_view word) {
  Scanner scan(word);
  if (!scan.take("v")) scan.take("iter");
  if (!scan.digits()) return false;
  while (scan.take("."))
    if (!scan.digits()) return false;
  return scan.is_at_end();
}

// "q4_k_m", "iq2_s", "bf16", "fp16".
bool is_type(std::string_view word) {
  Scanner plain(word);
  plain.take("b");
  if (plain.take("f")) {
    plain.take("p");
    if ((plain.take("16") || plain.take("32")) && plain.is_at_end()) return true;
  }
  Scanner scan(word);
  scan.take("i");
  if (!scan.take("q") || !scan.take_one_of("0123456789")) return false;
  while (scan.take("_"))
    if (!scan.word_letter()) return false;
  return scan.is_at_end();
}

bool is_size_word(std::string_view word) {
  constexpr std::string_view kWords[] = {"small", "mini", "medium", "large", "xl", "xxl"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// "7b", "0.5b", "8x7b", "a3b", "7b1".
bool is_size_number(std::string_view word) {
  const auto tail = [](Scanner scan) {
    if (!scan.digits()) return false;
    Scanner fraction = scan;
    if (fraction.take_one_of("._") && fraction.digits()) scan = fraction;
    if (!scan.take_one_of("kmbt")) return false;
    scan.take_one_of("0123456789");
    return scan.is_at_end();
  };
  Scanner scan(word);
  if (tail(scan)) return true;
  if (scan.take("a")) return tail(scan);
  return scan.digits() && scan.take("x") && tail(scan);
}

bool is_known_finetune(std::string_view word) {
  return word == "chat" || word == "instruct" || word == "vision" || word == "lora";
}

struct Word {
  std::string text;
  bool is_base = false, is_version = false, is_type = false, is_size = false, is_finetune = false;
  bool is_plain() const { return !(is_base || is_version || is_type || is_size || is_finetune); }
};

// "1_5b" as "1.5B"; "7b1", of one family, as "7.1B".
std::string size_text(std::string text) {
  std::ranges::replace(text, '_', '.');
  if (is_digit(text.back()))
    text =
        fmt::format("{}.{}{}", text.substr(0, text.size() - 2), text.back(), text[text.size() - 2]);
  if (text.size() > 1 && is_digit(text[text.size() - 2])) text.back() = upper(text.back());
  return text;
}

// A number of "K", "M", "B" or "T" that cannot be the model's size is most likely its context.
bool is_far_from(const std::string& size, int64_t n_parameters) {
  const std::string digits = size.substr(0, size.size() - 1);
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  const bool is_number = !digits.empty() && *end == '\0' && is_digit(digits.front());
  if (!is_number || n_parameters <= 0) return false;
  const size_t power = std::string_view(" KMBT").find(size.back());
  const double told = number * std::pow(1000.0, static_cast<double>(power));
  return std::fabs(told - static_cast<double>(n_parameters)) >
         std::floor(7.0 * static_cast<double>(n_parameters) / 8);
}

void classify(Word& word, bool is_first, int64_t n_parameters) {
  const std::string plain = each<lower>(word.text);
  if (is_version(plain)) {
    word.is_version = true;
  } else if (is_type(plain)) {
    word.is_type = true;
    word.text = each<upper>(word.text);
  } else if (!is_first && (is_size_word(plain) || is_size_number(plain))) {
    word.text = size_text(word.text);
    word.is_finetune = is_far_from(word.text, n_parameters);
    word.is_size = !word.is_finetune;
    if (word.is_finetune) word.text.back() = lower(word.text.back());
  } else if (!is_first && is_known_finetune(plain)) {
    word.is_finetune = true;
  }
}

std::vector<Word> words_of(std::string_view name, int64_t n_parameters) {
  std::vector<Word> words;
  while (!name.empty()) {
    const size_t n = std::min(name.find('-'), name.size());
    if (n > 0) words.emplace_back().text = name.substr(0, n);
    name.remove_prefix(std::min(n + 1, name.size()));
  }
  for (size_t i = 0; i < words.size(); ++i) classify(words[i], i == 0, n_parameters);
  // A number says more than "small".
  const auto has_digit = [](const Word& word) {
    return word.is_size && std::ranges::any_of(word.text, is_digit);
  };
  if (std::ranges::any_of(words, has_digit))
    for (Word& word : words)
      if (std::ranges::all_of(word.text, is_letter)) word.is_size = false;
  return words;
}

// The base's name is what stands in front; a version at its end is not part of it.
void mark_base(std::vector<Word>& words) {
  bool is_front = true;
  for (Word& word : words) {
    is_front = is_front && ((word.is_plain() && is_letter(word.text.front())) || word.is_version);
    if (is_front)
      word.is_base = true;
    else if (word.is_plain())
      word.is_finetune = true;
  }
  for (auto word = words.rbegin(); word != words.rend() && word->is_base && word->is_version;
       ++word)
    word->is_base = false;
}

template <typename Predicate>
std::string joined(const std::vector<Word>& words, const Predicate& is_wanted) {
  std::vector<std::string_view> texts;
  for (const Word& word : words)
    if (is_wanted(word)) texts.push_back(word.text);
  return fmt::format("{}", fmt::join(texts, "-"));
}

// A size that is told twice counts once.
std::string sizes_of(const std::vector<Word>& words) {
  std::vector<std::string> sizes;
  for (const Word& word : words)
    if (word.is_size && std::ranges::find(sizes, word.text) == sizes.end())
      sizes.push_back(word.text);
  return fmt::format("{}", fmt::join(sizes, "-"));
}

// Letters of a word that is all in lower case, each run's first one in upper case.
std::string title_word(std::string word) {
  const bool has_letter = std::ranges::any_of(word, is_letter);
  const bool is_number = is_digit(word.front()) || (word.front() == 'v' && is_version(word));
  if (!has_letter || std::ranges::any_of(word, is_upper) || is_number) return word;
  for (size_t i = 0; i < word.size(); ++i)
    if (i == 0 || !is_letter(word[i - 1])) word[i] = upper(word[i]);
  return word;
}

}  // namespace

void ModelName::complete(const ModelName& other) {
  const auto take = [](std::string& mine, const std::string& theirs) {
    if (mine.empty()) mine = theirs;
  };
  take(name, other.name);
  take(organization, other.organization);
  take(basename, other.basename);
  take(finetune, other.finetune);
  take(version, other.version);
  take(size_label, other.size_label);
}

std::string title_of(std::string_view id) {
  std::string text(id), title;
  std::ranges::replace(text, '-', ' ');
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t n = std::min(rest.find_first_of(" \t\n"), rest.size());
    if (n > 0)
      title +=
          fmt::format("{}{}", title.empty() ? "" : " ", title_word(std::string(rest.substr(0, n))));
    rest.remove_prefix(std::min(n + 1, rest.size()));
  }
  return title;
}

ModelName parse_model_name(std::string_view id, int64_t n_parameters) {
  ModelName out;
  out.name = title_of(id);
  if (id.find(' ') != std::string_view::npos) return out;  // a sentence, no identifier
  if (const size_t slash = id.find('/'); slash != std::string_view::npos) {
    if (id.front() != '.') out.organization = title_of(id.substr(0, slash));
    id.remove_prefix(slash + 1);
    out.name = title_of(id);
  }
  std::vector<Word> words = words_of(id, n_parameters);
  mark_base(words);
  out.basename = joined(words, [](const Word& word) { return word.is_base; });
  out.size_label = sizes_of(words);
  out.finetune = joined(words, [](const Word& word) { return word.is_finetune; });
  out.version = joined(words, [](const Word& word) { return word.is_version && !word.is_base; });
  // One word alone says nothing about the others.
  if (out.size_label.empty() && out.finetune.empty() && out.version.empty()) out.basename.clear();
  return out;
}

std::string size_label(int64_t n_parameters) {
  constexpr std::pair<double, char> kUnits[] = {
      {1e-12, 'T'}, {1e-9, 'B'}, {1e-6, 'M'}, {1e-3, 'K'}};
  const auto n = static_cast<double>(n_parameters);
  for (const auto& [scale, letter] : kUnits) {
    if (n <= 1 / scale && letter != 'K') continue;
    const double scaled = n * scale;
    const auto whole = static_cast<int64_t>(std::nearbyint(scaled));
    const int n_digits = whole == 0 ? 0 : static_cast<int>(fmt::format("{}", whole).size());
    return fmt::format("{:.{}f}{}", scaled, std::max(2 - n_digits, 0), letter);
  }
  return {};
}

}  // namespace hwtv::transform
