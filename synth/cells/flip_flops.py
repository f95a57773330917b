# SPDX-License-Identifier: Apache-2.0
"""Delays and limits of a flip-flop, as a chain of the stages that its edge runs through.

Clock to output: CK -> cn -> cp, the slave's clocked inverter -> y, the stage behind it -> x = !y, the output inverter.
An n transistor of a clocked inverter waits for cp, a p for cn. Data have to be behind the master's inverter
when cn closes it.
"""

class FlipFlop:
    def __init__(self, technology, drive, reset, preset):
        self.technology, self.drive = technology, drive
        number = technology.number
        self.clock_width, self.inner = number["clock_width"], number["inner_width"]
        self.clocked, self.keeper = number["clocked_width"], number["keeper_width"]
        # Stacks of n and p behind the latches, and what two inputs have more of a drain than one.
        self.behind = (2, 1) if reset else (1, 2) if preset else (1, 1)
        more = 1 + number["shared_diffusion"] if reset or preset else 1
        self.width = self.inner * (1.5 if preset else 1)
        # Behind the slave's clocked inverter everything grows with the drive.
        self.last = self.width * drive
        gate, wire = technology.gate, number["inner_wire"]
        self.clock_load = wire + self.drains(self.clock_width) + 4 * gate(self.keeper)
        self.latch_load = wire + 2 * self.drains(self.clocked) + gate(self.width)
        self.y_load = wire + self.drains(self.clocked) * (drive + 1) + gate(self.last)
        self.x_load = wire + self.drains(self.last) * more + gate(drive) + gate(self.keeper)
        self.output_drain = self.drains(drive)
        self.master_load = wire + self.drains(self.inner) * more + gate(self.clocked) + gate(self.keeper)

    def drains(self, width):
        return self.technology.drain("n", width) + self.technology.drain("p", width)

    def stage(self, event, stacks, width, load):
        """The edge behind an inverting stage: (rises, time, slew); `stacks` are those of n and p."""
        rises, time, slew = event
        own, other = (stacks[1], stacks[0]) if not rises else stacks
        delay, slew, _ = self.technology.edge(not rises, own, other, width, load, slew)
        return not rises, time + delay, slew

    def clock(self, slew):
        behind = self.clock_load + self.technology.gate(self.clock_width)
        cn = self.stage((True, 0.0, slew), (1, 1), self.clock_width, behind)
        return cn, self.stage(cn, (1, 1), self.clock_width, self.clock_load)

    def output(self, y, load):
        x = self.stage(y, self.behind, self.last, self.x_load)
        return self.stage(x, (1, 1), self.drive, self.output_drain + load)[1:]

    def clock_to_output(self, rises, slew, load):
        edges = self.clock(slew)
        y = self.stage(edges[0] if rises else edges[1], (2, 2), self.clocked * self.drive, self.y_load)
        return self.output(y, load)

    def reset_to_output(self, slew, load):
        """RN falls, and the NAND behind the slave with it."""
        return self.output((False, 0.0, slew), load)

    def set_to_output(self, slew, load):
        """SN falls: an inverter, then the NOR behind the slave."""
        width = self.inner * self.drive
        behind = self.drains(width) + self.technology.gate(self.last)
        node = self.stage((False, 0.0, slew), (1, 1), width, behind)
        return self.output(node, load)

    def data(self, rises, slew):
        """When data, or what replaces them, are behind the master's inverter."""
        m = self.stage((rises, 0.0, slew), (2, 2), self.clocked, self.latch_load)
        return m[1], self.stage(m, self.behind, self.inner, self.master_load)[1]

    def setup(self, rises, data_slew, clock_slew):
        margin = self.technology.number["setup_margin"]
        return self.data(rises, data_slew)[1] - self.clock(clock_slew)[0][1] + margin

    def hold(self, rises, data_slew, clock_slew):
        margin = self.technology.number["hold_margin"]
        return self.clock(clock_slew)[1][1] - self.data(rises, data_slew)[0] + margin

    def clock_energy(self):
        """fJ of one edge of the clock that moves no data."""
        supply = self.technology.number["supply"]
        return (2 * self.clock_load + self.technology.gate(self.clock_width)) * supply * supply / 2

    def data_energy(self):
        """fJ in the master of one edge of the data."""
        supply = self.technology.number["supply"]
        return (self.latch_load + self.master_load) * supply * supply / 2

    def output_energy(self):
        """fJ in the slave of one edge of the output, and of the clock with it."""
        supply = self.technology.number["supply"]
        own = self.y_load + self.x_load + self.output_drain
        return own * supply * supply / 2 + self.clock_energy()

    def leakage(self):
        """nW: seven inverters of the inner width, or two transistors in series for one, and the output."""
        number, widths = self.technology.number, self.technology.widths
        mean = (number["n_leakage"] * widths["n"] + number["p_leakage"] * widths["p"]) / 2 * number["supply"]
        return mean * (2 * self.clock_width + 3 * self.clocked + self.width + self.last + self.drive)
