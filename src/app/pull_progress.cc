#include "app/pull_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/note.h"
#include "base/units.h"

namespace hwtv::app {
namespace {

constexpr double kMovingEvery_s = 0.1, kLineEvery_s = 5;
constexpr double kLookEvery_s = 0.05;

}  // namespace

// Nothing is shown of work that is done within a fifth of a second.
PullProgress::PullProgress(bool quiet)
    : quiet_(quiet),
      moving_(::isatty(STDERR_FILENO)),
      begin_s_(clock_.now_s()),
      next_s_(begin_s_ + (moving_ ? 0.2 : kLineEvery_s)) {}

PullProgress::~PullProgress() { wipe(); }

Result<void> PullProgress::wait(double seconds) {
  const double end_s = clock_.now_s() + seconds;
  while (!cancelled() && clock_.now_s() < end_s)
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::min(kLookEvery_s, end_s - clock_.now_s())));
  if (cancelled())
    return fail(ErrorCode::cancelled, "cancelled while it waited",
                "the same command goes on from there");
  return {};
}

void PullProgress::wipe() {
  if (shown_) write_note("\r\033[K");
  shown_ = false;
}

void PullProgress::note(const std::string& line) {
  if (quiet_) return;
  wipe();
  app::note("pull: {}\n", line);
}

void PullProgress::follow(const std::string& what, int64_t done_bytes) {
  if (followed_ == what) return;
  followed_ = what;
  followed_since_s_ = clock_.now_s();
  followed_from_bytes_ = done_bytes;
}

void PullProgress::show(const std::string& text) {
  next_s_ = clock_.now_s() + (moving_ ? kMovingEvery_s : kLineEvery_s);
  app::note("{}{}{}", moving_ ? "\r" : "", text, moving_ ? "\033[K" : "\n");
  shown_ = moving_;
}

void PullProgress::fetched(const std::string& name, int64_t done_bytes, int64_t total_bytes) {
  follow("fetch " + name, done_bytes);
  if (quiet_ || clock_.now_s() < next_s_) return;
  const double seconds = std::max(1e-3, clock_.now_s() - followed_since_s_);
  const double rate = static_cast<double>(done_bytes - followed_from_bytes_) / seconds;
  std::string text = fmt::format("{}  {}", name, format_bytes(done_bytes));
  if (total_bytes > 0)
    text += fmt::format(" of {}  {:.0f} %", format_bytes(total_bytes),
                        100.0 * static_cast<double>(done_bytes) / static_cast<double>(total_bytes));
  text += fmt::format("  {:.1f} MB/s", rate / 1e6);
  if (total_bytes > 0 && rate > 0)
    text += fmt::format("  {:.0f} s left", static_cast<double>(total_bytes - done_bytes) / rate);
  show(text);
}

void PullProgress::checked(const std::string& name, int64_t done_bytes, int64_t total_bytes) {
  if (quiet_ || clock_.now_s() < next_s_ || total_bytes <= 0) return;
  show(fmt::format("{}  checking SHA-256  {:.0f} %", name,
                   100.0 * static_cast<double>(done_bytes) / static_cast<double>(total_bytes)));
}

}  // namespace hwtv::app
