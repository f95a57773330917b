# SPDX-License-Identifier: Apache-2.0
"""What the document shows, from the database of a sweep: rows of results.csv."""

import csv
import sqlite3
import statistics

from paper import inputs

COLUMNS = ("figure", "measure", "policy", "group", "value", "runs")
STALLS = {"pipeline": "s.pipeline", "control": "s.control", "data": "s.data_memory + s.data_short",
          "barrier": "s.barrier", "quota": "s.quota", "preemption": "s.preemption",
          "empty": "s.empty", "stalls": "s.pipeline + s.control + s.data_memory + s.data_short "
          "+ s.barrier + s.quota + s.preemption + s.empty"}
# The same cycles as the paper's simulator counts them: docs/results.md. Databases of version 1 have none.
SIM_STALLS = ("sim_pipeline", "sim_control", "sim_data")
# An SM is a kernel's alone when it has this share of the TBs that were there, over the run.
ALONE = 0.95
# Experiments of Fig. 5: who arrives first.
ARRIVALS = {"fig5": "tb-distribution", "fig5-stencil-later": "tb-distribution-stencil-later",
            "fig5-cutcp-later": "tb-distribution-cutcp-later"}
# The machine as it is, and with a part as another source has it.
SOURCES = {"as-is": "seeds", "shared-memory": "source-shared-memory", "ports": "source-ports",
           "mshrs": "source-mshrs", "front-end-2": "source-front-end-2",
           "front-end-4": "source-front-end-4"}
# The machine of the reproduction, and the one that is shown beside it: its figures have its name in front.
MACHINE, BESIDE = "gtx980-gpgpusim", "gtx980"


class Results:
    """A table of numbers, each known by figure, measure, policy and group."""

    def __init__(self):
        self.rows = {}
        self.experiments = set()  # of the database; not stored

    def add(self, figure, measure, policy, group, value, runs=1):
        text = f"{value:.4f}" if isinstance(value, float) else str(value)
        self.rows[figure, measure, policy, group] = (text, runs)

    def get(self, figure, measure, policy, group):
        """The number, of one policy or of two as policy/policy; None when there is none."""
        row = self.rows.get((figure, measure, policy, group))
        if row:
            return float(row[0])
        if "/" not in policy:
            return None
        one, two = (self.get(figure, measure, p, group) for p in policy.split("/"))
        return one / two if one is not None and two else None

    def partial(self, figure, measure, policy, group):
        """Is it of fewer runs than the STP of the same?"""
        rows = [self.rows.get((figure, name, policy, group), ("", 0)) for name in (measure, "stp")]
        return rows[0][1] < rows[1][1]

    def of(self, machine):
        """The same numbers, of one machine."""
        return self if machine == MACHINE else Beside(self, machine)

    def text(self, figure, measure, policy="", group=""):
        return self.rows[figure, measure, policy, group][0]

    def groups(self, figure, measure):
        """The groups of a figure, in the order in which they came."""
        return list(dict.fromkeys(k[3] for k in self.rows if k[:2] == (figure, measure)))

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows([*key, *value] for key, value in self.rows.items())

    @staticmethod
    def read(path):
        results = Results()
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = tuple(row[name] for name in COLUMNS[:4])
                results.rows[key] = (row["value"], int(row["runs"]))
        return results


class Beside:
    """The numbers of the machine that is shown beside the other."""

    def __init__(self, results, machine):
        self.results, self.prefix = results, f"{machine}:"

    def add(self, figure, *rest, **more):
        self.results.add(self.prefix + figure, *rest, **more)

    def get(self, figure, *rest):
        return self.results.get(self.prefix + figure, *rest)

    def partial(self, figure, *rest):
        return self.results.partial(self.prefix + figure, *rest)

    def groups(self, figure, measure):
        return self.results.groups(self.prefix + figure, measure)


