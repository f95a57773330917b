// SPDX-License-Identifier: Apache-2.0
// What is wrong with a trace is said in one line with file and line, and leaves no cache behind.
#include <gmock/gmock.h>
#include <lzma.h>

#include "trace/rig.h"

namespace smk {
namespace {

using testing::HasSubstr;

constexpr int kGrid = 3, kBlock = 4, kShared = 5, kRegisters = 6, kBinary = 7, kStream = 8;
constexpr int kFirstWarp = 21;  // of the text that TraceText writes

std::string Xz(const std::string& text) {
  std::string out(text.size() + 4096, '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

class TraceError : public TraceFolder {
 protected:
  void Header(const std::string& key, const std::string& value, int line, const std::string& part) {
    TraceText text;
    text.Set(key, value);
    const std::string message = RefusalOf(text);
    EXPECT_THAT(message, HasSubstr("kernel-1.traceg:" + std::to_string(line) + ": " + key + ": "))
        << value;
    EXPECT_THAT(message, HasSubstr(part)) << value;
  }
  void Missing(const std::string& key) {
    TraceText text;
    text.Erase(key);
    EXPECT_THAT(RefusalOf(text), HasSubstr("a line -" + key + " = ... before this one")) << key;
  }
  // Instead of the second instruction of the first warp.
  void Instruction(const std::string& line, const std::string& part) {
    TraceText text;
    text.warps[0][1] = line;
    const std::string message = RefusalOf(text);
    EXPECT_THAT(message, HasSubstr("kernel-1.traceg:" + std::to_string(kFirstWarp + 3) + ": "))
        << line;
    EXPECT_THAT(message, HasSubstr(part)) << line;
  }
  // The text with one part of it replaced.
  void Replace(const std::string& from, const std::string& to, const std::string& part) {
    std::string text = TraceText().Text();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    WriteTrace({});
    Write("kernel-1.traceg", text.replace(at, from.size(), to));
    EXPECT_THAT(Refusal(), HasSubstr(part)) << from << " -> " << to;
  }
};

TEST_F(TraceError, HeaderValues) {
  Header("nregs", "21955", kRegisters, "a number from 1 to 255, got 21955");
  Header("nregs", "0", kRegisters, "1 to 255");
  Header("nregs", "many", kRegisters, "got many");
  Header("binary version", "0", kBinary, "got 0");
  Header("binary version", "99", kBinary, "got 99");
  Header("shmem", "-1", kShared, "0 to 1048576");
  Header("shmem", "99999999", kShared, "0 to 1048576");
  Header("grid dim", "(0,1,1)", kGrid, "1 to");
  Header("grid dim", "(2,1)", kGrid, "(x,y,z)");
  Header("grid dim", "(99999,99999,99999)", kGrid, "2^31");
  Header("block dim", "(1024,2,1)", kBlock, "1024 threads");
  Header("block dim", "32", kBlock, "(x,y,z)");
  Header("cuda stream id", "0x12", kStream, "a number");
  Header("accelsim tracer version", "6", 12, "0 to 5");
  Header("enable lineinfo", "2", 13, "0 to 1");
  Header("shmem base_addr", "shared", 9, "an address");
}

TEST_F(TraceError, HeaderKeys) {
  for (const char* key : {"grid dim", "block dim", "shmem", "nregs", "binary version"}) {
    Missing(key);
  }
  Replace("-kernel id = 1", "kernel id = 1", ":2: kernel id = 1: expected -KEY = VALUE");
  Replace("-kernel id = 1", "-kernel id", ":2: -kernel id: expected -KEY = VALUE");
}

TEST_F(TraceError, StructureOfTheBody) {
  Replace("warp = 1\n", "warp = 0\n", "each warp once per thread block");
  Replace("warp = 1\n", "warp = 2\n", "a number below 2, got 2");
  Replace("insts = 7\n", "insts = 6\n", "expected warp = ...");
  Replace("insts = 7\n", "insts = 8\n", "an instruction; insts says so");
  Replace("insts = 7\n", "insts = -1\n", "the number of instruction lines that follow");
  Replace("insts = 7\n", "instructions = 7\n", "expected insts = ...");
  Replace("thread block = 0,0,0\n", "thread block = 0,0\n", "x,y,z");
  Replace("thread block = 0,0,0\n", "", "expected thread block = ...");
  Replace("#BEGIN_TB", "garbage", "garbage: expected #BEGIN_TB");
  Replace("#END_TB", "garbage", "garbage: expected warp = ...");
  Replace("#END_TB\n", "#END_TB\ngarbage\n", "garbage: expected #BEGIN_TB");
}

TEST_F(TraceError, MissingWarpsAndThreadBlocks) {
  TraceText text;
  text.warps.pop_back();
  EXPECT_THAT(RefusalOf(text), HasSubstr("all 2 warps of the thread block, warp 1 is missing"));
  text = {};
  text.tbs = 1;
  EXPECT_THAT(RefusalOf(text), HasSubstr("2 thread blocks, as the grid has, got 1"));
  text.tbs = 3;
  EXPECT_THAT(RefusalOf(text), HasSubstr("2 thread blocks, as the grid has"));
}

TEST_F(TraceError, TruncatedAnywhere) {
  const std::string text = TraceText().Text();
  WriteTrace({});
  const std::size_t whole = text.rfind("#END_TB") + 7;
  for (std::size_t size = 0; size < whole; size += 7) {
    Write("kernel-1.traceg", text.substr(0, size));
    EXPECT_THAT(Refusal(), HasSubstr("kernel-1.traceg:")) << size;
  }
  Write("kernel-1.traceg", text.substr(0, whole));
  EXPECT_NO_THROW(Load()) << "only the last end of line is missing";
}

TEST_F(TraceError, Instructions) {
  Instruction("001 ffffffff 1 R4 MOV 0 0 0", "PC: expected a multiple of 8");
  Instruction("pc ffffffff 1 R4 MOV 0 0 0", "a PC in hexadecimal");
  Instruction("0010 fffffffff 1 R4 MOV 0 0 0", "a mask of 8 hexadecimal digits");
  Instruction("0010 ffffffff 2 R4 R5 MOV 0 0 0", "0 or 1 destination registers");
  Instruction("0010 ffffffff 1 4 MOV 0 0 0", "a destination register");
  Instruction("0010 ffffffff 1 R256 MOV 0 0 0", "a destination register");
  Instruction("0010 ffffffff 1 R4 mov 0 0 0", "an opcode");
  Instruction("0010 ffffffff 1 R4 MOV 5 R1 R2 R3 R4 R5 0 0", "0 to 4 source registers");
  Instruction("0010 ffffffff 1 R4 MOV 2 R1 0 0", "a source register");
  Instruction("0010 ffffffff 1 R4 MOV", "end of line: expected 0 to 4 source registers");
  Instruction("0010 ffffffff 1 R4 MOV 0", "a memory width");
  Instruction("0010 ffffffff 1 R4 MOV 0 0 0 0", "the end of the line");
  Instruction("0010 ffffffff 1 R4 MOV 0 0 x", "an immediate or the end of the line");
}

TEST_F(TraceError, AddressesOutOfMode) {
  Instruction("0010 ffffffff 1 R4 LDG 1 R2 4 3 0x1000 4 0", "address mode 0, 1 or 2");
  Instruction("0010 ffffffff 1 R4 LDG 1 R2 4 1 1000 4 0", "an address such as");
  Instruction("0010 ffffffff 1 R4 LDG 1 R2 4 1 0x1000", "a stride in bytes");
  Instruction("0010 0000000f 1 R4 LDG 1 R2 4 0 0x0 0x4 0x8", "an address such as");
  Instruction("0010 0000000f 1 R4 LDG 1 R2 4 0 0x0 0x4 0x8 0x10 0x14", "the end of the line");
  Instruction("0010 00000005 1 R4 LDG 1 R2 4 1 0x1000 4 0", "active lanes side by side");
  Instruction("0010 0000000f 1 R4 LDG 1 R2 4 2 0x0 4 4", "one address difference");
  Instruction("0010 0000000f 1 R4 LDG 1 R2 999 1 0x0 4 0", "a memory width of 0 to 128 bytes");
}

TEST_F(TraceError, List) {
  EXPECT_THAT(Refusal(), HasSubstr("a folder with a kernelslist.g"));
  WriteTrace({});
  Write("kernelslist.g", "MemcpyHtoD,0x1000,16\n\nkernel-2.traceg\n");
  EXPECT_THAT(Refusal(), HasSubstr("kernelslist.g:3: kernel-2.traceg: expected a file beside"));
  // What lies outside of the folder is not the trace's.
  std::ofstream(folder / "kernel-9.traceg") << TraceText().Text();
  std::filesystem::create_directories(folder / "t/kernels");
  for (const std::string name : {"kernels/../../kernel-9.traceg", "kernels/../kernel-1.traceg"}) {
    Write("kernelslist.g", name + "\n");
    EXPECT_THAT(Refusal(),
                HasSubstr("kernelslist.g:1: " + name + ": expected a file in the folder"));
  }
  Write("kernels/kernel-3.traceg", TraceText().Text());
  Write("kernelslist.g", "kernels/kernel-3.traceg\n");
  EXPECT_EQ(Load().kernels.size(), 1u) << "a folder below is";
  std::filesystem::remove_all(Cache());
  Write("kernelslist.g", "kernel-1.trace\n");
  EXPECT_THAT(Refusal(), HasSubstr("kernelslist.g:1: kernel-1.trace: expected a name that ends"));
  Write("kernelslist.g", "");
  EXPECT_THAT(Refusal(), HasSubstr("at least one kernel"));
  Write("kernelslist.g", "what is this\nkernel-1.traceg\n");
  EXPECT_THAT(Refusal(), HasSubstr("kernelslist.g:1: what is this: expected a kernel's file"));
}

TEST_F(TraceError, Xz) {
  const std::string packed = Xz(TraceText().Text());
  Write("kernelslist.g", "kernel-1.traceg.xz\n");
  Write("kernel-1.traceg.xz", packed);
  EXPECT_EQ(Load().kernels[0].counts.warp_instructions, 30u);
  std::filesystem::remove_all(Cache());
  Write("kernel-1.traceg.xz", packed.substr(0, packed.size() - 20));
  EXPECT_THAT(Refusal(), HasSubstr("kernel-1.traceg.xz:"));
  std::string damaged = packed;
  damaged[packed.size() / 2] ^= 1;
  Write("kernel-1.traceg.xz", damaged);
  EXPECT_THAT(Refusal(), HasSubstr("undamaged xz data"));
  Write("kernel-1.traceg.xz", "-kernel name = x\n");
  EXPECT_THAT(Refusal(), HasSubstr("kernel-1.traceg.xz:1: file: expected xz data"));
  Write("kernel-1.traceg.xz", "");
  EXPECT_THAT(Refusal(), HasSubstr("kernel-1.traceg.xz:1: file: expected"));
}

TEST_F(TraceError, BinaryGarbageIsNotPrinted) {
  WriteTrace({});
  Write("kernel-1.traceg", std::string("\x1b[31m\0\x01\xff", 8) + "\n");
  const std::string message = Refusal();
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  Write("kernel-1.traceg", std::string(1 << 20, '-'));
  EXPECT_THAT(Refusal(), HasSubstr("at most 65536 characters"));
}

TEST_F(TraceError, StrictNeedsKnownOpcodes) {
  TraceText text;
  text.warps[0][5] = "0038 ffffffff 1 R6 FROB.X 1 R4 0 0";
  WriteTrace(text);
  try {
    Load(true);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel-1.traceg:" + std::to_string(kFirstWarp + 7) +
                                        ": FROB: expected an opcode of the table"));
  }
  EXPECT_TRUE(CacheFiles().empty());
}

}  // namespace
}  // namespace smk
