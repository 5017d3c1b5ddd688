// Every element type that real GGUF files use, with its block shape: one table for the file format,
// the ops and the backends.  Source of ids and layouts: the GGUF specification and ggml's type list.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace hwtv {

// The value is the type's id in a GGUF file.
enum class DType : uint32_t {
  F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q5_0 = 6, Q5_1 = 7, Q8_0 = 8,
  Q2_K = 10, Q3_K = 11, Q4_K = 12, Q5_K = 13, Q6_K = 14, IQ4_NL = 20, IQ4_XS = 23,
  I32 = 26, BF16 = 30, MXFP4 = 39,
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;   // "Q4_K"
  int64_t block_elements;  // elements of one quant_block; 1 for plain types
  int64_t block_bytes;     // bytes of one quant_block
};

const DTypeInfo& dtype_info(DType dtype);
inline std::string_view dtype_name(DType dtype) { return dtype_info(dtype).name; }

// The types of the table, in its order.
const DTypeInfo* dtype_table(size_t* n);

// nullopt: an id or name outside the table.
std::optional<DType> dtype_from_gguf_id(uint32_t id);
std::optional<DType> dtype_from_name(std::string_view name);  // case-insensitive

// The name that the field gives to a GGUF type id, for refusals ("IQ2_XXS"); "type 77" style names
// are the caller's; empty where the id is unknown.
std::string_view unsupported_dtype_name(uint32_t gguf_id);

struct BlockShape {
  int64_t elements;  // of one quant_block; 1 for plain types
  int64_t bytes;
};
// The block shape of every type whose layout is known, in the table or not: what a file's extents
// are checked with.  nullopt: an unknown id.
std::optional<BlockShape> block_shape_from_gguf_id(uint32_t gguf_id);

// Bytes of n_elements.  Requires: n_elements is a multiple of block_elements.
int64_t dtype_bytes(DType dtype, int64_t n_elements);

inline bool is_quantized(DType dtype) { return dtype_info(dtype).block_elements > 1; }

}  // namespace hwtv
