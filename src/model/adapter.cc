#include "model/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/units.h"

namespace hwtv::model {
namespace {

constexpr std::string_view kSuffixA = ".lora_a";
constexpr std::string_view kSuffixB = ".lora_b";
constexpr const char* kConvertAgain = "fetch the adapter again, or convert it again";

// A matrix of floats of some kind.
Result<void> check_matrix(const gguf::TensorInfo& tensor) {
  if (tensor.shape.size() == 3)
    return fail(
        ErrorCode::unsupported,
        fmt::format("the adapter's {} has the shape {}: of experts, which cannot be adapted",
                    tensor.name, format_shape(tensor.shape)),
        "use an adapter of the attention's matrices");
  if (tensor.shape.size() != 2)
    return fail(ErrorCode::corrupt_file,
                fmt::format("the adapter's {} has the shape {}, expected a matrix", tensor.name,
                            format_shape(tensor.shape)),
                kConvertAgain);
  HWTV_TRY(const DType dtype, tensor.require_dtype());
  if (dtype == DType::I32)
    return fail(ErrorCode::corrupt_file,
                fmt::format("the adapter's {} is of integers (I32)", tensor.name), kConvertAgain);
  return {};
}

tl::unexpected<Error> misfit(const Adapter::Pair& pair, const gguf::TensorInfo& base) {
  return fail(ErrorCode::invalid_request,
              fmt::format("the adapter's pair for {} is {} and {}; the model's tensor is {}",
                          pair.tensor, format_shape(pair.a->shape), format_shape(pair.b->shape),
                          format_shape(base.shape)),
              "use the adapter with the model that it was trained on");
}

}  // namespace

Result<Adapter> Adapter::open(const std::string& path, float scale) {
  HWTV_TRY(gguf::File file, gguf::File::open(path));
  return from_file(std::move(file), scale);
}

Result<Adapter> Adapter::from_file(gguf::File file, float scale) {
  Adapter adapter(std::move(file), scale);
  HWTV_TRY_VOID(adapter.check_kind());
  HWTV_TRY_VOID(adapter.read_pairs());
  HWTV_TRY_VOID(adapter.set_scales());
  return adapter;
}

Result<void> Adapter::check_kind() const {
  HWTV_TRY(const auto type, file_.get<std::string_view>("general.type"));
  if (type != "adapter")
    return fail(ErrorCode::invalid_request,
                fmt::format("{} is no adapter: its general.type is {}", name(),
                            type ? fmt::format("'{}'", *type) : "missing"),
                "use a GGUF file that convert_lora_to_gguf.py wrote; a model goes without --lora");
  HWTV_TRY(const auto kind, file_.require<std::string_view>("adapter.type"));
  if (kind != "lora")
    return fail(ErrorCode::unsupported,
                fmt::format("{} is an adapter of type '{}'; only 'lora' can be used", name(), kind),
                "use a LoRA adapter");
  if (file_.find("adapter.alora.invocation_tokens") != nullptr)
    return fail(
        ErrorCode::unsupported,
        fmt::format("{} is an activated LoRA (adapter.alora.invocation_tokens), which works "
                    "from certain tokens on",
                    name()),
        "use a plain LoRA adapter");
  return {};
}

Result<void> Adapter::read_pairs() {
  std::map<std::string_view, Pair> found;
  for (const gguf::TensorInfo& tensor : file_.tensors()) {
    const bool is_a = tensor.name.ends_with(kSuffixA);
    if (!is_a && !tensor.name.ends_with(kSuffixB))
      return fail(
          ErrorCode::unsupported,
          fmt::format("the adapter has a tensor {}, which is no lora_a and no lora_b: answers "
                      "without it would be wrong",
                      tensor.name),
          "convert an adapter of LoRA pairs only");
    HWTV_TRY_VOID(check_matrix(tensor));
    const std::string_view base = tensor.name.substr(0, tensor.name.size() - kSuffixA.size());
    if (base == "token_embd.weight")  // with tied weights the output's matrix too
      return fail(ErrorCode::unsupported,
                  fmt::format("{} adapts {}, whose rows are looked up", name(), base),
                  "use an adapter of the matrices of attention and of feed-forward networks");
    Pair& pair = found.try_emplace(base, Pair{base, nullptr, nullptr, 0}).first->second;
    (is_a ? pair.a : pair.b) = &tensor;
  }
  if (found.empty())
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no tensors", name()), kConvertAgain);
  for (const auto& [tensor, pair] : found) {
    if (pair.a == nullptr || pair.b == nullptr)
      return fail(ErrorCode::corrupt_file,
                  fmt::format("the adapter has {0}{1} without {0}{2}", tensor,
                              pair.a ? kSuffixA : kSuffixB, pair.a ? kSuffixB : kSuffixA),
                  kConvertAgain);
    if (pair.rank() != pair.b->shape[0])
      return fail(
          ErrorCode::corrupt_file,
          fmt::format("the ranks of the adapter's pair for {} differ: {} in lora_a ({}), {} in "
                      "lora_b ({})",
                      tensor, pair.rank(), format_shape(pair.a->shape), pair.b->shape[0],
                      format_shape(pair.b->shape)),
          kConvertAgain);
    pairs_.push_back(pair);
  }
  return {};
}

// An alpha of 0, or none, leaves the rank out of it.
Result<void> Adapter::set_scales() {
  HWTV_TRY(const auto alpha, file_.get<double>("adapter.lora.alpha"));
  if (alpha && !(std::abs(*alpha) <= std::numeric_limits<float>::max()))
    return fail(ErrorCode::corrupt_file,
                fmt::format("adapter.lora.alpha is {}, expected a number that F32 holds", *alpha),
                kConvertAgain);
  for (Pair& pair : pairs_) {
    pair.scale = scale_;
    if (alpha && *alpha != 0)
      pair.scale = scale_ * static_cast<float>(*alpha) / static_cast<float>(pair.rank());
  }
  return {};
}

Result<void> Adapter::check_base(const gguf::File& model) const {
  HWTV_TRY(const auto own, file_.require<std::string_view>("general.architecture"));
  HWTV_TRY(const auto base, model.require<std::string_view>("general.architecture"));
  if (own != base)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} adapts a {} model, and this is a {} model", name(), own, base),
                "use the adapter with the model that it was trained on");
  for (const Pair& pair : pairs_) {
    const gguf::TensorInfo* tensor = model.find_tensor(pair.tensor);
    if (tensor == nullptr)
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} adapts {}, which the model does not have", name(), pair.tensor),
                  "use the adapter with the model that it was trained on");
    const std::vector<int64_t>& shape = tensor->shape;
    const int64_t n_out = shape.size() == 2 ? shape[1] : 1;
    if (shape.empty() || shape.size() > 2 || pair.a->shape[0] != shape[0] ||
        pair.b->shape[1] != n_out)
      return misfit(pair, *tensor);
  }
  return {};
}

std::string Adapter::name() const {
  const std::string& path = file_.path();
  return path.substr(path.rfind('/') + 1);
}

const Adapter::Pair* Adapter::find(std::string_view tensor) const {
  const auto at = std::ranges::lower_bound(pairs_, tensor, {}, &Pair::tensor);
  return at != pairs_.end() && at->tensor == tensor ? &*at : nullptr;
}

int64_t Adapter::n_bytes() const {
  int64_t n_bytes = 0;
  for (const Pair& pair : pairs_) n_bytes += pair.a->n_bytes + pair.b->n_bytes;
  return n_bytes;
}

}  // namespace hwtv::model
