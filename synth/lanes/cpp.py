# SPDX-License-Identifier: Apache-2.0
"""A Netlist as a C++ class: the same bit of all instances is one word, an instance is a lane of every word.

Purpose     header() and source() give the class's two files. Each Function is one pass of straight-line code: outputs
            of a cycle, its clock edge, or both, in general or where some inputs and registers are zero or one.
Held        A function can take inputs for held: they are as in the cycle before, or else Changed() is called first. What
            follows from these, and from registers that it does not change, is calculated once and kept.
Words       Have 64 bits, and a net has one or two of them. They lie in vectors of 128 bits: every x86-64 host has
            instructions for these, and 16 registers more. Of one word the upper half does not count. Ports are the words.
Order       Every net comes shortly before those who read it, and a register is written as soon as nobody reads its
            old value any more: few values live at a time, so that most stay in the processor's registers.
"""

import collections
import dataclasses
import textwrap

import logic
from gates import ONE, ZERO, Unsupported

OPERATIONS = {"not": "~{}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}"}


@dataclasses.dataclass
class Function:
    """A member function: which outputs it gives, whether it is a clock edge, what it takes for fixed and for held."""

    name: str
    outputs: tuple  # ports; "outputs" are all
    edge: bool
    fixed: dict = dataclasses.field(default_factory=dict)
    held: frozenset = frozenset()

    @classmethod
    def parse(cls, text):
        """NAME=outputs, NAME=edge, NAME=PORT or several with +, then /INPUT=0,REGISTER=1,INPUT=held,..."""
        name, _, rest = text.partition("=")
        what, _, given = rest.partition("/")
        parts = what.split("+")
        if not name.isidentifier() or not all(part.isidentifier() for part in parts):
            raise ValueError(f"expected NAME=outputs+edge/INPUT=0,..., got '{text}'")
        values = {}
        for item in filter(None, given.split(",")):
            port, _, value = item.partition("=")
            if value not in ("0", "1", "held"):
                raise ValueError(f"expected an input with 0, 1 or held, got '{item}'")
            values[port] = value
        return cls(name, tuple(part for part in parts if part != "edge"), "edge" in parts,
                   {port: int(value) for port, value in values.items() if value != "held"},
                   frozenset(port for port, value in values.items() if value == "held"))

    def comment(self):
        outputs = [f"The outputs {'of a cycle' if port == 'outputs' else port}" for port in self.outputs]
        what = outputs[0] if len(outputs) == 1 else f"{len(outputs)} outputs of a cycle"
        if self.edge:
            what = f"{what}, and its clock edge" if outputs else "The clock edge of a cycle"
        where = [f"{port} = {value}" for port, value in self.fixed.items()] + [f"{port} is held" for port in sorted(self.held)]
        lines = textwrap.wrap(f"{what}{', where ' + ', '.join(where) if where else ''}.", 92)
        return "".join(f"  // {line}\n" for line in lines)


