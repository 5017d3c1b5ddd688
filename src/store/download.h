// One file from its address to its name in the model folder, through whatever the network and the
// server do on the way: what was fetched stays, and nothing bears the name that was not checked.
#pragma once
#include <cstdint>
#include <string>

#include "base/error.h"
#include "store/http_client.h"
#include "store/waiter.h"

namespace hwtv::store {

struct WantedFile {
  std::string url;
  std::string path;            // where it shall be
  std::string name;            // for messages
  int64_t size_bytes = -1;     // as its hub says; -1: not known
  std::string sha256;          // as its hub or the user says; empty: not known
  std::string token_variable;  // for advice; empty: no token is used for this address
};

struct FetchedFile {
  bool was_there = false;  // another process, or an earlier pull, had fetched it
  int64_t size_bytes = 0;
  int64_t resumed_bytes = 0;  // that an earlier pull had left
  int64_t n_attempts = 0;     // requests that it took
  std::string sha256;         // of the file on this disk; empty where it was there
};

// Fetches, checks and names the file.  Checked is the SHA-256 where it is known, otherwise that it
// is a GGUF file with all its tensors.  `retries`: how many attempts in a row may bring nothing.
// Errors: io for the network, the server and the disk, with what was fetched kept beside `path`;
// corrupt_file for bytes that are not what was promised, which are not kept; cancelled.
Result<FetchedFile> download(HttpClient& client, const WantedFile& wanted, int64_t retries,
                             Waiter& waiter);

// SHA-256 with the waiter's progress.  Errors: those of sha256_of_file.
Result<std::string> checked_sha256(const std::string& path, const std::string& name,
                                   Waiter& waiter);

// Errors: io, with both numbers, where the folder's disk has not the bytes.
Result<void> check_space(const std::string& folder, int64_t needed_bytes);

}  // namespace hwtv::store
