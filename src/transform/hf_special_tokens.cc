#include "transform/hf_special_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/json_member.h"
#include "transform/json_file.h"

namespace hwtv::transform {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int64_t kTemplateBytesMax = 16 << 20;

// One step of a TemplateProcessing: the special token or the sequence that it stands for.
std::string special_of(const Json& step) {
  const Json* token = json_member(step, "SpecialToken");
  return token ? json_text(*token, "id") : std::string();
}

std::string sequence_of(const Json& step) {
  const Json* sequence = json_member(step, "Sequence");
  return sequence ? json_text(*sequence, "id") : std::string();
}

std::vector<Json> steps_of(const Json& processor, std::string_view key) {
  const Json* steps = json_member(processor, key);
  return steps && steps->is_array() ? steps->get<std::vector<Json>>() : std::vector<Json>();
}

class Collector {
 public:
  explicit Collector(const Json& tokenizer_config) {
    for (const char* kind : {"bos", "eos", "unk", "sep", "pad", "cls", "mask"})
      texts_[kind] = token_text(tokenizer_config, kind);
    if (texts_["bos"].empty()) texts_["bos"] = texts_["cls"];
    if (texts_["eos"].empty()) texts_["eos"] = texts_["sep"];
  }

  // What the tokenizer puts around a text when it encodes one.
  void read_post_processor(const Json& tokenizer) {
    const Json* post = json_member(tokenizer, "post_processor");
    if (!post) return;
    const Json* several = json_member(*post, "processors");
    const Json one = Json::array({*post});
    for (const Json& processor : several && several->is_array() ? *several : one) {
      const std::string type = json_text(processor, "type");
      if (type == "ByteLevel") {
        are_added_.try_emplace("bos", false);
        are_added_.try_emplace("eos", false);
      } else if (type == "TemplateProcessing") {
        read_template(processor);
      }
    }
  }

  void read_config(const Json& tokenizer_config) {
    for (const std::string& kind : kinds_) {
      const Json* is_added = json_member(tokenizer_config, fmt::format("add_{}_token", kind));
      if (is_added && is_added->is_boolean()) are_added_.try_emplace(kind, is_added->get<bool>());
    }
  }

  // Ids by their texts, then those that config.json tells.
  void finish(const Json& tokenizer, const HfConfig& config, int64_t n_tokens,
              HfSpecialTokens& out) {
    for (const std::string& kind : kinds_)
      if (const auto id = find_added(tokenizer, texts_[kind])) set(kind, *id, n_tokens, out);
    for (const std::string& kind : kinds_) {
      const auto told = config.special_ids.find(kind);
      if (told != config.special_ids.end()) set(kind, told->second, n_tokens, out);
    }
    for (const char* kind : {"bos", "eos", "sep"})
      if (const auto found = are_added_.find(kind); found != are_added_.end())
        out.are_added.emplace_back(kind, found->second);
  }

 private:
  void read_template(const Json& processor) {
    const std::vector<Json> single = steps_of(processor, "single");
    std::string first, last;
    if (single.size() > 1) {
      first = special_of(single.front());
      last = special_of(single.back());
    }
    if (!first.empty()) begin_with(first);
    if (!last.empty()) end_with(last);
    read_pair(steps_of(processor, "pair"), first, last);
  }

  void begin_with(const std::string& first) {
    if (first != texts_["bos"] && first != texts_["cls"])
      for (const char* kind : {"bos", "cls"})
        if (texts_[kind].empty()) texts_[kind] = first;
    are_added_["bos"] = first == texts_["bos"] || first == texts_["cls"];
  }

  // A tokenizer that ends with another token than its config tells: the config's ends a turn.
  void end_with(const std::string& last) {
    if (last != texts_["eos"]) {
      for (const char* kind : {"eot", "eom"}) {
        if (std::ranges::find(kinds_, kind) != kinds_.end()) continue;
        kinds_.emplace_back(kind);
        texts_[kind] = texts_["eos"];
        break;
      }
      texts_["eos"] = last;
    }
    are_added_["eos"] = true;
  }

