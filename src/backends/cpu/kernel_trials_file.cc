#include "backends/cpu/kernel_trials_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "backends/cpu/types.h"
#include "base/file.h"

namespace hwtv::cpu {
namespace {

using Json = nlohmann::json;

// Goes up when what is timed, or how, changes: older files then say nothing.
constexpr int kFormat = 1;
constexpr int64_t kMostFileBytes = int64_t{4} << 20;
constexpr int64_t kMostElements = int64_t{1} << 40;  // of a row, of a column
constexpr int64_t kMostRows = 1 << 20;
constexpr double kMostSeconds = 1e6, kMostGain = 1e9;

std::optional<std::string> string_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// The whole number under `key` if it is one in [1, most].
std::optional<int64_t> count_of(const Json& object, const char* key, int64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<uint64_t>();
  if (value < 1 || value > static_cast<uint64_t>(most)) return std::nullopt;
  return static_cast<int64_t>(value);
}

// The number under `key` if it is one in (0, most].
std::optional<double> positive(const Json& object, const char* key, double most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!(value > 0 && value <= most)) return std::nullopt;
  return value;
}

// "2026-12-02"
bool is_date(const std::string& text) {
  if (text.size() != 10) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  return true;
}

std::optional<KernelTime> time_from(const Json& json, const TrialsKey& key) {
  if (!json.is_object()) return std::nullopt;
  const auto isa = string_of(json, "isa");
  const auto seconds = positive(json, "seconds", kMostSeconds);
  const auto gain = positive(json, "gain", kMostGain);
  if (!isa || !seconds || !gain) return std::nullopt;
  for (const Kernels* kernels : key.candidates)
    if (kernels->name == *isa) return KernelTime{kernels, *seconds, *gain};
  return std::nullopt;
}

// The times of all candidates, in their order.
std::optional<std::vector<KernelTime>> times_from(const Json& trial, const TrialsKey& key) {
  const auto found = trial.find("times");
  if (found == trial.end() || !found->is_array() || found->size() != key.candidates.size())
    return std::nullopt;
  std::vector<KernelTime> times;
  for (const Json& entry : *found) {
    const auto time = time_from(entry, key);
    if (!time || time->kernels != key.candidates[times.size()]) return std::nullopt;
    times.push_back(*time);
  }
  return times;
}

std::optional<KernelTrial> trial_from(const Json& json, const TrialsKey& key) {
  if (!json.is_object()) return std::nullopt;
  const auto type = string_of(json, "type"), date = string_of(json, "date");
  const auto packed = json.find("packed");
  const auto n_out = count_of(json, "n_out", kMostElements);
  const auto n_in = count_of(json, "n_in", kMostElements);
  const auto n_rows = count_of(json, "n_rows", kMostRows);
  auto times = times_from(json, key);
  if (!type || !date || !is_date(*date) || packed == json.end() || !packed->is_boolean() ||
      !n_out || !n_in || !n_rows || !times)
    return std::nullopt;
  const auto dtype = dtype_from_name(*type);
  if (!dtype || !weight_type(*dtype)) return std::nullopt;
  return KernelTrial{{*dtype, packed->get<bool>(), *n_out, *n_in, rows_class(*n_rows)},
                     *n_rows,
                     *date,
                     *std::move(times)};
}

Json names_of(const TrialsKey& key) {
  Json names = Json::array();
  for (const Kernels* kernels : key.candidates) names.push_back(kernels->name);
  return names;
}

std::optional<std::vector<KernelTrial>> trials_from(const Json& json, const TrialsKey& key) {
  if (!json.is_object() || json.value("format", Json()) != kFormat ||
      string_of(json, "fingerprint") != key.fingerprint ||
      json.value("n_threads", Json()) != key.n_threads ||
      json.value("candidates", Json()) != names_of(key))
    return std::nullopt;
  const auto found = json.find("trials");
  if (found == json.end() || !found->is_array() || found->size() > kMostTrials) return std::nullopt;
  std::vector<KernelTrial> trials;
  std::set<ProductKey> seen;
  for (const Json& entry : *found) {
    auto trial = trial_from(entry, key);
    if (!trial || !seen.insert(trial->key).second) return std::nullopt;
    trials.push_back(*std::move(trial));
  }
  return trials;
}

Json trial_json(const KernelTrial& trial) {
  Json times = Json::array();
  for (const KernelTime& time : trial.times)
    times.push_back({{"isa", time.kernels->name}, {"seconds", time.seconds}, {"gain", time.gain}});
  return {{"type", dtype_name(trial.key.dtype)},
          {"packed", trial.key.is_packed},
          {"n_out", trial.key.n_out},
          {"n_in", trial.key.n_in},
          {"n_rows", trial.n_rows},
          {"date", trial.date},
          {"times", times}};
}

}  // namespace

std::string TrialsKey::path(const std::string& folder) const {
  return fmt::format("{}/kernels-{}-{}.json", folder, fingerprint, n_threads);
}

TrialsKey trials_key(const hw::DeviceContext& device, const Kernels& rule) {
  return {device.machine().fingerprint, device.n_threads(), candidates(rule)};
}

std::string trials_document(std::span<const KernelTrial> trials, const TrialsKey& key) {
  Json json = {{"format", kFormat},
               {"fingerprint", key.fingerprint},
               {"n_threads", key.n_threads},
               {"candidates", names_of(key)},
               {"trials", Json::array()}};
  for (const KernelTrial& trial : trials) json["trials"].push_back(trial_json(trial));
  return json.dump(1) + "\n";
}

Result<std::vector<KernelTrial>> parse_trials(std::string_view document, const TrialsKey& key) {
  const Json json = Json::parse(document, nullptr, /*allow_exceptions=*/false);
  auto trials = json.is_discarded() ? std::nullopt : trials_from(json, key);
  if (!trials)
    return fail(ErrorCode::corrupt_file, "the kept trials are not those of this machine and team",
                "`hwtv kernels MODEL` tries the kernels anew");
  return *std::move(trials);
}

Result<std::vector<KernelTrial>> read_trials(const std::string& folder, const TrialsKey& key) {
  HWTV_TRY(const std::string document, read_file(key.path(folder), kMostFileBytes));
  return parse_trials(document, key);
}

Result<void> keep_trials(const std::string& folder, const TrialsKey& key,
                         std::span<const KernelTrial> trials) {
  HWTV_TRY_VOID(make_folders(folder));
  const auto last = trials.last(std::min(trials.size(), kMostTrials));
  return write_file_atomically(key.path(folder), trials_document(last, key));
}

}  // namespace hwtv::cpu
