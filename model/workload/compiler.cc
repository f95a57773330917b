// SPDX-License-Identifier: Apache-2.0
#include "workload/compiler.h"

#include <algorithm>
#include <limits>

#include "workload/random.h"

namespace smk {
namespace {

constexpr std::size_t kMaxNodes = 65000;
constexpr double kMaxInstructions = 1099511627776.0;  // 2^40, per warp
constexpr std::uint32_t kSeedSites = 1u << 20;  // sites of gathers with a seed, above all others

// Smallest trip count that can occur.
std::int64_t LeastTrips(const TripSyntax& trips) {
  if (trips.kind == TripSyntax::Kind::kGeometric) return 1;
  const bool steps = trips.kind == TripSyntax::Kind::kSteps;
  if (!steps && trips.kind != TripSyntax::Kind::kWeighted) return trips.low;
  std::int64_t least = steps ? trips.low : std::numeric_limits<std::int64_t>::max();
  for (const auto& [value, other] : trips.entries) {
    least = std::min(least, steps ? static_cast<std::int64_t>(other) : value);
  }
  return least;
}

bool AlwaysExecutes(const Statement& s);

// True when every pass through the statements executes an instruction.
bool AlwaysExecutes(const std::vector<Statement>& statements) {
  return std::any_of(statements.begin(), statements.end(),
                     [](const Statement& s) { return AlwaysExecutes(s); });
}

bool AlwaysExecutes(const Statement& s) {
  switch (s.kind) {
    case Statement::Kind::kInstruction:
      return true;
    case Statement::Kind::kUnroll:
      return AlwaysExecutes(s.body);
    case Statement::Kind::kLoop:
      return LeastTrips(s.trips) > 0 && AlwaysExecutes(s.body);
    case Statement::Kind::kIf:
      return AlwaysExecutes(s.body) && AlwaysExecutes(s.otherwise);
  }
  return false;
}

// Compiles one program: walks the statements once and appends instructions and control operations.
class ProgramCompiler {
 public:
  explicit ProgramCompiler(const CompileTarget& target) : target_(target) {}

  std::shared_ptr<const Program> Run(const std::vector<Statement>& statements) {
    const Scope scope(target_.geometry);
    Block(statements, scope);
    Instruction exit;
    exit.op = OpClass::kExit;
    Append(exit, scope, scope.Executions(), target_.line);
    if (instructions_ > kMaxInstructions) {
      Fail(target_.line, "program", "at most 2^40 warp instructions per warp");
    }
    if (target_.until_store && !overwrites_) {
      Fail(target_.line, "program",
           "a store marked `overwrites`, because idempotence is \"until_store\"");
    }
    parts_.num_registers = static_cast<unsigned>(registers_.size());
    parts_.last_warp = target_.geometry.warps() - 1;
    parts_.last_lanes = target_.geometry.threads - parts_.last_warp * kWarpThreads;
    return std::make_shared<const Program>(std::move(parts_));
  }

 private:
  [[noreturn]] void Fail(int line, const std::string& token, const std::string& expected) const {
    FailAt(target_.file, line, token, expected);
  }

  void Block(const std::vector<Statement>& statements, const Scope& scope) {
    const double executions = scope.Executions();
    for (const Statement& s : statements) {
      switch (s.kind) {
        case Statement::Kind::kInstruction:
          OneInstruction(s, scope, executions);
          break;
        case Statement::Kind::kLoop:
          Loop(s, scope);
          break;
        case Statement::Kind::kIf:
          If(s, scope);
          break;
        case Statement::Kind::kUnroll:
          Unroll(s, scope);
          break;
      }
    }
  }

  // Control flow.

  void Loop(const Statement& s, const Scope& outer) {
    CheckName(s, outer);
    const unsigned level = outer.loop_depth();
    if (level == kMaxLoops) {
      Fail(s.line, s.name, "at most " + std::to_string(kMaxLoops) + " nested loops");
    }
    if (!AlwaysExecutes(s.body)) {
      Fail(s.line, s.name, "an instruction in every trip, outside of conditionals");
    }
    CompiledTrips trips = CompileTrips(s.trips, outer, target_.file, s.line);
    trips.source.site = NewSite();
    trips.source.first = static_cast<std::uint32_t>(parts_.trip_table.size());
    parts_.trip_table.insert(parts_.trip_table.end(), trips.table.begin(), trips.table.end());
    Scope inner = outer;
    const Scope::Steps steps{trips.source.variable, trips.table};
    const bool by_steps = trips.source.kind == TripSource::Kind::kSteps;
    inner.AddLoop(s.name, std::move(trips.survival), by_steps ? &steps : nullptr);
    if (trips.divergent) inner.MarkDivergent(s.line);

    const unsigned loop = Control(ControlOp::Kind::kLoop, level, parts_.trips.size());
    parts_.trips.push_back(trips.source);
    const std::size_t body = parts_.control.size();
    Block(s.body, inner);
    const unsigned next = Control(ControlOp::Kind::kNext, level, 0);
    ControlOp& op = parts_.control[next];
    op.target = static_cast<std::uint16_t>(body);
    if (parts_.control[body].kind == ControlOp::Kind::kRun) {
      op.kind = ControlOp::Kind::kNextToRun;
      op.node = parts_.control[body].node;
    }
    parts_.control[loop].target = Here();
  }

