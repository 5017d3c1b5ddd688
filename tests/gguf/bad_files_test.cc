#include "tests/gguf/bad_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "gguf/file.h"

namespace hwtv::gguf {
namespace {

TEST(BadFiles, AreManyAndNamedApart) {
  std::set<std::string> names;
  for (const BadFile& bad : bad_files()) EXPECT_TRUE(names.insert(bad.name).second) << bad.name;
  EXPECT_GE(names.size(), 40u);
}

TEST(BadFiles, EachGivesItsOneErrorWithThePlace) {
  for (const BadFile& bad : bad_files()) {
    SCOPED_TRACE(bad.name);
    const Result<File> file = File::parse(as_bytes(bad.bytes));
    ASSERT_FALSE(file);
    const Error& error = file.error();
    EXPECT_EQ(error_code_name(error.code), error_code_name(bad.code));
    EXPECT_NE((error.what + error.advice).find(bad.says), std::string::npos) << error.what;
    EXPECT_NE(error.what.find(fmt::format("at byte {}:", bad.at_byte)), std::string::npos)
        << error.what;
    EXPECT_NE(error.what.find("expected "), std::string::npos) << error.what;
    EXPECT_FALSE(error.advice.empty());
    EXPECT_LT(error.what.size(), 500u);
    for (const char c : error.what) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  }
}

// A small file with every kind of thing in it.
std::string good_file() {
  return header(2, 4)
      .key("general.architecture", ValueType::STRING)
      .string("test")
      .array("tokens", ValueType::STRING, 3)
      .string("a")
      .string("")
      .string("ccc")
      .array("scores", ValueType::F32, 2)
      .put(1.0f)
      .put(2.0f)
      .key("on", ValueType::BOOL)
      .put('\1')
      .tensor("a", {32, 2}, 2, 0)
      .tensor("b", {3}, 0, 64)
      .pad_to(400)
      .take();
}

TEST(BadFiles, EveryTruncationIsCorrupt) {
  const std::string good = good_file();
  const Result<File> whole = File::parse(as_bytes(good));
  ASSERT_TRUE(whole) << whole.error().what;
  const TensorInfo& last = whole->tensors()[1];
  const auto end = static_cast<size_t>(last.offset_bytes + last.n_bytes);
  for (size_t n = 0; n < end; ++n) {
    const std::string cut = good.substr(0, n);  // its own bytes: sanitizers see a read beyond them
    const Result<File> file = File::parse(as_bytes(cut));
    ASSERT_FALSE(file) << n;
    EXPECT_EQ(file.error().code, ErrorCode::corrupt_file) << n << file.error().what;
  }
}

TEST(BadFiles, EveryChangedByteIsReadOrRefused) {
  const std::string good = good_file();
  int n_refused = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      const Result<File> file = File::parse(as_bytes(changed));
      if (!file) {
        ++n_refused;
        EXPECT_TRUE(file.error().code == ErrorCode::corrupt_file ||
                    file.error().code == ErrorCode::unsupported);
        continue;
      }
      for (const TensorInfo& tensor : file->tensors())
        EXPECT_LE(tensor.offset_bytes + tensor.n_bytes, static_cast<int64_t>(good.size()));
    }
  EXPECT_GT(n_refused, 300);
}

}  // namespace
}  // namespace hwtv::gguf
