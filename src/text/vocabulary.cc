#include "text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "base/quoted.h"

namespace hwtv::text {

namespace {

constexpr std::string_view kAdvice = "convert the model again, or take another file of it";

tl::unexpected<Error> corrupt(std::string what) {
  return fail(ErrorCode::corrupt_file, std::move(what), std::string(kAdvice));
}

// The roles that a file may leave to be found by the token's text, with the texts that different
// families use, the likeliest first.
struct RoleTexts {
  std::optional<int32_t> SpecialIds::*role;
  std::vector<std::string_view> texts;
};
const std::vector<RoleTexts>& role_texts() {
  static const std::vector<RoleTexts> kRoles = {
      {&SpecialIds::eot,
       {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
        "<EOT>", "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>"}},
      {&SpecialIds::eom, {"<|eom_id|>"}},
      {&SpecialIds::fim_prefix,
       {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
        "<|code_prefix|>", "<|prefix|>"}},
      {&SpecialIds::fim_suffix,
       {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>",
        "<|code_suffix|>", "<|suffix|>"}},
      {&SpecialIds::fim_middle,
       {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>",
        "<|code_middle|>", "<|middle|>"}},
      {&SpecialIds::fim_padding, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
      {&SpecialIds::fim_repository,
       {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
      {&SpecialIds::fim_separator, {"<|file_sep|>"}}};
  return kRoles;
}

// Texts that end an answer wherever they are tokens, whatever the file calls them.
constexpr std::string_view kEndTexts[] = {"<|eot_id|>",    "<|im_end|>",
                                          "<|end|>",       "<|return|>",
                                          "<|call|>",      "<|flush|>",
                                          "<|calls|>",     "<end_of_turn>",
                                          "<|endoftext|>", "</s>",
                                          "<|eom_id|>",    "<EOT>",
                                          "_<EOT>",        "[EOT]",
                                          "[EOS]",         "<|end_of_text|>",
                                          "<eos>",         "<end_of_utterance>",
                                          "<turn|>",       "<|tool_response>",
                                          "[e~[",          "<｜end▁of▁sentence｜>"};

// gpt-oss: parts of the answer's frame that must be rendered.
constexpr std::string_view kFrameTexts[] = {"<|channel|>", "<|message|>", "<|start|>",
                                            "<|constrain|>"};

uint16_t traits_of_type(int64_t gguf_type) {
  switch (gguf_type) {
    case 1:
      return kNormal;
    case 2:
      return kUnknown;
    case 3:
      return kControl;
    case 4:
      return kUserDefined;
    case 5:
      return kUnused;
    case 6:
      return kByte;
    default:
      return 0;
  }
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>('A' <= c && c <= 'Z' ? c + 32 : c);
  return lower;
}

size_t n_text_slots(size_t n_tokens) { return std::bit_ceil(n_tokens * 2); }

}  // namespace

Result<std::unique_ptr<Vocabulary>> Vocabulary::from_gguf(const gguf::File& file) {
  std::unique_ptr<Vocabulary> vocabulary(new Vocabulary);
  HWTV_TRY_VOID(vocabulary->read_model(file));
  HWTV_TRY_VOID(vocabulary->read_tokens(file));
  HWTV_TRY_VOID(vocabulary->index_texts());
  HWTV_TRY_VOID(vocabulary->read_traits(file));
  HWTV_TRY_VOID(vocabulary->read_scores(file));
  HWTV_TRY_VOID(vocabulary->read_special_ids(file));
  HWTV_TRY_VOID(vocabulary->read_flags(file));
  vocabulary->find_special_by_text();
  vocabulary->collect_end_of_generation();
  HWTV_TRY_VOID(vocabulary->set_strip_traits(file));
  return vocabulary;
}

Result<void> Vocabulary::read_model(const gguf::File& file) {
  HWTV_TRY(const auto model, file.get<std::string_view>("tokenizer.ggml.model"));
  HWTV_TRY(const auto pre, file.get<std::string_view>("tokenizer.ggml.pre"));
  if (!model || *model == "none" || *model == "no_vocab") {
    return fail(ErrorCode::unsupported, "this file has no tokenizer (tokenizer.ggml.model)",
                "give token ids instead of text, or take a file with a vocabulary");
  }
  model_name_ = *model;
  if (*model == "llama") {
    model_ = Model::sentence_piece;
    add_bos_ = add_space_prefix_ = true;
    return {};
  }
  if (*model == "bert") {
    model_ = Model::word_piece;
    add_bos_ = add_separator_ = true;
    return {};
  }
  if (*model == "t5") {
    model_ = Model::unigram;
    add_eos_ = true;
    return {};
  }
  if (*model != "gpt2" && *model != "gemma4") {
    return fail(ErrorCode::unsupported,
                fmt::format("tokenizer model {} is not known; known: gpt2, llama, gemma4, bert, t5",
                            hwtv::quoted(*model)),
                "take a model with a BPE, SentencePiece or WordPiece vocabulary");
  }
  const std::string_view name = *model == "gemma4"     ? "gemma4"
                                : pre && !pre->empty() ? *pre
                                                       : "default";
  rule_ = find_pre_tokenizer_rule(name);
  if (!rule_) {
    std::string known;
    for (const std::string_view other : pre_tokenizer_names()) known.append(" ").append(other);
    return fail(ErrorCode::unsupported,
                fmt::format("pre-tokenizer {} is not known; known:{}", hwtv::quoted(name), known),
                "a newer hwtv may know it; src/text/pre_tokenizer_rules.cc is where it is added");
  }
  add_bos_ = rule_->add_bos;
  return {};
}

Result<void> Vocabulary::read_tokens(const gguf::File& file) {
  HWTV_TRY(const auto tokens, file.require<std::vector<std::string_view>>("tokenizer.ggml.tokens"));
  if (tokens.empty()) return corrupt("the vocabulary is empty (tokenizer.ggml.tokens)");
  if (tokens.size() > (1u << 26)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the vocabulary has {} tokens; the limit is {}", tokens.size(), 1 << 26),
        std::string(kAdvice));
  }
  starts_.reserve(tokens.size() + 1);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t start = texts_.size();
    starts_.push_back(start);
    // A token without a text cannot be told from others by its text: it gets one.
    if (tokens[i].empty()) texts_ += fmt::format("[EMPTY_{}]", i);
    texts_ += tokens[i];
    longest_bytes_ = std::max(longest_bytes_, texts_.size() - start);
  }
  starts_.push_back(texts_.size());
  traits_.assign(tokens.size(), kNormal);
  scores_.assign(tokens.size(), 0.0f);
  return {};
}

int64_t Vocabulary::table_bytes(int64_t n_tokens, int64_t text_bytes) {
  const size_t n = static_cast<size_t>(n_tokens);
  const size_t n_bytes = n * (sizeof(uint64_t) + sizeof(float) + sizeof(uint16_t)) +
                         n_text_slots(n) * sizeof(uint32_t);
  return text_bytes + static_cast<int64_t>(n_bytes);
}

Result<void> Vocabulary::index_texts() {
  id_bits_ = std::bit_width(traits_.size());
  slots_.assign(n_text_slots(traits_.size()), 0);
  const size_t mask = slots_.size() - 1;
  for (int32_t id = 0; id < size(); ++id) {
    const int32_t twin = find(text(id));
    if (twin >= 0) {
      return corrupt(
          fmt::format("tokens {} and {} of tokenizer.ggml.tokens have the same text", twin, id));
    }
    const uint64_t hash = std::hash<std::string_view>()(text(id));
    size_t i = hash & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = slot_of(hash, id);
  }
  return {};
}

int32_t Vocabulary::find(std::string_view wanted) const {
  if (wanted.size() > longest_bytes_) return -1;
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = std::hash<std::string_view>()(wanted);
  const uint32_t tag = slot_of(hash, -1);
  for (size_t i = hash & mask; slots_[i] != 0; i = (i + 1) & mask) {
    if ((slots_[i] ^ tag) >> id_bits_ != 0) continue;
    const int32_t id = id_of(slots_[i]);
    if (text(id) == wanted) return id;
  }
  return -1;
}

Result<void> Vocabulary::read_traits(const gguf::File& file) {
  HWTV_TRY(const auto types, file.get<std::vector<int64_t>>("tokenizer.ggml.token_type"));
  if (!types) return {};
  if (types->size() != traits_.size()) {
    return corrupt(fmt::format("tokenizer.ggml.token_type has {} entries for {} tokens",
                               types->size(), size()));
  }
  for (size_t i = 0; i < traits_.size(); ++i) traits_[i] = traits_of_type((*types)[i]);
  return {};
}

Result<void> Vocabulary::read_scores(const gguf::File& file) {
  const gguf::Value* value = file.find("tokenizer.ggml.scores");
  if (!value) return {};
  if (auto floats = value->as_floats()) {
    scores_ = std::move(*floats);
  } else if (const auto ints = value->as_ints()) {
    scores_.assign(ints->begin(), ints->end());
  } else {
    return corrupt(
        fmt::format("tokenizer.ggml.scores is {}, not an array of numbers", value->description()));
  }
  if (scores_.size() != traits_.size()) {
    return corrupt(
        fmt::format("tokenizer.ggml.scores has {} entries for {} tokens", scores_.size(), size()));
  }
  const auto bad =
      std::find_if(scores_.begin(), scores_.end(), [](float s) { return std::isnan(s); });
  if (bad != scores_.end()) {
    return corrupt(fmt::format("the score of token {} is not a number", bad - scores_.begin()));
  }
  return {};
}

void Vocabulary::set_default_ids() {
  SpecialIds& ids = special_ids_;
  switch (model_) {
    case Model::sentence_piece:
      ids.unknown = 0;
      ids.bos = 1;
      ids.eos = 2;
      break;
    case Model::word_piece:  // BOS is what the family calls CLS
      ids.unknown = 100;
      ids.bos = 101;
      ids.separator = 102;
      break;
    case Model::unigram:
      ids.eos = 1;
      ids.unknown = 2;
      break;
    case Model::byte_pair:
      if (rule_->raw_utf8) break;
      if (rule_->has_bos) ids.bos = 11;
      ids.eos = 11;
  }
  for (auto role :
       {&SpecialIds::bos, &SpecialIds::eos, &SpecialIds::unknown, &SpecialIds::separator}) {
    if (ids.*role && !contains(*(ids.*role))) (ids.*role).reset();
  }
}

Result<void> Vocabulary::read_special_ids(const gguf::File& file) {
  set_default_ids();

  struct Key {
    std::string_view name;
    std::optional<int32_t> SpecialIds::*role;
    bool must_exist;  // generation depends on it
  };
  // "seperator" is how the format spells it; the last three are older names.
  static constexpr Key kKeys[] = {{"bos_token_id", &SpecialIds::bos, true},
                                  {"eos_token_id", &SpecialIds::eos, true},
                                  {"eot_token_id", &SpecialIds::eot, true},
                                  {"eom_token_id", &SpecialIds::eom, true},
                                  {"unknown_token_id", &SpecialIds::unknown, false},
                                  {"seperator_token_id", &SpecialIds::separator, false},
                                  {"padding_token_id", &SpecialIds::padding, false},
                                  {"mask_token_id", &SpecialIds::mask, false},
                                  {"fim_pre_token_id", &SpecialIds::fim_prefix, false},
                                  {"fim_suf_token_id", &SpecialIds::fim_suffix, false},
                                  {"fim_mid_token_id", &SpecialIds::fim_middle, false},
                                  {"fim_pad_token_id", &SpecialIds::fim_padding, false},
                                  {"fim_rep_token_id", &SpecialIds::fim_repository, false},
                                  {"fim_sep_token_id", &SpecialIds::fim_separator, false},
                                  {"prefix_token_id", &SpecialIds::fim_prefix, false},
                                  {"suffix_token_id", &SpecialIds::fim_suffix, false},
                                  {"middle_token_id", &SpecialIds::fim_middle, false}};
  for (const Key& key : kKeys) {
    const std::string name = fmt::format("tokenizer.ggml.{}", key.name);
    HWTV_TRY(const auto id, file.get<int64_t>(name));
    if (!id) continue;
    if (contains(*id)) {
      special_ids_.*key.role = static_cast<int32_t>(*id);
    } else if (*id == -1 || *id == UINT32_MAX) {  // how some converters say "none"
      (special_ids_.*key.role).reset();
    } else if (key.must_exist) {
      return corrupt(fmt::format("{} is {}, but the vocabulary has {} tokens", name, *id, size()));
    }
  }
  return {};
}

Result<void> Vocabulary::read_flags(const gguf::File& file) {
  HWTV_TRY(const auto bos, file.get<bool>("tokenizer.ggml.add_bos_token"));
  HWTV_TRY(const auto eos, file.get<bool>("tokenizer.ggml.add_eos_token"));
  HWTV_TRY(const auto space, file.get<bool>("tokenizer.ggml.add_space_prefix"));
  if (bos.value_or(false) && !special_ids_.bos) {
    return corrupt("the file asks for a BOS token (add_bos_token) but has none (bos_token_id)");
  }
  if (eos.value_or(false) && !special_ids_.eos) {
    return corrupt("the file asks for an EOS token (add_eos_token) but has none (eos_token_id)");
  }
  add_eos_ = eos.value_or(add_eos_) && special_ids_.eos;
  add_bos_ = bos.value_or(add_bos_) && special_ids_.bos;
  // BERT's frame is CLS and SEP, which some files call an EOS, whatever else the flags say.
  if (model_ == Model::word_piece) {
    add_bos_ = special_ids_.bos.has_value();
    add_separator_ = special_ids_.separator.has_value();
    add_eos_ = false;
  }
  // BPE files carry the key of the prefix without meaning it.
  if (model_ == Model::sentence_piece || model_ == Model::unigram) {
    add_space_prefix_ = space.value_or(add_space_prefix_);
  }
  // Gemma 4 needs its BOS; files that deny it were converted with a wrong setting.
  if (rule_ && rule_->raw_utf8 && rule_->add_bos && special_ids_.bos) add_bos_ = true;
  return {};
}

void Vocabulary::find_special_by_text() {
  for (const RoleTexts& entry : role_texts()) {
    auto& role = special_ids_.*entry.role;
    for (const std::string_view wanted : entry.texts) {
      const int32_t id = role ? -1 : find(wanted);
      if (id < 0) continue;
      role = id;
      add_trait(id, kControl);
    }
  }
  for (int32_t id = 0; id < size(); ++id) {
    if (is(id, kControl) && text(id).find("unused") != std::string_view::npos) {
      add_trait(id, kUnused);
    }
  }
}

void Vocabulary::collect_end_of_generation() {
  std::vector<int32_t>& ends = end_of_generation_;
  const auto has = [&](std::string_view wanted) {
    return std::any_of(ends.begin(), ends.end(), [&](int32_t id) { return text(id) == wanted; });
  };
  const auto remove = [&](std::string_view wanted, uint16_t traits) {
    const int32_t id = find(wanted);
    std::erase(ends, id);
    traits_[static_cast<size_t>(id)] = traits;
  };

  for (const auto& id :
       {special_ids_.fim_padding, special_ids_.fim_repository, special_ids_.fim_separator}) {
    if (id) ends.push_back(*id);
  }
  for (const std::string_view wanted : kEndTexts) {
    const int32_t id = find(wanted);
    if (id < 0) continue;
    ends.push_back(id);
    add_trait(id, kControl);
  }
  for (const std::string_view wanted : kFrameTexts) {
    const int32_t id = find(wanted);
    if (id >= 0) traits_[static_cast<size_t>(id)] = kUserDefined;
  }
  for (const auto& id : {special_ids_.eos, special_ids_.eot, special_ids_.eom}) {
    if (id) ends.push_back(*id);
  }
  // In gpt-oss and Solar, <|end|> ends a part of the answer; Gemma 4 and PLaMo use </s> as text.
  const bool harmony = has("<|return|>") && (has("<|call|>") || has("<|calls|>"));
  const bool solar = has("<|flush|>") && (has("<|call|>") || has("<|calls|>"));
  if ((harmony || solar) && has("<|end|>")) remove("<|end|>", kUserDefined);
  if ((has("<|tool_response>") || has("<|plamo:eos|>")) && has("</s>")) remove("</s>", kNormal);

  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
}

// GGUF has no field for it: the tokens that swallow white space are known by the model's name.
Result<void> Vocabulary::set_strip_traits(const gguf::File& file) {
  HWTV_TRY(const auto name_value, file.get<std::string_view>("general.name"));
  HWTV_TRY(const auto architecture_value, file.get<std::string_view>("general.architecture"));
  HWTV_TRY(const auto pre_value, file.get<std::string_view>("tokenizer.ggml.pre"));
  const std::string name = lower_case(name_value.value_or(""));
  const std::string_view architecture = architecture_value.value_or("");
  const std::string_view pre = pre_value.value_or("");
  const auto has = [](std::string_view in, std::string_view part) {
    return in.find(part) != std::string_view::npos;
  };
  const auto strip_left = [&](std::string_view token) {
    const int32_t id = find(token);
    if (id >= 0) add_trait(id, kStripsLeft);
  };
  if (has(pre, "jina-v2-de") || has(pre, "jina-v2-es") || has(pre, "jina-v2-code") ||
      has(architecture, "nomic-bert-moe") || has(architecture, "jina-bert-v3")) {
    strip_left("<mask>");
  } else if (has(name, "phi-3") || has(name, "phi3")) {
    for (int32_t id = 0; id < size(); ++id) {
      const std::string_view t = text(id);
      const bool keeps = t == "<unk>" || t == "<s>" || t == "<|endoftext|>";
      if (!keeps && (is(id, kControl | kUserDefined | kUnknown) || t == "</s>")) {
        add_trait(id, kStripsRight);
      }
    }
  } else if (has(name, "modern-bert")) {
    strip_left("[MASK]");
  }
  return {};
}

}  // namespace hwtv::text
