// SPDX-License-Identifier: Apache-2.0
// The table of opcodes, Kepler to Hopper. Mnemonics are those of NVIDIA's CUDA Binary Utilities;
// the classes follow the units of Accel-Sim where the machine has them. docs/traces.md has the
// reasons.
#include "trace/opcodes.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace smk {
namespace {

struct Row {
  std::string_view opcode;
  TraceKind kind;
};

using K = TraceKind;

// Sorted. One line per group of names where nothing else is to be said.
constexpr Row kRows[] = {
    {"ACQBULK", K::kAlu},
    {"ACQSHMINIT", K::kAlu},
    {"AL2P", K::kAlu},
    {"ARRIVES", K::kAlu},
    {"ATOM", K::kAtomicGlobal},
    {"ATOMG", K::kAtomicGlobal},
    {"ATOMS", K::kAtomicShared},
    {"B2R", K::kAlu},
    {"BAR", K::kBarrier},
    {"BFE", K::kAlu},
    {"BFI", K::kAlu},
    {"BGMMA", K::kSfu},
    {"BMMA", K::kSfu},
    {"BMOV", K::kBranch},
    {"BMSK", K::kAlu},
    {"BPT", K::kBranch},
    {"BRA", K::kBranch},
    {"BREAK", K::kBranch},
    {"BREV", K::kAlu},
    {"BRK", K::kBranch},
    {"BRX", K::kBranch},
    {"BRXU", K::kBranch},
    {"BSSY", K::kBranch},
    {"BSYNC", K::kBranch},
    {"CAL", K::kBranch},
    {"CALL", K::kBranch},
    {"CCTL", K::kAlu},
    {"CCTLL", K::kAlu},
    {"CCTLT", K::kAlu},
    {"CGAERRBAR", K::kAlu},
    {"CONT", K::kBranch},
    {"CREDUX", K::kAlu},
    {"CS2R", K::kAlu},
    {"CSET", K::kAlu},
    {"CSETP", K::kAlu},
    {"CSMTEST", K::kAlu},
    {"DADD", K::kDp},
    {"DEPBAR", K::kWaitAsync},
    {"DFMA", K::kDp},
    {"DMMA", K::kDp},
    {"DMNMX", K::kDp},
    {"DMUL", K::kDp},
    {"DSET", K::kDp},
    {"DSETP", K::kDp},
    {"ELECT", K::kAlu},
    {"ENDCOLLECTIVE", K::kBranch},
    {"ERRBAR", K::kAlu},
    {"EXIT", K::kExit},
    {"F2F", K::kAlu},
    {"F2FP", K::kAlu},
    {"F2I", K::kAlu},
    {"F2IP", K::kAlu},
    {"FADD", K::kAlu},
    {"FADD32I", K::kAlu},
    {"FCHK", K::kAlu},
    {"FCMP", K::kAlu},
    {"FENCE", K::kAlu},
    {"FFMA", K::kAlu},
    {"FFMA32I", K::kAlu},
    {"FLO", K::kAlu},
    {"FMNMX", K::kAlu},
    {"FMUL", K::kAlu},
    {"FMUL32I", K::kAlu},
    {"FRND", K::kAlu},
    {"FSEL", K::kAlu},
    {"FSET", K::kAlu},
    {"FSETP", K::kAlu},
    {"FSWZ", K::kAlu},
    {"FSWZADD", K::kAlu},
    {"GETLMEMBASE", K::kAlu},
    {"HADD2", K::kAlu},
    {"HADD2_32I", K::kAlu},
    {"HFMA2", K::kAlu},
    {"HFMA2_32I", K::kAlu},
    {"HGMMA", K::kSfu},
    {"HMMA", K::kSfu},
    {"HMNMX2", K::kAlu},
    {"HMUL2", K::kAlu},
    {"HMUL2_32I", K::kAlu},
    {"HSET2", K::kAlu},
    {"HSETP2", K::kAlu},
    {"I2F", K::kAlu},
    {"I2FP", K::kAlu},
    {"I2I", K::kAlu},
    {"I2IP", K::kAlu},
    {"IABS", K::kAlu},
    {"IADD", K::kAlu},
    {"IADD3", K::kAlu},
    {"IADD32I", K::kAlu},
    {"ICMP", K::kAlu},
    {"IDE", K::kAlu},
    {"IDP", K::kAlu},
    {"IDP4A", K::kAlu},
    {"IGMMA", K::kSfu},
    {"IMAD", K::kImul},
    {"IMADSP", K::kImul},
    {"IMMA", K::kSfu},
    {"IMNMX", K::kAlu},
    {"IMUL", K::kImul},
    {"IMUL32I", K::kImul},
    {"ISAD", K::kAlu},
    {"ISCADD", K::kAlu},
    {"ISCADD32I", K::kAlu},
    {"ISET", K::kAlu},
    {"ISETP", K::kAlu},
    {"ISUB", K::kAlu},
    {"JCAL", K::kBranch},
    {"JMP", K::kBranch},
    {"JMX", K::kBranch},
    {"JMXU", K::kBranch},
    {"KILL", K::kBranch},
    {"LD", K::kLoadGeneric},
    {"LDC", K::kConstant},
    {"LDG", K::kLoadGlobal},
    {"LDGDEPBAR", K::kCloseAsync},
    {"LDGMC", K::kLoadGlobal},
    {"LDGSTS", K::kCopyAsync},
    {"LDL", K::kLoadLocal},
    {"LDS", K::kLoadShared},
    {"LDSLK", K::kLoadShared},
    {"LDSM", K::kLoadShared},
    {"LDU", K::kLoadGlobal},
    {"LEA", K::kAlu},
    {"LEPC", K::kAlu},
    {"LONGJMP", K::kBranch},
    {"LOP", K::kAlu},
    {"LOP3", K::kAlu},
    {"LOP32I", K::kAlu},
    {"MATCH", K::kAlu},
    {"MEMBAR", K::kMembar},
    {"MOV", K::kAlu},
    {"MOV32I", K::kAlu},
    {"MOVM", K::kAlu},
    {"MUFU", K::kSfu},
    {"NANOSLEEP", K::kBranch},
    {"NOP", K::kAlu},
    {"P2R", K::kAlu},
    {"PBK", K::kBranch},
    {"PCNT", K::kBranch},
    {"PEXIT", K::kBranch},
    {"PLONGJMP", K::kBranch},
    {"PLOP3", K::kAlu},
    {"PMTRIG", K::kAlu},
    {"POPC", K::kAlu},
    {"PREEXIT", K::kAlu},
    {"PRET", K::kBranch},
    {"PRMT", K::kAlu},
    {"PSET", K::kAlu},
    {"PSETP", K::kAlu},
    {"QSPC", K::kAlu},
    {"R2B", K::kAlu},
    {"R2P", K::kAlu},
    {"R2UR", K::kAlu},
    {"RED", K::kAtomicGlobal},
    {"REDAS", K::kAtomicShared},
    {"REDG", K::kAtomicGlobal},
    {"REDUX", K::kAlu},
    {"RET", K::kBranch},
    {"RPCMOV", K::kBranch},
    {"RRO", K::kAlu},
    {"RTT", K::kBranch},
    {"S2R", K::kAlu},
    {"S2UR", K::kAlu},
    {"SEL", K::kAlu},
    {"SETCTAID", K::kAlu},
    {"SETLMEMBASE", K::kAlu},
    {"SETMAXREG", K::kAlu},
    {"SGXT", K::kAlu},
    {"SHF", K::kAlu},
    {"SHFL", K::kAlu},
    {"SHL", K::kAlu},
    {"SHR", K::kAlu},
    {"SSY", K::kBranch},
    {"ST", K::kStoreGeneric},
    {"STAS", K::kStoreShared},
    {"STG", K::kStoreGlobal},
    {"STL", K::kStoreLocal},
    {"STS", K::kStoreShared},
    {"STSCUL", K::kStoreShared},
    {"STSM", K::kStoreShared},
    {"SUATOM", K::kAtomicGlobal},
    {"SUBFM", K::kAlu},
    {"SUCLAMP", K::kAlu},
    {"SUEAU", K::kAlu},
    {"SULD", K::kTexture},
    {"SULDGA", K::kTexture},
    {"SUQUERY", K::kAlu},
    {"SURED", K::kAtomicGlobal},
    {"SUST", K::kStoreGlobal},
    {"SUSTGA", K::kStoreGlobal},
    {"SYNC", K::kBranch},
    {"SYNCS", K::kAlu},
    {"TEX", K::kTexture},
    {"TEXS", K::kTexture},
    {"TLD", K::kTexture},
    {"TLD4", K::kTexture},
    {"TLD4S", K::kTexture},
    {"TLDS", K::kTexture},
    {"TMML", K::kTexture},
    {"TXD", K::kTexture},
    {"TXQ", K::kTexture},
    {"UBLKCP", K::kAlu},
    {"UBLKPF", K::kAlu},
    {"UBLKRED", K::kAlu},
    {"UBMSK", K::kAlu},
    {"UBREV", K::kAlu},
    {"UCGABAR_ARV", K::kAlu},
    {"UCGABAR_WAIT", K::kAlu},
    {"UCLEA", K::kAlu},
    {"UF2FP", K::kAlu},
    {"UFLO", K::kAlu},
    {"UIADD3", K::kAlu},
    {"UIMAD", K::kAlu},
    {"UISETP", K::kAlu},
    {"ULDC", K::kConstant},
    {"ULEA", K::kAlu},
    {"ULEPC", K::kAlu},
    {"ULOP", K::kAlu},
    {"ULOP3", K::kAlu},
    {"ULOP32I", K::kAlu},
    {"UMOV", K::kAlu},
    {"UP2UR", K::kAlu},
    {"UPLOP3", K::kAlu},
    {"UPOPC", K::kAlu},
    {"UPRMT", K::kAlu},
    {"UPSETP", K::kAlu},
    {"UR2UP", K::kAlu},
    {"USEL", K::kAlu},
    {"USETMAXREG", K::kAlu},
    {"USGXT", K::kAlu},
    {"USHF", K::kAlu},
    {"USHL", K::kAlu},
    {"USHR", K::kAlu},
    {"UTMACCTL", K::kAlu},
    {"UTMACMDFLUSH", K::kAlu},
    {"UTMALDG", K::kAlu},
    {"UTMAPF", K::kAlu},
    {"UTMAREDG", K::kAlu},
    {"UTMASTG", K::kAlu},
    {"VABSDIFF", K::kAlu},
    {"VABSDIFF4", K::kAlu},
    {"VADD", K::kAlu},
    {"VHMNMX", K::kAlu},
    {"VIADD", K::kAlu},
    {"VIADDMNMX", K::kAlu},
    {"VIMNMX", K::kAlu},
    {"VIMNMX3", K::kAlu},
    {"VMAD", K::kImul},
    {"VMNMX", K::kAlu},
    {"VOTE", K::kAlu},
    {"VOTEU", K::kAlu},
    {"VOTE_VTG", K::kAlu},
    {"VSETP", K::kAlu},
    {"VSHL", K::kAlu},
    {"VSHR", K::kAlu},
    {"WARPGROUP", K::kAlu},
    {"WARPGROUPSET", K::kAlu},
    {"WARPSYNC", K::kBranch},
    {"XMAD", K::kAlu},
    {"YIELD", K::kBranch},
};

constexpr bool Sorted() {
  for (std::size_t i = 1; i < std::size(kRows); ++i) {
    if (!(kRows[i - 1].opcode < kRows[i].opcode)) return false;
  }
  return true;
}
static_assert(Sorted(), "found by bisection");

constexpr unsigned kMaxwell = 50, kVolta = 70;

}  // namespace

