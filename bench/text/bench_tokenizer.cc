// bench_tokenizer VOCABULARY.gguf TEXT [SECONDS]: how fast one thread turns a text into tokens. One
// JSON object: the median and the best rate over whole passes, in MB (10^6 bytes) per second.
// bench_tokenizer --tiny: a built-in vocabulary and text, in milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "gguf/file.h"
#include "tests/text/tiny_vocabulary.h"
#include "text/tokenizer.h"

namespace hwtv::bench {
namespace {

constexpr int64_t kMostTextBytes = int64_t{1} << 30;

Result<std::unique_ptr<text::Tokenizer>> open(const std::string& path) {
  HWTV_TRY(const auto file, gguf::File::open(path));
  return text::Tokenizer::from_gguf(file);
}

void measure(const text::Tokenizer& tokenizer, std::string_view input, double seconds) {
  SteadyClock clock;
  std::vector<double> rates;  // MB per second, of whole passes
  size_t n_tokens = 0;
  const double end_s = clock.now_s() + seconds;
  do {
    const double begin_s = clock.now_s();
    n_tokens = tokenizer.encode(input, false).size();
    rates.push_back(static_cast<double>(input.size()) / 1e6 / (clock.now_s() - begin_s));
  } while (clock.now_s() < end_s);
  std::sort(rates.begin(), rates.end());
  fmt::print(
      "{{\"mb_per_s\": {:.2f}, \"best_mb_per_s\": {:.2f}, \"passes\": {}, \"bytes\": {}, "
      "\"tokens\": {}}}\n",
      rates[rates.size() / 2], rates.back(), rates.size(), input.size(), n_tokens);
}

int fail(std::string_view why) {
  fmt::print(stderr, "bench_tokenizer: {}\n", why);
  return 1;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--tiny"}) {
    const auto tiny = text::TinyVocabulary::byte_pair({"a b", "\u0120 ab"}).open();
    if (!tiny) return fail(tiny.error().what);
    measure(**tiny, "ab ab ab 123", 0.01);
    return 0;
  }
  const double seconds = arguments.size() == 3 ? std::atof(arguments[2].c_str()) : 1;
  if (arguments.size() < 2 || arguments.size() > 3 || seconds <= 0)
    return fail("usage: bench_tokenizer VOCABULARY.gguf TEXT [SECONDS], or --tiny");
  const auto tokenizer = open(arguments[0]);
  if (!tokenizer) return fail(tokenizer.error().what);
  const auto input = read_file(arguments[1], kMostTextBytes);
  if (!input) return fail(input.error().what);
  measure(**tokenizer, *input, seconds);
  return 0;
}

}  // namespace
}  // namespace hwtv::bench

int main(int argc, char** argv) {
  return hwtv::bench::run(std::vector<std::string>(argv + 1, argv + argc));
}
