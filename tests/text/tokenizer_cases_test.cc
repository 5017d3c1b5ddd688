// The case pairs of the peer's own tokenizer tests: NAME.gguf.inp holds texts, NAME.gguf.out their
// token ids.  They are read from the test cache (HWTV_CACHE).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "tests/text/peer_files.h"
#include "text/tokenizer.h"

namespace hwtv::text {
namespace {

std::vector<std::string> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  size_t end;
  while ((end = text.find(separator)) != std::string_view::npos) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::vector<int32_t> parse_ids(const std::string& line) {
  std::istringstream in(line);
  std::vector<int32_t> ids;
  for (int32_t id; in >> id;) ids.push_back(id);
  return ids;
}

class TokenizerCases : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerCases, EveryTextGivesTheListedIds) {
  const auto models = peer_models_folder();
  if (!models) GTEST_SKIP() << "no test cache: " << cache_folder();
  const std::string path = fmt::format("{}/ggml-vocab-{}.gguf", *models, GetParam());
  const auto file = gguf::File::open(path);
  ASSERT_TRUE(file) << file.error().what;
  const auto tokenizer = Tokenizer::from_gguf(*file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;

  const auto texts = split_at(read_file(path + ".inp").value(), "\n__ggml_vocab_test__\n");
  const auto lines = split_at(read_file(path + ".out").value(), "\n");
  ASSERT_GE(texts.size(), 40u);
  ASSERT_GE(lines.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto ids = (*tokenizer)->encode(texts[i], false);
    EXPECT_EQ(ids, parse_ids(lines[i])) << "text " << i << ": '" << texts[i] << "'";
    if ((*tokenizer)->model() == "llama") {
      EXPECT_EQ((*tokenizer)->decode(ids, false), texts[i]);
    }
  }
}

std::string test_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Peer, TokenizerCases,
                         testing::Values("bert-bge", "command-r", "deepseek-coder", "deepseek-llm",
                                         "falcon", "gemma-4", "gpt-2", "llama-bpe", "llama-spm",
                                         "mpt", "phi-3", "qwen2", "qwen35", "refact", "starcoder"),
                         test_name);

}  // namespace
}  // namespace hwtv::text
