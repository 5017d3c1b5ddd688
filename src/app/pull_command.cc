#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/output.h"
#include "app/pull_progress.h"
#include "base/units.h"
#include "store/curl_http.h"
#include "store/pull.h"

namespace hwtv::app {
namespace {

struct PullOptions {
  store::PullRequest request;
  std::string from = "huggingface";
  double timeout_s = 30;
  bool json = false, quiet = false;
};

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string model_json(const store::PulledModel& model, double seconds) {
  nlohmann::ordered_json json = {{"name", model.name},
                                 {"source", model.source},
                                 {"seconds", seconds},
                                 {"files", nlohmann::ordered_json::array()}};
  for (const store::PulledFile& file : model.files)
    json["files"].push_back({{"path", file.path},
                             {"bytes", file.size_bytes},
                             {"sha256", file.sha256},
                             {"checked_by", file.checked_by},
                             {"was_there", file.was_there},
                             {"resumed_bytes", file.resumed_bytes},
                             {"attempts", file.n_attempts}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string model_text(const store::PulledModel& model, double seconds) {
  std::string text;
  int64_t fetched_bytes = 0;
  for (const store::PulledFile& file : model.files) {
    const std::string check = file.checked_by == "hub" ? "SHA-256 as the hub says"
                              : file.checked_by == "user"
                                  ? "SHA-256 as asked for"
                                  : "SHA-256 " + file.sha256 + ", nobody's to compare with";
    const std::string how =
        file.was_there ? "was here"
        : file.resumed_bytes > 0
            ? fmt::format("resumed at {}", format_bytes(static_cast<double>(file.resumed_bytes)))
            : "fetched";
    text += fmt::format("{}  {}, {}; {}\n", file.path,
                        format_bytes(static_cast<double>(file.size_bytes)), how, check);
    if (!file.was_there) fetched_bytes += file.size_bytes - file.resumed_bytes;
  }
  if (fetched_bytes > 0)
    text += fmt::format(
        "{} from {} in {}, {:.1f} MB/s\n", format_bytes(static_cast<double>(fetched_bytes)),
        model.source, format_seconds(seconds), static_cast<double>(fetched_bytes) / 1e6 / seconds);
  return text + fmt::format("run it with: hwtv run {} -p TEXT\n", model.name);
}

Result<int> pull(const PullOptions& options) {
  if (options.timeout_s < 1 || options.timeout_s > 3600)
    return fail(ErrorCode::invalid_request,
                fmt::format("--timeout {} s is not between 1 and 3600", options.timeout_s),
                "leave it at 30");
  if (options.request.retries < 0)
    return fail(ErrorCode::invalid_request,
                fmt::format("--retries {} is below 0", options.request.retries), "leave it at 5");
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes becomes an error of write()
  double seconds = 0;
  Result<store::PulledModel> model = fail(ErrorCode::io, "");
  {
    PullProgress progress(options.quiet);
    HWTV_TRY(const auto http, store::make_curl_http(progress, options.timeout_s));
    model = store::pull(options.request, *http, environment_value, progress);
    seconds = progress.elapsed_s();
  }
  if (!model) return fail(std::move(model.error()));
  Output output;
  HWTV_TRY_VOID(
      output.write(options.json ? model_json(*model, seconds) : model_text(*model, seconds)));
  return kExitOk;
}

}  // namespace

Command make_pull_command() {
  auto options = std::make_shared<PullOptions>();
  store::PullRequest& request = options->request;
  Command command;
  command.name = "pull";
  command.summary = "Fetch a model from a hub or an address into the cache";
  command.example = "hwtv pull bartowski/SmolLM2-135M-Instruct-GGUF:Q4_K_M";
  command.positionals = {
      {"NAME", "owner/repo[:quant|:file.gguf], or the address of a file", &request.name}};
  command.options = {
      {"--from",
       "HUB",
       "where owner/repo is: huggingface or modelscope",
       &options->from,
       {"huggingface", "modelscope"}},
      {"--revision", "NAME", "a branch, tag or commit of the repository", &request.revision},
      {"--sha256", "HEX", "the file's SHA-256; several times for a split model", &request.sha256s},
      {"--retries", "N", "give up after N attempts in a row that brought nothing (5)",
       &request.retries},
      {"--timeout", "S", "seconds without bytes after which a connection is made anew (30)",
       &options->timeout_s},
      {"--json", "", "print a JSON object", &options->json},
      {"-q,--quiet", "", "no progress", &options->quiet},
  };
  command.run = [options] {
    options->request.hub =
        options->from == "modelscope" ? store::Hub::model_scope : store::Hub::hugging_face;
    return pull(*options);
  };
  return command;
}

}  // namespace hwtv::app
