#include "store/download.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "base/file.h"
#include "base/quoted.h"
#include "base/units.h"
#include "gguf/file.h"
#include "store/headers.h"
#include "store/partial_file.h"
#include "store/patience.h"
#include "store/sha256.h"

namespace hwtv::store {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr int64_t kWorthWaitingFor_bytes = 1 << 20;  // what a stalled attempt must have brought

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

// Writes one answer into the partial file, or says why it does not.
class Answer final : public HttpSink {
 public:
  // `from`: the first byte that was asked for; 0: the whole file.
  Answer(PartialFile& file, const WantedFile& wanted, int64_t from, Waiter& waiter)
      : file_(file), wanted_(wanted), from_(from), waiter_(waiter) {}

  bool begin(const HttpHead& head) override {
    if (head.status != 200 && head.status != 206) return false;
    const std::string_view coding = header(head.headers, "content-encoding");
    if (!coding.empty() && coding != "identity")
      return distrust(fmt::format("the answer is encoded as {}", hwtv::quoted(coding)));
    now_ = validator(head.headers);
    return head.status == 206 ? begin_range(head) : begin_whole(head);
  }

  // Nothing that is here is touched before the answer is known to be a GGUF file.
  bool bytes(std::string_view piece) override {
    if (is_accepted_) return take(piece);
    start_ += piece;
    if (start_.size() < kMagic.size()) return true;
    if (!start_.starts_with(kMagic)) return refuse(not_gguf());
    return accept() && take(start_);
  }

  const std::optional<Error>& fault() const { return fault_; }  // of this machine: no use to go on
  const std::string& lie() const { return lie_; }    // why the answer was not taken; empty: it was
  bool has_changed() const { return has_changed_; }  // the file is another one than that of before
  bool is_accepted() const { return is_accepted_; }
  int64_t at_bytes() const { return at_; }    // what comes next
  int64_t end_bytes() const { return end_; }  // where the file ends, as far as known; -1

 private:
  bool distrust(std::string why) {
    lie_ = std::move(why);
    return false;
  }

  bool refuse(Error error) {
    fault_ = std::move(error);
    return false;
  }

  Error not_gguf() const {
    return {ErrorCode::io,
            fmt::format("the answer for {} is no GGUF file: it begins with {}", wanted_.name,
                        hwtv::quoted(std::string_view(start_).substr(0, 16))),
            "the address may be that of a page, or of a login: open it in a browser"};
  }

  bool begin_whole(const HttpHead& head) {
    const int64_t length = parse_count(header(head.headers, "content-length")).value_or(-1);
    if (wanted_.size_bytes >= 0 && length >= 0 && length != wanted_.size_bytes)
      waiter_.note(fmt::format("the server speaks of {} bytes, the hub of {}: the hub is believed",
                               length, wanted_.size_bytes));
    end_ = wanted_.size_bytes >= 0 ? wanted_.size_bytes : length;
    const std::string& before = file_.identity().validator;
    has_changed_ = wanted_.sha256.empty() && file_.size_bytes() > 0 && !now_.empty() &&
                   !before.empty() && now_ != before;
    return has_space(has_changed_ ? 0 : file_.size_bytes());
  }

  bool begin_range(const HttpHead& head) {
    const std::string_view text = header(head.headers, "content-range");
    const auto range = parse_content_range(text);
    if (from_ == 0 || !range || range->first != from_)
      return distrust(fmt::format("asked for the bytes from {} on, the server gave {}", from_,
                                  text.empty() ? "no Content-Range" : hwtv::quoted(text)));
    const FileIdentity& before = file_.identity();
    const bool by_hub = wanted_.size_bytes >= 0;
    const int64_t known = by_hub ? wanted_.size_bytes : before.total_bytes;
    if (wanted_.sha256.empty() && now_ != before.validator)
      return distrust("the file has changed at the server");
    if (range->total >= 0 && known >= 0 && range->total != known && (by_hub || !is_etag(now_)))
      return distrust(
          fmt::format("the file had {} bytes, the server now speaks of {}", known, range->total));
    is_range_ = true;
    end_ = by_hub ? known : range->total;
    range_end_ = range->last + 1;
    at_ = from_;
    return has_space(file_.size_bytes()) && accept();
  }

