# SPDX-License-Identifier: Apache-2.0
"""scripts/count_instructions: what it records it finds again, a difference of 4 % fails, and where nothing can be compared it
says why.

usage: instructions.py SOURCE_DIR SMK_BENCH
"""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


class Tool:
    def __init__(self, source, bench, figures):
        self.command = [sys.executable, "-B", source / "scripts/count_instructions", "--bench", bench, "--figures", figures]
        self.figures = figures

    def __call__(self, *words, path=None):
        done = subprocess.run([*self.command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, "PATH": path or os.environ["PATH"]})
        return done.returncode, done.stdout

    def rows(self):
        with open(self.figures, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def change(self, **values):
        """Writes the only row again with these values."""
        row = {**self.rows()[0], **values}
        self.figures.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n", encoding="utf-8")


def expect(answer, status, *words):
    if answer[0] != status or not all(word in answer[1] for word in words):
        sys.exit(f"instructions: expected {status} and {words}, not {answer}")


def expect_change(answer, percent, direction):
    """A failure of lbm by so much. In so short a run two counts differ by a twentieth of a per cent."""
    found = re.search(r"lbm: ([\d.]+) % (more|fewer) host instructions", answer[1])
    if answer[0] != 1 or not found or found[2] != direction or abs(float(found[1]) - percent) > 0.3:
        sys.exit(f"instructions: expected lbm: {percent} % {direction}, not {answer}")


def main():
    source, bench = pathlib.Path(sys.argv[1]), sys.argv[2]
    made = subprocess.run([bench, "--built-by"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if not shutil.which("valgrind") or "-fsanitize" in made:
        print("instructions: skipped: no valgrind, or a program with sanitizers, which does not run in it")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(source, bench, pathlib.Path(folder) / "figures.csv")
        expect(tool("--check"), SKIPPED, "no figures of")
        expect(tool("--record", "--cycles", "500", "lbm"), 0, "lbm")
        recorded = float(tool.rows()[0]["host_per_warp"])

        # What is 4 % more or fewer than recorded is a failure, 2 % more is not.
        tool.change(host_per_warp=str(recorded / 1.04))
        expect_change(tool("--check"), 4, "more")
        tool.change(host_per_warp=str(recorded / 0.96))
        expect_change(tool("--check"), 4, "fewer")
        tool.change(host_per_warp=str(recorded / 1.02))
        expect(tool("--check"), 0, "lbm")

        # Figures of another compiler, or of other options, are nothing to compare with, and stay.
        tool.change(built_by="GNU 1.2.3 x86_64 -O3")
        expect(tool("--check"), SKIPPED, f"no figures of {made}, only of: GNU 1.2.3 x86_64 -O3")
        expect(tool("--record", "--cycles", "500", "lbm"), 0)
        if [row["built_by"] for row in tool.rows()] != sorted([made, "GNU 1.2.3 x86_64 -O3"]):
            sys.exit(f"instructions: recorded {tool.rows()}")
        expect(tool("--check", path=folder), SKIPPED, "no valgrind")
        expect(tool("--record", "--cycles", "500", "nobody"), 2, "nobody: no such benchmark")
        expect(tool("--check", "lbm"), 2, "--check counts what is recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
