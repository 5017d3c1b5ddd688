// The two hubs: where they are, which addresses they have for a repository's listing and files, and
// what their listings say.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/file_choice.h"
#include "store/source.h"

namespace hwtv::store {

// The value of an environment variable; empty: unset.
using Environment = std::function<std::string(const char*)>;

struct HubEndpoint {
  Hub hub = Hub::hugging_face;
  Url base;           // its mirror where the environment names one
  std::string token;  // empty: none
  const char* token_variable = "";
  const char* base_variable = "";
};

// Hugging Face: HF_ENDPOINT, HF_TOKEN.  ModelScope: MODELSCOPE_DOMAIN, MODELSCOPE_API_TOKEN.
// Errors: those of parse_url().
Result<HubEndpoint> hub_endpoint(Hub hub, const Environment& environment);

// The hub whose page or mirror an address belongs to, with the repository that it means.
struct HubPage {
  Hub hub;
  HubName name;
};
std::optional<HubPage> hub_page(const Url& url, const Environment& environment);

std::string hub_name(Hub hub);  // "Hugging Face"
std::string listing_url(const HubEndpoint& endpoint, const HubName& name);
std::string file_url(const HubEndpoint& endpoint, const HubName& name, const std::string& path);
std::string page_url(const HubEndpoint& endpoint, const HubName& name);  // for a person to open

// The files of one page of a listing.  A file whose path could not be kept (safe_path) is left out.
// Errors: corrupt_file.
Result<std::vector<ListedFile>> parse_listing(Hub hub, std::string_view json);

}  // namespace hwtv::store
