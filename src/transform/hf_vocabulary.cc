#include "transform/hf_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/json_member.h"
#include "base/quoted.h"
#include "transform/json_file.h"
#include "transform/pre_tokenizer_name.h"
#include "transform/sentence_piece_file.h"

namespace hwtv::transform {
namespace {

using Json = nlohmann::json;

constexpr float kAddedScore = -1000, kPaddingScore = -10000;
constexpr std::string_view kSpace = "\u2581";      // how SentencePiece writes a space
constexpr std::string_view kSpaceByte = "\u0120";  // how byte-level vocabularies do

// A token that was added to a trained vocabulary.
struct Added {
  int64_t id;
  std::string text;
  bool is_special;
};

HfVocabulary named(std::string_view model, std::string_view pre, std::string source) {
  HfVocabulary out;
  out.model = model;
  out.pre = pre;
  out.source = std::move(source);
  return out;
}

bool wraps(std::string_view text, std::string_view begin, std::string_view end) {
  return text.starts_with(begin) && text.ends_with(end);
}

// Some models do not mark as special what plainly is.
bool looks_special(std::string_view text) {
  return text == "<pad>" || text == "<mask>" || text == "<2mass>" || text == "[@BOS@]" ||
         wraps(text, "<|", "|>") || wraps(text, "<\uff5c", "\uff5c>") ||
         wraps(text, "<unused", ">");
}

std::string with_replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

bool is_true(const Json& object, std::string_view key) {
  const Json* value = json_member(object, key);
  return value && value->is_boolean() && value->get<bool>();
}

std::optional<int64_t> id_of(const Json& value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT32_MAX) return {};
  return value.get<int64_t>();
}

std::optional<int64_t> id_of(const std::string& digits) {
  char* end = nullptr;
  const int64_t id = std::strtoll(digits.c_str(), &end, 10);
  return digits.empty() || *end != '\0' || id < 0 || id > INT32_MAX ? std::nullopt
                                                                    : std::optional(id);
}

// "added_tokens" of tokenizer.json.
std::vector<Added> added_by_tokenizer(const Json& tokenizer) {
  std::vector<Added> out;
  const Json* list = json_member(tokenizer, "added_tokens");
  if (!list || !list->is_array()) return out;
  for (const Json& token : *list) {
    const Json* id = json_member(token, "id");
    if (const auto number = id ? id_of(*id) : std::nullopt)
      out.push_back({*number, json_text(token, "content"), is_true(token, "special")});
  }
  return out;
}

// "added_tokens_decoder" of tokenizer_config.json.
std::vector<Added> added_by_config(const Json& config) {
  std::vector<Added> out;
  const Json* decoder = json_member(config, "added_tokens_decoder");
  if (!decoder || !decoder->is_object()) return out;
  for (const auto& [key, token] : decoder->items())
    if (const auto id = id_of(key))
      out.push_back({*id, json_text(token, "content"), is_true(token, "special")});
  return out;
}

// The texts of tokenizer_config.json's bos_token and its like.
std::vector<std::string> special_texts(const Json& config) {
  std::vector<std::string> out;
  for (const char* kind : {"bos", "eos", "unk", "sep", "pad", "cls", "mask"})
    if (std::string text = token_text(config, kind); !text.empty()) out.push_back(std::move(text));
  return out;
}

// The tokens by id, as they are put together.
class Tokens {
 public:
  Tokens(HfVocabulary& out, int64_t n) : out_(out) {
    const auto size = static_cast<size_t>(n);
    for (int64_t id = 0; id < n; ++id) out_.tokens.push_back(fmt::format("[PAD{}]", id));
    out_.types.assign(size, static_cast<int32_t>(TokenType::unused));
    if (!out_.is_byte_level()) out_.scores.assign(size, kPaddingScore);
    is_set_.assign(size, false);
  }

  // Errors: corrupt_file (an id beyond the model's rows).
  Result<void> set(int64_t id, std::string text, float score, TokenType type) {
    if (id < 0 || id >= static_cast<int64_t>(out_.tokens.size()))
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{}: token {} has the id {}, the model has rows for {} tokens",
                              out_.source, hwtv::quoted(text), id, out_.tokens.size()),
                  "the tokenizer belongs to another model, or config.json's vocab_size is wrong");
    const auto i = static_cast<size_t>(id);
    out_.tokens[i] = std::move(text);
    out_.types[i] = static_cast<int32_t>(type);
    if (!out_.is_byte_level()) out_.scores[i] = score;
    is_set_[i] = true;
    return {};
  }

  // `is_plain`: as the tokens are written.
  Result<void> set_added(std::vector<Added> added, bool is_plain) {
    for (Added& token : added) {
      const bool is_control = token.is_special || (!is_plain && looks_special(token.text));
      if (!is_control && !is_plain) token.text = with_replaced(token.text, kSpace, " ");
      HWTV_TRY_VOID(set(token.id, std::move(token.text), kAddedScore,
                        is_control ? TokenType::control : TokenType::user_defined));
    }
    return {};
  }

  int64_t n_unset() const { return std::ranges::count(is_set_, false); }

 private:
  HfVocabulary& out_;
  std::vector<bool> is_set_;
};

