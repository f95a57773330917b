# SPDX-License-Identifier: Apache-2.0
"""Makes the mutants of a block with Yosys.

usage: make_mutants.py YOSYS RTL BLOCK COUNT SEED OUT
"""

import json
import os
import pathlib
import re
import subprocess
import sys

yosys, rtl, block, count, seed, out = sys.argv[1:]
rtl = pathlib.Path(rtl)
sources = {path.stem: path for path in rtl.glob("*/smk_*.sv")}


def needed(module, seen):
    """Files of `module` and of all it contains."""
    if module in seen or module not in sources or module == "smk_pkg":
        return seen
    seen.append(module)
    text = re.sub(r"//[^\n]*", "", sources[module].read_text(encoding="utf-8"))
    for name in re.findall(r"\bsmk_\w+", text):
        needed(name, seen)
    return seen


files = [sources[name] for name in ["smk_pkg", *needed(f"smk_{block}", [])]]
environment = os.environ | {
    "SMK_TOP": f"smk_{block}",
    "SMK_INCLUDE": str(rtl / "common"),
    "SMK_FILES": " ".join(map(str, files)),
    "SMK_MUTANTS": count,
    "SMK_SEED": seed,
    "SMK_OUT": out,
}
script = pathlib.Path(__file__).with_name("mutants.tcl")


def run():
    result = subprocess.run(
        [yosys, "-q", "-c", str(script)], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    if result.returncode != 0:
        print(*result.stdout.splitlines()[-20:], sep="\n")
        sys.exit(f"make_mutants: yosys failed on smk_{block}")


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
