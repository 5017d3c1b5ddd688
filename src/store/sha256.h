// SHA-256 by OpenSSL's libcrypto, which is opened when it is needed, as libcurl is.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hwtv::store {

// 64 hex digits of a file.  `progress` gets the bytes read so far; false from it: cancelled.
// Errors: io, cancelled; unsupported where libcrypto is missing.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(int64_t done_bytes)>& progress);

// 64 hex digits in lower case; empty where the text is none ("sha256:" before them is taken off).
std::string sha256_text(std::string_view text);

}  // namespace hwtv::store