class Sweep:
    """Questions to a database, about runs of one machine."""

    def __init__(self, path, machine=None):
        self.db = inputs.Database(path, "reproduction")
        self.db.connection.row_factory = sqlite3.Row
        self.machine = machine

    def rows(self, query, **values):
        """`{machine}` in a query stands for the condition on the machine of a run."""
        of_machine = "machine = :machine" if self.machine else "1"
        values = dict(values, machine=self.machine) if self.machine else values
        return self.db.rows(query.replace("{machine}", of_machine), values)

    def has_columns(self, table, names):
        there = {r["name"] for r in self.rows("SELECT name FROM pragma_table_info(:table)",
                                              table=table)}
        return there.issuperset(names)

    def missing(self):
        """By experiment: runs that are not there, or failed."""
        query = """SELECT experiment, COUNT(*) AS runs, SUM(status IS NULL OR status <> 'done') AS gone
                   FROM members LEFT JOIN runs USING (run) GROUP BY experiment"""
        return {r["experiment"]: (r["gone"], r["runs"]) for r in self.rows(query) if r["gone"]}

    def shared(self, experiment, kernels):
        """The runs of `kernels` kernels together, ordered for people."""
        return self.rows("""SELECT results.* FROM results JOIN members USING (run)
            WHERE experiment = :experiment AND kernels = :kernels AND status = 'done' AND {machine}
            ORDER BY mix, workload, policy""", experiment=experiment, kernels=kernels)


def by_group(runs):
    """The runs by mix of types, and all of them."""
    groups = {"C+C": [], "M+M": [], "C+M": [], "all": []}
    for run in runs:
        groups[run["mix"]].append(run)
        groups["all"].append(run)
    return groups


def add_means(results, figure, policy, group, runs):
    for measure in ("stp", "fairness", "antt"):
        values = [run[measure] for run in runs if run[measure] is not None]
        if values:
            results.add(figure, measure, policy, group, statistics.fmean(values), len(values))


def policies_of(runs):
    return sorted({run["policy"] for run in runs} - {"isolated"})


def add_pairs(results, sweep):
    """Fig. 10 to 13: measures by policy and group, STP of each pair."""
    runs = sweep.shared("pairs", 2)
    for policy in policies_of(runs):
        mine = [run for run in runs if run["policy"] == policy]
        for group, members in by_group(mine).items():
            add_means(results, "pairs", policy, group, members)
        for run in mine:
            results.add("pair", "stp", policy, run["workload"], run["stp"])
            results.add("pair", "fairness", policy, run["workload"], run["fairness"])


def add_gains(results):
    """Fig. 13: what smk-pw gains over spatial, pair by pair; the ends of the list and who wins."""
    pairs = results.groups("pair", "stp")
    gains = {p: results.get("pair", "stp", "smk-pw/spatial", p) for p in pairs}
    gains = {pair: gain for pair, gain in gains.items() if gain is not None}
    if gains:
        for name, choose in (("best", max), ("worst", min)):
            pair = choose(gains, key=gains.get)
            results.add("gain", "stp", "smk-pw/spatial", name, gains[pair], len(gains))
            results.add("gain", "pair", "smk-pw/spatial", name, pair, len(gains))
        wins = sum(gain > 1 for gain in gains.values())
        results.add("gain", "pairs_ahead", "smk-pw/spatial", "all", wins, len(gains))


def add_distribution(results, sweep, figure, experiment):
    """Fig. 5: mean TBs of each kernel on each SM."""
    for policy in ("smk", "smk-p"):
        rows = sweep.rows("""SELECT sm, name, CAST(tb_cycles AS REAL) / cycles AS tbs
            FROM sms JOIN kernels USING (run, slot) JOIN runs USING (run) JOIN members USING (run)
            WHERE experiment = :experiment AND policy = :policy AND workload = 'cutcp+stencil'
              AND {machine} ORDER BY sm, slot""", policy=policy, experiment=experiment)
        tbs = {}
        for row in rows:
            results.add(figure, row["name"], policy, f"SM {row['sm']}", row["tbs"])
            tbs.setdefault(row["sm"], {})[row["name"]] = row["tbs"]
        for name in ("stencil", "cutcp"):
            alone = sum(sm.get(name, 0) >= ALONE * sum(sm.values()) for sm in tbs.values())
            results.add(figure, f"sms_alone:{name}", policy, "cutcp+stencil", alone)
        shared = sum(max(sm.values()) < ALONE * sum(sm.values()) for sm in tbs.values())
        results.add(figure, "sms_shared", policy, "cutcp+stencil", shared)