  bool has_space(int64_t here_bytes) {
    if (end_ <= here_bytes) return true;
    const auto space = check_space(folder_of(wanted_.path), end_ - here_bytes);
    return space ? true : refuse(space.error());
  }

  // Whose bytes they are is kept before the first of them.
  bool accept() {
    if (has_changed_) {
      waiter_.note(fmt::format("{} is another file now: starting anew", wanted_.name));
      if (const auto done = file_.clear(); !done) return refuse(done.error());
    }
    if (const auto kept = file_.set_identity({now_, end_, wanted_.sha256}); !kept)
      return refuse(kept.error());
    is_accepted_ = true;
    return true;
  }

  bool take(std::string_view piece) {
    const int64_t limit = is_range_ ? std::min(range_end_, end_ < 0 ? range_end_ : end_) : end_;
    const bool too_many = limit >= 0 && static_cast<int64_t>(piece.size()) > limit - at_;
    if (too_many) piece = piece.substr(0, static_cast<size_t>(std::max<int64_t>(0, limit - at_)));
    if (auto put = file_.put(at_, piece); !put) return refuse(put.error());
    at_ += static_cast<int64_t>(piece.size());
    waiter_.fetched(wanted_.name, file_.size_bytes(), end_);
    return !too_many && !waiter_.cancelled();
  }

  PartialFile& file_;
  const WantedFile& wanted_;
  const int64_t from_;
  Waiter& waiter_;
  std::string start_;  // of the file, until it is long enough to be judged
  std::string now_;    // the answer's validator
  int64_t at_ = 0, end_ = -1, range_end_ = -1;
  bool is_accepted_ = false, is_range_ = false, has_changed_ = false;
  std::optional<Error> fault_;
  std::string lie_;
};

// One file's way, attempt by attempt.
class Download {
 public:
  Download(HttpClient& client, const WantedFile& wanted, int64_t retries, PartialFile file, Url url,
           Waiter& waiter)
      : client_(client),
        wanted_(wanted),
        patience_(waiter, retries),
        file_(std::move(file)),
        url_(std::move(url)),
        waiter_(waiter),
        resumed_bytes_(file_.size_bytes()) {}

  Result<FetchedFile> run() {
    total_bytes_ = wanted_.size_bytes >= 0 ? wanted_.size_bytes : file_.identity().total_bytes;
    n_answers_ = resumed_bytes_ > 0 ? 1 : 0;
    if (resumed_bytes_ > 0 && wanted_.size_bytes >= 0 && resumed_bytes_ > wanted_.size_bytes)
      must_read_whole_ = true;
    for (;;) {
      while (!is_complete()) HWTV_TRY_VOID(attempt());
      HWTV_TRY(const std::optional<std::string> sha256, verify());
      if (!sha256) continue;
      const int64_t size_bytes = file_.size_bytes();
      HWTV_TRY_VOID(file_.finish());
      return FetchedFile{false, size_bytes, resumed_bytes_, n_attempts_, *sha256};
    }
  }

 private:
  bool is_complete() const {
    return !must_read_whole_ && total_bytes_ > 0 && file_.size_bytes() == total_bytes_;
  }

  // Where to go on; 0: from the start, with every byte that is there compared.
  int64_t resume_at() const {
    if (must_read_whole_ || ranges_are_broken_) return 0;
    const FileIdentity& identity = file_.identity();
    const bool known =
        wanted_.sha256.empty() ? !identity.validator.empty() : identity.sha256 == wanted_.sha256;
    return known ? file_.size_bytes() : 0;
  }

