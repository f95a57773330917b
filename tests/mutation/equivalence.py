# SPDX-License-Identifier: Apache-2.0
"""Whether ABC can show that a mutant's outputs never differ from its block's."""

import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOL_SECONDS = 120
PROOF_SECONDS = 40
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


def printed(command):
    """What a tool prints; not all of it when it takes too much processor time."""
    return subprocess.run(
        ["prlimit", f"--cpu={TOOL_SECONDS}", *command], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    ).stdout


def cut_memories(path, top):
    """Makes what goes into memories outputs, and what comes out of them inputs.

    Memories that always get the same always hold the same: this asks for more than equal outputs,
    and leaves no state to search but the registers.
    """
    design = json.loads(path.read_text(encoding="utf-8"))
    module = design["modules"][top]
    memories = [name for name, cell in module["cells"].items() if cell["type"].startswith("$mem")]
    for number, name in enumerate(sorted(memories)):
        cell = module["cells"].pop(name)
        for port, bits in cell["connections"].items():
            other = {"input": "output", "output": "input"}[cell["port_directions"][port]]
            if bits:
                cut = f"memory{number}_{port}"
                module["ports"][cut] = {"direction": other, "bits": bits}
                module["netnames"][cut] = {"hide_name": 0, "bits": bits, "attributes": {}}
    path.write_text(json.dumps(design), encoding="utf-8")


def equivalent(base, top, mutant):
    with tempfile.TemporaryDirectory() as scratch:
        script, gold, gate, model = (
            pathlib.Path(scratch, name) for name in ("script.ys", "gold.json", "gate.json", "miter.aig")
        )
        names = {"base": base, "top": top, "mutant": mutant, "here": HERE, "gold": gold, "gate": gate,
                 "model": model}
        script.write_text(APPLY.format(**names), encoding="utf-8")
        printed(["yosys", "-q", "-s", str(script)])
        cut_memories(gold, top)
        cut_memories(gate, top)
        script.write_text(MITER.format(**names), encoding="utf-8")
        printed(["yosys", "-q", "-s", str(script)])
        answer = printed(
            ["berkeley-abc", "-q", f"read_aiger {model}; fold; strash; scorr; pdr -T {PROOF_SECONDS}"]
        )
    return any(text in answer for text in ("Property proved", "was UNSAT", "are equivalent"))
