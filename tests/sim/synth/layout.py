# SPDX-License-Identifier: Apache-2.0
"""synth.layout: scripts/layout refuses what it cannot do in one line; its readers find what is in the tools' files.

usage: layout.py
Needs no layout tool. The readers get a layout of three cells, written down as the tools write theirs, with results
worked out by hand; then files with a fault, each of which they must refuse. The tables of docs/silicon.md are those
that the figures of docs/measured make, and every figure there is of a layout that keeps rules and netlist.
"""

import contextlib
import copy
import io
import json
import pathlib
import runpy
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "synth/layout"))
import extracted  # noqa: E402
import flow  # noqa: E402
import silicon_page  # noqa: E402

LEF = """MACRO FILL
  CLASS  CORE ;
  SIZE 0.800 BY 10.000 ;
END FILL
MACRO INVX1
  SIZE 1.600 BY 10.000 ;
END INVX1
"""
# Two inverters and a fill cell in a row of 4 um; in_i drives the first, n1 the second.
DEF = """UNITS DISTANCE MICRONS 100 ;
DIEAREA ( -320 -300 ) ( 720 1300 ) ;
COMPONENTS 3 ;
- INVX1_1 INVX1 + PLACED ( 0 50 ) FS ;
- FILL_0_0_0 FILL + PLACED ( 160 50 ) FS ;
- INVX1_2 INVX1 + PLACED ( 240 50 ) FS ;
END COMPONENTS
NETS 2 ;
- in_i
  ( PIN in_i )
  ( INVX1_1 A )
+ ROUTED metal1 ( -320 900 ) M2_M1
  NEW metal2 ( -320 900 ) ( * 700 ) M2_M1
  NEW metal1 ( -320 700 ) ( 80 * ) ;
- n1
  ( INVX1_1 Y )
  ( INVX1_2 A )
  ( PIN out_o )
+ ROUTED metal1 ( 80 400 ) ( 280 * ) ;
END NETS
SPECIALNETS 2 ;
- n1
+ ROUTED metal1 40 ( 280 400 ) ( * 425 ) ;
- vdd
+ FIXED metal6 200 ( 0 0 ) ( * 1000 ) ;
END SPECIALNETS
"""
UM = {"in_i": (2.0 + 4.0, 2), "n1": (2.0 + 0.25, 0)}
RC = """in_i 1 PIN/in_i 1 ( 2.0 0.0004 INVX1_1/A )
n1 1 INVX1_1/Y 2 ( 1.0 0.0003 ( 0.5 0.0001 INVX1_2/A ) , ( 0.25 0.0002 PIN/out_o ) )
"""
LOST = " , ( 0.25 0.0002 PIN/out_o )"
SPICE = "C0 in_i n1 0.20fF\nC1 n1 gnd 0.50fF\nC2 in_i INVX1_1/w_n10_1# 0.10fF\nX1 in_i n1 INVX1\n"
FARADS = 2 * 0.20 + 0.50 + 0.10
SMALL = "error 30 -58 34 -54 Metal2 area < 20 (Mosis #+++)\nerror 0 0 3 9 Metal1 width < 3\ndrc = 2\n"
LVS = """Circuit contains 3 nets.
Circuit 1 contains 2 devices, Circuit 2 contains 2 devices.
Circuit 1 contains 3 nets,    Circuit 2 contains 3 nets.
"""
EQUAL = LVS + "Netlists match uniquely.\nResult: Circuits match uniquely.\n"
DIFFERENT = LVS + "Netlists do not match.\n"
# Arguments of scripts/layout, and a word of what it answers.
REFUSED = [
    ([], "expected BLOCK"), (["--page", "sm_assign"], "expected BLOCK"), (["--mhz", "fast", "x"], "1 to 5000"),
    (["--layers", "7", "x"], "1 to 6"), (["--timeout", "0", "x"], "1 to 86400"), (["--what"], "--what"),
    (["profile_counters"], "not installed"),
]