  Result<void> attempt() {
    const int64_t from = resume_at(), before = file_.size_bytes();
    ++n_attempts_;
    Headers headers;
    if (from > 0) {
      headers.emplace_back("Range", fmt::format("bytes={}-", from));
      if (wanted_.sha256.empty()) headers.emplace_back("If-Range", file_.identity().validator);
    }
    Answer answer(file_, wanted_, from, waiter_);
    HWTV_TRY(const HttpTransfer transfer, client_.get(wanted_.url, headers, answer));
    if (answer.fault()) return fail(*answer.fault());
    if (waiter_.cancelled()) return fail(cancelled());
    if (transfer.head.status == 416) return unsatisfied(transfer, from);
    if (!answer.lie().empty()) return lied(transfer, answer.lie(), from);
    if (!answer.is_accepted()) return unanswered(transfer);
    return took(transfer, answer, before);
  }

  Error cancelled() const {
    return {
        ErrorCode::cancelled,
        fmt::format("cancelled; kept of {}: {}", wanted_.name, format_bytes(file_.size_bytes())),
        "the same command goes on from there"};
  }

  // The answer was taken, whole or in part.
  Result<void> took(const HttpTransfer& transfer, const Answer& answer, int64_t before) {
    const bool grew = file_.size_bytes() > before || answer.has_changed();
    if (grew) ++n_answers_;
    total_bytes_ = answer.end_bytes();
    const bool at_end =
        total_bytes_ >= 0 ? answer.at_bytes() == total_bytes_ : transfer.end == HttpEnd::whole;
    if (at_end) {
      total_bytes_ = answer.at_bytes();
      must_read_whole_ = false;
      return file_.shorten(total_bytes_);  // what is beyond is of another file
    }
    const bool slow =
        transfer.end == HttpEnd::stalled && file_.size_bytes() - before < kWorthWaitingFor_bytes;
    if (grew && !slow) {
      patience_.progressed();
      return {};
    }
    return patience_.failed(transfer, url_, end_of(transfer));
  }

  std::string end_of(const HttpTransfer& transfer) const {
    const std::string kept =
        fmt::format("{} bytes of {} are kept", file_.size_bytes(), wanted_.name);
    switch (transfer.end) {
      case HttpEnd::stalled:
        return fmt::format("too little came ({}), {}", transfer.what, kept);
      case HttpEnd::cut:
        return fmt::format("the connection broke ({}), {}", transfer.what, kept);
      default:
        return fmt::format("the answer ended early, {}", kept);
    }
  }

  // No 200 or 206 came, or nothing in it.
  Result<void> unanswered(const HttpTransfer& transfer) {
    const int status = transfer.head.status;
    if (status == 0 || status == 200 || status == 206)
      return patience_.failed(transfer, url_, end_of(transfer));
    if (!may_pass(status))
      return fail(
          refusal(transfer.head, url_, wanted_.token_variable, client_.sends_token_to(url_)));
    return patience_.failed(transfer, url_, fmt::format("the server answered {}", status));
  }

  // The server knows no byte there: the file may be whole, or ranges may not be its strength.
  Result<void> unsatisfied(const HttpTransfer& transfer, int64_t from) {
    const auto range = parse_content_range(header(transfer.head.headers, "content-range"));
    if (from > 0 && range && range->total == from && wanted_.size_bytes < 0 && !asks_beyond_) {
      total_bytes_ = from;
      return {};
    }
    if (asks_beyond_) {
      asks_beyond_ = false;
      total_bytes_ = file_.size_bytes();
      return {};
    }
    return lied(transfer, fmt::format("the server has no byte {}", from), from);
  }

  // An answer that contradicts what was asked or what is known.  The next attempt asks for the
  // whole file and compares what is here already.
  Result<void> lied(const HttpTransfer& transfer, const std::string& why, int64_t from) {
    if (from > 0) ranges_are_broken_ = true;
    return patience_.failed(transfer, url_, why);
  }

  // The file's SHA-256 when it is what was promised; nullopt: another attempt may make it so.
  Result<std::optional<std::string>> verify() {
    if (wanted_.sha256.empty()) {
      const Result<void> whole = check_gguf();
      if (!whole) return damaged(whole.error());
    }
    HWTV_TRY(const std::string sha256, checked_sha256(file_.path(), wanted_.name, waiter_));
    if (wanted_.sha256.empty() || sha256 == wanted_.sha256) return std::optional(sha256);
    return damaged(
        {ErrorCode::corrupt_file,
         fmt::format("{} has SHA-256 {}, promised was {}", wanted_.name, sha256, wanted_.sha256),
         "nothing of it was kept; try again, or another mirror"});
  }

