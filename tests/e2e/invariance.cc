// invariance MODEL PROMPT N THREADS CHUNK MATES TEMPERATURE SPECULATE: computes N tokens and prints
// hashes of the ids and of every row of logits they were chosen from.  Whatever THREADS, CHUNK (0:
// the prompt in one step), MATES (other sequences in the same steps) and SPECULATE (off, auto,
// lookup) are, the hashes must stay the same.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "app/chat_prompt.h"
#include "app/session.h"
#include "base/file.h"
#include "tests/e2e/hashes.h"

namespace hwtv::app {
namespace {

struct Arguments {
  std::string model, prompt;
  int64_t n_tokens, n_threads, chunk, n_mates;
  double temperature;
  std::string speculate;
};

engine::SequenceRequest request_for(std::vector<int32_t> prompt, int64_t n_tokens,
                                    const Arguments& arguments) {
  engine::SequenceRequest request;
  request.prompt = std::move(prompt);
  request.n_tokens_max = n_tokens;
  request.sampling.temperature = arguments.temperature;
  request.sampling.seed = 7;
  return request;
}

// Mates differ in prompt, length and seed; the first of them ends early, so that the batch shrinks.
Result<void> add_mates(engine::Engine& engine, const std::vector<int32_t>& prompt,
                       const Arguments& arguments) {
  for (int64_t i = 0; i < arguments.n_mates; ++i) {
    const auto cut = static_cast<ptrdiff_t>(prompt.size()) * (i + 1) / (arguments.n_mates + 1);
    engine::SequenceRequest mate =
        request_for({prompt.begin() + cut, prompt.end()},
                    std::max<int64_t>(1, arguments.n_tokens / (i + 2)), arguments);
    mate.sampling.seed = 100 + static_cast<uint64_t>(i);
    HWTV_TRY(const engine::SequenceId id, engine.add(std::move(mate)));
    (void)id;
  }
  return {};
}

Result<std::string> hashes(const Arguments& arguments) {
  HWTV_TRY(const std::string text, read_file(arguments.prompt, int64_t{1} << 20));
  SessionOptions options;
  options.model = arguments.model;
  options.context = 2048;
  options.threads = arguments.n_threads;
  options.chunk = arguments.chunk > 0 ? arguments.chunk : options.context;
  options.n_seqs = arguments.n_mates + 1;
  options.speculate = arguments.speculate;
  options.quiet = true;
  HWTV_TRY(const auto session, Session::open(options));
  const std::vector<int32_t> prompt =
      with_bos(session->tokenizer(), session->tokenizer().encode(text, false));
  engine::Engine& engine = session->engine();
  const auto listener = std::make_shared<Listener>();
  engine::SequenceRequest request = request_for(prompt, arguments.n_tokens, arguments);
  request.token_mask = listener;
  HWTV_TRY_VOID(add_mates(engine, prompt, arguments));
  HWTV_TRY(const engine::SequenceId id, engine.add(std::move(request)));
  (void)id;
  while (!engine.idle()) HWTV_TRY_VOID(engine.step());
  const auto totals = session->recorder().totals();
  return fmt::format(
      R"({{"n_tokens": {}, "ids_hash": "{:016x}", "logits_hash": "{:016x}", "n_guessed": {}}})",
      listener->n_tokens(), listener->ids(), listener->logits(),
      totals.decode.n_proposed_tokens + totals.mixed.n_proposed_tokens);
}

}  // namespace
}  // namespace hwtv::app

int main(int argc, char** argv) {
  if (argc != 9) {
    fmt::print(stderr,
               "usage: invariance MODEL PROMPT N THREADS CHUNK MATES TEMPERATURE SPECULATE\n");
    return 2;
  }
  const auto result =
      hwtv::app::hashes({argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]),
                         std::atoll(argv[5]), std::atoll(argv[6]), std::atof(argv[7]), argv[8]});
  if (!result) {
    fmt::print(stderr, "{}; {}\n", result.error().what, result.error().advice);
    return 1;
  }
  fmt::print("{}\n", *result);
}
