#include "journal/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/file.h"

namespace hwtv::journal {
namespace {

constexpr int64_t kSmallCapBytes = int64_t{256} << 10;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hwtv_journal_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder + "/state/journal.sqlite";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  // The files beside the journal whose names hold `part`.
  int n_files(const std::string& part) const {
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/state"))
      n += entry.path().filename().string().find(part) != std::string::npos;
    return n;
  }
  std::string folder, path;
};

RunRecord run(int i, size_t account_bytes = 100) {
  return {.time_s = 1e9 + i,
          .version = "0.1.0",
          .fingerprint = "0123456789abcdef",
          .command = "run",
          .model = "model-" + std::to_string(i),
          .model_id = "sha",
          .account = std::to_string(i) + std::string(account_bytes, 'x')};
}

TEST_F(JournalTest, WhatIsAppendedIsListedNewestFirst) {
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal) << journal.error().what;
  RunRecord odd = run(0);
  odd.model = std::string("quote ' and \0 zero", 18);
  ASSERT_TRUE(journal->append(odd));
  const auto second = journal->append(run(1));
  ASSERT_TRUE(second);
  const auto runs = journal->list(10);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ(runs->at(0).id, *second);
  EXPECT_EQ(runs->at(0).account, "");
  EXPECT_EQ(runs->at(1).model, odd.model);
  EXPECT_EQ(journal->list(1)->size(), 1u);
  const auto got = journal->get(*second);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->account, run(1).account);
  EXPECT_EQ(got->time_s, 1e9 + 1);
  const auto missing = journal->get(99);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::invalid_request);
}

TEST_F(JournalTest, OutlivesTheProcess) {
  { ASSERT_TRUE(Journal::open(path)->append(run(7))); }
  EXPECT_EQ(Journal::open(path)->list(1)->at(0).model, "model-7");
  EXPECT_EQ(n_files(""), 1);
}

TEST_F(JournalTest, TheOldestLeaveWhenTheCapIsReached) {
  auto journal = Journal::open(path, kSmallCapBytes);
  ASSERT_TRUE(journal);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(journal->append(run(i, i % 20 == 0 ? 30000 : 12000)));
    ASSERT_LE(std::filesystem::file_size(path), static_cast<uintmax_t>(kSmallCapBytes)) << i;
  }
  const auto runs = journal->list(1000);
  ASSERT_TRUE(runs);
  EXPECT_GT(runs->size(), 8u);
  EXPECT_LT(runs->size(), 20u);
  EXPECT_EQ(runs->front().id, 60);  // ids go on
  for (size_t i = 1; i < runs->size(); ++i) EXPECT_EQ(runs->at(i).id, runs->at(i - 1).id - 1);
  EXPECT_EQ(journal->get(runs->back().id)->account,
            run(static_cast<int>(runs->back().id) - 1, 12000).account);
}

TEST_F(JournalTest, ARecordThatWouldPushAllOthersOutIsRefused) {
  auto journal = Journal::open(path, kSmallCapBytes);
  const auto refused = journal->append(run(0, kSmallCapBytes / 8));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_request);
  EXPECT_TRUE(journal->append(run(0, kSmallCapBytes / 8 - 100)));
}

TEST_F(JournalTest, AFileThatIsNoJournalIsMovedAside) {
  ASSERT_TRUE(make_folders(folder + "/state"));
  ASSERT_TRUE(write_file_atomically(path, std::string(5000, 'z')));
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal) << journal.error().what;
  EXPECT_NE(journal->notice().find("broken"), std::string::npos);
  EXPECT_TRUE(journal->append(run(1)));
  EXPECT_EQ(n_files(".broken-"), 1);
  EXPECT_EQ(Journal::open(path)->notice(), "");
}

TEST_F(JournalTest, DamageFoundOnlyWhileWritingIsHealed) {
  {
    auto journal = Journal::open(path);
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(journal->append(run(i, 12000)));
  }
  std::string bytes = *read_file(path);
  for (size_t at = 4096; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 7);
  ASSERT_TRUE(write_file_atomically(path, bytes));
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal) << journal.error().what;
  const auto id = journal->append(run(1));
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_NE(journal->notice(), "");
  EXPECT_EQ(journal->list(10)->size(), 1u);
  EXPECT_EQ(n_files(".broken-"), 1);
}

