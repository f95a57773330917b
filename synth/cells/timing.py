# SPDX-License-Identifier: Apache-2.0
"""Capacitances, delays, slews, energies and leakage of the stages of a cell, from the numbers of technology.toml."""
from transistors import Curve, Transistor

LOW, HIGH = 0.3, 0.7  # of the supply, between which a slew is measured


class Technology:
    def __init__(self, numbers):
        self.number = {name: entry["value"] for name, entry in numbers.items()}
        number = self.number
        self.widths = {"n": number["n_width"], "p": number["p_width"]}
        self.kinds = {
            kind: Transistor(number[f"{kind}_threshold"], number[f"{kind}_saturation"],
                             round(4 * number[f"{kind}_alpha"]))
            for kind in "np"
        }
        self.curves = {}

    def gate(self, width):
        """Capacitance of an input: one n and one p."""
        return self.number["gate_capacitance"] * width * (self.widths["n"] + self.widths["p"])

    def drain(self, kind, width):
        return self.number[f"{kind}_diffusion"] * width * self.widths[kind]

    def at_output(self, stage):
        """Of the stage's own diffusion at its output."""
        n_drains, p_drains = (
            1 + self.number["shared_diffusion"] * (network.at_output() - 1) for network in (stage.down, stage.up))
        return self.drain("n", stage.width) * n_drains + self.drain("p", stage.width) * p_drains

    def inside(self, stage, before, after):
        """Of the nodes between its transistors that go along with the output."""
        n_nodes, p_nodes = stage.charged(before, after)
        share = self.number["inner_diffusion"]
        return share * (n_nodes * self.drain("n", stage.width) + p_nodes * self.drain("p", stage.width))

    def pull(self, kind, stack, width):
        """Current of `stack` transistors in series, mA."""
        resistance = 1 + self.number[f"{kind}_series"] * (stack - 1)
        return self.number[f"{kind}_current"] * self.widths[kind] * width / resistance

    def edge(self, rises, stack, opponents, width, load, slew):
        """Delay and slew (ps) of one stage, and the charge (fC) that runs from rail to rail meanwhile."""
        own, other = ("p", "n") if rises else ("n", "p")
        key = (rises, stack, opponents)
        current = self.pull(own, stack, width)
        if key not in self.curves:
            ratio = self.pull(other, opponents, width) / current
            self.curves[key] = Curve(self.kinds[own], self.kinds[other], ratio, LOW, HIGH)
        supply = self.number["supply"]
        tau = load * supply / current
        delay, out, charge = self.curves[key].at(slew / (HIGH - LOW) / tau)
        return delay * tau, out * tau, charge * load * supply

    def leakage(self, stage, values):
        """nW in one state of the inputs: what the network that is off lets through."""
        out = stage.value(values)
        network, kind, on = (stage.down, "n", True) if out else (stage.up, "p", False)
        off = network.off_in_path(lambda name: values[name] == on)
        current = self.number[f"{kind}_leakage"] * self.widths[kind] * stage.width
        for _ in range(off - 1):
            current *= self.number["stack_leakage"]
        # Each transistor in parallel at the output that is off leaks for itself.
        beside = sum(0 in edge[:2] and values[edge[2]] != on for edge in network.edges) if off == 1 else 1
        return current * max(beside, 1) * self.number["supply"]


class Loads:
    """What hangs on each net of a cell."""

    def __init__(self, technology, cell):
        self.net = {stage.output: technology.at_output(stage) for stage in cell.stages}
        for pin in cell.pins:
            self.net[pin] = 0.0
        for stage in cell.stages:
            for name in stage.inputs:
                self.net[name] += technology.gate(stage.width)


def run(technology, cell, loads, state, pin, slew, load):
    """The output's edge after `pin` changes in `state`: rises, delay, slew, energy (fJ); None without one."""
    before = cell.values(state)
    after = cell.values({**state, pin: not state[pin]})
    if before["Y"] == after["Y"]:
        return None
    events, energy, supply = {pin: (0.0, slew)}, 0.0, technology.number["supply"]
    for stage in cell.stages:
        out = stage.output
        if before[out] == after[out]:
            continue
        # The inputs change one after the other; with one of them the output does.
        values = dict(before)
        moved = [name for name in sorted(set(stage.inputs)) if name in events]
        for name in sorted(moved, key=lambda name: events[name][0]):
            start, values = values, {**values, name: after[name]}
            if stage.value(values) != stage.value(start):
                break
        network, is_on = stage.conducting(after[out], values)
        old, was_on = stage.conducting(before[out], start)
        own = loads.net[out] + technology.inside(stage, start, values)
        behind = load if out == "Y" else 0
        time, ramp = events[name]
        delay, out_slew, charge = technology.edge(
            after[out], network.stack(is_on), old.stack(was_on), stage.width, own + behind, ramp)
        events[out] = (time + delay, out_slew)
        energy += own * supply * supply / 2 + charge * supply
    return after["Y"], *events["Y"], energy


def arcs(technology, cell, pin):
    """{(input rises, output rises): states of the other pins} of the arcs from a pin to Y."""
    found = {}
    loads = Loads(technology, cell)
    others = [name for name in cell.pins if name != pin]
    for side in cell.states(others):
        for rises in (False, True):
            edge = run(technology, cell, loads, {**side, pin: not rises}, pin, 1.0, 1.0)
            if edge:
                found.setdefault((rises, edge[0]), []).append(side)
    return found


def worst(technology, cell, pin, rises, sides, slew, load):
    """Delay, slew and energy at the worst of some states of the other pins."""
    loads = Loads(technology, cell)
    edges = [run(technology, cell, loads, {**side, pin: not rises}, pin, slew, load)[1:] for side in sides]
    return tuple(max(values) for values in zip(*edges))


def leakage(technology, cell):
    """nW, over all states."""
    states, total = list(cell.states(cell.pins)), 0.0
    for state in states:
        for stage in cell.stages:  # not by sum(), which rounds otherwise in newer versions of Python
            total += technology.leakage(stage, cell.values(state))
    return total / len(states)


def columns(cell):
    """Gates side by side: a transistor wider than a tenth more than a finger takes two."""
    total = 0
    for stage in cell.stages:
        fingers = 1
        while stage.width > 1.1 * fingers:
            fingers += 1
        total += fingers * len(stage.inputs)
    return total