// All that was added, the later file's word over the earlier one's.  phi3's own tokens are kept as
// they are written.
Result<void> set_all_added(Tokens& tokens, const HfConfig& config, const Json& added_file,
                           const Json& tokenizer_config, const Json& tokenizer) {
  const bool is_plain = config.family->architecture == "phi3";
  if (added_file.is_object())
    for (const auto& [text, value] : added_file.items())
      if (const auto id = id_of(value))
        HWTV_TRY_VOID(tokens.set(*id, text, kAddedScore, TokenType::user_defined));
  HWTV_TRY_VOID(tokens.set_added(added_by_config(tokenizer_config), is_plain));
  return tokens.set_added(added_by_tokenizer(tokenizer), is_plain);
}

// A piece that the model's authors defined is an ordinary one to the runtimes of GGUF files.
TokenType type_of(PieceType type) {
  return type == PieceType::user_defined ? TokenType::normal : static_cast<TokenType>(type);
}

Result<HfVocabulary> from_sentence_pieces(const std::string& folder, const HfConfig& config,
                                          const Json& tokenizer_config) {
  HfVocabulary out = named("llama", "default", folder + "/tokenizer.model");
  HWTV_TRY(const std::string bytes, read_file(out.source, int64_t{1} << 28));
  HWTV_TRY(const auto pieces,
           parse_sentence_pieces(out.source, std::as_bytes(std::span(bytes.data(), bytes.size()))));
  Tokens tokens(out, config.vocab_size);
  int64_t id = 0;
  for (const SentencePiece& piece : pieces)
    HWTV_TRY_VOID(tokens.set(id++, piece.text, piece.score, type_of(piece.type)));
  HWTV_TRY(const Json added, read_json_if_there(folder + "/added_tokens.json"));
  // Only phi3's tokenizer.json has tokens that the other two lack.
  Json tokenizer;
  if (config.family->architecture == "phi3") {
    constexpr std::string_view kSkip[] = {"vocab", "merges"};
    HWTV_TRY(tokenizer, read_json_if_there(folder + "/tokenizer.json", kSkip));
  }
  HWTV_TRY_VOID(set_all_added(tokens, config, added, tokenizer_config, tokenizer));
  out.n_padding = tokens.n_unset();
  return out;
}

// Merges as one text each, "a b", be they written so or in pairs.
Result<std::vector<std::string>> merges_of(const std::string& path, const Json& model) {
  std::vector<std::string> merges;
  const Json* list = json_member(model, "merges");
  if (!list || !list->is_array()) return merges;
  merges.reserve(list->size());
  for (const Json& merge : *list) {
    if (merge.is_string()) {
      merges.push_back(merge.get<std::string>());
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      merges.push_back(with_replaced(merge[0].get<std::string>(), " ", kSpaceByte) + " " +
                       with_replaced(merge[1].get<std::string>(), " ", kSpaceByte));
    } else {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{}: merge {} is no pair of texts", path, merges.size()),
                  "the file is damaged: fetch it again");
    }
  }
  return merges;
}

// Sets each token of the trained vocabulary.  Errors: corrupt_file (an id twice, no id).
template <typename TypeAndScore>
Result<void> set_trained(Tokens& tokens, const std::string& path, const Json& vocabulary,
                         const TypeAndScore& type_and_score) {
  std::map<int64_t, std::string> seen;
  for (const auto& [text, value] : vocabulary.items()) {
    const auto id = id_of(value);
    const auto twice = id ? seen.find(*id) : seen.end();
    if (!id || twice != seen.end())
      return fail(
          ErrorCode::corrupt_file,
          fmt::format("{}: token {} {}", path, hwtv::quoted(text),
                      id ? fmt::format("has the id {} of {}", *id, hwtv::quoted(twice->second))
                         : std::string("has no id")),
          "the file is damaged: fetch it again");
    seen.emplace(*id, text);
    const auto [type, score] = type_and_score(text);
    HWTV_TRY_VOID(tokens.set(*id, text, score, type));
  }
  return {};
}

Result<HfVocabulary> from_byte_level(const std::string& path, const HfConfig& config,
                                     const Json& tokenizer, const Json& tokenizer_config,
                                     std::string_view pre) {
  HfVocabulary out = named("gpt2", pre, path);
  if (pre.empty()) {
    HWTV_TRY(out.pre, pre_tokenizer_name(path, tokenizer));
  }
  const Json& model = tokenizer["model"];
  HWTV_TRY(out.merges, merges_of(path, model));
  Tokens tokens(out, config.vocab_size);
  HWTV_TRY_VOID(set_trained(tokens, path, model["vocab"],
                            [](const std::string&) { return std::pair(TokenType::normal, 0.0F); }));
  for (const std::string& text : special_texts(tokenizer_config)) {
    const auto found = model["vocab"].find(text);
    if (found != model["vocab"].end())
      HWTV_TRY_VOID(tokens.set(found->get<int64_t>(), text, 0, TokenType::control));
  }
  HWTV_TRY_VOID(tokens.set_added(added_by_tokenizer(tokenizer), false));
  HWTV_TRY_VOID(tokens.set_added(added_by_config(tokenizer_config), false));
  out.n_padding = tokens.n_unset();
  return out;
}

