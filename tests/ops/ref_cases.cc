// The ref backend against the ops' formulas in double precision.
#include "tests/ops/ref_backend_maker.h"

namespace hwtv::test {
namespace {

[[maybe_unused]] const bool kRegistered = register_op_cases("ref", make_ref, {});

}  // namespace
}  // namespace hwtv::test
