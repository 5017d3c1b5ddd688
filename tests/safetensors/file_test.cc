#include "safetensors/file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace hwtv::safetensors {
namespace {

// A file of this header and this many bytes of data.
std::string file_of(const std::string& header, size_t data_bytes) {
  std::string out(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(out.data(), &length, sizeof length);
  out += header;
  for (size_t i = 0; i < data_bytes; ++i) out += static_cast<char>(i);
  return out;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

constexpr const char* kTwo = R"({"__metadata__":{"format":"pt"},
  "b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},
  "a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})";

TEST(SafetensorsFile, HasItsTensorsInTheHeadersOrder) {
  const std::string text = file_of(kTwo, 12);
  const auto file = File::parse(bytes_of(text));
  ASSERT_TRUE(file) << file.error().what;
  ASSERT_EQ(file->tensors().size(), 2U);
  const TensorInfo& b = file->tensors()[0];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.dtype, DType::F32);
  EXPECT_EQ(b.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(b.bytes.size(), 8U);
  EXPECT_EQ(b.bytes[0], std::byte{4});
  const TensorInfo* a = file->find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->type, "BF16");
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST(SafetensorsFile, EmptyTensorsAndScalarsAreFine) {
  const std::string text = file_of(R"({"none":{"dtype":"I64","shape":[0,7],"data_offsets":[1,1]},
    "one":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
                                   1);
  const auto file = File::parse(bytes_of(text));
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->find("none")->n_elements, 0);
  EXPECT_EQ(file->find("one")->n_elements, 1);
  EXPECT_FALSE(file->find("one")->dtype);
}

struct BadFile {
  const char* header;
  size_t data_bytes;
  const char* said;
  ErrorCode code = ErrorCode::corrupt_file;
};

TEST(SafetensorsFile, ABadHeaderIsRefused) {
  const BadFile files[] = {
      {"[]", 0, "an array where tensors"},
      {"{\"a\":7}", 0, "a number"},
      {"{\"a\":", 0, "byte 13 of its header is no JSON"},
      {"{\"a\":{}}", 0, "tensor 'a' lacks its dtype"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "lacks its dtype"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4, "more than 2 numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4, "a field 'x'"},
      {R"({"a":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4, "dtype twice"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "a negative number"},
      {R"({"a":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})", 4, "an array"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "a fraction"},
      {R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4, "2^63"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4,
       "beyond any"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "2 of F32 need 8"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "bytes 0 to 4 of 3"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "bytes 4 to 0 of 4"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "end at byte 4 of 5"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
           "b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "'b' starts at byte 1, the one before"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
           "a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "a tensor 'a' twice"},
      {R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", 1, "type 'F4'",
       ErrorCode::unsupported},
      {R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1,
       "8 dimensions", ErrorCode::unsupported},
  };
  for (const BadFile& bad : files) {
    const std::string text = file_of(bad.header, bad.data_bytes);
    const auto file = File::parse(bytes_of(text));
    ASSERT_FALSE(file) << bad.header;
    EXPECT_EQ(file.error().code, bad.code) << file.error().what;
    EXPECT_NE(file.error().what.find(bad.said), std::string::npos) << file.error().what;
    EXPECT_FALSE(file.error().advice.empty());
  }
}

// Every length of a good file but the whole one is refused.
TEST(SafetensorsFile, AFileCutShortIsRefused) {
  const std::string text = file_of(kTwo, 12);
  for (size_t n = 0; n < text.size(); ++n) {
    const std::string piece = text.substr(0, n);
    EXPECT_FALSE(File::parse(bytes_of(piece))) << n;
  }
}

}  // namespace
}  // namespace hwtv::safetensors
