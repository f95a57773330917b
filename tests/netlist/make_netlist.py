# SPDX-License-Identifier: Apache-2.0
"""Synthesizes one block into a netlist for its lockstep tests, with Yosys.

usage: make_netlist.py YOSYS RTL BLOCK CONFIG LIBERTY OUT

CONFIG is a folder of RTL/config. LIBERTY may be empty: then the netlist has Yosys's own gates. Writes OUT (the
netlist), OUT.txt (what it is made of) and OUT.d (the files it is made of, for Make).
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import rtl_files


def main():
    yosys, rtl, block, config, liberty, out = sys.argv[1:]
    rtl = pathlib.Path(rtl)
    script = rtl.parent / "synth/yosys/netlist.tcl"
    settings = {"SMK_LIBERTY": liberty, "SMK_OUT": out}
    rtl_files.run_script(yosys, script, block, rtl, settings, config)
    depends = [
        *rtl_files.files_of_block(block, rtl), rtl / "common" / "smk_assert.svh",
        rtl / "config" / config / "smk_config.svh", script,
        pathlib.Path(__file__), HERE.parent / "rtl_files.py", *filter(None, [liberty]),
    ]
    text = " \\\n  ".join(str(path).replace(" ", "\\ ") for path in depends)
    pathlib.Path(f"{out}.d").write_text(f"{out}: {text}\n", encoding="utf-8")


main()
