// SPDX-License-Identifier: Apache-2.0
// Instructions, memory accesses and address expressions of a program.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "workload/parser.h"

namespace smk {
namespace {

constexpr std::int64_t kMaxRepeat = 4096;
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 40;

enum class Operand : std::uint8_t { kNone, kOptional, kRequired };

// What an instruction may have.
struct OpRule {
  const char* name;
  OpClass op;
  Operand dst;
  unsigned max_sources;
  bool access;
  const char* passes;  // keyword of Instruction::conflicts, or null
  Special special = Special::kNone;
};

constexpr std::array<OpRule, 15> kRules{{
    {"alu", OpClass::kAlu, Operand::kOptional, 3, false, nullptr},
    {"imul", OpClass::kImul, Operand::kOptional, 3, false, nullptr},
    {"sfu", OpClass::kSfu, Operand::kOptional, 3, false, nullptr},
    {"dp", OpClass::kDp, Operand::kOptional, 3, false, nullptr},
    {"load_shared", OpClass::kLoadShared, Operand::kRequired, 2, false, "conflicts"},
    {"store_shared", OpClass::kStoreShared, Operand::kNone, 3, false, "conflicts"},
    {"atomic_shared", OpClass::kAtomicShared, Operand::kOptional, 3, false, "conflicts"},
    {"load_const", OpClass::kLoadConst, Operand::kRequired, 2, false, "addresses"},
    {"load_global", OpClass::kLoadGlobal, Operand::kRequired, 3, true, nullptr},
    {"texture", OpClass::kTexture, Operand::kRequired, 3, true, nullptr},
    {"store_global", OpClass::kStoreGlobal, Operand::kNone, 3, true, nullptr},
    {"atomic_global", OpClass::kAtomicGlobal, Operand::kOptional, 3, true, nullptr},
    {"barrier", OpClass::kBarrier, Operand::kNone, 0, false, nullptr},
    {"membar", OpClass::kAlu, Operand::kNone, 0, false, nullptr, Special::kMembar},
    {"branch", OpClass::kBranch, Operand::kNone, 3, false, nullptr},
}};

const OpRule& RuleOf(TokenReader* in) {
  const Token token = in->Take();
  for (const OpRule& rule : kRules) {
    if (token.text == rule.name) return rule;
  }
  if (token.text == "exit") in->Fail("exit", "no exit (every program ends with one by itself)");
  std::string names;
  for (const OpRule& rule : kRules) names += std::string(rule.name) + ", ";
  in->Fail(token.text, names + "loop, if or unroll");
}

bool IsRepeat(const std::string& word) {
  return word.size() > 1 && word[0] == 'x' &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsReserved(const std::string& word) {
  static const char* const kWords[] = {
      "chain", "ilp",   "conflicts", "addresses", "overwrites", "lanes", "bytes", "stride",
      "rows",  "pitch", "wrap",      "gather",    "window",     "far",   "seed",  "else"};
  return IsRepeat(word) ||
         std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::string Register(TokenReader* in) {
  if (IsReserved(in->Peek().text)) in->Fail("a register (this word has a meaning of its own)");
  return in->Word("a register");
}

void ParseOperands(TokenReader* in, const OpRule& rule, Statement* s) {
  if (in->Follows("=")) {
    if (rule.dst == Operand::kNone) in->Fail(std::string("no result register of ") + rule.name);
    s->dst = Register(in);
    in->Expect("=");
  } else if (rule.dst == Operand::kRequired) {
    in->Fail(rule.name, "a result register: " + std::string(rule.name) + " NAME = ...");
  }
  while (in->Peek().kind == Token::Kind::kWord && !IsReserved(in->Peek().text)) {
    if (s->src.size() == rule.max_sources) {
      in->Fail("at most " + std::to_string(rule.max_sources) + " source registers");
    }
    s->src.push_back(Register(in));
  }
}

void ParseRows(TokenReader* in, AccessSyntax* a) {
  a->row_lanes = static_cast<unsigned>(in->Integer("lanes per row, 1 to 32", 1, 32));
  in->Expect("pitch");
  const bool minus = in->Accept("-");
  a->pitch = in->Integer("bytes between rows", 0, kMaxOffset) * (minus ? -1 : 1);
}

// One keyword of an access; false when the next word is none.
bool ParseAccessKey(TokenReader* in, AccessSyntax* a) {
  if (in->Accept("lanes")) {
    a->lanes = static_cast<unsigned>(in->Integer("a number of lanes, 1 to 32", 1, 32));
  } else if (in->Accept("bytes")) {
    a->bytes = static_cast<unsigned>(in->Integer("bytes per lane, 1 to 128", 1, 128));
  } else if (in->Accept("stride")) {
    const bool minus = in->Accept("-");
    a->stride = in->Integer("bytes between lanes, up to 16M", 0, 1 << 24) * (minus ? -1 : 1);
  } else if (in->Accept("rows")) {
    ParseRows(in, a);
  } else if (in->Accept("wrap")) {
    a->wrap = true;
  } else if (in->Accept("gather")) {
    a->gather = in->Number("a mean number of distinct lines, 1 to 32", 1, 32);
    in->Expect("window");
    a->window = static_cast<std::uint64_t>(
        in->Integer("a window of 128 bytes or more", kLineBytes, kMaxOffset));
  } else if (in->Accept("far")) {
    if (!a->gather) in->Fail("far", "gather before far");
    a->far = in->Number("a probability from 0 to 1", 0, 1);
  } else if (in->Accept("seed")) {
    if (!a->gather) in->Fail("seed", "gather before seed");
    a->seed = static_cast<std::uint32_t>(in->Integer("a number from 1 to 65535", 1, 65535));
  } else {
    return false;
  }
  return true;
}

// What follows [array x X y Y].
bool ParseTexelKey(TokenReader* in, AccessSyntax* a) {
  TexelSyntax& texels = *a->texels;
  if (in->Accept("lanes")) {
    a->lanes = static_cast<unsigned>(in->Integer("a number of lanes, 1 to 32", 1, 32));
  } else if (in->Accept("window")) {
    texels.columns = static_cast<unsigned>(in->Integer("texels in a row, 1 to 65535", 1, 65535));
    texels.rows = static_cast<unsigned>(in->Integer("rows, 1 to 65535", 1, 65535));
  } else if (in->Accept("from")) {
    texels.from = ParseAffine(in);
  } else if (in->Accept("step")) {
    texels.step = static_cast<unsigned>(in->Integer("texels between lanes, up to 65535", 0, 65535));
  } else {
    return false;
  }
  return true;
}

AccessSyntax ParseAccess(TokenReader* in) {
  AccessSyntax a;
  in->Expect("[");
  a.array = in->Word("the name of an array");
  if (in->Accept("x")) {
    a.texels.emplace();
    a.texels->x = ParseAffine(in);
    in->Expect("y");
    a.texels->y = ParseAffine(in);
  } else if (in->Peek().text == "+" || in->Peek().text == "-") {
    a.offset = ParseAffine(in);
  }
  in->Expect("]");
  while (a.texels ? ParseTexelKey(in, &a) : ParseAccessKey(in, &a)) {
  }
  if (a.gather && (a.stride || a.row_lanes)) {
    in->Fail("gather", "either gather or a pattern of lanes (stride, rows)");
  }
  return a;
}

// One attribute of an instruction; false at the end of the line.
bool ParseAttribute(TokenReader* in, const OpRule& rule, Statement* s) {
  if (IsRepeat(in->Peek().text) && rule.op != OpClass::kBarrier) {
    const std::string count = in->Take().text.substr(1);
    const long n = count.size() > 6 ? 0 : std::strtol(count.c_str(), nullptr, 10);
    if (n < 1 || n > kMaxRepeat) in->Fail("x" + count, "x1 to x4096");
    s->repeat = static_cast<unsigned>(n);
  } else if (!s->dst.empty() && in->Accept("chain")) {
    s->chain = true;
  } else if (!s->dst.empty() && in->Accept("ilp")) {
    s->ilp = static_cast<unsigned>(in->Integer("a number of chains, 1 to 16", 1, 16));
  } else if (rule.passes != nullptr && in->Accept(rule.passes)) {
    s->conflicts = static_cast<unsigned>(in->Integer("a number from 1 to 32", 1, 32));
  } else if ((rule.op == OpClass::kStoreGlobal || rule.op == OpClass::kAtomicGlobal) &&
             in->Accept("overwrites")) {
    s->overwrites = true;
  } else {
    return false;
  }
  return true;
}

// Affine forms with their arithmetic.
AffineSyntax Sum(AffineSyntax a, const AffineSyntax& b, std::int64_t sign) {
  a.constant += sign * b.constant;
  for (const auto& [name, coefficient] : b.terms) a.terms.emplace_back(name, sign * coefficient);
  return a;
}

AffineSyntax Product(TokenReader* in, AffineSyntax a, AffineSyntax b) {
  if (!a.terms.empty()) std::swap(a, b);
  if (!a.terms.empty()) in->Fail("*", "at most one name in a product");
  const auto fits = [in, &a](std::int64_t value) {
    const double product = static_cast<double>(value) * static_cast<double>(a.constant);
    if (product > 1e15 || product < -1e15) in->Fail("*", "a product below 10^15");
    return value * a.constant;
  };
  b.constant = fits(b.constant);
  for (auto& [name, coefficient] : b.terms) coefficient = fits(coefficient);
  return b;
}

AffineSyntax ParseFactor(TokenReader* in) {
  AffineSyntax a;
  in->Enter();
  if (in->Accept("(")) {
    a = ParseAffine(in);
    in->Expect(")");
  } else if (in->Accept("-")) {
    a = Sum(a, ParseFactor(in), -1);
  } else if (in->Peek().kind == Token::Kind::kNumber) {
    a.constant = in->Integer("a whole number up to 1T", 0, kMaxOffset);
  } else {
    a.terms.emplace_back(in->Word("a number, tb, tb.x, tb.y, tb.z, warp, a loop or a copy index"),
                         1);
  }
  in->Leave();
  return a;
}

AffineSyntax ParseTerm(TokenReader* in) {
  AffineSyntax a = ParseFactor(in);
  while (in->Accept("*")) a = Product(in, a, ParseFactor(in));
  return a;
}

}  // namespace

AffineSyntax ParseAffine(TokenReader* in) {
  AffineSyntax a;
  std::int64_t sign = 1;
  if (in->Accept("-")) {
    sign = -1;
  } else {
    in->Accept("+");
  }
  for (;;) {
    a = Sum(a, ParseTerm(in), sign);
    if (in->Accept("+")) {
      sign = 1;
    } else if (in->Accept("-")) {
      sign = -1;
    } else {
      return a;
    }
  }
}

Statement ParseInstruction(TokenReader* in) {
  Statement s;
  s.line = in->line();
  const OpRule& rule = RuleOf(in);
  s.token = rule.name;
  s.op = rule.op;
  s.special = rule.special;
  ParseOperands(in, rule, &s);
  if (rule.access) {
    if (in->Peek().text != "[") in->Fail("[array + offset]");
    s.access = ParseAccess(in);
  }
  while (ParseAttribute(in, rule, &s)) {
  }
  if (!in->AtEnd()) in->Fail("the end of the line or an attribute of " + s.token);
  if (s.chain && s.ilp != 0) in->Fail("ilp", "either chain or ilp");
  if (s.ilp > s.repeat) in->Fail("ilp", "at most as many chains as instructions (xN before it)");
  return s;
}

}  // namespace smk
