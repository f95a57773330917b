# SPDX-License-Identifier: Apache-2.0
"""synth.timing: what synth/sta/block.tcl has OpenSTA say of two flip-flops, by hand from the library's tables.

usage: timing.py
Hold, recovery and removal of the reset, a slow corner, and loads and slews above their limits; each limit is first
kept and then not. A block with parameters is timed through, and without one of its parts nothing is. Paths that
are too slow are repaired, and no others. Exit status 77 without OpenSTA.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "synth/cells/smk45.lib"
PERIOD, SKIPPED = 1000, 77
# From one register through an inverter to the other, both with a reset.
NETLIST = """module smk_two (clk_i, rst_ni, in_i, out_o);
  input clk_i; input rst_ni; input in_i; output out_o;
  wire q; wire n;
  DFFR_X1 a_reg (.CK(clk_i), .D(in_i), .Q(q), .RN(rst_ni));
  INV_X1 inv (.A(q), .Y(n));
  DFFR_X1 b_reg (.CK(clk_i), .D(n), .Q(out_o), .RN(rst_ni));
endmodule
"""
# The inverter as a block with a parameter, as Yosys writes it, with two more inside.
INVERTER = "  INV_X1 inv (.A(q), .Y(n));\n"
PART = "  smk_part #(\n    .Width(32'd16)\n  ) inv (\n    .a_i(q),\n    .y_o(n)\n  );\n"
PART_MODULE = """module smk_part (a_i, y_o);
  input a_i; output y_o;
  wire m; wire o;
  INV_X1 one (.A(a_i), .Y(m));
  INV_X1 two (.A(m), .Y(o));
  INV_X1 three (.A(o), .Y(y_o));
endmodule
"""
REPORTS = ("timing", "registers", "hold", "recovery", "removal", "slew", "load")
EPSILON = 0.02


def run_timer(scratch, library, netlist, **settings):
    """What OpenSTA prints; its reports are in the folder."""
    (scratch / "two.v").write_text(netlist, encoding="utf-8")
    for name in REPORTS:
        (scratch / f"{name}.txt").unlink(missing_ok=True)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SMK_TOP": "smk_two", "SMK_NETLISTS": str(scratch / "two.v"),
                   "SMK_REPAIR_TCL": str(ROOT / "synth/sta/repair.tcl"), "SMK_LIBERTY": str(library),
                   "SMK_PERIOD": str(PERIOD), "SMK_OUT": str(scratch), **settings}
    done = subprocess.run(["sta", "-exit", "-no_splash", str(ROOT / "synth/sta/block.tcl")], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


def timed(scratch, library, netlist=NETLIST, **settings):
    """{report: its text}."""
    printed = run_timer(scratch, library, netlist, **settings)
    if re.search("error|warning", printed, re.IGNORECASE):
        sys.exit(f"timing: {printed}")
    return {name: (scratch / f"{name}.txt").read_text(encoding="utf-8") for name in REPORTS}


def number(text, word):
    """The ps that a line ends with, or begins with, beside a word."""
    found = re.search(rf"(-?[\d.]+)\s+(?:-?[\d.]+\s+)?{word}", text)
    return float(found[1]) if found else None


def slack(text):
    return number(text, "slack")


def expect(wrong, what, seen, expected):
    if seen is None or abs(seen - expected) > EPSILON:
        wrong.append(f"{what}: {seen}, expected {expected:.4f}")


def sums(reports, uncertainty=0.0):
    """What is wrong in how slacks are made of the library's times."""
    wrong = []
    arrival = 0.1 * PERIOD
    expect(wrong, "recovery", slack(reports["recovery"]),
           PERIOD - uncertainty + number(reports["recovery"], "library recovery time") - arrival)
    expect(wrong, "removal", slack(reports["removal"]),
           arrival - uncertainty - number(reports["removal"], "library removal time"))
    expect(wrong, "hold", slack(reports["hold"]), number(reports["hold"], "data arrival time") - uncertainty
           - number(reports["hold"], "library hold time"))
    expect(wrong, "setup", slack(reports["registers"]), PERIOD - uncertainty
           + number(reports["registers"], "library setup time") - number(reports["registers"], "data arrival time"))
    return wrong


def corner(typical, slow, derate):
    wrong = []
    for report, word in (("recovery", "library recovery time"), ("removal", "library removal time"),
                         ("hold", "library hold time"), ("registers", "library setup time"),
                         ("registers", "data arrival time")):
        expect(wrong, f"{report} in a corner", number(slow[report], word), derate * number(typical[report], word))
    return wrong


