// One device as the engines share it: its thread team, its ledger, its measured rates.  Created by
// app (or a test) once per device; every engine on that device is given the same one.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/thread_team.h"
#include "hw/ledger.h"
#include "hw/machine.h"
#include "hw/measure.h"
#include "hw/rates.h"

namespace hwtv::hw {

class DeviceContext {
 public:
  struct Options {
    int n_threads = 0;              // 0: what the machine suggests (Device::n_threads)
    int64_t budget_bytes = 0;       // 0: what is available now (Device::available_bytes)
    std::string rates_folder = {};  // where what is measured of it is kept; empty: nowhere
  };

  // The CPU of `machine`.  Requires: n_threads >= 0, budget_bytes >= 0.
  DeviceContext(Machine machine, Options options);
  // This machine's CPU with every default, its rates kept in the cache folder.
  static std::unique_ptr<DeviceContext> open_cpu(int n_threads = 0);

  const std::string& name() const { return machine_.cpu().name; }  // "cpu:0"
  const Machine& machine() const { return machine_; }
  ThreadTeam& team() { return team_; }
  Ledger& ledger() { return ledger_; }
  int n_threads() const { return team_.n_threads(); }
  const std::string& thread_reason() const { return thread_reason_; }

  const std::string& rates_folder() const { return options_.rates_folder; }

  // Read from the rates folder, or measured (under 2 s) on the first call; lives as long as this.
  // Errors: out_of_memory.  Requires: nobody is running the team.
  Result<const Rates*> rates();
  // Why measured rates were not kept, one line; empty when they were.  After rates().
  const std::string& rates_warning() const { return rates_warning_; }

  // Measured now, by these threads, on a buffer of exactly n_bytes made of such pages as its
  // reader's bytes lie in.  Errors: out_of_memory. Requires: nobody is running the team; n_bytes >
  // 0.
  Result<ReadBandwidth> measure_read(int64_t n_bytes, Pages pages = Pages::ordinary);

 private:
  const Machine machine_;
  const Options options_;
  const std::string thread_reason_;
  ThreadTeam team_;
  Ledger ledger_;
  std::mutex rates_mutex_;
  std::optional<Rates> rates_;
  std::string rates_warning_;
};

}  // namespace hwtv::hw
