# SPDX-License-Identifier: Apache-2.0
"""Warped-Slicer's plans: Algorithm 1 for curves of performance, what fits on an SM, and Table III."""

import math
import pathlib
import tomllib

SIM = pathlib.Path(__file__).resolve().parent.parent.parent / "sim"
MACHINE = "fermi-gpgpusim"
SPATIAL = "spatial"
LOSS = 1.2  # of all that one kernel has, D30
# Table III, column "Dyn", in our order of the two.
PAPER = {
    "dxt+mvp": (7, 1), "dxt+nn": (4, 4), "hot+mvp": (3, 1), "hot+nn": (2, 4), "img+mvp": (7, 1), "img+nn": (3, 5),
    "mm+mvp": (5, 1), "mm+nn": (3, 5), "dxt+bfs": (6, 2), "dxt+blk": (4, 4), "dxt+knn": (4, 4), "dxt+lbm36": (5, 3),
    "hot+bfs": SPATIAL, "hot+blk": (2, 4), "hot+knn": (2, 4), "hot+lbm36": (3, 1), "img+bfs": (6, 2),
    "img+blk": (5, 3), "img+knn": (4, 4), "img+lbm36": (7, 1), "mm+bfs": SPATIAL, "mm+blk": (3, 4), "mm+knn": (4, 4),
    "mm+lbm36": (5, 1), "img+dxt": (4, 4), "hot+dxt": (2, 6), "hot+img": (2, 6), "mm+dxt": (3, 5), "hot+mm": (2, 2),
    "mm+img": (3, 5),
}


class Sm:
    """The SM of Warped-Slicer's machine, and what a TB of each of its applications takes of it."""

    def __init__(self):
        with open(SIM / "machines" / f"{MACHINE}.toml", "rb") as file:
            machine = tomllib.load(file)
        limits = machine["sm"]["limits"]
        self.schedulers = machine["sm"]["schedulers"]
        self.limits = (limits["registers"] // 256, limits["shared_memory"] // 256, limits["threads"] // 32,
                       limits["tbs"])
        self.needs = {}

    def need(self, name):
        if name not in self.needs:
            with open(SIM / "workloads" / "warped_slicer" / f"{name}.toml", "rb") as file:
                kernel = tomllib.load(file)["kernel"][0]
            units = math.ceil(kernel["registers"] * kernel["threads"] / 256)  # D53
            self.needs[name] = (units, math.ceil(kernel["shared_memory"] / 256), math.ceil(kernel["threads"] / 32), 1)
        return self.needs[name]

    def fits(self, names, tbs):
        return all(sum(self.need(name)[i] * count for name, count in zip(names, tbs)) <= limit
                   for i, limit in enumerate(self.limits))

    def most(self, name):
        count = 0
        while self.fits([name], [count + 1]):
            count += 1
        return count

    def even(self, names):
        """TBs of each in its part of the SM, as Table III has them."""
        return tuple(next(n for n in range(self.most(name), -1, -1)
                          if all(self.need(name)[i] * n <= limit // len(names)
                                 for i, limit in enumerate(self.limits))) for name in names)


def water_filling(sm, names, curves):
    """Algorithm 1: TBs of each kernel, or spatial when one loses too much."""
    levels = [[value / max(curve) for value in curve] for curve in curves]
    tbs, rising = [1] * len(names), set(range(len(names)))
    while rising:
        lowest = min(rising, key=lambda i: (levels[i][tbs[i] - 1], i))
        now = levels[lowest][tbs[lowest] - 1]
        more = next((n for n in range(tbs[lowest] + 1, len(levels[lowest]) + 1) if levels[lowest][n - 1] > now), None)
        tried = [more if i == lowest else count for i, count in enumerate(tbs)]
        if more is not None and sm.fits(names, tried):
            tbs = tried
        else:
            rising.remove(lowest)
    kept = min(levels[i][count - 1] for i, count in enumerate(tbs))
    return SPATIAL if kept < 1 - LOSS / len(names) else tuple(tbs)


def near(plan, other, distance=1):
    """Whether no kernel has more than so many TBs more or less; what is no table is equal to itself only."""
    if isinstance(plan, str) or isinstance(other, str):
        return plan == other
    return all(abs(a - b) <= distance for a, b in zip(plan, other))


def shown(plan):
    return plan if isinstance(plan, str) else "(" + ", ".join(map(str, plan)) + ")"
