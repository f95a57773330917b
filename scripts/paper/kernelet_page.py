# SPDX-License-Identifier: Apache-2.0
"""The tables and charts of docs/kernelet.md, from the rows that scripts/kernelet has measured."""

import itertools
import math
import re
import statistics

from paper import generated, plots

GROUPS = ("ci", "mi", "mix", "all")
MEMBERS = {"ci": ("blackscholes", "sgemm", "tea", "mri-q"), "mi": ("pointer_chase", "spmv", "stencil", "sad"),
           "mix": ("pointer_chase", "blackscholes", "tea", "sad"),
           "all": ("pointer_chase", "spmv", "stencil", "blackscholes", "sgemm", "tea", "mri-q", "sad")}
MACHINES = ("c2050", "gtx680")
SCHEDULERS = ("sequential", "in-order", "kernelet", "kernelet-opt")
BASE, OURS, OPT, RANDOM = "in-order", "kernelet", "kernelet-opt", "kernelet-random"
# Warp instructions per cycle of an SM.
PEAKS = {"c2050": 1, "gtx680": 4}
LEAST_DRAWN = 50  # draws of a curve
WITHIN = 0.2  # of the peak: the lines of Fig. 5
TABLES = {
    "pairs": ["machine", "workload_a", "workload_b", "tbs_a", "tbs_b", "balanced", "predicted_ipc_a",
              "predicted_ipc_b", "predicted_profit", "measured_ipc_a", "measured_ipc_b", "measured_profit",
              "model_version"],
    "whole": ["machine", "workload_a", "workload_b", "tbs_a", "tbs_b", "ipc", "model_version"],
    "changed": ["machine", "workload_a", "workload_b", "settings", "ipc", "model_version"],
    "alone": ["machine", "workload", "ipc", "predicted_ipc", "memory_ratio", "uncoalesced", "pur", "mur", "least_tbs",
              "slice_overhead", "model_version"],
    "gain": ["machine", "group", "scheduler", "device", "makespan", "antt", "model_version"],
    "many": ["machine", "group", "instances", "scheduler", "makespan", "antt", "model_version"],
    "draws": ["group", "scheduler", "makespan", "model_version"],
    "copies": ["group", "factor", "room", "scheduler", "overlap", "makespan", "copy_cycles", "copy_overlap", "model_version"],
}
INSTANCES = (2, 10, 100)
ROOMS = (1, 2, 4)
FACTORS = {"ci": (1,), "mi": (1,), "mix": (1, 2.5), "all": (1,)}

# Pairs on a machine without something that the model does not see.
NO_L1, NO_TEXTURE = ("sm.l1.bytes=0", "memory.l2.bytes=2048"), ("sm.texture.bytes=0", "memory.l2.bytes=2048")
NO_CACHES = ("sm.l1.bytes=0", *NO_TEXTURE)
MSHRS, DEPENDENCES = ("sm.l1.mshrs=4096",), ("sm.alu.latency=1", "sm.sfu.latency=1")
CHANGED = [
    ("c2050", ("spmv", "stencil"), "no L1, an L2 of one set", NO_L1),
    ("c2050", ("blackscholes", "stencil"), "no L1, an L2 of one set", NO_L1),
    ("c2050", ("spmv", "sad"), "no L1, no texture cache, an L2 of one set", NO_CACHES),
    ("c2050", ("sad", "blackscholes"), "no texture cache, an L2 of one set", NO_TEXTURE),
    ("c2050", ("sad", "sgemm"), "no texture cache, an L2 of one set", NO_TEXTURE),
    ("c2050", ("tea", "pointer_chase"), "4,096 MSHRs, not 32", MSHRS),
    ("c2050", ("mri-q", "pointer_chase"), "4,096 MSHRs, not 32", MSHRS),
    ("gtx680", ("sad", "stencil"), "no texture cache, an L2 of one set", NO_TEXTURE),
    ("gtx680", ("sad", "pointer_chase"), "no texture cache, an L2 of one set", NO_TEXTURE),
    ("gtx680", ("sad", "blackscholes"), "no texture cache, an L2 of one set", NO_TEXTURE),
    ("gtx680", ("spmv", "mri-q"), "arithmetic of 1 cycle, not 11", DEPENDENCES),
    ("gtx680", ("mri-q", "pointer_chase"), "arithmetic of 1 cycle, not 11", DEPENDENCES),
]


