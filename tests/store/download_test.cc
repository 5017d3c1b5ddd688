#include "store/download.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "store/sha256.h"
#include "tests/gguf/temporary_folder.h"
#include "tests/store/fake_server.h"

namespace hwtv::store {
namespace {

const std::string kFile = tiny_gguf();
constexpr int64_t kRetries = 3;

class DownloadTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / "tiny.gguf"; }
  std::string part() const { return path() + ".part"; }

  WantedFile wanted(bool by_hub) const {
    WantedFile file{"https://hub.test/tiny.gguf", path(), "tiny.gguf", -1, "", "HF_TOKEN"};
    if (by_hub) {
      file.size_bytes = static_cast<int64_t>(kFile.size());
      file.sha256 = sha256_;
    }
    return file;
  }

  void SetUp() override {
    ASSERT_TRUE(write_file_atomically(folder_ / "whole", kFile));
    const auto sha256 = sha256_of_file(folder_ / "whole", [](int64_t) { return true; });
    if (!sha256) GTEST_SKIP() << sha256.error().what;
    sha256_ = *sha256;
  }

  Result<FetchedFile> fetch(const WantedFile& file) {
    HttpClient client(server_, std::nullopt);
    return download(client, file, kRetries, waiter_);
  }

  void expect_whole(const Result<FetchedFile>& fetched) {
    ASSERT_TRUE(fetched) << fetched.error().what;
    EXPECT_EQ(read_file(path()).value(), kFile);
    EXPECT_EQ(fetched->sha256, sha256_);
    EXPECT_FALSE(std::filesystem::exists(part()));
    EXPECT_FALSE(std::filesystem::exists(part() + ".state"));
  }

  // The file has no name, and the first n bytes of it are kept.
  void expect_kept(size_t n) {
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_EQ(read_file(part()).value_or(""), kFile.substr(0, n));
  }

  // As an earlier pull leaves it that was cut after n bytes.
  void leave_partial(const WantedFile& file, int64_t n) {
    server_.deeds.assign(2 + kRetries, Deed{});
    for (Deed& deed : server_.deeds) deed.ignores_range = true, deed.cut_at = n;
    ASSERT_FALSE(fetch(file));
    expect_kept(static_cast<size_t>(n));
    server_.deeds.clear();
    server_.requests.clear();
  }

  static std::string range_of(const HttpRequest& request) {
    for (const auto& [key, value] : request.headers)
      if (key == "Range") return value;
    return "";
  }

  gguf::TemporaryFolder folder_;
  std::string sha256_;
  FakeServer server_{kFile};
  FakeWaiter waiter_;
};

TEST_F(DownloadTest, SurvivesACutAtEveryByte) {
  for (const bool by_hub : {false, true})
    for (int64_t cut = 0; cut < static_cast<int64_t>(kFile.size()); ++cut) {
      SCOPED_TRACE(cut);
      server_.requests.clear();
      server_.deeds.push_back({.cut_at = cut});
      expect_whole(fetch(wanted(by_hub)));
      // What came is not asked for again; fewer than 4 bytes do not say that they are of a GGUF
      // file.
      ASSERT_EQ(server_.requests.size(), 2u);
      EXPECT_EQ(range_of(server_.requests[1]), cut < 4 ? "" : fmt::format("bytes={}-", cut));
      std::filesystem::remove(path());
    }
}

TEST_F(DownloadTest, SurvivesServersThatGiveOneByteAtATime) {
  for (size_t i = 0; i < kFile.size(); ++i) server_.deeds.push_back({.cut_at = i == 0 ? 4 : 1});
  expect_whole(fetch(wanted(true)));
  EXPECT_EQ(server_.requests.size(), kFile.size() - 3);
}

TEST_F(DownloadTest, GoesOnWhereAnEarlierPullEnded) {
  for (const bool by_hub : {false, true}) {
    leave_partial(wanted(by_hub), 50);
    const auto fetched = fetch(wanted(by_hub));
    expect_whole(fetched);
    EXPECT_EQ(fetched->resumed_bytes, 50);
    ASSERT_EQ(server_.requests.size(), 1u);
    EXPECT_EQ(range_of(server_.requests[0]), "bytes=50-");
    std::filesystem::remove(path());
  }
}

TEST_F(DownloadTest, ServerThatIgnoresRangesLosesNothing) {
  for (const bool by_hub : {false, true}) {
    leave_partial(wanted(by_hub), 50);
    server_.deeds.push_back({.cut_at = 20, .ignores_range = true});
    server_.deeds.push_back({.cut_at = 0, .ignores_range = true});
    server_.deeds.push_back({.ignores_range = true});
    expect_whole(fetch(wanted(by_hub)));
    std::filesystem::remove(path());
  }
}

