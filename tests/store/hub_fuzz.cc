// Any bytes as what a hub or a server says: a listing, header fields, addresses, names, a state
// file. Nothing that comes out of it may lead out of the model folder.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/file_choice.h"
#include "store/headers.h"
#include "store/hub.h"
#include "store/partial_file.h"
#include "store/source.h"
#include "store/url.h"

namespace hwtv {
namespace {

void check_path(std::string_view path) {
  CHECK(!path.empty() && path[0] != '/' && path.find("/../") == std::string_view::npos);
  CHECK(!path.starts_with("../") && !path.ends_with("/..") && path != "..");
  CHECK(path.find('\0') == std::string_view::npos && path.find('\n') == std::string_view::npos);
}

void check_error(const Error& error) {
  CHECK(!error.what.empty() && !error.advice.empty() && error.what.size() < 4000);
  for (const char c : error.what) CHECK(static_cast<unsigned char>(c) >= 0x20);
}

void check_listing(store::Hub hub, std::string_view text) {
  const auto files = store::parse_listing(hub, text);
  if (!files) return check_error(files.error());
  for (const store::ListedFile& file : *files) {
    check_path(file.path);
    CHECK(file.sha256.empty() || file.sha256.size() == 64);
  }
  for (const char* choice : {"", "Q4_K_M", "model.gguf"}) {
    const auto chosen = store::choose_files(*files, choice, "owner/repo");
    if (!chosen)
      check_error(chosen.error());
    else
      CHECK(!chosen->empty());
  }
}

void check_fields(std::string_view text) {
  if (const auto range = store::parse_content_range(text)) {
    CHECK(range->first <= range->last && (range->total < 0 || range->last < range->total));
    CHECK(range->first >= 0 || range->total >= 0);
  }
  if (const auto seconds = store::parse_retry_after(text, 1)) CHECK(*seconds >= 0);
  CHECK(store::next_page(text).size() <= text.size());
  const store::FileIdentity identity = store::parse_state(text);
  CHECK(identity.total_bytes >= -1 && (identity.sha256.empty() || identity.sha256.size() == 64));
}

void check_names(std::string_view text) {
  if (const auto name = store::parse_hub_name(text)) {
    check_path(name->owner + "/" + name->repo);
    if (!name->choice.empty()) check_path(name->choice);
  }
  const auto url = store::parse_url(text);
  if (!url) return check_error(url.error());
  CHECK(url->path.empty() || url->path[0] == '/');
  const auto again = store::parse_url(url->text());
  CHECK(again && again->text() == url->text());
  if (const auto name = store::hub_name_of(*url)) {
    check_path(name->owner + "/" + name->repo);
    if (!name->choice.empty()) check_path(name->choice);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_listing(store::Hub::hugging_face, text);
      break;
    case 1:
      check_listing(store::Hub::model_scope, text);
      break;
    case 2:
      check_fields(text);
      break;
    default:
      check_names(text);
  }
  return 0;
}

}  // namespace hwtv
