// The trials of a machine and number of threads as a small JSON document in the cache folder,
// beside the measured rates: read when a backend is made, written by `hwtv kernels`.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/kernel_choice.h"
#include "base/error.h"
#include "hw/device_context.h"

namespace hwtv::cpu {

// What a document must have been written for: this very machine, number of threads and list of
// candidates (the rule's first).
struct TrialsKey {
  std::string fingerprint;
  int n_threads = 0;
  std::vector<const Kernels*> candidates;

  std::string path(const std::string& folder) const;
};
TrialsKey trials_key(const hw::DeviceContext& device, const Kernels& rule);

std::string trials_document(std::span<const KernelTrial> trials, const TrialsKey& key);

// Errors: corrupt_file, for anything that trials_document has not written for `key`.  The text is
// taken as hostile.
Result<std::vector<KernelTrial>> parse_trials(std::string_view document, const TrialsKey& key);

// Errors: corrupt_file; io, when there is no such file.
Result<std::vector<KernelTrial>> read_trials(const std::string& folder, const TrialsKey& key);
// Keeps the last kMostTrials.  Creates the folder when missing.  Errors: io; then the file is as it
// was.
Result<void> keep_trials(const std::string& folder, const TrialsKey& key,
                         std::span<const KernelTrial> trials);
inline constexpr size_t kMostTrials = 2048;

}  // namespace hwtv::cpu
