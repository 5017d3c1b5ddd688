// make_model SHAPE TYPE TOKENIZER.gguf OUT.gguf: a model of random weights, for what must be shown
// on sizes that no package ships (memory, speed).  The tokenizer is copied from the given file, and
// its size is the vocabulary's.  The same arguments give the same bytes.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/half.h"
#include "gguf/file.h"
#include "gguf/writer.h"
#include "tests/golden/generator.h"

namespace hwtv::golden {
namespace {

struct Shape {
  std::string_view name;
  int64_t n_layers, model_dim, ffn_dim, n_heads, n_kv_heads, head_dim;
  float rope_theta;
  uint32_t context_tokens_max;
  int64_t n_experts = 0, n_experts_used = 0;
  std::string_view architecture = "llama";
  bool has_qk_norm = false, has_post_norms = false;
  uint32_t window_tokens = 0;  // of all layers but each sixth; 0: none has one
};

constexpr Shape kShapes[] = {
    {"135m", 30, 576, 1536, 9, 3, 64, 100000.0f, 8192},      // as SmolLM2-135M
    {"0.5b", 24, 896, 4864, 14, 2, 64, 1000000.0f, 32768},   // as Qwen2-0.5B
    {"1.2b", 16, 2048, 8192, 32, 8, 64, 500000.0f, 131072},  // as Llama-3.2-1B
    {"16x40m", 12, 1024, 1024, 16, 4, 64, 500000.0f, 8192, 16, 2},
    {.name = "qwen3-0.6b",
     .n_layers = 28,
     .model_dim = 1024,
     .ffn_dim = 3072,
     .n_heads = 16,
     .n_kv_heads = 8,
     .head_dim = 128,
     .rope_theta = 1000000.0f,
     .context_tokens_max = 40960,
     .architecture = "qwen3",
     .has_qk_norm = true},
    {.name = "gemma3-1b",
     .n_layers = 26,
     .model_dim = 1152,
     .ffn_dim = 6912,
     .n_heads = 4,
     .n_kv_heads = 1,
     .head_dim = 256,
     .rope_theta = 1000000.0f,
     .context_tokens_max = 32768,
     .architecture = "gemma3",
     .has_qk_norm = true,
     .has_post_norms = true,
     .window_tokens = 512},
};

// How one type is filled: random bytes, and the scale of each quant_block set so that the weights'
// standard deviation is 1 / unit times it.
struct Filling {
  DType dtype;
  int64_t scale_offset;  // of the F16 scale in the quant_block
  double unit;           // standard deviation of a weight with scale 1 and random bytes
};

constexpr Filling kFillings[] = {
    {DType::Q8_0, 0, 73.9},
    {DType::Q4_0, 0, 4.61},
    {DType::Q6_K, 208, 73.9 * 18.5},
};

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "make_model: {}\n", what);
  std::exit(1);
}

template <typename T>
T value_or_die(Result<T> result) {
  if (!result) die(result.error().what);
  return std::move(*result);
}

const Filling& filling_of(DType dtype) {
  for (const Filling& filling : kFillings)
    if (filling.dtype == dtype) return filling;
  die(fmt::format("no blocks of {} can be made", dtype_name(dtype)));
}

// What other programs expect of a file whose matrices are of this type.
uint32_t file_type_of(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return 1;
    case DType::Q4_0:
      return 2;
    case DType::Q8_0:
      return 7;
    default:
      die("TYPE is one of F16, Q8_0 and Q4_0");
  }
}

// As llama-quantize chooses for a tied embedding.
DType embedding_dtype(DType dtype, int64_t width) {
  if (dtype != DType::Q4_0) return dtype;
  return width % dtype_info(DType::Q6_K).block_elements == 0 ? DType::Q6_K : DType::Q8_0;
}

// The sum of four uniform numbers has a bell's shape near enough; its deviation is sqrt(4 / 3).
void fill_f16(Generator& generator, double deviation, std::span<std::byte> row) {
  const double unit = deviation / std::sqrt(4.0 / 3) / 32768;
  for (size_t at = 0; at < row.size(); at += sizeof(uint16_t)) {
    const uint64_t bits = generator.bits();
    int64_t sum = 0;
    for (int part = 0; part < 4; ++part) sum += static_cast<int16_t>(bits >> (16 * part));
    const uint16_t half = float_to_half(static_cast<float>(unit * static_cast<double>(sum)));
    std::memcpy(row.data() + at, &half, sizeof half);
  }
}