  // [first] A [separator ...] B [last]: is the separator one that a runtime would add?
  void read_pair(std::vector<Json> pair, const std::string& first, const std::string& last) {
    if (!pair.empty() && !last.empty() && special_of(pair.back()) == last) pair.pop_back();
    if (!pair.empty() && !first.empty() && special_of(pair.front()) == first)
      pair.erase(pair.begin());
    if (pair.size() < 3 || sequence_of(pair.front()) != "A" || sequence_of(pair.back()) != "B")
      return;
    const auto separates = [&](const Json& step) {
      const std::string text = special_of(step);
      return !text.empty() && (text == texts_["sep"] || text == texts_["eos"]);
    };
    are_added_["sep"] =
        (separates(pair[1]) && last.empty()) || (pair.size() == 4 && separates(pair[2]));
    if (are_added_["sep"] && texts_["sep"].empty()) texts_["sep"] = texts_["eos"];
  }

  static std::optional<int64_t> find_added(const Json& tokenizer, const std::string& text) {
    const Json* added = json_member(tokenizer, "added_tokens");
    if (text.empty() || !added || !added->is_array()) return {};
    for (const Json& token : *added) {
      if (json_text(token, "content") != text) continue;
      const Json* id = json_member(token, "id");
      if (id && id->is_number_unsigned()) return id->get<int64_t>();
    }
    return {};
  }

  static void set(const std::string& kind, int64_t id, int64_t n_tokens, HfSpecialTokens& out) {
    if (kind == "cls") return;  // GGUF has no key for it
    if (id >= n_tokens)
      out.notes.push_back(
          fmt::format("{} token {} is left out: there are {} tokens", kind, id, n_tokens));
    else if (std::ranges::find(out.ids, kind, &std::pair<std::string, int64_t>::first) ==
             out.ids.end())
      out.ids.emplace_back(kind, id);
  }

  std::vector<std::string> kinds_ = {"bos", "eos", "unk", "sep", "pad", "cls", "mask"};
  std::map<std::string, std::string> texts_;
  std::map<std::string, bool> are_added_;
};

std::string key_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void set_template(const std::string& name, const std::string& text, HfSpecialTokens& out) {
  if (name == "default")
    out.chat_template = text;
  else if (!name.empty())
    out.named_templates.emplace_back(key_name(name), text);
}

// Files of their own, as newer folders have them.
Result<void> read_template_files(const std::string& folder, HfSpecialTokens& out) {
  std::error_code code;
  if (fs::exists(folder + "/chat_template.jinja", code)) {
    HWTV_TRY(out.chat_template, read_file(folder + "/chat_template.jinja", kTemplateBytesMax));
    std::set<fs::path> more;
    for (const auto& entry : fs::directory_iterator(folder + "/additional_chat_templates", code))
      if (entry.path().extension() == ".jinja") more.insert(entry.path());
    for (const fs::path& path : more) {
      HWTV_TRY(const std::string text, read_file(path.string(), kTemplateBytesMax));
      set_template(path.stem().string(), text, out);
    }
    return {};
  }
  HWTV_TRY(const Json json, read_json_if_there(folder + "/chat_template.json"));
  out.chat_template = json_text(json, "chat_template");
  return {};
}

Result<void> read_templates(const std::string& folder, const Json& config, HfSpecialTokens& out) {
  const Json* inside = json_member(config, "chat_template");
  if (!inside) return read_template_files(folder, out);
  if (inside->is_string()) out.chat_template = inside->get<std::string>();
  if (inside->is_array())
    for (const Json& choice : *inside)
      set_template(json_text(choice, "name"), json_text(choice, "template"), out);
  return {};
}

}  // namespace

Result<HfSpecialTokens> read_hf_special_tokens(const std::string& folder, const HfConfig& config,
                                               int64_t n_tokens) {
  constexpr std::string_view kSkip[] = {"vocab", "merges"};
  HWTV_TRY(const Json tokenizer, read_json_if_there(folder + "/tokenizer.json", kSkip));
  HWTV_TRY(const Json tokenizer_config, read_json_if_there(folder + "/tokenizer_config.json"));
  HfSpecialTokens out;
  Collector collector(tokenizer_config);
  collector.read_post_processor(tokenizer);
  collector.read_config(tokenizer_config);
  collector.finish(tokenizer, config, n_tokens, out);
  HWTV_TRY_VOID(read_templates(folder, tokenizer_config, out));
  return out;
}

}  // namespace hwtv::transform
