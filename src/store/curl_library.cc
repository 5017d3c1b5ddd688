#include "store/curl_library.h"

#include "store/shared_library.h"

namespace hwtv::store {

Result<CurlLibrary> CurlLibrary::open() {
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (!library) library = open_library(name);
  if (!library)
    return fail(ErrorCode::unsupported,
                "libcurl is not on this machine, and only it can fetch files",
                "install it: apt-get install libcurl4");
  CurlLibrary curl{};
  const bool whole = find_function(library, "curl_global_init", curl.global_init) &&
                     find_function(library, "curl_easy_init", curl.easy_init) &&
                     find_function(library, "curl_easy_setopt", curl.easy_setopt) &&
                     find_function(library, "curl_easy_perform", curl.easy_perform) &&
                     find_function(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                     find_function(library, "curl_easy_reset", curl.easy_reset) &&
                     find_function(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                     find_function(library, "curl_easy_strerror", curl.easy_strerror) &&
                     find_function(library, "curl_slist_append", curl.slist_append) &&
                     find_function(library, "curl_slist_free_all", curl.slist_free_all);
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(ErrorCode::unsupported, "this machine's libcurl cannot be used",
                "install it anew: apt-get install --reinstall libcurl4");
  return curl;
}

}  // namespace hwtv::store
