# SPDX-License-Identifier: Apache-2.0
"""docs/reproduction.md and its charts, from results.csv, the paper's numbers and the fragments."""

from paper import fragments
from paper.charts import Panel, chart
from paper.results import BESIDE, MACHINE, SOURCES

SPEC = "sim/sweeps/smk_paper.toml"
MIXES = ("C+C", "M+M", "C+M", "all")
MEASURES = (("stp", "STP"), ("fairness", "fairness"), ("antt", "ANTT"))
DESIGNS = ("smk", "smk-p", "smk-pw")
ALL = ("leftover", "even", "spatial", *DESIGNS)
STALLS = ("pipeline", "control", "data", "barrier", "quota", "preemption", "empty")
SIM_STALLS = ("sim_pipeline", "sim_control", "sim_data")
SOURCE_NAMES = {"as-is": "as it is", "shared-memory": "shared memory of 24 cycles",
                "ports": "ports of 48 bytes", "mshrs": "128 MSHRs in L1 and L2",
                "front-end-2": "fetch for two warps per cycle",
                "front-end-4": "fetch for four warps per cycle"}
NO_SIM_STALLS = (
    "The same cycles as the paper's simulator counts them ([`sim_stalls`](results.md#reasons)) cannot be shown. "
    "This sweep is older than that count, and its database has no columns for it.")