class Pass:
    """A function of a netlist: its logic, of what it holds and of every call, and where the results go."""

    def __init__(self, netlist, function):
        unknown = {*function.fixed, *function.held} - set(netlist.inputs) - {flop.register for flop in netlist.flops}
        unknown |= {*function.outputs} - set(netlist.outputs) - {"outputs"}
        if unknown:
            raise Unsupported(f"{function.name}: there is no {', '.join(sorted(unknown))}")
        special = netlist.with_fixed(function.fixed) if function.fixed else netlist
        ports = special.outputs if "outputs" in function.outputs else {port: special.outputs[port] for port in function.outputs}
        self.name, self.comment = function.name, function.comment()
        self.outputs = [(port, i) for port, bits in ports.items() for i in range(len(bits))]
        self.edges = [flop.out for flop in special.flops if function.edge and flop.value != flop.out]
        values = {flop.out: flop.value for flop in special.flops}
        gives = [special.outputs[port][i] for port, i in self.outputs] + [values[out] for out in self.edges]
        body = logic.logic_of(special.nodes, gives)
        self.kept = self._kept(netlist, special, body, function.held) if function.held else []
        self.held = logic.logic_of(special.nodes, self.kept)
        self.body = logic.logic_of(special.nodes, gives, known=self.kept)

    def _kept(self, netlist, special, body, held):
        """Nets that follow from what is held, and that others read."""
        steady = {ZERO, ONE, *(net for port in held for net in netlist.inputs[port])}
        steady |= {flop.out for flop in special.flops} - set(self.edges)
        follow = set()
        for net, node in body.nodes.items():
            if steady.issuperset(node.reads):
                steady.add(net)
                follow.add(net)
        read = {net for other, node in body.nodes.items() if other not in follow for net in node.reads}
        return [net for net in body.nodes if net in follow and (net in read or net in set(body.gives))]

    def know(self, held):
        """`held`: the same with fewer operations. Some of it may be constants."""
        self.held = held
        body = self.body.with_constants({net: value for net, value in zip(self.kept, held.gives) if value in (ZERO, ONE)})
        count = len(self.outputs)
        edges = [(out, value) for out, value in zip(self.edges, body.gives[count:], strict=True) if out != value]
        self.edges = [out for out, _ in edges]
        self.body = logic.logic_of(body.nodes, body.gives[:count] + [value for _, value in edges])

    def changes(self, other):
        """Whether what the other one holds is another after it."""
        return not set(self.edges).isdisjoint(other.held.reads())


def passes(netlist, functions, yosys):
    """Of the functions, with as few operations as ABC finds."""
    made = [Pass(netlist, function) for function in functions]
    for one, held in zip(made, logic.reduce([one.held for one in made], yosys), strict=True):
        one.know(held)
    for one, body in zip(made, logic.reduce([one.body for one in made], yosys), strict=True):
        one.body = body
    return made


def ports(name, of_port, words):
    kind, of_one = ("Word", "[1]") if words == 1 else ("Register", "")
    members = "".join(f"    {kind} {port}[{len(bits)}]{of_one};\n" for port, bits in of_port.items())
    return f"  struct {name} {{\n{members}  }};\n"


def header(netlist, name, what, made, words=1):
    members = "".join(f"{one.comment}  void {one.name}();\n" for one in made)
    holding = [one for one in made if one.kept]
    if holding:
        members += "  // Inputs that a function takes for held are others than before.\n  void Changed() { current_ = 0; }\n"
    private = "".join(f"  void Hold{one.name}();\n" for one in holding)
    private += "".join(f"  Register {one.name.lower()}_[{len(one.kept)}]{{}};  // what it holds\n" for one in holding)
    private += "  unsigned current_ = 0;  // what is held, function by function\n" if holding else ""
    return f"""// SPDX-License-Identifier: Apache-2.0
// {what}, as lanes: made by synth/lanes/make_lanes.py.
#pragma once

#include <cstdint>

namespace smk::lanes {{

// Bit i of word w belongs to instance 64 w + i.
struct {name} {{
  using Word = std::uint64_t;
  static constexpr unsigned kWords = {words};
  {"// A word, and as many bits that nobody reads." if words == 1 else "// Two words."}
  typedef Word Register __attribute__((vector_size(16)));
  static constexpr unsigned kGates = {len(netlist.nodes)}, kRegisters = {len(netlist.flops)};
{ports("Inputs", netlist.inputs, words)}{ports("Outputs", netlist.outputs, words)}
  // Registers as after a reset, in all lanes.
  void Reset();
{members}
  Inputs in{{}};
  Outputs out{{}};
  Register q[kRegisters]{{}};
{chr(10) + " private:" + chr(10) + private if private else ""}}};

}}  // namespace smk::lanes
"""


