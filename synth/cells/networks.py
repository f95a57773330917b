# SPDX-License-Identifier: Apache-2.0
"""Transistors in series and parallel: what a gate of cells.toml does, and over which of them it does it."""
import itertools
import re


class Network:
    """Transistors between the output (node 0) and a rail (node 1): edges (node, node, input)."""

    def __init__(self, tree, dual):
        self.edges, self.nodes = [], 2
        self._connect(tree, 0, 1, dual)

    def _connect(self, tree, above, below, dual):
        kind, parts = tree
        if kind == "input":
            self.edges.append((above, below, parts))
        elif (kind == "series") != dual:
            for part in parts[:-1]:
                self._connect(part, above, self.nodes, dual)
                above, self.nodes = self.nodes, self.nodes + 1
            self._connect(parts[-1], above, below, dual)
        else:
            for part in parts:
                self._connect(part, above, below, dual)

    def at_output(self):
        return sum(0 in edge[:2] for edge in self.edges)

    def reached(self, start, is_on):
        """Nodes connected to `start`, and over how many transistors."""
        found, front = {start: 0}, [start]
        for node in front:
            for a, b, name in self.edges:
                other = b if a == node else a if b == node else None
                if other is not None and other not in found and is_on(name):
                    found[other] = found[node] + 1
                    front.append(other)
        return found

    def stack(self, is_on):
        """Transistors in series from output to rail; 0 when nothing conducts."""
        return self.reached(0, is_on).get(1, 0)

    def off_in_path(self, is_on):
        """The fewest transistors that are off between output and rail: two of them leak less than one."""
        best = {0: 0}
        for _ in self.edges:
            for a, b, name in self.edges:
                for here, there in ((a, b), (b, a)):
                    if here in best:
                        best[there] = min(best.get(there, 99), best[here] + (not is_on(name)))
        return best[1]


def parse(text):
    """A tree of ("series" | "parallel", parts) and ("input", name) of a network in words."""
    tokens = re.findall(r"\w+|[()*+]", text)

    def factor():
        token = tokens.pop(0)
        if token != "(":
            return ("input", token)
        inner = total()
        tokens.pop(0)
        return inner

    def joined(part, sign, kind):
        parts = [part()]
        while tokens and tokens[0] == sign:
            tokens.pop(0)
            parts.append(part())
        return parts[0] if len(parts) == 1 else (kind, parts)

    def product():
        return joined(factor, "*", "series")

    def total():
        return joined(product, "+", "parallel")

    return total()


def inputs_of(tree):
    kind, parts = tree
    return [parts] if kind == "input" else [name for part in parts for name in inputs_of(part)]


class Stage:
    """One output with its n and p transistors; `width` is in drives."""

    def __init__(self, text, drive):
        left, right = text.split(" = ")
        name, *width = left.split()
        self.output = name
        self.width = drive * float(width[0] if width else 1)
        self.tree = parse(right)
        self.inputs = inputs_of(self.tree)
        self.down, self.up = Network(self.tree, False), Network(self.tree, True)

    def value(self, values):
        return not self.down.stack(lambda name: values[name])

    def conducting(self, out, values):
        """The network that makes the output what it is, and what turns its transistors on."""
        if out:
            return self.up, lambda name: not values[name]
        return self.down, lambda name: values[name]

    def charged(self, before, after):
        """Inner nodes, of n and p, that go along with the output from one state of the inputs to the next."""
        counts = []
        for network, on in ((self.down, True), (self.up, False)):
            rail = set(network.reached(1, lambda name: before[name] == on))
            moved = set(network.reached(0, lambda name: after[name] == on)) - {0, 1}
            old = set(network.reached(0, lambda name: before[name] == on))
            counts.append(sum(node in old or node not in rail for node in moved))
        return counts


class Cell:
    """Stages, inputs first; without stages a flip-flop."""

    def __init__(self, name, drive, entry):
        self.name, self.drive = f"{name}_X{drive}", drive
        self.stages = [Stage(text, drive) for text in entry["stages"]]
        made = {stage.output for stage in self.stages}
        self.pins = sorted({name for stage in self.stages for name in stage.inputs} - made)

    def values(self, state):
        values = dict(state)
        for stage in self.stages:
            values[stage.output] = stage.value(values)
        return values

    def states(self, pins):
        for bits in itertools.product((False, True), repeat=len(pins)):
            yield dict(zip(pins, bits))

    def minterms(self):
        return [state for state in self.states(self.pins) if self.values(state)["Y"]]
