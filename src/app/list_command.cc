#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/output.h"
#include "base/units.h"
#include "gguf/file.h"
#include "store/model_cache.h"

namespace hwtv::app {
namespace {

struct ListOptions {
  bool json = false, names = false;
};

// "llama" for a file that opens, otherwise what is wrong with it.
std::string describe(const store::CachedModel& model) {
  const auto file = gguf::File::open(model.path);
  if (!file) return std::string(error_code_name(file.error().code));
  const auto architecture = file->get<std::string_view>("general.architecture");
  return architecture && *architecture ? std::string(**architecture) : "no architecture";
}

Result<int> list(const ListOptions& options) {
  const std::vector<store::CachedModel> models = store::cached_models();
  Output output;
  std::string text;
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const store::CachedModel& model : models)
      json.push_back({{"name", model.name},
                      {"path", model.path},
                      {"bytes", model.size_bytes},
                      {"architecture", describe(model)}});
    text = json.dump(2) + "\n";
  } else if (options.names) {
    for (const store::CachedModel& model : models) text += model.name + "\n";
  } else if (models.empty()) {
    text = fmt::format(
        "no models in {}\n`hwtv pull owner/repo` fetches one; any GGUF file's path works too\n",
        store::model_folder());
  } else {
    for (const store::CachedModel& model : models)
      text += fmt::format("{:<48} {:>10}  {}\n", model.name,
                          format_bytes(static_cast<double>(model.size_bytes)), describe(model));
    text += fmt::format("in {}; run one with: hwtv run {} -p TEXT\n", store::model_folder(),
                        models[0].name);
  }
  HWTV_TRY_VOID(output.write(text));
  return kExitOk;
}

Result<int> remove(const std::string& name) {
  auto model = store::find_model(name);
  if (!model)
    return fail(model.error().code, model.error().what,
                "`hwtv list` shows the names; files elsewhere are not touched");
  HWTV_TRY_VOID(store::remove_model(*model));
  Output output;
  HWTV_TRY_VOID(output.write(fmt::format("removed {}, {} free again\n", model->name,
                                         format_bytes(static_cast<double>(model->size_bytes)))));
  return kExitOk;
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
