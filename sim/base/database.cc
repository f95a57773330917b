// SPDX-License-Identifier: Apache-2.0
#include "base/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "base/database_uri.h"
#include "base/files.h"

namespace smk::sim {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr int kPauseMs = 5;

}  // namespace

Database::Database(const std::string& path, Mode mode) : path_(path) {
  const int flags = mode == Mode::kRead    ? SQLITE_OPEN_READONLY
                    : mode == Mode::kWrite ? SQLITE_OPEN_READWRITE
                                           : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  CheckReadable(path, ~std::uintmax_t{0});
  // With URIs, so that ATTACH takes them; a path is never one.
  const bool looks_so = path.rfind("file:", 0) == 0;
  Open(looks_so ? "./" + path : path, flags | SQLITE_OPEN_URI);
  sqlite3_busy_timeout(handle_, kPatienceMs);
  if (mode == Mode::kRead) OpenUnchanging();
}

void Database::Open(const std::string& name, int flags) {
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  if (code == SQLITE_OK) return;
  const DatabaseError error(fmt::format("{}: {}", path_, sqlite3_errmsg(handle_)), code & 0xff);
  sqlite3_close(handle_);
  throw error;
}

void Database::OpenUnchanging() {
  // With WAL, a reader makes two files beside the database, unless it says that nobody writes.
  const int code = sqlite3_exec(handle_, "PRAGMA schema_version", nullptr, nullptr, nullptr) & 0xff;
  if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) return;
  sqlite3_close(handle_);
  RefuseLogBeside(path_, code);
  Open(UnchangingUri(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::Fail(int code) const {
  // What SQLite says of a file that is gone is mostly "disk I/O error".
  const std::string said = sqlite3_errmsg(handle_);
  throw DatabaseError(
      fmt::format("{}: {}", path_, HasMoved() ? "was removed or replaced meanwhile" : said),
      code & 0xff);
}

void Database::Run(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) Fail(code);
}

void Database::SetJournalMode(const std::string& mode) {
  for (int waited = 0;; waited += kPauseMs) {
    try {
      Text("PRAGMA journal_mode = " + mode);
      return;
    } catch (const DatabaseError& error) {
      if (error.code() != SQLITE_BUSY || waited >= kPatienceMs) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
  }
}

std::int64_t Database::Number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.Step() ? statement.Number(0) : 0;
}

std::string Database::Text(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.Step() ? statement.Text(0) : "";
}

bool Database::HasMoved() const {
  int moved = 0;
  sqlite3_file_control(handle_, nullptr, SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  const int code = sqlite3_prepare_v2(database.handle_, sql.c_str(), -1, &handle_, nullptr);
  if (code != SQLITE_OK) database_.Fail(code);
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::Reset() { sqlite3_reset(handle_); }

bool Statement::Step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    // The message belongs to this call, so it is taken before the statement is reset.
    try {
      database_.Fail(code);
    } catch (...) {
      sqlite3_reset(handle_);
      throw;
    }
  }
  sqlite3_reset(handle_);
  return false;
}

void Statement::Run() {
  while (Step()) {
  }
}

int Statement::columns() const { return sqlite3_column_count(handle_); }
std::string Statement::ColumnName(int column) const { return sqlite3_column_name(handle_, column); }
bool Statement::IsNull(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}
bool Statement::IsWhole(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_INTEGER;
}
bool Statement::IsNumber(int column) const {
  return IsWhole(column) || sqlite3_column_type(handle_, column) == SQLITE_FLOAT;
}
std::int64_t Statement::Number(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::Real(int column) const { return sqlite3_column_double(handle_, column); }
std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(handle_, column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

void Statement::BindNumber(int index, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(handle_, index, value); code != SQLITE_OK) {
    database_.Fail(code);
  }
}
void Statement::BindReal(int index, double value) {
  if (const int code = sqlite3_bind_double(handle_, index, value); code != SQLITE_OK) {
    database_.Fail(code);
  }
}
void Statement::BindText(int index, const std::string& value) {
  const int code = sqlite3_bind_text(handle_, index, value.data(), static_cast<int>(value.size()),
                                     SQLITE_TRANSIENT);
  if (code != SQLITE_OK) database_.Fail(code);
}
void Statement::BindNull(int index) {
  if (const int code = sqlite3_bind_null(handle_, index); code != SQLITE_OK) database_.Fail(code);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.Run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.Run("ROLLBACK");
  } catch (const DatabaseError&) {
    // SQLite has rolled back by itself (disk full), or the connection is lost: nothing is left
    // open.
  }
}

void Transaction::Commit() {
  database_.Run("COMMIT");
  open_ = false;
}

}  // namespace smk::sim
