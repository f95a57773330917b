# SPDX-License-Identifier: Apache-2.0
"""The runs of Warped-Slicer's experiments as rows of a CSV, their best tables, and plans by several curves."""

import pathlib
import sys

from paper import generated, inputs, slicer_plans

CSV, SAMPLES, ALONE = "reproduction_slicer.csv", "reproduction_slicer_samples.csv", "slicer_alone.csv"
COLUMNS = ["variant", "cycles", "category", "pair", "policy", "best", "ipc", "sequential", "slowest", "antt",
           "preemptions", "normalized", "alu", "sfu", "lsu", "l1", "l2", "stalls"]
CATEGORIES = {"Compute + Cache": ("mvp", "nn"), "Compute + Memory": ("bfs", "blk", "knn", "lbm36"),
              "Compute + Compute": ("dxt", "hot", "img", "mm")}
TWO_AND_ONE = "two of compute and another"  # what Fig. 8 draws
FIXED_POLICIES = ("leftover", "even", "spatial")
LEFTOVER, OURS, SWITCH = "leftover", "warped-slicer", "warped-slicer switch"
BASE = f"{LEFTOVER} strict"  # the paper's: a kernel waits until the older ones have dispatched all their TBs
ORACLE = "oracle"  # the best of all tables, left-over, even and spatial
LOSS, OTHER_LOSS = 78_643, "other loss"  # the usual policy.slicer_loss
FIXED, FIRST_PLAN, PLAN_CYCLES = "fixed cycles", "first plan", 45_000
TABLE = "table:"
# Tables of TBs in force from the start: which plan it is.
STATIC = {"plan": "its plan from the start", "raw": "the plan without correction",
          "inverse": "the plan with ψ turned over", "true": "the plan by IPC alone"}
SM = slicer_plans.Sm()


def category(names):
    """Of Table III and Fig. 8; the first application is a compute one."""
    if len(names) == 2:
        return next(name for name, members in CATEGORIES.items() if names[1] in members)
    compute = sum(name in CATEGORIES["Compute + Compute"] for name in names)
    return TWO_AND_ONE if compute == 2 else f"three, {compute} of compute"


def rows_of(path):
    """All runs as rows of the CSV."""
    query = """SELECT r.cycles, workload, policy, r.preempt, SUM(k.warp_instructions), MAX(k.cycles_present),
                 SUM(i.cycles_present), MIN(n.normalized_ipc), AVG(1 / n.normalized_ipc), r.preemptions,
                 MIN(k.warp_instructions >= i.warp_instructions), r."run.until", r."policy.slicer_window",
                 r."policy.slicer_delay", r."policy.slicer_sustain", r."policy.slicer_loss", r."sm.limits.tbs",
                 r."policy.leftover_strict",
                 (SELECT GROUP_CONCAT(s.partition_tbs) FROM sms s WHERE s.run = r.run),
                 GROUP_CONCAT(PRINTF('%.4f', n.normalized_ipc), ' '),
                 (SELECT SUM(alu_busy) FROM units u WHERE u.run = r.run),
                 (SELECT SUM(sfu_busy) FROM units u WHERE u.run = r.run),
                 (SELECT SUM(lsu_busy) FROM units u WHERE u.run = r.run),
                 1.0 - 1.0 * SUM(k.l1_hits) / SUM(k.l1_accesses), 1.0 - 1.0 * SUM(k.l2_hits) / SUM(k.l2_accesses),
                 (SELECT SUM(sim_pipeline + sim_control + sim_data) FROM stalls s WHERE s.run = r.run)
               FROM results r JOIN kernels k USING (run) JOIN kernel_results n USING (run, slot)
               JOIN kernels i ON i.run = k.isolated_run
               WHERE r.status = 'done' AND r.kernels IN (2, 3) AND r.machine = ? GROUP BY r.run"""
    rows = []
    for (cycles, pair, policy, preempt, issued, last, alone, slowest, antt, preemptions, whole, until,
         *settings, strict, partitions, normalized, alu, sfu, lsu, l1, l2, stalls) in inputs.Database(path, "slicer_pairs").rows(query, [slicer_plans.MACHINE]):
        name = policy + (" switch" if policy.startswith(OURS) and preempt == "switch" else "")
        name += " strict" if strict == "true" else ""
        row = dict.fromkeys(COLUMNS, "") | {"variant": variant(*settings), "cycles": cycles, "pair": pair,
                                            "category": category(pair.split("+")), "policy": name}
        if until == "cycles" and cycles == PLAN_CYCLES:
            row |= {"variant": FIRST_PLAN, "best": planned(len(pair.split("+")), partitions)}
        elif until == "cycles":
            row |= {"variant": FIXED, "normalized": normalized}
        elif policy.startswith(TABLE):
            continue  # it holds when one of the two has ended
        elif not whole:
            sys.exit(f"slicer_pairs: {pair} under {policy} was cut short")
        else:
            row |= {"ipc": f"{issued / last:.4f}", "sequential": f"{issued / alone:.4f}",
                    "slowest": f"{slowest:.4f}", "antt": f"{antt:.4f}", "preemptions": preemptions,
                    "alu": f"{alu / last:.3f}", "sfu": f"{sfu / last:.3f}", "lsu": f"{lsu / last:.3f}",
                    "l1": f"{l1:.4f}", "l2": f"{l2:.4f}", "stalls": stalls}
        rows.append(row)
    order = ("variant", "cycles", "category", "pair", "policy")
    return sorted(with_oracle(rows), key=lambda row: [row[name] for name in order])


