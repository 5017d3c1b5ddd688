#include "tests/ops/ref_backend_maker.h"

#include <cstdint>

#include "backends/ref/ref_backend.h"
#include "base/thread_team.h"
#include "hw/ledger.h"

namespace hwtv::test {
namespace {

struct RefDevice {
  explicit RefDevice(int n_threads) : team(n_threads) {}
  ThreadTeam team;
  hw::Ledger ledger{"cpu:0", int64_t{1} << 40};
  ref::RefBackend backend{team, ledger};
};

}  // namespace

std::shared_ptr<ops::Backend> make_ref(int n_threads) {
  const auto device = std::make_shared<RefDevice>(n_threads);
  return {device, &device->backend};
}

}  // namespace hwtv::test