def add_hit_rates(results, sweep):
    """Fig. 9: hit rates and fairness of one mix by the kernels on an SM, and means of all mixes."""
    query = """SELECT {group} AS kernels, COUNT(DISTINCT run) AS runs,
          SUM(l1_hits) * 1.0 / SUM(l1_accesses) AS l1, SUM(l2_hits) * 1.0 / SUM(l2_accesses) AS l2,
          AVG(r.fairness) AS fairness
        FROM kernels k JOIN results r USING (run) JOIN members USING (run)
        WHERE experiment = '{experiment}' AND {where} AND {{machine}} GROUP BY 1 ORDER BY 1"""
    parts = [("fig9", "smk-pw", "cache-mix", "kernels_per_sm", "r.kernels = 4")]
    for policy in ("smk-pw", "smk-pw2"):
        parts.append(("cache", policy, "cache", "r.kernels", f"policy = '{policy}'"))
    parts.append(("cache", "isolated", "cache", "r.kernels", "policy = 'isolated'"))
    for figure, policy, experiment, group, where in parts:
        for row in sweep.rows(query.format(group=group, experiment=experiment, where=where)):
            for measure in ("l1", "l2", "fairness"):
                if row[measure] is not None:
                    results.add(figure, measure, policy, str(row["kernels"]), row[measure],
                                row["runs"])


def add_mix_hits(results, sweep):
    """Fig. 9, by kernel: L1 hit rates of its mix."""
    for row in sweep.rows("""SELECT name, kernels_per_sm AS kernels, l1_hit_rate AS rate
            FROM kernel_results JOIN runs USING (run) JOIN members USING (run)
            WHERE experiment = 'cache-mix' AND policy = 'smk-pw' AND {machine}
            ORDER BY kernels, name"""):
        results.add("fig9", f"l1:{row['name']}", "smk-pw", str(row["kernels"]), row["rate"])


def add_pair_hits(results, sweep):
    """L1 hit rates of the kernels of C+M pairs."""
    for row in sweep.rows("""SELECT name, policy, workload, l1_hit_rate AS rate FROM kernel_results
            JOIN runs USING (run) JOIN members USING (run)
            WHERE experiment = 'pairs' AND mix = 'C+M' AND policy IN ('spatial', 'smk-p', 'smk-pw')
              AND {machine} ORDER BY workload, name, policy"""):
        if row["rate"] is not None:
            results.add("l1", row["name"], row["policy"], row["workload"], row["rate"])


def add_stalls(results, sweep):
    """Fig. 14: why schedulers did not issue in the C+M pairs, as shares of their cycles."""
    terms = dict(STALLS)
    if sweep.has_columns("stalls", SIM_STALLS):
        terms.update({name: f"s.{name}" for name in SIM_STALLS})
    sums = ", ".join(f"SUM({term}) AS {name}" for name, term in terms.items())
    rows = sweep.rows(f"""SELECT policy, {sums}, SUM(r.cycles * schedulers) AS cycles,
          COUNT(DISTINCT run) AS runs
        FROM stalls s JOIN runs r USING (run) JOIN members USING (run)
        WHERE experiment = 'pairs' AND mix = 'C+M' AND {{machine}} GROUP BY policy""")
    for row in rows:
        for name in terms:
            results.add("fig14", name, row["policy"], "C+M", row[name] / row["cycles"],
                        row["runs"])


