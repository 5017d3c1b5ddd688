// Logits of tiny models against Hugging Face transformers in float64, and the proof that no
// metadata key is read past: each is changed and removed in turn, and the logits must then differ.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/isa.h"
#include "backends/ref/ref_backend.h"
#include "tests/gguf/temporary_folder.h"
#include "tests/golden/forward.h"
#include "tests/golden/golden_case.h"

namespace hwtv::golden {
namespace {

constexpr double kTolerance = 2e-5;  // of the range of the logits
// An F16 cache rounds each key by up to 2^-12 of itself.  Scores here have a standard deviation of
// about 4, so one is off by up to 4 x 2^-12, and the softmax makes of it the same share of a
// weight: 2^-10 in each of two layers.
constexpr double kHalfCacheTolerance = 0x1p-9;
// A backend may round what quantized weights are multiplied with to 8 bits per 32 elements.  A
// forward pass of gpt_oss_mxfp4 in float64 that rounds the inputs of its experts so, and nothing
// else, is off by 0.0101 of the range (0.0066 by the inputs of gate and up alone, 0.0050 by those
// of down; no token is routed otherwise).  The rest is room for halves that F32 rounds the other
// way.
constexpr double kInt8Tolerance = 0.012;
constexpr int64_t kBudgetBytes = int64_t{1} << 30;

class Golden : public testing::TestWithParam<std::string> {
 protected:
  Golden() : case_(GoldenCase::read(GetParam())) {
    if (case_.name == "bert_classes") output_ = ops::OutputKind::classes;
  }

  // The case as a file, opened and run; an error where the file is refused.
  Result<Logits> run(ops::Backend& backend, const GoldenCase& variant,
                     const ForwardOptions& options = {}) {
    const std::string path = folder_ / "model.gguf";
    variant.write_gguf(path);
    const auto n_prompt = static_cast<int64_t>(variant.prompt.size());
    HWTV_TRY(const model::Model model, model::Model::open(path, {n_prompt, output_}));
    return forward(backend, model, variant.prompt, variant.logit_rows, options);
  }
  Result<Logits> run(const GoldenCase& variant, const ForwardOptions& options = {}) {
    ref::RefBackend backend(team_, ledger_);
    return run(backend, variant, options);
  }

  // The largest difference from the case's logits, as a share of their range; infinite where the
  // logits have another shape.
  double error_of(const Logits& logits) const {
    double low = INFINITY, high = -INFINITY, worst = 0;
    if (logits.size() != case_.logits.size()) return INFINITY;
    for (size_t row = 0; row < logits.size(); ++row) {
      if (logits[row].size() != case_.logits[row].size()) return INFINITY;
      for (size_t i = 0; i < logits[row].size(); ++i) {
        const double expected = case_.logits[row][i];
        low = std::min(low, expected);
        high = std::max(high, expected);
        worst = std::max(worst, std::abs(static_cast<double>(logits[row][i]) - expected));
      }
    }
    return worst / (high - low);
  }