def variant(window, delay, sustain, loss, tbs):
    """What is not as usual."""
    if loss != LOSS:
        return OTHER_LOSS
    if tbs > 8:
        return "larger SM"
    if sustain == 0:
        return "profiled once"
    return f"window {window}" if window != 5000 else f"delay {delay}" if delay else ""


def planned(kernels, partitions):
    """The plan that all SMs have, or the SMs that each kernel has."""
    numbers = [int(number) for number in partitions.split(",")]
    sms = {tuple(numbers[at : at + kernels]) for at in range(0, len(numbers), kernels)}
    one = next(iter(sms))
    return f"{TABLE}{','.join(map(str, one))}" if len(sms) == 1 and all(one) else slicer_plans.SPATIAL


def with_oracle(rows):
    """The rows without those of tables; of the best of each pair a copy, as the oracle, and of the plans."""
    tables = {}
    for row in rows:
        if row["variant"] == FIXED and (row["policy"].startswith(TABLE) or row["policy"] in FIXED_POLICIES):
            tables.setdefault(row["pair"], {})[row["policy"]] = row
    made = [row for row in rows if not row["policy"].startswith(TABLE)]
    plans = plans_of(rows)
    for pair, found in tables.items():
        best = max(found.values(), key=by_rates)
        if len(found) >= len(FIXED_POLICIES) + tables_of(pair.split("+")):
            made.append(best | {"policy": ORACLE, "best": best["policy"]})
        for kind, name in STATIC.items():
            policy = policy_of(plans.get((kind, pair), ""))
            if policy in found:
                made.append(found[policy] | {"policy": name, "best": policy})
    return made


def by_rates(row):
    """IPC over one after the other when two kernels work at these rates, and the slower one alone in the end.

    In units of what the work takes alone, the faster one needs 1 / fast, and then 1 - slow / fast is left.
    """
    slow, fast = sorted(map(float, row["normalized"].split()))
    return 2 / (1 / fast + 1 - slow / fast)


def tables_of(names):
    """How many tables fit on an SM; of a smaller kernel of one of the two there may be more."""
    return sum(SM.fits(names, (a, b)) for a in range(1, SM.most(names[0]) + 1) for b in range(1, SM.most(names[1]) + 1))


def plan_of(policy):
    return tuple(map(int, policy[len(TABLE):].split(","))) if policy.startswith(TABLE) else policy


def policy_of(plan):
    return plan if isinstance(plan, str) else TABLE + ",".join(map(str, plan))


def plans_of(rows):
    """{(which, pair): plan}: the first one of a run, and those of other curves."""
    found = {("plan", row["pair"]): plan_of(row["best"]) for row in rows if row["variant"] == FIRST_PLAN}
    for pair, curves in sampled().items():
        names = pair.split("+")
        for name in curves:
            found[name, pair] = slicer_plans.water_filling(SM, names, curves[name])
    return found


def sampled():
    """{pair: {which: a curve of each kernel}} by what was counted in profiles, and by IPC alone."""
    alone = {(row["kernel"], int(row["limit"] or row["fits"])): float(row["ipc"])
             for row in generated.read_csv(generated.DOCS / ALONE)}
    curves = {}
    for row in generated.read_csv(generated.DOCS / SAMPLES):
        names = row["pair"].split("+")
        most, tbs = SM.most(row["kernel"]), int(row["tbs"])
        average, phi = (most + 1) / 2, int(row["stalled"]) / (5000 * SM.schedulers)
        each = {"printed": tbs / average - 1, "raw": 0, "inverse": average / tbs - 1}
        for name, psi in each.items():
            value = int(row["issued"]) * (1 + phi * psi)
            curves.setdefault(row["pair"], {}).setdefault(name, [[] for _ in names])[names.index(row["kernel"])].append(
                value)
        curves[row["pair"]]["true"] = [[alone[name, n] for n in range(1, SM.most(name) + 1)] for name in names]
    return curves
