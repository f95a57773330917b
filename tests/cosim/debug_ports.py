# SPDX-License-Identifier: Apache-2.0
"""cosim.debug_ports: DebugPorts = 0 takes the debug ports of smk_top away, what only they need, and nothing else.

debug_ports.py RTL PAGE: Yosys reads smk_top of configuration small with 1 and with 0. With 0 every bit of a port that
PAGE calls a debug port is 0, no other output has another constant bit than with 1, and there are fewer cells. Exit
status 77 without Yosys.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def debug_ports(page):
    """Those of smk_top whose meaning begins so, and those after one that are explained with it."""
    found, before = [], ""
    chip = page.split("## Ports of smk_sm_control")[0]
    for name, meaning in re.findall(r"^\| `(\w+)` \| out \|.*\| ([^|]+) \|$", chip, re.M):
        before = before if meaning == "as above" else meaning
        if before.startswith("Debug"):
            found.append(name)
    return found


def elaborated(rtl, debug):
    """The whole chip as Yosys has it: its output ports as lists of bits, and how many cells it has."""
    files = [path for path in sorted(rtl.glob("common/*.sv")) + sorted(rtl.glob("*/*/*.sv"))
             if path.name != "smk_pkg.sv"]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "top.json")
        subprocess.run(["yosys", "-q", "-p",
                        f"read_verilog -sv -I{rtl}/common -I{rtl}/config/small {rtl}/common/smk_pkg.sv "
                        f"{' '.join(map(str, files))} {rtl}/top/smk_top.sv; "
                        f"hierarchy -check -top smk_top -chparam DebugPorts {debug}; proc; flatten; opt; "
                        f"write_json {out}"], check=True)
        (module,) = json.loads(out.read_text(encoding="utf-8"))["modules"].values()
    outputs = {name: port["bits"] for name, port in module["ports"].items() if port["direction"] == "output"}
    return outputs, len(module["cells"])


def constants(outputs, names):
    return {(name, bit): value for name in names for bit, value in enumerate(outputs[name]) if isinstance(value, str)}


def main():
    if not shutil.which("yosys"):
        sys.exit(SKIPPED)
    rtl = pathlib.Path(sys.argv[1]).resolve()
    debug = debug_ports(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    (whole, cells), (without, fewer) = elaborated(rtl, 1), elaborated(rtl, 0)
    others = sorted(whole.keys() - set(debug))
    wrong = [f"{name} is not 0" for name in debug if set(without[name]) != {"0"}]
    wrong += [f"{name} is 0 with its parameter" for name in debug if set(whole[name]) == {"0"}]
    if constants(whole, others) != constants(without, others):
        wrong.append("an output that is no debug port has other constant bits")
    if not fewer < cells:
        wrong.append(f"{fewer} cells, not fewer than {cells}")
    if len(debug) < 10 or wrong:
        sys.exit("FAIL: " + "; ".join(wrong or ["the page has too few debug ports"]))
    print(f"{len(debug)} debug ports are gone, {len(others)} outputs stay: {cells} cells with them, {fewer} without")


main()
