#include "gguf/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/folders.h"
#include "tests/gguf/bad_files.h"

namespace hwtv::gguf {
namespace {

std::string cache() {
  const char* folder = std::getenv("HWTV_CACHE");
  return folder ? folder : cache_folder();
}

// Skips only where the fetch step has never run; a cache that lacks one file is a failure.
#define SKIP_WITHOUT_CACHE()             \
  if (!std::filesystem::exists(cache())) \
  GTEST_SKIP() << "no cache folder " << cache() << ": run 'make peer' and 'make demo'"

std::string vocabularies() {
  return cache() + "/peer/llama_cpp_python-0.3.36/vendor/llama.cpp/models";
}

TEST(File, ReadsTheDemoModel) {
  SKIP_WITHOUT_CACHE();
  const auto file = File::open(cache() + "/models/SmolLM2-135M-Instruct.Q4_1.gguf");
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->size_bytes(), 98362432);
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->tensors().size(), 272u);
  EXPECT_EQ(*file->require<std::string_view>("general.architecture"), "llama");
  EXPECT_EQ(*file->require<int64_t>("llama.block_count"), 30);
  EXPECT_EQ(file->require<std::vector<std::string_view>>("tokenizer.ggml.tokens")->size(), 49152u);
  const TensorInfo* embedding = file->find_tensor("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->dtype, DType::Q8_0);
  EXPECT_EQ(embedding->shape, (std::vector<int64_t>{576, 49152}));
  EXPECT_EQ(embedding->n_bytes, 576 / 32 * 34 * int64_t{49152});
  EXPECT_EQ(file->find_tensor("output.weight"), nullptr);  // tied
  int64_t end = 0;
  for (const TensorInfo& tensor : file->tensors())
    end = std::max(end, tensor.offset_bytes + tensor.n_bytes);
  EXPECT_LE(file->size_bytes() - end, 31);  // the extents fill the file
}

TEST(File, ReadsEveryVocabularyOfThePeer) {
  SKIP_WITHOUT_CACHE();
  ASSERT_TRUE(std::filesystem::exists(vocabularies())) << vocabularies();
  int n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(vocabularies())) {
    if (entry.path().extension() != ".gguf") continue;
    SCOPED_TRACE(entry.path().string());
    const auto file = File::open(entry.path().string());
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->tensors().size(), 0u);
    const auto tokens = file->require<std::vector<std::string_view>>("tokenizer.ggml.tokens");
    ASSERT_TRUE(tokens) << tokens.error().what;
    EXPECT_GT(tokens->size(), 20000u);
    EXPECT_EQ(static_cast<int64_t>(tokens->size()),
              file->find("tokenizer.ggml.tokens")->n_elements());
    ++n_files;
  }
  EXPECT_EQ(n_files, 19);
}

TEST(File, ReadsVersion2) {
  const std::string bytes = header(1, 1, 2)
                                .key("k", ValueType::U16)
                                .put(uint16_t{7})
                                .tensor("t", {8}, 0, 0)
                                .pad_to(128)
                                .take();
  const auto file = File::parse(as_bytes(bytes));
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->version(), 2u);
  EXPECT_EQ(*file->require<int64_t>("k"), 7);
  EXPECT_EQ(file->tensors()[0].data, as_bytes(bytes).data() + 96);
}

TEST(File, RefusesEveryForeignTypeByItsName) {
  const std::pair<uint32_t, std::string> types[] = {
      {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {21, "IQ3_S"},
      {22, "IQ2_S"},   {29, "IQ1_M"},  {34, "TQ1_0"},   {35, "TQ2_0"}, {40, "NVFP4"}};
  for (const auto& [id, name] : types) {
    const std::string bytes = header(1, 0).tensor("t", {256}, id, 0).pad_to(512).take();
    const auto file = File::parse(as_bytes(bytes));
    ASSERT_TRUE(file) << name << ": " << file.error().what;
    const Result<DType> refused = file->tensors()[0].require_dtype();
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().what.find("has the type " + name + "; supported are F32,"),
              std::string::npos)
        << refused.error().what;
  }
}

TEST(File, KeepsTensorsOfForeignTypesForInspection) {
  const std::string bytes = header(3, 0)
                                .tensor("known", {256}, 16, 0)
                                .tensor("unknown", {5}, 77, 96)
                                .tensor("scalar", {}, 0, 128)
                                .pad_to(400)
                                .take();
  const auto file = File::parse(as_bytes(bytes));
  ASSERT_TRUE(file) << file.error().what;
  const TensorInfo& known = *file->find_tensor("known");
  EXPECT_EQ(known.type_name(), "IQ2_XXS");
  EXPECT_EQ(known.n_bytes, 66);
  const Result<DType> refused = known.require_dtype();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().what.find("IQ2_XXS"), std::string::npos);
  EXPECT_NE(refused.error().what.find("Q4_K, Q5_K, Q6_K, IQ4_NL"), std::string::npos);
  EXPECT_EQ(file->find_tensor("unknown")->type_name(), "type 77");
  EXPECT_EQ(file->find_tensor("unknown")->n_bytes, 0);
  EXPECT_EQ(file->find_tensor("scalar")->n_elements, 1);
  EXPECT_EQ(file->find_tensor("scalar")->require_dtype(), DType::F32);
}

TEST(File, TellsAbsentFromWrong) {
  const std::string bytes = header(0, 4)
                                .key("text", ValueType::STRING)
                                .string("seven")
                                .key("big", ValueType::U64)
                                .put(uint64_t{1} << 63)
                                .array("floats", ValueType::F64, 2)
                                .put(0.5)
                                .put(1.5)
                                .array("flags", ValueType::BOOL, 3)
                                .text(std::string("\1\0\1", 3))
                                .take();
  const auto file = File::parse(as_bytes(bytes));
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->get<int64_t>("absent").value(), std::nullopt);
  const auto wrong = file->get<int64_t>("text");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::corrupt_file);
  EXPECT_NE(wrong.error().what.find("at byte 24: expected an integer for 'text', found string"),
            std::string::npos)
      << wrong.error().what;
  const auto missing = file->require<double>("absent");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().what.find("lacks 'absent', a number"), std::string::npos);
  EXPECT_FALSE(file->get<int64_t>("big"));
  EXPECT_EQ(*file->require<double>("big"), 9223372036854775808.0);
  EXPECT_EQ(*file->require<std::vector<float>>("floats"), (std::vector<float>{0.5f, 1.5f}));
  EXPECT_EQ(*file->require<std::vector<int64_t>>("flags"), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(file->find("floats")->description(), "array of 2 f64s");
  EXPECT_FALSE(file->get<std::vector<int64_t>>("floats"));
  EXPECT_FALSE(file->get<std::vector<std::string_view>>("flags"));
}

TEST(File, MissingFileIsIo) {
  const auto file = File::open("/nonexistent/model.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace hwtv::gguf
