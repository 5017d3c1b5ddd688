// What a user names when a model is to be pulled: a repository of a hub, or an address.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "store/url.h"

namespace hwtv::store {

enum class Hub { hugging_face, model_scope };

struct HubName {
  std::string owner, repo;
  std::string choice;    // what choose_files() takes: a quantization, a file, or empty
  std::string revision;  // a branch, tag or commit; empty: the hub's own default
};

// "owner/repo", "owner/repo:Q4_K_M", "owner/repo:file.gguf"; nullopt: it is not of that form.
std::optional<HubName> parse_hub_name(std::string_view text);

// The repository (and file) that the address of a hub's page or file means: ".../owner/repo",
// ".../owner/repo/blob/main/file.gguf", ".../resolve/...", ".../tree/main".  nullopt: none.
std::optional<HubName> hub_name_of(const Url& url);

// Where a file is kept within the model folder: a relative path of plain names.  nullopt: it would
// lead elsewhere, or no file can be called so.
std::optional<std::string> safe_path(std::string_view path);

}  // namespace hwtv::store