  void If(const Statement& s, const Scope& outer) {
    if (s.body.empty()) Fail(s.line, "if", "an instruction in the block");
    const ConditionSyntax& c = s.condition;
    if (const std::int64_t* copy = c.chance ? nullptr : outer.FindCopyIndex(c.variable)) {
      const std::int64_t v = c.modulus == 0 ? *copy : *copy % c.modulus;
      Block((c.low <= v && v <= c.high) != c.negate ? s.body : s.otherwise, outer);
      return;
    }
    Scope first = outer;
    Scope second = outer;
    const Condition condition = MakeCondition(s, &first, &second);
    const std::size_t index = parts_.conditions.size();
    parts_.conditions.push_back(condition);
    const unsigned branch = Control(ControlOp::Kind::kIf, 0, index);
    Block(s.body, first);
    if (s.otherwise.empty()) {
      parts_.control[branch].target = Here();
      return;
    }
    const unsigned other = Control(ControlOp::Kind::kElse, 0, index);
    parts_.control[branch].target = Here();
    Block(s.otherwise, second);
    parts_.control[other].target = Here();
  }

  Condition MakeCondition(const Statement& s, Scope* first, Scope* second) {
    const ConditionSyntax& c = s.condition;
    Condition out;
    if (c.chance) {
      out.per_tb = c.per_tb;
      out.site = NewSite();
      out.first_below = ProbabilityBits(std::min(c.probability + c.both, 1.0));
      out.second_from = ProbabilityBits(c.probability);
      first->AddChance(c.probability + c.both);
      second->AddChance(1 - c.probability);
    } else {
      const int variable = first->FindVariable(c.variable);
      if (variable < 0) Fail(s.line, c.variable, "chance, tb, tb.x, tb.y, tb.z, warp or a loop");
      out.kind = Condition::Kind::kCompare;
      out.variable = static_cast<std::uint8_t>(variable);
      out.negate = c.negate;
      out.modulus = static_cast<std::uint32_t>(c.modulus);
      out.low = static_cast<std::uint32_t>(c.low);
      out.high = static_cast<std::uint32_t>(c.high);
      first->AddCondition(out.variable, c, true);
      second->AddCondition(out.variable, c, false);
    }
    if (c.chance ? !c.per_tb : out.variable == kWarpVariable) {
      first->MarkDivergent(s.line);
      second->MarkDivergent(s.line);
    }
    return out;
  }

  void Unroll(const Statement& s, const Scope& outer) {
    CheckName(s, outer);
    for (std::int64_t copy = 0; copy < s.trips.low; ++copy) {
      Scope inner = outer;
      inner.AddCopyIndex(s.name, copy);
      Block(s.body, inner);
    }
  }

  void CheckName(const Statement& s, const Scope& outer) const {
    if (outer.FindVariable(s.name) >= 0 || outer.FindCopyIndex(s.name) != nullptr ||
        s.name.find('.') != std::string::npos) {
      Fail(s.line, s.name, "a name that no block around has, without a dot");
    }
  }

  // Appends a control operation; the run of instructions before it ends here.
  unsigned Control(ControlOp::Kind kind, unsigned level, std::size_t source) {
    ControlOp op;
    op.kind = kind;
    op.level = static_cast<std::uint8_t>(level);
    op.source = static_cast<std::uint16_t>(source);
    const std::uint16_t pc = Here();
    parts_.control.push_back(op);
    if (parts_.control.size() > kMaxNodes) Fail(target_.line, "program", "fewer blocks");
    return pc;
  }

  // Position of the next control operation. What jumps there must find a run that begins there.
  std::uint16_t Here() {
    if (run_open_) {
      parts_.after.back() = static_cast<std::uint16_t>(parts_.control.size());
      run_open_ = false;
    }
    return static_cast<std::uint16_t>(parts_.control.size());
  }

  std::uint32_t NewSite() { return ++sites_; }

  // Instructions.

