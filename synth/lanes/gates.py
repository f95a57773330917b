# SPDX-License-Identifier: Apache-2.0
"""Operations on nets, and Yosys's gates as such operations.

Interface   A net is a number; ZERO and ONE are the constants. Gates() has `nodes`: every net that is calculated, as an
            operation on other nets, after those that it reads. Equal operations are one node.
Does not optimize but for constants: see logic.py.
"""

import dataclasses

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


class Unsupported(Exception):
    """The netlist has something that cannot be lanes."""


@dataclasses.dataclass
class Node:
    """An operation, and the nets that it reads."""

    kind: str
    reads: tuple


def pins_of(cell):
    """The bit at each of its pins."""
    return {pin: bits[0] for pin, bits in cell["connections"].items() if bits}


class Gates:
    """See the head of this file. The nets that it makes are numbered from `first` on."""

    def __init__(self, first=2):
        self.nodes = {}  # net to Node, in order
        self._known = {}  # Node's contents to its net
        self._next = first

    # Operations, with what is known of constants.
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

    def copy(self, nodes, nets):
        """Makes these nodes of `nets`, which has who takes the place of the nets they read, and gets those of their own."""
        make = {"not": self.invert, "and": self.both, "or": self.either, "xor": self.differ, "mux": self.choose}
        for net, node in nodes.items():
            nets[net] = make[node.kind](*(nets[read] for read in node.reads))

    def new(self):
        self._next += 1
        return self._next - 1

    def _node(self, kind, *reads):
        net = self._known.get((kind, reads))
        if net is None:
            net = self._known[kind, reads] = self.new()
            self.nodes[net] = Node(kind, reads)
        return net

    def read(self, cells, net_of, name_of=str):
        """Makes nodes of Yosys's gates; `net_of` has the nets of the bits that others drive, and gets those of the gates."""
        gates = {}
        for cell in cells:
            pins = pins_of(cell)
            out = pins.pop("Y")
            gates[out] = (cell["type"], [pins[pin] for pin in sorted(pins)])
        for first in gates:
            stack = [(first, False)]
            waiting = set()
            while stack:
                bit, read = stack.pop()
                if read:
                    kind, reads = gates[bit]
                    net_of[bit] = GATES[kind](self, *(net_of[other] for other in reads))
                    waiting.discard(bit)
                elif bit not in net_of:
                    if bit not in gates:
                        raise Unsupported(f"nothing drives {name_of(bit)}")
                    if bit in waiting:
                        raise Unsupported(f"{name_of(bit)} depends on itself")
                    waiting.add(bit)
                    stack.append((bit, True))
                    stack += [(other, False) for other in reversed(gates[bit][1])]
