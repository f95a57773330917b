# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/silicon.md, made of what is in docs/measured."""
import json
import math

FEATURE_RATIO = 180 / 45
FF_PER_UM = 0.18   # of a wire in NanGate's 45 nm library
LOOSE = 0.70       # of a core is cells, where a router gets room: assumed
PAPERS = (("sample_counters", "714 um2, counters of one SM"),
          ("waterfill_planner", "0.04 mm2, global counters and logic"), ("slicer_profiler", "part of these 0.04 mm2"))
MODELS = (("none", 0.0), ("0.75", 0.75), ("1.5", 1.5), ("2.5", 2.5))


def read(root, name):
    path = root / "docs/measured" / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def layout_table(layouts):
    lines = ["| block | cells | core, um | cells of it | wires, mm | vias | um per sink | Fmax (MHz), no wires "
             "| extracted | 0.18 fF per um | rules | netlist |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"]
    for name, block in layouts.items():
        speeds = [block["timing"][wires]["fmax_mhz"] for wires in ("none", "extracted", "0.18")]
        changes = [f"{speed:,.0f} ({speed / speeds[0] - 1:+.1%})" for speed in speeds[1:]]
        lines.append(
            f"| {name} | {block['cells']:,} | {block['width_um']:.0f} x {block['height_um']:.0f} | "
            f"{block['utilisation']:.1%} | {block['wire_um'] / 1000:,.1f} | {block['vias']:,} | "
            f"{block['um_per_sink']:.1f} | {speeds[0]:,.0f} | {' | '.join(changes)} | {block['drc']} errors | "
            f"{'equal' if block['lvs']['equal'] else 'differs'} |")
    return lines