  GoldenCase case_;
  ops::OutputKind output_ = ops::OutputKind::logits;
  gguf::TemporaryFolder folder_;
  ThreadTeam team_{1};
  hw::Ledger ledger_{"test", kBudgetBytes};
};

bool is_encoder(const GoldenCase& golden_case) {
  return golden_case.name.starts_with("bert") || golden_case.name.starts_with("nomic_bert");
}

TEST_P(Golden, RefGivesTheLogitsOfTransformers) {
  const Result<Logits> logits = run(case_);
  ASSERT_TRUE(logits) << logits.error().what;
  const double error = error_of(*logits);
  RecordProperty("error", fmt::format("{:.2e}", error));
  EXPECT_LE(error, kTolerance);
}

// With F32 weights and an F32 cache only the order of sums differs from ref.
TEST_P(Golden, EveryCpuTableGivesTheLogitsOfTransformers) {
  const double rounding = case_.is_quantized() ? kInt8Tolerance : 0;
  double worst = 0;
  for (const cpu::Isa& isa : cpu::isas()) {
    if (!isa.can_run()) continue;
    SCOPED_TRACE(isa.name());
    cpu::CpuBackend backend(team_, ledger_, *isa.kernels);
    const Result<Logits> logits = run(backend, case_);
    ASSERT_TRUE(logits) << logits.error().what;
    EXPECT_LE(error_of(*logits), kTolerance + rounding);
    worst = std::max(worst, error_of(*logits));

    const Result<Logits> half_cache = run(backend, case_, {.kv_dtype = DType::F16});
    ASSERT_TRUE(half_cache) << half_cache.error().what;
    EXPECT_LE(error_of(*half_cache), kHalfCacheTolerance + rounding);
  }
  RecordProperty("error", fmt::format("{:.2e}", worst));
}

TEST_P(Golden, ChunksChangeNoBit) {
  if (is_encoder(case_)) GTEST_SKIP() << "an encoder's sequence is one step";
  const auto check = [&](ops::Backend& backend) {
    const Result<Logits> whole = run(backend, case_);
    ASSERT_TRUE(whole);
    for (const int64_t chunk_tokens : {1, 7, 64}) {
      const Result<Logits> chunked = run(backend, case_, {.chunk_tokens = chunk_tokens});
      ASSERT_TRUE(chunked);
      EXPECT_EQ(*whole, *chunked) << backend.spec().name() << " " << chunk_tokens;
    }
  };
  ref::RefBackend ref_backend(team_, ledger_);
  check(ref_backend);
  for (const cpu::Isa& isa : cpu::isas()) {
    if (!isa.can_run()) continue;
    SCOPED_TRACE(isa.name());
    cpu::CpuBackend backend(team_, ledger_, *isa.kernels);
    check(backend);
  }
}

// x . weight^T, and the cap of gemma2 and gemma3 where the case has one.
Logits logits_by_hand(const GoldenCase& golden_case, const Logits& embeddings) {
  const std::vector<float>* weight = nullptr;
  for (const CaseTensor& tensor : golden_case.tensors)
    if (tensor.name == "output.weight" || (tensor.name == "token_embd.weight" && !weight))
      weight = &tensor.values;
  double cap = 0;
  for (const MetadataEntry& entry : golden_case.metadata)
    if (entry.key.ends_with(".final_logit_softcapping"))
      cap = static_cast<double>(std::get<float>(entry.value));
  Logits logits;
  for (const std::vector<float>& x : embeddings) {
    std::vector<float>& row = logits.emplace_back();
    for (size_t at = 0; at < weight->size(); at += x.size()) {
      double sum = 0;
      for (size_t i = 0; i < x.size(); ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>((*weight)[at + i]);
      row.push_back(static_cast<float>(cap > 0 ? cap * std::tanh(sum / cap) : sum));
    }
  }
  return logits;
}

TEST_P(Golden, EmbeddingsAreWhatTheLogitsAreMadeOf) {
  if (is_encoder(case_)) GTEST_SKIP() << "an encoder has no logits";
  output_ = ops::OutputKind::embedding;
  const Result<Logits> embeddings = run(case_);
  ASSERT_TRUE(embeddings) << embeddings.error().what;
  EXPECT_LE(error_of(logits_by_hand(case_, *embeddings)), kTolerance);
}

// One way to change an entry; nullopt: the entry is removed.
struct Mutation {
  std::string name;
  std::optional<decltype(MetadataEntry::value)> value;
};

std::vector<Mutation> mutations_of(const MetadataEntry& entry) {
  std::vector<Mutation> mutations = {{"removed", std::nullopt}};
  const auto add = [&](std::string name, auto value) { mutations.push_back({name, value}); };
  if (const auto* count = std::get_if<uint32_t>(&entry.value)) {
    add("doubled", *count * 2);
    add("halved", *count / 2);
  } else if (const auto* number = std::get_if<float>(&entry.value)) {
    add("doubled", *number * 2);
    add("halved", *number / 2);
  } else if (const auto* flag = std::get_if<bool>(&entry.value)) {
    add("negated", !*flag);
  } else if (std::holds_alternative<std::string>(entry.value)) {
    add("changed", std::string("none"));
  } else if (const auto* strings = std::get_if<StringArray>(&entry.value)) {
    add("longer", StringArray{strings->n_elements + 1});
  } else if (const auto* floats = std::get_if<FloatArray>(&entry.value)) {
    add("longer", FloatArray{floats->n_elements + 1});
  } else if (const auto* ints = std::get_if<IntArray>(&entry.value)) {
    add("longer", IntArray{ints->n_elements + 1});
  } else if (const auto* flags = std::get_if<std::vector<bool>>(&entry.value)) {
    std::vector<bool> negated = *flags, shorter = *flags;
    negated.flip();
    shorter.pop_back();
    add("negated", negated);
    add("shorter", shorter);
  } else if (const auto* numbers = std::get_if<std::vector<int32_t>>(&entry.value)) {
    std::vector<int32_t> doubled = *numbers;
    for (int32_t& each : doubled) each *= 2;
    add("doubled", doubled);
  }
  return mutations;
}

// Keys that leave every logit as it is, and why.
struct Inert {
  std::string_view key;        // "." stands for the architecture's name and a point
  std::string_view mutations;  // names; "" stands for all
  std::string_view reason;
  std::string_view case_prefix = "";
  std::string_view not_of = "";  // a case's prefix
};

constexpr Inert kInert[] = {
    {"general.type", "", "says that the file is a model, which its tensors do"},
    {"general.name", "", "a name"},
    {"general.size_label", "", "part of a name"},
    {"general.file_type", "", "each tensor has its own type"},
    {"general.quantization_version", "", "one version exists"},
    {"tokenizer.ggml.tokens", "removed", "ids go in; the embedding's rows are counted instead"},
    {"tokenizer.ggml.model", "", "ids go in, not text"},
    {"tokenizer.ggml.pre", "", "ids go in, not text"},
    {"tokenizer.ggml.scores", "", "ids go in, not text"},
    {"tokenizer.ggml.token_type", "", "ids go in, not text"},
    {"tokenizer.ggml.add_space_prefix", "", "ids go in, not text"},
    {"tokenizer.ggml.bos_token_id", "", "ids go in, not text"},
    {"tokenizer.ggml.eos_token_id", "", "ids go in, not text"},
    {"tokenizer.ggml.unknown_token_id", "", "ids go in, not text"},
    {"tokenizer.ggml.padding_token_id", "", "ids go in, not text"},
    {"tokenizer.ggml.seperator_token_id", "", "ids go in, not text"},
    {"tokenizer.ggml.mask_token_id", "", "ids go in, not text"},
    {"tokenizer.ggml.add_bos_token", "", "ids go in, not text"},
    {"tokenizer.ggml.add_eos_token", "", "ids go in, not text"},
    {"tokenizer.ggml.add_sep_token", "", "ids go in, not text"},
    {"tokenizer.ggml.normalizer.lowercase", "", "ids go in, not text"},
    {".classifier.output_labels", "", "names of classes"},
    {"tokenizer.ggml.token_type_count", "removed", "one type is what its absence means",
     "bert_classes"},
    {".context_length", "doubled halved", "a limit; YaRN files name the original context", "",
     "bert"},
    {".vocab_size", "removed", "the embedding's rows are counted instead"},
    {".attention.sliding_window", "", "0: there is no window", "phi3_longrope"},
    {".feed_forward_length", "doubled halved", "experts have a width of their own", "qwen2moe"},
    {".feed_forward_length", "doubled halved", "experts have a width of their own", "qwen3moe"},
    {".feed_forward_length", "doubled halved", "experts have a width of their own", "gpt_oss"},
    {".expert_feed_forward_length", "removed", "feed_forward_length says the same", "gpt_oss"},
    {".feed_forward_length", "doubled halved", "experts have a width of their own", "qwen3next"},
    {".attention.recurrent_layers", "removed", "the interval says the same", "qwen3next"},
    {".full_attention_interval", "", "the list of layers says the same", "qwen3next"},
    {".attention.recurrent_layers", "removed", "the interval says the same", "qwen35"},
    {".full_attention_interval", "", "the list of layers says the same", "qwen35"},
    {".rope.dimension_sections", "", "of images: text has one position in all", "qwen35"},
    {".rope.scaling.original_context_length", "", "no longrope to choose for", "phi3_window"},
    {".rope.scaling.original_context_length", "halved", "100 tokens still exceed it",
     "phi3_longrope_long"},
    {".rope.scaling.original_context_length", "doubled removed", "100 tokens still fit into it",
     "phi3_longrope_short"},
};

std::string_view text_of(const GoldenCase& golden_case, std::string_view wanted) {
  for (const MetadataEntry& entry : golden_case.metadata)
    if (entry.key == wanted) return std::get<std::string>(entry.value);
  return "";
}

// ".context_length" for "llama.context_length" of a llama file.
std::string_view short_key(const GoldenCase& golden_case, std::string_view key) {
  const std::string_view architecture = text_of(golden_case, "general.architecture");
  return key.starts_with(architecture) ? key.substr(architecture.size()) : key;
}

// The value that an absent key stands for; removing a key that holds it changes nothing.
std::optional<decltype(MetadataEntry::value)> default_of(const GoldenCase& golden_case,
                                                         std::string_view full_key) {
  const std::string_view key = short_key(golden_case, full_key);
  const auto find = [&](std::string_view wanted) -> std::optional<uint32_t> {
    for (const MetadataEntry& entry : golden_case.metadata)
      if (short_key(golden_case, entry.key) == wanted) return std::get<uint32_t>(entry.value);
    return std::nullopt;
  };
  const auto even_share = [&] {
    return find(".embedding_length").value() / find(".attention.head_count").value();
  };
  if (key == ".attention.head_count_kv") return find(".attention.head_count");
  if (key == ".attention.key_length" || key == ".attention.value_length") return even_share();
  if (key == ".rope.dimension_count") return find(".attention.key_length").value_or(even_share());
  if (key == ".rope.scaling.type") return "linear";
  return std::nullopt;
}

bool is_inert(const GoldenCase& golden_case, const MetadataEntry& entry, const Mutation& mutation) {
  if (!mutation.value) {
    const auto standing = default_of(golden_case, entry.key);
    const auto* number = std::get_if<uint32_t>(&entry.value);
    const auto* text = std::get_if<std::string>(&entry.value);
    if (standing && number && *number == std::get<uint32_t>(*standing)) return true;
    if (standing && text && *text == std::get<std::string>(*standing)) return true;
  }
  for (const Inert& inert : kInert)
    if (short_key(golden_case, entry.key) == inert.key &&
        (inert.not_of.empty() || !golden_case.name.starts_with(inert.not_of)) &&
        golden_case.name.starts_with(inert.case_prefix) &&
        (inert.mutations.empty() || inert.mutations.find(mutation.name) != std::string_view::npos))
      return true;
  return false;
}

TEST_P(Golden, NoKeyIsReadPast) {
  const Result<Logits> unchanged = run(case_);
  ASSERT_TRUE(unchanged);
  for (size_t i = 0; i < case_.metadata.size(); ++i) {
    const MetadataEntry& entry = case_.metadata[i];
    for (const Mutation& mutation : mutations_of(entry)) {
      SCOPED_TRACE(fmt::format("{} {}", entry.key, mutation.name));
      GoldenCase variant = case_;
      if (mutation.value)
        variant.metadata[i].value = *mutation.value;
      else
        variant.metadata.erase(variant.metadata.begin() + static_cast<std::ptrdiff_t>(i));
      const Result<Logits> logits = run(variant);
      if (is_inert(case_, entry, mutation)) {
        ASSERT_TRUE(logits) << logits.error().what;
        EXPECT_EQ(*logits, *unchanged) << "listed as inert, and is not";
      } else {
        EXPECT_TRUE(!logits || error_of(*logits) > kTolerance)
            << "changes nothing; error " << error_of(*logits);
      }
    }
  }
}

// Of longrope's two sets, the one for contexts of another length.
std::string_view idle_rope_factors(const GoldenCase& golden_case) {
  if (golden_case.name == "phi3_longrope_long") return "rope_factors_short.weight";
  if (golden_case.name == "phi3_longrope_short") return "rope_factors_long.weight";
  return "";
}

// Without rotary positions a bias of keys adds the same to all scores of a query, and a softmax
// does not see it.
bool is_idle_bias(const GoldenCase& golden_case, const std::string& tensor) {
  return golden_case.name.starts_with("bert") && tensor.ends_with("attn_k.bias");
}

TEST_P(Golden, NoTensorIsReadPast) {
  for (size_t i = 0; i < case_.tensors.size(); ++i) {
    SCOPED_TRACE(case_.tensors[i].name);
    if (is_idle_bias(case_, case_.tensors[i].name)) continue;
    GoldenCase removed = case_;
    removed.tensors.erase(removed.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<Logits> without = run(removed);
    EXPECT_TRUE(!without || error_of(*without) > kTolerance);

    if (case_.tensors[i].name == idle_rope_factors(case_)) continue;
    GoldenCase changed = case_;
    changed.tensors[i].grow();
    const Result<Logits> with_change = run(changed);
    ASSERT_TRUE(with_change) << with_change.error().what;
    EXPECT_GT(error_of(*with_change), kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(GoldenCase::list("tests/golden/cases")),
                         [](const auto& tested) { return GoldenCase::read(tested.param).name; });

}  // namespace
}  // namespace hwtv::golden
