#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "app/account.h"
#include "app/answer.h"
#include "app/chat_prompt.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/conversation.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/run_journal.h"
#include "app/sampling_flags.h"
#include "app/speculation_flags.h"
#include "base/file.h"
#include "base/nearest.h"

namespace hwtv::app {
namespace {

struct ChatOptions {
  SessionOptions session;
  SamplingFlags sampling;
  std::optional<std::string> system, load;
  std::string chat_template;
  int64_t n_tokens = 1024;
  bool raw = false;
};

constexpr const char* kHelp =
    "/help            this list\n"
    "/clear           forget the conversation (the system message stays)\n"
    "/undo            take back the last question and its answer\n"
    "/save FILE       write the conversation as JSON\n"
    "/load FILE       continue a saved one\n"
    "/account         what the last answer cost\n"
    "/exit            leave; Ctrl-D does too\n"
    "Ctrl-C stops an answer; a second one leaves.\n";

// The interactive loop: lines in, answers out.
class Chat {
 public:
  Chat(const ChatOptions& options, Session& session, std::optional<ChatPrompt> prompt,
       engine::SamplingParams sampling)
      : options_(options),
        session_(session),
        prompt_(std::move(prompt)),
        sampling_(std::move(sampling)),
        terminal_(::isatty(STDIN_FILENO)) {}

  Result<int> run() {
    reset();
    if (options_.load) {
      HWTV_TRY(conversation_, load_conversation(*options_.load));
    }
    if (terminal_) note("/help lists the commands\n");
    int status = kExitOk;  // of lines that come from a program: the first one that failed
    std::string line;
    while (next_line(line)) {
      if (line.empty()) continue;
      if (line == "/exit" || line == "/quit") break;
      const bool is_command = line[0] == '/';
      const Result<void> done = is_command ? obey(line) : say(line);
      if (done) continue;
      if (!is_command && done.error().code == ErrorCode::io)
        return fail(done.error());  // no reader
      print_error(done.error());
      if (!terminal_ && status == kExitOk) status = exit_code(done.error().code);
    }
    if (terminal_) note("\n");
    return status;
  }

 private:
  bool next_line(std::string& line) {
    if (terminal_) note("> ");
    return static_cast<bool>(std::getline(std::cin, line));
  }

  void reset() {
    conversation_.clear();
    if (options_.system) conversation_.push_back({"system", *options_.system});
  }

  Result<void> obey(const std::string& line) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = space < line.size() ? line.substr(space + 1) : "";
    if (word == "/help") return note("{}", kHelp), Result<void>();
    if (word == "/clear") return reset(), Result<void>();
    if (word == "/undo") return undo(), Result<void>();
    if (word == "/account") return account(), Result<void>();
    if (word == "/save" || word == "/load") {
      if (rest.empty())
        return fail(ErrorCode::invalid_request, word + " needs a file", word + " FILE");
      if (word == "/save") return save_conversation(rest, conversation_);
      HWTV_TRY(conversation_, load_conversation(rest));
      note("{} messages\n", conversation_.size());
      return {};
    }
    const std::vector<std::string> words = {"/help", "/clear", "/undo", "/account",
                                            "/save", "/load",  "/exit"};
    const std::string near = nearest(word, words);
    return fail(ErrorCode::invalid_request, fmt::format("there is no command {}", word),
                near.empty() ? "/help lists the commands" : fmt::format("did you mean {}?", near));
  }

  void undo() {
    while (!conversation_.empty() && conversation_.back().role != "user" &&
           conversation_.back().role != "system")
      conversation_.pop_back();
    if (!conversation_.empty() && conversation_.back().role == "user") conversation_.pop_back();
  }

  void account() {
    if (last_)
      note("{}", account_text(*last_));
    else
      note("no answer yet\n");
  }

  // The tokens of the conversation so far, opened for the answer.
  Result<std::vector<int32_t>> tokens() const {
    if (prompt_) return prompt_->tokens(conversation_, true);
    std::string text;
    for (const text::ChatMessage& message : conversation_) text += message.content + "\n";
    return with_bos(session_.tokenizer(), session_.tokenizer().encode(text, false));
  }

  Result<void> say(const std::string& line) {
    conversation_.push_back({"user", line});
    Result<Answer> answer = ask();
    if (!answer) {
      conversation_.pop_back();
      return fail(answer.error());
    }
    conversation_.push_back({"assistant", answer->text});
    kept_ = answer->id;
    last_ = make_account(session_, answer->facts);
    keep_run("chat", session_, account_json(*last_));
    return {};
  }

  Result<Answer> ask() {
    AnswerRequest request;
    HWTV_TRY(request.prompt, tokens());
    HWTV_TRY(request.n_tokens_max,
             clip_answer(session_, static_cast<int64_t>(request.prompt.size()), options_.n_tokens));
    request.sampling = sampling_;
    request.keep = true;
    request.continues = kept_;
    request.on_text = [&](std::string_view piece) { return output_.write(piece); };
    HWTV_TRY(Answer answer, answer_prompt(session_, request));
    HWTV_TRY_VOID(output_.write("\n"));
    return answer;
  }

  const ChatOptions& options_;
  Session& session_;
  const std::optional<ChatPrompt> prompt_;
  const engine::SamplingParams sampling_;
  const bool terminal_;
  Output output_;
  Conversation conversation_;
  std::optional<engine::SequenceId> kept_;
  std::optional<Account> last_;
};

Result<std::optional<ChatPrompt>> chat_prompt(const ChatOptions& options, const Session& session) {
  if (options.raw) return std::nullopt;
  HWTV_TRY(ChatPrompt prompt, ChatPrompt::choose(session, options.chat_template));
  return prompt;
}

Result<int> chat(const ChatOptions& options) {
  HWTV_TRY(engine::SamplingParams sampling, sampling_params(options.sampling));
  SessionOptions session_options = options.session;
  session_options.announce = true;
  HWTV_TRY(const auto session, Session::open(session_options));
  HWTV_TRY(std::optional<ChatPrompt> prompt, chat_prompt(options, *session));
  return Chat(options, *session, std::move(prompt), std::move(sampling)).run();
}

}  // namespace

Command make_chat_command() {
  auto options = std::make_shared<ChatOptions>();
  Command command;
  command.name = "chat";
  command.summary = "Talk with a model";
  command.example = "hwtv chat SmolLM2-135M-Instruct.Q4_1.gguf --system \"Answer briefly.\"";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->session.model}};
  command.options = {
      {"-n,--n-tokens", "N", "most tokens of one answer (default 1024)", &options->n_tokens},
      {"--system", "TEXT", "a system message to begin with", &options->system},
      {"--load", "FILE", "continue a saved conversation", &options->load},
      {"--chat-template", "NAME|FILE",
       "chatml, llama2, llama3, gemma, or a file, instead of the model's own",
       &options->chat_template},
      {"--raw", "", "no template: the conversation's lines as they are", &options->raw},
  };
  for (Option& option : sampling_flags(options->sampling)) command.options.push_back(option);
  for (Option& option : speculation_flags(options->session)) command.options.push_back(option);
  command.options.push_back(adapter_flag(options->session));
  for (Option& option : session_flags(options->session)) command.options.push_back(option);
  command.run = [options] { return chat(*options); };
  return command;
}

}  // namespace hwtv::app
