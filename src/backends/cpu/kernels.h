// The kernels of one instruction set as a table of plain function pointers.  Chosen once, by name;
// every table gives the same sums in the same order.  Included by the ISA files: plain data only.
#pragma once
#include <cstdint>

namespace hwtv::cpu {

enum class WeightType : uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
};
constexpr int kNWeightTypes = 16;

enum class KvType : uint8_t { f32, f16, bf16, q8_0, q4_0 };
constexpr int kNKvTypes = 5;

// Activations as the integer kernels read them: int8 with one scale for each 32 elements.  With 1
// row to a block they lie row by row; blocks of kBlockRows put the same 32 elements of a block's
// rows side by side.
struct QuantizedRows {
  int8_t* quants;  // (n_rows / block_rows, n_in / 32, block_rows, 32)
  float* scales;   // (n_rows / block_rows, n_in / 32, block_rows)
  int16_t* sums;   // (n_rows / block_rows, n_in / 16, block_rows): of 16 quants each
  int64_t block_rows;
};
constexpr int64_t kBlockRows = 16;

struct MatMulArgs {
  const uint8_t* weight;  // (n_out, row_bytes); packed: tiles of kTileOutputs rows
  int64_t row_bytes;
  int64_t n_in;
  int64_t n_out;
  const float* bias;        // (n_out) or null
  const float* x;           // (n_rows, n_in); read by the kernels of F32, F16 and BF16
  QuantizedRows quantized;  // read by all others
  float* out;               // (n_rows, n_out)
  const int32_t* out_rows =
      nullptr;  // which row of out each row goes to; null: its own.  Packed only
};

// A rectangle of a matrix product.
struct MatMulPart {
  int64_t out_begin, out_end;  // out_begin is a multiple of kTileOutputs
  int64_t row_begin, row_end;  // row_begin is a multiple of kPartRows, which they are at most
};
constexpr int64_t kTileOutputs = 16;  // outputs that a kernel computes side by side
constexpr int64_t kPartRows = 256;
constexpr int kPartTiles =
    2;  // tiles of a packed weight that many rows are multiplied with together

// One head of one token of the cache is a column of K and a row of V.  K lies in tiles of 16
// tokens, element by element, so that the lanes of a vector are tokens; V lies row by row.
constexpr int64_t kKvTileTokens = 16;

// Where the keys and values of one layer and one head lie within a kv_block.
struct KvPlace {
  uint8_t* pool;
  int64_t block_bytes;   // from one kv_block to the next
  int64_t block_tokens;  // a power of two, at most kSplitTokens
  int64_t k_offset;      // of the layer's first key head within a block
  int64_t v_offset;      // of the layer's first value head
  int64_t k_head_bytes;  // from one key head to the next
  int64_t v_head_bytes;
  int64_t v_row_bytes;  // one token's values of one head
};

struct KvWriteArgs {
  KvPlace place;
  int64_t n_kv_heads, head_dim, value_dim;
  const float* k;  // (n_rows, n_kv_heads * head_dim)
  const float* v;  // (n_rows, n_kv_heads * value_dim)
};

// Attention sums over splits of this many positions, counted from the sequence's start, and merges
// the splits in order: the same for every batch and every thread count.
constexpr int64_t kSplitTokens = 256;
// Query rows (one head of one token) that share a pass over the cache.
constexpr int64_t kQueryRows = 16;

struct AttentionArgs {
  KvPlace place;
  int64_t n_heads, n_kv_heads, head_dim, value_dim;
  KvType k_type, v_type;
  float scale;
  float softcap;          // 0: none
  const float* sinks;     // (n_heads) or null
  int64_t window_tokens;  // 0: none
  bool causal;            // else each row sees the positions after it too
  const float* q;         // (n_rows, n_heads * head_dim)
  float* out;             // (n_rows, n_heads * value_dim)
};

// Query rows of one sequence and one kv head.  Query row i is token i / g, head i % g of the group
// of g = n_heads / n_kv_heads heads.
struct AttentionPart {
  const int32_t* block_table;
  int64_t first_row;       // of q and out: the slice's first token
  int64_t first_position;  // that token's position
  int64_t n_positions;     // up to the slice's last token's
  int64_t kv_head;
  int64_t query_begin, query_end;  // at most kQueryRows
};

