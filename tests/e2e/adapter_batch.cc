// adapter_batch MODEL N THREADS CHUNK TEMPERATURE SPECULATE PROMPT:ADAPTERS... -- FILE...: computes
// N tokens for each of the sequences side by side, and prints them with the hashes of their ids and
// of every row of logits they were chosen from.  PROMPT is a text, ADAPTERS a list of indices of
// the FILEs ("0", "2,0"; "" for none).  Alone or with mates, a sequence's line must stay the same.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/chat_prompt.h"
#include "app/session.h"
#include "tests/e2e/hashes.h"

namespace hwtv::app {
namespace {

struct Arguments {
  SessionOptions session;
  int64_t n_tokens = 0;
  double temperature = 0;
  std::vector<std::string> sequences;
};

Arguments parse(int n, char** words) {
  Arguments arguments;
  arguments.session.model = words[1];
  arguments.n_tokens = std::atoll(words[2]);
  arguments.session.threads = std::atoll(words[3]);
  arguments.session.chunk = std::atoll(words[4]);
  arguments.temperature = std::atof(words[5]);
  arguments.session.speculate = words[6];
  arguments.session.context = 512;
  arguments.session.quiet = true;
  int i = 7;
  for (; i < n && std::string_view(words[i]) != "--"; ++i) arguments.sequences.push_back(words[i]);
  for (++i; i < n; ++i) arguments.session.adapters.push_back(words[i]);
  arguments.session.n_seqs = static_cast<int64_t>(arguments.sequences.size());
  return arguments;
}

engine::SequenceRequest request_for(const Session& session, const Arguments& arguments,
                                    const std::string& sequence) {
  const size_t colon = sequence.rfind(':');
  engine::SequenceRequest request;
  request.prompt =
      with_bos(session.tokenizer(), session.tokenizer().encode(sequence.substr(0, colon), false));
  request.n_tokens_max = arguments.n_tokens;
  request.sampling.temperature = arguments.temperature;
  request.sampling.seed = 7;
  std::istringstream list(sequence.substr(colon + 1));
  for (std::string index; std::getline(list, index, ',');)
    request.adapters.push_back(std::atoi(index.c_str()));
  return request;
}

Result<std::string> run(const Arguments& arguments) {
  HWTV_TRY(const auto session, Session::open(arguments.session));
  engine::Engine& engine = session->engine();
  std::vector<std::shared_ptr<Listener>> listeners;
  std::map<engine::SequenceId, std::vector<int32_t>> answers;
  for (const std::string& sequence : arguments.sequences) {
    engine::SequenceRequest request = request_for(*session, arguments, sequence);
    request.token_mask = listeners.emplace_back(std::make_shared<Listener>());
    HWTV_TRY(const engine::SequenceId id, engine.add(std::move(request)));
    answers[id] = {};
  }
  while (!engine.idle()) {
    HWTV_TRY(const auto events, engine.step());
    for (const engine::TokenEvent& event : events)
      if (event.token) answers[event.id].push_back(*event.token);
  }
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  auto answer = answers.begin();
  for (const auto& listener : listeners)
    lines.push_back({{"ids_hash", fmt::format("{:016x}", listener->ids())},
                     {"logits_hash", fmt::format("{:016x}", listener->logits())},
                     {"tokens", (answer++)->second}});
  const auto totals = session->recorder().totals();
  return nlohmann::ordered_json{
      {"sequences", lines},
      {"n_guessed", totals.decode.n_proposed_tokens + totals.mixed.n_proposed_tokens}}
      .dump();
}

}  // namespace
}  // namespace hwtv::app

int main(int argc, char** argv) {
  if (argc < 9) {
    fmt::print(stderr,
               "usage: adapter_batch MODEL N THREADS CHUNK TEMPERATURE SPECULATE "
               "PROMPT:ADAPTERS... -- FILE...\n");
    return 2;
  }
  const auto result = hwtv::app::run(hwtv::app::parse(argc, argv));
  if (!result) {
    fmt::print(stderr, "{}; {}\n", result.error().what, result.error().advice);
    return 1;
  }
  fmt::print("{}\n", *result);
}
