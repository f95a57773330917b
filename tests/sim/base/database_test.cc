// SPDX-License-Identifier: Apache-2.0
// SQLite with exceptions: values, errors, transactions, two that write.
#include "base/database.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Mode = Database::Mode;

struct Problem {
  std::string what;
  int code = 0;
};

template <typename Call>
Problem ProblemOf(const Call& call) {
  try {
    call();
  } catch (const DatabaseError& error) {
    return {error.what(), error.code()};
  }
  return {};
}

class Databases : public ScratchTest {
 protected:
  std::string File() const { return Path("x.db"); }
};

TEST_F(Databases, OnlyCreateMakesAFile) {
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    const Problem problem = ProblemOf([&] { Database(File(), mode); });
    EXPECT_EQ(problem.code, SQLITE_CANTOPEN);
    EXPECT_EQ(problem.what, File() + ": unable to open database file");
    EXPECT_FALSE(Exists("x.db"));
  }
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a)");
  EXPECT_TRUE(Exists("x.db"));
  EXPECT_EQ(database.path(), File());
}

TEST_F(Databases, AFileThatIsGoneIsSaidToBe) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a)");
  EXPECT_FALSE(database.HasMoved());
  std::filesystem::rename(File(), Path("y.db"));
  EXPECT_TRUE(database.HasMoved());
  Write("x.db", "another");
  EXPECT_TRUE(database.HasMoved());
  const Problem problem = ProblemOf([&] { database.Run("INSERT INTO t VALUES (1)"); });
  EXPECT_EQ(problem.what, File() + ": was removed or replaced meanwhile");
  std::filesystem::rename(Path("y.db"), File());
  EXPECT_FALSE(database.HasMoved());
  EXPECT_EQ(ProblemOf([&] { database.Run("INSERT INTO t VALUES (1)"); }).what, "");
}

TEST_F(Databases, AReaderCannotWrite) {
  Database(File(), Mode::kCreate).Run("CREATE TABLE t (a)");
  Database reader(File(), Mode::kRead);
  const Problem problem = ProblemOf([&] { reader.Run("INSERT INTO t VALUES (1)"); });
  EXPECT_EQ(problem.code, SQLITE_READONLY);
  EXPECT_THAT(problem.what, StartsWith(File() + ": "));
  EXPECT_EQ(reader.Number("SELECT COUNT(*) FROM t"), 0);
}

TEST_F(Databases, AFileOfAnotherKindIsToldByItsName) {
  Write("x.db", std::string(2000, 'x'));
  Database database(File(), Mode::kRead);
  const Problem problem = ProblemOf([&] { database.Number("SELECT COUNT(*) FROM t"); });
  EXPECT_EQ(problem.code, SQLITE_NOTADB);
  EXPECT_EQ(problem.what, File() + ": file is not a database");
}

TEST_F(Databases, ErrorsAreOneLineWithTheFile) {
  Database database(File(), Mode::kCreate);
  EXPECT_EQ(ProblemOf([&] { database.Run("SELEC 1"); }).what,
            File() + ": near \"SELEC\": syntax error");
  EXPECT_EQ(ProblemOf([&] { Statement(database, "SELECT a FROM absent"); }).what,
            File() + ": no such table: absent");
  database.Run("CREATE TABLE t (a PRIMARY KEY); INSERT INTO t VALUES (1)");
  const Problem twice = ProblemOf([&] { database.Run("INSERT INTO t VALUES (1)"); });
  EXPECT_EQ(twice.code, SQLITE_CONSTRAINT) << "the primary code";
  EXPECT_EQ(twice.what, File() + ": UNIQUE constraint failed: t.a");
}

TEST_F(Databases, EveryKindOfValueComesBack) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a, b, c, d)");
  Statement(database, "INSERT INTO t VALUES (?, ?, ?, ?)")
      .With(std::int64_t{-7}, 0.1, std::string("it's \"x\""), std::optional<int>())
      .Run();
  Statement row(database, "SELECT a, b, c, d AS last FROM t");
  ASSERT_TRUE(row.Step());
  EXPECT_EQ(row.columns(), 4);
  EXPECT_EQ(row.ColumnName(3), "last");
  EXPECT_EQ(row.Number(0), -7);
  EXPECT_EQ(row.Real(1), 0.1) << "to the last bit";
  EXPECT_EQ(row.Text(2), "it's \"x\"");
  EXPECT_TRUE(row.IsNull(3));
  EXPECT_EQ(row.Text(3), "");
  EXPECT_EQ(row.Number(3), 0);
  const auto kinds = [&](int column) {
    return std::vector<bool>{row.IsWhole(column), row.IsNumber(column), row.IsNull(column)};
  };
  EXPECT_EQ(kinds(0), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(kinds(1), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(kinds(2), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(kinds(3), (std::vector<bool>{false, false, true}));
  EXPECT_FALSE(row.Step());
}

TEST_F(Databases, WhatIsOptionalIsAValueOrNull) {
  Database database(File(), Mode::kCreate);
  Statement statement(database, "SELECT ?, ?, ?");
  statement.With(std::optional<std::string>("x"), std::optional<double>(1.5), 3u);
  ASSERT_TRUE(statement.Step());
  EXPECT_EQ(statement.Text(0), "x");
  EXPECT_EQ(statement.Real(1), 1.5);
  EXPECT_EQ(statement.Number(2), 3);
  statement.With(std::optional<std::string>(), std::optional<double>(), 4u);
  ASSERT_TRUE(statement.Step());
  EXPECT_TRUE(statement.IsNull(0));
  EXPECT_TRUE(statement.IsNull(1));
  EXPECT_EQ(statement.Number(2), 4);
}

TEST_F(Databases, AStatementBeginsAnewWithItsParameters) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)");
  Statement above(database, "SELECT a FROM t WHERE a > ? ORDER BY a");
  above.With(1);
  ASSERT_TRUE(above.Step());
  EXPECT_EQ(above.Number(0), 2);
  above.With(0);  // in the middle
  std::vector<std::int64_t> seen;
  while (above.Step()) seen.push_back(above.Number(0));
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST_F(Databases, AfterAnErrorAStatementCanBeUsedAgain) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a PRIMARY KEY)");
  Statement insert(database, "INSERT INTO t VALUES (?)");
  insert.With(1).Run();
  EXPECT_EQ(ProblemOf([&] { insert.With(1).Run(); }).code, SQLITE_CONSTRAINT);
  insert.With(2).Run();
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM t"), 2);
}

