// SPDX-License-Identifier: Apache-2.0
// The structure of a program: lines, blocks and what opens them.
#include "workload/parser.h"

#include <algorithm>

namespace smk {
namespace {

constexpr std::int64_t kMaxTrips = 65535;
constexpr std::int64_t kMaxUnroll = 1024;
constexpr std::int64_t kMaxValue = std::int64_t{1} << 32;
constexpr unsigned kMaxBlocks = 32;  // nested

// Walks the lines and builds the tree of statements.
class ProgramParser {
 public:
  ProgramParser(const std::vector<TokenLine>& lines, const std::string& file)
      : lines_(lines), file_(file) {}

  std::vector<Statement> Run() {
    std::vector<Statement> program = Block(0);
    if (at_ != lines_.size()) {
      FailAt(file_, lines_[at_].line, "}", "an instruction, loop, if or unroll (no block is open)");
    }
    return program;
  }

 private:
  // Statements up to the line that starts with "}", which is not consumed, or the end.
  std::vector<Statement> Block(unsigned depth) {
    std::vector<Statement> statements;
    while (at_ < lines_.size()) {
      TokenReader in(lines_[at_], file_);
      if (in.Peek().text == "}") break;
      ++at_;
      statements.push_back(OneStatement(&in, depth));
    }
    return statements;
  }

  Statement OneStatement(TokenReader* in, unsigned depth) {
    Statement s;
    s.line = in->line();
    if (in->Accept("loop")) {
      s.kind = Statement::Kind::kLoop;
      s.name = in->Word("a name for the loop counter");
      s.trips = ParseTrips(in);
    } else if (in->Accept("if")) {
      s.kind = Statement::Kind::kIf;
      s.condition = ParseCondition(in);
    } else if (in->Accept("unroll")) {
      s.kind = Statement::Kind::kUnroll;
      s.name = in->Word("a name for the copy's index");
      s.trips.low = in->Integer("a number of copies", 1, kMaxUnroll);
    } else {
      return ParseInstruction(in);
    }
    if (depth == kMaxBlocks) in->Fail("{", "at most 32 nested blocks");
    OpenBlock(in);
    s.body = Block(depth + 1);
    CloseBlock(&s, depth);
    return s;
  }

  static void OpenBlock(TokenReader* in) {
    in->Expect("{");
    if (!in->AtEnd()) in->Fail("the end of the line after {");
  }

  // "}" or, after the first side of an if, "} else {" and a second block.
  void CloseBlock(Statement* s, unsigned depth) {
    if (at_ == lines_.size()) FailAt(file_, s->line, "{", "a matching } before the program's end");
    TokenReader in(lines_[at_++], file_);
    in.Expect("}");
    if (s->kind == Statement::Kind::kIf && s->otherwise.empty() && in.Accept("else")) {
      OpenBlock(&in);
      s->otherwise = Block(depth + 1);
      if (s->otherwise.empty()) in.Fail("else", "an instruction in the block");
      if (at_ == lines_.size()) in.Fail("{", "a matching } before the program's end");
      TokenReader last(lines_[at_++], file_);
      last.Expect("}");
      if (!last.AtEnd()) last.Fail("the end of the line after }");
      return;
    }
    if (!in.AtEnd()) in.Fail("the end of the line after }");
  }