// What one split contributes to one query row, beside the weighted values: the largest score and
// the sum of exp(score - max), 0 where the row sees nothing of the split.
struct SplitState {
  float max;
  float sum;
};

enum class RopePairs : uint8_t { adjacent, halves };

struct RopeArgs {
  int64_t n_heads, head_dim, n_rotated;
  RopePairs pairs;
};

// Some tokens of one head of a DeltaNet.
struct DeltaNetArgs {
  int64_t n_tokens;
  int64_t key_dim;
  float scale;
  const float* q;  // (n_tokens, qk_stride)
  const float* k;  // (n_tokens, qk_stride)
  int64_t qk_stride;
  const float* v;  // (n_tokens, v_stride)
  float* out;      // (n_tokens, v_stride)
  int64_t v_stride;
  const float* stay;   // (n_tokens, gate_stride)
  const float* write;  // (n_tokens, gate_stride)
  int64_t gate_stride;
};

enum class GluKind : uint8_t { silu, gelu_tanh, gelu, clamped_swish };

struct Kernels {
  const char* name;

  // out = x . weight^T + bias over one part.
  void (*matmul[kNWeightTypes])(const MatMulArgs&, const MatMulPart&);
  // The same with a packed weight; null for types that are not packed.  The rows of x are quantized
  // in blocks of kBlockRows, a single row by itself.  The same bits as from matmul.
  void (*matmul_packed[kNWeightTypes])(const MatMulArgs&, const MatMulPart&);

  // Rows [row_begin, row_end) of x (n_rows, n_in); n_in is a multiple of 32.
  void (*quantize)(const float* x, int64_t n_in, int64_t row_begin, int64_t row_end,
                   const QuantizedRows& out);

  // n_groups groups of `width` elements, one after the other.
  void (*rms_norm)(const float* x, const float* weight, float eps, int64_t n_groups, int64_t width,
                   float* out);

  // n_rows rows of `width` elements, one after the other.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float eps,
                     int64_t n_rows, int64_t width, float* out);

  // One row; cosines and sines (n_rotated / 2).
  void (*rope)(const RopeArgs&, const float* x, const float* cosines, const float* sines,
               float* out);

  void (*glu)(GluKind, const float* gate, const float* up, int64_t n, float* out);
  void (*activate)(GluKind, const float* x, int64_t n, float* out);
  void (*add)(const float* a, const float* b, int64_t n, float* out);
  void (*softcap)(const float* x, float cap, int64_t n, float* out);
  // gate (n_gates), x and out (n_gates, n_neighbours)
  void (*sigmoid_gate)(const float* x, const float* gate, int64_t n_gates, int64_t n_neighbours,
                       float* out);

  // The first n_columns of a head's values, at most 16.  state (key_dim, n_columns)
  void (*delta_net)(const DeltaNetArgs&, int64_t n_columns, float* state);

  // Stores one row of keys and of values at `position` of the sequence that owns `block_table`.
  void (*write_key[kNKvTypes])(const KvWriteArgs&, const int32_t* block_table, int64_t row,
                               int64_t position);
  void (*write_value[kNKvTypes])(const KvWriteArgs&, const int32_t* block_table, int64_t row,
                                 int64_t position);

  // All splits, merged and normalized, into args.out.
  void (*attention)(const AttentionArgs&, const AttentionPart&);
  // One split.  Query row i of the part fills states[slot, split] and values[slot, split] with
  // slot = row * n_heads + head.  states (n_slots, n_splits), values (n_slots, n_splits, value_dim)
  void (*attention_split)(const AttentionArgs&, const AttentionPart&, int64_t split,
                          int64_t n_splits, SplitState* states, float* values);
  // Merges n_splits splits of one query row in order and normalizes.  sink: of its head, or null.
  // states (n_splits), values (n_splits, value_dim) -> out (value_dim).
  void (*merge_splits)(const SplitState* states, const float* values, int64_t n_splits,
                       int64_t value_dim, const float* sink, float* out);
};

}  // namespace hwtv::cpu
