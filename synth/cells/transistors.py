# SPDX-License-Identifier: Apache-2.0
"""How fast a gate's output moves: two alpha-power transistors, a ramp at their gates, a capacitance.

Sakurai and Newton's law [alpha]: a transistor saturates at i = (v_gate - v_threshold) ** alpha and at a drain voltage
that goes with the root of that; below, the current is a parabola. Everything here is a fraction: voltages of the
supply, currents of the saturated current at full gate voltage, times of tau = capacitance * supply / current. So one
curve serves all sizes and loads. Powers are roots and products only, which are the same on every machine.
"""
import bisect
import math

STEP = 0.02  # of tau
GROWTH = 1.25  # from one ramp of a curve to the next
RAMPS = 44


def power(x, quarters):
    """x ** (quarters / 4), exactly the same everywhere."""
    root = math.sqrt(x)
    return x * power(x, quarters - 4) if quarters >= 4 else (
        1.0, math.sqrt(root), root, root * math.sqrt(root))[quarters]


class Transistor:
    """One kind, n or p: threshold and saturation as fractions of the supply, alpha in quarters."""

    def __init__(self, threshold, saturation, quarters):
        self.threshold = threshold
        self.saturation = saturation
        self.quarters = quarters
        self.full = 1 - threshold

    def current(self, gate, drain):
        """Of the saturated current at full gate voltage."""
        over = (gate - self.threshold) / self.full
        if over <= 0 or drain <= 0:
            return 0.0
        if over > 1:
            over = 1.0
        saturated = power(over, self.quarters)
        knee = self.saturation * math.sqrt(saturated)
        if drain >= knee:
            return saturated
        return saturated * (2 - drain / knee) * drain / knee


def crossing(time, step, before, after, level):
    return time + step * (before - level) / (before - after)


def transition(driver, opponent, ratio, ramp, low, high):
    """A falling output (a rising one is its mirror image): delay, slew between the levels, charge of the opponent.

    `driver` discharges the output while the ramp of length `ramp` rises; `opponent`, of `ratio` times its
    current, is turned off by the same ramp.
    """
    def slope(time, out):
        gate = min(1.0, time / ramp)
        return driver.current(gate, out) - ratio * opponent.current(1 - gate, 1 - out)

    out, time, charge, marks = 1.0, 0.0, 0.0, {}
    step = min(STEP, ramp / 40)
    while low not in marks:
        fall = slope(time + step / 2, out - step / 2 * slope(time, out))
        after = min(1.0, out - step * fall)
        for level in (high, 0.5, low):
            if after <= level < out and level not in marks:
                marks[level] = crossing(time, step, out, after, level)
        gate = min(1.0, time / ramp)
        charge += step * ratio * opponent.current(1 - gate, 1 - out)
        out, time = after, time + step
        step = min(STEP, ramp / 40) if time < ramp else STEP
    return marks[0.5] - ramp / 2, marks[low] - marks[high], charge


class Curve:
    """Delay, slew and opponent's charge over the length of the ramp, all of tau."""

    def __init__(self, driver, opponent, ratio, low, high):
        self.ramps = [0.05]
        while len(self.ramps) < RAMPS:
            self.ramps.append(self.ramps[-1] * GROWTH)
        self.points = [transition(driver, opponent, ratio, ramp, low, high) for ramp in self.ramps]

    def at(self, ramp):
        index = min(max(bisect.bisect_right(self.ramps, ramp) - 1, 0), RAMPS - 2)
        share = (ramp - self.ramps[index]) / (self.ramps[index + 1] - self.ramps[index])
        return tuple(a + share * (b - a) for a, b in zip(self.points[index], self.points[index + 1]))
