# SPDX-License-Identifier: Apache-2.0
"""Copies rtl/ with the faults of tb/*/block.toml that say what finds them, one of which is chosen when a simulation starts.

seed.py RTL OUT: the copy goes to OUT, and OUT/bugs.inc has one line per bug for the test.
"""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tb"))
from drawers import faults

# The bug that is chosen, read once. 4 SMs, so that some are shared while others are profiled.
PACKAGE = """
package smk_seeded;
  import "DPI-C" function int smk_seeded_bug();
  int bug = smk_seeded_bug();
endpackage
"""
MODES = {"leftover": "kLeftover", "ondemand": "kOnDemand", "partitioned": "kPartitioned"}
SMALL = "parameter int unsigned NumSms            /*verilator public_flat_rd*/ = 2;"


def replace_once(text, old, new, where):
    if text.count(old) != 1:
        sys.exit(f"seed.py: {where}: '{old}' is there {text.count(old)} times, not once")
    return text.replace(old, new)


def main():
    rtl, out = map(pathlib.Path, sys.argv[1:])
    bugs = [fault for fault in faults().values() if "finds" in fault]
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(rtl, out, ignore=shutil.ignore_patterns("*.md", "CMakeLists.txt"))
    texts = {path: path.read_text() for path in out.rglob("*.sv")}
    rows = []
    for number, bug in enumerate(bugs, start=1):
        before, rest = bug["at"].split("@<")
        right, after = rest.split(">@")
        choice = f"((smk_seeded::bug == {number}) ? ({bug['wrong']}) : ({right}))"
        (path,) = out.rglob(bug["file"])
        texts[path] = replace_once(
            texts[path], before + right + after, before + choice + after, bug["name"]
        )
        mode = MODES[bug.get("mode", "partitioned")]
        rows.append(f'{{{number}, "{bug["name"]}", "{bug["finds"]}", DispatchMode::{mode}}},')
    package = out / "common/smk_pkg.sv"
    texts[package] = replace_once(texts[package], SMALL, SMALL.replace("= 2;", "= 4;"), "SMs")
    texts[package] += PACKAGE
    for path, text in texts.items():
        path.write_text(text)
    (out / "bugs.inc").write_text("\n".join(rows) + "\n")


main()