def order(key):
    """Groups and schedulers as they are listed, numbers by their value."""
    known = {name: i for i, name in enumerate((*MACHINES, *GROUPS, *MEMBERS["all"], *SCHEDULERS))}
    numbers = [re.fullmatch(r"(\D*)(\d+(?:\.\d+)?)", word) for word in key]
    return [(0, known[word], "") if word in known else (1, float(number[2]), number[1]) if number else (2, 0, word)
            for word, number in zip(key, numbers)]


def of_systems(args):
    """What docs/systems.csv has already: {(machine, group, scheduler)}."""
    return {(row["machine"], row["stream"], row["scheduler"]): row for row in generated.read_csv(args.docs / "systems.csv")
            if row["policy"] == "leftover" and row.get("seed", "1") == "1"}


def percent(value):
    """Of a factor; never -0.0."""
    return f"{round(100 * value - 100, 1) + 0.0:+.1f} %"


class Pair:
    """`whole` has what pairs make that are not sliced, by machine, kernels and TBs."""

    def __init__(self, row, whole):
        self.whole = whole.get(tuple(row[name] for name in TABLES["whole"][:5]))
        self.machine, self.names = row["machine"], (row["workload_a"], row["workload_b"])
        self.tbs = f"{row['tbs_a']} + {row['tbs_b']}"
        self.balanced, self.peak = row["balanced"] == "1", PEAKS[row["machine"]]
        self.predicted, self.measured = (float(row[f"{kind}_ipc_a"]) + float(row[f"{kind}_ipc_b"])
                                         for kind in ("predicted", "measured"))
        self.profits = [float(row[f"{kind}_profit"]) for kind in ("predicted", "measured")]
        self.error = self.predicted - self.measured

    def within(self):
        return abs(self.error) <= WITHIN * self.peak

    def whole_within(self):
        return abs(self.predicted - self.whole) <= WITHIN * self.peak

    def of_two(self):
        return self.names[0] != self.names[1]


def table(head, rows):
    """Markdown; the first column is of words."""
    if not rows:
        return "Not run.\n"
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]) + "\n"


def summary_of_pairs(pairs):
    rows = []
    for machine in MACHINES:
        two = [pair for pair in pairs if pair.machine == machine and pair.of_two()]
        balanced = [pair for pair in two if pair.balanced]
        for name, of, whole in (("balanced", balanced, False), ("all", two, False),
                                ("balanced, not sliced", [pair for pair in balanced if pair.whole is not None], True)):
            if not of:
                continue
            inside = sum(pair.whole_within() if whole else pair.within() for pair in of)
            errors = [abs(pair.predicted - (pair.whole if whole else pair.measured)) for pair in of]
            signs = sum((pair.profits[0] > 0) == (pair.profits[1] > 0) for pair in of)
            rows.append((f"`{machine}`, {name}", f"± {WITHIN * of[0].peak:g}",
                         f"{inside} of {len(of)}, {100 * inside / len(of):.0f} %", f"{statistics.fmean(errors):.3f}",
                         f"{max(errors):.3f}", "" if whole else f"{signs} of {len(of)}"))
    return table(("machine, sizes", "lines of Fig. 5", "within", "mean of \\|error\\|", "largest", "profit has the right sign"), rows)


def table_of_pairs(pairs):
    by_names = {}
    for pair in pairs:
        if pair.balanced and pair.of_two():
            by_names.setdefault(pair.names, {})[pair.machine] = pair
    rows = []
    for names, found in by_names.items():
        cells = [f"`{names[0]}` + `{names[1]}`"]
        for machine in MACHINES:
            pair = found.get(machine)
            cells += ["–"] * 5 if pair is None else [
                pair.tbs, f"{pair.predicted:.2f}", f"{pair.measured:.2f}" + ("" if pair.within() else " *"),
                "–" if pair.whole is None else f"{pair.whole:.2f}" + ("" if pair.whole_within() else " *"),
                f"{100 * pair.profits[0]:+.0f}, {100 * pair.profits[1]:+.0f}"]
        rows.append(cells)
    of_one = ("TBs per SM", "predicted", "measured", "not sliced", "profits, %")
    return table(("pair", *(f"{machine}: {of_one[0]}" if i == 0 else name for machine in MACHINES
                            for i, name in enumerate(of_one))), rows)


