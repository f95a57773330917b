# SPDX-License-Identifier: Apache-2.0
"""scripts/speed_of: a line for each program on each run, with the instructions of the run; a run that fails ends it.

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
    if said("no_such_kernel")[0] == 0:
        sys.exit("speed_of: a run that cannot be made passed")


main()
