# SPDX-License-Identifier: Apache-2.0
"""Makes C++ of a module of the RTL in which every instance is a lane of a word, with Yosys's netlist of it.

usage: make_lanes.py --yosys YOSYS --rtl RTL --config FOLDER --module FILE.sv --class NAME --out PATH [FUNCTION...]

Writes PATH.h and PATH.cc, PATH.json (the netlist), and PATH.d (the files it is made of, for Make). FUNCTION is
NAME=outputs+edge, or one of both, and /INPUT=0,INPUT=1,... when these are fixed: see cpp.py. Without one, they are those
that --control compiled calls. docs/lanes.md has the rest.
"""

import argparse
import pathlib
import re
import sys

import cpp
import yosys
from netlist import Netlist, Unsupported

HERE = pathlib.Path(__file__).resolve().parent
# What sim/cosim/lanes/lane_group.h calls. No pulses, and what the tables say is as before; greedy then oldest; quotas that are
# not in force, and were not in the cycle before.
GRANTS = "grant_valid_o+grant_warp_o+grant_kernel_o+reload_o+some_left_o"
QUIET = "leave_i=0,start_valid_i=0,load_i=0,tick_i=0,stop_i=held,quota_i=held,gated_i=held,ungated_i=held,epoch_end_i=held"
GREEDY = f"{QUIET},policy_i=0"
UNGATED = GREEDY.replace("gated_i=held,ungated_i=held", "gated_i=0,ungated_i=1,taken_q=0")
FUNCTIONS = {"smk_quota_scheduler": [f"Cycle={GRANTS}+edge", f"Quiet={GRANTS}+edge/{QUIET},policy_i=held",
                                     f"Greedy={GRANTS}+edge/{GREEDY}", f"Ungated={GRANTS}+edge/{UNGATED}", "Left=left_o"],
             "smk_sm_profile": ["Edge=edge", "Registers=outputs"]}
# A word has the schedulers of 16 SMs. Counters have more room than they need.
SMS_OF_A_WORD = {"smk_quota_scheduler": 16}


def files_of(top, rtl):
    """The package, `top` and the modules of `rtl` that it needs."""
    package = rtl / "common/smk_pkg.sv"
    seen, queue, files = {"smk_pkg", top.stem}, [top], [package]
    while queue:
        files.append(queue.pop())
        text = re.sub(r"//[^\n]*", "", files[-1].read_text(encoding="utf-8"))
        for name in sorted(set(re.findall(r"\bsmk_[a-z0-9_]+", text)) - seen):
            seen.add(name)
            queue += rtl.glob(f"*/*/{name}.sv")
    return files


def words_of(module, config):
    """Of a net: two where one does not hold the block of all SMs."""
    text = (config / "smk_config.svh").read_text(encoding="utf-8")
    sms = int(re.search(r"\bNumSms\b[^=]*= *(\d+)", text)[1])
    return 2 if sms > SMS_OF_A_WORD.get(module, sms) else 1


def synthesize(args, files):
    """The netlist as Yosys writes it."""
    environment = {
        "SMK_BLOCK": args.module.stem,
        "SMK_FILES": " ".join(map(str, files)),
        "SMK_INCLUDE": f"{args.rtl / 'common'} {args.config}",
    }
    return yosys.run(args.yosys, "lanes.tcl", args.out.with_suffix(".json"), environment)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("--yosys", required=True)
    for option in ("--rtl", "--config", "--module", "--out"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    parser.add_argument("--class", dest="name", required=True)
    parser.add_argument("functions", nargs="*", type=cpp.Function.parse)
    args = parser.parse_args()
    args.functions = args.functions or list(map(cpp.Function.parse, FUNCTIONS[args.module.stem]))
    files = files_of(args.module, args.rtl)
    try:
        netlist = Netlist(synthesize(args, files), args.module.stem)
        passes = cpp.passes(netlist, args.functions, args.yosys)
    except Unsupported as error:
        sys.exit(f"make_lanes.py: {args.module.stem}: {error}")
    what = f"{args.module.stem} in configuration {args.config.name}"
    words = words_of(args.module.stem, args.config)
    args.out.with_suffix(".h").write_text(cpp.header(netlist, args.name, what, passes, words), encoding="utf-8")
    include = f"{args.out.name}.h"
    args.out.with_suffix(".cc").write_text(cpp.source(netlist, args.name, include, passes, words), encoding="utf-8")
    depends = [*files, args.rtl / "common/smk_assert.svh", args.config / "smk_config.svh", *sorted(HERE.glob("*.*")),
               HERE.parent / "yosys/netlist.tcl"]
    names = " \\\n  ".join(str(path).replace(" ", "\\ ") for path in depends)
    args.out.with_suffix(".d").write_text(f"{args.out.with_suffix('.h')}: {names}\n", encoding="utf-8")


main()
