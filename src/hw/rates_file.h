// Measured rates as a small JSON document, kept between runs: one file for each machine and number
// of threads.  Used by DeviceContext.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hw/rates.h"

namespace hwtv::hw {

// What a document must have been written for: this very machine, number of threads and list of
// instruction sets (best first).
struct RatesKey {
  std::string fingerprint;
  int n_threads = 0;
  std::vector<std::string> isas;

  std::string path(const std::string& folder) const;
};

std::string rates_document(const Rates& rates, const std::string& fingerprint);

// Errors: corrupt_file, for anything that rates_document has not written for `key`.  The text is
// taken as hostile.
Result<Rates> parse_rates(std::string_view document, const RatesKey& key);

// Errors: corrupt_file; io, when there is no such file.
Result<Rates> read_rates(const std::string& folder, const RatesKey& key);
// Creates the folder when missing.  Errors: io; then the file is as it was.
Result<void> keep_rates(const std::string& folder, const RatesKey& key, const Rates& rates);

}  // namespace hwtv::hw
