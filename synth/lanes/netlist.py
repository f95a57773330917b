# SPDX-License-Identifier: Apache-2.0
"""A flat netlist of one clock as functions of bits, read from what Yosys writes as JSON.

Purpose     Netlist(json, module, clock, reset) has `inputs` and `outputs` (port to nets), `flops`, and `nodes`: every
            net that is calculated, as an operation on other nets. Equal operations are one node.
Interface   A net is a number; ZERO and ONE are the constants. Nodes come after those that they read.
Cells       Yosys's own gates, and flip-flops at the rising edge of `clock` with an asynchronous `reset`, an
            enable or a synchronous reset; anything else is an Unsupported, with its name.
Does not optimize but for constants: that is Yosys's work, and the compiler's.
"""

import dataclasses
import re

ZERO, ONE = 0, 1

# What a gate is of and, or, xor, not and mux (which is b where s is 1).
GATES = {
    "$_BUF_": lambda n, a: a,
    "$_NOT_": lambda n, a: n.invert(a),
    "$_AND_": lambda n, a, b: n.both(a, b),
    "$_NAND_": lambda n, a, b: n.invert(n.both(a, b)),
    "$_OR_": lambda n, a, b: n.either(a, b),
    "$_NOR_": lambda n, a, b: n.invert(n.either(a, b)),
    "$_XOR_": lambda n, a, b: n.differ(a, b),
    "$_XNOR_": lambda n, a, b: n.invert(n.differ(a, b)),
    "$_ANDNOT_": lambda n, a, b: n.both(a, n.invert(b)),
    "$_ORNOT_": lambda n, a, b: n.either(a, n.invert(b)),
    "$_MUX_": lambda n, a, b, s: n.choose(a, b, s),
    "$_NMUX_": lambda n, a, b, s: n.invert(n.choose(a, b, s)),
    "$_AOI3_": lambda n, a, b, c: n.invert(n.either(n.both(a, b), c)),
    "$_OAI3_": lambda n, a, b, c: n.invert(n.both(n.either(a, b), c)),
    "$_AOI4_": lambda n, a, b, c, d: n.invert(n.either(n.both(a, b), n.both(c, d))),
    "$_OAI4_": lambda n, a, b, c, d: n.invert(n.both(n.either(a, b), n.either(c, d))),
}
# Of the rising edge: edge and level of the asynchronous reset with its value; of the synchronous one; of the enable.
FLOP = re.compile(r"\$_(?:DFF_P(?P<async>[NP][01])?|DFFE_P(?P<async_e>[NP][01])?(?P<enable>[NP])"
                  r"|SDFF_P(?P<sync>[NP][01])|SDFFE_P(?P<sync_e>[NP][01])(?P<enable_s>[NP])"
                  r"|SDFFCE_P(?P<sync_c>[NP][01])(?P<enable_c>[NP]))_")


class Unsupported(Exception):
    """The netlist has something that cannot be lanes."""


@dataclasses.dataclass
class Node:
    """An operation, and the nets that it reads."""

    kind: str
    reads: tuple


@dataclasses.dataclass
class Flop:
    """A register of one bit: the net that it drives, its next value, its value after a reset, or None."""

    name: str
    out: int
    value: int
    reset: int | None


