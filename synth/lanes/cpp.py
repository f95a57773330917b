# SPDX-License-Identifier: Apache-2.0
"""A Netlist as a C++ class: the same bit of all instances is one word, an instance is a lane of every word.

Purpose     header() and source() give the class's two files. Each Function is one pass of straight-line code: the
            outputs of a cycle, its clock edge, or both, in general or where some inputs are zero or one.
Words       Those of ports have 64 bits. Inside they lie in vectors of 128, of which only the lower half counts: every
            x86-64 host has instructions for these, and 16 registers more.
Order       Every net comes shortly before those who read it, and a register is written as soon as nobody reads its
            old value any more: few values live at a time, so that most stay in the processor's registers.
"""

import collections
import dataclasses
import textwrap

from netlist import ONE, ZERO

OPERATIONS = {"not": "~{}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}", "mux": "{0} ^ (({0} ^ {1}) & {2})"}


@dataclasses.dataclass
class Function:
    """A member function: what it calculates, and which inputs it takes for zero or one."""

    name: str
    outputs: bool
    edge: bool
    fixed: dict = dataclasses.field(default_factory=dict)

    @classmethod
    def parse(cls, text):
        """NAME=outputs, NAME=edge or NAME=outputs+edge, then /INPUT=0,INPUT=1,... for those that are fixed."""
        name, _, rest = text.partition("=")
        what, _, fixed = rest.partition("/")
        parts = what.split("+")
        if not name.isidentifier() or set(parts) - {"outputs", "edge"}:
            raise ValueError(f"expected NAME=outputs+edge/INPUT=0,..., got '{text}'")
        values = {}
        for item in filter(None, fixed.split(",")):
            port, _, value = item.partition("=")
            if value not in ("0", "1"):
                raise ValueError(f"expected an input with 0 or 1, got '{item}'")
            values[port] = int(value)
        return cls(name, "outputs" in parts, "edge" in parts, values)

    def comment(self):
        what = {(True, True): "The outputs of a cycle, and its clock edge", (True, False): "The outputs of a cycle",
                (False, True): "The clock edge of a cycle"}[self.outputs, self.edge]
        where = [f"{port} = {value}" for port, value in self.fixed.items()]
        lines = textwrap.wrap(f"{what}{', where ' + ', '.join(where) if where else ''}.", 92)
        return "".join(f"  // {line}\n" for line in lines)


def in_order(netlist, roots):
    """The nets that the roots need, each after those that it reads and close to who reads it."""
    done, seen = [], set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            net, read = stack.pop()
            if read:
                done.append(net)
            elif net in netlist.nodes and net not in seen:
                seen.add(net)
                stack.append((net, True))
                stack += [(other, False) for other in reversed(netlist.nodes[net].reads)]
    return done


def ports(name, of_port):
    members = "".join(f"    Word {port}[{len(bits)}];\n" for port, bits in of_port.items())
    return f"  struct {name} {{\n{members}  }};\n"


def header(netlist, name, what, functions):
    members = "".join(f"{function.comment()}  void {function.name}();\n" for function in functions)
    return f"""// SPDX-License-Identifier: Apache-2.0
// {what}, as lanes: made by synth/lanes/make_lanes.py.
#pragma once

#include <cstdint>

namespace smk::lanes {{

// Bit i of every word belongs to instance i.
struct {name} {{
  using Word = std::uint64_t;
  // A word, and as many bits that nobody reads.
  typedef Word Register __attribute__((vector_size(16)));
  static constexpr unsigned kGates = {len(netlist.nodes)}, kRegisters = {len(netlist.flops)};
{ports("Inputs", netlist.inputs)}{ports("Outputs", netlist.outputs)}
  // Registers as after a reset, in all lanes.
  void Reset();
{members}
  Inputs in{{}};
  Outputs out{{}};
  Register q[kRegisters]{{}};
}};

}}  // namespace smk::lanes
"""


class _Body:
    """The statements of one function."""

    def __init__(self, netlist, function):
        self._netlist = netlist
        self._place = {ZERO: "Register{}", ONE: "~Register{}"}
        for port, bits in netlist.inputs.items():
            self._place |= {net: f"Register{{in.{port}[{i}]}}" for i, net in enumerate(bits)}
        register = {flop.out: i for i, flop in enumerate(netlist.flops)}
        self._place |= {net: f"q[{i}]" for net, i in register.items()}
        outputs = [(f"out.{port}[{i}]", net) for port, bits in netlist.outputs.items() for i, net in enumerate(bits)]
        edges = [(flop.out, flop.value) for flop in netlist.flops if flop.value != flop.out]
        outputs, edges = outputs if function.outputs else [], edges if function.edge else []
        self._nets = in_order(netlist, [net for _, net in outputs] + [value for _, value in edges])
        at = {net: i for i, net in enumerate(self._nets)}
        self._stores = collections.defaultdict(list)  # by the net after which they come
        last = {}  # who reads a net last
        for i, net in enumerate(self._nets):
            last.update(dict.fromkeys(netlist.nodes[net].reads, i))
        for place, net in outputs:
            known = at.get(net, -1)
            last[net] = max(last.get(net, -1), known)
            self._stores[known].append(f"  {place} = ({self._name(net)})[0];")
        # A register that takes the value of another one takes it as it was.
        copied = sorted({register[value] for _, value in edges if value in register})
        self._before = [f"  const Register q{i} = q[{i}];" for i in copied]
        for out, value in edges:
            name = f"q{register[value]}" if value in register else self._name(value)
            self._stores[max(at.get(value, -1), last.get(out, -1))].append(f"  {self._name(out)} = {name};")

    def _name(self, net):
        return self._place.get(net) or f"t{net}"

    def text(self):
        lines = [*self._before, *self._stores[-1]]
        for i, net in enumerate(self._nets):
            node = self._netlist.nodes[net]
            lines.append(f"  const Register t{net} = {OPERATIONS[node.kind].format(*map(self._name, node.reads))};")
            lines += self._stores[i]
        return "".join(line + "\n" for line in lines)


def source(netlist, name, include, functions):
    resets = "".join(f"  q[{i}] = {'~Register{}' if flop.reset else 'Register{}'};  // {flop.name}\n"
                     for i, flop in enumerate(netlist.flops))
    bodies = [f"void {name}::Reset() {{\n{resets}}}\n"]
    for function in functions:
        of_function = netlist.with_fixed(function.fixed) if function.fixed else netlist
        bodies.append(f"void {name}::{function.name}() {{\n{_Body(of_function, function).text()}}}\n")
    body = "\n".join(bodies)
    return f"""// SPDX-License-Identifier: Apache-2.0
// Made by synth/lanes/make_lanes.py.
#include "{include}"

namespace smk::lanes {{

{body}
}}  // namespace smk::lanes
"""
