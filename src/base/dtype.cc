#include "base/dtype.h"

#include <array>
#include <cctype>

#include "base/check.h"

namespace hwtv {
namespace {

constexpr std::array<DTypeInfo, 17> kTable = {{
    {DType::F32, "F32", 1, 4},
    {DType::F16, "F16", 1, 2},
    {DType::BF16, "BF16", 1, 2},
    {DType::I32, "I32", 1, 4},
    {DType::Q4_0, "Q4_0", 32, 18},
    {DType::Q4_1, "Q4_1", 32, 20},
    {DType::Q5_0, "Q5_0", 32, 22},
    {DType::Q5_1, "Q5_1", 32, 24},
    {DType::Q8_0, "Q8_0", 32, 34},
    {DType::Q2_K, "Q2_K", 256, 84},
    {DType::Q3_K, "Q3_K", 256, 110},
    {DType::Q4_K, "Q4_K", 256, 144},
    {DType::Q5_K, "Q5_K", 256, 176},
    {DType::Q6_K, "Q6_K", 256, 210},
    {DType::IQ4_NL, "IQ4_NL", 32, 18},
    {DType::IQ4_XS, "IQ4_XS", 256, 136},
    {DType::MXFP4, "MXFP4", 32, 17},
}};

struct ForeignType {
  uint32_t id;
  std::string_view name;
  BlockShape block;
};
constexpr ForeignType kUnsupported[] = {
    {9, "Q8_1", {32, 36}},      {15, "Q8_K", {256, 292}},    {16, "IQ2_XXS", {256, 66}},
    {17, "IQ2_XS", {256, 74}},  {18, "IQ3_XXS", {256, 98}},  {19, "IQ1_S", {256, 50}},
    {21, "IQ3_S", {256, 110}},  {22, "IQ2_S", {256, 82}},    {24, "I8", {1, 1}},
    {25, "I16", {1, 2}},        {27, "I64", {1, 8}},         {28, "F64", {1, 8}},
    {29, "IQ1_M", {256, 56}},   {34, "TQ1_0", {256, 54}},    {35, "TQ2_0", {256, 66}},
    {40, "NVFP4", {64, 36}},    {41, "Q1_0", {128, 18}},     {42, "Q2_0", {64, 18}},
};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::toupper(static_cast<unsigned char>(a[i])) !=
        std::toupper(static_cast<unsigned char>(b[i])))
      return false;
  return true;
}

}  // namespace

const DTypeInfo& dtype_info(DType dtype) {
  for (const DTypeInfo& info : kTable)
    if (info.dtype == dtype) return info;
  CHECK(false);
}

const DTypeInfo* dtype_table(size_t* n) {
  *n = kTable.size();
  return kTable.data();
}

std::optional<DType> dtype_from_gguf_id(uint32_t id) {
  for (const DTypeInfo& info : kTable)
    if (static_cast<uint32_t>(info.dtype) == id) return info.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& info : kTable)
    if (same_ignoring_case(info.name, name)) return info.dtype;
  return std::nullopt;
}

std::string_view unsupported_dtype_name(uint32_t gguf_id) {
  for (const ForeignType& type : kUnsupported)
    if (type.id == gguf_id) return type.name;
  return {};
}

std::optional<BlockShape> block_shape_from_gguf_id(uint32_t gguf_id) {
  for (const DTypeInfo& info : kTable)
    if (static_cast<uint32_t>(info.dtype) == gguf_id)
      return BlockShape{info.block_elements, info.block_bytes};
  for (const ForeignType& type : kUnsupported)
    if (type.id == gguf_id) return type.block;
  return std::nullopt;
}

int64_t dtype_bytes(DType dtype, int64_t n_elements) {
  const DTypeInfo& info = dtype_info(dtype);
  CHECK(n_elements % info.block_elements == 0);
  return n_elements / info.block_elements * info.block_bytes;
}

}  // namespace hwtv
