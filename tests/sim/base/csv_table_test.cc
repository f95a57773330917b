// SPDX-License-Identifier: Apache-2.0
// CSV files: cells, columns, and errors with file, line and column.
#include "base/csv_table.h"

#include <gmock/gmock.h>

#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;

class CsvFiles : public ScratchTest {
 protected:
  // The cells of every row, after the header.
  std::vector<std::vector<std::string>> RowsOf(const std::string& text) const {
    CsvTable table(Write("t.csv", text), {});
    std::vector<std::vector<std::string>> rows;
    while (table.Next()) {
      rows.emplace_back();
      for (std::size_t i = 0; i < table.header().size(); ++i) rows.back().push_back(table.Text(i));
    }
    return rows;
  }
  // What reading all of it refuses.
  std::string RefusalOf(const std::string& text,
                        const std::vector<std::string>& columns = {}) const {
    const std::string path = Write("t.csv", text);
    const std::string said = Refusal([&] {
      CsvTable table(path, columns);
      while (table.Next()) {
      }
    });
    EXPECT_EQ(said.rfind(path, 0), said == "accepted" ? std::string::npos : 0u) << said;
    return said == "accepted" ? said : said.substr(path.size());
  }
};

TEST_F(CsvFiles, RowsComeOneAfterAnother) {
  CsvTable table(Write("t.csv", "cycle,name\n7,a\n8,\n"), {"name", "cycle"});
  EXPECT_THAT(table.header(), ElementsAre("cycle", "name"));
  EXPECT_EQ(table.Column("name"), 1u);
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Number(0), 7u);
  EXPECT_EQ(table.Text(1), "a");
  EXPECT_FALSE(table.IsEmpty(1));
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Number(0), 8u);
  EXPECT_TRUE(table.IsEmpty(1));
  EXPECT_FALSE(table.Next());
  EXPECT_FALSE(table.Next()) << "the end stays the end";
}

TEST_F(CsvFiles, AHeaderAloneIsATable) {
  EXPECT_EQ(RowsOf("a,b\n").size(), 0u);
  EXPECT_EQ(RowsOf("a,b").size(), 0u);
}

TEST_F(CsvFiles, TheLastLineNeedsNoEnd) {
  EXPECT_THAT(RowsOf("a,b\n1,2"), ElementsAre(ElementsAre("1", "2")));
}

TEST_F(CsvFiles, QuotesHoldCommasAndQuotes) {
  EXPECT_THAT(RowsOf("a,b\n\"x,y\",\"say \"\"no\"\"\"\n\"\",\"\"\"\"\n"),
              ElementsAre(ElementsAre("x,y", "say \"no\""), ElementsAre("", "\"")));
}

TEST_F(CsvFiles, QuotesHoldLineEnds) {
  EXPECT_THAT(RowsOf("a,b\n\"x\ny\",\"\r\n\"\n1,\"\r\"\n"),
              ElementsAre(ElementsAre("x\ny", "\r\n"), ElementsAre("1", "\r")));
  EXPECT_EQ(RefusalOf("a,b\n\"x\ny\",2\n3\n"), ":4: expected 2 cells, got 1") << "lines count on";
}

TEST_F(CsvFiles, SpreadsheetsEndLinesWithTwoCharacters) {
  EXPECT_THAT(RowsOf("\xef\xbb\xbf"
                     "a,b\r\n1,2\r\n\"3\",\r\n5,6"),
              ElementsAre(ElementsAre("1", "2"), ElementsAre("3", ""), ElementsAre("5", "6")));
  CsvTable table(Write("t.csv",
                       "\xef\xbb\xbf"
                       "a,b\r\n1,2\r\n"),
                 {"a", "b"});
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Number(1), 2u);
}

TEST_F(CsvFiles, OldSpreadsheetsEndLinesWithTheOther) {
  EXPECT_THAT(RowsOf("a,b\r1,2\r\"3\",\r"),
              ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "")));
  EXPECT_EQ(RefusalOf("a,b\r1,2\r3\r"), ":3: expected 2 cells, got 1");
}

TEST_F(CsvFiles, AnEmptyLineIsARow) {
  EXPECT_EQ(RefusalOf("a,b\r\n\r\n1,2\r\n"), ":2: expected 2 cells, got 1");
  EXPECT_THAT(RowsOf("a\n\n1\n"), ElementsAre(ElementsAre(""), ElementsAre("1")));
}

TEST_F(CsvFiles, SpacesBelongToCells) {
  EXPECT_THAT(RowsOf("a,b\n 1 ,\t2\n"), ElementsAre(ElementsAre(" 1 ", "\t2")));
}

TEST_F(CsvFiles, QuotesAreAroundWholeCells) {
  for (const char* row : {"1\"2,3", "\"1\"2,3", "\"1\" ,3"}) {
    EXPECT_EQ(RefusalOf(std::string("a,b\n1,2\n") + row + "\n"),
              ":3: a quote neither begins nor ends a cell")
        << row;
  }
}

