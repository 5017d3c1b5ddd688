#include "store/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace hwtv::store {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<CurlLibrary> CurlLibrary::open() {
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(ErrorCode::unsupported,
                "libcurl is not on this machine, and only it can fetch files",
                "install it: apt-get install libcurl4");
  CurlLibrary curl{};
  const bool whole = find(library, "curl_global_init", curl.global_init) &&
                     find(library, "curl_easy_init", curl.easy_init) &&
                     find(library, "curl_easy_setopt", curl.easy_setopt) &&
                     find(library, "curl_easy_perform", curl.easy_perform) &&
                     find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                     find(library, "curl_easy_reset", curl.easy_reset) &&
                     find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                     find(library, "curl_easy_strerror", curl.easy_strerror) &&
                     find(library, "curl_slist_append", curl.slist_append) &&
                     find(library, "curl_slist_free_all", curl.slist_free_all);
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(ErrorCode::unsupported, "this machine's libcurl cannot be used",
                "install it anew: apt-get install --reinstall libcurl4");
  return curl;
}

}  // namespace hwtv::store
