// Every measured run in one SQLite file, with the machine's fingerprint and our version, its size
// capped.  Opened by app and serve; several processes may use one file at once.  Nothing here may
// end a run: the caller prints an Error as one warning and goes on.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace hwtv::journal {

struct RunRecord {
  int64_t id = 0;           // given by append
  double time_s = 0;        // when the run began, seconds since 1970
  std::string version;      // of this program
  std::string fingerprint;  // of the machine: hw::Machine::fingerprint
  std::string command;      // "run", "perplexity"
  std::string model;        // its name
  std::string model_id;     // what tells two files of one name apart
  std::string account;      // the account as JSON; kept as it is
};

class Journal {
 public:
  static constexpr int64_t kDefaultCapBytes = int64_t{64} << 20;

  // Creates the folder and the file when missing.  A file that is no journal, or a broken one, is
  // moved aside and a new one begun: see notice().  Errors: io; unsupported, when a later version
  // of this program has written it.  Requires: cap_bytes >= 256 KiB.
  static Result<Journal> open(const std::string& path, int64_t cap_bytes = kDefaultCapBytes);
  // The journal of this user: state_folder()/journal.sqlite.
  static Result<Journal> open_default();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  // Stores the run whole or not at all and gives its id; drops the oldest runs above the cap.
  // Errors: io; invalid_request, when the record alone is above an eighth of the cap.
  Result<int64_t> append(const RunRecord& run);
  Result<std::vector<RunRecord>> list(int n_max) const;  // newest first, without their accounts
  Result<RunRecord> get(int64_t id) const;  // Errors: invalid_request, when there is no such run

  const std::string& notice() const;  // one line when a broken file was moved aside, else empty

 private:
  struct Database;
  explicit Journal(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace hwtv::journal
