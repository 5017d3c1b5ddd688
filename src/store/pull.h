// `hwtv pull`: a model from a hub or an address into the model folder.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/http.h"
#include "store/hub.h"
#include "store/waiter.h"

namespace hwtv::store {

struct PullRequest {
  std::string name;  // "owner/repo[:quant]" or an address
  Hub hub = Hub::hugging_face;
  std::string revision;              // empty: the hub's default
  std::vector<std::string> sha256s;  // one for each part, in their order; empty: the hub's, if any
  int64_t retries = 5;
};

struct PulledFile {
  std::string path;
  int64_t size_bytes = 0, resumed_bytes = 0;
  int64_t n_attempts = 0;
  bool was_there = false;
  std::string sha256;
  std::string checked_by;  // whose SHA-256 it was held against: "hub", "user"; empty: nobody's
};

struct PulledModel {
  std::string name;    // as other commands take it
  std::string source;  // "Hugging Face", "ModelScope" or the address's origin
  std::vector<PulledFile> files;
};

// Files that are here already are checked and not fetched.  Errors: those of fetch_listing(),
// choose_files() and download(); invalid_request where another file of that name is here.
Result<PulledModel> pull(const PullRequest& request, Http& http, const Environment& environment,
                         Waiter& waiter);

}  // namespace hwtv::store
