# SPDX-License-Identifier: Apache-2.0
"""Reads what the layout tools write: places and wires (DEF), cells (LEF), resistances and capacitances of
qrouter (.rc), magic's extracted capacitances (SPICE), and reports of timing.

Lengths are um, areas um2, capacitances fF, resistances ohm, times ns. A file that is not what it should be is a
ValueError that says which line.
"""
import re

COMPONENT = re.compile(r"^- (\S+) (\S+) \+ PLACED \( (-?\d+) (-?\d+) \) (\S+) ;")
SEGMENT = re.compile(r"\( (-?[\d.]+|\*) (-?[\d.]+|\*) \)")
POINT = 2  # coordinates of a point
SUPPLY = ("vdd", "gnd")


def cells_of_lef(text):
    """Width and height of every cell."""
    sizes = {}
    for name, body in re.findall(r"^MACRO (\S+)$(.*?)^END \1$", text, re.MULTILINE | re.DOTALL):
        size = re.search(r"\bSIZE ([\d.]+) BY ([\d.]+) ;", body)
        if size:
            sizes[name] = (float(size[1]), float(size[2]))
    if not sizes:
        raise ValueError("LEF: no MACRO with a SIZE")
    return sizes


def section(text, name):
    """The lines between "NAME n ;" and "END NAME"."""
    found = re.search(rf"^{name} \d+ ;$(.*?)^END {name}$", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"DEF: no {name}")
    return found[1].strip().splitlines()


def units(text):
    """Of the DEF file, per um."""
    found = re.search(r"^UNITS DISTANCE MICRONS (\d+) ;", text, re.MULTILINE)
    if not found:
        raise ValueError("DEF: no UNITS DISTANCE MICRONS")
    return int(found[1])


def placement(text, sizes):
    """The core, which is the rows of cells with their fill: width, height, area, and what of it is cells."""
    scale = units(text)
    boxes, used, cells = [], 0.0, 0
    for line in section(text, "COMPONENTS"):
        found = COMPONENT.match(line)
        if not found:
            raise ValueError(f"DEF: not a placed cell: {line}")
        if found[2] not in sizes:
            raise ValueError(f"DEF: cell {found[2]} is not in the LEF file")
        width, height = sizes[found[2]]
        x, y = int(found[3]) / scale, int(found[4]) / scale
        boxes.append((x, y, x + width, y + height))
        if not found[2].startswith("FILL"):
            used += width * height
            cells += 1
    width = max(box[2] for box in boxes) - min(box[0] for box in boxes)
    height = max(box[3] for box in boxes) - min(box[1] for box in boxes)
    return {"cells": cells, "width_um": round(width, 2), "height_um": round(height, 2),
            "core_um2": round(width * height, 1), "cells_um2": round(used, 1),
            "utilisation": round(used / (width * height), 4)}


def length_of(line, scale):
    """Of the wire in one line of a net: points follow each other, * is the coordinate before."""
    length, last = 0.0, None
    for words in SEGMENT.findall(line):
        point = tuple(last[i] if word == "*" and last else float(word) for i, word in enumerate(words))
        if last:
            length += sum(abs(point[i] - last[i]) for i in range(POINT)) / scale
        last = point
    return length


def wires(text):
    """Length and vias of every net but the supply's."""
    scale, nets, name = units(text), {}, None
    for line in section(text, "NETS") + section(text, "SPECIALNETS"):
        if line.startswith("- "):
            name = line.split()[1]
            nets.setdefault(name, [0.0, 0])
        elif re.match(r"(\+ ROUTED|\+ FIXED|\s+NEW) ", line):
            nets[name][0] += length_of(line, scale)
            nets[name][1] += len(re.findall(r"\bM\d_M\d\b", line))
    return {name: tuple(net) for name, net in nets.items() if name not in SUPPLY}


def pins_of_nets(text):
    """As qrouter calls them: INVX1_2/A, and PIN/port."""
    nets, name = {}, None
    for line in section(text, "NETS"):
        if line.startswith("- "):
            name = line.split()[1]
        elif line.startswith("  ( "):
            nets.setdefault(name, []).append("/".join(line.split()[1:3]))
    return nets


class Tree:
    """Resistances and capacitances of one net, as qrouter writes them.

    "n1 1 INVX1_2/Y 2 ( 0.8 0.0002 A/B , ( 1.9 0.0004 C/A ) ) " is: one driver, two sinks, and in brackets a
    piece of wire in ohm and pF with what is behind it.
    """

    def __init__(self, line):
        words = line.split()
        if len(words) < 4 or not words[1].isdigit() or not words[3].isdigit():
            raise ValueError(f"rc: expected NET DRIVERS PIN SINKS ( OHM PF ... ): {line[:80]}")
        self.name, self.driver, self.sinks = words[0], words[2], int(words[3])
        self.segments = []  # (from, to, ohm, fF); nodes are numbers, pins are names
        self.words, self.at, self.node = words, 4, 0
        while self.at < len(words):
            self._branch(self.driver)
        # qrouter loses what is behind a wire that goes in a circle.
        self.whole = len(self.pins()) == self.sinks
        if len(self.pins()) > self.sinks:
            raise ValueError(f"rc: {self.name}: {len(self.pins())} pins, expected {self.sinks}")

    def _take(self):
        if self.at >= len(self.words):
            raise ValueError(f"rc: {self.name}: a bracket is not closed")
        self.at += 1
        return self.words[self.at - 1]

    def _branch(self, above):
        word = self._take()
        if word == ",":
            return
        if word != "(":
            self.segments.append((above, word, 0.0, 0.0))
            return
        ohm, farad = float(self._take()), 1000 * float(self._take())
        self.node += 1
        here = self.node
        self.segments.append((above, here, ohm, farad))
        while self.at < len(self.words) and self.words[self.at] != ")":
            self._branch(here)
        self._take()

    def pins(self):
        return [to for _, to, _, _ in self.segments if isinstance(to, str)]

    def farad(self):
        return sum(segment[3] for segment in self.segments)


    def lump(self, pins, farad):
        """All capacitance in one place, without resistance, and these pins."""
        others = [pin for pin in pins if pin != self.driver]
        if len(others) != self.sinks:
            raise ValueError(f"rc: {self.name}: {len(others)} pins in the DEF file, expected {self.sinks}")
        self.segments = [(self.driver, 1, 0.0, farad)] + [(1, pin, 0.0, 0.0) for pin in others]


