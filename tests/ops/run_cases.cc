#include "tests/ops/run_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tests/ops/cases.h"

namespace hwtv::test {
namespace {

void expect_same_bytes(const ops::BytesByUse& predicted, const ops::BytesByUse& reserved) {
  EXPECT_EQ(predicted.weights, reserved.weights);
  EXPECT_EQ(predicted.packed_weights, reserved.packed_weights);
  EXPECT_EQ(predicted.kv, reserved.kv);
  EXPECT_EQ(predicted.activations, reserved.activations);
  EXPECT_EQ(predicted.staging, reserved.staging);
}

// One output value of one step.
void expect_output_close(const std::vector<float>& ours, const std::vector<double>& exact,
                         double tolerance) {
  ASSERT_EQ(ours.size(), exact.size());
  double exact_squares = 0, difference_squares = 0, worst = 0;
  size_t worst_at = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    // A result is a float: what lies between two floats is no error of the backend, nor is one
    // step of an element far above the root mean square.
    const double best = static_cast<double>(static_cast<float>(exact[i]));
    const double distance = std::fabs(static_cast<double>(ours[i]) - best);
    const double step = 0x1p-23 * std::fabs(best);
    const double difference = distance <= step ? 0 : distance - step;  // NaN stays NaN
    exact_squares += exact[i] * exact[i];
    difference_squares += difference * difference;
    if (difference > worst || std::isnan(difference)) worst = difference, worst_at = i;
  }
  const double n = static_cast<double>(ours.size());
  const double size = std::sqrt(exact_squares / n);
  EXPECT_LE(worst, tolerance * size) << "element " << worst_at << " of " << ours.size() << " is "
                                     << ours[worst_at] << ", exact " << exact[worst_at];
  if (ours.size() >= 64) {
    EXPECT_LE(std::sqrt(difference_squares / n), tolerance / 6 * size)
        << "root mean square of " << ours.size() << " differences";
  }
}

NaiveOutputs as_exact(const Outputs& outputs) {
  NaiveOutputs exact;
  for (const auto& step : outputs) {
    auto& values = exact.emplace_back();
    for (const auto& output : step) values.emplace_back(output.begin(), output.end());
  }
  return exact;
}

class OpCaseTest : public testing::Test {
 public:
  OpCaseTest(const NamedCase& named, const MakeBackend& make, const MakeBackend& make_oracle)
      : named_(named), make_(make), make_oracle_(make_oracle) {}

  void TestBody() override {
    const OpCase op_case = named_.make();
    const Outputs ours = run_case(op_case, *make_(2));
    if (HasFailure()) return;
    expect_close(
        op_case, ours,
        make_oracle_ ? as_exact(run_case(op_case, *make_oracle_(2))) : evaluate_naively(op_case));
  }

 private:
  const NamedCase named_;
  const MakeBackend make_;
  const MakeBackend make_oracle_;
};

}  // namespace

std::unique_ptr<ops::Executable> prepare_case(const OpCase& op_case, ops::Backend& backend) {
  const auto supported = backend.spec().supports(op_case.program, op_case.limits);
  EXPECT_TRUE(supported) << supported.error().what;
  std::vector<ops::WeightHandle> handles;
  for (size_t i = 0; i < op_case.weights.size(); ++i) {
    const auto handle = backend.import(op_case.program.weights[i], op_case.weights[i], {});
    EXPECT_TRUE(handle) << handle.error().what;
    if (!handle) return nullptr;
    handles.push_back(*handle);
  }
  auto executable = backend.prepare(op_case.program, op_case.limits, handles);
  EXPECT_TRUE(executable) << executable.error().what;
  if (!executable) return nullptr;
  expect_same_bytes(backend.spec().memory(op_case.program, op_case.limits),
                    (*executable)->reserved());
  EXPECT_EQ((*executable)->kernels().size(), op_case.program.ops.size());
  return std::move(*executable);
}

Outputs run_case(const OpCase& op_case, ops::Backend& backend) {
  const auto executable = prepare_case(op_case, backend);
  if (!executable) return {};
  Outputs outputs;
  const CaseInputs inputs(op_case);
  for (const CaseInput& input : inputs.steps()) {
    const auto result = backend.wait(*executable, backend.submit(*executable, input.step_input()));
    EXPECT_TRUE(result) << result.error().what;
    if (!result) return {};
    auto& step = outputs.emplace_back();
    for (const auto& output : result->outputs) step.emplace_back(output.begin(), output.end());
  }
  return outputs;
}

void expect_close(const OpCase& op_case, const Outputs& outputs, const NaiveOutputs& exact) {
  ASSERT_EQ(outputs.size(), exact.size());
  for (size_t step = 0; step < outputs.size(); ++step) {
    ASSERT_EQ(outputs[step].size(), exact[step].size());
    for (size_t i = 0; i < outputs[step].size(); ++i) {
      SCOPED_TRACE(testing::Message() << "step " << step << ", output " << i);
      expect_output_close(outputs[step][i], exact[step][i], op_case.tolerance);
    }
  }
}

bool register_op_cases(const std::string& name, MakeBackend make, MakeBackend make_oracle) {
  for (const NamedCase& named : op_cases())
    testing::RegisterTest(
        name.c_str(), named.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [=]() -> testing::Test* { return new OpCaseTest(named, make, make_oracle); });
  return true;
}

}  // namespace hwtv::test
