#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "gguf/file.h"
#include "gguf/split_name.h"
#include "gguf/writer.h"
#include "tests/gguf/bytes.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::gguf {
namespace {

struct SplitCase {
  uint16_t no, count;
  int32_t n_tensors = 3;  // of the model, as the part says
};

// Part `part` of a model of three tensors, t1 to t3, one a part, each full of its number.
Result<void> write_part(const TemporaryFolder& folder, int part, SplitCase says,
                        const std::string& tensor) {
  Writer writer;
  if (part == 1) writer.set("general.architecture", "test");
  writer.set("split.no", says.no);
  writer.set("split.count", says.count);
  writer.set("split.tensors.count", says.n_tensors);
  const std::vector<float> values(8, static_cast<float>(part));
  HWTV_TRY_VOID(writer.add_tensor(tensor, DType::F32, {8}, std::as_bytes(std::span(values))));
  return writer.write(split_path(folder / "model", part, 3));
}

void write_model(const TemporaryFolder& folder) {
  for (uint16_t part = 1; part <= 3; ++part)
    ASSERT_TRUE(
        write_part(folder, part, {static_cast<uint16_t>(part - 1), 3}, fmt::format("t{}", part)));
}

void expect_error(const TemporaryFolder& folder, ErrorCode code, const std::string& says) {
  const auto file = File::open(split_path(folder / "model", 1, 3));
  ASSERT_FALSE(file);
  EXPECT_EQ(error_code_name(file.error().code), error_code_name(code)) << file.error().what;
  EXPECT_NE(file.error().what.find(says), std::string::npos) << file.error().what;
  EXPECT_FALSE(file.error().advice.empty());
}

TEST(SplitName, IsParsedOnlyInItsForm) {
  const auto name = parse_split_name("/m/a-00002-of-00010.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->stem, "/m/a");
  EXPECT_EQ(name->part, 2);
  EXPECT_EQ(name->n_parts, 10);
  EXPECT_EQ(split_path(name->stem, 2, 10), "/m/a-00002-of-00010.gguf");
  for (const char* other :
       {"a.gguf", "-00002-of-00010.ggu", "a-0002-of-00010.gguf", "a-00000-of-00010.gguf",
        "a-00011-of-00010.gguf", "a-0000x-of-00010.gguf", "a-+0001-of-00010.gguf", ""})
    EXPECT_FALSE(parse_split_name(other)) << other;
}

TEST(Split, AnyPartOpensTheModel) {
  const TemporaryFolder folder;
  write_model(folder);
  for (int part = 1; part <= 3; ++part) {
    const auto file = File::open(split_path(folder / "model", part, 3));
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->path(), split_path(folder / "model", 1, 3));
    EXPECT_EQ(file->parts().size(), 3u);
    EXPECT_EQ(*file->require<std::string_view>("general.architecture"), "test");
    ASSERT_EQ(file->tensors().size(), 3u);
    for (int i = 0; i < 3; ++i) {
      const TensorInfo* tensor = file->find_tensor(fmt::format("t{}", i + 1));
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(tensor->part, i);
      EXPECT_EQ(tensor->data, file->parts()[static_cast<size_t>(i)].data + tensor->offset_bytes);
      EXPECT_EQ(*reinterpret_cast<const float*>(tensor->data), static_cast<float>(i + 1));
    }
  }
}

TEST(Split, AMissingPartIsNamed) {
  const TemporaryFolder folder;
  write_model(folder);
  std::filesystem::remove(split_path(folder / "model", 2, 3));
  expect_error(
      folder, ErrorCode::io,
      "part 2 of 3 of the model is missing: cannot open " + split_path(folder / "model", 2, 3));
}

TEST(Split, APartInAnothersPlaceIsFound) {
  const TemporaryFolder folder;
  write_model(folder);
  ASSERT_TRUE(write_part(folder, 2, {2, 3}, "t2"));
  expect_error(folder, ErrorCode::corrupt_file, "found split.no 2 and split.count 3");
}

TEST(Split, PartsMustAgreeOnTheirNumber) {
  const TemporaryFolder folder;
  write_model(folder);
  ASSERT_TRUE(write_part(folder, 3, {2, 4}, "t3"));
  expect_error(folder, ErrorCode::corrupt_file, "found split.no 2 and split.count 4");
  ASSERT_TRUE(write_part(folder, 1, {0, 5}, "t1"));
  expect_error(folder, ErrorCode::corrupt_file, "the name says 3 parts, its split.count 5");
}

TEST(Split, TensorsAreCountedAndDistinct) {
  const TemporaryFolder folder;
  write_model(folder);
  ASSERT_TRUE(write_part(folder, 1, {0, 3, 4}, "t1"));
  expect_error(folder, ErrorCode::corrupt_file, "promises 4 tensors, the 3 parts hold 3");
  ASSERT_TRUE(write_part(folder, 1, {0, 3}, "t3"));
  expect_error(folder, ErrorCode::corrupt_file, "found 't3' again");
}

TEST(Split, ADamagedPartGivesItsOwnError) {
  const TemporaryFolder folder;
  write_model(folder);
  std::filesystem::resize_file(split_path(folder / "model", 3, 3), 100);
  expect_error(folder, ErrorCode::corrupt_file, "model-00003-of-00003.gguf at byte");
}

TEST(Split, ANameThatDoesNotSayWhichIsRefused) {
  const TemporaryFolder folder;
  write_model(folder);
  std::filesystem::rename(split_path(folder / "model", 1, 3), folder / "first.gguf");
  const auto file = File::open(folder / "first.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::invalid_request);
  EXPECT_NE(file.error().what.find("one of 3 parts"), std::string::npos);
}

TEST(Split, ACountOfOneIsAWholeModel) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_part(folder, 1, {0, 1}, "t1"));
  const auto file = File::open(split_path(folder / "model", 1, 3));
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->tensors().size(), 1u);
}

}  // namespace
}  // namespace hwtv::gguf
