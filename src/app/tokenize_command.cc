#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/output.h"
#include "app/token_list.h"
#include "app/vocabulary_file.h"
#include "base/file.h"

namespace hwtv::app {
namespace {

constexpr int64_t kMostTextBytes = int64_t{1} << 30;

struct TokenizeOptions {
  std::string model, file;
  bool special = false, json = false;
};

// A piece as one line: line ends and other control characters are escaped, broken UTF-8 is
// replaced.
std::string printable(const std::string& piece) {
  const std::string quoted =
      nlohmann::json(piece).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

std::string tokens_as_json(const text::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  nlohmann::ordered_json json = {{"ids", ids}, {"pieces", nlohmann::ordered_json::array()}};
  for (const int32_t id : ids) json["pieces"].push_back(tokenizer.piece(id, true));
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<int> tokenize(const TokenizeOptions& options) {
  HWTV_TRY(const auto tokenizer, open_tokenizer(options.model));
  const std::string file =
      options.file.empty() || options.file == "-" ? "/dev/stdin" : options.file;
  HWTV_TRY(const std::string text, read_file(file, kMostTextBytes));
  const std::vector<int32_t> ids = tokenizer->encode(text, options.special);
  Output output;
  if (options.json) {
    HWTV_TRY_VOID(output.write(tokens_as_json(*tokenizer, ids)));
    return kExitOk;
  }
  std::string lines;
  for (const int32_t id : ids)
    lines += fmt::format("{:>7}  {}\n", id, printable(tokenizer->piece(id, true)));
  HWTV_TRY_VOID(output.write(lines));
  return kExitOk;
}

Result<int> detokenize(const TokenizeOptions& options) {
  HWTV_TRY(const auto tokenizer, open_tokenizer(options.model));
  HWTV_TRY(const std::vector<int32_t> ids, read_token_list(options.file, tokenizer->vocab_size()));
  Output output;
  HWTV_TRY_VOID(output.write(tokenizer->decode(ids, options.special)));
  return kExitOk;
}

}  // namespace

Command make_tokenize_command() {
  auto options = std::make_shared<TokenizeOptions>();
  Command command;
  command.name = "tokenize";
  command.summary = "Show the tokens of a text";
  command.example = "echo -n \"Hello world\" | hwtv tokenize model.gguf --json";
  command.positionals = {
      {"MODEL", "a GGUF file (a vocabulary alone will do) or a cached name", &options->model},
      {"FILE", "the text (default: stdin)", &options->file, false}};
  command.options = {
      {"--special", "", "read the texts of special tokens as those tokens", &options->special},
      {"--json", "", "print one JSON object: ids and pieces", &options->json},
  };
  command.run = [options] { return tokenize(*options); };
  return command;
}

Command make_detokenize_command() {
  auto options = std::make_shared<TokenizeOptions>();
  Command command;
  command.name = "detokenize";
  command.summary = "Show the text of token ids";
  command.example = "echo \"19556 905\" | hwtv detokenize model.gguf";
  command.positionals = {
      {"MODEL", "a GGUF file (a vocabulary alone will do) or a cached name", &options->model},
      {"FILE", "ids, separated by spaces, commas or line ends (default: stdin)", &options->file,
       false}};
  command.options = {
      {"--special", "", "show special tokens by their text", &options->special},
  };
  command.run = [options] { return detokenize(*options); };
  return command;
}

}  // namespace hwtv::app
