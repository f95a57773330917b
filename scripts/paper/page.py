# SPDX-License-Identifier: Apache-2.0
"""docs/reproduction.md and its charts, from results.csv, the paper's numbers and the fragments."""

from paper import fragments
from paper.charts import Panel, chart

SPEC = "sim/sweeps/smk_paper.toml"
MIXES = ("C+C", "M+M", "C+M", "all")
MEASURES = (("stp", "STP"), ("fairness", "fairness"), ("antt", "ANTT"))
DESIGNS = ("smk", "smk-p", "smk-pw")
ALL = ("leftover", "even", "spatial", *DESIGNS)
STALLS = ("pipeline", "control", "data", "barrier", "quota", "preemption", "empty")
SIM_STALLS = ("sim_pipeline", "sim_control", "sim_data")
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
                rows.append(self.beside_row(e, policy, ours))
        return table(("what", "group", "ours", "paper", "difference", "paper's place"), rows)

    def beside_row(self, e, policy, ours):
        theirs, what = e["value"], f"{e['measure']} of {policy.replace('/', ' over ')}"
        if e["over"]:
            one, two = 100 * (ours - 1), 100 * (theirs - 1)
            cells = f"{one:+.1f} %", f"{two:+.1f} %", f"{one - two:+.1f} points"
        elif isinstance(theirs, int):
            cells = f"{ours:.0f}", str(theirs), f"{ours - theirs:+.0f}"
        else:
            cells = number(ours), f"{theirs:.3g}", f"{ours - theirs:+.3f}"
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

    def values(self, figure, measure, policies, groups):
        return {(p, g): self.results.get(figure, measure, p, g) for p in policies for g in groups}

    def matrix(self, figure, policies, groups, measures=MEASURES):
        rows = [[f"{title}, {group}", *(number(self.results.get(figure, m, p, group))
                                        for p in policies)]
                for m, title in measures for group in groups]
        return table(("", *policies), rows)

    def panels(self, figure, policies, groups, paper=(), measures=MEASURES):
        panels = []
        for measure, title in measures:
            marks = {k: v for k, v in self.marks(paper, measure).items()
                     if k[0] in policies and k[1] in groups}
            panels.append(Panel(title, groups, policies,
                                self.values(figure, measure, policies, groups), marks,
                                base=1 if measure == "stp" else None))
        return panels

    def section(self, name, experiment, tables, panels=None):
        fragment = fragments.Fragment(self.folder / f"{name}.md", self.results, self.problems)
        parts = [f"## {fragment.title}", fragment.shows]
        if experiment:
            parts.append(f"    smk sweep {SPEC} --experiment {experiment}")
        if panels:
            self.charts[f"{name}.svg"] = chart(panels)
            parts.append(f"![{fragment.title}](images/reproduction/{name}.svg)")
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
        panels = []
        for policy in ("smk", "smk-p"):
            values = {(k, s): self.results.get("fig5", k, policy, s)
                      for k in ("cutcp", "stencil") for s in sms}
            panels.append(Panel(f"mean TBs under {policy}", sms, ("cutcp", "stencil"), values))
        return self.section("fig5", "tb-distribution", [self.beside("fig5")], panels)

    def fig9(self):
        counts = self.results.groups("fig9", "l1") or ["1", "2", "3", "4"]
        names = (("l1", "L1 hit rate"), ("l2", "L2 hit rate"), ("fairness", "fairness"))
        panels = [Panel(title, counts, ("smk-pw",), self.values("fig9", m, ("smk-pw",), counts))
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
            self.beside("fig10"), "All of ours:", self.matrix("pairs", ALL, MIXES)],
            self.panels("pairs", DESIGNS, MIXES, {"fig10"}))

    def by_pair(self, name, policies, tables):
        pairs = self.pairs_of("C+M")
        panel = Panel("STP, C+M", pairs, policies, self.values("pair", "stp", policies, pairs),
                      base=1)
        rows = [[p, *(number(self.results.get("pair", "stp", q, p)) for q in policies)]
                for p in pairs]
        return self.section(name, "pairs", [*tables, table(("STP", *policies), rows)], [panel])

    def fig11(self):
        return self.by_pair("fig11", DESIGNS, [])

    def fig12(self):
        return self.section("fig12", "pairs", [self.beside("fig12")],
                            self.panels("pairs", ("spatial", "smk-pw"), MIXES, {"fig10", "fig12"}))

    def fig13(self):
        return self.by_pair("fig13", ("spatial", "smk-pw"), [self.beside("fig13")])

    def fig14(self):
        policies = ("spatial", "smk-pw")
        panel = Panel("share of the schedulers' cycles, C+M", STALLS, policies,
                      {(p, s): self.results.get("fig14", s, p, "C+M")
                       for p in policies for s in STALLS})
        return self.section("fig14", "pairs", [
            self.beside("fig14"), "All of ours, as shares of the schedulers' cycles:",
            self.shares((*STALLS, "stalls")), *self.sim_stalls()], [panel, *self.sim_panel(policies)])

    def shares(self, reasons):
        rows = [[s, *(f"{100 * (self.results.get('fig14', s, p, 'C+M') or 0):.1f} %"
                      for p in ALL)] for s in reasons]
        return table(("", *ALL), rows)

    def has_sim_stalls(self):
        return bool(self.results.groups("fig14", SIM_STALLS[0]))

    def sim_panel(self, policies):
        if not self.has_sim_stalls():
            return []
        return [Panel("the same as the simulator counts them", SIM_STALLS, policies,
                      {(p, s): self.results.get("fig14", s, p, "C+M")
                       for p in policies for s in SIM_STALLS})]

    def sim_stalls(self):
        """Fig. 14 once more, by the rule of the paper's simulator."""
        if not self.has_sim_stalls():
            return [NO_SIM_STALLS]
        rows = []
        for e in self.paper.of("fig14"):
            policy = f"{e['policy']}/{e['over']}"
            sim = f"sim_{e['measure']}"
            names = (e["measure"], sim if sim in SIM_STALLS else e["measure"])
            ours = [self.results.get("fig14", name, policy, e["group"]) for name in names]
            rows.append([f"{e['measure']} of {policy.replace('/', ' over ')}",
                         *("" if v is None else f"{100 * (v - 1):+.1f} %"
                           for v in (*ours, e["value"]))])
        return ["The same cycles as the paper's simulator counts them ([`sim_stalls`](results.md#reasons)):",
                table(("what", "our reasons", "the simulator's", "paper"), rows),
                self.shares(SIM_STALLS)]

    def fig15(self):
        policies = ("spatial", "smk-pw", "smk-pw2")
        groups = ("2 kernels", "3 kernels", "4 kernels")
        return self.section("fig15", "three-kernels --experiment four-kernels", [
            self.beside("fig15"), self.matrix("fig15", policies, groups)],
            self.panels("fig15", policies, groups))

    def fig16(self):
        policies = ("spatial", "spatial-ideal", "smk-pw", "smk-pw-ideal")
        measures = (("stp", "STP"), ("preemptions", "TBs preempted, all runs"))
        return self.section("fig16", "preemption-overhead", [
            self.beside("fig16"), self.matrix("fig16", policies, MIXES, (("stp", "STP"),)),
            self.matrix("fig16", policies, MIXES, (measures[1],)).replace(".000", "")],
            self.panels("fig16", policies, MIXES, measures=measures[:1]))

    def tables(self):
        return [self.section("table2", "pairs", [self.beside("table2")]),
                self.section("table3", "pairs", [self.beside("table3")])]

    def own(self):
        """What the paper does not vary."""
        parts = []
        for name, policies in (("epoch-length", ("smk-pw",)), ("latency", ("smk", "smk-pw"))):
            counts = self.results.groups(name, "stp")
            parts.append(self.section(name, name, [self.matrix(name, policies, counts)],
                                      self.panels(name, policies, counts)))
        return parts

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
                f"({r.text('sweep', 'failed')} failed), {int(r.text('sweep', 'cycles')):,} cycles "
                f"each, {r.text('sweep', 'day')}: model version {r.text('sweep', 'model')}, "
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
