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
  enum class Model { byte_pair, sentence_piece };

  // Errors: as Tokenizer::from_gguf.
  static Result<std::unique_ptr<Vocabulary>> from_gguf(const gguf::File& file);
  // What one of n_tokens takes, their texts text_bytes long together.
  static int64_t table_bytes(int64_t n_tokens, int64_t text_bytes);

  Model model() const { return model_; }
  std::string_view model_name() const { return model_name_; }
  const PreTokenizerRule* rule() const { return rule_; }  // nullptr for sentence_piece

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
  bool add_space_prefix() const { return add_space_prefix_; }
  const std::vector<int32_t>& end_of_generation() const { return end_of_generation_; }

 private:
  Vocabulary() = default;
  Result<void> read_model(const gguf::File& file);
  Result<void> read_tokens(const gguf::File& file);
  Result<void> index_texts();
  Result<void> read_traits(const gguf::File& file);
  Result<void> read_scores(const gguf::File& file);
  Result<void> read_special_ids(const gguf::File& file);
  Result<void> read_flags(const gguf::File& file);
  void find_special_by_text();
  void collect_end_of_generation();
  Result<void> set_strip_traits(const gguf::File& file);
  void add_trait(int32_t id, int trait) { traits_[static_cast<size_t>(id)] |= trait; }

  Model model_ = Model::byte_pair;
  std::string model_name_;
  const PreTokenizerRule* rule_ = nullptr;

  std::string texts_;             // all texts in a row
  std::vector<uint64_t> starts_;  // size() + 1
  std::vector<float> scores_;
  std::vector<uint16_t> traits_;
  std::vector<int32_t> slots_;  // open addressing by text; -1 is free
  size_t longest_bytes_ = 0;

  SpecialIds special_ids_;
  bool add_bos_ = false, add_eos_ = false, add_space_prefix_ = false;
  std::vector<int32_t> end_of_generation_;  // ascending
};

}  // namespace hwtv::text
