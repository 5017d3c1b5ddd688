// The two kinds of failure.  The world (input, files, devices, memory) returns a Result<T>; a bug
// aborts through CHECK (check.h).  No exception crosses a folder's boundary.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hwtv {

enum class ErrorCode {
  invalid_request,  // what was asked cannot be: a bad flag, value or document
  unsupported,      // well formed, but outside what this program does
  corrupt_file,     // the file contradicts itself or its format
  io,               // the operating system refused
  out_of_memory,    // it would not fit; `what` has both numbers
  device_lost,
  cancelled,
};

std::string_view error_code_name(ErrorCode code);

// `what`: what was asked and what is there, with numbers and units, one line.
// `advice`: a step or a value that works, one line; may be empty only for `cancelled`.
struct Error {
  ErrorCode code;
  std::string what;
  std::string advice;
};

template <typename T>
using Result = tl::expected<T, Error>;

// Shorthand for `return fail(ErrorCode::io, "...", "...")` in a function that gives a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string what, std::string advice = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(advice)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// Assigns the value of a Result or returns its error:  HWTV_TRY(auto file, File::open(path));
#define HWTV_CONCAT_(a, b) a##b
#define HWTV_CONCAT(a, b) HWTV_CONCAT_(a, b)
#define HWTV_TRY_(name, declaration, expression)              \
  auto name = (expression);                                   \
  if (!name) return ::hwtv::fail(std::move(name.error()));    \
  declaration = std::move(*name)
#define HWTV_TRY(declaration, ...) \
  HWTV_TRY_(HWTV_CONCAT(result_, __LINE__), declaration, (__VA_ARGS__))
// The same for Result<void>.
#define HWTV_TRY_VOID(...) \
  if (auto result_ = (__VA_ARGS__); !result_) return ::hwtv::fail(std::move(result_.error()))

}  // namespace hwtv