def add_more_kernels(results, sweep):
    """Fig. 15: two, three and four kernels."""
    for kernels, experiment in ((2, "pairs"), (3, "three-kernels"), (4, "four-kernels")):
        runs = sweep.shared(experiment, kernels)
        for policy in ("spatial", "smk-pw", "smk-pw2"):
            mine = [run for run in runs if run["policy"] == policy]
            add_means(results, "fig15", policy, f"{kernels} kernels", mine)


def add_overhead(results, sweep):
    """Fig. 16: with contexts that cost, and with contexts that move in no time."""
    runs = sweep.shared("preemption-overhead", 2)
    for policy in ("spatial", "smk-pw"):
        for ideal in (0, 1):
            mine = [r for r in runs if (r["policy"], r["ideal_preemption"]) == (policy, ideal)]
            name = policy + ("-ideal" if ideal else "")
            for group, members in by_group(mine).items():
                add_means(results, "fig16", name, group, members)
                if members:
                    results.add("fig16", "preemptions", name, group,
                                sum(run["preemptions"] for run in members), len(members))


def add_own(results, sweep):
    """What the paper does not vary: the epoch's length, the latency of the driver."""
    for experiment, column in (("epoch-length", "epoch_length"), ("latency", "latency_scale")):
        runs = sweep.shared(experiment, 2)
        for value in sorted({run[column] for run in runs}):
            for policy in policies_of(runs):
                mine = [r for r in runs if r["policy"] == policy and r[column] == value]
                add_means(results, experiment, policy, str(value), mine)


def add_alone(results, sweep):
    """Table 2: cycles of the schedulers in which nothing is issued, kernels alone."""
    rows = sweep.rows("""SELECT workload, 1 - SUM(issued) * 1.0 / SUM(cycles * schedulers) AS stalls
        FROM stalls JOIN runs USING (run) JOIN members USING (run)
        WHERE experiment = 'pairs' AND policy = 'isolated' AND {machine} GROUP BY workload""")
    for row in rows:
        results.add("table2", "stall_cycles", "isolated", row["workload"], row["stalls"])


def add_sweep(results, sweep):
    """How the sweep was made."""
    row = sweep.rows("""SELECT COUNT(*) AS runs, SUM(status = 'failed') AS failed,
          SUM(wall_seconds) / 3600 AS hours, MAX(cycles) AS cycles,
          (julianday(MAX(finished)) - julianday(MIN(finished))) * 24 AS elapsed,
          SUBSTR(MAX(finished), 1, 10) AS day, GROUP_CONCAT(DISTINCT version) AS version,
          GROUP_CONCAT(DISTINCT SUBSTR(executable_sha256, 1, 12)) AS executable,
          COUNT(DISTINCT host) AS hosts FROM runs""")[0]
    models = sweep.rows("""SELECT DISTINCT model_version AS model FROM runs
        ORDER BY CAST(model_version AS INTEGER)""")
    results.add("sweep", "model", "", "", ", ".join(r["model"] for r in models))
    for name in ("version", "executable", "runs", "failed", "cycles", "day", "hosts"):
        results.add("sweep", name, "", "", row[name])
    results.add("sweep", "machine_hours", "", "", round(row["hours"], 1))
    results.add("sweep", "elapsed_hours", "", "", round(row["elapsed"], 1))


def add_profiling(results, sweep):
    """Why SMK-(P+W) loses throughput to SMK-P: quotas that nobody waits for, and another end of epochs."""
    for figure, experiment in (("ungated", "profiling-sms"), ("by-tick", "epoch-by-tick")):
        for group, members in by_group(sweep.shared(experiment, 2)).items():
            add_means(results, figure, "smk-pw", group, members)


