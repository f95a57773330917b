# SPDX-License-Identifier: Apache-2.0
"""Elaboration of every block fails on a configuration that is not supported.

unsupported.py VERILATOR RTL: the largest and the smallest numbers are taken by Verilator, and each that is
beyond them is refused with its reason, by Verilator and Yosys. Exit status 77 without Yosys.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

verilator = sys.argv[1]
rtl = pathlib.Path(sys.argv[2])
SKIPPED = 77
# The smallest block that has all numbers, and what is looked at in all others is their source.
TOP = "smk_profile_counters"
SMALL = (rtl / "config/small/smk_config.svh").read_text(encoding="utf-8")
# What is changed, and what has to be said; "" when it is supported.
CASES = [
    ({}, ""),
    ({"NumSms": 1}, ""),
    ({"NumSms": 132, "NumKernels": 8}, ""),
    ({"WarpsPerScheduler": 24}, ""),
    ({"NumSchedulers": 1, "WarpsPerScheduler": 32}, ""),
    ({"NumSms": 133}, "NumSms must be 1 to 132"),
    ({"NumKernels": 1}, "NumKernels must be 2 to 8"),
    ({"NumKernels": 9}, "NumKernels must be 2 to 8"),
    ({"NumSchedulers": 3}, "NumSchedulers must be 1, 2 or 4"),
    ({"WarpsPerScheduler": 33}, "WarpsPerScheduler must be 2 to 32"),
    ({"NumSchedulers": 4, "WarpsPerScheduler": 24}, "an SM has at most 64 warps"),
    ({"LimitThreads": 12}, "LimitThreads must be 1 to the number of warp slots"),
    ({"LimitTbs": 33, "PreemptedDepth": 64, "ShareWhole": 1056}, "LimitTbs must be 1 to 32"),
    ({"LimitRegisters": 8192, "ShareWhole": 24576}, "a context has 1 to 65535 lines"),
    ({"PreemptedDepth": 12}, "PreemptedDepth must be a power of two"),
    ({"PreemptedDepth": 2, "LimitTbs": 2}, "PreemptedDepth must be a power of two"),
    ({"ShareWhole": 48, "LimitRegisters": 36}, "ShareWhole must be a common multiple"),
    ({"NumSms": 132, "ShareWhole": 96 * 100000}, "ShareWhole x NumSms must be below 2^30"),
]


def numbers(changes):
    text = SMALL
    for name, value in changes.items():
        text, count = re.subn(rf"( {name} .*=) \d+;", rf"\1 {value};", text)
        assert count == 1, name
    return text


def says(command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def main():
    wrong = []
    for file in sorted(rtl.glob("*/*/smk_*.sv")) + sorted(rtl.glob("top/*.sv")):
        block = file.parent.name == file.stem[4:] or file.parent.name == "top"
        if block and "  `SMK_CHECK_CONFIG\n" not in file.read_text(encoding="utf-8"):
            wrong.append(f"{file}: no SMK_CHECK_CONFIG")
    top = next(rtl.rglob(f"{TOP}.sv"))
    for changes, reason in CASES:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "smk_config.svh").write_text(numbers(changes), encoding="utf-8")
            files = [str(rtl / "common/smk_pkg.sv"), str(top)]
            includes = [f"-I{rtl / 'common'}", f"-I{folder}"]
            tools = {"verilator": [verilator, "--lint-only", *includes, "--top-module", TOP,
                                   str(rtl / "lint.vlt"), *files]}
            if shutil.which("yosys"):
                script = f"read_verilog -sv {' '.join(includes + files)}; hierarchy -top {TOP}"
                tools["yosys"] = ["yosys", "-q", "-p", script]
            for tool, command in tools.items():
                said = says(command)
                if (reason not in said) if reason else said:
                    wrong.append(f"{tool}: {changes}: expected '{reason or 'nothing'}', got '{said[:600]}'")
    print("\n".join(wrong) or f"{len(CASES)} configurations, as expected")
    if wrong:
        sys.exit(1)
    sys.exit(0 if shutil.which("yosys") else SKIPPED)


main()