// Random bytes with the scale that gives the deviation.  `row` has 8 bytes more than `row_bytes`:
// it is written in whole words.
void fill_blocks(Generator& generator, double deviation, DType dtype, int64_t row_bytes,
                 std::span<std::byte> row) {
  const Filling& filling = filling_of(dtype);
  const uint16_t scale = float_to_half(static_cast<float>(deviation / filling.unit));
  for (int64_t at = 0; at < row_bytes; at += 8) {
    const uint64_t bits = generator.bits();
    std::memcpy(row.data() + at, &bits, sizeof bits);
  }
  for (int64_t at = filling.scale_offset; at < row_bytes; at += dtype_info(dtype).block_bytes)
    std::memcpy(row.data() + at, &scale, sizeof scale);
}

class ModelWriter {
 public:
  ModelWriter(const Shape& shape, DType dtype, const gguf::File& tokenizer)
      : shape_(shape), dtype_(dtype) {
    const gguf::Value* tokens = tokenizer.find("tokenizer.ggml.tokens");
    if (!tokens) die("the tokenizer's file has no tokenizer.ggml.tokens");
    vocab_size_ = tokens->n_elements();
    add_metadata();
    for (const gguf::Entry& entry : tokenizer.entries())
      if (entry.key.starts_with("tokenizer.")) writer_.set(entry.key, entry.value);
    add_matrix("token_embd.weight", embedding_dtype(dtype, shape.model_dim), vocab_size_,
               shape.model_dim);
    for (int64_t layer = 0; layer < shape.n_layers; ++layer) add_layer(layer);
    add_norm("output_norm.weight", shape.model_dim);
  }

  void write(const std::string& path) {
    if (const Result<void> written = writer_.write(path); !written) die(written.error().what);
  }

 private:
  void add_metadata() {
    const auto key_of = [&](const char* key) {
      return fmt::format("{}.{}", shape_.architecture, key);
    };
    const auto count = [&](const char* key, int64_t value) {
      writer_.set(key_of(key), static_cast<uint32_t>(value));
    };
    writer_.set("general.architecture", std::string(shape_.architecture));
    writer_.set("general.name", fmt::format("random {} {} {}", shape_.architecture, shape_.name,
                                            dtype_name(dtype_)));
    writer_.set("general.file_type", file_type_of(dtype_));
    writer_.set("general.quantization_version", uint32_t{2});
    count("vocab_size", vocab_size_);
    count("context_length", shape_.context_tokens_max);
    count("embedding_length", shape_.model_dim);
    count("block_count", shape_.n_layers);
    count("feed_forward_length", shape_.ffn_dim);
    count("attention.head_count", shape_.n_heads);
    count("attention.head_count_kv", shape_.n_kv_heads);
    count("attention.key_length", shape_.head_dim);
    count("attention.value_length", shape_.head_dim);
    count("rope.dimension_count", shape_.head_dim);
    if (shape_.n_experts > 0) {
      count("expert_count", shape_.n_experts);
      count("expert_used_count", shape_.n_experts_used);
    }
    if (shape_.window_tokens > 0) count("attention.sliding_window", shape_.window_tokens);
    writer_.set(key_of("rope.freq_base"), shape_.rope_theta);
    writer_.set(key_of("attention.layer_norm_rms_epsilon"), 1e-5f);
  }

  void add_layer(int64_t layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    const int64_t q_width = shape_.n_heads * shape_.head_dim;
    const int64_t kv_width = shape_.n_kv_heads * shape_.head_dim;
    const auto matrix = [&](const char* part, int64_t n_out, int64_t n_in) {
      add_matrix(prefix + part, dtype_, n_out, n_in);
    };
    add_norm(prefix + "attn_norm.weight", shape_.model_dim);
    matrix("attn_q.weight", q_width, shape_.model_dim);
    matrix("attn_k.weight", kv_width, shape_.model_dim);
    matrix("attn_v.weight", kv_width, shape_.model_dim);
    matrix("attn_output.weight", shape_.model_dim, q_width);
    if (shape_.has_qk_norm) {
      add_norm(prefix + "attn_q_norm.weight", shape_.head_dim);
      add_norm(prefix + "attn_k_norm.weight", shape_.head_dim);
    }
    add_norm(prefix + "ffn_norm.weight", shape_.model_dim);
    if (shape_.has_post_norms) {
      add_norm(prefix + "post_attention_norm.weight", shape_.model_dim);
      add_norm(prefix + "post_ffw_norm.weight", shape_.model_dim);
    }
    if (shape_.n_experts > 0) return add_experts(prefix);
    matrix("ffn_gate.weight", shape_.ffn_dim, shape_.model_dim);
    matrix("ffn_up.weight", shape_.ffn_dim, shape_.model_dim);
    matrix("ffn_down.weight", shape_.model_dim, shape_.ffn_dim);
  }

