# SPDX-License-Identifier: Apache-2.0
"""scripts/replay_error with a stand-in for smk: the calls that it makes, what it makes of them, and what it does not run twice.

usage: replay_error.py SOURCE_DIR
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# On the cycle model a stream takes 1,000 cycles from its last arrival on, and 100 more when all come an odd number later; by
# replay a tenth more than 1,000.
STAND_IN = """#!{python}
import json, pathlib, re, sys
words = sys.argv[1:]
text = pathlib.Path(words[1]).read_text()
arrivals = [int(number) for number in re.findall("arrival = (\\\\d+)", text)]
device = words[words.index("--device") + 1]
with open({log!r}, "a") as log:
    log.write(json.dumps([device, arrivals]) + "\\n")
span = 1100 if device == "replay" else 1000 + 100 * (arrivals[0] % 2)
print(json.dumps({{"cycles": span, "antt": 2, "host": {{"jobs": len(arrivals), "makespan": span, "mean_turnaround": span // 2}}}}))
"""


def expect(holds, what):
    if not holds:
        sys.exit(f"replay_error: {what}")


class Script:
    def __init__(self, source, folder):
        self.script, self.log = source / "scripts/replay_error", folder / "log"
        self.stand_in, self.table = folder / "smk", folder / "table.csv"
        self.stand_in.write_text(STAND_IN.format(python=sys.executable, log=str(self.log)), encoding="utf-8")
        self.stand_in.chmod(0o755)

    def __call__(self, *words):
        """What it prints, and the calls that it made: (device, arrivals)."""
        self.log.write_text("", encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", self.script, *words, "--smk", self.stand_in, "--table", self.table],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
        expect(done.returncode == 0, f"{words}: {done.stdout}")
        return done.stdout, [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def rows(self):
        with open(self.table, encoding="utf-8") as file:
            return list(csv.DictReader(file))


def check_rows(script):
    _, calls = script("--streams", "0:3")
    expect([device for device, _ in calls] == ["cycle", "replay"] * 3, f"not each stream on both devices: {calls}")
    expect([row["makespan_error"] for row in script.rows()] == ["0.100000"] * 3, "an error that is not replay over cycle model")
    _, calls = script("--streams", "0:4")
    expect(len(calls) == 2, "streams with a row are run again")
    _, calls = script("--streams", "0:4", "--again")
    expect([device for device, _ in calls] == ["replay"] * 4, "--again runs more than replay")
    _, calls = script("--streams", "0:10", "--ways", "in-order:even")
    expect([row["stream"] for row in script.rows()][-2:] == ["ci-04", "mi-09"] and len(calls) == 4, "--ways takes other streams")


def check_shift(script):
    printed, calls = script("shift", "--streams", "0:1")
    moved = [[arrival - shift for arrival in arrivals] for shift, (_, arrivals) in zip([0, 1, 2, 3, 5, 8, 13, 100, 1000] * 2, calls)]
    expect(len(calls) == 18 and all(arrivals == moved[0] for arrivals in moved), "not all jobs come as much later")
    # Four of nine shifts are odd.
    cells = re.findall(r"[\d,]+", printed.splitlines()[-1].split("|", 2)[2])
    expect(cells == ["9", "1,000", "1,044", "1,100", "1,100", "1,100", "1,100"], f"makespans of shifts: {cells}")


def check_page(source, script):
    done = subprocess.run([sys.executable, "-B", source / "scripts/replay_error", "page", "--check", "--table", script.table],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    expect(done.returncode == 1, "page --check passes with the rows of another table")


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        script = Script(source, pathlib.Path(folder))
        check_rows(script)
        check_shift(script)
        check_page(source, script)


if __name__ == "__main__":
    main()
