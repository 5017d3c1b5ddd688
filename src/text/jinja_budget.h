// What one rendering may use, and the exception that ends it.  Failures are thrown inside the
// interpreter only; ChatTemplate turns them into an Error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "text/chat_template.h"

namespace hwtv::text::jinja {

struct Position {
  uint32_t line = 0, column = 0;  // from 1; columns count characters
};

struct Failure {
  ErrorCode code;
  std::string message;
};

// A failure of Python's kind: the template or the conversation is at fault.
[[noreturn]] void raise(std::string message);
[[noreturn]] void raise_unsupported(std::string message);

// Counts steps and live bytes; throws a Failure where a limit is passed.
class Budget {
 public:
  explicit Budget(const ChatTemplateLimits& limits) : limits_(limits) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  void spend(uint64_t steps) {
    steps_ += steps;
    if (steps_ > limits_.steps_max) too_many_steps();
  }
  void spend_on_bytes(size_t n_bytes) { spend(n_bytes / 32 + 1); }

  void hold(size_t n_bytes) {
    require_room(n_bytes);
    live_bytes_ += n_bytes;
  }
  void release(size_t n_bytes) { live_bytes_ -= n_bytes; }
  // Throws when `n_bytes` more would not fit: to ask before building something large.
  void require_room(size_t n_bytes) {
    if (n_bytes > limits_.live_bytes_max - live_bytes_) too_many_bytes(n_bytes);
  }

  size_t output_bytes_max() const { return limits_.output_bytes_max; }

  // Expressions, statements and macro calls within another; about 0.6 KB of stack each.
  static constexpr int kDepthMax = 2000;
  void enter() {
    if (++depth_ > kDepthMax) too_deep();
  }
  void leave() { --depth_; }

 private:
  [[noreturn]] void too_many_steps() const;
  [[noreturn]] void too_many_bytes(size_t n_bytes) const;
  [[noreturn]] void too_deep() const;

  ChatTemplateLimits limits_;
  uint64_t steps_ = 0;
  size_t live_bytes_ = 0;
  int depth_ = 0;
};

class DepthGuard {
 public:
  explicit DepthGuard(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~DepthGuard() { budget_.leave(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Budget& budget_;
};

// Bytes held for as long as the object lives.
class Charge {
 public:
  Charge() = default;
  Charge(Budget* budget, size_t n_bytes) {
    if (budget != nullptr) budget->hold(n_bytes);
    budget_ = budget;
    n_bytes_ = n_bytes;
  }
  Charge(Charge&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), n_bytes_(other.n_bytes_) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(n_bytes_, other.n_bytes_);
    return *this;
  }
  ~Charge() {
    if (budget_ != nullptr) budget_->release(n_bytes_);
  }
  void grow(size_t n_bytes) {
    if (budget_ == nullptr) return;
    budget_->hold(n_bytes);
    n_bytes_ += n_bytes;
  }

 private:
  Budget* budget_ = nullptr;
  size_t n_bytes_ = 0;
};

}  // namespace hwtv::text::jinja