std::string_view FirstToken(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

TraceKind KindOfOpcode(std::string_view opcode, unsigned binary_version) {
  const std::string_view token = FirstToken(opcode);
  const Row* const row =
      std::lower_bound(std::begin(kRows), std::end(kRows), token,
                       [](const Row& r, std::string_view name) { return r.opcode < name; });
  if (row == std::end(kRows) || row->opcode != token) return TraceKind::kUnknown;
  // Since Volta multiply-add is what the integer pipe does at full rate.
  if (row->kind == TraceKind::kImul && binary_version >= kVolta) return TraceKind::kAlu;
  const bool texture = opcode.size() > token.size() &&
                       opcode.substr(opcode.rfind('.')) == std::string_view(kTexturePart);
  if (row->kind == TraceKind::kLoadGlobal && texture) return TraceKind::kTexture;
  // Kepler names its global accesses so.
  if (binary_version < kMaxwell && token == "LD") return TraceKind::kLoadGlobal;
  if (binary_version < kMaxwell && token == "ST") return TraceKind::kStoreGlobal;
  return row->kind;
}

unsigned ConstantAddresses(std::string_view opcode) {
  const std::size_t at = opcode.rfind(".X");
  if (at == std::string_view::npos) return 1;
  const std::string_view digits = opcode.substr(at + 2);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool good = error == std::errc{} && end == digits.data() + digits.size();
  return good && value >= 1 && value <= kWarpThreads ? value : 1;
}

std::uint64_t OpcodeTableHash() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](unsigned char c) { hash = (hash ^ c) * 0x100000001b3; };
  for (const Row& row : kRows) {
    for (const char c : row.opcode) mix(static_cast<unsigned char>(c));
    mix(static_cast<unsigned char>(0x80 + static_cast<unsigned>(row.kind)));
  }
  return hash;
}

}  // namespace smk
