// The ref backend against the ops' formulas in double precision, and the contract of a backend.
#include "tests/ops/backend_contract.h"
#include "tests/ops/ref_backend_maker.h"

namespace hwtv::test {
namespace {

[[maybe_unused]] const bool kRegistered =
    register_op_cases("ref", make_ref, {}) && register_backend_contract("ref", make_ref);

}  // namespace
}  // namespace hwtv::test
