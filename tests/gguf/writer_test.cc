#include "gguf/writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include "gguf/file.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::gguf {
namespace {

std::span<const std::byte> bytes_of(const auto& values) { return std::as_bytes(std::span(values)); }

void set_one_of_each(Writer& writer) {
  writer.set("u8", uint8_t{200});
  writer.set("i8", int8_t{-100});
  writer.set("u16", uint16_t{60000});
  writer.set("i16", int16_t{-30000});
  writer.set("u32", uint32_t{4000000000});
  writer.set("i32", int32_t{-2000000000});
  writer.set("f32", 0.1f);
  writer.set("bool", true);
  writer.set("string", "text \xe4\xbd\xa0");
  writer.set("u64", std::numeric_limits<uint64_t>::max());
  writer.set("i64", std::numeric_limits<int64_t>::min());
  writer.set("f64", 0.1);
  writer.set_array("u16s", std::vector<uint16_t>{1, 65535});
  writer.set_array("i64s", std::vector<int64_t>{-1, 1});
  writer.set_array("f32s", std::vector<float>{-0.5f, 3e38f});
  writer.set_array("none", std::vector<float>{});
  writer.set_strings("strings", std::vector<std::string>{"a", "", std::string("z\0z", 3)});
}

void expect_one_of_each(const File& file) {
  using enum ValueType;
  constexpr ValueType kTypes[] = {U8,  I8,  U16, I16,   U32,   I32,   F32,   BOOL, STRING,
                                  U64, I64, F64, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY};
  ASSERT_EQ(file.entries().size(), std::size(kTypes));
  for (size_t i = 0; i < std::size(kTypes); ++i)
    EXPECT_EQ(file.entries()[i].value.type(), kTypes[i]) << file.entries()[i].key;
  EXPECT_EQ(*file.require<int64_t>("u8"), 200);
  EXPECT_EQ(*file.require<int64_t>("i8"), -100);
  EXPECT_EQ(*file.require<int64_t>("u16"), 60000);
  EXPECT_EQ(*file.require<int64_t>("i16"), -30000);
  EXPECT_EQ(*file.require<int64_t>("u32"), 4000000000);
  EXPECT_EQ(*file.require<int64_t>("i32"), -2000000000);
  EXPECT_EQ(*file.require<double>("f32"), double{0.1f});
  EXPECT_EQ(*file.require<bool>("bool"), true);
  EXPECT_EQ(*file.require<std::string_view>("string"), "text \xe4\xbd\xa0");
  EXPECT_EQ(*file.require<double>("u64"), 18446744073709551615.0);
  EXPECT_EQ(*file.require<int64_t>("i64"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*file.require<double>("f64"), 0.1);
  EXPECT_EQ(*file.require<std::vector<int64_t>>("u16s"), (std::vector<int64_t>{1, 65535}));
  EXPECT_EQ(*file.require<std::vector<int64_t>>("i64s"), (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(*file.require<std::vector<float>>("f32s"), (std::vector<float>{-0.5f, 3e38f}));
  EXPECT_EQ(file.find("none")->n_elements(), 0);
  EXPECT_TRUE(file.require<std::vector<float>>("none")->empty());
  EXPECT_EQ(*file.require<std::vector<std::string_view>>("strings"),
            (std::vector<std::string_view>{"a", "", std::string_view("z\0z", 3)}));
  EXPECT_EQ(file.find("strings")->as_strings(1)->size(), 1u);
}

TEST(Writer, EveryValueTypeReturns) {
  const TemporaryFolder folder;
  Writer writer;
  set_one_of_each(writer);
  ASSERT_TRUE(writer.write(folder / "a.gguf"));
  const auto file = File::open(folder / "a.gguf");
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->version(), 3u);
  expect_one_of_each(*file);
}

TEST(Writer, MetadataCopiesFromAnotherFileAndIsReplaced) {
  const TemporaryFolder folder;
  Writer first(64);
  set_one_of_each(first);
  ASSERT_TRUE(first.write(folder / "a.gguf"));
  const auto file = File::open(folder / "a.gguf");
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->alignment_bytes(), 64);
  Writer second;
  for (const Entry& entry : file->entries()) second.set(entry.key, entry.value);
  second.set("u8", uint8_t{1});
  second.set("u8", uint8_t{200});
  ASSERT_TRUE(second.write(folder / "b.gguf"));
  const auto copy = File::open(folder / "b.gguf");
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_EQ(copy->alignment_bytes(), 32);
  expect_one_of_each(*copy);
}

TEST(Writer, TensorsReturnAlignedAndWhole) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  std::vector<std::byte> b(2 * 18);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::byte>(i);
  for (const uint32_t alignment : {8u, 32u, 4096u}) {
    Writer writer(alignment);
    ASSERT_TRUE(writer.add_tensor("a", DType::F32, {3, 2}, bytes_of(a)));
    ASSERT_TRUE(writer.add_tensor(
        "b", DType::Q4_0, {32, 1, 2}, [&](const Writer::Sink& sink) -> Result<void> {
          HWTV_TRY_VOID(sink(std::span(b).first(18)));  // one row at a time
          return sink(std::span(b).last(18));
        }));
    ASSERT_TRUE(writer.write(folder / "t.gguf"));
    const auto file = File::open(folder / "t.gguf");
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->alignment_bytes(), alignment);
    const TensorInfo& first = file->tensors()[0];
    EXPECT_EQ(first.name, "a");
    EXPECT_EQ(first.shape, (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(std::memcmp(first.data, a.data(), 24), 0);
    const TensorInfo& second = file->tensors()[1];
    EXPECT_EQ(second.dtype, DType::Q4_0);
    EXPECT_EQ(second.shape, (std::vector<int64_t>{32, 1, 2}));
    EXPECT_EQ(std::memcmp(second.data, b.data(), b.size()), 0);
    EXPECT_EQ(second.offset_bytes % alignment, 0);
    EXPECT_EQ(file->size_bytes() % alignment, 0);
  }
}

// tests/gguf/peer.gguf comes from llama.cpp's gguf-py (make_peer_file.py): the same content must
// give the same bytes.
TEST(Writer, WritesWhatThePeerWrites) {
  const TemporaryFolder folder;
  Writer writer;
  writer.set("general.architecture", "test");
  writer.set("u8", uint8_t{200});
  writer.set("i8", int8_t{-100});
  writer.set("u16", uint16_t{60000});
  writer.set("i16", int16_t{-30000});
  writer.set("u32", uint32_t{4000000000});
  writer.set("i32", int32_t{-2000000000});
  writer.set("f32", 0.1f);
  writer.set("bool", true);
  writer.set("string", "text \xe4\xbd\xa0");
  writer.set("u64", std::numeric_limits<uint64_t>::max());
  writer.set("i64", std::numeric_limits<int64_t>::min());
  writer.set("f64", 0.1);
  writer.set_array("i32s", std::vector<int32_t>{-1, 1});
  constexpr bool kBools[] = {true, false};
  writer.set_array("bools", std::span<const bool>(kBools));
  writer.set_strings("strings", std::vector<std::string>{"a", "", std::string("z\0z", 3)});
  const std::vector<float> a = {0, 1, 2, 3, 4, 5};
  std::vector<uint8_t> b(2 * 18);
  std::iota(b.begin(), b.end(), uint8_t{0});
  const std::vector<uint16_t> c = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400};  // 0 to 4 in half
  ASSERT_TRUE(writer.add_tensor("a", DType::F32, {3, 2}, bytes_of(a)));
  ASSERT_TRUE(writer.add_tensor("b", DType::Q4_0, {32, 1, 2}, bytes_of(b)));
  ASSERT_TRUE(writer.add_tensor("c", DType::F16, {5}, bytes_of(c)));
  ASSERT_TRUE(writer.write(folder / "ours.gguf"));
  const auto peers = read_file("tests/gguf/peer.gguf");
  ASSERT_TRUE(peers) << peers.error().what;
  EXPECT_EQ(*read_file(folder / "ours.gguf"), *peers);
}

TEST(Writer, RefusesWhatTheReaderWould) {
  Writer writer;
  const std::vector<float> data(64);
  const auto refused = [&](std::string_view name, DType dtype, std::vector<int64_t> shape) {
    const auto added = writer.add_tensor(name, dtype, std::move(shape), bytes_of(data));
    return !added && added.error().code == ErrorCode::invalid_request &&
           !added.error().advice.empty();
  };
  EXPECT_FALSE(refused("a", DType::F32, {64}));
  EXPECT_TRUE(refused("a", DType::F32, {64}));
  EXPECT_TRUE(refused("", DType::F32, {64}));
  EXPECT_TRUE(refused(std::string(257, 'n'), DType::F32, {64}));
  EXPECT_TRUE(refused("b", DType::F32, {63}));
  EXPECT_TRUE(refused("b", DType::F32, {64, 0}));
  EXPECT_TRUE(refused("b", DType::F32, {-64, -1}));
  EXPECT_TRUE(refused("b", DType::F32, {1, 1, 1, 1, 64}));
  EXPECT_TRUE(refused("b", DType::F32, {int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_TRUE(refused("b", DType::Q4_0, {33}));
  EXPECT_FALSE(refused("b", DType::F32, {8, 8}));
}

TEST(Writer, AFailingSourceLeavesTheOldFile) {
  const TemporaryFolder folder;
  Writer good;
  good.set("k", uint32_t{1});
  ASSERT_TRUE(good.write(folder / "a.gguf"));
  Writer bad;
  ASSERT_TRUE(bad.add_tensor("t", DType::F32, {8}, [](const Writer::Sink&) -> Result<void> {
    return fail(ErrorCode::cancelled, "stopped");
  }));
  const auto written = bad.write(folder / "a.gguf");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::cancelled);
  EXPECT_EQ(*File::open(folder / "a.gguf")->require<int64_t>("k"), 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace hwtv::gguf
