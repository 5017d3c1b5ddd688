#include "store/model_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/folders.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::store {
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
    if (before_)
      ::setenv("HWTV_CACHE", before_->c_str(), 1);
    else
      ::unsetenv("HWTV_CACHE");
  }
  void add(const std::string& name, const std::string& bytes = "GGUF") {
    const std::string path = model_folder() + "/" + name;
    ASSERT_TRUE(make_folders(std::filesystem::path(path).parent_path().string()));
    ASSERT_TRUE(write_file_atomically(path, bytes));
  }

  gguf::TemporaryFolder folder_;
  std::optional<std::string> before_;
};

TEST_F(ModelCache, NoCacheIsAnEmptyOne) { EXPECT_TRUE(cached_models().empty()); }

TEST_F(ModelCache, HoldsGgufFilesByName) {
  add("b.gguf", "12345");
  add("a.gguf");
  add("owner/repo/d.gguf");
  add(".fetch.x/half.gguf");
  add("notes.txt");
  add("c.gguf.part");
  ASSERT_TRUE(make_folders(model_folder() + "/folder.gguf"));
  const auto models = cached_models();
  ASSERT_EQ(models.size(), 3u);
  EXPECT_EQ(models[2].name, "owner/repo/d.gguf");
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

TEST_F(ModelCache, ResolvesWhatWasPulledByItsRepository) {
  add("one/repo/m-Q4_K_M.gguf");
  add("one/repo/m-Q8_0.gguf");
  add("two/repo/m-Q8_0.gguf");
  EXPECT_EQ(resolve_model("one/repo").value(), model_folder() + "/one/repo/m-Q4_K_M.gguf");
  EXPECT_EQ(resolve_model("one/repo:q8_0").value(), model_folder() + "/one/repo/m-Q8_0.gguf");
  EXPECT_EQ(resolve_model("one/repo/m-Q8_0").value(), model_folder() + "/one/repo/m-Q8_0.gguf");
  EXPECT_EQ(resolve_model("m-Q4_K_M").value(), model_folder() + "/one/repo/m-Q4_K_M.gguf");
  EXPECT_NE(resolve_model("m-Q8_0").error().what.find("2 models"), std::string::npos);
  EXPECT_NE(resolve_model("one/repo:Q2_K").error().what.find("m-Q8_0.gguf"), std::string::npos);
  EXPECT_NE(resolve_model("three/repo:Q4_0").error().advice.find("hwtv pull"), std::string::npos);
}

TEST_F(ModelCache, ASplitModelIsOne) {
  for (const char* part : {"m-00002-of-00002.gguf", "m-00001-of-00002.gguf"})
    add(std::string("a/b/") + part, "1234");
  const auto model = find_model("a/b");
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(model->name, "a/b/m-00001-of-00002.gguf");
  EXPECT_EQ(model->size_bytes, 8);
  ASSERT_EQ(model->parts.size(), 2u);
  ASSERT_TRUE(remove_model(*model));
  EXPECT_FALSE(std::filesystem::exists(model_folder() + "/a"));
  EXPECT_TRUE(std::filesystem::exists(model_folder()));
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
}  // namespace hwtv::store