class Netlist:
    """See the head of this file."""

    def __init__(self, json, module, clock="clk_i", reset="rst_ni"):
        modules = json["modules"]
        if module not in modules:
            raise Unsupported(f"no module {module}, only {', '.join(sorted(modules))}")
        self.nodes = {}  # net to Node, in order
        self.flops = []
        self._known = {}  # Node's contents to its net
        self._next = 2
        self._net_of = {"0": ZERO, "1": ONE, "x": ZERO}  # Yosys's bits
        self._clock, self._reset = clock, reset
        content = modules[module]
        self._names = self._bit_names(content)
        self._ports(content)
        self._cells(content)
        self._outputs(content)

    # Operations on nets, with what is known of constants.
    def invert(self, a):
        if a in (ZERO, ONE):
            return ONE - a
        node = self.nodes.get(a)
        return node.reads[0] if node and node.kind == "not" else self._node("not", a)

    def both(self, a, b):
        if ZERO in (a, b) or a == self._known.get(("not", (b,))) or b == self._known.get(("not", (a,))):
            return ZERO
        if ONE in (a, b):
            return b if a == ONE else a
        return a if a == b else self._node("and", *sorted((a, b)))

    def either(self, a, b):
        if ONE in (a, b) or a == self._known.get(("not", (b,))) or b == self._known.get(("not", (a,))):
            return ONE
        if ZERO in (a, b):
            return b if a == ZERO else a
        return a if a == b else self._node("or", *sorted((a, b)))

    def differ(self, a, b):
        if a == b:
            return ZERO
        for one, other in ((a, b), (b, a)):
            if one == ZERO:
                return other
            if one == ONE:
                return self.invert(other)
        return self._node("xor", *sorted((a, b)))

    def choose(self, a, b, s):
        if s in (ZERO, ONE) or a == b:
            return b if s == ONE else a
        if a in (ZERO, ONE):
            return self.both(b, s) if a == ZERO else self.either(b, self.invert(s))
        if b in (ZERO, ONE):
            return self.either(a, s) if b == ONE else self.both(a, self.invert(s))
        return self._node("mux", a, b, s)

    def _node(self, kind, *reads):
        net = self._known.get((kind, reads))
        if net is None:
            net = self._known[kind, reads] = self._new()
            self.nodes[net] = Node(kind, reads)
        return net

    def _new(self):
        self._next += 1
        return self._next - 1

    def with_fixed(self, ports):
        """The same, where these inputs are zero or one in all bits."""
        other = object.__new__(Netlist)
        other.nodes, other._known, other._next = {}, {}, self._next
        nets = {ZERO: ZERO, ONE: ONE}
        nets |= {net: net for bits in self.inputs.values() for net in bits}
        nets |= {net: ONE if one else ZERO for port, one in ports.items() for net in self.inputs[port]}
        nets |= {flop.out: flop.out for flop in self.flops}
        make = {"not": other.invert, "and": other.both, "or": other.either, "xor": other.differ, "mux": other.choose}
        for net, node in self.nodes.items():
            nets[net] = make[node.kind](*(nets[read] for read in node.reads))
        other.inputs = self.inputs
        other.outputs = {port: [nets[net] for net in bits] for port, bits in self.outputs.items()}
        other.flops = [dataclasses.replace(flop, value=nets[flop.value]) for flop in self.flops]
        return other

    # Reading.
    @staticmethod
    def _bit_names(content):
        """A name for each of Yosys's bits: of the design's, where there is one."""
        names = {}
        for name, net in content["netnames"].items():
            for index, bit in enumerate(net["bits"]):
                if not net.get("hide_name") or bit not in names:
                    names[bit] = f"{name}[{index}]" if len(net["bits"]) > 1 else name
        return names

    def _ports(self, content):
        self.inputs = {}
        for name, port in content["ports"].items():
            if port["direction"] == "input":
                for bit in port["bits"]:
                    self._net_of[bit] = self._new()
                if name not in (self._clock, self._reset):
                    self.inputs[name] = [self._net_of[bit] for bit in port["bits"]]
            elif port["direction"] != "output":
                raise Unsupported(f"port {name} is {port['direction']}")
        for name in (self._clock, self._reset):
            if name not in content["ports"]:
                raise Unsupported(f"no input {name}")

    def _cells(self, content):
        gates, flops = {}, []
        for name, cell in content["cells"].items():
            pins = {pin: bits[0] for pin, bits in cell["connections"].items() if bits}
            if cell["type"] in GATES:
                out = pins.pop("Y")
                gates[out] = (cell["type"], [pins[pin] for pin in sorted(pins)])
            elif FLOP.fullmatch(cell["type"]):
                self._net_of[pins["Q"]] = self._new()
                flops.append((name, cell["type"], pins))
            elif cell["type"] != "$scopeinfo":  # names only, of newer versions
                raise Unsupported(f"cell {name} is a {cell['type']}, which is no gate and no flip-flop of one clock")
        self._sort(gates)
        for name, kind, pins in flops:
            self._flop(name, kind, pins)

    def _sort(self, gates):
        """Makes the nodes, each after those that it reads."""
        for first in gates:
            stack = [(first, False)]
            waiting = set()
            while stack:
                bit, read = stack.pop()
                if read:
                    kind, reads = gates[bit]
                    self._net_of[bit] = GATES[kind](self, *map(self._net, reads))
                    waiting.discard(bit)
                elif bit not in self._net_of:
                    if bit not in gates:
                        raise Unsupported(f"nothing drives {self._names.get(bit, bit)}")
                    if bit in waiting:
                        raise Unsupported(f"{self._names.get(bit, bit)} depends on itself")
                    waiting.add(bit)
                    stack.append((bit, True))
                    stack += [(other, False) for other in reversed(gates[bit][1])]

    def _net(self, bit):
        if bit not in self._net_of:
            raise Unsupported(f"nothing drives {self._names.get(bit, bit)}")
        return self._net_of[bit]

    def _flop(self, name, kind, pins):
        parts = FLOP.fullmatch(kind).groupdict()
        if self._names.get(pins["C"]) != self._clock:
            raise Unsupported(f"the clock of {name} is {self._names.get(pins['C'])}, not {self._clock}")
        out, value, reset = self._net_of[pins["Q"]], self._net(pins["D"]), None
        asynchronous = parts["async"] or parts["async_e"]
        if asynchronous:
            if self._names.get(pins["R"]) != self._reset or asynchronous[0] != "N":
                raise Unsupported(f"the reset of {name} is not {self._reset} at 0")
            reset = int(asynchronous[1])
        enable = parts["enable"] or parts["enable_s"] or parts["enable_c"]
        synchronous = parts["sync"] or parts["sync_e"]
        if parts["sync_c"]:  # the enable comes before the reset
            value = self._reset_to(parts["sync_c"], pins, value)
        if enable:
            enabled = self._net(pins["E"])
            value = self.choose(out, value, enabled if enable == "P" else self.invert(enabled))
        if synchronous:
            value = self._reset_to(synchronous, pins, value)
        self.flops.append(Flop(self._names.get(pins["Q"], name), out, value, reset))

    def _reset_to(self, how, pins, value):
        resets = self._net(pins["R"])
        return self.choose(value, int(how[1]), resets if how[0] == "P" else self.invert(resets))

    def _outputs(self, content):
        self.outputs = {name: [self._net(bit) for bit in port["bits"]]
                        for name, port in content["ports"].items() if port["direction"] == "output"}
