// Measured rates as a small JSON document, kept between runs.  Used by DeviceContext.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hw/rates.h"

namespace hwtv::hw {

std::string rates_document(const Rates& rates, const std::string& fingerprint);

// Errors: corrupt_file, for anything that rates_document has not written for this very machine,
// number of threads and list of instruction sets (best first).  The text is taken as hostile.
Result<Rates> parse_rates(std::string_view document, const std::string& fingerprint, int n_threads,
                          const std::vector<std::string>& isas);

}  // namespace hwtv::hw
