# SPDX-License-Identifier: Apache-2.0
"""Makes the mutants of a block with Yosys.

usage: make_mutants.py YOSYS RTL BLOCK COUNT SEED OUT
"""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from rtl_files import run_script

yosys, rtl, block, count, seed, out = sys.argv[1:]


# Names of cells hold the path of their file: the same mutants wherever the project lies.
os.chdir(rtl)


def run():
    settings = {"SMK_MUTANTS": count, "SMK_SEED": seed, "SMK_OUT": out}
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
