# SPDX-License-Identifier: Apache-2.0
"""Whether ABC can show that a mutant's outputs never differ from its block's."""

import json
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Of processor time: on a machine with much to do nothing is given up earlier.
TOOL_SECONDS = 45
PROOF_SECONDS = 60
APPLY = """
read_rtlil {base}
write_json {gold}
{mutant}
write_json {gate}
"""
# Both get the same inputs; after a reset their outputs are never different.
MITER = """
read_json {gold}
rename {top} gold
read_json {gate}
rename {top} gate
setundef -zero -init
miter -equiv -flatten gold gate both
read_verilog -sv -formal {here}/equivalent.sv
hierarchy -top equivalent
proc
flatten
memory_map
async2sync
opt
setundef -undriven -anyseq
opt
techmap
dffunmap
abc -g AND -fast
opt_clean
write_aiger -I -B -zinit {model}
"""


def printed(command, seconds=TOOL_SECONDS):
    """What a tool prints; not all of it when it takes too much processor time."""
    return subprocess.run(
        ["prlimit", f"--cpu={seconds}", *command], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    ).stdout


def cut(path, top, kinds):
    """Makes what goes into cells of these kinds outputs, and what comes out of them inputs.

    Memories, registers and blocks that always get the same always hold the same: this asks for more than
    equal outputs, and leaves less state to search.
    """
    design = json.loads(path.read_text(encoding="utf-8"))
    module = design["modules"][top]
    design["modules"] = {top: module}
    cells = [name for name, cell in module["cells"].items() if re.match(kinds, cell["type"])]
    for number, name in enumerate(sorted(cells)):
        cell = module["cells"].pop(name)
        for port, bits in cell["connections"].items():
            other = {"input": "output", "output": "input"}[cell["port_directions"][port]]
            if bits:
                new = f"cut{number}_{port}"
                module["ports"][new] = {"direction": other, "bits": bits}
                module["netnames"][new] = {"hide_name": 0, "bits": bits, "attributes": {}}
    path.write_text(json.dumps(design), encoding="utf-8")


def proved(base, top, mutant, kinds):
    """Whether ABC shows it when these cells are cut out of both."""
    with tempfile.TemporaryDirectory() as scratch:
        script, gold, gate, model = (
            pathlib.Path(scratch, name) for name in ("script.ys", "gold.json", "gate.json", "miter.aig")
        )
        names = {"base": base, "top": top, "mutant": mutant, "here": HERE, "gold": gold, "gate": gate,
                 "model": model}
        script.write_text(APPLY.format(**names), encoding="utf-8")
        printed(["yosys", "-q", "-s", str(script)])
        cut(gold, top, kinds)
        cut(gate, top, kinds)
        script.write_text(MITER.format(**names), encoding="utf-8")
        printed(["yosys", "-q", "-s", str(script)])
        prove = f"read_aiger {model}; fold; strash; scorr; pdr"
        answer = printed(["yosys-abc", "-q", prove], PROOF_SECONDS)
    return any(text in answer for text in ("Property proved", "was UNSAT", "are equivalent"))


def equivalent(base, top, mutant):
    """First what a single cycle shows: little is left to compare, however large the block."""
    return any(proved(base, top, mutant, kinds) for kinds in (r"\$mem|smk_|\$\w*dff", r"\$mem|smk_"))
