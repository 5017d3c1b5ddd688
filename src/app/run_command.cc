#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/account.h"
#include "app/answer.h"
#include "app/chat_prompt.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/run_journal.h"
#include "app/sampling_flags.h"
#include "app/session.h"
#include "app/speculation_flags.h"
#include "base/file.h"

namespace hwtv::app {
namespace {

constexpr int64_t kMostLogprobs = 1000;

struct RunOptions {
  SessionOptions session;
  SamplingFlags sampling;
  std::optional<std::string> prompt, file;
  int64_t n_tokens = 256;
  std::vector<std::string> stops;
  std::string chat_template;
  bool chat = false, raw = false, json = false, no_account = false;
  int64_t n_logprobs = 0;
};

Result<std::string> read_stdin() {
  if (::isatty(STDIN_FILENO))
    return fail(ErrorCode::invalid_request, "no prompt: stdin is a terminal",
                "give a prompt with -p TEXT, -f FILE, or pipe one in");
  return read_file("/dev/stdin", int64_t{64} << 20);
}

Result<std::string> prompt_text(const RunOptions& options) {
  if (options.prompt && options.file)
    return fail(ErrorCode::invalid_request, "both -p and -f give a prompt", "use one of them");
  if (options.prompt) return *options.prompt;
  if (options.file) return read_file(*options.file, int64_t{64} << 20);
  return read_stdin();
}

// As a chat turn when the model has a template, unless --raw says otherwise.
Result<std::vector<int32_t>> prompt_tokens(const RunOptions& options, const Session& session,
                                           const std::string& text) {
  const bool has_template = session.model().file().find("tokenizer.chat_template") != nullptr;
  const bool as_chat = options.chat || has_template || !options.chat_template.empty();
  if (options.raw || !as_chat)
    return with_bos(session.tokenizer(), session.tokenizer().encode(text, false));
  HWTV_TRY(const ChatPrompt prompt, ChatPrompt::choose(session, options.chat_template));
  return prompt.tokens({{"user", text}}, true);
}

std::string answer_json(const Answer& answer, const std::vector<int32_t>& prompt,
                        bool with_logprobs, const std::optional<Account>& account) {
  using Json = nlohmann::ordered_json;
  Json json = {{"text", answer.text},
               {"prompt_tokens", prompt},
               {"answer_tokens", answer.tokens},
               {"finish_reason", engine::finish_reason_name(answer.finish)}};
  if (with_logprobs) {
    Json list = Json::array();
    for (const AnswerLogprobs& entry : answer.logprobs) {
      Json top = Json::array();
      for (const engine::TokenLogprob& one : entry.top)
        top.push_back({{"token", one.token}, {"logprob", one.logprob}});
      list.push_back({{"token", entry.token}, {"logprob", entry.logprob}, {"top", top}});
    }
    json["logprobs"] = list;
  }
  if (account) json["account"] = Json::parse(account_json(*account));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<int> run(const RunOptions& options) {
  if (options.chat && options.raw)
    return fail(ErrorCode::invalid_request, "--chat and --raw exclude each other",
                "use one of them");
  if (options.n_logprobs < 0 || options.n_logprobs > kMostLogprobs)
    return fail(ErrorCode::invalid_request, fmt::format("--logprobs is {}", options.n_logprobs),
                fmt::format("give --logprobs a number from 1 to {}, with --json", kMostLogprobs));
  if (options.raw && !options.chat_template.empty())
    return fail(ErrorCode::invalid_request, "--raw and --chat-template exclude each other",
                "use one of them");
  if (options.n_tokens < 1)
    return fail(ErrorCode::invalid_request,
                fmt::format("-n {} asks for no tokens", options.n_tokens),
                "give -n a positive number");
  HWTV_TRY(const engine::SamplingParams sampling, sampling_params(options.sampling));
  HWTV_TRY(const std::string text, prompt_text(options));
  SessionOptions session_options = options.session;
  session_options.quiet = options.json;
  session_options.announce = !options.json && !options.no_account;
  HWTV_TRY(const auto session, Session::open(session_options));
  HWTV_TRY(const std::vector<int32_t> prompt, prompt_tokens(options, *session, text));
  AnswerRequest request;
  request.prompt = prompt;
  HWTV_TRY(request.n_tokens_max,
           clip_answer(*session, static_cast<int64_t>(prompt.size()), options.n_tokens));
  request.sampling = sampling;
  request.stops = options.stops;
  request.n_logprobs = options.n_logprobs;
  Output output;
  if (!options.json) request.on_text = [&](std::string_view piece) { return output.write(piece); };
  HWTV_TRY(const Answer answer, answer_prompt(*session, request));
  if (!options.json) HWTV_TRY_VOID(output.write("\n"));
  std::optional<Account> account;
  if (!options.no_account) {
    account = make_account(*session, answer.facts);
    keep_run("run", *session, account_json(*account));
  }
  if (options.json) {
    HWTV_TRY_VOID(output.write(answer_json(answer, prompt, options.n_logprobs > 0, account)));
  } else if (account) {
    note("\n{}", account_text(*account));
  }
  return answer.finish == engine::FinishReason::cancelled ? exit_code(ErrorCode::cancelled)
                                                          : kExitOk;
}

}  // namespace

Command make_run_command() {
  auto options = std::make_shared<RunOptions>();
  Command command;
  command.name = "run";
  command.summary = "Answer one prompt and account for it";
  command.example =
      "hwtv run SmolLM2-135M-Instruct.Q4_1.gguf -p \"Why is the sky blue?\"\n"
      "  hwtv run model.gguf -f question.txt -n 200 --temp 0.7 --seed 1 --json";
  command.positionals = {
      {"MODEL", "a GGUF file, or a name that `hwtv list` shows", &options->session.model}};
  command.options = {
      {"-p,--prompt", "TEXT", "the prompt (default: read stdin)", &options->prompt},
      {"-f,--file", "FILE", "read the prompt from a file", &options->file},
      {"-n,--n-tokens", "N", "most tokens of the answer (default 256)", &options->n_tokens},
      {"--stop", "TEXT", "end the answer before this text; may be repeated", &options->stops},
      {"--chat", "", "wrap the prompt in the model's chat template (default where it has one)",
       &options->chat},
      {"--chat-template", "NAME|FILE",
       "chatml, llama2, llama3, gemma, or a file, for the model's own", &options->chat_template},
      {"--raw", "", "give the prompt to the model as it is", &options->raw},
      {"--logprobs", "K", "with --json: log-probabilities, and the K likeliest of each token",
       &options->n_logprobs},
      {"--json", "", "print one JSON object instead of text", &options->json},
      {"--no-account", "", "leave the account out", &options->no_account},
  };
  for (Option& option : sampling_flags(options->sampling)) command.options.push_back(option);
  for (Option& option : speculation_flags(options->session)) command.options.push_back(option);
  command.options.push_back(adapter_flag(options->session));
  for (Option& option : session_flags(options->session)) command.options.push_back(option);
  command.run = [options] { return run(*options); };
  return command;
}

}  // namespace hwtv::app