bool is_byte_name(std::string_view text) { return text.size() == 6 && wraps(text, "<0x", ">"); }

// The score of each piece that merging makes: the earlier its first merge, the higher, which is how
// the SentencePiece model that the merges were taken from ordered them.
std::map<std::string, float> scores_of(const std::vector<std::string>& merges) {
  std::map<std::string, float> scores;
  for (std::string merge : merges) {
    merge.erase(merge.find(' '), 1);
    scores.emplace(std::move(merge), -static_cast<float>(scores.size()));
  }
  return scores;
}

// A SentencePiece vocabulary of which only tokenizer.json is there.
Result<HfVocabulary> from_byte_fallback(const std::string& path, const HfConfig& config,
                                        const Json& tokenizer, const Json& tokenizer_config) {
  HfVocabulary out = named("llama", "default", path);
  const Json& model = tokenizer["model"];
  HWTV_TRY(const std::vector<std::string> merges, merges_of(path, model));
  const std::map<std::string, float> scores = scores_of(merges);
  const std::string unknown = json_text(model, "unk_token");
  Tokens tokens(out, config.vocab_size);
  const auto type_and_score = [&](const std::string& text) {
    if (text == unknown) return std::pair(TokenType::unknown, 0.0F);
    if (is_byte_name(text)) return std::pair(TokenType::byte, 0.0F);
    const auto found = scores.find(text);
    // Single letters come after all that merging makes.
    return std::pair(TokenType::normal,
                     found != scores.end() ? found->second : -static_cast<float>(scores.size()));
  };
  HWTV_TRY_VOID(set_trained(tokens, path, model["vocab"], type_and_score));
  for (std::vector<Added> added :
       {added_by_tokenizer(tokenizer), added_by_config(tokenizer_config)}) {
    std::erase_if(added, [&](const Added& token) { return token.text == unknown; });
    HWTV_TRY_VOID(tokens.set_added(std::move(added), false));
  }
  out.n_padding = tokens.n_unset();
  return out;
}

Result<HfVocabulary> from_tokenizer_json(const std::string& folder, const HfConfig& config,
                                         const Json& tokenizer_config, std::string_view pre) {
  const std::string path = folder + "/tokenizer.json";
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return fail(ErrorCode::io,
                fmt::format("{} has neither tokenizer.model nor tokenizer.json", folder),
                "fetch one of them from the model's page");
  HWTV_TRY(const Json tokenizer, read_json(path));
  const Json* model = json_member(tokenizer, "model");
  const Json* vocabulary = model ? json_member(*model, "vocab") : nullptr;
  const std::string type = model ? json_text(*model, "type") : std::string();
  // Older files do not tell; only one kind has merges.
  const bool is_bpe = type == "BPE" || (type.empty() && model && json_member(*model, "merges"));
  if (!is_bpe || !vocabulary || !vocabulary->is_object())
    return fail(ErrorCode::unsupported,
                fmt::format("{}: its tokenizer is {}", path,
                            type.empty() ? "of no known kind" : hwtv::quoted(type)),
                "byte pair encoding (BPE) can be converted, or a tokenizer.model");
  if (is_true(*model, "byte_fallback"))
    return from_byte_fallback(path, config, tokenizer, tokenizer_config);
  return from_byte_level(path, config, tokenizer, tokenizer_config, pre);
}

}  // namespace

Result<HfVocabulary> read_hf_vocabulary(const std::string& folder, const HfConfig& config,
                                        std::string_view pre) {
  HWTV_TRY(const Json tokenizer_config, read_json_if_there(folder + "/tokenizer_config.json"));
  // Phi-4 has phi3's architecture and a byte-level vocabulary.
  const bool is_byte_level = config.family->architecture == "phi3" &&
                             json_text(tokenizer_config, "tokenizer_class") == "GPT2Tokenizer";
  std::error_code code;
  Result<HfVocabulary> out =
      !is_byte_level && std::filesystem::exists(folder + "/tokenizer.model", code)
          ? from_sentence_pieces(folder, config, tokenizer_config)
          : from_tokenizer_json(folder, config, tokenizer_config, pre);
  if (!out) return out;
  const Json* told = json_member(tokenizer_config, "add_prefix_space");
  if (config.family->architecture == "llama" && told && told->is_boolean())
    out->adds_space = told->get<bool>();
  if (config.family->architecture == "gemma3" && !out->is_byte_level()) out->adds_space = false;
  return out;
}

}  // namespace hwtv::transform
