#include "app/bench_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/engine.h"

namespace hwtv::app {
namespace {

constexpr int64_t kDecodeTokens = 64;
// Of batched decode: short, so that the prompts of 32 sequences take little time and memory.
constexpr int64_t kBatchPromptTokens = 32, kBatchDecodeTokens = 32;
const int64_t kBlockTokens = engine::EngineConfig{}.kv_block_tokens;
constexpr int64_t kMostTokens = 1 << 24, kMostSeqs = 1024;

struct ListFlag {
  const char* flag;
  int64_t least, most;
};

Result<std::vector<int64_t>> parse_list(const ListFlag& flag, const std::string& text) {
  std::vector<int64_t> numbers;
  if (text == "none") return numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, comma - at);
    int64_t number = -1;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() ||
        number < flag.least || number > flag.most)
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} {}: '{}' cannot be measured", flag.flag, text, word),
                  fmt::format("give numbers from {} to {} with commas between, or none", flag.least,
                              flag.most));
    numbers.push_back(number);
    at = comma + 1;
  }
  return numbers;
}

}  // namespace

std::string BenchTest::name() const {
  switch (kind) {
    case Kind::prefill:
      return fmt::format("prefill {}", n_prompt);
    case Kind::decode:
      return fmt::format("decode {} at {}", n_decode, n_prompt == 1 ? 0 : n_prompt);
    case Kind::batch:
      return fmt::format("batch {} x {} at {}", n_seqs, n_decode, n_prompt);
  }
  return "";
}

// The first token that is decoded comes from the prompt's last row.
int64_t BenchTest::context_tokens() const { return n_prompt + (n_decode > 0 ? n_decode + 1 : 0); }

int64_t BenchTest::pool_tokens() const {
  return n_seqs * ((context_tokens() + kBlockTokens - 1) / kBlockTokens * kBlockTokens);
}

Result<std::vector<BenchTest>> bench_tests(const BenchFlags& flags) {
  if (flags.n_decode < 0 || flags.n_decode > kMostTokens)
    return fail(ErrorCode::invalid_request, fmt::format("--decode is {}", flags.n_decode),
                fmt::format("give --decode 1 to {}, or leave it out", kMostTokens));
  const bool chosen = flags.prefill || flags.depth || flags.batch || flags.n_decode > 0;
  const char* depths = !chosen ? "0,2048,8192" : flags.n_decode > 0 && !flags.batch ? "0" : "none";
  HWTV_TRY(const auto prefill,
           parse_list({"--prefill", 1, kMostTokens},
                      flags.prefill.value_or(chosen ? "none" : "128,512,2048")));
  HWTV_TRY(const auto depth, parse_list({"--depth", 0, kMostTokens}, flags.depth.value_or(depths)));
  HWTV_TRY(const auto batch, parse_list({"--batch", 1, kMostSeqs},
                                        flags.batch.value_or(chosen ? "none" : "1,2,4,8,16,32")));
  const int64_t n_decode = flags.n_decode > 0 ? flags.n_decode : kDecodeTokens;
  const int64_t n_batch_decode = flags.n_decode > 0 ? flags.n_decode : kBatchDecodeTokens;
  std::vector<BenchTest> tests;
  for (const int64_t n : prefill) tests.push_back({BenchTest::Kind::prefill, n, 0, 1});
  for (const int64_t n : depth)
    tests.push_back({BenchTest::Kind::decode, std::max<int64_t>(n, 1), n_decode, 1});
  for (const int64_t n : batch)
    tests.push_back({BenchTest::Kind::batch, kBatchPromptTokens, n_batch_decode, n});
  return tests;
}

}  // namespace hwtv::app
