#include "tests/golden/golden_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "gguf/writer.h"
#include "tests/golden/generator.h"

namespace hwtv::golden {
namespace {

using nlohmann::json;

MetadataEntry read_entry(const json& entry) {
  const std::string key = entry.at("key");
  const std::string type = entry.at("type");
  if (type == "u32") return {key, entry.at("value").get<uint32_t>()};
  if (type == "f32") return {key, entry.at("value").get<float>()};
  if (type == "bool") return {key, entry.at("value").get<bool>()};
  if (type == "string") return {key, entry.at("value").get<std::string>()};
  CHECK(type == "array");
  const size_t n = entry.at("n_elements");
  const std::string element_type = entry.at("element_type");
  if (entry.contains("values") && element_type == "bool")
    return {key, entry.at("values").get<std::vector<bool>>()};
  if (entry.contains("values")) return {key, entry.at("values").get<std::vector<int32_t>>()};
  if (element_type == "string") return {key, StringArray{n}};
  if (element_type == "f32") return {key, FloatArray{n}};
  CHECK(element_type == "i32");
  return {key, IntArray{n}};
}

CaseTensor read_tensor(const std::string& golden_case, const json& tensor) {
  CaseTensor read{tensor.at("name"), tensor.at("shape"), {}, {}};
  int64_t n_elements = 1;
  for (const int64_t size : read.shape) n_elements *= size;
  if (tensor.value("type", "F32") == "MXFP4") {
    read.blocks = generate_mxfp4(golden_case, read.name, n_elements);
    return read;
  }
  if (tensor.contains("values"))
    read.values = tensor.at("values").get<std::vector<float>>();
  else
    read.values = generate_tensor(golden_case, read.name, n_elements);
  CHECK(static_cast<int64_t>(read.values.size()) == n_elements);
  return read;
}

// Puts one entry into the writer, by its type.
struct SetEntry {
  gguf::Writer& writer;
  const std::string& key;

  template <typename T>
  void operator()(const T& value) const {
    writer.set(key, value);
  }
  void operator()(const StringArray& array) const {
    std::vector<std::string> strings;
    for (size_t i = 0; i < array.n_elements; ++i) strings.push_back(fmt::format("t{}", i));
    writer.set_strings(key, strings);
  }
  void operator()(const FloatArray& array) const {
    writer.set_array(key, std::vector<float>(array.n_elements));
  }
  void operator()(const std::vector<int32_t>& values) const { writer.set_array(key, values); }
  void operator()(const std::vector<bool>& values) const {
    const auto copy = std::make_unique<bool[]>(values.size());
    std::copy(values.begin(), values.end(), copy.get());
    writer.set_array(key, std::span<const bool>(copy.get(), values.size()));
  }
  void operator()(const IntArray& array) const {
    writer.set_array(key, std::vector<int32_t>(array.n_elements, 1));
  }
};

}  // namespace

void CaseTensor::grow() {
  for (float& value : values) value *= 1.5f;
  for (ops::BlockMXFP4& block : blocks) ++block.exponent;
}

GoldenCase GoldenCase::read(const std::string& path) {
  std::ifstream stream(path);
  CHECK(stream.good());
  const json text = json::parse(stream);
  GoldenCase read;
  read.name = text.at("case");
  for (const json& entry : text.at("metadata")) read.metadata.push_back(read_entry(entry));
  for (const json& tensor : text.at("tensors"))
    read.tensors.push_back(read_tensor(read.name, tensor));
  read.prompt = generate_prompt(read.name, text.at("n_prompt_tokens"), text.at("vocab_size"));
  read.logit_rows = text.at("logit_rows").get<std::vector<int32_t>>();
  read.logits = text.at("logits").get<std::vector<std::vector<double>>>();
  return read;
}

std::vector<std::string> GoldenCase::list(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool GoldenCase::is_quantized() const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const CaseTensor& tensor) { return !tensor.blocks.empty(); });
}

void GoldenCase::write_gguf(const std::string& path) const {
  gguf::Writer writer;
  for (const MetadataEntry& entry : metadata) std::visit(SetEntry{writer, entry.key}, entry.value);
  for (const CaseTensor& tensor : tensors) {
    const bool is_f32 = tensor.blocks.empty();
    const auto bytes =
        is_f32 ? std::as_bytes(std::span(tensor.values)) : std::as_bytes(std::span(tensor.blocks));
    CHECK(writer.add_tensor(tensor.name, is_f32 ? DType::F32 : DType::MXFP4, tensor.shape, bytes));
  }
  CHECK(writer.write(path));
}

}  // namespace hwtv::golden
