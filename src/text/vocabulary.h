// The tokens of a GGUF file: their texts, kinds and roles.  Knows nothing of how a text is cut.
// For the text/ folder.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"
#include "text/pre_tokenizer_rules.h"
#include "text/tokenizer.h"

namespace hwtv::text {

// What a token is; a token can be several at once.
enum TokenTrait : uint16_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 4,
  kUserDefined = 8,  // matched in the text before anything else
  kUnused = 16,
  kByte = 32,        // "<0x0A>"
  kStripsLeft = 64,  // takes the white space on its left with it
  kStripsRight = 128,
};

class Vocabulary {
 public:
  enum class Model { byte_pair, sentence_piece, word_piece, unigram };

  // Errors: as Tokenizer::from_gguf.
  static Result<std::unique_ptr<Vocabulary>> from_gguf(const gguf::File& file);
  // What one of n_tokens takes, their texts text_bytes long together.
  static int64_t table_bytes(int64_t n_tokens, int64_t text_bytes);

  Model model() const { return model_; }
  std::string_view model_name() const { return model_name_; }
  const PreTokenizerRule* rule() const { return rule_; }  // nullptr but for byte_pair

  int32_t size() const { return static_cast<int32_t>(traits_.size()); }
  bool contains(int64_t id) const { return 0 <= id && id < size(); }
  std::string_view text(int32_t id) const {
    const size_t i = static_cast<size_t>(id);
    return std::string_view(texts_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  float score(int32_t id) const { return scores_[static_cast<size_t>(id)]; }  // 0 without scores
  bool is(int32_t id, int traits) const { return traits_[static_cast<size_t>(id)] & traits; }
  size_t longest_bytes() const { return longest_bytes_; }

  int32_t find(std::string_view text) const;  // -1: no such token

  const SpecialIds& special_ids() const { return special_ids_; }
  bool add_bos() const { return add_bos_; }
  bool add_eos() const { return add_eos_; }
  bool add_separator() const { return add_separator_; }
  bool add_space_prefix() const { return add_space_prefix_; }
  const std::vector<int32_t>& end_of_generation() const { return end_of_generation_; }

 private:
  Vocabulary() = default;
  Result<void> read_model(const gguf::File& file);
  Result<void> read_tokens(const gguf::File& file);
  Result<void> index_texts();
  Result<void> read_traits(const gguf::File& file);
  Result<void> read_scores(const gguf::File& file);
  void set_default_ids();
  Result<void> read_special_ids(const gguf::File& file);
  Result<void> read_flags(const gguf::File& file);
  void find_special_by_text();
  void collect_end_of_generation();
  Result<void> set_strip_traits(const gguf::File& file);
  uint32_t slot_of(uint64_t hash, int32_t id) const {
    return static_cast<uint32_t>(hash >> 32) << id_bits_ | static_cast<uint32_t>(id + 1);
  }
  int32_t id_of(uint32_t slot) const {
    return static_cast<int32_t>(slot & ((1u << id_bits_) - 1)) - 1;
  }
  void add_trait(int32_t id, int trait) { traits_[static_cast<size_t>(id)] |= trait; }

  Model model_ = Model::byte_pair;
  std::string model_name_;
  const PreTokenizerRule* rule_ = nullptr;

  std::string texts_;             // all texts in a row
  std::vector<uint64_t> starts_;  // size() + 1
  std::vector<float> scores_;
  std::vector<uint16_t> traits_;
  // Open addressing by text: id + 1 in the low id_bits_ bits, 0 is free; above, bits of the text's
  // hash: where they differ, no text need be looked at.
  std::vector<uint32_t> slots_;
  int id_bits_ = 0;
  size_t longest_bytes_ = 0;

  SpecialIds special_ids_;
  bool add_bos_ = false, add_eos_ = false, add_separator_ = false, add_space_prefix_ = false;
  std::vector<int32_t> end_of_generation_;  // ascending
};

}  // namespace hwtv::text