TEST_F(CsvFiles, EveryEmptyCellIsACell) {
  EXPECT_THAT(RowsOf("a,b,c\n,,\n1,,3\n"),
              ElementsAre(ElementsAre("", "", ""), ElementsAre("1", "", "3")));
}

TEST_F(CsvFiles, AnEmptyFileHasNoHeader) {
  EXPECT_EQ(RefusalOf(""), ":0: expected a header, got an empty file");
}

TEST_F(CsvFiles, RowsHaveAsManyCellsAsTheHeader) {
  EXPECT_EQ(RefusalOf("a,b\n1,2\n3\n"), ":3: expected 2 cells, got 1");
  EXPECT_EQ(RefusalOf("a,b\n1,2,3\n"), ":2: expected 2 cells, got 3");
  EXPECT_EQ(RefusalOf("a,b\n\n"), ":2: expected 2 cells, got 1");
}

TEST_F(CsvFiles, OpenQuotesAreToldByTheirLine) {
  EXPECT_EQ(RefusalOf("a,b\n1,2\n\"x,2\n"), ":3: a quote is not closed");
  EXPECT_EQ(RefusalOf("a,\"b\n"), ":1: a quote is not closed");
}

TEST_F(CsvFiles, ColumnsThatAreNeededMustBeThere) {
  EXPECT_EQ(RefusalOf("a,b\n", {"a", "c"}), ":1: no column 'c'");
  EXPECT_EQ(RefusalOf("a,b\n", {"b", "a"}), "accepted");
  CsvTable table(Write("t.csv", "a\n1\n"), {});
  EXPECT_EQ(Refusal([&] { table.Column("A"); }), Path("t.csv") + ":1: no column 'A'");
}

TEST_F(CsvFiles, NumbersAreWholeAndNotNegative) {
  for (const char* cell : {"", "x", "-1", "+1", "1.5", "0x10", " 1", "1 ", "1e3",
                           "18446744073709551616", "99999999999999999999999"}) {
    CsvTable table(Write("t.csv", std::string("name,n\na,") + cell + "\n"), {});
    ASSERT_TRUE(table.Next());
    EXPECT_EQ(Refusal([&] { table.Number(1); }),
              Path("t.csv") + ":2: n: expected a whole number, got '" + cell + "'");
  }
  CsvTable table(Write("t.csv", "n,m\n18446744073709551615,007\n"), {});
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Number(0), ~std::uint64_t{0});
  EXPECT_EQ(table.Number(1), 7u);
}

TEST_F(CsvFiles, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(Refusal([&] { CsvTable(Path("no.csv"), {}); }), Path("no.csv") + ": cannot be read");
}

TEST_F(CsvFiles, AnyCellsComeBack) {
  Chance chance;
  for (int round = 0; round < 200; ++round) {
    const std::size_t columns = 1 + chance.Below(4);
    std::vector<std::vector<std::string>> rows(chance.Below(5), std::vector<std::string>(columns));
    std::string text = "c";
    for (std::size_t i = 1; i < columns; ++i) text += ",c";
    text += '\n';
    for (auto& row : rows) {
      for (std::size_t i = 0; i < columns; ++i) {
        row[i] = chance.Text(6, "ab,\" 0\r\n");
        std::string cell;
        for (const char c : row[i]) cell += c == '"' ? std::string(2, c) : std::string(1, c);
        text += (i == 0 ? "\"" : ",\"") + cell + '"';
      }
      text += '\n';
    }
    ASSERT_EQ(RowsOf(text), rows) << text;
  }
}

TEST_F(CsvFiles, OnlyCellsThatNeedThemHaveQuotes) {
  EXPECT_EQ(QuotedCell(""), "");
  EXPECT_EQ(QuotedCell("a b'c;d"), "a b'c;d");
  EXPECT_EQ(QuotedCell("a,b"), "\"a,b\"");
  EXPECT_EQ(QuotedCell("\""), "\"\"\"\"");
  EXPECT_EQ(QuotedCell("a\nb"), "\"a\nb\"");
  Chance chance;
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::string> cells = {chance.Text(6, "ab,\" '\r\n"),
                                            chance.Text(6, "ab,\" '\r\n")};
    const std::string text = "c,d\n" + QuotedCell(cells[0]) + "," + QuotedCell(cells[1]) + "\n";
    ASSERT_EQ(RowsOf(text).at(0), cells) << text;
  }
}

TEST_F(CsvFiles, DamageIsRefusedOrReadNeverMore) {
  Chance chance;
  const std::string good = "cycle,name,n\n1,\"a,b\",2\n3,c,4\n5,\"\"\"\",6\n";
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    text[chance.Below(text.size())] = ",\"\n1\0x"[chance.Below(6)];
    if (chance.Happens()) text.resize(chance.Below(text.size() + 1));
    const std::string said = RefusalOf(text, {"n"});
    if (said != "accepted") {
      EXPECT_EQ(said.find('\n'), std::string::npos) << "one line";
    }
  }
}

}  // namespace
}  // namespace smk::sim
