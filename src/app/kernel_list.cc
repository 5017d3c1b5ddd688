#include "app/kernel_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/dtype.h"

namespace hwtv::app {
namespace {

bool is_one_row(const ProductChoice& choice) { return choice.key.rows == cpu::RowsClass::one; }

// "avx512vnni 12.1, avx2 8.0 GB/s": one row is bound by the weight's bytes, many by arithmetic.
std::string measured_text(const ProductChoice& choice) {
  if (choice.times.empty()) return "not tried";
  const double amount = is_one_row(choice) ? choice.weight_bytes() : choice.n_ops();
  std::string text;
  for (const cpu::KernelTime& time : choice.times)
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", time.kernels->name,
                        amount / time.seconds / 1e9);
  return text + (is_one_row(choice) ? " GB/s" : " Gop/s");
}

std::string shape_text(const cpu::ProductKey& key) {
  return fmt::format("{} {} x {}{}", dtype_name(key.dtype), key.n_out, key.n_in,
                     key.is_packed ? "" : " not packed");
}

}  // namespace

double ProductChoice::weight_bytes() const {
  return static_cast<double>(key.n_out * dtype_bytes(key.dtype, key.n_in));
}

double ProductChoice::n_ops() const {
  return 2 * static_cast<double>(n_rows) * static_cast<double>(key.n_out) *
         static_cast<double>(key.n_in);
}

std::string kernel_list_text(const KernelList& list) {
  std::string text =
      fmt::format("{} with {} thread{}; the rule: {}, {}\n\n", list.model, list.n_threads,
                  list.n_threads == 1 ? "" : "s", list.rule, list.rule_reason);
  text += fmt::format("{:<22} {:>5} {:>5}  {:<11} {}\n", "product", "count", "rows", "chosen",
                      "why, and what was measured");
  for (const ProductChoice& choice : list.products) {
    text +=
        fmt::format("{:<22} {:>5} {:>5}  {:<11} {}\n", shape_text(choice.key), choice.n_products,
                    is_one_row(choice) ? "1" : "many", choice.chosen, choice.why);
    text += fmt::format("{:<22} {:>5} {:>5}  {:<11} {}\n", "", "",
                        is_one_row(choice) ? "" : fmt::format("({})", choice.n_rows), "",
                        measured_text(choice));
  }
  text += fmt::format("\n{:<34} {:>5}  why\n", "other ops", "count");
  for (const OtherKernel& other : list.others)
    text += fmt::format("{:<34} {:>5}  rule: only products are tried\n", other.kernel, other.n_ops);
  return text;
}

std::string kernel_list_json(const KernelList& list) {
  using Json = nlohmann::ordered_json;
  Json products = Json::array(), others = Json::array();
  for (const ProductChoice& choice : list.products) {
    Json alternatives = Json::array();
    for (const cpu::KernelTime& time : choice.times)
      alternatives.push_back({{"isa", time.kernels->name},
                              {"seconds", time.seconds},
                              {"gain", time.gain},
                              {"bytes_per_s", choice.weight_bytes() / time.seconds},
                              {"ops_per_s", choice.n_ops() / time.seconds}});
    products.push_back({{"type", dtype_name(choice.key.dtype)},
                        {"packed", choice.key.is_packed},
                        {"n_out", choice.key.n_out},
                        {"n_in", choice.key.n_in},
                        {"rows", is_one_row(choice) ? "one" : "many"},
                        {"trial_rows", choice.n_rows},
                        {"count", choice.n_products},
                        {"chosen", choice.chosen},
                        {"why", choice.why},
                        {"measured", alternatives}});
  }
  for (const OtherKernel& other : list.others)
    others.push_back({{"kernel", other.kernel}, {"count", other.n_ops}});
  const Json json = {
      {"model", list.model}, {"fingerprint", list.fingerprint}, {"threads", list.n_threads},
      {"rule", list.rule},   {"rule_reason", list.rule_reason}, {"products", products},
      {"others", others}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hwtv::app