  const std::vector<TokenLine>& lines_;
  const std::string& file_;
  std::size_t at_ = 0;
};

// "per tb" or "per warp"; true for the TB.
bool ParsePer(TokenReader* in) {
  in->Expect("per");
  if (in->Accept("tb")) return true;
  in->Expect("warp");
  return false;
}

void ParseSteps(TokenReader* in, TripSyntax* trips) {
  trips->kind = TripSyntax::Kind::kSteps;
  trips->variable = in->Word("tb, tb.x, tb.y, tb.z, warp or a loop");
  double previous = 0;
  do {
    in->Expect("<");
    const auto bound = in->Integer("a bound", 1, kMaxValue);
    if (static_cast<double>(bound) <= previous) in->Fail(std::to_string(bound), "a larger bound");
    previous = static_cast<double>(bound);
    in->Expect(":");
    trips->entries.emplace_back(
        bound, static_cast<double>(in->Integer("a trip count from 0 to 65535", 0, kMaxTrips)));
  } while (in->Peek().text == "<");
  in->Expect("else");
  trips->low = in->Integer("a trip count from 0 to 65535", 0, kMaxTrips);
}

void ParseWeights(TokenReader* in, TripSyntax* trips) {
  trips->kind = TripSyntax::Kind::kWeighted;
  while (in->Peek().kind == Token::Kind::kNumber) {
    const auto value = in->Integer("a trip count from 0 to 65535", 0, kMaxTrips);
    in->Expect(":");
    trips->entries.emplace_back(value, in->Number("a weight above 0", 1e-9, 1e9));
  }
  if (trips->entries.empty()) in->Fail("trips:weight, for example 16:0.45");
}

}  // namespace

bool TokenReader::Accept(const std::string& text) {
  if (AtEnd() || Peek().text != text) return false;
  ++at_;
  return true;
}

void TokenReader::Expect(const std::string& text) {
  if (!Accept(text)) Fail(text);
}

std::string TokenReader::Word(const std::string& what) {
  if (Peek().kind != Token::Kind::kWord) Fail(what);
  return Take().text;
}

double TokenReader::Number(const std::string& what, double low, double high) {
  const bool minus = Peek().text == "-";
  if (Peek().kind != Token::Kind::kNumber || Peek().value < low || Peek().value > high) {
    if (minus) Fail("-" + line_.tokens[at_ + 1].text, what);
    Fail(what);
  }
  return Take().value;
}

std::int64_t TokenReader::Integer(const std::string& what, std::int64_t low, std::int64_t high) {
  if (Peek().kind == Token::Kind::kNumber && !Peek().is_integer) Fail(what);
  return static_cast<std::int64_t>(
      Number(what, static_cast<double>(low), static_cast<double>(high)));
}

TripSyntax ParseTrips(TokenReader* in) {
  TripSyntax trips;
  if (in->Peek().kind == Token::Kind::kNumber || in->Peek().text == "-") {
    trips.low = in->Integer("a trip count from 1 to 65535", 1, kMaxTrips);
    return trips;
  }
  if (in->Accept("by")) {
    ParseSteps(in, &trips);
    return trips;
  }
  if (in->Peek().text != "per") in->Fail("a trip count from 1 to 65535, `per` or `by`");
  trips.per_tb = ParsePer(in);
  if (in->Accept("uniform")) {
    trips.kind = TripSyntax::Kind::kUniform;
    trips.low = in->Integer("a lowest trip count from 0 to 65535", 0, kMaxTrips);
    trips.high =
        in->Integer("a highest trip count up to 65535, not below the lowest", trips.low, kMaxTrips);
  } else if (in->Accept("geometric")) {
    trips.kind = TripSyntax::Kind::kGeometric;
    trips.mean = in->Number("a mean trip count from 1 to 65535", 1, kMaxTrips);
    in->Expect("max");
    trips.high = in->Integer("a highest trip count, not below the mean and at most 65535",
                             static_cast<std::int64_t>(trips.mean), kMaxTrips);
  } else if (in->Accept("weighted")) {
    ParseWeights(in, &trips);
  } else {
    in->Fail("uniform, geometric or weighted");
  }
  return trips;
}

ConditionSyntax ParseCondition(TokenReader* in) {
  ConditionSyntax c;
  if (in->Accept("chance")) {
    c.chance = true;
    c.probability = in->Number("a probability from 0 to 1", 0, 1);
    if (in->Accept("both")) {
      c.both =
          in->Number("a probability from 0 to 1 minus the first", 0, 1 - c.probability + 1e-12);
    }
    if (in->Peek().text == "per") c.per_tb = ParsePer(in);
    if (c.per_tb && c.both > 0) in->Fail("both", "per warp (a whole TB does not diverge)");
    return c;
  }
  c.variable = in->Word("chance, tb, tb.x, tb.y, tb.z, warp or a loop");
  if (in->Accept("%")) c.modulus = in->Integer("a modulus from 1", 1, kMaxValue - 1);
  const std::string op = in->Take().text;
  const auto value = [in](std::int64_t low) {
    return in->Integer("a whole number below 2^32", low, kMaxValue - 1);
  };
  c.high = kMaxValue - 1;
  if (op == "==" || op == "!=") {
    c.low = c.high = value(0);
    c.negate = op == "!=";
  } else if (op == "<" || op == ">=") {
    c.high = value(1) - 1;
    c.negate = op == ">=";
  } else if (op == "<=" || op == ">") {
    c.high = value(0);
    c.negate = op == ">";
  } else if (op == "in") {
    c.low = value(0);
    in->Expect("..");
    c.high = value(c.low);
  } else {
    in->Fail(op, "==, !=, <, <=, >, >= or in");
  }
  return c;
}

std::vector<Statement> ParseProgram(const std::string& text, const std::string& file,
                                    int first_line, int step) {
  const std::vector<TokenLine> lines = Tokenise(text, file, first_line, step);
  return ProgramParser(lines, file).Run();
}

}  // namespace smk
