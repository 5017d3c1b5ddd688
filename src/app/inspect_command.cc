#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/output.h"
#include "base/units.h"
#include "gguf/file.h"
#include "model/model.h"
#include "store/model_cache.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace hwtv::app {
namespace {

struct InspectOptions {
  std::string model;
  bool json = false, tensors = false;
};

// Long values are cut: a vocabulary or a template would fill the screen.
std::string value_text(const gguf::Value& value) {
  constexpr size_t kMostBytes = 60;
  std::string text;
  if (const auto s = value.as_string()) {
    text = nlohmann::json(*s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } else if (const auto b = value.as_bool()) {
    text = *b ? "true" : "false";
  } else if (const auto i = value.as_int()) {
    text = fmt::format("{}", *i);
  } else if (const auto f = value.as_float()) {
    text = fmt::format("{}", static_cast<float>(*f));
  } else {
    text = value.description();
  }
  if (text.size() <= kMostBytes) return text;
  size_t cut = kMostBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

std::string shape_text(const gguf::TensorInfo& tensor) {
  return tensor.shape.empty() ? "scalar" : format_shape(tensor.shape);
}

// Whether `run` would start: the architecture and the tokenizer are both understood.
bool is_supported(const gguf::File& file, const Result<model::Model>& model) {
  return model && text::Tokenizer::from_gguf(file);
}

// "supported", or the reason why not.
std::string support_text(const gguf::File& file, const Result<model::Model>& model) {
  if (!model) return model.error().what;
  const auto tokenizer = text::Tokenizer::from_gguf(file);
  return tokenizer ? "supported" : "cannot run: " + tokenizer.error().what;
}

std::string tokenizer_text(const gguf::File& file) {
  if (!file.find("tokenizer.ggml.model")) return "none in this file";
  const auto tokenizer = text::Tokenizer::from_gguf(file);
  if (!tokenizer) return tokenizer.error().what;
  std::string text =
      fmt::format("{}, {} tokens", (*tokenizer)->model(), format_count((*tokenizer)->vocab_size()));
  if (!(*tokenizer)->pre_tokenizer().empty())
    text += fmt::format(", pre-tokenizer {}", (*tokenizer)->pre_tokenizer());
  return text;
}

std::string template_text(const gguf::File& file) {
  const auto source = file.get<std::string_view>("tokenizer.chat_template");
  if (!source) return source.error().what;
  if (!*source) return "none in this file";
  const auto parsed = text::ChatTemplate::parse(**source);
  return parsed ? fmt::format("{} bytes, understood", (*source)->size()) : parsed.error().what;
}

struct Sum {
  int64_t n_tensors = 0, n_elements = 0, n_bytes = 0;
  void add(const gguf::TensorInfo& tensor) {
    ++n_tensors;
    n_elements += tensor.n_elements;
    n_bytes += tensor.n_bytes;
  }
};

struct Inspection {
  Sum all;
  std::map<std::string, Sum> by_type, by_role;
};

Inspection sum_up(const gguf::File& file, const Result<model::Model>& model) {
  std::map<std::string_view, std::string> roles;
  if (model)
    for (const ops::WeightDecl& weight : model->program().weights)
      roles[weight.name] = std::string(ops::weight_role_name(weight.role));
  Inspection inspection;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    inspection.all.add(tensor);
    inspection.by_type[tensor.type_name()].add(tensor);
    const auto role = roles.find(tensor.name);
    inspection.by_role[role == roles.end() ? "not used" : role->second].add(tensor);
  }
  return inspection;
}

std::string sum_table(const char* title, const std::map<std::string, Sum>& sums) {
  std::string text =
      fmt::format("{:<16} {:>8} {:>12} {:>14}\n", title, "tensors", "size", "elements");
  for (const auto& [name, sum] : sums)
    text +=
        fmt::format("  {:<14} {:>8} {:>12} {:>14}\n", name, sum.n_tensors,
                    format_bytes(static_cast<double>(sum.n_bytes)), format_count(sum.n_elements));
  return text;
}

std::string inspect_text(const gguf::File& file, const Result<model::Model>& model, bool tensors) {
  const Inspection inspection = sum_up(file, model);
  const auto architecture = file.get<std::string_view>("general.architecture");
  std::string text =
      fmt::format("{}: {}, {} in {} tensors, GGUF version {}\n\n",
                  architecture && *architecture ? **architecture : "no architecture",
                  support_text(file, model), format_bytes(static_cast<double>(inspection.all.n_bytes)),
                  inspection.all.n_tensors, file.version());
  text += fmt::format("tokenizer        {}\nchat template    {}\n", tokenizer_text(file),
                      template_text(file));
  if (model) {
    const model::ModelConfig& c = model->config();
    text += fmt::format(
        "shape            {} layers, model_dim {}, ffn_dim {}, {} heads of {}, {} KV heads\n"
        "context          {} tokens as trained, rope theta {}, scaling {}\n",
        c.n_layers, c.model_dim, c.ffn_dim, c.n_heads, c.head_dim, c.n_kv_heads,
        c.context_tokens_max, c.rope.theta, model::rope_scaling_name(c.rope_scaling));
  }
  text += "\n" + sum_table("bytes by role", inspection.by_role) + "\n" +
          sum_table("bytes by type", inspection.by_type) + "\nmetadata\n";
  for (const gguf::Entry& entry : file.entries())
    text += fmt::format("  {:<44} {}\n", entry.key, value_text(entry.value));
  if (tensors) {
    text += "\ntensors\n";
    for (const gguf::TensorInfo& tensor : file.tensors())
      text += fmt::format("  {:<36} {:<8} {:>10}  {}\n", tensor.name, tensor.type_name(),
                          format_bytes(static_cast<double>(tensor.n_bytes)), shape_text(tensor));
  }
  if (is_supported(file, model))
    text += fmt::format("\nnext: hwtv run {} -p \"Hello\"\n", file.path());
  return text;
}

std::string inspect_json(const gguf::File& file, const Result<model::Model>& model) {
  using Json = nlohmann::ordered_json;
  const Inspection inspection = sum_up(file, model);
  const auto sums = [](const std::map<std::string, Sum>& from) {
    Json json = Json::object();
    for (const auto& [name, sum] : from)
      json[name] = {
          {"tensors", sum.n_tensors}, {"bytes", sum.n_bytes}, {"elements", sum.n_elements}};
    return json;
  };
  Json json = {{"path", file.path()},
               {"gguf_version", file.version()},
               {"bytes", inspection.all.n_bytes},
               {"supported", is_supported(file, model)},
               {"support", support_text(file, model)},
               {"tokenizer", tokenizer_text(file)},
               {"chat_template", template_text(file)},
               {"by_role", sums(inspection.by_role)},
               {"by_type", sums(inspection.by_type)}};
  for (const gguf::Entry& entry : file.entries())
    json["metadata"][std::string(entry.key)] = value_text(entry.value);
  for (const gguf::TensorInfo& tensor : file.tensors())
    json["tensors"].push_back({{"name", tensor.name},
                               {"type", tensor.type_name()},
                               {"shape", tensor.shape},
                               {"bytes", tensor.n_bytes}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<int> inspect(const InspectOptions& options) {
  HWTV_TRY(const std::string path, store::resolve_model(options.model));
  HWTV_TRY(const gguf::File file, gguf::File::open(path));
  const Result<model::Model> model = model::Model::open(path);
  Output output;
  HWTV_TRY_VOID(output.write(options.json ? inspect_json(file, model)
                                          : inspect_text(file, model, options.tensors)));
  return kExitOk;
}

}  // namespace

Command make_inspect_command() {
  auto options = std::make_shared<InspectOptions>();
  Command command;
  command.name = "inspect";
  command.summary = "Show what a model file holds and whether it will run";
  command.example = "hwtv inspect model.gguf --tensors";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->model}};
  command.options = {
      {"--tensors", "", "list every tensor", &options->tensors},
      {"--json", "", "print one JSON object, tensors included", &options->json},
  };
  command.run = [options] { return inspect(*options); };
  return command;
}

}  // namespace hwtv::app