TEST_F(DownloadTest, KeepsWhatItHasWhenTheServerOnlyGivesWhatIsThere) {
  leave_partial(wanted(true), 50);
  for (int i = 0; i < 9; ++i) server_.deeds.push_back({.cut_at = 20, .ignores_range = true});
  const auto fetched = fetch(wanted(true));
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::io);
  expect_kept(50);
}

TEST_F(DownloadTest, WrongRangesAreNotTaken) {
  for (const char* lie :
       {"bytes 0-95/96", "bytes 51-95/96", "bytes 50-95/99", "bytes 50-40/96", "bytes */96",
        "50-95/96", "bytes 50-95", "bytes 50-99999999999999999999/96", ""})
    for (const bool by_hub : {false, true}) {
      SCOPED_TRACE(lie);
      leave_partial(wanted(by_hub), 50);
      server_.deeds.push_back({.content_range = lie, .body = std::string(96, 'z')});
      const auto fetched = fetch(wanted(by_hub));
      // The same strong ETag with another length: the earlier length was the lie, and this body is
      // short.
      if (std::string(lie) == "bytes 50-95/99" && !by_hub) {
        std::filesystem::remove(part());
        std::filesystem::remove(part() + ".state");
        std::filesystem::remove(path());
        continue;
      }
      expect_whole(fetched);
      std::filesystem::remove(path());
    }
}

TEST_F(DownloadTest, APartOfTheRangeIsTaken) {
  leave_partial(wanted(true), 50);
  server_.deeds.push_back({.content_range = "bytes 50-59/96", .content_length = "10"});
  expect_whole(fetch(wanted(true)));
  ASSERT_EQ(server_.requests.size(), 2u);
  EXPECT_EQ(range_of(server_.requests[1]), "bytes=60-");
}

TEST_F(DownloadTest, LengthsThatLie) {
  for (const char* length : {"0", "3", "50", "95", "97", "1000", "99999999999", ""})
    for (const bool by_hub : {false, true}) {
      SCOPED_TRACE(length);
      if (!by_hub && std::string(length) == "99999999999") continue;  // no disk has that: refused
      server_.deeds.push_back({.content_length = length});
      expect_whole(fetch(wanted(by_hub)));
      std::filesystem::remove(path());
    }
}

TEST_F(DownloadTest, ALengthThatAlwaysIsTooShortIsNeverAWholeFile) {
  for (int i = 0; i < 20; ++i)
    server_.deeds.push_back({.ignores_range = true, .content_length = "90"});
  const auto fetched = fetch(wanted(false));
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::corrupt_file);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(DownloadTest, AFileThatChangesBetweenTwoAnswersIsFetchedAnew) {
  const std::string old_file = tiny_gguf('o');
  for (const bool by_hub : {false, true}) {
    server_.deeds.push_back({.cut_at = 80, .etag = "\"zero\"", .body = old_file});
    expect_whole(fetch(wanted(by_hub)));
    std::filesystem::remove(path());
  }
}

TEST_F(DownloadTest, AMixOfTwoFilesIsNoticedByItsHashAndMended) {
  server_.deeds.push_back({.cut_at = 80, .body = tiny_gguf('o')});  // under the same ETag
  expect_whole(fetch(wanted(true)));
}

TEST_F(DownloadTest, WrongHashIsRefusedAndNotKept) {
  server_.set_file(tiny_gguf('w'));
  const auto fetched = fetch(wanted(true));
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::corrupt_file);
  EXPECT_NE(fetched.error().what.find(sha256_), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_FALSE(std::filesystem::exists(part()));
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(DownloadTest, APageInsteadOfTheFileTouchesNothing) {
  for (const bool by_hub : {false, true}) {
    leave_partial(wanted(by_hub), 50);
    server_.deeds.push_back(
        {.ignores_range = true, .etag = "\"page\"", .body = "<!DOCTYPE html><html>"});
    const auto fetched = fetch(wanted(by_hub));
    ASSERT_FALSE(fetched);
    EXPECT_NE(fetched.error().what.find("<!DOC"), std::string::npos);
    expect_kept(50);
    expect_whole(fetch(wanted(by_hub)));
    std::filesystem::remove(path());
  }
}

TEST_F(DownloadTest, WithoutAValidatorBytesAreComparedNotTrusted) {
  server_.etag = "";
  leave_partial(wanted(false), 50);
  server_.set_file(kFile);
  expect_whole(fetch(wanted(false)));
  EXPECT_EQ(range_of(server_.requests[0]), "");
  std::filesystem::remove(path());
  server_.set_file(tiny_gguf('o'));
  server_.deeds.assign(2 + kRetries, Deed{.cut_at = 80});
  ASSERT_FALSE(fetch(wanted(false)));
  server_.deeds.clear();
  server_.set_file(kFile);
  expect_whole(fetch(wanted(false)));
}

TEST_F(DownloadTest, BusyServersAreWaitedForAsTheyAsk) {
  server_.deeds.push_back({.status = 429, .retry_after = "7"});
  server_.deeds.push_back({.status = 503});
  server_.deeds.push_back({.status = 500, .retry_after = "Thu, 01 Jan 1970 00:00:00 GMT"});
  expect_whole(fetch(wanted(true)));
  EXPECT_DOUBLE_EQ(waiter_.waited_s, 7 + 1);
}

TEST_F(DownloadTest, ALongWaitIsLeftToTheUser) {
  server_.deeds.push_back({.status = 429, .retry_after = "3600"});
  const auto fetched = fetch(wanted(true));
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().what.find("3600 s"), std::string::npos);
  EXPECT_EQ(waiter_.waited_s, 0);
}

