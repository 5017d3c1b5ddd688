#include "observe/trace.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace hwtv::observe {
namespace {

constexpr int kStepTrack = 1, kOpTrack = 2;

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_name(std::string& out, const char* kind, int track, std::string_view name) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"ph":"M","pid":1,"tid":{},"name":"{}","args":{{"name":)", track, kind);
  append_quoted(out, name);
  out += "}},\n";
}

// A complete event ("X") up to the beginning of its arguments; times are in microseconds.
void begin_event(std::string& out, int track, std::string_view name, double start_s,
                 double seconds) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"ph":"X","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f},"name":)", track,
                 start_s * 1e6, seconds * 1e6);
  append_quoted(out, name);
  out += R"(,"args":{)";
}

void append_work(std::string& out, const hw::Work& work, double seconds) {
  fmt::format_to(std::back_inserter(out), R"("bytes":{:.0f},"flops":{:.0f},"int8_ops":{:.0f})",
                 work.moved_bytes(), work.flops, work.int8_ops);
  if (seconds > 0)
    fmt::format_to(std::back_inserter(out), R"(,"GB/s":{:.3f},"Gop/s":{:.3f})",
                   work.moved_bytes() / seconds / 1e9, work.n_ops() / seconds / 1e9);
}

const char* step_kind(const StepRecord& step) {
  if (step.n_prefill_tokens > 0 && step.n_decode_tokens > 0) return "mixed";
  return step.n_prefill_tokens > 0 ? "prefill" : "decode";
}

}  // namespace

std::string trace_document(const std::string& process, const std::vector<StepRecord>& steps,
                           const std::vector<OpSpan>& spans) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  append_name(out, "process_name", 0, process);
  append_name(out, "thread_name", kStepTrack, "steps");
  append_name(out, "thread_name", kOpTrack, "ops");
  for (const StepRecord& step : steps) {
    begin_event(out, kStepTrack, step_kind(step), step.start_s, step.seconds);
    fmt::format_to(std::back_inserter(out),
                   R"("step":{},"prefill_tokens":{},"decode_tokens":{},"sequences":{},)",
                   step.index, step.n_prefill_tokens, step.n_decode_tokens, step.n_seqs);
    append_work(out, step.work, step.seconds);
    out += "}},\n";
  }
  for (const OpSpan& span : spans) {
    begin_event(out, kOpTrack, span.op, span.start_s, span.seconds);
    out += "\"kernel\":";
    append_quoted(out, span.kernel);
    out += ',';
    append_work(out, span.work, span.seconds);
    out += "}},\n";
  }
  out.erase(out.size() - 2);  // the last comma
  out += "\n]}\n";
  return out;
}

}  // namespace hwtv::observe
