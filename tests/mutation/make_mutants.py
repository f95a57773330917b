# SPDX-License-Identifier: Apache-2.0
"""Makes the mutants of a block with Yosys.

usage: make_mutants.py YOSYS RTL BLOCK COUNT SEED OUT

A block inside that has mutants of its own is left out, with all connections to it: mutants.f has its files, for
Verilator.
"""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tb")]
sys.dont_write_bytecode = True
import drawers
from rtl_files import files_of_block, run_script

yosys, rtl, block, count, seed, out = sys.argv[1:]
kept = drawers.measured_inside(block)

# Names of cells hold the path of their file: the same mutants wherever the project lies.
os.chdir(rtl)


def run():
    settings = {"SMK_KEPT": " ".join(kept), "SMK_MUTANTS": count, "SMK_SEED": seed, "SMK_OUT": out}
    run_script(yosys, HERE / "mutants.tcl", block, pathlib.Path(), settings)


def is_constant(mutant, cells):
    """Whether the bit that a mutant changes, or depends on, is a constant."""
    option = dict(zip(mutant[1::2], mutant[2::2]))
    bits = cells[option["-cell"]]["connections"][option["-port"]]
    chosen = [option["-portbit"], option.get("-ctrlbit", option["-portbit"])]
    return any(isinstance(bits[int(bit)], str) for bit in chosen)


mutants = pathlib.Path(out, "mutants.txt")
mutants.unlink(missing_ok=True)
run()
with open(pathlib.Path(out, "base.json"), encoding="utf-8") as file:
    cells = json.load(file)["modules"][f"smk_{block}"]["cells"]
lines = pathlib.Path(out, "all.txt").read_text(encoding="utf-8").strip().split("\n")
lines = [line for line in lines if not is_constant(line.split(), cells)]
mutants.write_text("\n".join(lines[: int(count)]) + "\n", encoding="utf-8")
run()
files = dict.fromkeys(file for part in kept for file in files_of_block(part, pathlib.Path(rtl)))
folders = [f"-I{rtl}/common", f"-I{rtl}/config/gtx980", f"{rtl}/lint.vlt"] if kept else []
pathlib.Path(out, "mutants.f").write_text("\n".join([*folders, *map(str, files), ""]), encoding="utf-8")
