#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/model_cache.h"
#include "app/output.h"
#include "base/units.h"
#include "gguf/file.h"

namespace hwtv::app {
namespace {

struct ListOptions {
  bool json = false, names = false;
};

// "llama" for a file that opens, otherwise what is wrong with it.
std::string describe(const CachedModel& model) {
  const auto file = gguf::File::open(model.path);
  if (!file) return std::string(error_code_name(file.error().code));
  const auto architecture = file->get<std::string_view>("general.architecture");
  return architecture && *architecture ? std::string(**architecture) : "no architecture";
}

Result<int> list(const ListOptions& options) {
  const std::vector<CachedModel> models = cached_models();
  Output output;
  std::string text;
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const CachedModel& model : models)
      json.push_back({{"name", model.name},
                      {"path", model.path},
                      {"bytes", model.size_bytes},
                      {"architecture", describe(model)}});
    text = json.dump(2) + "\n";
  } else if (options.names) {
    for (const CachedModel& model : models) text += model.name + "\n";
  } else if (models.empty()) {
    text = fmt::format("no models in {}\n`make demo` fetches one; any GGUF file's path works too\n",
                       model_folder());
  } else {
    for (const CachedModel& model : models)
      text += fmt::format("{:<48} {:>10}  {}\n", model.name,
                          format_bytes(static_cast<double>(model.size_bytes)), describe(model));
    text +=
        fmt::format("in {}; run one with: hwtv run {} -p TEXT\n", model_folder(), models[0].name);
  }
  HWTV_TRY_VOID(output.write(text));
  return kExitOk;
}

Result<int> remove(const std::string& name) {
  for (const CachedModel& model : cached_models()) {
    if (model.name != name && model.name != name + ".gguf") continue;
    if (::unlink(model.path.c_str()) != 0)
      return fail(ErrorCode::io,
                  fmt::format("cannot remove {}: {}", model.path, std::strerror(errno)),
                  "check the folder's permissions");
    Output output;
    HWTV_TRY_VOID(output.write(fmt::format("removed {}, {} free again\n", model.name,
                                           format_bytes(static_cast<double>(model.size_bytes)))));
    return kExitOk;
  }
  return fail(ErrorCode::invalid_request, fmt::format("no model {} in {}", name, model_folder()),
              "`hwtv list` shows the names; files elsewhere are not touched");
}

}  // namespace

Command make_list_command() {
  auto options = std::make_shared<ListOptions>();
  Command command;
  command.name = "list";
  command.summary = "Show the models in the cache";
  command.example = "hwtv list";
  command.options = {
      {"--names", "", "print the names alone", &options->names},
      {"--json", "", "print a JSON array", &options->json},
  };
  command.run = [options] { return list(*options); };
  return command;
}

Command make_rm_command() {
  auto name = std::make_shared<std::string>();
  Command command;
  command.name = "rm";
  command.summary = "Remove a model from the cache";
  command.example = "hwtv rm SmolLM2-135M-Instruct.Q4_1.gguf";
  command.positionals = {{"MODEL", "a name that `hwtv list` shows", name.get()}};
  command.run = [name] { return remove(*name); };
  return command;
}

}  // namespace hwtv::app