def parts(scratch, typical):
    """A block inside is on the path; one that is missing or cannot be read leaves no path at all."""
    wrong = []
    inside = timed(scratch, LIBRARY, NETLIST.replace(INVERTER, PART) + PART_MODULE)
    if slack(inside["registers"]) >= slack(typical["registers"]) or "inv/three" not in inside["registers"]:
        wrong.append("a block with a parameter is not timed through")
    filled = timed(scratch, LIBRARY, NETLIST.replace(INVERTER, INVERTER + "FILL FILL_0_1 ( );\n"))
    expect(wrong, "beside a filler", slack(filled["registers"]), slack(typical["registers"]))
    for what, netlist in (("missing", NETLIST.replace(INVERTER, PART)), ("unreadable", NETLIST + "module smk_part (")):
        run_timer(scratch, LIBRARY, netlist)
        if (scratch / "registers.txt").exists() and slack((scratch / "registers.txt").read_text(encoding="utf-8")):
            wrong.append(f"timed with a part that is {what}")
    return wrong


def repaired(scratch):
    """A gate with many to drive gets the size that it needs, and a late signal the fast input; nothing else changes."""
    wrong = []
    changes = scratch / "repaired.txt"

    def faster(netlist, period, pattern, by_hand):
        """One repair is this one, and what it makes faster is what the same does by hand."""
        before = timed(scratch, LIBRARY, netlist, SMK_PERIOD=period)
        after = timed(scratch, LIBRARY, netlist, SMK_PERIOD=period, SMK_REPAIR="1")
        change = changes.read_text(encoding="utf-8")
        found = re.fullmatch(pattern, change)
        if not found or slack(before["registers"]) >= 0 or slack(after["registers"]) <= slack(before["registers"]):
            wrong.append(f"repairs with '{change}'")
            return
        same = timed(scratch, LIBRARY, by_hand(*found.groups()), SMK_PERIOD=period)
        expect(wrong, f"the slack behind '{change}'", slack(after["registers"]), slack(same["registers"]))

    loads = "".join(f"  wire w{i};\n  INV_X1 load{i} (.A(n), .Y(w{i}));\n" for i in range(30))
    loaded = NETLIST.replace(INVERTER, INVERTER + loads)
    faster(loaded, "250", r"inv INV_X1 (INV_X\d+)\n", lambda size: loaded.replace("INV_X1 inv ", f"{size} inv "))
    or4 = "  OR4_X1 \\or[4] (.A(in_i), .B(in_i), .C(in_i), .D(q), .Y(n));\n"
    late = NETLIST.replace(INVERTER, or4)
    faster(late, "180", r"or\[4\] D ([ABC])\n", lambda port: late.replace(".D(q)", ".D(in_i)").replace(
        f".{port}(in_i)", f".{port}(q)"))
    timed(scratch, LIBRARY, loaded, SMK_PERIOD="250", SMK_REPAIR="100")
    types = [[cell.split("_X")[0] for cell in line.split()[1:]] for line in changes.read_text(encoding="utf-8").splitlines()]
    if not 0 < len(types) < 100 or any(first != last for first, last in types):
        wrong.append(f"repaired: {types}")
    timed(scratch, LIBRARY, loaded, SMK_REPAIR="100")
    if changes.read_text(encoding="utf-8"):
        wrong.append("what is fast enough is repaired")
    single = re.sub(r"\b(INV|DFFR)_X(?:2|4|8|16)\b", r"\1_OF\g<0>", LIBRARY.read_text(encoding="utf-8"))
    (scratch / "single.lib").write_text(single, encoding="utf-8")
    timed(scratch, scratch / "single.lib", loaded, SMK_PERIOD="250", SMK_REPAIR="100")
    if changes.read_text(encoding="utf-8"):
        wrong.append("a gate got a cell of another type")
    return wrong


def above(reports):
    return [name for name in ("slew", "load") if "(VIOLATED)" in reports[name]]


def main():
    if shutil.which("sta") is None:
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        typical = timed(scratch, LIBRARY)
        wrong = sums(typical) + sums(timed(scratch, LIBRARY, SMK_UNCERTAINTY="50"), 50.0)
        slow = timed(scratch, LIBRARY, SMK_DERATE="1.31")
        wrong += sums(slow) + corner(typical, slow, 1.31)
        wrong += parts(scratch, typical) + repaired(scratch)
        if above(typical):
            wrong.append(f"limits: {above(typical)} of a netlist that keeps them")
        text = LIBRARY.read_text(encoding="utf-8")
        for name, limit in (("load", r"(max_capacitance : )[\d.]+"), ("slew", r"(default_max_transition : )[\d.]+")):
            (scratch / "low.lib").write_text(re.sub(limit, r"\g<1>0.1", text), encoding="utf-8")
            if above(timed(scratch, scratch / "low.lib")) != [name]:
                wrong.append(f"limits: no {name} is above 0.1")
        # The checks themselves.
        if not sums(slow | {"removal": re.sub(r"[\d.]+(\s+slack)", r"9\1", slow["removal"])}):
            wrong.append("another slack is not noticed")
        if not corner(typical, typical, 1.31):
            wrong.append("a corner that is the typical one is not noticed")
    print("\n".join(wrong) or "setup, hold, reset, a corner, two limits, blocks inside and repairs: as worked out")
    return int(bool(wrong))


sys.exit(main())