def trees(text, layout):
    """The nets of an .rc file. Those that are not whole get the mean capacitance of their length in the DEF file."""
    nets = [Tree(line) for line in text.splitlines() if line.strip()]
    pins, lengths = pins_of_nets(layout), wires(layout)
    whole = [net for net in nets if net.whole]
    mean = sum(net.farad() for net in whole) / sum(lengths[net.name][0] for net in whole)
    for net in nets:
        if not net.whole:
            net.lump(pins[net.name], mean * lengths[net.name][0])
    return nets


def _pin(name):
    return name[len("PIN/"):] if name.startswith("PIN/") else name.replace("/", ":")


def spef_of_net(tree, factor):
    """One net: half of a piece's capacitance at each end."""
    def node(which):
        return _pin(which) if isinstance(which, str) else f"{tree.name}:{which}"

    def connection(pin, outward):
        port = pin.startswith("PIN/")
        return f"*{'P' if port else 'I'} {_pin(pin)} {'O' if outward != port else 'I'}"

    loads = {}
    for above, below, _, farad in tree.segments:
        for end in (above, below):
            loads[node(end)] = loads.get(node(end), 0.0) + factor * farad / 2
    lines = [f"*D_NET {tree.name} {factor * tree.farad():.6f}", "*CONN", connection(tree.driver, True)]
    lines += [connection(pin, False) for pin in tree.pins()]
    lines += ["*CAP"] + [f"{i} {name} {farad:.6f}" for i, (name, farad) in enumerate(loads.items(), 1)]
    lines += ["*RES"] + [f"{i} {node(above)} {node(below)} {max(ohm, 0.001):.6f}"
                         for i, (above, below, ohm, _) in enumerate(tree.segments, 1)]
    return lines + ["*END", ""]


def spef(design, nets, factor=1.0):
    """The nets for OpenSTA, with every capacitance times `factor`."""
    head = ['*SPEF "IEEE 1481-1998"', f'*DESIGN "{design}"', '*DATE ""', '*VENDOR ""', '*PROGRAM "scripts/layout"',
            '*VERSION ""', '*DESIGN_FLOW ""', "*DIVIDER /", "*DELIMITER :", "*BUS_DELIMITER [ ]", "*T_UNIT 1 NS",
            "*C_UNIT 1 FF", "*R_UNIT 1 OHM", "*L_UNIT 1 HENRY", ""]
    return "\n".join(head + [line for tree in nets for line in spef_of_net(tree, factor)])


def magic_farads(text):
    """All that magic's extraction finds at nets: to the supply once, between two nets at both."""
    total = 0.0
    for line in text.splitlines():
        found = re.match(r"C\d+ (\S+) (\S+) ([\d.e+-]+)fF", line)
        if found:
            quiet = [end in SUPPLY or "/w_n" in end for end in found.groups()[:2]]
            total += float(found[3]) * (2 - sum(quiet))
    return total


def slack_ns(report):
    """Of the first path in a report of OpenSTA; None when there is no path."""
    found = re.search(r"^\s*(-?[\d.]+)\s+slack", report, re.MULTILINE)
    return float(found[1]) if found else None


def small_metal(log):
    """Pieces of metal below the least area, in magic's report of errors: (layer, x1, y1, x2, y2)."""
    found = re.findall(r"^error (-?\d+) (-?\d+) (-?\d+) (-?\d+) Metal(\d) area <", log, re.MULTILINE)
    return [(f"metal{layer}", *map(int, box)) for *box, layer in found]


def drc_count(log):
    found = re.search(r"^drc = (\d+)$", log, re.MULTILINE)
    if not found:
        raise ValueError("magic: no line \"drc = N\"")
    return int(found[1])


def lvs_result(log):
    """Devices and nets of the layout and of the netlist, and whether they are equal."""
    devices = re.search(r"Circuit 1 contains (\d+) devices, Circuit 2 contains (\d+) devices", log)
    nets = re.search(r"Circuit 1 contains (\d+) nets, +Circuit 2 contains (\d+) nets", log)
    if not devices or not nets:
        raise ValueError("netgen: no counts of devices and nets")
    return {"devices": [int(n) for n in devices.groups()], "nets": [int(n) for n in nets.groups()],
            "equal": "Circuits match uniquely" in log and "Netlists do not match" not in log}


def unrouted(log):
    """Nets that qrouter leaves without wires."""
    found = re.findall(r"^Final: (?:No failed routes!|Failed net routes: (\d+))", log, re.MULTILINE)
    if not found:
        raise ValueError("qrouter: no line \"Final: ...\"")
    return int(found[-1] or 0)
