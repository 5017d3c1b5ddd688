#include "transform/model_name.h"

#include <gtest/gtest.h>

namespace hwtv::transform {
namespace {

struct Case {
  const char* id;
  int64_t n_parameters;
  const char *name, *organization, *basename, *finetune, *version, *size;
};

// What the peer's converter writes for these names.
TEST(ModelName, SaysWhatItIsMadeOf) {
  const Case cases[] = {
      {"Qwen/Qwen2.5-0.5B-Instruct", 494'032'768, "Qwen2.5 0.5B Instruct", "Qwen", "Qwen2.5",
       "Instruct", "", "0.5B"},
      {"SmolLM2-135M-Instruct", 134'515'008, "SmolLM2 135M Instruct", "", "SmolLM2", "Instruct", "",
       "135M"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", 46'702'792'704, "Mixtral 8x7B Instruct v0.1",
       "Mistralai", "Mixtral", "Instruct", "v0.1", "8x7B"},
      {"Phi-3-mini-128k-instruct", 3'821'079'552, "Phi 3 Mini 128k Instruct", "", "Phi-3",
       "128k-instruct", "", "mini"},
      {"phi-4", 14'659'507'200, "Phi 4", "", "phi", "", "4", ""},
      {"gemma-3-1b-it", 999'885'952, "Gemma 3 1b It", "", "gemma-3", "it", "", "1B"},
      {"bloom-7b1", 7'069'016'064, "Bloom 7b1", "", "bloom", "", "", "7.1B"},
      {"model", 1000, "Model", "", "", "", "", ""},
      {"A model of mine", 1000, "A Model Of Mine", "", "", "", "", ""},
      {"Tiny-Llama-2-60K-chat-hf", 112'000, "Tiny Llama 2 60K Chat Hf", "", "Tiny-Llama-2",
       "chat-hf", "", "60K"},
      {"x-7b", 1'000'000, "X 7b", "", "x", "7b", "", ""},
      {"model-Q4_K_M", 0, "Model Q4_K_M", "", "", "", "", ""},
  };
  for (const Case& expected : cases) {
    const ModelName name = parse_model_name(expected.id, expected.n_parameters);
    EXPECT_EQ(name.organization, expected.organization) << expected.id;
    EXPECT_EQ(name.basename, expected.basename) << expected.id;
    EXPECT_EQ(name.finetune, expected.finetune) << expected.id;
    EXPECT_EQ(name.version, expected.version) << expected.id;
    EXPECT_EQ(name.size_label, expected.size) << expected.id;
    EXPECT_EQ(name.name, expected.name) << expected.id;
  }
}

TEST(ModelName, SizesHaveTwoDigits) {
  EXPECT_EQ(size_label(999), "1.0K");
  EXPECT_EQ(size_label(42'100), "42K");
  EXPECT_EQ(size_label(134'515'008), "135M");
  EXPECT_EQ(size_label(1'540'000'000), "1.5B");
  EXPECT_EQ(size_label(1'000'000), "1000K");
  EXPECT_EQ(size_label(400), "0.40K");
}

}  // namespace
}  // namespace hwtv::transform
