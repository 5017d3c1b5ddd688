#include "store/pull.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/quoted.h"
#include "base/units.h"
#include "gguf/split_name.h"
#include "store/download.h"
#include "store/listing.h"
#include "store/model_cache.h"
#include "store/sha256.h"
#include "store/words.h"

namespace hwtv::store {
namespace {

// What is to be fetched, before anything is.
struct Order {
  std::string name, source;
  std::optional<Token> token;
  std::vector<WantedFile> files;
  bool by_hub = false;  // its sizes and hashes are the hub's
};

Result<Order> order_from_hub(const PullRequest& request, Hub hub, HubName name, Http& http,
                             const Environment& environment, Waiter& waiter) {
  if (!request.revision.empty()) name.revision = request.revision;
  HWTV_TRY(const HubEndpoint endpoint, hub_endpoint(hub, environment));
  Order order;
  order.by_hub = true;
  order.source = hub_name(hub);
  order.token = Token{endpoint.base, endpoint.token};
  const std::string place = name.owner + "/" + name.repo;
  order.name = name.choice.empty() ? place : place + ":" + name.choice;
  if (!endpoint.token.empty() && !is_private(endpoint.base))
    waiter.note(fmt::format("{} is not sent to {}: it is not encrypted", endpoint.token_variable,
                            endpoint.base.origin()));
  HttpClient client(http, order.token);
  HWTV_TRY(const auto files, fetch_listing(client, endpoint, name, request.retries, waiter));
  HWTV_TRY(const auto parts, choose_files(files, name.choice, place));
  for (const ListedFile& part : parts)
    order.files.push_back({file_url(endpoint, name, part.path),
                           model_folder() + "/" + place + "/" + part.path, part.path,
                           part.size_bytes, part.sha256, endpoint.token_variable});
  return order;
}

Result<Order> order_from_url(const Url& url) {
  const size_t slash = url.path.rfind('/');
  const std::string name = percent_decoded(url.path.substr(slash + 1));
  if (!safe_path(name) || name.find('/') != std::string::npos || !name.ends_with(kExtension))
    return fail(ErrorCode::invalid_request,
                fmt::format("the last part of the address is no name of a GGUF file: {}",
                            hwtv::quoted(name)),
                "give the address of a file whose name ends in .gguf");
  Order order;
  order.name = name;
  order.source = url.origin();
  const auto split = gguf::parse_split_name(name);
  for (int64_t part = 1; part <= (split ? split->n_parts : 1); ++part) {
    const std::string file = split ? gguf::split_path(split->stem, part, split->n_parts) : name;
    Url address = url;
    address.path = url.path.substr(0, slash + 1) + percent_encoded(file);
    order.files.push_back({address.text(), model_folder() + "/" + file, file, -1, "", ""});
  }
  return order;
}

Result<Order> make_order(const PullRequest& request, Http& http, const Environment& environment,
                         Waiter& waiter) {
  if (request.name.find("://") != std::string::npos) {
    HWTV_TRY(const Url url, parse_url(request.name));
    if (auto page = hub_page(url, environment))
      return order_from_hub(request, page->hub, std::move(page->name), http, environment, waiter);
    return order_from_url(url);
  }
  const auto name = parse_hub_name(request.name);
  if (!name)
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{} is neither a repository nor an address", hwtv::quoted(request.name)),
        "give owner/repo, owner/repo:Q4_K_M, or an address that begins with https://");
  return order_from_hub(request, request.hub, *name, http, environment, waiter);
}

// The user's hashes go before the hub's.
Result<void> take_hashes(const std::vector<std::string>& sha256s, Order& order) {
  if (sha256s.empty()) return {};
  if (sha256s.size() != order.files.size())
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{} SHA-256 given, the model has {} files", sha256s.size(), order.files.size()),
        "give --sha256 once for each file, in their order");
  for (size_t i = 0; i < sha256s.size(); ++i) {
    const std::string sha256 = sha256_text(sha256s[i]);
    if (sha256.empty())
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} is no SHA-256", hwtv::quoted(sha256s[i])), "give 64 hex digits");
    if (!order.files[i].sha256.empty() && order.files[i].sha256 != sha256)
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} has SHA-256 {} as its hub says, {} was asked for",
                              order.files[i].name, order.files[i].sha256, sha256),
                  "choose another revision, or leave --sha256 out");
    order.files[i].sha256 = sha256;
  }
  return {};
}

