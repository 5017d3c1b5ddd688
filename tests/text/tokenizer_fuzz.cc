// Any bytes as text for vocabularies of every kind, and as the metadata of one: what is encoded
// decodes to the same text where nothing is normalized, and a hostile vocabulary is refused or
// works.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "tests/text/tiny_vocabulary.h"
#include "text/pre_tokenizer_rules.h"
#include "text/stream_detokenizer.h"
#include "text/unicode.h"

namespace hwtv::text {
namespace {

std::unique_ptr<Tokenizer> byte_pair(const char* pre) {
  TinyVocabulary v = TinyVocabulary::byte_pair(
      {"a b", "ab a", "\u0120 a", "\u0120a b", "\u0120 \u0120", "\u0120\u0120 \u0120\u0120", "a a",
       "aa aa", "\u010A \u010A", "\u00C3 \u00A9", "1 2", "12 3", "ab ab"});
  v.pre = pre;
  v.add("<user>", 4);
  v.add("  ", 4);
  v.add("<|im_end|>", 3);
  return std::move(*v.open());
}

std::unique_ptr<Tokenizer> sentence_piece(const std::vector<std::string>& pieces) {
  TinyVocabulary v = TinyVocabulary::sentence_piece(pieces);
  v.name = "phi-3";
  v.add("<|user|>", 3);
  return std::move(*v.open());
}

std::unique_ptr<Tokenizer> gemma() {
  TinyVocabulary v =
      TinyVocabulary::sentence_piece({"▁", "a", "b", "\n", "▁a", "▁▁", "▁▁▁▁", "\n\n", "ab"});
  v.model = "gemma4";
  v.merges = {"▁ a", "▁ ▁", "▁▁ ▁▁", "a b"};
  return std::move(*v.open());
}

std::string with_replacements(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(text, at);
    append_utf8(decoded.code_point, out);
    at += decoded.n_bytes;
  }
  return out;
}

void check_stream(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  StreamDetokenizer stream(tokenizer, {.render_special = true, .starts_text = true});
  std::string streamed;
  for (const int32_t id : ids) streamed += stream.push(id);
  streamed += stream.flush();
  for (std::string_view rest = streamed; !rest.empty();) {
    const int length = strict_utf8_length(rest);
    CHECK(length > 0);
    rest.remove_prefix(static_cast<size_t>(length));
  }
}

void check_text(std::string_view text) {
  static const auto kBytePairs = [] {
    std::vector<std::unique_ptr<Tokenizer>> tokenizers;
    for (const std::string_view name : pre_tokenizer_names()) {
      if (find_pre_tokenizer_rule(name)->raw_utf8) continue;
      tokenizers.push_back(byte_pair(std::string(name).c_str()));
    }
    return tokenizers;
  }();
  static const auto kGemma = gemma();
  static const std::array kSentencePieces = {
      sentence_piece({"▁", "a", "b", "ab", "▁a", "▁▁", "▁▁▁▁", "é"}),
      sentence_piece({"▁", "a", "a▁", "a▁a", "▁a"})};  // merges across words

  static const auto kWordPiece =
      TinyVocabulary::word_piece({"▁a", "▁b", "a", "b", "ab", "▁▁", "▁,", "▁中"}).open().value();
  static const auto kUnigram =
      TinyVocabulary::unigram(
          {{"▁", -2.0f}, {"a", -3.0f}, {"▁a", -3.5f}, {"ab", -4.0f}, {"é", -9.0f}})
          .open()
          .value();
  for (const Tokenizer* tokenizer : {kWordPiece.get(), kUnigram.get()}) {
    for (const int32_t id : tokenizer->encode(text, true)) {
      CHECK(0 <= id && id < tokenizer->vocab_size());
    }
  }

  const auto& bpe =
      *kBytePairs[text.empty() ? 0 : static_cast<uint8_t>(text[0]) % kBytePairs.size()];
  const std::string expected = with_replacements(text);
  CHECK(bpe.decode(bpe.encode(text, false), true) == expected);
  check_stream(bpe, bpe.encode(text, true));
  CHECK(kGemma->decode(kGemma->encode(text, false), true).size() <= expected.size());
  for (const auto& tokenizer : kSentencePieces) {
    const auto ids = tokenizer->encode(text, false);
    std::string marks_as_spaces(text);
    for (size_t at; (at = marks_as_spaces.find("▁")) != std::string::npos;) {
      marks_as_spaces.replace(at, 3, " ");
    }
    std::string decoded = tokenizer->decode(ids, true);
    for (size_t at; (at = decoded.find("▁")) != std::string::npos;) decoded.replace(at, 3, " ");
    CHECK(decoded == marks_as_spaces);
    check_stream(*tokenizer, tokenizer->encode(text, true));
  }
}

// A map whose table is `states`: of one byte each, so that random ones have states that lead on.
std::string character_map(std::string_view states) {
  std::string map(4, '\0');
  const auto put = [&](uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) map.push_back(static_cast<char>(value >> shift));
  };
  for (size_t i = 0; i < 256; ++i) {
    const uint8_t state = states.empty() ? 0 : static_cast<uint8_t>(states[i % states.size()]);
    put(static_cast<uint32_t>(i) | (state & 1u) << 8 | uint32_t{state} >> 1 << 10);
  }
  map[1] = 4;  // 1024 bytes
  return map + "ab" + '\0' + "c" + '\0';
}

// The input as a vocabulary: tokens, merges and types between NUL bytes.
void check_vocabulary(std::string_view text) {
  TinyVocabulary v;
  v.types.emplace();
  v.merges.emplace();
  v.scores.emplace();
  const std::array<std::string, 5> kModels = {"gpt2", "llama", "gemma4", "bert", "t5"};
  v.model = kModels[text.empty() ? 0 : static_cast<uint8_t>(text[0]) % 5];
  for (size_t i = 0; !text.empty(); ++i) {
    const size_t end = std::min(text.find('\0'), text.size());
    const std::string part(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (i == 1 && v.model == "t5") {
      v.character_map = character_map(part);
    } else if (part.find(' ', 1) != std::string::npos) {
      v.merges->push_back(part);
    } else if (part.size() == 1 && i % 3 == 0) {
      v.ids.push_back({"eos_token_id", static_cast<uint8_t>(part[0])});
    } else {
      v.add(part, part.empty() ? 6 : static_cast<uint8_t>(part[0]) % 8, static_cast<float>(i % 5));
    }
  }
  const auto tokenizer = v.open();
  if (!tokenizer) {
    CHECK(!tokenizer.error().what.empty() && !tokenizer.error().advice.empty());
    return;
  }
  for (const std::string& token : v.tokens) {
    check_stream(**tokenizer, (*tokenizer)->encode(token + token + " x", true));
  }
}

}  // namespace
}  // namespace hwtv::text

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == 'V') {
    hwtv::text::check_vocabulary(text.substr(1));
  } else {
    hwtv::text::check_text(text);
  }
  return 0;
}