  // A file that says of itself that tensors lie beyond its end is not whole.
  Result<void> check_gguf() const {
    HWTV_TRY(const MappedFile bytes, MappedFile::open(file_.path()));
    const auto parsed = gguf::File::parse({bytes.data(), bytes.size_bytes()});
    if (parsed || parsed.error().code == ErrorCode::unsupported) return {};
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} came with {} bytes and is no whole GGUF file: {}", wanted_.name,
                            file_.size_bytes(), parsed.error().what),
                "nothing of it was kept; try again, or another address");
  }

  // What is here is wrong.  The server may have more than it said; what came in several answers may
  // be of two files: read once more from the start, and corrected.  Otherwise it is not kept.
  Result<std::optional<std::string>> damaged(const Error& error) {
    const int64_t size_bytes = file_.size_bytes();
    if (wanted_.size_bytes < 0 && wanted_.sha256.empty() && size_bytes > asked_beyond_bytes_ &&
        !file_.identity().validator.empty()) {
      asked_beyond_bytes_ = size_bytes;
      asks_beyond_ = true;
      total_bytes_ = -1;
      HWTV_TRY_VOID(file_.set_identity({file_.identity().validator, -1, ""}));
      return std::optional<std::string>();
    }
    if (n_answers_ > 1) {
      waiter_.note(error.what + "; reading it once more from the start");
      n_answers_ = 1;
      must_read_whole_ = true;
      return std::optional<std::string>();
    }
    HWTV_TRY_VOID(file_.clear());
    return fail(error);
  }

  HttpClient& client_;
  const WantedFile& wanted_;
  Patience patience_;
  PartialFile file_;
  const Url url_;
  Waiter& waiter_;
  const int64_t resumed_bytes_;
  int64_t total_bytes_ = -1;  // as far as known
  int64_t n_attempts_ = 0;
  int64_t n_answers_ = 0;           // that brought bytes
  int64_t asked_beyond_bytes_ = 0;  // the size at which more was asked for than was promised
  bool asks_beyond_ = false, must_read_whole_ = false, ranges_are_broken_ = false;
};

}  // namespace

Result<std::string> checked_sha256(const std::string& path, const std::string& name,
                                   Waiter& waiter) {
  std::error_code code;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, code));
  return sha256_of_file(path, [&](int64_t done_bytes) {
    waiter.checked(name, done_bytes, size);
    return !waiter.cancelled();
  });
}

Result<void> check_space(const std::string& folder, int64_t needed_bytes) {
  std::error_code code;
  const auto free_bytes = static_cast<int64_t>(std::filesystem::space(folder, code).available);
  if (code)
    return fail(ErrorCode::io, fmt::format("cannot examine {}: {}", folder, code.message()),
                "set HWTV_CACHE to a folder of yours");
  if (needed_bytes <= free_bytes) return {};
  return fail(ErrorCode::io,
              fmt::format("{} more are needed in {}, {} are free there", format_bytes(needed_bytes),
                          folder, format_bytes(free_bytes)),
              fmt::format("free {}, or set HWTV_CACHE to a folder on another disk",
                          format_bytes(needed_bytes - free_bytes)));
}

Result<FetchedFile> download(HttpClient& client, const WantedFile& wanted, int64_t retries,
                             Waiter& waiter) {
  HWTV_TRY(Url url, parse_url(wanted.url));
  HWTV_TRY(auto file, PartialFile::open(wanted.path, waiter));
  if (!file) {
    std::error_code code;
    const auto size = static_cast<int64_t>(std::filesystem::file_size(wanted.path, code));
    return FetchedFile{true, size, 0, 0, ""};
  }
  Download one(client, wanted, retries, std::move(*file), std::move(url), waiter);
  return one.run();
}

}  // namespace hwtv::store