TEST_F(Databases, OneValueOfAStatement) {
  Database database(File(), Mode::kCreate);
  EXPECT_EQ(database.Number("SELECT 42, 7"), 42);
  EXPECT_EQ(database.Text("SELECT 'x'"), "x");
  EXPECT_EQ(database.Number("SELECT 42 WHERE 0"), 0) << "no row";
  EXPECT_EQ(database.Text("SELECT 'x' WHERE 0"), "");
}

TEST_F(Databases, ATransactionIsAllOrNothing) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a)");
  {
    Transaction transaction(database);
    database.Run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
  }
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM t"), 0);
  {
    Transaction transaction(database);
    database.Run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
    transaction.Commit();
  }
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM t"), 2);
}

TEST_F(Databases, AnExceptionUndoesATransaction) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a PRIMARY KEY)");
  EXPECT_EQ(ProblemOf([&] {
              Transaction transaction(database);
              database.Run("INSERT INTO t VALUES (1)");
              database.Run("INSERT INTO t VALUES (1)");
              transaction.Commit();
            }).code,
            SQLITE_CONSTRAINT);
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM t"), 0);
  Transaction transaction(database);  // none is open any more
  transaction.Commit();
}

TEST_F(Databases, AFullDiskLeavesWhatWasThere) {
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  database.Text("PRAGMA max_page_count = 4");
  const Problem problem = ProblemOf([&] {
    Transaction transaction(database);
    Statement insert(database, "INSERT INTO t VALUES (?)");
    for (int i = 0; i < 100; ++i) insert.With(std::string(1000, 'x')).Run();
    transaction.Commit();
  });
  EXPECT_EQ(problem.code, SQLITE_FULL);
  EXPECT_EQ(problem.what, File() + ": database or disk is full");
  EXPECT_EQ(database.Number("SELECT COUNT(*) FROM t"), 1);
  EXPECT_EQ(database.Text("PRAGMA integrity_check"), "ok");
}

TEST_F(Databases, ATransactionIsAWriterFromItsBeginning) {
  Database one(File(), Mode::kCreate), two(File(), Mode::kWrite);
  one.Run("CREATE TABLE t (a)");
  two.Text("PRAGMA busy_timeout = 0");
  Transaction transaction(one);
  EXPECT_EQ(ProblemOf([&] { Transaction other(two); }).code, SQLITE_BUSY);
}

TEST_F(Databases, AWriterWaitsForAnother) {
  Database one(File(), Mode::kCreate), two(File(), Mode::kWrite);
  one.Run("CREATE TABLE t (a)");
  auto transaction = std::make_unique<Transaction>(one);
  one.Run("INSERT INTO t VALUES (1)");
  std::thread other([&] {
    Transaction waits(two);
    two.Run("INSERT INTO t SELECT MAX(a) + 1 FROM t");
    waits.Commit();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  transaction->Commit();
  other.join();
  EXPECT_EQ(one.Number("SELECT MAX(a) FROM t"), 2) << "it has seen what the first wrote";
}

TEST_F(Databases, CountersOfManyWritersLoseNothing) {
  Database(File(), Mode::kCreate).Run("CREATE TABLE t (n); INSERT INTO t VALUES (0)");
  const auto count = [&] {
    Database database(File(), Mode::kWrite);
    for (int i = 0; i < 20; ++i) {
      Transaction transaction(database);
      const std::int64_t n = database.Number("SELECT n FROM t");
      Statement(database, "UPDATE t SET n = ?").With(n + 1).Run();
      transaction.Commit();
    }
  };
  std::thread one(count), two(count), three(count);
  one.join();
  two.join();
  three.join();
  EXPECT_EQ(Database(File(), Mode::kRead).Number("SELECT n FROM t"), 60);
}

TEST_F(Databases, TheJournalModeWaitsToo) {
  Database one(File(), Mode::kCreate), two(File(), Mode::kWrite);
  one.Run("CREATE TABLE t (a)");
  one.SetJournalMode("WAL");
  EXPECT_EQ(one.Text("PRAGMA journal_mode"), "wal");
  auto transaction = std::make_unique<Transaction>(one);
  std::thread other([&] { two.SetJournalMode("WAL"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  transaction->Commit();
  other.join();
  EXPECT_EQ(two.Text("PRAGMA journal_mode"), "wal");
}

TEST_F(Databases, AnyTextComesBack) {
  Chance chance;
  Database database(File(), Mode::kCreate);
  database.Run("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
  Statement insert(database, "INSERT INTO t VALUES (?, ?)");
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) {
    texts.push_back(chance.Text(40, "abc'\"\n\t;-%\xc3\xa4"));
    insert.With(i, texts.back()).Run();
  }
  Statement rows(database, "SELECT a FROM t ORDER BY id");
  for (const std::string& text : texts) {
    ASSERT_TRUE(rows.Step());
    EXPECT_EQ(rows.Text(0), text);
  }
}

}  // namespace
}  // namespace smk::sim