def table(header, rows):
    """A table of Markdown; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|--:" * (len(header) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


class Page:
    """Everything that is written; nothing is read but what the constructor is given."""

    def __init__(self, results, reduced, paper, folder):
        self.results, self.reduced, self.paper, self.folder = results, reduced, paper, folder
        self.problems, self.charts = [], {}

    # The paper's numbers -------------------------------------------------------------------------

    def source_of(self, entry):
        """Where in results.csv the twin of a number of the paper is."""
        figure, group = entry["figure"], entry["group"]
        if figure in ("fig10", "fig12", "fig13", "table3"):
            if group in ("best", "worst"):
                return "gain"
            return "pairs" if group in MIXES else "pair"
        return figure

    def beside(self, figure):
        """The table of ours, the paper's and the difference."""
        rows = []
        for e in self.paper.of(figure):
            policy = f"{e['policy']}/{e['over']}" if e["over"] else e["policy"]
            where = self.source_of(e)
            key = (where, e["measure"], policy, e["group"])
            ours = self.results.get(*key)
            if ours is not None:
                rows.append(self.beside_row(e, policy, ours, self.results.of(BESIDE).get(*key)))
        return table(("what", "group", "ours", f"on {BESIDE}", "paper", "difference",
                      "paper's place"), rows)

    def beside_row(self, e, policy, ours, other):
        theirs, what = e["value"], f"{e['measure']} of {policy.replace('/', ' over ')}"
        if e["over"]:
            one, two = 100 * (ours - 1), 100 * (theirs - 1)
            there = "" if other is None else f"{100 * (other - 1):+.1f} %"
            cells = f"{one:+.1f} %", there, f"{two:+.1f} %", f"{one - two:+.1f} points"
        elif isinstance(theirs, int):
            there = "" if other is None else f"{other:.0f}"
            cells = f"{ours:.0f}", there, str(theirs), f"{ours - theirs:+.0f}"
        else:
            cells = number(ours), number(other), f"{theirs:.3g}", f"{ours - theirs:+.3f}"
        note = f" ({e['note']})" if "note" in e else ""
        return (what + note, e["group"], *cells, e["source"])

    def marks(self, figures, measure):
        """The paper's numbers for a chart: {(policy, group): value}."""
        found = {}
        for e in self.paper.entries:
            if e["figure"] in figures and e["measure"] == measure and not e["over"]:
                found[e["policy"], e["group"]] = e["value"]
        return found

    # Pieces --------------------------------------------------------------------------------------

    def values(self, results, figure, measure, policies, groups):
        return {(p, g): results.get(figure, measure, p, g) for p in policies for g in groups}

    def matrix(self, results, figure, policies, groups, measures=MEASURES):
        rows = [[f"{title}, {group}", *("–" if results.partial(figure, m, p, group) else
                                        number(results.get(figure, m, p, group)) for p in policies)]
                for m, title in measures for group in groups]
        return table(("", *policies), rows)

    def panels(self, results, figure, policies, groups, paper=(), measures=MEASURES, errors=""):
        panels = []
        for measure, title in measures:
            marks = {k: v for k, v in self.marks(paper, measure).items()
                     if k[0] in policies and k[1] in groups}
            panels.append(Panel(title, groups, policies,
                                self.values(results, figure, measure, policies, groups), marks,
                                base=1 if measure == "stp" else None,
                                errors=self.values(results, errors, measure, policies, groups)))
        return panels

    def machines(self):
        """The two machines with their numbers, and what stands in front of what is shown of each."""
        yield self.results, "", ""
        yield self.results.of(BESIDE), f"_{BESIDE}", f"The same on `{BESIDE}`:"

    def on_both(self, parts):
        """What `parts` makes of the numbers of each machine, one after the other."""
        made = []
        for results, _, heading in self.machines():
            made += [heading, *parts(results)]
        return made

    def section(self, name, experiment, tables, panels=None):
        """`panels`: a chart of the numbers of a machine, for both machines if there are such numbers."""
        fragment = fragments.Fragment(self.folder / f"{name}.md", self.results, self.problems)
        parts = [f"## {fragment.title}", fragment.shows]
        if experiment:
            parts.append(f"    smk sweep {SPEC} --experiment {experiment}")
        for results, suffix, heading in self.machines() if panels else ():
            drawn = panels(results)
            if suffix and not any(v is not None for p in drawn for v in p.values.values()):
                continue
            self.charts[f"{name}{suffix}.svg"] = chart(drawn)
            parts += [p for p in (heading,) if p]
            parts.append(f"![{fragment.title}](images/reproduction/{name}{suffix}.svg)")
        parts += [t for t in tables if t]
        if fragment.why:
            parts.append("**Why.** " + fragment.why)
        return "\n\n".join(parts)

    def pairs_of(self, mix):
        """The pairs of a mix, in order of what smk-pw makes of them."""
        compute = {"cutcp", "mri-q", "sgemm", "tpacf"}
        pairs = [p for p in self.results.groups("pair", "stp")
                 if len(compute & set(p.split("+"))) == mix.count("C")]
        stp = {p: self.results.get("pair", "stp", "smk-pw", p) or 0 for p in pairs}
        return sorted(pairs, key=lambda p: (-stp[p], p))

    # Sections ------------------------------------------------------------------------------------

    def fig5(self):
        sms = [f"SM {i}" for i in range(16)]

        def panels(results):
            return [Panel(f"mean TBs under {policy}", sms, ("cutcp", "stencil"),
                          {(k, s): results.get("fig5", k, policy, s)
                           for k in ("cutcp", "stencil") for s in sms})
                    for policy in ("smk", "smk-p")]

        rows = []
        for figure, arrival in (("fig5", "together"), ("fig5-stencil-later", "stencil later"),
                                ("fig5-cutcp-later", "cutcp later")):
            for results, suffix, _ in self.machines():
                counts = [results.get(figure, what, "smk", "cutcp+stencil")
                          for what in ("sms_alone:stencil", "sms_alone:cutcp", "sms_shared")]
                rows.append([f"{arrival}, {BESIDE if suffix else MACHINE}",
                             *("" if n is None else f"{n:.0f}" for n in counts)])
        arrivals = table(("arrival under `smk`", "stencil alone", "cutcp alone", "shared"), rows)
        return self.section("fig5", "tb-distribution", [self.beside("fig5"), arrivals], panels)

    def fig9(self):
        counts = self.results.groups("fig9", "l1") or ["1", "2", "3", "4"]
        names = (("l1", "L1 hit rate"), ("l2", "L2 hit rate"), ("fairness", "fairness"))

        def panels(results):
            return [Panel(title, counts, ("smk-pw",),
                          self.values(results, "fig9", m, ("smk-pw",), counts))
                    for m, title in names]

        rows = [[f"{n} kernels on an SM", *(number(self.results.get("fig9", m, "smk-pw", n))
                                            for m, _ in names)] for n in counts]
        mixes = [[f"{n} kernels, {p}", *(number(self.results.get("cache", m, p, n))
                                         for m, _ in names)]
                 for n in self.results.groups("cache", "l1") for p in ("smk-pw", "smk-pw2")
                 if self.results.get("cache", "l1", p, n) is not None]
        header = ("", *(title for _, title in names))
        return self.section("fig9", "cache-mix", [
            table(header, rows), "All mixes of the experiment `cache`:", table(header, mixes)],
            panels)

    def fig10(self):
        return self.section("fig10", "pairs", [
            self.beside("fig10"),
            "All of ours (–: not every pair has an ANTT, as one whose second kernel did not run has none):",
            *self.on_both(lambda r: [self.matrix(r, "pairs", ALL, MIXES)]), *self.quotas()],
            lambda r: self.panels(r, "pairs", DESIGNS, MIXES, {"fig10"}, errors="seeds"))

    def quotas(self):
        """Where the throughput goes that SMK-(P+W) has less than SMK-P, and what a kernel's profile is."""
        rows = []
        for results, suffix, _ in self.machines():
            for group in MIXES:
                base = results.get("pairs", "stp", "smk-p", group)
                steps = (("ungated", "smk-pw"), ("pairs", "smk-pw"), ("by-tick", "smk-pw"),
                         ("equal", "predicted"))
                found = [results.get(figure, "stp", policy, group) for figure, policy in steps]
                rows.append([f"{group}, {BESIDE if suffix else MACHINE}",
                             *("" if v is None or not base else f"{100 * (v / base - 1):+.1f} %"
                               for v in found)])
        profiles = [[name, *(number(r.get("profile", "ipc", "smk-pw", name), 2)
                             for r, _, _ in self.machines())]
                    for name in self.results.groups("profile", "ipc")]
        return ["STP beside that of `smk-p`:",
                table(("", "profiled, nobody waits", "`smk-pw`", "epochs end with ticks",
                       "equal progress, predicted"), rows),
                "IPC on the profiling SM over IPC per SM alone, mean of nine pairs:",
                table(("", MACHINE, BESIDE), profiles)]

    def by_pair(self, name, policies, tables):
        def panels(results):
            pairs = self.pairs_of("C+M")
            return [Panel("STP, C+M", pairs, policies,
                          self.values(results, "pair", "stp", policies, pairs), base=1)]

        def rows(results):
            return [table(("STP", *policies),
                          [[p, *(number(results.get("pair", "stp", q, p)) for q in policies)]
                           for p in self.pairs_of("C+M")])]
        return self.section(name, "pairs", [*tables, *self.on_both(rows)], panels)

    def fig11(self):
        return self.by_pair("fig11", DESIGNS, [])

    def fig12(self):
        return self.section("fig12", "pairs", [self.beside("fig12")],
                            lambda r: self.panels(r, "pairs", ("spatial", "smk-pw"), MIXES,
                                                  {"fig10", "fig12"}, errors="seeds"))

    def fig13(self):
        return self.by_pair("fig13", ("spatial", "smk-pw"), [self.beside("fig13")])

    def fig14(self):
        policies = ("spatial", "smk-pw")

        def shares(results, reasons):
            return {(p, s): results.get("fig14", s, p, "C+M") for p in policies for s in reasons}

        def panels(results):
            return [Panel("share of the schedulers' cycles, C+M", STALLS, policies,
                          shares(results, STALLS)),
                    *([Panel("the same as the simulator counts them", SIM_STALLS, policies,
                             shares(results, SIM_STALLS))] if self.has_sim_stalls() else [])]
        return self.section("fig14", "pairs", [
            self.beside("fig14"), "All of ours, as shares of the schedulers' cycles:",
            *self.on_both(lambda r: [self.shares(r, (*STALLS, "stalls"))]), *self.sim_stalls()],
            panels)

    def shares(self, results, reasons):
        rows = [[s, *(f"{100 * (results.get('fig14', s, p, 'C+M') or 0):.1f} %" for p in ALL)]
                for s in reasons]
        return table(("", *ALL), rows)

    def has_sim_stalls(self):
        return bool(self.results.groups("fig14", SIM_STALLS[0]))

    def sim_stalls(self):
        """Fig. 14 once more, by the rule of the paper's simulator."""
        if not self.has_sim_stalls():
            return [NO_SIM_STALLS]
        rows = []
        for e in self.paper.of("fig14"):
            policy = f"{e['policy']}/{e['over']}"
            sim = f"sim_{e['measure']}"
            by_rule = sim if sim in SIM_STALLS else e["measure"]
            ours = [self.results.get("fig14", name, policy, e["group"])
                    for name in (e["measure"], by_rule)]
            other = self.results.of(BESIDE).get("fig14", by_rule, policy, e["group"])
            rows.append([f"{e['measure']} of {policy.replace('/', ' over ')}",
                         *("" if v is None else f"{100 * (v - 1):+.1f} %"
                           for v in (*ours, other, e["value"]))])
        return ["The same cycles as the paper's simulator counts them ([`sim_stalls`](results.md#reasons)):",
                table(("what", "our reasons", "the simulator's", f"on {BESIDE}", "paper"), rows),
                *self.on_both(lambda r: [self.shares(r, SIM_STALLS)])]

    def fig15(self):
        policies = ("spatial", "smk-pw", "smk-pw2")
        groups = ("2 kernels", "3 kernels", "4 kernels")
        return self.section("fig15", "three-kernels --experiment four-kernels", [
            self.beside("fig15"),
            *self.on_both(lambda r: [self.matrix(r, "fig15", policies, groups)])],
            lambda r: self.panels(r, "fig15", policies, groups))

    def fig16(self):
        policies = ("spatial", "spatial-ideal", "smk-pw", "smk-pw-ideal")
        stp, preempted = (("stp", "STP"),), (("preemptions", "TBs preempted, all runs"),)

        def matrices(results):
            counts = self.matrix(results, "fig16", policies, MIXES, preempted)
            return [self.matrix(results, "fig16", policies, MIXES, stp), counts.replace(".000", "")]
        return self.section("fig16", "preemption-overhead", [
            self.beside("fig16"), *self.on_both(matrices)],
            lambda r: self.panels(r, "fig16", policies, MIXES, measures=stp))

    def tables(self):
        return [self.section("table2", "pairs", [self.beside("table2")]),
                self.section("table3", "pairs", [self.beside("table3")])]

    def own(self):
        """What the paper does not vary."""
        parts = []
        for name, policies in (("epoch-length", ("smk-pw",)), ("latency", ("smk", "smk-pw"))):
            counts = self.results.groups(name, "stp")
            parts.append(self.section(
                name, name, [self.matrix(self.results, name, policies, counts)],
                lambda r, n=name, p=policies, c=counts: self.panels(r, n, p, c)))
        return [*parts, self.sources()]

    def sources(self):
        """What smk-pw gains over the others where sources disagree about the machine."""
        rows = []
        for source in SOURCES:
            gains = [self.results.get(f"source:{source}", measure, f"smk-pw/{over}", "C+M")
                     for measure in ("stp", "fairness") for over in ("spatial", "smk-p")]
            rows.append([SOURCE_NAMES[source],
                         *("" if g is None else f"{100 * (g - 1):+.1f} %" for g in gains)])
        return self.section("sources", "seeds --experiment source-shared-memory", [
            table(("`smk-pw`, C+M", "STP over `spatial`", "STP over `smk-p`",
                   "fairness over `spatial`", "fairness over `smk-p`"), rows)])

    def reduced_set(self):
        if self.reduced is None:
            return ""
        fragment = fragments.Fragment(self.folder / "reduced.md", self.results, self.problems)
        policies = ("spatial", "smk", "smk-p", "smk-pw")
        rows = [[f"{title}, {pair}", *(number(self.reduced.get("reduced", m, p, pair))
                                       for p in policies)]
                for m, title in MEASURES for pair in self.reduced.groups("reduced", "stp")]
        return f"## {fragment.title}\n\n{fragment.shows}\n\n" + table(("", *policies), rows)

    def head(self):
        r = self.results
        summary = fragments.Fragment(self.folder / "summary.md", r, self.problems)
        made = (f"Made from a sweep of {r.text('sweep', 'runs')} runs "
                f"({r.text('sweep', 'failed')} failed), pairs of {int(r.text('sweep', 'cycles')):,} "
                f"cycles, {r.text('sweep', 'day')}: model version {r.text('sweep', 'model')}, "
                f"program `{r.text('sweep', 'version')}`, {float(r.text('sweep', 'machine_hours')):g} "
                f"processor-hours on {r.text('sweep', 'hosts')} machine, "
                f"{float(r.text('sweep', 'elapsed_hours')):g} hours from the first result to the "
                "last.")
        return "\n\n".join([f"# {summary.title}", summary.shows, made, summary.why])

    def markdown(self):
        parts = ["<!-- Generated by scripts/reproduction; the words are in docs/reproduction/. -->",
                 self.head(), self.fig5(), self.fig9(), self.fig10(), self.fig11(), self.fig12(),
                 self.fig13(), self.fig14(), self.fig15(), self.fig16(), *self.tables(),
                 *self.own(), self.reduced_set()]
        return "\n\n".join(part for part in parts if part).strip() + "\n"
