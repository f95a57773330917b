# SPDX-License-Identifier: Apache-2.0
"""Reads waves in VCD: the ports of one instance in every clock cycle, and how often wires change."""
import re


class Header:
    """The variables of a VCD file: {scope: [(name, bits, id)]}, scopes and members in the order of the file."""

    def __init__(self, lines):
        self.scopes, self.members, path = {}, {}, []
        for line in lines:
            words = line.split()
            if not words:
                continue
            if words[0] == "$scope":
                self.members.setdefault("/".join(path), []).append((words[2], None, None))
                path.append(words[2])
            elif words[0] == "$upscope":
                path.pop()
            elif words[0] == "$var":
                self.members.setdefault("/".join(path), []).append((words[4], int(words[2]), words[3]))
            elif words[0] == "$enddefinitions":
                return
        raise ValueError("VCD: no $enddefinitions")

    def bits(self, scope, name):
        """What a port is made of, from its highest bit on: [(id, bits)]. Fields of a struct stand with the highest
        first, elements of an array with the lowest."""
        for member, bits, code in self.members.get(scope, []):
            if member == name and code is not None:
                return [(code, bits)]
        inside = self.members.get(f"{scope}/{name}")
        if not inside:
            raise ValueError(f"VCD: {scope} has no {name}")
        if re.search(r"\[\d+\]$", inside[0][0]):
            inside = inside[::-1]
        return [part for member, _, _ in inside for part in self.bits(f"{scope}/{name}", member)]


def value_of(parts, values):
    """Of a port, as a number."""
    result = 0
    for code, bits in parts:
        result = result << bits | values.get(code, 0)
    return result


class Recording:
    """Of one instance: a row per rising edge of its clock, what its ports had before it; and when."""

    def __init__(self, header, scope, ports):
        self.clock = header.bits(scope, "clk_i")[0][0]
        self.ports = {name: header.bits(scope, name) for name in ports}
        for (name, parts), bits in zip(self.ports.items(), ports.values()):
            if sum(width for _, width in parts) != bits:
                raise ValueError(f"VCD: {scope}/{name} has {sum(w for _, w in parts)} bits, the netlist {bits}")
        self.codes = {self.clock} | {code for parts in self.ports.values() for code, _ in parts}
        self.rows, self.times = [], []


def record(lines, recordings):
    """Fills recordings; `lines` stand behind the header. Clocks are those of each instance."""
    wanted = set().union(*(recording.codes for recording in recordings))
    clocks = {}
    for recording in recordings:
        clocks.setdefault(recording.clock, []).append(recording)
    values, new, time = {}, {}, 0

    def settle():
        for code, value in new.items():
            if code in clocks and value and not values.get(code):
                for recording in clocks[code]:
                    recording.rows.append({name: value_of(parts, values) for name, parts in recording.ports.items()})
                    recording.times.append(time)
        values.update(new)
        new.clear()

    for line in lines:
        first = line[0]
        if first == "#":
            settle()
            time = int(line[1:])
        elif first in "01xz":
            code = line[1:].rstrip("\n")
            if code in wanted:
                new[code] = int(first == "1")
        elif first == "b":
            digits, code = line[1:].split()
            if code in wanted:
                new[code] = int(re.sub("[xz]", "0", digits), 2)
    settle()


def toggles(lines):
    """How often each wire of one bit changes after the values at the beginning: {id: n}."""
    last, count = {}, {}
    for line in lines:
        if line[0] not in "01":
            continue
        code = line[1:].rstrip("\n")
        if code in last and last[code] != line[0]:
            count[code] = count.get(code, 0) + 1
        last[code] = line[0]
    return count
