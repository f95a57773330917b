# SPDX-License-Identifier: Apache-2.0
"""synth.power: scripts/power refuses what it cannot do in one line; waves, netlists and energies are as by hand.

usage: power.py
A register with two inverters is recorded in waves that are written here, played into its netlist, and its energy
worked out by hand from numbers of smk45.lib; so are clock and leakage of profile_counters. Then come waves and netlists
with a fault, each of which has to be refused. Without Icarus Verilog nothing is played.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / folder) for folder in ("synth/power", "synth/cells", "synth/layout")]
import energy  # noqa: E402
import liberty_tables  # noqa: E402
import replay  # noqa: E402
import silicon_page  # noqa: E402
import waves  # noqa: E402

LIBERTY, MODELS = ROOT / "synth/cells/smk45.lib", ROOT / "synth/cells/smk45.v"
# Of smk45.lib: V; fF of INV_X1 and of a flip-flop's clock and data; fJ of a change of DFFR_X1 at Q, D and CK; nW.
VOLT, INV_FF, CK_FF = 1.1, 1.70, 0.97
Q_FJ, D_FJ, CK_FJ = 9.03, 2.74, 4.72
DFFR_NW, INV_NW = 58.85, 14.25
WIRE = 0.5
NETLIST = """module top(clk_i, rst_ni, d_i, q_o);
  input clk_i;
  input rst_ni;
  input [1:0] d_i;
  output q_o;
  INV_X1 _1_ (
    .A(n),
    .Y(m)
  );
  INV_X1 _2_ (
    .A(m),
    .Y(q_o)
  );
  DFFR_X1 \\q[0]_reg  (
    .CK(clk_i),
    .D(d_i[0]),
    .Q(n),
    .RN(rst_ni)
  );
endmodule
"""
VCD = """$scope module top $end
$scope module u_top $end
$var wire 1 ! clk_i $end
$var wire 1 " rst_ni $end
$scope module d_i $end
$var wire 1 # bit[0] $end
$var wire 1 $ bit[1] $end
$upscope $end
$var wire 1 % q_o $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
1"
1#
0$
0%
#1
1!
1%
0#
#2
0!
1$
#3
1!
0%
#4
0!
#5
1!
1#
"""
PORTS = {"rst_ni": 1, "d_i": 2, "q_o": 1}
# What the ports had before each of the three rising edges.
ROWS = [{"rst_ni": 1, "d_i": 1, "q_o": 0}, {"rst_ni": 1, "d_i": 2, "q_o": 1}, {"rst_ni": 1, "d_i": 2, "q_o": 0}]
REFUSED = [(["--cycles", "3"], "1000 to 1000000"), (["--blocks", "quota"], "no block 'quota'"), (["--what"], "--what"),
           ([], "not installed")]


def answers():
    for arguments, word in REFUSED:
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run([sys.executable, "-B", str(ROOT / "scripts/power"), *arguments], env={"PATH": empty},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 2 or word not in done.stderr or done.stderr.count("\n") != 1:
            yield f"scripts/power {' '.join(arguments)}: status {done.returncode}: {done.stderr or done.stdout}"


def rows_of(text, ports):
    lines = iter(text.splitlines(keepends=True))
    recording = waves.Recording(waves.Header(lines), "top/u_top", ports)
    waves.record(lines, [recording])
    return recording.rows


def recorded(text=VCD):
    rows = rows_of(text, PORTS)
    return [] if rows == ROWS else [f"recorded: {rows}"]


def by_hand(changes, library):
    """fJ of the register's netlist: q, its inverters and d change so often."""
    q, d = changes
    internal = library.internal("INV_X1", "Y", 0.0, INV_FF + WIRE) + library.internal("INV_X1", "Y", 0.0, 0.0)
    return q * (2 * (INV_FF + WIRE) * VOLT ** 2 / 2 + Q_FJ + internal) + d * D_FJ