def farads_table(layouts):
    lines = ["| block | fF of wires by qrouter | by magic | difference | fF per um by qrouter | by magic "
             "| fF per sink of signals by qrouter |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name, block in layouts.items():
        lines.append(f"| {name} | {block['wire_ff']:,.0f} | {block['magic_ff']:,.0f} | "
                     f"{block['magic_ff'] / block['wire_ff'] - 1:+.1%} | {block['wire_ff'] / block['wire_um']:.3f} | "
                     f"{block['magic_ff'] / block['wire_um']:.3f} | "
                     f"{block['ff_per_sink']:.2f} |")
    return lines


def areas(libraries):
    """um2 of every block in the project's own cells."""
    return {block["block"]: block["sides"][0]["um2"] for block in libraries["blocks"]}


def sinks_of_45_nm(block, um2):
    """fF per sink if wires shrink as the area of the cells, and as the names of the processes."""
    return [FF_PER_UM * block["um_per_sink"] / ratio for ratio in (math.sqrt(block["cells_um2"] / um2), FEATURE_RATIO)]


def between(models, ff):
    """Fmax for a load of wires between two that were measured."""
    for (low, at_low), (high, at_high) in zip(MODELS, MODELS[1:]):
        if ff <= at_high:
            part = (ff - at_low) / (at_high - at_low)
            return (1 - part) * models[low]["fmax_mhz"] + part * models[high]["fmax_mhz"]
    return models[MODELS[-1][0]]["fmax_mhz"]


def sinks_table(layouts, libraries, wires):
    own = areas(libraries)
    lines = ["| block | um2, 45 nm | um2, osu018 | ratio of areas | fF per sink in 45 nm "
             "| Fmax (MHz) in 45 nm, no wires | with these | 0.75 fF | 1.5 fF | 2.5 fF |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for name, block in layouts.items():
        low, high = sinks_of_45_nm(block, own[name])
        models = wires["smk45"].get(name)
        speeds = ["", "", "", "", ""]
        if models:
            speeds = [f"{models[model]['fmax_mhz']:,.0f}" for model, _ in MODELS]
            speeds.insert(1, f"{between(models, high):,.0f} to {between(models, low):,.0f}")
        lines.append(f"| {name} | {own[name]:,.0f} | {block['cells_um2']:,.0f} | "
                     f"{block['cells_um2'] / own[name]:.1f} | {low:.2f} to {high:.2f} | {' | '.join(speeds)} |")
    return lines


def growth(layouts, wires):
    """The least and the most that a block's area can become of its cells without wires: rows as full as here and
    gates as they are, or a loose core and gates for the largest load of wires."""
    full = max(block["utilisation"] for block in layouts.values())
    known = [wires["smk45"][name] for name in layouts if name in wires["smk45"]]
    most = max(models["2.5"]["um2"] / models["none"]["um2"] for models in known)
    return 1 / full, most / LOOSE


def papers_table(layouts, libraries, wires):
    own, (low, high) = areas(libraries), growth(layouts, wires)
    lines = ["| block | [Warped-Slicer] Sec. V-I | cells, 45 nm | as a layout in 45 nm | |", "|---|---|--:|--:|---|"]
    for name, paper in PAPERS:
        how = "laid out" if name in layouts else "not laid out"
        lines.append(f"| {name} | {paper} | {own[name]:,.0f} um2 | "
                     f"{own[name] * low:,.0f} to {own[name] * high:,.0f} um2 | {how} |")
    return lines


def microwatts(femtojoules, mhz):
    """Of so much in every cycle."""
    return femtojoules * mhz * 1e-3


def power_table(power):
    names = list(power["policies"])
    lines = [f"| block | instances | leakage, uW each | clock | changes, {' | '.join(names)} |",
             "|---|--:|--:|--:|" + "--:|" * len(names)]
    for block, facts in power["blocks"].items():
        cells = []
        for policy in power["policies"].values():
            found = policy["blocks"].get(block)
            cells.append(f"{microwatts(found['data_fj'] / policy['cycles'], power['mhz']):,.1f}" if found else "")
        lines.append(f"| {block} | {facts['instances']} | {facts['leak_nw'] / 1000:,.1f} | "
                     f"{microwatts(facts['clock_fj'], power['mhz']):,.0f} | {' | '.join(cells)} |")
    return lines


def clocked(policy, facts):
    """The share of cycles in which a block's clock is needed: of all SMs, or of the driver."""
    return sum(policy["sm_clocked"]) / len(policy["sm_clocked"]) if facts["instances"] > 1 else policy["driver_awake"]


def gated_table(power):
    names = list(power["policies"])
    lines = [f"| block | {' | '.join(names)} |", "|---|" + "--:|" * len(names)]
    for block, facts in power["blocks"].items():
        cells = []
        for policy in power["policies"].values():
            found = policy["blocks"][block]
            changes = microwatts(found["data_fj"] / policy["cycles"], power["mhz"]) + facts["leak_nw"] / 1000
            clock = microwatts(facts["clock_fj"], power["mhz"])
            cells.append(f"{changes + clock:,.0f}, {changes + clocked(policy, facts) * clock:,.0f}")
        lines.append(f"| {block} | {' | '.join(cells)} |")
    return lines


def milliwatts(power, policy, gated, only=None):
    """Clock and changes of all instances, and their leakage, when clocks stop or not."""
    dynamic = leakage = 0.0
    for name, found in policy["blocks"].items():
        if only and name not in only:
            continue
        facts = power["blocks"][name]
        share = clocked(policy, facts) if gated else 1
        cycle = found["data_fj"] / policy["cycles"] + share * facts["clock_fj"]
        dynamic += facts["instances"] * microwatts(cycle, power["mhz"]) / 1000
        leakage += facts["instances"] * facts["leak_nw"] / 1e6
    return dynamic, leakage


def gating_table(power):
    lines = ["| policy | cycles with an SM's clock | with the driver's | dynamic power, mW | with clock gating | less "
             "| leakage, mW |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name, policy in power["policies"].items():
        (always, leakage), (gated, _) = (milliwatts(power, policy, gated) for gated in (False, True))
        sms = sum(policy["sm_clocked"]) / len(policy["sm_clocked"])
        lines.append(f"| {name} | {sms:.1%} | {policy['driver_awake']:.1%} | {always:,.0f} | {gated:,.0f} | "
                     f"{1 - gated / always:.0%} | {leakage:.1f} |")
    return lines


EVENTS = (("a grant", ("quota_scheduler",), "quota_scheduler"), ("a preemption", ("preempt_engine",), "preempt_engine"),
          ("a decision", ("tb_dispatch", "tb_stream"), None))


def events_table(power):
    names = list(power["policies"])
    lines = [f"| pJ of changes for | blocks | {' | '.join(names)} |", "|---|---|" + "--:|" * len(names)]
    for event, blocks, counter in EVENTS:
        cells = []
        for policy in power["policies"].values():
            number = policy["blocks"][counter]["events"] if counter else policy["decisions"]
            energy = sum(policy["blocks"][block]["data_fj"] for block in blocks) / 1000
            cells.append(f"{energy / number:,.2f} ({number:,})" if number else "none")
        lines.append(f"| {event} | {', '.join(blocks)} | {' | '.join(cells)} |")
    return lines


SLICER = ("profile_counters", "sample_counters", "slicer_profiler", "waterfill_planner")


def slicer_table(power):
    policy = power["policies"].get("warped-slicer", power["policies"]["smk-pw"])
    (always, leakage), (gated, _) = (milliwatts(power, policy, gated, SLICER) for gated in (False, True))
    return ["| | [Warped-Slicer] Sec. V-I | here, all clocks run | with clock gating |", "|---|--:|--:|--:|",
            f"| dynamic power | 54 mW | {always:.1f} mW | {gated:.1f} mW |",
            f"| leakage | 0.27 mW | {leakage:.2f} mW | {leakage:.2f} mW |",
            f"| of 16 SMs' 37.7 W and 34.6 W | 0.14 %, 0.001 % | {always / 37700:.2%}, {leakage / 34600:.4%} | "
            f"{gated / 37700:.2%}, {leakage / 34600:.4%} |"]


def tables(root):
    layouts, libraries, wires = (read(root, f"{name}.json") for name in ("layout", "libraries", "wires"))
    made = {"layout": layout_table(layouts), "farads": farads_table(layouts),
            "sinks": sinks_table(layouts, libraries, wires), "papers": papers_table(layouts, libraries, wires)}
    made = {name: ("scripts/layout --page", lines) for name, lines in made.items()}
    power = read(root, "power.json")
    if power:
        made |= {name: ("scripts/power --page", table(power)) for name, table in (
            ("power", power_table), ("gated", gated_table), ("gating", gating_table), ("events", events_table), ("slicer", slicer_table))}
    return made


def filled(text, made):
    """The page with these tables between their marks; each must be there."""
    for name, (command, lines) in made.items():
        begin, end = f"<!-- table {name}: {command} -->\n", "<!-- end -->"
        if begin not in text:
            raise ValueError(f"docs/silicon.md: no mark of table {name}")
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + rest[rest.index(end):]
    return text


def write(root):
    page = root / "docs/silicon.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), tables(root)), encoding="utf-8")
