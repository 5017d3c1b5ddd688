#include "app/conversation.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/gguf/temporary_folder.h"

namespace hwtv::app {
namespace {

Result<Conversation> load(const std::string& text) {
  const gguf::TemporaryFolder folder;
  const std::string path = folder / "talk.json";
  EXPECT_TRUE(write_file_atomically(path, text));
  return load_conversation(path);
}

TEST(Conversation, ComesBackAsItWasSaved) {
  const gguf::TemporaryFolder folder;
  const std::string path = folder / "talk.json";
  const Conversation saved = {{"system", ""},
                              {"user", "a \"quoted\"\n\tline"},
                              {"assistant", "\xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x9A\x80"}};
  ASSERT_TRUE(save_conversation(path, saved));
  const auto loaded = load_conversation(path);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->size(), saved.size());
  for (size_t i = 0; i < saved.size(); ++i) {
    EXPECT_EQ((*loaded)[i].role, saved[i].role);
    EXPECT_EQ((*loaded)[i].content, saved[i].content);
  }
}

TEST(Conversation, BrokenUtf8IsReplacedNotRefused) {
  const gguf::TemporaryFolder folder;
  const std::string path = folder / "talk.json";
  ASSERT_TRUE(save_conversation(path, {{"user", "a\xFFz"}}));
  EXPECT_EQ(load_conversation(path)->front().content, "a\xEF\xBF\xBDz");
}

TEST(Conversation, OtherFilesAreRefusedWithTheReason) {
  const auto reason = [](const std::string& text) {
    const auto loaded = load(text);
    return loaded ? std::string("accepted") : loaded.error().what;
  };
  EXPECT_NE(reason("{}").find("not a JSON array"), std::string::npos);
  EXPECT_NE(reason("[").find("not a JSON array"), std::string::npos);
  EXPECT_NE(reason("").find("not a JSON array"), std::string::npos);
  const std::string good = R"({"role": "user", "content": "x"})";
  for (const char* bad : {"1", "{}", R"({"role": "user"})", R"({"role": 1, "content": "x"})",
                          R"({"role": "user", "content": null})"})
    EXPECT_NE(reason("[" + good + ", " + bad + "]").find("message 2"), std::string::npos) << bad;
  EXPECT_EQ(load("[]")->size(), 0u);
}

TEST(Conversation, AMissingFileIsAnErrorOfTheDisk) {
  const auto loaded = load_conversation("/nonexistent/talk.json");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace hwtv::app