  void OneInstruction(const Statement& s, const Scope& scope, double executions) {
    if (s.op == OpClass::kBarrier && scope.divergent_line() != 0) {
      Fail(s.line, "barrier",
           "all warps of the TB to reach it, but they may differ since line " +
               std::to_string(scope.divergent_line()));
    }
    Instruction in;
    in.op = s.op;
    in.conflicts = static_cast<std::uint8_t>(s.conflicts);
    in.ends_idempotence = s.overwrites;
    in.special = s.special;
    if (s.overwrites && !target_.until_store) {
      Fail(s.line, "overwrites", "idempotence = \"until_store\" in this kernel");
    }
    overwrites_ |= s.overwrites;
    if (s.access) {
      Access access = CompileAccess(s, scope, target_, &parts_.texels);
      access.site = s.access->seed != 0 ? kSeedSites + s.access->seed : NewSite();
      in.access = static_cast<std::uint16_t>(parts_.accesses.size());
      parts_.accesses.push_back(access);
      parts_.access_names.push_back(s.access->array);
    }
    std::vector<std::uint8_t> sources;
    for (const std::string& name : s.src) sources.push_back(Defined(name, scope, s.line));
    if (!s.dst.empty()) in.dst = Define(Resolved(s.dst, scope), s.line);
    if (s.ilp > 1) {
      Chains(s, scope, executions, in, sources);
      return;
    }
    for (unsigned i = 0; i < s.repeat; ++i) {
      SetSources(&in, sources);
      Append(in, scope, executions, s.line);
      if (i == 0 && s.chain) Prepend(&sources, in.dst);
    }
  }

  // `ilp K`: the instructions are dealt to K chains in turn. The chain of the last one lives in the
  // result register; the last instruction also reads up to two other chains.
  void Chains(const Statement& s, const Scope& scope, double executions, Instruction in,
              const std::vector<std::uint8_t>& sources) {
    std::vector<std::uint8_t> chain(s.ilp);
    const std::uint8_t result = in.dst;
    const unsigned last = (s.repeat - 1) % s.ilp;
    for (unsigned c = 0, hidden = 0; c < s.ilp; ++c) {
      chain[c] = c == last ? result : Define("%" + std::to_string(hidden++), s.line);
    }
    for (unsigned i = 0; i < s.repeat; ++i) {
      const unsigned c = i % s.ilp;
      in.dst = chain[c];
      std::vector<std::uint8_t> reads = sources;
      if (i >= s.ilp) reads = {chain[c]};
      if (i + 1 == s.repeat) {
        for (unsigned k = 1; k < s.ilp && reads.size() < 3; ++k) {
          reads.push_back(chain[(c + s.ilp - k) % s.ilp]);
        }
      }
      SetSources(&in, reads);
      Append(in, scope, executions, s.line);
    }
  }

  static void SetSources(Instruction* in, const std::vector<std::uint8_t>& sources) {
    for (unsigned i = 0; i < 3; ++i) in->src[i] = i < sources.size() ? sources[i] : kNoRegister;
  }

  static void Prepend(std::vector<std::uint8_t>* sources, std::uint8_t reg) {
    sources->erase(std::remove(sources->begin(), sources->end(), reg), sources->end());
    sources->insert(sources->begin(), reg);
    if (sources->size() > 3) sources->resize(3);
  }

  void Append(const Instruction& in, const Scope& scope, double executions, int line) {
    if (parts_.nodes.size() == kMaxNodes) {
      Fail(line, "program", "at most 65000 instructions after unrolling");
    }
    if (!run_open_) {
      ControlOp run;
      run.node = static_cast<std::uint16_t>(parts_.nodes.size());
      parts_.control.push_back(run);
      run_open_ = true;
    }
    instructions_ += scope.MaxExecutions();
    NodeInfo info;
    info.executions = executions;
    info.line = line;
    info.depth = scope.loop_depth();
    for (unsigned level = 0; level < info.depth; ++level) {
      info.max_trips[level] = static_cast<std::uint16_t>(scope.MaxTrips(level));
    }
    parts_.nodes.push_back(in);
    parts_.after.push_back(0);
    parts_.info.push_back(info);
  }

  // Registers.

  // `c.i` inside `unroll i` is c.0, c.1, ...
  static std::string Resolved(const std::string& name, const Scope& scope) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return name;
    const std::int64_t* copy = scope.FindCopyIndex(name.substr(dot + 1));
    return copy == nullptr ? name : name.substr(0, dot + 1) + std::to_string(*copy);
  }

  std::uint8_t Define(const std::string& name, int line) {
    const auto [at, fresh] = registers_.emplace(name, static_cast<std::uint8_t>(registers_.size()));
    if (fresh && registers_.size() > kMaxRegisters) {
      Fail(line, name, "at most " + std::to_string(kMaxRegisters) + " registers");
    }
    return at->second;
  }

  std::uint8_t Defined(const std::string& name, const Scope& scope, int line) const {
    const std::string resolved = Resolved(name, scope);
    const auto at = registers_.find(resolved);
    if (at == registers_.end()) {
      Fail(line, resolved, "a register that an instruction above has written");
    }
    return at->second;
  }

  const CompileTarget& target_;
  ProgramParts parts_;
  std::map<std::string, std::uint8_t> registers_;
  std::uint32_t sites_ = 0;
  double instructions_ = 0;
  bool run_open_ = false;
  bool overwrites_ = false;
};

}  // namespace

std::shared_ptr<const Program> CompileProgram(const std::vector<Statement>& statements,
                                              const CompileTarget& target) {
  return ProgramCompiler(target).Run(statements);
}

}  // namespace smk
