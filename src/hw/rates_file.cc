#include "hw/rates_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"

namespace hwtv::hw {
namespace {

using Json = nlohmann::json;

// Goes up when what is measured, or how, changes: older files are then measured anew.
constexpr int kFormat = 1;
constexpr int64_t kMostFileBytes = int64_t{1} << 20;
constexpr double kMostBytes = 1e18, kMostPerS = 1e18;

// The number under `key` if it is one in (0, most].
std::optional<double> positive(const Json& object, const char* key, double most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!(value > 0 && value <= most)) return std::nullopt;
  return value;
}

std::optional<std::string> string_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<ReadBandwidth> read_from(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto buffer_bytes = positive(json, "buffer_bytes", kMostBytes);
  const auto bytes_per_s = positive(json, "bytes_per_s", kMostPerS);
  const auto median = positive(json, "median_bytes_per_s", kMostPerS);
  const auto n_passes = positive(json, "n_passes", kMostBytes);
  const auto level = string_of(json, "level");
  if (!buffer_bytes || !bytes_per_s || !median || !n_passes || !level) return std::nullopt;
  if (*buffer_bytes < 1 || *n_passes < 1) return std::nullopt;
  return ReadBandwidth{static_cast<int64_t>(*buffer_bytes), *bytes_per_s, *median,
                       static_cast<int64_t>(*n_passes), *level};
}

std::optional<IsaPeak> isa_from(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto isa = string_of(json, "isa");
  const auto flops_per_s = positive(json, "flops_per_s", kMostPerS);
  const auto int8_ops_per_s = positive(json, "int8_ops_per_s", kMostPerS);
  if (!isa || !flops_per_s || !int8_ops_per_s) return std::nullopt;
  return IsaPeak{*isa, *flops_per_s, *int8_ops_per_s};
}

// The rates in a document of the right format and machine, each value in range.
std::optional<Rates> rates_from(const Json& json, const std::string& fingerprint) {
  if (!json.is_object() || json.value("format", Json()) != kFormat ||
      string_of(json, "fingerprint") != fingerprint)
    return std::nullopt;
  const auto n_threads = positive(json, "n_threads", 1 << 16);
  const auto measured_in_s = positive(json, "measured_in_s", 1e6);
  const auto cpu_share = positive(json, "cpu_share", 1e3);
  const auto read = json.find("read"), isas = json.find("isas");
  if (!n_threads || !measured_in_s || !cpu_share || read == json.end() || !read->is_array() ||
      read->empty() || isas == json.end() || !isas->is_array())
    return std::nullopt;
  Rates rates;
  rates.n_threads = static_cast<int>(*n_threads);
  rates.measured_in_s = *measured_in_s;
  rates.cpu_share = *cpu_share;
  for (const Json& entry : *read) {
    auto point = read_from(entry);
    if (!point) return std::nullopt;
    if (!rates.read.empty() && point->buffer_bytes <= rates.read.back().buffer_bytes)
      return std::nullopt;
    rates.read.push_back(*std::move(point));
  }
  for (const Json& entry : *isas) {
    auto peak = isa_from(entry);
    if (!peak) return std::nullopt;
    rates.isas.push_back(*std::move(peak));
  }
  return rates;
}

bool names_equal(const std::vector<IsaPeak>& peaks, const std::vector<std::string>& isas) {
  return std::equal(peaks.begin(), peaks.end(), isas.begin(), isas.end(),
                    [](const IsaPeak& peak, const std::string& isa) { return peak.isa == isa; });
}

}  // namespace

std::string rates_document(const Rates& rates, const std::string& fingerprint) {
  Json json = {{"format", kFormat},
               {"fingerprint", fingerprint},
               {"n_threads", rates.n_threads},
               {"measured_in_s", rates.measured_in_s},
               {"cpu_share", rates.cpu_share},
               {"read", Json::array()},
               {"isas", Json::array()}};
  for (const ReadBandwidth& point : rates.read)
    json["read"].push_back({{"buffer_bytes", point.buffer_bytes},
                            {"bytes_per_s", point.bytes_per_s},
                            {"median_bytes_per_s", point.median_bytes_per_s},
                            {"n_passes", point.n_passes},
                            {"level", point.level}});
  for (const IsaPeak& peak : rates.isas)
    json["isas"].push_back({{"isa", peak.isa},
                            {"flops_per_s", peak.flops_per_s},
                            {"int8_ops_per_s", peak.int8_ops_per_s}});
  return json.dump(1) + "\n";
}

std::string RatesKey::path(const std::string& folder) const {
  return fmt::format("{}/rates-{}-{}.json", folder, fingerprint, n_threads);
}

Result<Rates> parse_rates(std::string_view document, const RatesKey& key) {
  const Json json = Json::parse(document, nullptr, /*allow_exceptions=*/false);
  auto rates = json.is_discarded() ? std::nullopt : rates_from(json, key.fingerprint);
  if (!rates || rates->n_threads != key.n_threads || !names_equal(rates->isas, key.isas))
    return fail(ErrorCode::corrupt_file, "the kept rates are not those of this machine and team",
                "remove the file: the rates are then measured anew");
  return *std::move(rates);
}

Result<Rates> read_rates(const std::string& folder, const RatesKey& key) {
  HWTV_TRY(const std::string document, read_file(key.path(folder), kMostFileBytes));
  return parse_rates(document, key);
}

Result<void> keep_rates(const std::string& folder, const RatesKey& key, const Rates& rates) {
  HWTV_TRY_VOID(make_folders(folder));
  return write_file_atomically(key.path(folder), rates_document(rates, key.fingerprint));
}

}  // namespace hwtv::hw
