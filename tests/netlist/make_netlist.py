# SPDX-License-Identifier: Apache-2.0
"""Synthesizes one block into a netlist for its lockstep tests, with Yosys.

usage: make_netlist.py YOSYS RTL BLOCK DEFINES LIBERTY OUT

DEFINES and LIBERTY may be empty; without LIBERTY the netlist has Yosys's own gates. Writes OUT (the
netlist), OUT.txt (what it is made of) and OUT.d (the files it is made of, for Make). With LIBERTY,
OUT.cells.v gets the library's own models of its cells, from the .v beside it.
"""

import os
import pathlib
import re
import subprocess
import sys

# Verilator knows no user-defined primitives: the two of osu018 that we need, as modules.
PRIMITIVES = """
module udp_dff (output reg out, input in, input clk, input clr, input set, input NOTIFIER);
  always @(posedge clk or posedge clr or posedge set)
    if (set) out <= 1'b1;
    else if (clr) out <= 1'b0;
    else out <= in;
endmodule
module udp_mux2 (output out, input in0, input in1, input sel);
  assign out = sel ? in1 : in0;
endmodule
"""


def needed(module, sources, seen):
    """Files of `module` and of all it contains."""
    if module in seen or module not in sources or module == "smk_pkg":
        return seen
    seen.append(module)
    text = re.sub(r"//[^\n]*", "", sources[module].read_text(encoding="utf-8"))
    for name in re.findall(r"\bsmk_\w+", text):
        needed(name, sources, seen)
    return seen


def models(liberty):
    """The cells of a library in Verilog, without latches, times and primitives."""
    text = pathlib.Path(liberty).with_suffix(".v").read_text(encoding="utf-8")
    text = re.sub(r"\bprimitive\b.*?\bendprimitive\b", "", text, flags=re.DOTALL)
    text = re.sub(r"\bspecify\b.*?\bendspecify\b", "", text, flags=re.DOTALL)
    text = re.sub(r"\b(udp_\w+) \(", r"\1 u_udp (", text)
    cells = re.findall(r"\bmodule\b.*?\bendmodule\b", text, flags=re.DOTALL)
    return "\n".join(cell for cell in cells if not re.search(r"\budp_(tlat|rslat)\b", cell))


def main():
    yosys, rtl, block, defines, liberty, out = sys.argv[1:]
    rtl = pathlib.Path(rtl)
    sources = {path.stem: path for path in rtl.glob("*/smk_*.sv")}
    files = [sources[name] for name in ["smk_pkg", *needed(f"smk_{block}", sources, [])]]
    script = pathlib.Path(__file__).with_name("netlist.tcl")
    environment = os.environ | {
        "SMK_TOP": f"smk_{block}",
        "SMK_INCLUDE": str(rtl / "common"),
        "SMK_FILES": " ".join(map(str, files)),
        "SMK_DEFINES": defines,
        "SMK_LIBERTY": liberty,
        "SMK_OUT": out,
    }
    result = subprocess.run(
        [yosys, "-q", "-c", str(script)], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    if result.returncode != 0:
        print(*result.stdout.splitlines()[-20:], sep="\n")
        sys.exit(f"make_netlist: yosys failed on smk_{block}")
    with open(out, "a", encoding="utf-8") as file:
        file.write("module output_buffer (input A, output Y);\n  assign Y = A;\nendmodule\n")
    if liberty:
        pathlib.Path(f"{out}.cells.v").write_text(models(liberty) + PRIMITIVES, encoding="utf-8")
    depends = [*files, rtl / "common" / "smk_assert.svh", script, pathlib.Path(__file__)]
    text = " \\\n  ".join(str(path).replace(" ", "\\ ") for path in depends)
    pathlib.Path(f"{out}.d").write_text(f"{out}: {text}\n", encoding="utf-8")


main()
