#include "store/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_member.h"
#include "base/quoted.h"
#include "store/sha256.h"

namespace hwtv::store {
namespace {

using Json = nlohmann::json;

constexpr std::pair<std::string_view, Hub> kHosts[] = {{"huggingface.co", Hub::hugging_face},
                                                       {"hf.co", Hub::hugging_face},
                                                       {"www.huggingface.co", Hub::hugging_face},
                                                       {"modelscope.cn", Hub::model_scope},
                                                       {"www.modelscope.cn", Hub::model_scope}};

std::string without_slash(std::string text) {
  while (text.ends_with("/")) text.pop_back();
  return text;
}

std::string revision_of(Hub hub, const HubName& name) {
  if (!name.revision.empty()) return name.revision;
  return hub == Hub::hugging_face ? "main" : "master";
}

// A revision is one word of a path: its slashes are written as %2F.
std::string encoded_word(const std::string& word) {
  std::string text;
  for (const char c : percent_encoded(word)) text += c == '/' ? "%2F" : std::string(1, c);
  return text;
}

int64_t size_of(const Json& object, const char* key) {
  const Json* value = json_member(object, key);
  return value && value->is_number_integer() && *value >= 0 ? value->get<int64_t>() : -1;
}

// nullopt: a folder, or a file that could not be kept under its name.
std::optional<ListedFile> hugging_face_file(const Json& entry) {
  const auto path = safe_path(json_text(entry, "path"));
  if (!path || json_text(entry, "type") != "file") return std::nullopt;
  ListedFile file{*path, size_of(entry, "size"), ""};
  if (const Json* lfs = json_member(entry, "lfs")) {
    file.sha256 = sha256_text(json_text(*lfs, "oid"));
    if (size_of(*lfs, "size") >= 0) file.size_bytes = size_of(*lfs, "size");
  }
  return file;
}

std::optional<ListedFile> model_scope_file(const Json& entry) {
  const auto path = safe_path(json_text(entry, "Path"));
  if (!path || json_text(entry, "Type") != "blob") return std::nullopt;
  return ListedFile{*path, size_of(entry, "Size"), sha256_text(json_text(entry, "Sha256"))};
}

tl::unexpected<Error> not_a_listing(std::string_view json) {
  return fail(ErrorCode::corrupt_file,
              fmt::format("the hub's answer is no listing of files: {} bytes that begin with {}",
                          json.size(), hwtv::quoted(json.substr(0, 40))),
              "check the mirror (HF_ENDPOINT, MODELSCOPE_DOMAIN), or give the file's own address");
}

}  // namespace

std::string hub_name(Hub hub) { return hub == Hub::hugging_face ? "Hugging Face" : "ModelScope"; }

Result<HubEndpoint> hub_endpoint(Hub hub, const Environment& environment) {
  const bool hugging_face = hub == Hub::hugging_face;
  HubEndpoint endpoint;
  endpoint.hub = hub;
  endpoint.base_variable = hugging_face ? "HF_ENDPOINT" : "MODELSCOPE_DOMAIN";
  endpoint.token_variable = hugging_face ? "HF_TOKEN" : "MODELSCOPE_API_TOKEN";
  std::string base = without_slash(environment(endpoint.base_variable));
  if (base.empty()) base = hugging_face ? "https://huggingface.co" : "https://modelscope.cn";
  if (base.find("://") == std::string::npos) base = "https://" + base;
  HWTV_TRY(endpoint.base, parse_url(base));
  endpoint.base.path = without_slash(endpoint.base.path);
  endpoint.base.query.clear();
  endpoint.token = environment(endpoint.token_variable);
  for (const char c : endpoint.token)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} holds a blank or a control character", endpoint.token_variable),
                  "set it to the token alone, or unset it");
  return endpoint;
}

std::optional<HubPage> hub_page(const Url& url, const Environment& environment) {
  for (const Hub hub : {Hub::hugging_face, Hub::model_scope}) {
    bool is_here =
        std::ranges::find(kHosts, std::pair(std::string_view(url.host), hub)) != std::end(kHosts);
    const auto endpoint = hub_endpoint(hub, environment);
    Url within = url;
    if (endpoint && same_origin(endpoint->base, url) && url.path.starts_with(endpoint->base.path)) {
      is_here = true;
      within.path = url.path.substr(endpoint->base.path.size());
    }
    if (!is_here) continue;
    if (auto name = hub_name_of(within)) return HubPage{hub, *name};
  }
  return std::nullopt;
}

std::string listing_url(const HubEndpoint& endpoint, const HubName& name) {
  const std::string base = endpoint.base.text();
  const std::string revision = encoded_word(revision_of(endpoint.hub, name));
  if (endpoint.hub == Hub::hugging_face)
    return fmt::format("{}/api/models/{}/{}/tree/{}?recursive=true", base, name.owner, name.repo,
                       revision);
  return fmt::format("{}/api/v1/models/{}/{}/repo/files?Revision={}&Recursive=true", base,
                     name.owner, name.repo, revision);
}

std::string file_url(const HubEndpoint& endpoint, const HubName& name, const std::string& path) {
  return fmt::format("{}/resolve/{}/{}", page_url(endpoint, name),
                     encoded_word(revision_of(endpoint.hub, name)), percent_encoded(path));
}

std::string page_url(const HubEndpoint& endpoint, const HubName& name) {
  return fmt::format("{}{}/{}/{}", endpoint.base.text(),
                     endpoint.hub == Hub::hugging_face ? "" : "/models", name.owner, name.repo);
}

Result<std::vector<ListedFile>> parse_listing(Hub hub, std::string_view json) {
  const Json document = Json::parse(json.begin(), json.end(), nullptr, false);
  const Json* entries = &document;
  if (hub == Hub::model_scope) {
    const Json* data = json_member(document, "Data");
    entries = data ? json_member(*data, "Files") : nullptr;
  }
  if (document.is_discarded() || !entries || !entries->is_array()) return not_a_listing(json);
  std::vector<ListedFile> files;
  for (const Json& entry : *entries)
    if (auto file = hub == Hub::hugging_face ? hugging_face_file(entry) : model_scope_file(entry))
      files.push_back(std::move(*file));
  return files;
}

}  // namespace hwtv::store