def energies(library):
    netlist = energy.Netlist(NETLIST)
    changed = {("q[0]_reg", "Q"): 3, ("_1_", "Y"): 3, ("_2_", "Y"): 3, ("q[0]_reg", "D"): 4}
    found = energy.energy(netlist, library, changed, {}, WIRE)
    # An inverter in a hurry: 0.88 fJ, whatever it drives.
    if library.internal("INV_X1", "Y", 0.0, 0.0) > 0.885 or library.internal("INV_X1", "Y", 40.0, 0.43) < 1.2:
        yield f"internal energy: {library.internal('INV_X1', 'Y', 0.0, 0.0)}"
    expected = {"data_fj": by_hand((3, 4), library), "clock_fj": 2 * CK_FJ + (CK_FF + WIRE) * VOLT ** 2,
                "leak_nw": DFFR_NW + 2 * INV_NW}
    if any(abs(found[key] - value) > 1e-6 * value for key, value in expected.items()):
        yield f"energy: {found}, by hand {expected}"
    once = energy.toggle_once(netlist, library, WIRE)
    if abs(once - (2 * INV_FF + 3 * WIRE) * VOLT ** 2 / 2) > 1e-9:
        yield f"every net once: {once}"


def played(rows):
    """q changes twice, at the first edge and at the second; d once."""
    if shutil.which("iverilog") is None:
        print("power.py: without Icarus Verilog nothing is played")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "netlist.v").write_text(NETLIST, encoding="utf-8")
        changed = replay.play("top", folder / "netlist.v", MODELS, energy.Netlist(NETLIST), rows, folder)
        counts = {pin: changed[pin] for pin in (("q[0]_reg", "Q"), ("_1_", "Y"), ("q[0]_reg", "D"))}
        if list(counts.values()) != [2, 2, 1]:
            yield f"played: {counts}"


def otherwise(rows):
    """The same rows with another answer in the last."""
    return [*rows[:-1], rows[-1] | {"q_o": 1}]


FAULTS = {
    "an output that the netlist does not give": lambda: list(played(otherwise(ROWS))),
    "a port that is not recorded": lambda: recorded(VCD.replace("q_o", "p_o")),
    "a port with fewer bits": lambda: recorded(VCD.replace("$var wire 1 $ bit[1] $end\n", "")),
    "waves without an end of the header": lambda: recorded(VCD.replace("$enddefinitions", "$comment")),
    "another value before an edge": lambda: recorded(VCD.replace("#2\n0!\n1$", "#2\n0!\n0$")),
    "a netlist without cells": lambda: energy.Netlist("module top(clk_i);\n  input clk_i;\nendmodule\n"),
}


def faults():
    for name, call in FAULTS.items():
        if "netlist does not" in name and shutil.which("iverilog") is None:
            continue
        try:
            found = call()
        except (ValueError, replay.Failure):
            continue
        if not found:
            yield f"not noticed: {name}"


def hand_calculation(power):
    """Clock and leakage of profile_counters: 64 flip-flops, each two edges inside, its clock pin and wire."""
    block = power["blocks"]["profile_counters"]
    clock = 64 * (2 * CK_FJ + (CK_FF + power["wire_ff"]) * VOLT ** 2)
    if abs(block["clock_fj"] - clock) > 0.01:
        yield f"profile_counters: a clock of {block['clock_fj']} fJ, by hand {clock}"


def agrees_with_opensta(power):
    """When every net changes once, half of C V^2 is OpenSTA's switching power; leakage is a sum."""
    for name, block in power["blocks"].items():
        for key in ("toggle_fj", "leak_nw"):
            if abs(block[key] / block["opensta"][key] - 1) > 0.001:
                yield f"{name}: {key} {block[key]}, OpenSTA {block['opensta'][key]}"


def repository(library):
    power = silicon_page.read(ROOT, "power.json")
    text = (ROOT / "docs/silicon.md").read_text(encoding="utf-8")
    if silicon_page.filled(text, silicon_page.tables(ROOT)) != text:
        yield "docs/silicon.md: not the tables of scripts/power --page"
    yield from hand_calculation(power)
    yield from agrees_with_opensta(power)
    if len(power["policies"]) < 3:
        yield f"docs/measured/power.json: {len(power['policies'])} policies, expected 3"
    power["blocks"]["profile_counters"]["clock_fj"] *= 1.01
    power["blocks"]["profile_counters"]["leak_nw"] *= 1.01
    if not list(hand_calculation(power)) or not list(agrees_with_opensta(power)):
        yield "another power.json is not noticed"


def main():
    library = energy.Library(liberty_tables.read(LIBERTY.read_text(encoding="utf-8")), liberty_tables.Table)
    wrong = [*answers(), *recorded(), *energies(library), *played(ROWS), *faults(), *repository(library)]
    print("\n".join(wrong) or f"{len(REFUSED)} refusals, {len(FAULTS)} faults, all as they should be")
    return 1 if wrong else 0


sys.exit(main())
