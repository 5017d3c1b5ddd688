#include "journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/folders.h"

// A rollback journal, SQLite's default, not a write-ahead log: one short transaction per run needs
// no more, a killed process leaves nothing that the next open does not undo, and no second file
// counts towards the cap.  Two processes wait for each other, at most kBusyMs.
namespace hwtv::journal {
namespace {

constexpr int kSchemaVersion = 1;
constexpr int kApplicationId = 0x68777476;  // "hwtv", in the file's header
constexpr int kBusyMs = 3000;
constexpr int64_t kSparePages = 16;  // what indexes and pointer maps may take beside a record

constexpr const char* kCreate =
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, time_s REAL NOT NULL,"
    " version TEXT NOT NULL, fingerprint TEXT NOT NULL, command TEXT NOT NULL,"
    " model TEXT NOT NULL, model_id TEXT NOT NULL, account TEXT NOT NULL)";

bool is_broken(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

// One prepared statement.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql) {
    code_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int index, double value) { sqlite3_bind_double(statement_, index, value); }
  void bind(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }
  void bind(int index, const std::string& value) {
    sqlite3_bind_text64(statement_, index, value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  }
  bool step() {  // whether there is a row
    if (code_ == SQLITE_OK || code_ == SQLITE_ROW) code_ = sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
  }
  bool failed() const { return code_ != SQLITE_OK && code_ != SQLITE_ROW && code_ != SQLITE_DONE; }
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string text(int column) const {
    const unsigned char* at = sqlite3_column_text(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return at ? std::string(reinterpret_cast<const char*>(at), static_cast<size_t>(size)) : "";
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int code_;
};

RunRecord run_of(const Statement& row, bool with_account) {
  return {row.integer(0), row.real(1), row.text(2), row.text(3),
          row.text(4),    row.text(5), row.text(6), with_account ? row.text(7) : ""};
}

int64_t size_of(const RunRecord& run) {
  return static_cast<int64_t>(run.version.size() + run.fingerprint.size() + run.command.size() +
                              run.model.size() + run.model_id.size() + run.account.size());
}

// A lock on the journal's folder, waited for at most kBusyMs.  SQLite finds a rollback journal by
// its name: a process that still holds a file since moved aside would take the new file's journal
// for its own and undo another's transaction.  So nobody reads or writes while a file is being
// moved.
class FolderLock {
 public:
  FolderLock(const std::string& path, int mode) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int waited_ms = 0; fd_ >= 0 && ::flock(fd_, mode | LOCK_NB) != 0; ++waited_ms) {
      if (waited_ms == kBusyMs || (errno != EWOULDBLOCK && errno != EINTR)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace

// An open file.
struct Journal::Database {
  std::string path;
  int64_t cap_bytes = 0;
  sqlite3* db = nullptr;
  std::string notice;
  int failure_code = SQLITE_OK;  // of the last error()

  Database(std::string path_of, int64_t cap) : path(std::move(path_of)), cap_bytes(cap) {}
  ~Database() { sqlite3_close(db); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  tl::unexpected<Error> error(const char* action);
  bool run(const char* sql) {
    return sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  int64_t number(const char* sql) {  // of a query with one number; -1 when it fails
    Statement query(db, sql);
    return query.step() ? query.integer(0) : -1;
  }

  Result<void> connect();
  Result<void> create_schema();
  bool is_sound();
  Result<void> open_or_replace(bool suspect);
  Result<void> follow_name();
  Result<void> move_aside();
  bool drop_oldest_until_fits(int64_t record_bytes);
  Result<int64_t> append(const RunRecord& run);
};

tl::unexpected<Error> Journal::Database::error(const char* action) {
  failure_code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
  std::string advice = "check the file's permissions, or set XDG_STATE_HOME to another folder";
  const int primary = failure_code & 0xff;
  if (primary == SQLITE_FULL || primary == SQLITE_IOERR)
    advice = "free some space on that disk, or set XDG_STATE_HOME to a folder on another";
  if (primary == SQLITE_BUSY) advice = "another hwtv is writing; try again";
  if (is_broken(failure_code)) advice = "remove the file; a new one is begun";
  return fail(ErrorCode::io,
              fmt::format("cannot {} the journal {}: {}", action, path,
                          db ? sqlite3_errmsg(db) : "out of memory"),
              std::move(advice));
}

// Opens the file and brings an empty one to our schema.
Result<void> Journal::Database::connect() {
  sqlite3_close(std::exchange(db, nullptr));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(path.c_str(), &db, flags, nullptr) != SQLITE_OK) return error("open");
  sqlite3_busy_timeout(db, kBusyMs);
  run("PRAGMA synchronous = NORMAL");
  run("PRAGMA trusted_schema = OFF");  // a file made by others runs none of its own code
  const int64_t version = number("PRAGMA user_version");
  if (version < 0) return error("open");
  if (version == 0) return create_schema();
  if (number("PRAGMA application_id") == kApplicationId && version > kSchemaVersion)
    return fail(ErrorCode::unsupported,
                fmt::format("the journal {} has schema {}, this program knows {}", path, version,
                            kSchemaVersion),
                "use the newer hwtv, or set XDG_STATE_HOME to another folder");
  return {};
}

Result<void> Journal::Database::create_schema() {
  // Only an empty file takes this: freed pages then leave the file, or the cap would mean nothing.
  run("PRAGMA auto_vacuum = FULL");
  if (!run("BEGIN IMMEDIATE")) return error("open");
  if (number("PRAGMA user_version") == 0 && number("SELECT count(*) FROM sqlite_master") == 0) {
    const std::string mark = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                         kApplicationId, kSchemaVersion);
    if (!run(kCreate) || !run(mark.c_str())) {
      auto failure = error("begin");
      run("ROLLBACK");
      return failure;
    }
  }
  if (!run("COMMIT")) {
    auto failure = error("begin");
    run("ROLLBACK");
    return failure;
  }
  return {};
}

// Whether this is one of our journals and every page of it can be read.
bool Journal::Database::is_sound() {
  if (number("PRAGMA application_id") != kApplicationId) return false;
  Statement check(db, "PRAGMA quick_check(1)");
  return check.step() && check.text(0) == "ok" && number("SELECT count(*) FROM run") >= 0;
}

// Opens the file; a broken one is moved aside.  `suspect`: reading it has failed, so look at all of
// it.  Alone with the folder, the file is looked at again: another process may have replaced it.
Result<void> Journal::Database::open_or_replace(bool suspect) {
  const auto usable = [&](const Result<void>& connected) {
    if (!connected)
      return !is_broken(failure_code) || connected.error().code == ErrorCode::unsupported;
    return suspect ? is_sound() : number("PRAGMA application_id") == kApplicationId;
  };
  {
    const FolderLock lock(path, LOCK_SH);
    auto connected = connect();
    if (usable(connected)) return connected;
    sqlite3_close(std::exchange(db, nullptr));
  }
  const FolderLock lock(path, LOCK_EX);
  auto connected = connect();
  if (usable(connected)) return connected;
  HWTV_TRY_VOID(move_aside());
  return connect();
}

// Requires a FolderLock.  Opens the file that has this name now, when ours was moved or removed.
Result<void> Journal::Database::follow_name() {
  int moved = 0;
  if (db && sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && !moved)
    return {};
  return connect();
}

Result<void> Journal::Database::move_aside() {
  sqlite3_close(std::exchange(db, nullptr));
  std::string aside;
  for (int64_t suffix = std::time(nullptr);; ++suffix) {
    aside = fmt::format("{}.broken-{}", path, suffix);
    if (::access(aside.c_str(), F_OK) != 0) break;
  }
  // A rollback journal belongs to the file it lies beside; the new file must not inherit it.
  ::rename((path + "-journal").c_str(), (aside + "-journal").c_str());
  if (::rename(path.c_str(), aside.c_str()) != 0)
    return fail(ErrorCode::io, fmt::format("the journal {} is broken and cannot be moved", path),
                "remove it, or check the folder's permissions");
  notice =
      fmt::format("the journal {} was broken; it is now {} and a new one was begun", path, aside);
  return {};
}

bool Journal::Database::drop_oldest_until_fits(int64_t record_bytes) {
  const int64_t page_bytes = number("PRAGMA page_size");
  if (page_bytes <= 0) return false;
  const int64_t n_wanted = record_bytes / (page_bytes - 64) + kSparePages;
  for (;;) {
    const int64_t n_pages = number("PRAGMA page_count"), n_free = number("PRAGMA freelist_count");
    if (n_pages < 0 || n_free < 0) return false;
    if ((n_pages - n_free + n_wanted) * page_bytes <= cap_bytes) return true;
    if (!run("DELETE FROM run WHERE id = (SELECT min(id) FROM run)")) return false;
    if (sqlite3_changes(db) == 0) return true;  // nothing left to drop
  }
}

Result<int64_t> Journal::Database::append(const RunRecord& record) {
  const FolderLock lock(path, LOCK_SH);
  HWTV_TRY_VOID(follow_name());
  if (!run("BEGIN IMMEDIATE")) return error("write to");
  bool written = drop_oldest_until_fits(size_of(record));
  int64_t id = 0;
  if (written) {
    Statement insert(db,
                     "INSERT INTO run (time_s, version, fingerprint, command, model, model_id,"
                     " account) VALUES (?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, record.time_s);
    int index = 2;
    for (const std::string* text : {&record.version, &record.fingerprint, &record.command,
                                    &record.model, &record.model_id, &record.account})
      insert.bind(index++, *text);
    insert.step();
    written = !insert.failed();
    id = sqlite3_last_insert_rowid(db);
  }
  if (written && run("COMMIT")) return id;
  auto failure = error("write to");
  run("ROLLBACK");
  return failure;
}

Journal::Journal(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::string& path, int64_t cap_bytes) {
  CHECK(cap_bytes >= (int64_t{256} << 10));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) HWTV_TRY_VOID(make_folders(folder));
  auto database = std::make_unique<Database>(path, cap_bytes);
  HWTV_TRY_VOID(database->open_or_replace(/*suspect=*/false));
  return Journal(std::move(database));
}

Result<Journal> Journal::open_default() {
  const std::string folder = state_folder();
  if (folder.empty())
    return fail(ErrorCode::io, "this user has no home folder for the journal",
                "set HOME or XDG_STATE_HOME");
  return open(folder + "/journal.sqlite");
}

Result<int64_t> Journal::append(const RunRecord& run) {
  if (size_of(run) > database_->cap_bytes / 8)
    return fail(ErrorCode::invalid_request,
                fmt::format("a run of {} bytes is too large for the journal of {}", size_of(run),
                            database_->cap_bytes),
                "journal a shorter account");
  auto id = database_->append(run);
  if (id || !is_broken(database_->failure_code)) return id;
  HWTV_TRY_VOID(database_->open_or_replace(/*suspect=*/true));
  return database_->append(run);
}

Result<std::vector<RunRecord>> Journal::list(int n_max) const {
  const FolderLock lock(database_->path, LOCK_SH);
  HWTV_TRY_VOID(database_->follow_name());
  Statement query(database_->db,
                  "SELECT id, time_s, version, fingerprint, command, model, model_id FROM run"
                  " ORDER BY id DESC LIMIT ?");
  query.bind(1, static_cast<int64_t>(n_max));
  std::vector<RunRecord> runs;
  while (query.step()) runs.push_back(run_of(query, /*with_account=*/false));
  if (query.failed()) return database_->error("read");
  return runs;
}

Result<RunRecord> Journal::get(int64_t id) const {
  const FolderLock lock(database_->path, LOCK_SH);
  HWTV_TRY_VOID(database_->follow_name());
  Statement query(database_->db,
                  "SELECT id, time_s, version, fingerprint, command, model, model_id, account"
                  " FROM run WHERE id = ?");
  query.bind(1, id);
  if (query.step()) return run_of(query, /*with_account=*/true);
  if (query.failed()) return database_->error("read");
  return fail(ErrorCode::invalid_request, fmt::format("the journal has no run {}", id),
              "`hwtv history` lists the runs it has");
}

const std::string& Journal::notice() const { return database_->notice; }

}  // namespace hwtv::journal
