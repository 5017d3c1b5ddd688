#include "app/model_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/folders.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::app {
namespace {

// A cache of its own for each test.
class ModelCache : public testing::Test {
 protected:
  void SetUp() override {
    const char* before = std::getenv("HWTV_CACHE");
    if (before) before_ = before;
    ::setenv("HWTV_CACHE", (folder_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    if (before_) ::setenv("HWTV_CACHE", before_->c_str(), 1);
    else ::unsetenv("HWTV_CACHE");
  }
  void add(const std::string& name, const std::string& bytes = "GGUF") {
    ASSERT_TRUE(make_folders(model_folder()));
    ASSERT_TRUE(write_file_atomically(model_folder() + "/" + name, bytes));
  }

  gguf::TemporaryFolder folder_;
  std::optional<std::string> before_;
};

TEST_F(ModelCache, NoCacheIsAnEmptyOne) { EXPECT_TRUE(cached_models().empty()); }

TEST_F(ModelCache, HoldsGgufFilesByName) {
  add("b.gguf", "12345");
  add("a.gguf");
  add("notes.txt");
  add("c.gguf.part");
  ASSERT_TRUE(make_folders(model_folder() + "/folder.gguf"));
  const auto models = cached_models();
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].name, "a.gguf");
  EXPECT_EQ(models[1].name, "b.gguf");
  EXPECT_EQ(models[1].size_bytes, 5);
  EXPECT_EQ(models[1].path, model_folder() + "/b.gguf");
}

TEST_F(ModelCache, ResolvesPathsThenNames) {
  add("a.gguf");
  EXPECT_EQ(resolve_model("a.gguf").value(), model_folder() + "/a.gguf");
  EXPECT_EQ(resolve_model("a").value(), model_folder() + "/a.gguf");
  const std::string path = folder_ / "mine.gguf";
  ASSERT_TRUE(write_file_atomically(path, "GGUF"));
  EXPECT_EQ(resolve_model(path).value(), path);
}

TEST_F(ModelCache, SuggestsTheNearestName) {
  add("tiny-llama.gguf");
  add("other.gguf");
  for (const char* name : {"tiny-lama.gguf", "tiny-lama"}) {
    const auto path = resolve_model(name);
    ASSERT_FALSE(path);
    EXPECT_EQ(path.error().code, ErrorCode::invalid_request);
    EXPECT_NE(path.error().what.find("which has 2"), std::string::npos);
    EXPECT_NE(path.error().advice.find("did you mean tiny-llama"), std::string::npos);
  }
  EXPECT_NE(resolve_model("quite-another").error().advice.find("hwtv list"), std::string::npos);
}

}  // namespace
}  // namespace hwtv::app
