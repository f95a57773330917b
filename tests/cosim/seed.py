# SPDX-License-Identifier: Apache-2.0
"""Copies rtl/ with the faults of tb/*/block.toml that say what finds them; a simulation chooses one.

seed.py RTL OUT [BLOCK]: the copy goes to OUT, and OUT/bugs.inc has one line per bug for the test: of a block whose
faults have the mode "alone", or else all others.
"""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tb"))
from drawers import cut_file, faults, seed

# The bug that is chosen, read once. 4 SMs, so that some are shared while others are profiled.
PACKAGE = """
package smk_seeded;
  import "DPI-C" function int smk_seeded_bug();
  int bug = smk_seeded_bug();
endpackage
"""
MODES = {
    "leftover": "kLeftover",
    "ondemand": "kOnDemand",
    "partitioned": "kPartitioned",
    "slicer": "kSlicer",
    "spatial": "kSpatial",
    "token": "kToken",
}
SMALL = "parameter int unsigned NumSms            /*verilator public_flat_rd*/ = 2;"


def choices(bugs):
    """What takes the place of a cut point: the bug that is chosen, or what stands there."""
    def chosen(right):
        rights = [f"(smk_seeded::bug == {number}) ? ({bug['wrong']}) : " for number, bug in bugs]
        return f"{''.join(rights)}({right})"

    return chosen


def main():
    rtl, out = map(pathlib.Path, sys.argv[1:3])
    block = sys.argv[3] if len(sys.argv) > 3 else None
    seeded = [fault for fault in faults().values() if "finds" in fault]
    alone = [fault for fault in seeded if fault.get("mode") == "alone"]
    bugs = [fault for fault in alone if fault["block"] == block] if block else [f for f in seeded if f not in alone]
    bugs = list(enumerate(bugs, start=1))
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(rtl, out, ignore=shutil.ignore_patterns("*.md", "CMakeLists.txt"))
    files = {}
    for number, bug in bugs:
        cuts = files.setdefault(cut_file(bug, out), {})
        cuts.setdefault(bug["cut"], []).append((number, bug))
    for path, cuts in files.items():
        path.write_text(seed(path.read_text(), {cut: choices(of_cut) for cut, of_cut in cuts.items()}))
    package = out / "common/smk_pkg.sv"
    package.write_text(package.read_text() + PACKAGE)
    config = out / "config/small/smk_config.svh"
    text = config.read_text()
    if text.count(SMALL) != 1:
        sys.exit(f"seed.py: '{SMALL}' is not there once")
    config.write_text(text.replace(SMALL, SMALL.replace("= 2;", "= 4;")))
    rows = [
        f'{{{number}, "{bug["name"]}", "{bug["finds"]}"' +
        ("" if block else f', DispatchMode::{MODES[bug.get("mode", "partitioned")]}') + "},"
        for number, bug in bugs
    ]
    (out / "bugs.inc").write_text("\n".join(rows) + "\n")


main()