  void add_experts(const std::string& prefix) {
    const int64_t n = shape_.n_experts;
    add_router(prefix + "ffn_gate_inp.weight");
    add_matrix(prefix + "ffn_gate_exps.weight", dtype_, shape_.ffn_dim, shape_.model_dim, n);
    add_matrix(prefix + "ffn_up_exps.weight", dtype_, shape_.ffn_dim, shape_.model_dim, n);
    add_matrix(prefix + "ffn_down_exps.weight", dtype_, shape_.model_dim, shape_.ffn_dim, n);
  }

  // Logits of standard deviation 1.
  void add_router(const std::string& name) {
    add(name, DType::F32, {shape_.model_dim, shape_.n_experts},
        [this, name](const auto& sink) -> Result<void> {
          Generator generator(name);
          const float largest = std::sqrt(3.0f / static_cast<float>(shape_.model_dim));
          std::vector<float> row(static_cast<size_t>(shape_.model_dim));
          for (int64_t i = 0; i < shape_.n_experts; ++i) {
            for (float& x : row) x = largest * generator.uniform();
            HWTV_TRY_VOID(sink(std::as_bytes(std::span(row))));
          }
          return {};
        });
  }

  void add_norm(const std::string& name, int64_t width) {
    add(name, DType::F32, {width}, [width](const auto& sink) {
      const std::vector<float> ones(static_cast<size_t>(width), 1.0f);
      return sink(std::as_bytes(std::span(ones)));
    });
  }

  // Weights of standard deviation 1 / sqrt(n_in): a row keeps its size from layer to layer.
  void add_matrix(const std::string& name, DType dtype, int64_t n_out, int64_t n_in,
                  int64_t n_experts = 1) {
    const double deviation = 1.0 / std::sqrt(static_cast<double>(n_in));
    const int64_t row_bytes = dtype_bytes(dtype, n_in);
    std::vector<int64_t> shape = {n_in, n_out};
    if (n_experts > 1) shape.push_back(n_experts);
    add(name, dtype, shape, [=](const auto& sink) -> Result<void> {
      Generator generator(name);
      std::vector<std::byte> row(static_cast<size_t>(row_bytes + 8));
      const std::span<std::byte> filled = std::span(row).first(static_cast<size_t>(row_bytes));
      for (int64_t i = 0; i < n_experts * n_out; ++i) {
        if (dtype == DType::F16)
          fill_f16(generator, deviation, filled);
        else
          fill_blocks(generator, deviation, dtype, row_bytes, row);
        HWTV_TRY_VOID(sink(filled));
      }
      return {};
    });
  }

  void add(const std::string& name, DType dtype, std::vector<int64_t> shape,
           gguf::Writer::Source source) {
    const auto added = writer_.add_tensor(name, dtype, std::move(shape), std::move(source));
    if (!added) die(added.error().what);
  }

  const Shape& shape_;
  const DType dtype_;
  int64_t vocab_size_ = 0;
  gguf::Writer writer_;
};

int make_model(const char* shape_name, const char* type, const char* tokenizer, const char* out) {
  const std::optional<DType> dtype = dtype_from_name(type);
  file_type_of(dtype.value_or(DType::I32));  // or ends here
  for (const Shape& shape : kShapes) {
    if (shape.name != shape_name) continue;
    const gguf::File file = value_or_die(gguf::File::open(tokenizer));
    ModelWriter(shape, *dtype, file).write(out);
    return 0;
  }
  die("SHAPE is one of 135m, 0.5b, 1.2b, 16x40m, qwen3-0.6b and gemma3-1b");
}

}  // namespace
}  // namespace hwtv::golden

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: make_model SHAPE TYPE TOKENIZER.gguf OUT.gguf\n");
    return 2;
  }
  return hwtv::golden::make_model(argv[1], argv[2], argv[3], argv[4]);
}