def table_of_changed(rows, pairs):
    found = {tuple(row[name] for name in TABLES["changed"][:4]): float(row["ipc"]) for row in rows}
    by_names = {(pair.machine, pair.names): pair for pair in pairs if pair.balanced}
    lines = []
    for machine, names, what, settings in CHANGED:
        pair, ipc = by_names.get((machine, names)), found.get((machine, *names, " ".join(settings)))
        if pair is not None and pair.whole is not None and ipc is not None:
            within = abs(pair.predicted - ipc) <= WITHIN * pair.peak
            lines.append((f"`{names[0]}` + `{names[1]}`, `{machine}`", what, f"{pair.predicted:.2f}", f"{pair.whole:.2f}",
                          f"{ipc:.2f}", "yes" if within else "no"))
    return table(("pair", "changed", "predicted", "not sliced", "changed", "within"), lines)


def table_of_alone(rows):
    """Machines of which there are profiles."""
    machines = [machine for machine in MACHINES if any(row["machine"] == machine for row in rows)]
    found = {(row["machine"], row["workload"]): row for row in rows}
    lines = []
    for name in sorted({row["workload"] for row in rows}, key=MEMBERS["all"].index):
        cells = [f"`{name}`"]
        for row in (found[machine, name] for machine in machines):
            cells += [f"{float(row['predicted_ipc']):.2f}", f"{float(row['ipc']):.2f}", f"{100 * float(row['mur']):.0f} %",
                      row["least_tbs"]]
        lines.append(cells)
    head = [f"{machine}: {what}" for machine in machines
            for what in ("predicted IPC", "measured", "of the DRAM's bandwidth", "smallest slice, TBs per SM")]
    return table(("kernel alone", *head), lines)


def chart_of_pairs(pairs):
    fields = []
    for machine in MACHINES:
        part = [pair for pair in pairs if pair.machine == machine and pair.of_two()]
        if not part:
            continue
        peak = PEAKS[machine]
        step = peak / 4
        top = step * math.ceil(max(peak, *(max(p.predicted, p.measured) for p in part)) / step)
        points = {"balanced sizes": [], "other sizes that fill an SM": []}
        for p in part:
            points["balanced sizes" if p.balanced else "other sizes that fill an SM"].append(
                (p.measured, p.predicted, f"{p.names[0]} + {p.names[1]}, {p.tbs} TBs: {p.measured:.2f}, {p.predicted:.2f}"))
        marks = [(0, by * peak, top, top + by * peak) for by in (-WITHIN, 0, WITHIN)]
        fields.append(plots.Plot(machine, ("measured IPC of an SM", "predicted"), ((0, top, step),) * 2, points, marks=marks))
    return plots.chart(fields)


def table_of_gain(args, rows):
    spans = {(row["machine"], row["group"], row["scheduler"]): int(row["makespan"]) for row in rows}
    spans.update({key: int(row["makespan"]) for key, row in of_systems(args).items()})
    lines = []
    for machine in MACHINES:
        for group in GROUPS:
            by = {name: spans.get((machine, group, name)) for name in SCHEDULERS}
            cells = [f"{by[name]:,}" if by[name] else "–" for name in SCHEDULERS]
            cells += [percent(by[one] / by[other]) if by[one] and by[other] else "–"
                      for one, other in (("sequential", BASE), (BASE, OURS), (OURS, OPT))]
            lines.append((f"`{machine}` {group.upper()}", *cells))
    return table(("group", *(f"`{name}`" for name in SCHEDULERS), "Base over `sequential`", "Kernelet over Base",
                  "OPT over Kernelet"), lines)


def table_of_many(rows):
    spans = {tuple(row[name] for name in TABLES["many"][:4]): int(row["makespan"]) for row in rows}
    lines = []
    for machine, group in sorted({key[:2] for key in spans}, key=order):
        for count in map(str, INSTANCES):
            by = [spans.get((machine, group, count, name)) for name in SCHEDULERS]
            if None not in by:
                lines.append((f"`{machine}` {group.upper()}", count, *(percent(by[i] / by[i + 1]) for i in range(3))))
    return table(("group", "jobs of each kernel", "Base over `sequential`", "Kernelet over Base", "OPT over Kernelet"), lines)