class _Body:
    """The statements of a piece of logic."""

    def __init__(self, netlist, one, words):
        self._words = words
        self._place = {ZERO: "Register{}", ONE: "~Register{}"}
        for port, bits in netlist.inputs.items():
            self._place |= {net: f"Register{{in.{port}[{i}][0]}}" if words == 1 else f"in.{port}[{i}]"
                            for i, net in enumerate(bits)}
        self._register = {flop.out: i for i, flop in enumerate(netlist.flops)}
        self._place |= {net: f"q[{i}]" for net, i in self._register.items()}
        self._one = one

    def held(self):
        """What the function holds, into the words for it."""
        nodes, stores = self._one.held.nodes, collections.defaultdict(list)
        for i, net in enumerate(self._one.held.gives):
            stores[net if net in nodes else None].append(f"  {self._one.name.lower()}_[{i}] = {self._name(net)};")
        return self._text(nodes, [], stores)

    def text(self):
        """A call."""
        one, nodes = self._one, self._one.body.nodes
        self._place |= {net: f"{one.name.lower()}_[{i}]" for i, net in enumerate(one.kept)}
        outputs = [(f"out.{port}[{i}]", net) for (port, i), net in zip(one.outputs, one.body.gives)]
        edges = list(zip(one.edges, one.body.gives[len(outputs):], strict=True))
        at = {net: i for i, net in enumerate(nodes)}
        stores = collections.defaultdict(list)  # by the net after which they come; None: before all
        last = {}  # who reads a net last
        for i, node in enumerate(nodes.values()):
            last.update(dict.fromkeys(node.reads, i))
        order = [None, *nodes]
        for place, net in outputs:
            known = at.get(net, -1)
            last[net] = max(last.get(net, -1), known)
            value = self._name(net)
            stores[order[known + 1]].append(f"  {place}[0] = ({value})[0];" if self._words == 1 else f"  {place} = {value};")
        # A register that takes the value of another one takes it as it was.
        copied = sorted({self._register[value] for _, value in edges if value in self._register})
        before = [f"  const Register q{i} = q[{i}];" for i in copied]
        for out, value in edges:
            name = f"q{self._register[value]}" if value in self._register else self._name(value)
            after = order[max(at.get(value, -1), last.get(out, -1)) + 1]
            stores[after].append(f"  {self._name(out)} = {name};")
        return self._text(nodes, before, stores)

    def _name(self, net):
        return self._place.get(net) or f"t{net}"

    def _text(self, nodes, before, stores):
        lines = [*before, *stores[None]]
        for net, node in nodes.items():
            lines.append(f"  const Register t{net} = {OPERATIONS[node.kind].format(*map(self._name, node.reads))};")
            lines += stores[net]
        return "".join(line + "\n" for line in lines)


def source(netlist, name, include, made, words=1):
    resets = "".join(f"  q[{i}] = {'~Register{}' if flop.reset else 'Register{}'};  // {flop.name}\n"
                     for i, flop in enumerate(netlist.flops))
    holding = [one for one in made if one.kept]
    bit = {one.name: 1 << i for i, one in enumerate(holding)}
    bodies = [f"void {name}::Reset() {{\n{resets}{'  current_ = 0;' + chr(10) if holding else ''}}}\n"]
    for one in made:
        text = _Body(netlist, one, words).text()
        if one.kept:
            held = _Body(netlist, one, words).held()
            bodies.append(f"void {name}::Hold{one.name}() {{\n{held}  current_ |= {bit[one.name]};\n}}\n")
            text = f"  if ((current_ & {bit[one.name]}) == 0) Hold{one.name}();\n{text}"
        lost = sum(bit[other.name] for other in holding if one.changes(other))
        text += f"  current_ &= ~{lost}u;\n" if lost else ""
        bodies.append(f"void {name}::{one.name}() {{\n{text}}}\n")
    body = "\n".join(bodies)
    return f"""// SPDX-License-Identifier: Apache-2.0
// Made by synth/lanes/make_lanes.py.
#include "{include}"

namespace smk::lanes {{

{body}
}}  // namespace smk::lanes
"""