def add_equal_progress(results, sweep):
    """What equal progress must cost where the instructions per cycle of a pair are given.

    With z = sum(IPC) / sum(isolated IPC) of smk-p, each kernel does z of what it does alone: STP = 2 z."""
    rows = sweep.rows("""SELECT workload, mix, SUM(ipc) / SUM(ipc_isolated) AS z, r.stp AS stp
        FROM kernel_results JOIN results r USING (run) JOIN members USING (run)
        WHERE experiment = 'pairs' AND policy = 'smk-p' AND {machine} GROUP BY run ORDER BY workload""")
    for group, members in by_group(rows).items():
        if members:
            equal = statistics.fmean(2 * row["z"] for row in members)
            results.add("equal", "stp", "predicted", group, equal, len(members))


def add_profiles(results, sweep):
    """IPC of a kernel on its profiling SM over that of an SM when it is alone, in all its pairs."""
    rows = sweep.rows("""SELECT k.name AS name,
          AVG(p.issued * 1.0 / r.cycles / (SELECT AVG(i.issued) * 1.0 / ir.cycles
            FROM stalls i JOIN runs ir USING (run) WHERE i.run = k.isolated_run)) AS ratio,
          COUNT(*) AS runs
        FROM kernels k JOIN runs r USING (run) JOIN members USING (run)
        JOIN stalls p ON p.run = k.run AND p.sm = k.slot
        WHERE experiment = 'pairs' AND policy = 'smk-pw' AND {machine} GROUP BY name ORDER BY name""")
    for row in rows:
        results.add("profile", "ipc", "smk-pw", row["name"], row["ratio"], row["runs"])


def add_seeds(results, sweep):
    """Mean and standard deviation of each group's mean over the seeds."""
    runs = sweep.shared("seeds", 2)
    seeds = sorted({run["seed"] for run in runs})
    for policy in policies_of(runs):
        for group in ("C+C", "M+M", "C+M", "all"):
            for measure in ("stp", "fairness", "antt"):
                means = []
                for seed in seeds:
                    mine = [r for r in runs if r["policy"] == policy and r["seed"] == seed]
                    values = [r[measure] for r in by_group(mine)[group] if r[measure] is not None]
                    if values:
                        means.append(statistics.fmean(values))
                if len(means) > 1:
                    results.add("seeds", measure, policy, group, statistics.stdev(means), len(means))


def add_sources(results, sweep):
    """What another source for a part of the machine changes."""
    for source, experiment in SOURCES.items():
        runs = [r for r in sweep.shared(experiment, 2) if experiment != "seeds" or r["seed"] == "1"]
        for policy in policies_of(runs):
            mine = [run for run in runs if run["policy"] == policy]
            for group, members in by_group(mine).items():
                add_means(results, f"source:{source}", policy, group, members)


def add_machine(results, sweep):
    """Everything that was run on one machine."""
    add_alone(results, sweep)
    for figure, experiment in ARRIVALS.items():
        add_distribution(results, sweep, figure, experiment)
    add_hit_rates(results, sweep)
    add_mix_hits(results, sweep)
    add_pairs(results, sweep)
    add_gains(results)
    add_pair_hits(results, sweep)
    add_stalls(results, sweep)
    add_more_kernels(results, sweep)
    add_overhead(results, sweep)
    add_own(results, sweep)
    add_profiling(results, sweep)
    add_equal_progress(results, sweep)
    add_profiles(results, sweep)
    add_seeds(results, sweep)
    add_sources(results, sweep)


def from_database(path):
    """All rows, in the order of the document."""
    sweep, results = Sweep(path), Results()
    results.experiments = {r["experiment"] for r in sweep.rows("SELECT experiment FROM members")}
    add_sweep(results, sweep)
    for machine in (MACHINE, BESIDE):
        add_machine(results.of(machine), Sweep(path, machine))
    return results, sweep.missing()


def from_reduced(path):
    """The rows of the reduced set, which continuous integration makes again."""
    results = Results()
    for run in Sweep(path).shared("reduced", 2):
        for measure in ("stp", "fairness", "antt", "preemptions"):
            results.add("reduced", measure, run["policy"], run["workload"], run[measure])
    return results
