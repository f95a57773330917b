# SPDX-License-Identifier: Apache-2.0
"""scripts/speed_of: a line for each program on each run, with the instructions of the run. A run that fails ends it,
and scripts/rtl_speed, with one line and exit code 2.

usage: speed_of.py SOURCE_DIR SMK
"""

import re
import subprocess
import sys


def main():
    source, smk = sys.argv[1:]

    def said(run):
        done = subprocess.run([sys.executable, "-B", f"{source}/scripts/speed_of", smk, smk, "--runs", run, "--cycles", "4000",
                               "--rounds", "1", "--instructions", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        return done.returncode, done.stdout.splitlines()[2:]

    status, lines = said("sgemm")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if status != 0 or [row[:2] for row in rows] != [["`sgemm`", "1"], ["`sgemm`", "2"]]:
        sys.exit(f"speed_of: {status}, {lines}")
    for row in rows:
        cycles, warp = (float(cell.replace(",", "")) for cell in row[2:4])
        # sgemm issues some 28 of 64 instructions per cycle once it is there.
        if not re.fullmatch(r"\d+\.\d\d", row[4]) or not 5 < warp / cycles < 32:
            sys.exit(f"speed_of: {row}")
    for command in (["speed_of", smk, "--runs", "no_such_kernel"], ["speed_of", "no_such_smk", "--runs", "sgemm"],
                    ["rtl_speed", "no_such_kernel", "--smk", smk], ["rtl_speed", "no_such_kernel", "--smk", smk, "--evaluations"]):
        done = subprocess.run([sys.executable, "-B", f"{source}/scripts/{command[0]}", *command[1:]], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 2 or not re.fullmatch(rf"{command[0]}: .*no_such_(kernel|smk).*\n", done.stderr):
            sys.exit(f"speed_of: {command} ended with {done.returncode}: {done.stderr}")


main()
