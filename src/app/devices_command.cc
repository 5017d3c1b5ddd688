#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/session.h"
#include "base/units.h"
#include "hw/device_context.h"

namespace hwtv::app {
namespace {

struct DevicesOptions {
  int64_t threads = 0;
  int64_t bandwidth_bytes = 0;
  bool json = false;
};

std::string caches_text(const hw::Device& cpu) {
  if (cpu.caches.empty()) return "not observable here";
  std::string text;
  for (const hw::CacheLevel& cache : cpu.caches)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cache.name,
                        format_bytes(static_cast<double>(cache.total_bytes)));
  return text;
}

std::string devices_text(hw::DeviceContext& device, const hw::Rates& rates) {
  const hw::Machine& machine = device.machine();
  const hw::Device& cpu = machine.cpu();
  std::string text =
      fmt::format("{}  {}: {} threads, {} usable\n\n", cpu.name, cpu.model, device.n_threads(),
                  format_bytes(static_cast<double>(cpu.available_bytes)));
  text += fmt::format("threads   {}: {}\n", device.n_threads(), device.thread_reason());
  text +=
      fmt::format("cpus      {} usable, {} physical cores{}\n", cpu.n_cpus, cpu.n_cores,
                  cpu.quota_cpus > 0 ? fmt::format(", quota of {:.2f} CPUs", cpu.quota_cpus) : "");
  text += fmt::format("memory    {} of {} ({})\n",
                      format_bytes(static_cast<double>(cpu.available_bytes)),
                      format_bytes(static_cast<double>(cpu.memory_bytes)), cpu.memory_limit);
  text += fmt::format("caches    {}\n", caches_text(cpu));
  text += fmt::format("machine   {}, kernel {}, virtualization {}\n\n", machine.fingerprint,
                      machine.kernel, machine.virtualization);
  text += fmt::format("measured with {} threads\n", rates.n_threads);
  for (const hw::ReadBandwidth& read : rates.read)
    text += fmt::format("  read {:>10}  {:>10}  from {}\n",
                        format_bytes(static_cast<double>(read.buffer_bytes)),
                        format_bandwidth(read.bytes_per_s), read.level);
  for (const hw::IsaPeak& peak : rates.isas)
    text += fmt::format("  {:<12} int8 {:>7.1f} Gop/s   f32 {:>7.1f} GFLOP/s\n", peak.isa,
                        peak.int8_ops_per_s / 1e9, peak.flops_per_s / 1e9);
  for (const std::string& unknown : machine.unknown)
    text += fmt::format("not observable here: {}\n", unknown);
  text += "next: hwtv run MODEL -p TEXT shows a model's speed as a share of these\n";
  return text;
}

nlohmann::ordered_json read_json(const hw::ReadBandwidth& read) {
  return {{"buffer_bytes", read.buffer_bytes},
          {"bytes_per_s", read.bytes_per_s},
          {"median_bytes_per_s", read.median_bytes_per_s},
          {"level", read.level},
          {"passes", read.n_passes}};
}

std::string devices_json(hw::DeviceContext& device, const hw::Rates& rates) {
  using Json = nlohmann::ordered_json;
  const hw::Machine& machine = device.machine();
  const hw::Device& cpu = machine.cpu();
  Json caches = Json::array(), reads = Json::array(), isas = Json::array();
  for (const hw::CacheLevel& cache : cpu.caches)
    caches.push_back(
        {{"name", cache.name}, {"bytes", cache.total_bytes}, {"instances", cache.n_instances}});
  for (const hw::ReadBandwidth& read : rates.read) reads.push_back(read_json(read));
  for (const hw::IsaPeak& peak : rates.isas)
    isas.push_back({{"isa", peak.isa},
                    {"int8_ops_per_s", peak.int8_ops_per_s},
                    {"flops_per_s", peak.flops_per_s}});
  const Json json = {
      {"fingerprint", machine.fingerprint},
      {"kernel", machine.kernel},
      {"virtualization", machine.virtualization},
      {"devices",
       {{{"name", cpu.name},
         {"model", cpu.model},
         {"cpus", cpu.n_cpus},
         {"cores", cpu.n_cores},
         {"quota_cpus", cpu.quota_cpus > 0 ? Json(cpu.quota_cpus) : Json(nullptr)},
         {"threads", device.n_threads()},
         {"thread_reason", device.thread_reason()},
         {"memory_bytes", cpu.memory_bytes},
         {"available_bytes", cpu.available_bytes},
         {"memory_limit", cpu.memory_limit},
         {"caches", caches},
         {"measured", {{"threads", rates.n_threads}, {"read", reads}, {"peaks", isas}}}}}},
      {"not_observable", machine.unknown}};
  return json.dump(2) + "\n";
}

Result<int> bandwidth(hw::DeviceContext& device, const DevicesOptions& options) {
  HWTV_TRY(const hw::ReadBandwidth read, device.measure_read(options.bandwidth_bytes));
  Output output;
  HWTV_TRY_VOID(output.write(
      options.json
          ? read_json(read).dump(2) + "\n"
          : fmt::format("{} from {}: {} read by {} threads (median of {} passes {})\n",
                        format_bandwidth(read.bytes_per_s), read.level,
                        format_bytes(static_cast<double>(read.buffer_bytes)), device.n_threads(),
                        read.n_passes, format_bandwidth(read.median_bytes_per_s))));
  return kExitOk;
}

Result<int> devices(const DevicesOptions& options) {
  if (options.threads < 0 || options.threads > kMostThreads)
    return fail(ErrorCode::invalid_request, fmt::format("--threads is {}", options.threads),
                fmt::format("use 1 to {}, or leave it out", kMostThreads));
  if (options.bandwidth_bytes < 0)
    return fail(ErrorCode::invalid_request,
                fmt::format("--bandwidth is {} bytes", options.bandwidth_bytes),
                "give a positive number such as 2147483648");
  const auto device = hw::DeviceContext::open_cpu(static_cast<int>(options.threads));
  if (options.bandwidth_bytes > 0) return bandwidth(*device, options);
  HWTV_TRY(const hw::Rates* rates, device->rates());
  if (!device->rates_warning().empty()) note("hwtv: {}\n", device->rates_warning());
  Output output;
  HWTV_TRY_VOID(
      output.write(options.json ? devices_json(*device, *rates) : devices_text(*device, *rates)));
  return kExitOk;
}

}  // namespace

Command make_devices_command() {
  auto options = std::make_shared<DevicesOptions>();
  Command command;
  command.name = "devices";
  command.summary = "Show what of this machine can be used, in numbers";
  command.example = "hwtv devices\n  hwtv devices --bandwidth 2147483648";
  command.options = {
      {"--threads", "N", "measure with N threads (default: one for each usable core)",
       &options->threads},
      {"--bandwidth", "BYTES", "measure now how fast a buffer of so many bytes is read",
       &options->bandwidth_bytes},
      {"--json", "", "print one JSON object", &options->json},
  };
  command.run = [options] { return devices(*options); };
  return command;
}

}  // namespace hwtv::app