class Draws:
    """The draws of a group, and what is chosen instead."""

    def __init__(self, rows, group):
        spans = {row["scheduler"]: int(row["makespan"]) for row in rows if row["group"] == group}
        self.group, self.chosen, self.opt, self.base = group, spans.get(OURS), spans.get(OPT), spans.get(BASE)
        self.spans = sorted(span for name, span in spans.items() if name.startswith(RANDOM))

    def cells(self):
        better = sum(span < self.chosen for span in self.spans)
        return (self.group.upper(), f"{len(self.spans):,}", f"{self.chosen:,}", f"{self.opt:,}", f"{self.base:,}",
                f"{self.spans[0]:,}", f"{statistics.median(self.spans):,.0f}", f"{self.spans[-1]:,}",
                f"{better:,}, {100 * better / len(self.spans):.1f} %")

    def curve(self):
        """Part of the draws that take at most so long, over Kernelet's time."""
        places = [(self.spans[0] / self.chosen, 0)]
        step = max(1, len(self.spans) // 200)
        places += [(self.spans[i] / self.chosen, (i + 1) / len(self.spans)) for i in range(0, len(self.spans), step)]
        return [*places, (self.spans[-1] / self.chosen, 1)]


def table_of_draws(draws):
    return table(("group", "draws", "Kernelet", "OPT", "Base", "best draw", "median", "worst", "better than Kernelet"),
                 [of.cells() for of in draws])


def chart_of_draws(draws):
    curves = {of.group.upper(): of.curve() for of in draws if len(of.spans) >= LEAST_DRAWN}
    ends = [x for curve in curves.values() for x, _ in curve]
    low, high = math.floor(10 * min([1, *ends])) / 10, math.ceil(10 * max([1.1, *ends])) / 10
    return plots.chart([plots.Plot("MC: part of the draws", ("time over Kernelet's", "part of the draws"),
                                   ((low, high, 0.1), (0, 1, 0.25)), curves=curves, marks=[(1, 0, 1, 1)])])


def table_of_copies(rows):
    lines = []
    found = {tuple(row[name] for name in TABLES["copies"][:5]): row for row in rows}
    for group in GROUPS:
        for factor, room in itertools.product(map(str, FACTORS[group]), map(str, ROOMS)):
            ways = [(OURS, "yes"), (OURS, "no"), (BASE, "yes"), (BASE, "no")]
            of = [found.get((group, factor, room, *way)) for way in ways]
            if None in of:
                continue
            spans = [int(row["makespan"]) for row in of]
            copies = int(of[0]["copy_cycles"]) / spans[0]
            overlaps = [f"{100 * float(row['copy_overlap']):.0f} %" for row in (of[0], of[2])]
            lines.append((f"{group.upper()}, {factor}, {room}", *(f"{span / 1e6:,.1f}" for span in spans),
                          *(percent(span / spans[0]) for span in spans[1:]), *overlaps, f"{copies:.2f}"))
    return table(("group, factor, room", "Y, Y", "N, Y", "Y, N", "N, N", "Y, Y over N, Y", "over Y, N", "over N, N",
                  "copies overlapped: Y, Y", "Y, N", "copies over time"), lines)


def files(args):
    """All files by name, relative to docs. The words of the page are its own."""
    paths = {name: args.docs / f"kernelet_{name}.csv" for name in TABLES}
    rows = {name: generated.read_csv(path) if path.is_file() else [] for name, path in paths.items()}
    whole = {tuple(row[name] for name in TABLES["whole"][:5]): float(row["ipc"]) for row in rows["whole"]}
    pairs = [Pair(row, whole) for row in rows["pairs"]]
    draws = [of for of in (Draws(rows["draws"], group) for group in GROUPS) if of.spans]
    versions = sorted({row["model_version"] for part in rows.values() for row in part})
    page = generated.page("kernelet.md", {
        "made": f"Model version {', '.join(versions)}.\n", "summary of pairs": summary_of_pairs(pairs),
        "pairs": table_of_pairs(pairs), "changed": table_of_changed(rows["changed"], pairs),
        "alone": table_of_alone(rows["alone"]), "gain": table_of_gain(args, rows["gain"]),
        "many": table_of_many(rows["many"]), "draws": table_of_draws(draws),
        "copies": table_of_copies(rows["copies"])})
    return {"images/kernelet_pairs.svg": chart_of_pairs(pairs), "images/kernelet_draws.svg": chart_of_draws(draws),
            "kernelet.md": page}
