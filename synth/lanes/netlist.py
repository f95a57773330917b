# SPDX-License-Identifier: Apache-2.0
"""A flat netlist of one clock as functions of bits, read from what Yosys writes as JSON.

Purpose     Netlist(json, module, clock, reset) has `inputs` and `outputs` (port to nets), `flops`, and the operations
            between them: see gates.py.
Cells       Yosys's own gates, and flip-flops at the rising edge of `clock` with an asynchronous `reset`, an
            enable or a synchronous reset; anything else is an Unsupported, with its name.
"""

import dataclasses
import re

from gates import GATES, ONE, ZERO, Gates, Unsupported, pins_of

# Of the rising edge: edge and level of the asynchronous reset with its value; of the synchronous one; of the enable.
FLOP = re.compile(r"\$_(?:DFF_P(?P<async>[NP][01])?|DFFE_P(?P<async_e>[NP][01])?(?P<enable>[NP])"
                  r"|SDFF_P(?P<sync>[NP][01])|SDFFE_P(?P<sync_e>[NP][01])(?P<enable_s>[NP])"
                  r"|SDFFCE_P(?P<sync_c>[NP][01])(?P<enable_c>[NP]))_")


@dataclasses.dataclass
class Flop:
    """A register of one bit: the net that it drives, its next value, its value after a reset, or None."""

    name: str
    out: int
    value: int
    reset: int | None

    @property
    def register(self):
        """The name of the register that it is a bit of."""
        return self.name.partition("[")[0]


class Netlist(Gates):
    """See the head of this file."""

    def __init__(self, json, module, clock="clk_i", reset="rst_ni"):
        super().__init__()
        modules = json["modules"]
        if module not in modules:
            raise Unsupported(f"no module {module}, only {', '.join(sorted(modules))}")
        self.flops = []
        self._net_of = {"0": ZERO, "1": ONE, "x": ZERO}  # Yosys's bits
        self._clock, self._reset = clock, reset
        content = modules[module]
        self._names = self._bit_names(content)
        self._ports(content)
        self._cells(content)
        self._outputs(content)

    def with_fixed(self, fixed):
        """The same, where these inputs are zero or one in all bits, and registers, which must stay so."""
        other = object.__new__(Netlist)
        Gates.__init__(other, self._next)
        nets = {ZERO: ZERO, ONE: ONE}
        nets |= {net: fixed.get(port, net) for port, bits in self.inputs.items() for net in bits}
        nets |= {flop.out: fixed.get(flop.register, flop.out) for flop in self.flops}
        other.copy(self.nodes, nets)
        other.inputs = self.inputs
        other.outputs = {port: [nets[net] for net in bits] for port, bits in self.outputs.items()}
        other.flops = []
        for flop in self.flops:
            value = nets[flop.value]
            if flop.register in fixed:
                if value not in (flop.out, nets[flop.out]):
                    raise Unsupported(f"{flop.name} does not stay {fixed[flop.register]}")
                value = flop.out
            other.flops.append(dataclasses.replace(flop, value=value))
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
                    self._net_of[bit] = self.new()
                if name not in (self._clock, self._reset):
                    self.inputs[name] = [self._net_of[bit] for bit in port["bits"]]
            elif port["direction"] != "output":
                raise Unsupported(f"port {name} is {port['direction']}")
        for name in (self._clock, self._reset):
            if name not in content["ports"]:
                raise Unsupported(f"no input {name}")

    def _cells(self, content):
        gates, flops = [], []
        for name, cell in content["cells"].items():
            if cell["type"] in GATES:
                gates.append(cell)
            elif FLOP.fullmatch(cell["type"]):
                flops.append((name, cell["type"], pins_of(cell)))
                self._net_of[flops[-1][2]["Q"]] = self.new()
            elif cell["type"] != "$scopeinfo":  # names only, of newer versions
                raise Unsupported(f"cell {name} is a {cell['type']}, which is no gate and no flip-flop of one clock")
        self.read(gates, self._net_of, lambda bit: self._names.get(bit, bit))
        for name, kind, pins in flops:
            self._flop(name, kind, pins)

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
