#include "hw/device_context.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/folders.h"
#include "hw/rates_file.h"

namespace hwtv::hw {
namespace {

std::string reason_for(const Device& device, int n_threads_asked) {
  if (n_threads_asked == 0) return device.thread_reason;
  return fmt::format("as asked; the machine suggests {}: {}", device.n_threads,
                     device.thread_reason);
}

}  // namespace

DeviceContext::DeviceContext(Machine machine, Options options)
    : machine_(std::move(machine)),
      options_(std::move(options)),
      thread_reason_(reason_for(machine_.cpu(), options_.n_threads)),
      team_(options_.n_threads > 0 ? options_.n_threads : machine_.cpu().n_threads),
      ledger_(machine_.cpu().name,
              options_.budget_bytes > 0 ? options_.budget_bytes : machine_.cpu().available_bytes) {}

std::unique_ptr<DeviceContext> DeviceContext::open_cpu(int n_threads) {
  return std::make_unique<DeviceContext>(
      this_machine(), Options{.n_threads = n_threads, .rates_folder = cache_folder()});
}

Result<const Rates*> DeviceContext::rates() {
  std::lock_guard<std::mutex> lock(rates_mutex_);
  if (rates_) return &*rates_;
  const std::string& folder = options_.rates_folder;
  const RatesKey key = {machine_.fingerprint, n_threads(), runnable_isas()};
  if (!folder.empty())
    if (auto kept = read_rates(folder, key)) return &rates_.emplace(*std::move(kept));
  HWTV_TRY(Rates measured, measure_rates(team_, machine_.cpu()));
  rates_ = std::move(measured);
  if (folder.empty()) return &*rates_;
  if (rates_->is_disturbed()) {
    rates_warning_ = fmt::format(
        "the measured rates are not kept: the machine was busy, {:.0f} % of the CPU time was to be "
        "had",
        100 * rates_->cpu_share);
  } else if (const auto written = keep_rates(folder, key, *rates_); !written) {
    rates_warning_ = fmt::format("the measured rates are not kept: {}", written.error().what);
  }
  return &*rates_;
}

Result<ReadBandwidth> DeviceContext::measure_read(int64_t n_bytes, Pages pages) {
  CHECK(n_bytes > 0);
  HWTV_TRY(const Reservation held, ledger_.reserve(Use::staging, "bandwidth probe", n_bytes));
  HWTV_TRY(ReadBandwidth read, measure_read_bandwidth(team_, n_bytes, pages));
  read.level = memory_level(machine_.cpu(), static_cast<double>(n_bytes));
  return read;
}

}  // namespace hwtv::hw
