// SPDX-License-Identifier: Apache-2.0
// SQLite with exceptions: a connection, statements, transactions.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

struct sqlite3;
struct sqlite3_stmt;

namespace smk::sim {

// What SQLite said, in one line with the file's name; `code` is its primary result code.
class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(const std::string& message, int code) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// A connection to one file. Waits up to a minute for another process that writes. One that only
// reads does so in a folder where nothing can be written, too.
class Database {
 public:
  enum class Mode { kRead, kWrite, kCreate };
  Database(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  // Statements without parameters and results, separated by semicolons.
  void Run(const std::string& sql);
  // Also waits for others: SQLite itself does not at this statement, lest two that read wait for
  // each other.
  void SetJournalMode(const std::string& mode);
  // The whole number that a statement gives.
  std::int64_t Number(const std::string& sql);
  std::string Text(const std::string& sql);
  // Whether another file than the open one, or none, is at the path now.
  bool HasMoved() const;
  [[noreturn]] void Fail(int code) const;

 private:
  friend class Statement;
  void Open(const std::string& name, int flags);
  // Opens a file again that cannot be read because SQLite cannot write beside it.
  void OpenUnchanging();
  std::string path_;
  sqlite3* handle_ = nullptr;
};

// One prepared statement, to be used many times.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement(Statement&& other) noexcept
      : database_(other.database_), handle_(other.handle_), bound_(other.bound_) {
    other.handle_ = nullptr;
  }

  // Gives all parameters a value and starts anew.
  template <typename... Values>
  Statement& With(const Values&... values) {
    Reset();
    bound_ = 0;
    return And(values...);
  }
  // Gives the next parameters a value.
  template <typename... Values>
  Statement& And(const Values&... values) {
    (BindOne(++bound_, values), ...);
    return *this;
  }
  // The next row; false after the last.
  bool Step();
  // All of a statement that gives no rows.
  void Run();

  int columns() const;
  std::string ColumnName(int column) const;
  bool IsNull(int column) const;
  bool IsNumber(int column) const;  // whole or not
  bool IsWhole(int column) const;
  std::int64_t Number(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;

 private:
  void Reset();
  void BindNumber(int index, std::int64_t value);
  void BindReal(int index, double value);
  void BindText(int index, const std::string& value);
  void BindNull(int index);
  template <typename T>
  void BindOne(int index, const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      BindReal(index, value);
    } else if constexpr (std::is_integral_v<T>) {
      BindNumber(index, static_cast<std::int64_t>(value));
    } else {
      BindText(index, value);
    }
  }
  template <typename T>
  void BindOne(int index, const std::optional<T>& value) {
    if (value) {
      BindOne(index, *value);
    } else {
      BindNull(index);
    }
  }

  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
  int bound_ = 0;  // parameters that have a value
};

// All or nothing: what is not committed at the end of the scope is undone. Begins as a writer, so
// that nothing read in it changes before it is written.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void Commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace smk::sim
