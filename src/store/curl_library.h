// libcurl, opened when it is needed: linked, it would cost every command of this program 7 MiB of
// memory and 4 ms at its start for the thirty libraries that come with it.
#pragma once
#include <curl/curl.h>

#include "base/error.h"

namespace hwtv::store {

struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;

  // Opens and initialises it; it stays open.  Errors: unsupported where it is not installed.
  static Result<CurlLibrary> open();
};

}  // namespace hwtv::store