def refused(arguments):
    """What scripts/layout answers without any tool on its PATH."""
    with tempfile.TemporaryDirectory() as empty:
        return subprocess.run([sys.executable, "-B", str(ROOT / "scripts/layout"), *arguments], env={"PATH": empty},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def answers():
    for arguments, word in REFUSED:
        done = refused(arguments)
        if done.returncode != 2 or word not in done.stderr or done.stderr.count("\n") != 1 or done.stdout:
            yield f"scripts/layout {' '.join(arguments)}: status {done.returncode}: {done.stderr or done.stdout}"
    with tempfile.TemporaryDirectory() as folder:
        release = pathlib.Path(folder, "os-release")
        release.write_text('ID=debian\nVERSION_ID="13"\n', encoding="utf-8")
        if flow.system(release) != "debian 13":
            yield f"system: {flow.system(release)}"
    if "qrouter" not in flow.missing_tools(lambda tool: None if tool == "qrouter" else tool):
        yield "missing_tools: qrouter is not missed"


class Crowded:
    """A layout whose places are there, and where qrouter leaves nets over."""

    def __init__(self, top, netlist, folder, mhz, seconds, layers):
        (folder / "log").mkdir(parents=True)
        (folder / "log/route.log").write_text(Crowded.last_words, encoding="utf-8")
        self.folder = folder

    def file(self, kind, ending):
        return self.folder / kind / ending

    def place(self):
        pass

    def script(self, step, name):
        pass

    text, route = flow.Layout.text, flow.Layout.route


def answer_to_a_router(last_words):
    """What scripts/layout answers when the router ends with these words: status and stderr."""
    Crowded.last_words = last_words
    kept = flow.Layout, flow.missing_tools, sys.argv
    flow.Layout, flow.missing_tools = Crowded, lambda which: []
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as scratch:
        smk = pathlib.Path(scratch, "smk")
        own = json.dumps({"blocks": [{"block": "sm_assign", "own": {"cells": 9, "flip_flops": 1, "sram_bits": 0, "um2": 9}}]})
        smk.write_text(f"#!/bin/sh\nwhile [ \"$1\" != --json ]; do shift; done\necho '{own}' >\"$2\"\n", encoding="utf-8")
        smk.chmod(0o755)
        sys.argv = ["layout", "--smk", str(smk), "sm_assign"]
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(ROOT / "scripts/layout"), run_name="__main__")
        except SystemExit as end:
            return end.code, said.getvalue()
        except AttributeError as error:  # it has gone on to what Crowded has not
            return None, str(error)
        finally:
            flow.Layout, flow.missing_tools, sys.argv = kept
    return None, ""


def unroutable():
    found = answer_to_a_router("Progress\nFinal: Failed net routes: 3\n")
    if found != (2, "layout: sm_assign: 3 nets could not be routed\n"):
        yield f"a block that does not route: {found}"
    if answer_to_a_router("Final: No failed routes!\n")[0] is not None:
        yield "a block that routes is refused"


def readers(layout, rc):
    """What the readers get wrong of the layout of three cells, or of what is given instead."""
    place = extracted.placement(layout, extracted.cells_of_lef(LEF))
    if (place["cells"], place["core_um2"], place["cells_um2"], place["utilisation"]) != (2, 40.0, 32.0, 0.8):
        yield f"placement: {place}"
    wires = extracted.wires(layout)
    if {name: (round(um, 6), vias) for name, (um, vias) in wires.items()} != UM:
        yield f"wires: {wires}"
    nets = extracted.trees(rc, layout)
    if [(net.name, net.sinks, round(net.farad(), 6)) for net in nets] != [("in_i", 1, 0.4), ("n1", 2, 0.6)]:
        yield f"rc: {[(net.name, net.sinks, net.farad()) for net in nets]}"
    yield from spef_is_whole(extracted.spef("top", nets, 2.0), 2 * (0.4 + 0.6))


def lumped():
    """A net of which qrouter has lost a sink: 0.4 fF for the other's 6 um, and so 0.15 for its 2.25."""
    net = extracted.trees(RC.replace(LOST, ""), DEF)[1]
    if net.whole or round(net.farad(), 6) != 0.15 or net.pins() != ["INVX1_2/A", "PIN/out_o"]:
        yield f"lumped: {net.farad()} fF, {net.pins()}"


def spef_is_whole(text, farads):
    """Capacitances of the nets add up, and those of their nodes to the nets'."""
    nets = sum(float(line.split()[2]) for line in text.splitlines() if line.startswith("*D_NET"))
    inside, nodes = False, 0.0
    for line in text.splitlines():
        inside = line == "*CAP" or (inside and not line.startswith("*"))
        nodes += float(line.split()[2]) if inside and line != "*CAP" else 0.0
    if abs(nets - farads) > 1e-6 or abs(nodes - farads) > 1e-6:
        yield f"spef: nets have {nets} fF, nodes {nodes}, expected {farads}"
    for line in ("*P in_i I", "*I INVX1_1:Y O", "*I INVX1_2:A I", "*P out_o O"):
        if line not in text.splitlines():
            yield f"spef: no line {line}"