// The file where it is here and is what was asked for; nullopt: it is not here.
Result<std::optional<PulledFile>> find_here(const WantedFile& wanted, Waiter& waiter) {
  std::error_code code;
  if (!std::filesystem::exists(wanted.path, code)) return std::optional<PulledFile>();
  PulledFile file;
  file.path = wanted.path;
  file.was_there = true;
  file.size_bytes = static_cast<int64_t>(std::filesystem::file_size(wanted.path, code));
  HWTV_TRY(file.sha256, checked_sha256(wanted.path, wanted.name, waiter));
  const bool same_size = wanted.size_bytes < 0 || wanted.size_bytes == file.size_bytes;
  if (same_size && (wanted.sha256.empty() || wanted.sha256 == file.sha256))
    return std::optional(file);
  return fail(
      ErrorCode::invalid_request,
      fmt::format("{} is here already and is another file: {} bytes with SHA-256 {}", wanted.path,
                  file.size_bytes, file.sha256),
      fmt::format("remove it first: hwtv rm {}", wanted.path.substr(model_folder().size() + 1)));
}

// What the disk must take, together; the parts that came before count.
Result<void> check_order_space(const std::vector<WantedFile>& files) {
  int64_t needed_bytes = 0;
  for (const WantedFile& file : files) {
    std::error_code code;
    const auto here = std::filesystem::file_size(file.path + ".part", code);
    const int64_t here_bytes = code ? 0 : static_cast<int64_t>(here);
    needed_bytes += std::max<int64_t>(0, file.size_bytes - here_bytes);
  }
  return check_space(model_folder(), needed_bytes);
}

Result<PulledFile> fetch(HttpClient& client, const WantedFile& wanted, int64_t retries,
                         Waiter& waiter) {
  HWTV_TRY_VOID(make_folders(std::filesystem::path(wanted.path).parent_path().string()));
  HWTV_TRY(const FetchedFile fetched, download(client, wanted, retries, waiter));
  if (fetched.was_there) {  // since we looked: another process has brought it
    HWTV_TRY(const auto here, find_here(wanted, waiter));
    if (here) return *here;
  }
  return PulledFile{wanted.path,
                    fetched.size_bytes,
                    fetched.resumed_bytes,
                    fetched.n_attempts,
                    false,
                    fetched.sha256,
                    ""};
}

}  // namespace

Result<PulledModel> pull(const PullRequest& request, Http& http, const Environment& environment,
                         Waiter& waiter) {
  if (model_folder().empty())
    return fail(ErrorCode::io, "there is no folder for models: this user has no home",
                "set HWTV_CACHE to a folder of yours");
  HWTV_TRY_VOID(make_folders(model_folder()));
  HWTV_TRY(Order order, make_order(request, http, environment, waiter));
  HWTV_TRY_VOID(take_hashes(request.sha256s, order));
  std::vector<std::optional<PulledFile>> here;
  std::vector<WantedFile> lacking;
  for (const WantedFile& wanted : order.files) {
    HWTV_TRY(here.emplace_back(), find_here(wanted, waiter));
    if (!here.back()) lacking.push_back(wanted);
  }
  HWTV_TRY_VOID(check_order_space(lacking));
  HttpClient client(http, order.token);
  PulledModel model{order.name, order.source, {}};
  for (size_t i = 0; i < order.files.size(); ++i) {
    const WantedFile& wanted = order.files[i];
    if (!here[i]) {
      HWTV_TRY(here[i], fetch(client, wanted, request.retries, waiter));
    }
    here[i]->checked_by = wanted.sha256.empty() ? "" : request.sha256s.empty() ? "hub" : "user";
    model.files.push_back(std::move(*here[i]));
  }
  return model;
}

}  // namespace hwtv::store