TEST_F(JournalTest, ATruncatedFileIsHealed) {
  {
    auto journal = Journal::open(path);
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(journal->append(run(i, 12000)));
  }
  const auto whole_bytes = std::filesystem::file_size(path);
  for (const auto size : {whole_bytes / 2 + 17, uintmax_t{4096}, uintmax_t{100}, uintmax_t{0}}) {
    std::filesystem::resize_file(path, size);
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal) << size << journal.error().what;
    const auto id = journal->append(run(1));
    ASSERT_TRUE(id) << size << id.error().what;
    EXPECT_TRUE(journal->get(*id)) << size;
  }
}

TEST_F(JournalTest, ANewerSchemaIsLeftAlone) {
  { ASSERT_TRUE(Journal::open(path)->append(run(1))); }
  std::string bytes = *read_file(path);
  bytes[63] = 9;  // user_version, big-endian at offset 60 of the header
  ASSERT_TRUE(write_file_atomically(path, bytes));
  const auto journal = Journal::open(path);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::unsupported);
  EXPECT_EQ(*read_file(path), bytes);
}

TEST_F(JournalTest, AFolderThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(write_file_atomically(folder + "/state", "a file"));
  const auto journal = Journal::open(path);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::io);
  EXPECT_FALSE(journal.error().advice.empty());
}

TEST_F(JournalTest, AFullDiskIsAnErrorAndLosesNothing) {
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal->append(run(1)));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = std::filesystem::file_size(path);  // stands for a full disk
  setrlimit(RLIMIT_FSIZE, &small);
  const auto refused = journal->append(run(2, 100000));
  small.rlim_cur = 16;
  setrlimit(RLIMIT_FSIZE, &small);
  const auto begun = Journal::open(folder + "/state/new.sqlite");
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_NE(refused.error().advice.find("space"), std::string::npos);
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::io);
  EXPECT_EQ(journal->list(10)->size(), 1u);
  EXPECT_TRUE(journal->append(run(3)));
  EXPECT_EQ(n_files(".broken-"), 0);
}

// Appends for as long as it lives.
[[noreturn]] void append_for_ever(const std::string& path) {
  auto journal = Journal::open(path, kSmallCapBytes);
  for (int i = 0; journal; ++i)
    if (!journal->append(run(i, static_cast<size_t>(i % 7) * 1000))) ::_exit(1);
  ::_exit(1);
}

TEST_F(JournalTest, AKilledProcessLeavesWholeRecords) {
  int n_seen = 0;
  for (int round = 0; round < 8; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) append_for_ever(path);
    std::this_thread::sleep_for(std::chrono::milliseconds(40 + 7 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    auto journal = Journal::open(path, kSmallCapBytes);
    ASSERT_TRUE(journal) << journal.error().what;
    EXPECT_EQ(journal->notice(), "");
    const auto runs = journal->list(1000);
    ASSERT_TRUE(runs) << runs.error().what;
    for (const RunRecord& seen : *runs) {
      const int i = std::stoi(seen.model.substr(6));
      ASSERT_EQ(journal->get(seen.id)->account, run(i, static_cast<size_t>(i % 7) * 1000).account);
      ++n_seen;
    }
  }
  EXPECT_GT(n_seen, 0);
}

TEST_F(JournalTest, TwoProcessesLoseNoRun) {
  constexpr int kRuns = 20;
  pid_t children[2];
  for (pid_t& child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    auto journal = Journal::open(path);
    if (!journal) ::_exit(1);
    for (int i = 0; i < kRuns; ++i)
      if (!journal->append(run(i))) ::_exit(2);
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Journal::open(path)->list(1000)->size(), 2u * kRuns);
}

TEST_F(JournalTest, ManyProcessesFindOneBrokenFile) {
  constexpr int kRounds = 20, kProcesses = 6;
  ASSERT_TRUE(make_folders(folder + "/state"));
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_TRUE(write_file_atomically(path, std::string(5000, 'z')));
    pid_t children[kProcesses];
    for (pid_t& child : children) {
      child = ::fork();
      ASSERT_GE(child, 0);
      if (child != 0) continue;
      auto journal = Journal::open(path);
      ::_exit(journal && journal->append(run(1)) ? 0 : 1);
    }
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(n_files(".broken-"), round);
    EXPECT_EQ(Journal::open(path)->list(10)->size(), size_t{kProcesses});
  }
}

}  // namespace
}  // namespace hwtv::journal