def reports():
    if round(extracted.magic_farads(SPICE), 6) != round(FARADS, 6):
        yield f"magic: {extracted.magic_farads(SPICE)} fF"
    if not extracted.lvs_result(EQUAL)["equal"] or extracted.lvs_result(DIFFERENT)["equal"]:
        yield "netgen: equal and different are not told apart"
    if extracted.drc_count("x\ndrc = 12\n") != 12 or extracted.unrouted("Final: Failed net routes: 3\n") != 3:
        yield "counts of magic and qrouter"
    if extracted.unrouted("Final: Failed net routes: 9\nFinal: No failed routes!\n") != 0:
        yield "qrouter: not the last word"
    if extracted.small_metal(SMALL) != [("metal2", 30, -58, 34, -54)]:
        yield f"small metal: {extracted.small_metal(SMALL)}"
    if extracted.slack_ns("   -0.0816   slack (VIOLATED)\n") != -0.0816 or extracted.slack_ns("No paths.") is not None:
        yield "slack"


FAULTS = {
    "a cell that the library has not": lambda: list(readers(DEF.replace("INVX1 + P", "INVX9 + P", 1), RC)),
    "a cell without a place": lambda: list(readers(DEF.replace("PLACED", "UNPLACED", 1), RC)),
    "a shorter wire": lambda: list(readers(DEF.replace("( 280 * )", "( 180 * )"), RC)),
    "no nets": lambda: list(readers(DEF.replace("END NETS", ""), RC)),
    "an open bracket": lambda: list(readers(DEF, RC.replace("PIN/out_o ) )", "PIN/out_o"))),
    "another sink": lambda: list(readers(DEF, RC.replace("INVX1_2/A", "INVX1_2/A , X/A"))),
    "a sink that no file has": lambda: list(readers(DEF.replace("  ( PIN out_o )\n", ""), RC.replace(LOST, ""))),
    "another capacitance": lambda: list(readers(DEF, RC.replace("0.0001", "0.0002"))),
    "no count of errors": lambda: extracted.drc_count("drc = many"),
    "no result of the router": lambda: extracted.unrouted("Progress"),
    "no counts of nets": lambda: extracted.lvs_result("Circuits match uniquely"),
}


def faults():
    for name, call in FAULTS.items():
        try:
            found = call()
        except ValueError:
            continue
        if not found:
            yield f"not noticed: {name}"


def page(text, made):
    same = silicon_page.filled(text, made) == text
    return [] if same else ["docs/silicon.md: not the tables of scripts/layout --page"]


def measured(layouts):
    for name, block in layouts.items():
        if block["drc"] or not block["lvs"]["equal"] or block["lvs"]["devices"] != [block["cells"]] * 2:
            yield f"{name}: rules or netlist are not kept, and the page does not say so"
        if block["drc_with_fault"] <= block["drc"] or not block["lvs_notices_fault"]:
            yield f"{name}: its checks have not noticed a fault"
        if not (ROOT / f"docs/images/layout_{name}.png").exists():
            yield f"{name}: no picture"
        if not block["timing"]["none"]["fmax_mhz"] > block["timing"]["extracted"]["fmax_mhz"] > 0:
            yield f"{name}: wires make it faster"


def repository():
    text = (ROOT / "docs/silicon.md").read_text(encoding="utf-8")
    layouts = silicon_page.read(ROOT, "layout.json")
    yield from page(text, silicon_page.tables(ROOT))
    yield from measured(layouts)
    if len(layouts) < 6:
        yield f"docs/measured/layout.json: {len(layouts)} blocks, expected 6"
    worse = copy.deepcopy(layouts)
    first = next(iter(worse.values()))
    first["drc"], first["utilisation"] = 2, 0.5
    made = silicon_page.tables(ROOT)
    made["layout"] = (made["layout"][0], silicon_page.layout_table(worse))
    if not page(text, made) or not list(measured(worse)):
        yield "another layout.json is not noticed"


def main():
    wrong = [*answers(), *unroutable(), *readers(DEF, RC), *lumped(), *reports(), *faults(), *repository()]
    print("\n".join(wrong) or f"{len(REFUSED)} refusals, {len(FAULTS)} faults, all as they should be")
    return 1 if wrong else 0


sys.exit(main())
