# SPDX-License-Identifier: Apache-2.0
"""Synthesizes one block into a netlist for its lockstep tests, with Yosys.

usage: make_netlist.py YOSYS RTL BLOCK CONFIG LIBERTY OUT

CONFIG is a folder of RTL/config. LIBERTY may be empty: then the netlist has Yosys's own gates. Writes OUT (the
netlist), OUT.txt (what it is made of) and OUT.d (the files it is made of, for Make). With LIBERTY,
OUT.cells.v gets the library's own models of its cells, from the .v beside it.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import rtl_files

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


def models(liberty):
    """The cells of a library in Verilog, without latches, times and primitives."""
    text = pathlib.Path(liberty).with_suffix(".v").read_text(encoding="utf-8")
    text = re.sub(r"\bprimitive\b.*?\bendprimitive\b", "", text, flags=re.DOTALL)
    text = re.sub(r"\bspecify\b.*?\bendspecify\b", "", text, flags=re.DOTALL)
    text = re.sub(r"\b(udp_\w+) \(", r"\1 u_udp (", text)
    cells = re.findall(r"\bmodule\b.*?\bendmodule\b", text, flags=re.DOTALL)
    return "\n".join(cell for cell in cells if not re.search(r"\budp_(tlat|rslat)\b", cell))


def main():
    yosys, rtl, block, config, liberty, out = sys.argv[1:]
    rtl = pathlib.Path(rtl)
    script = HERE / "netlist.tcl"
    settings = {"SMK_LIBERTY": liberty, "SMK_OUT": out}
    rtl_files.run_script(yosys, script, block, rtl, settings, config)
    with open(out, "a", encoding="utf-8") as file:
        file.write("module output_buffer (input A, output Y);\n  assign Y = A;\nendmodule\n")
    if liberty:
        pathlib.Path(f"{out}.cells.v").write_text(models(liberty) + PRIMITIVES, encoding="utf-8")
    depends = [
        *rtl_files.files_of_block(block, rtl), rtl / "common" / "smk_assert.svh",
        rtl / "config" / config / "smk_config.svh", script,
        pathlib.Path(__file__), HERE.parent / "rtl_files.py",
    ]
    text = " \\\n  ".join(str(path).replace(" ", "\\ ") for path in depends)
    pathlib.Path(f"{out}.d").write_text(f"{out}: {text}\n", encoding="utf-8")


main()
