# SPDX-License-Identifier: Apache-2.0
"""Logic between nets, and the same logic with fewer operations.

Purpose     logic_of() is what some nets need, in the order in which C++ shall calculate it. reduce() has ABC look for
            fewer operations: of two operands, and an inversion before one of them is free.
"""

import dataclasses
import json
import pathlib
import tempfile

import yosys
from gates import Gates, Node

CELLS = {"not": ("$_NOT_", "A"), "and": ("$_AND_", "AB"), "or": ("$_OR_", "AB"), "xor": ("$_XOR_", "AB"),
         "mux": ("$_MUX_", "ABS")}


@dataclasses.dataclass
class Logic:
    """The operations, each after those that it reads, and the nets that they are for."""

    nodes: dict[int, Node]
    gives: list[int]

    def reads(self):
        """The nets that come from outside."""
        nets = {read for node in self.nodes.values() for read in node.reads} | set(self.gives)
        return sorted(net for net in nets - set(self.nodes) if net > 1)

    def with_constants(self, values):
        """The same where some nets from outside are ZERO or ONE."""
        gates = Gates(_new([self]))
        nets = {0: 0, 1: 1} | {net: values.get(net, net) for net in self.reads()}
        gates.copy(self.nodes, nets)
        return logic_of(gates.nodes, [nets[net] for net in self.gives])


def _new(logics):
    """The first number that is no net's."""
    return 1 + max((net for logic in logics for net in [*logic.nodes, *logic.reads()]), default=1)


def logic_of(nodes, gives, known=()):
    """Of `nodes` what the nets of `gives` need but for those that are known, close to who reads it."""
    done, seen = {}, set(known)
    for root in gives:
        stack = [(root, False)]
        while stack:
            net, read = stack.pop()
            if read:
                done[net] = nodes[net]
            elif net in nodes and net not in seen:
                seen.add(net)
                stack.append((net, True))
                stack += [(other, False) for other in reversed(nodes[net].reads)]
    return Logic(done, list(gives))


def _module(logic):
    ports = {f"n{net}": {"direction": "input", "bits": [net]} for net in logic.reads()}
    ports |= {f"o{i}": {"direction": "output", "bits": [_bit(net)]} for i, net in enumerate(logic.gives)}
    cells = {}
    for net, node in logic.nodes.items():
        kind, pins = CELLS[node.kind]
        connections = {pin: [_bit(read)] for pin, read in zip(pins, node.reads, strict=True)}
        cells[f"c{net}"] = {"type": kind, "port_directions": dict.fromkeys(pins, "input") | {"Y": "output"},
                            "connections": connections | {"Y": [net]}}
    return {"ports": ports, "cells": cells}


def _bit(net):
    return net if net > 1 else str(net)


def _read(module, first):
    ports = module["ports"]
    net_of = {"0": 0, "1": 1, "x": 0}
    net_of |= {port["bits"][0]: int(name[1:]) for name, port in ports.items() if port["direction"] == "input"}
    gates = Gates(first)
    gates.read(module["cells"].values(), net_of)
    outputs = [name for name, port in ports.items() if port["direction"] == "output"]
    gives = [net_of[ports[f"o{i}"]["bits"][0]] for i in range(len(outputs))]
    return logic_of(gates.nodes, gives)


def reduce(logics, program):
    """The same functions with fewer operations, of each; `program` is Yosys. Nets that are new have new numbers."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "in.json"), pathlib.Path(folder, "out.json")
        modules = {f"m{i}": _module(logic) for i, logic in enumerate(logics)}
        before.write_text(json.dumps({"modules": modules}), encoding="utf-8")
        modules = yosys.run(program, "reduce.tcl", after, {"SMK_IN": str(before)})["modules"]
    first = _new(logics)
    return [_read(modules[f"m{i}"], first) for i in range(len(logics))]
