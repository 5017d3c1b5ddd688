// Small vocabularies as GGUF bytes in memory, right or wrong.  For the tests and the fuzzer of
// text/.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"
#include "tests/gguf/bytes.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"

namespace hwtv::text {

struct TinyVocabulary {
  std::string model = "gpt2";
  std::optional<std::string> pre = "gpt-2";
  std::string name = "tiny";
  std::vector<std::string> tokens;
  std::optional<std::vector<int32_t>> types;
  std::optional<std::vector<float>> scores;
  std::optional<std::vector<std::string>> merges;
  std::vector<std::pair<std::string, uint32_t>> ids = {};  // "bos_token_id"
  std::vector<std::pair<std::string, bool>> flags = {};    // "add_bos_token"
  std::string character_map = {};                          // bytes; empty: none

  int32_t add(const std::string& token, int32_t type = 1, float score = 0) {
    tokens.push_back(token);
    if (types) types->push_back(type);
    if (scores) scores->push_back(score);
    return static_cast<int32_t>(tokens.size()) - 1;
  }

  // The bytes, and the merges "a b" given, with the tokens they lead to.
  static TinyVocabulary byte_pair(const std::vector<std::string>& merges_given) {
    TinyVocabulary v;
    v.types.emplace();
    v.merges = merges_given;
    for (int byte = 0; byte < 256; ++byte) {
      v.add(spell_bytes(std::string(1, static_cast<char>(byte))));
    }
    for (std::string merge : merges_given) {
      merge.erase(merge.find(' ', 1), 1);
      v.add(merge);
    }
    return v;
  }

  // <unk>, <s>, </s>, the byte tokens, then `pieces` with falling scores.
  static TinyVocabulary sentence_piece(const std::vector<std::string>& pieces) {
    TinyVocabulary v;
    v.model = "llama";
    v.pre.reset();
    v.types.emplace();
    v.scores.emplace();
    v.add("<unk>", 2);
    v.add("<s>", 3);
    v.add("</s>", 3);
    for (int byte = 0; byte < 256; ++byte) {
      char text[8];
      snprintf(text, sizeof text, "<0x%02X>", byte);
      v.add(text, 6);
    }
    float score = 0;
    for (const std::string& piece : pieces) v.add(piece, 1, score -= 1);
    return v;
  }

  // [UNK], [CLS], [SEP], then `pieces`.
  static TinyVocabulary word_piece(const std::vector<std::string>& pieces) {
    TinyVocabulary v;
    v.model = "bert";
    v.pre.reset();
    v.types.emplace();
    for (const char* role : {"[UNK]", "[CLS]", "[SEP]"}) v.add(role, 3);
    for (const std::string& piece : pieces) v.add(piece);
    v.ids = {{"unknown_token_id", 0}, {"bos_token_id", 1}, {"seperator_token_id", 2}};
    return v;
  }

  // <pad>, </s>, <unk>, then `pieces` with their scores.
  static TinyVocabulary unigram(const std::vector<std::pair<std::string, float>>& pieces) {
    TinyVocabulary v;
    v.model = "t5";
    v.pre.reset();
    v.types.emplace();
    v.scores.emplace();
    v.add("<pad>", 3);
    v.add("</s>", 3);
    v.add("<unk>", 2);
    for (const auto& [piece, score] : pieces) v.add(piece, 1, score);
    return v;
  }

  std::string bytes() const {
    using gguf::ValueType;
    uint64_t n = 0;
    gguf::Bytes body;
    const auto key = [&](std::string_view entry, ValueType type) {
      ++n;
      body.key(entry, type);
    };
    const auto array = [&](std::string_view entry, ValueType type, size_t size) {
      ++n;
      body.array(entry, type, size);
    };
    const auto strings = [&](std::string_view entry, const std::vector<std::string>& values) {
      array(entry, ValueType::STRING, values.size());
      for (const std::string& value : values) body.string(value);
    };
    key("general.name", ValueType::STRING);
    body.string(name);
    key("tokenizer.ggml.model", ValueType::STRING);
    body.string(model);
    if (pre) {
      key("tokenizer.ggml.pre", ValueType::STRING);
      body.string(*pre);
    }
    strings("tokenizer.ggml.tokens", tokens);
    if (merges) strings("tokenizer.ggml.merges", *merges);
    if (types) {
      array("tokenizer.ggml.token_type", ValueType::I32, types->size());
      for (const int32_t type : *types) body.put(type);
    }
    if (scores) {
      array("tokenizer.ggml.scores", ValueType::F32, scores->size());
      for (const float score : *scores) body.put(score);
    }
    if (!character_map.empty()) {
      array("tokenizer.ggml.precompiled_charsmap", ValueType::U8, character_map.size());
      body.text(character_map);
    }
    for (const auto& [entry, id] : ids) {
      key("tokenizer.ggml." + entry, ValueType::U32);
      body.put(id);
    }
    for (const auto& [entry, flag] : flags) {
      key("tokenizer.ggml." + entry, ValueType::BOOL);
      body.put(static_cast<uint8_t>(flag));
    }
    return gguf::Bytes().header(0, n).text(body.take()).take();
  }

  Result<std::unique_ptr<Tokenizer>> open() const {
    const std::string file_bytes = bytes();
    HWTV_TRY(const auto file, gguf::File::parse(gguf::as_bytes(file_bytes)));
    return Tokenizer::from_gguf(file);
  }
};

}  // namespace hwtv::text
