# SPDX-License-Identifier: Apache-2.0
"""Energy of a netlist: what its cells take for the changes of their pins, by the tables of a Liberty file.

Energies are fJ, capacitances fF, slews ps, leakage nW: the units of synth/cells/smk45.lib. A change of a net takes
half of C V^2, and its driver what the library says, the mean of rise and fall, and of the inputs that can be behind it.
"""
import re

CELL = re.compile(r"^  (\w+_X\d+) (\\\S+ |\w+) \(\n(.*?)\n  \);", re.MULTILINE | re.DOTALL)
PIN = re.compile(r"\.(\w+)\(([^()]*)\)")
PORT = re.compile(r"^  (input|output) (?:\[(\d+):(\d+)\] )?(\\\S+|\w+)\s*;", re.MULTILINE)


SLICE = re.compile(r"(\\\S+|[A-Za-z_]\w*)\s*(?:\[(\d+)(?::(\d+))?\])?|(\d+)'[bh]\w+")


def plain(name):
    """Without the backslash of an escaped name."""
    return name.strip().removeprefix("\\")


def bits_of(expression, widths):
    """The nets of names, slices, constants and concatenations, the highest first; None for a constant's bits."""
    bits = []
    for name, high, low, constant in SLICE.findall(expression):
        if constant:
            bits += [None] * int(constant)
        elif not high and plain(name) not in widths:
            bits.append(name)
        else:
            top = int(high) if high else widths[plain(name)] - 1
            bottom = int(low) if low else top if high else 0
            bits += [f"{name}[{i}]" for i in range(top, bottom - 1, -1)]
    return bits


class Netlist:
    """Cells and ports of a netlist of one module, as Yosys writes it: cells = {name: (type, {pin: net})}."""

    def __init__(self, text):
        self.cells = {plain(name): (kind, {pin: net.strip() for pin, net in PIN.findall(pins)})
                      for kind, name, pins in CELL.findall(text)}
        self.inputs, self.outputs = {}, {}
        for way, high, low, name in PORT.findall(text):
            ports = self.inputs if way == "input" else self.outputs
            ports[plain(name)] = int(high) - int(low) + 1 if high else 1
        if not self.cells or not self.inputs:
            raise ValueError("netlist: no cells or no ports")
        # "assign a = b": one net with two names.
        self.widths = {name: bits for ports in (self.inputs, self.outputs) for name, bits in ports.items() if bits > 1}
        self.names = {}
        for left, right in re.findall(r"^  assign (.*) = (.*);$", text, re.MULTILINE):
            pairs = zip(bits_of(left, self.widths), bits_of(right, self.widths))
            self.names |= {to: source for to, source in pairs if source is not None}

    def net(self, name):
        name = "".join(name.split())
        while name in self.names:
            name = self.names[name]
        return name


def single_assigns(text):
    """The netlist with assignments bit by bit, as OpenSTA wants them; those of constants are left out."""
    widths = Netlist(text).widths

    def bits(found):
        pairs = zip(bits_of(found[1], widths), bits_of(found[2], widths))
        return "\n".join(f"  assign {to} = {source};" for to, source in pairs if source is not None)
    return re.sub(r"^  assign (.*) = (.*);$", bits, text, flags=re.MULTILINE)


class Library:
    """What a Liberty file says of each cell; `group` is what liberty_tables.read() gives, `table` its Table."""

    def __init__(self, group, table):
        self.volt = group.number("nom_voltage")
        self.cells = {}
        for cell in group.all("cell"):
            pins = {pin.name: pin for pin in cell.all("pin")}
            self.cells[cell.name] = {
                "leak": cell.number("cell_leakage_power"),
                "flip_flop": bool(cell.all("ff")),
                "farad": {name: pin.number("capacitance") for name, pin in pins.items()
                          if pin.attributes["direction"] == "input"},
                "output": next(name for name, pin in pins.items() if pin.attributes["direction"] == "output"),
                "energy": {name: [table(group, power) for arc in pin.all("internal_power") for power in arc.groups
                                  if power.kind in ("rise_power", "fall_power")] for name, pin in pins.items()},
            }

    def internal(self, kind, pin, slew, load):
        """fJ of one change of a pin inside its cell."""
        tables = self.cells[kind]["energy"][pin]
        return sum(table.at(slew, load) for table in tables) / len(tables) if tables else 0.0


def loads(netlist, library, wire, port_wire=0.0):
    """fF at every net: input pins, and `wire` for each of them; `port_wire` at output ports."""
    total = {}
    for name, bits in netlist.outputs.items():
        for net in [name] if bits == 1 else [f"{name}[{i}]" for i in range(bits)]:
            total[netlist.net(net)] = total.get(netlist.net(net), 0.0) + port_wire
    for kind, pins in netlist.cells.values():
        for pin, farad in library.cells[kind]["farad"].items():
            net = netlist.net(pins[pin])
            total[net] = total.get(net, 0.0) + farad + wire
    return total


def energy(netlist, library, changed, slews, wire):
    """fJ of these changes without the clock's, fJ of one cycle of the clock, and nW of leakage.

    changed: {(cell, pin): changes}, slews: {net: ps}. The nets of input ports belong to who drives them.
    """
    load = loads(netlist, library, wire)
    data = clock = leak = 0.0
    for name, (kind, pins) in netlist.cells.items():
        cell = library.cells[kind]
        output, leak = cell["output"], leak + cell["leak"]
        farad = load.get(netlist.net(pins[output]), 0.0) if output in pins else 0.0
        behind = [slews.get(netlist.net(pins[pin]), 0.0) for pin in cell["farad"]]
        each = farad * library.volt ** 2 / 2 + library.internal(kind, output, sum(behind) / len(behind), farad)
        data += each * changed.get((name, output), 0)
        if cell["flip_flop"]:
            data += library.internal(kind, "D", 0.0, 0.0) * changed.get((name, "D"), 0)
            # Two edges inside, and the clock's own pin and wire.
            clock += 2 * library.internal(kind, "CK", 0.0, 0.0)
            clock += (cell["farad"]["CK"] + wire) * library.volt ** 2
    return {"data_fj": data, "clock_fj": clock, "leak_nw": leak}


def toggle_once(netlist, library, wire):
    """fJ when the net of every cell's output changes once: half of C V^2 alone, for a comparison with OpenSTA, which
    gives output ports a wire as well."""
    load = loads(netlist, library, wire, wire)
    outputs = (pins.get(library.cells[kind]["output"], "") for kind, pins in netlist.cells.values())
    return sum(load.get(netlist.net(net), 0.0) for net in outputs) * library.volt ** 2 / 2
