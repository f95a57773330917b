// SPDX-License-Identifier: Apache-2.0
// What is wrong in a workload file is refused with one line: file, line, key or token, expectation.
#include <filesystem>
#include <fstream>

#include "model/workload/rig.h"

namespace smk {
namespace {

std::string ErrorOf(const TestFile& file) {
  try {
    file.Parse();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// `expected` is the beginning of the message.
void ExpectError(const TestFile& file, const std::string& expected) {
  const std::string error = ErrorOf(file);
  EXPECT_EQ(error.substr(0, expected.size()), expected) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << "more than one line: " << error;
}

void ExpectProgramError(const std::string& program, int line, const std::string& expected) {
  TestFile file;
  file.program = program;
  ExpectError(file, "test.toml:" + std::to_string(line) + ": " + expected);
}

TEST(WorkloadError, AcceptsTheFileThatTheOthersAreMadeFrom) {
  EXPECT_EQ(ErrorOf(TestFile{}), "no error");
}

TEST(WorkloadError, RefusesUnknownKeys) {
  TestFile file;
  file.type += "\ncolour = 3";
  ExpectError(file, "test.toml:3: colour: expected one of the keys ");
  file = TestFile{};
  file.grid += "\ntreads = 3";
  ExpectError(file, "test.toml:11: kernel.treads: expected one of the keys ");
  file = TestFile{};
  file.launches = "launches = [{ times = 2, kernel = [\"k\"], kernels = [\"k\"] }]";
  ExpectError(file, "test.toml:3: launches.kernel: expected one of the keys ");
}

TEST(WorkloadError, RefusesMissingKeys) {
  const auto missing = [](std::string TestFile::*key, const std::string& expected) {
    TestFile file;
    file.*key = "";
    ExpectError(file, expected);
  };
  missing(&TestFile::description, "test.toml:1: description: expected one sentence (the key is");
  missing(&TestFile::type, "test.toml:1: type: expected \"compute\" or \"memory\" (the key is");
  missing(&TestFile::launches, "test.toml:1: launches: expected a list of kernel names");
  missing(&TestFile::name, "test.toml:5: kernel.name: expected the kernel's name (the key is");
  missing(&TestFile::threads,
          "test.toml:5: kernel.threads: expected a whole number from 1 to 1024");
  missing(&TestFile::registers, "test.toml:5: kernel.registers: expected a whole number from 1");
  missing(&TestFile::shared_memory, "test.toml:5: kernel.shared_memory: expected a whole number");
  missing(&TestFile::grid, "test.toml:5: kernel.grid: expected [x], [x, y] or [x, y, z]");
  missing(&TestFile::idempotence, "test.toml:5: kernel.idempotence: expected \"yes\" or \"no\" or");
}

TEST(WorkloadError, RefusesAFileWithoutKernelOrProgram) {
  const std::string head = "description = \"d\"\ntype = \"memory\"\nlaunches = [\"k\"]\n";
  const auto error = [&](const std::string& rest) {
    try {
      ParseWorkload(head + rest, "test.toml");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("").find("test.toml:1: kernel: expected at least one [[kernel]]"), 0u);
  EXPECT_EQ(error("kernel = []\n").find("test.toml:4: kernel: expected at least one"), 0u);
  EXPECT_EQ(error("[[kernel]]\nname = \"k\"\nthreads = 32\nregisters = 1\nshared_memory = 0\n"
                  "grid = [1]\nidempotence = \"no\"\n")
                .find("test.toml:4: kernel.program: expected the kernel's program"),
            0u);
}

TEST(WorkloadError, RefusesMalformedToml) {
  TestFile file;
  file.threads = "threads = = 3";
  ExpectError(file, "test.toml:7: TOML: expected valid TOML (");
  file = TestFile{};
  file.registers = "threads = 3";
  ExpectError(file, "test.toml:8: TOML: expected valid TOML (");
}

TEST(WorkloadError, RefusesImpossibleThreads) {
  for (const std::string value : {"0", "-1", "1025", "1.5", "\"many\""}) {
    TestFile file;
    file.threads = "threads = " + value;
    ExpectError(file, "test.toml:7: kernel.threads: expected a whole number from 1 to 1024");
  }
}

TEST(WorkloadError, RefusesImpossibleRegistersAndSharedMemory) {
  TestFile file;
  file.registers = "registers = 256";
  ExpectError(file, "test.toml:8: kernel.registers: expected a whole number from 1 to 255");
  file = TestFile{};
  file.shared_memory = "shared_memory = -1";
  ExpectError(file, "test.toml:9: kernel.shared_memory: expected a whole number from 0");
}

TEST(WorkloadError, RefusesImpossibleGrids) {
  for (const std::string value : {"[0]", "[-4]", "[]", "[1,1,1,1]", "[65536]", "4", "[\"x\"]"}) {
    TestFile file;
    file.grid = "grid = " + value;
    ExpectError(file, "test.toml:10: kernel.grid: expected [x], [x, y] or [x, y, z]");
  }
  TestFile file;
  file.grid = "grid = [65535, 65535]";
  ExpectError(file, "test.toml:10: kernel.grid: expected less than 2^31 TBs");
}

TEST(WorkloadError, RefusesImpossibleArrays) {
  TestFile file;
  file.arrays = "arrays = { a = 0 }";
  ExpectError(file, "test.toml:4: arrays.a: expected bytes from 1 to 16G");
  file.arrays = "arrays = { a = \"4 MB\" }";
  ExpectError(file, "test.toml:4: ");
  file.arrays = "arrays = { a = \"9G\", b = \"9G\" }";
  ExpectError(file, "test.toml:4: arrays.b: expected at most 16G in all arrays");
  file.arrays = "arrays = 3";
  ExpectError(file, "test.toml:4: arrays: expected a table");
  file.arrays = "arrays = { a = { width = 40, height = 9, bytes = 3 } }";
  ExpectError(file, "test.toml:4: arrays.a.bytes: expected 1, 2, 4, 8 or 16");
  file.arrays = "arrays = { a = { width = 0, height = 9, bytes = 4 } }";
  ExpectError(file, "test.toml:4: arrays.a.width: expected");
  file.arrays = "arrays = { a = { width = 40, height = 9, bytes = 4, depth = 2 } }";
  ExpectError(file, "test.toml:4: arrays.a.depth: expected");
}

TEST(WorkloadError, RefusesUnknownNamesInLaunches) {
  TestFile file;
  file.launches = "launches = [\"k\",\n\"other\"]";
  ExpectError(file, "test.toml:4: other: expected the name of a kernel of this file");
  file.launches = "launches = [{ times = 0, kernels = [\"k\"] }]";
  ExpectError(file, "test.toml:3: launches.times: expected a whole number from 1 to 65535");
  file.launches = "launches = [{ times = 65535, kernels = [\"k\", \"k\"] }]";
  ExpectError(file, "test.toml:3: launches: expected at most 65535 launches");
}

TEST(WorkloadError, RefusesWordsThatAreNoStatements) {
  ExpectProgramError("alu a =\n\n  fly a", 15, "fly: expected alu, imul, sfu");
  ExpectProgramError("exit", 13, "exit: expected no exit");
  ExpectProgramError("alu a =\n$", 14, "$: expected a word, a number or one of");
  ExpectProgramError("alu a = b c d e", 13, "e: expected at most 3 source registers");
  ExpectProgramError("load_shared a", 13, "load_shared: expected a result register");
  ExpectProgramError("store_shared a = b", 13, "a: expected no result register");
  ExpectProgramError("alu a = chaim", 13, "chaim: expected a register that");
  ExpectProgramError("alu a = addresses 3", 13, "addresses: expected the end of the line");
  ExpectProgramError("alu chain = a", 13, "chain: expected a register (this word");
  ExpectProgramError("alu a = x0", 13, "x0: expected x1 to x4096");
  ExpectProgramError("alu a = x4 ilp 5", 13, "ilp: expected at most as many chains");
  ExpectProgramError("alu a = 12ab", 13, "12a: expected a number");
}

TEST(WorkloadError, RefusesBlocksThatDoNotMatch) {
  ExpectProgramError("loop i 4 {\nalu a =", 13, "{: expected a matching }");
  ExpectProgramError("alu a =\n}", 14, "}: expected an instruction, loop, if or unroll");
  ExpectProgramError("loop i 4\nalu a =\n}", 13, "end of line: expected {");
  ExpectProgramError("loop i 4 { alu a =\n}", 13, "alu: expected the end of the line after {");
  ExpectProgramError("loop i 4 {\nalu a =\n} else {\nalu a =\n}", 15, "else: expected the end of");
  ExpectProgramError("if warp == 0 {\n}", 13, "if: expected an instruction in the block");
}

TEST(WorkloadError, RefusesRegistersThatNothingWrote) {
  ExpectProgramError("alu a =\nalu b = a c", 14,
                     "c: expected a register that an instruction above");
  ExpectProgramError("alu a = a", 13, "a: expected a register that an instruction above");
  ExpectProgramError("unroll i 2 {\nalu c.i =\n}\nalu d = c.2", 16, "c.2: expected a register");
}

TEST(WorkloadError, RefusesProgramsThatNeverEnd) {
  ExpectProgramError("loop i 0 {\nalu a =\n}", 13, "0: expected a trip count from 1 to 65535");
  ExpectProgramError("loop i -3 {\nalu a =\n}", 13, "-3: expected a trip count from 1 to 65535");
  ExpectProgramError("loop i 65536 {\nalu a =\n}", 13, "65536: expected a trip count from 1");
  ExpectProgramError("loop i per warp weighted 0:1 {\nalu a =\n}", 13,
                     "loop: expected a trip count");
  ExpectProgramError("loop i 4 {\n}", 13, "i: expected an instruction in every trip");
  ExpectProgramError("loop i 4 {\nif warp == 0 {\nalu a =\n}\n}", 13, "i: expected an instruction");
  ExpectProgramError("loop i 65535 {\nloop j 65535 {\nloop k 300 {\nalu a =\n}\n}\n}", 12,
                     "program: expected at most 2^40 warp instructions per warp");
}

TEST(WorkloadError, RefusesTooMuchOfEverything) {
  std::string deep;
  for (int i = 0; i < 7; ++i) deep += "loop i" + std::to_string(i) + " 2 {\n";
  ExpectProgramError(deep + "alu a =\n}\n}\n}\n}\n}\n}\n}", 19, "i6: expected at most 6 nested");
  std::string blocks;
  for (int i = 0; i < 40; ++i) blocks += "if warp == 0 {\n";
  ExpectProgramError(blocks, 45, "{: expected at most 32 nested blocks");
  ExpectProgramError("alu z =\nunroll i 48 {\nalu c.i =\n}", 15, "c.47: expected at most 48 regi");
  ExpectProgramError("unroll i 1000 {\nalu a = x100\n}", 14, "program: expected at most 65000");
  ExpectProgramError("load_global v = [a + " + std::string(500, '(') + "]", 13,
                     "(: expected at most 32 nested parentheses");
}

TEST(WorkloadError, RefusesBarriersUnderDivergence) {
  const std::string expected =
      "barrier: expected all warps of the TB to reach it, but they may "
      "differ since line 13";
  for (const std::string open :
       {"if warp == 0 {", "if warp < 2 {", "if chance 0.5 {", "loop i per warp uniform 1 3 {",
        "loop i per warp geometric 4 max 9 {", "loop i by warp < 2: 3 else 4 {"}) {
    ExpectProgramError(open + "\nalu a =\nbarrier\n}", 15, expected);
    ExpectProgramError(open + "\nalu a =\nloop k 2 {\nbarrier\n}\n}", 16, expected);
  }
  ExpectProgramError("if chance 0.5 {\nalu a =\n} else {\nbarrier\n}", 16, expected);
}

TEST(WorkloadError, AcceptsBarriersThatAllWarpsReach) {
  for (const std::string open :
       {"if tb.x == 0 {", "if chance 0.5 per tb {", "loop i per tb uniform 1 3 {",
        "loop i by tb < 2: 3 else 4 {", "loop i 3 {"}) {
    TestFile file;
    file.program = open + "\nalu a =\nbarrier\n}";
    EXPECT_EQ(ErrorOf(file), "no error") << open;
  }
}

TEST(WorkloadError, RefusesBadConditionsAndTrips) {
  ExpectProgramError("if speed == 0 {\nalu a =\n}", 13, "speed: expected chance, tb, tb.x");
  ExpectProgramError("if warp = 0 {\nalu a =\n}", 13, "=: expected ==, !=, <");
  ExpectProgramError("if chance 1.5 {\nalu a =\n}", 13, "1.5: expected a probability from 0 to 1");
  ExpectProgramError("if chance 0.5 both 0.6 {\nalu a =\n}", 13, "0.6: expected a probability");
  ExpectProgramError("if chance 0.5 both 0.1 per tb {\nalu a =\n}", 13, "both: expected per warp");
  ExpectProgramError("loop i per tb uniform 5 3 {\nalu a =\n}", 13, "3: expected a highest trip");
  ExpectProgramError("loop i per tb normal 5 {\nalu a =\n}", 13, "normal: expected uniform, geom");
  ExpectProgramError("loop i per sm uniform 1 5 {\nalu a =\n}", 13, "sm: expected warp");
  ExpectProgramError("loop i by tb < 5: 3 < 4: 2 else 1 {\nalu a =\n}", 13, "4: expected a larger");
  ExpectProgramError("loop i 4 {\nloop i 4 {\nalu a =\n}\n}", 14, "i: expected a name that no");
  ExpectProgramError("loop tb 4 {\nalu a =\n}", 13, "tb: expected a name that no block around");
}

TEST(WorkloadError, RefusesBadAccesses) {
  ExpectProgramError("load_global v = [c]", 13, "c: expected the name of an array in [arrays]");
  ExpectProgramError("load_global v = a", 13, "end of line: expected [array + offset]");
  ExpectProgramError("alu r =\nload_global v = r", 14, "end of line: expected [array + offset]");
  ExpectProgramError("load_global v = [a + k*4]", 13, "k: expected tb, tb.x, tb.y, tb.z, warp, a");
  ExpectProgramError("load_global v = [a + warp*tb]", 13, "*: expected at most one name");
  ExpectProgramError("load_global v = [a] lanes 33", 13, "33: expected a number of lanes, 1 to 32");
  ExpectProgramError("load_global v = [a] far 0.5", 13, "far: expected gather before far");
  ExpectProgramError("load_global v = [b] gather 9 window 1K", 13, "gather: expected a mean of at");
  ExpectProgramError("load_global v = [b] gather 2 window 8K", 13, "b: expected an array at least");
  ExpectProgramError("load_global v = [b] gather 2 window 1K stride 4", 13,
                     "gather: expected either gather or");
}

TEST(WorkloadError, RefusesAddressesOutsideTheArray) {
  ExpectProgramError(
      "load_global v = [b + tb*128]", 13,
      "b: expected offsets from 0 to 4096 (this reaches bytes 0 to 8192), or `wrap`");
  ExpectProgramError("load_global v = [b - 4]", 13,
                     "b: expected offsets from 0 to 4096 (this reaches bytes -4 to 124)");
  ExpectProgramError("loop i 33 {\nload_global v = [b + i*128]\n}", 14, "b: expected offsets from");
  // 2^24 times 2^40 has the low 64 bits of 0.
  TestFile huge;
  huge.grid = "grid = [24929, 673]";  // 2^24 + 1 TBs
  huge.program = "load_global v = [a + tb*1024G]";
  ExpectError(huge,
              "test.toml:13: a: expected offsets from 0 to 1048576 (this reaches bytes 0 to "
              "18446744073709551744), or `wrap`");
  huge.program += " wrap";
  ExpectError(huge, "test.toml:13: a: expected offsets below 2^62 (this reaches bytes 0 to ");
  ExpectProgramError("unroll i 1024 {\nload_global v = [a + 1000*900G*(i + i + i + i + i)] wrap\n}",
                     14, "i: expected a product below 2^62 (this is 46");
  TestFile file;
  file.program = "loop i 33 {\nif i < 32 {\nload_global v = [b + i*128]\n}\nalu a =\n}";
  EXPECT_EQ(ErrorOf(file), "no error") << "the condition keeps the address inside";
}

TEST(WorkloadError, TiesOverwritesToIdempotence) {
  ExpectProgramError("alu a =\nstore_global a [a] overwrites", 14,
                     "overwrites: expected idempotence = \"until_store\"");
  TestFile file;
  file.idempotence = "idempotence = \"until_store\"";
  ExpectError(file, "test.toml:12: program: expected a store marked `overwrites`");
}

TEST(WorkloadError, RefusesAProgramOfAnUnknownKernel) {
  TestFile file;
  file.program =
      "alu a =\n'''\n[[kernel]]\nname = \"l\"\nthreads = 32\nregisters = 8\n"
      "shared_memory = 0\ngrid = [1]\nidempotence = \"yes\"\nprogram_of = \"m";
  const std::string text = file.Text();
  const std::string cut = text.substr(0, text.rfind("\n'''")) + "\"\n";
  try {
    ParseWorkload(cut, "test.toml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "test.toml:22: kernel.program_of: expected the name of a kernel above");
  }
}

TEST(WorkloadError, CountsLinesOfProgramsThatBeginBehindTheirQuotes) {
  TestFile file;
  file.idempotence += "\nprogram_ = 0";
  std::string text = TestFile{}.Text();
  text.replace(text.find("'''\nalu a ="), 11, "'''alu a =\nfly");
  EXPECT_THROW(
      try { ParseWorkload(text, "t.toml"); } catch (const InputError& e) {
        EXPECT_EQ(std::string(e.what()).find("t.toml:13: fly: expected"), 0u) << e.what();
        throw;
      },
      InputError);
}

TEST(WorkloadError, RefusesAMissingFile) {
  try {
    LoadWorkload("/no/such/file.toml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "/no/such/file.toml: expected a workload file that can be read");
  }
  EXPECT_THROW(LoadWorkload(std::filesystem::temp_directory_path().string()), InputError);
}

TEST(WorkloadError, UnknownNamesListTheKnownOnes) {
  try {
    FindWorkload("sgem", SMK_SOURCE_DIR);
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("sgem: expected a .toml file or one of the workloads "), 0u) << text;
    EXPECT_NE(text.find("sgemm"), std::string::npos) << text;
  }
  EXPECT_THROW(FindWorkload("sgemm", "/no/such/folder"), InputError);
}

TEST(WorkloadError, RefusesWrongTexels) {
  TestFile file;
  file.arrays = "arrays = { a = { width = 40, height = 9, bytes = 2 }, b = 4096 }";
  const auto expect = [&file](const std::string& access, const std::string& message) {
    file.program = "texture v = " + access;
    ExpectError(file, "test.toml:13: " + message);
  };
  expect("[a + 4]", "a: expected [a x ... y ...]: this array has a width and a height");
  expect("[b x 1 y 2]", "b: expected an array with a width and a height, or [b + offset]");
  expect("[a x 1]", "]: expected y");
  expect("[a x 1 y 2] stride 4", "stride: expected the end of the line");
  expect("[a x 1 y 2] window 4", "end of line: expected rows");
  expect("[a x 1 y 2] window 0 4", "0: expected texels in a row");
  expect("[a x 1 y 2] from 0 - tb",
         "from: expected numbers from 0 to 1073741824 (this reaches -63");
  expect("[a x tb*1G y 2]", "x: expected numbers from -1073741824 to 1073741824");
  expect("[a x k y 2]", "k: expected tb, tb.x");
}

}  // namespace
}  // namespace smk
