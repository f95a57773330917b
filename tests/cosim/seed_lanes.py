# SPDX-License-Identifier: Apache-2.0
"""Copies rtl/ with the faults of the blocks that run as lanes; an input of a lane chooses one of its block.

seed_lanes.py RTL OUT: in the copy smk_quota_scheduler, smk_profile_counters and smk_sm_profile around it have an input
fault_i: 0, or the number of a fault. OUT/lane_faults.inc has one line per fault for the test.
"""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tb"))
from drawers import cut_file, faults, seed

BLOCKS = ("quota_scheduler", "profile_counters")
PORT = "  input  logic [3:0] fault_i,\n"


def choices(bugs):
    """What takes the place of a cut point: the fault that is chosen, or what stands there."""
    def chosen(right):
        return "".join(f"(fault_i == 4'd{number}) ? ({wrong}) : " for number, wrong in bugs) + f"({right})"

    return chosen


def with_port(text):
    """The module with the input, which it hands on to what is inside."""
    head, found, rest = text.partition(" (\n  input ")
    if not found:
        sys.exit("seed_lanes.py: a module without ports")
    return f"{head} (\n{PORT}  input {rest}".replace("    .clk_i,\n", "    .clk_i,\n    .fault_i,\n")


def main():
    rtl, out = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(rtl, out, ignore=shutil.ignore_patterns("*.md", "CMakeLists.txt"))
    rows = []
    for block in BLOCKS:
        cuts = {}
        # Yosys reads no cast to a type of a package.
        bugs = [fault for fault in faults().values() if fault["block"] == block and "_t'(" not in fault["wrong"]]
        for number, bug in enumerate(bugs, start=1):
            cuts.setdefault(bug["cut"], []).append((number, bug["wrong"]))
            rows.append(f'{{"{bug["name"]}", "{block}", {number}}},')
        (path,) = {cut_file(bug, out) for bug in bugs}
        text = seed(path.read_text(encoding="utf-8"), {cut: choices(of_cut) for cut, of_cut in cuts.items()})
        path.write_text(with_port(text), encoding="utf-8")
    wiring = out / "sm/sm_control/smk_sm_profile.sv"
    wiring.write_text(with_port(wiring.read_text(encoding="utf-8")), encoding="utf-8")
    (out / "lane_faults.inc").write_text("".join(row + "\n" for row in rows), encoding="utf-8")


main()