TEST_F(DownloadTest, RefusalsAreNotRepeated) {
  const std::pair<int, ErrorCode> cases[] = {{401, ErrorCode::io},
                                             {403, ErrorCode::io},
                                             {404, ErrorCode::invalid_request},
                                             {418, ErrorCode::io}};
  for (const auto& [status, code] : cases) {
    server_.requests.clear();
    server_.deeds.push_back({.status = status});
    const auto fetched = fetch(wanted(true));
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code, code);
    EXPECT_NE(fetched.error().what.find(std::to_string(status)), std::string::npos);
    EXPECT_FALSE(fetched.error().advice.empty());
    EXPECT_EQ(server_.requests.size(), 1u);
    EXPECT_FALSE(std::filesystem::exists(part()));
  }
}

TEST_F(DownloadTest, RangeThatTheServerDoesNotHave) {
  for (const bool by_hub : {false, true}) {
    leave_partial(wanted(by_hub), 50);
    server_.deeds.push_back({.status = 416});
    expect_whole(fetch(wanted(by_hub)));
    std::filesystem::remove(path());
  }
}

TEST_F(DownloadTest, StallsThatBringLittleAreCounted) {
  server_.deeds.assign(1 + kRetries, Deed{.cut_at = 10, .stalls = true});
  const auto fetched = fetch(wanted(true));
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().what.find("4 attempts"), std::string::npos);
  expect_kept(40);
}

TEST_F(DownloadTest, CancelledKeepsWhatCame) {
  waiter_.cancels_at_bytes = 42;
  const auto fetched = fetch(wanted(true));
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::cancelled);
  expect_kept(42);
  waiter_.cancels_at_bytes = -1;
  expect_whole(fetch(wanted(true)));
}

TEST_F(DownloadTest, APartialThatIsLongerThanTheFile) {
  ASSERT_TRUE(write_file_atomically(part(), kFile + "and more"));
  expect_whole(fetch(wanted(true)));
}

TEST_F(DownloadTest, APartialOfUnknownOriginIsCompared) {
  ASSERT_TRUE(write_file_atomically(part(), kFile.substr(0, 30) + "something else"));
  ASSERT_TRUE(write_file_atomically(part() + ".state", "\x7f nonsense"));
  for (const bool by_hub : {false, true}) {
    expect_whole(fetch(wanted(by_hub)));
    EXPECT_EQ(range_of(server_.requests.front()), "");
    std::filesystem::remove(path());
  }
}

TEST_F(DownloadTest, NoSpaceIsSaidWithBothNumbers) {
  WantedFile file = wanted(true);
  file.size_bytes = int64_t{1} << 60;
  const auto fetched = fetch(file);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::io);
  EXPECT_NE(fetched.error().what.find("are free there"), std::string::npos);
  EXPECT_NE(fetched.error().advice.find("free "), std::string::npos);
}

TEST_F(DownloadTest, EncodedAnswersAreNotTaken) {
  class Encoding final : public Http {
   public:
    Result<HttpTransfer> get(const HttpRequest&, HttpSink& sink) override {
      HttpTransfer transfer{{200, {{"content-encoding", "gzip"}}, ""}, HttpEnd::whole, ""};
      if (!sink.begin(transfer.head)) transfer.end = HttpEnd::stopped;
      return transfer;
    }
  } http;
  HttpClient client(http, std::nullopt);
  const auto fetched = download(client, wanted(true), 0, waiter_);
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().what.find("gzip"), std::string::npos);
}

}  // namespace
}  // namespace hwtv::store
