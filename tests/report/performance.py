# SPDX-License-Identifier: Apache-2.0
"""scripts/performance with stand-ins for smk_bench and valgrind: what it counts, that it goes on where it was stopped, and its check.

usage: performance.py SOURCE_DIR
"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile

# A run of x SMs, kernels, TBs or launches for so many cycles: x per cycle in all, and 1,000 host instructions for each.
BENCH = """#!{python}
import json, os, re, sys
if sys.argv[1] == "--built-by":
    print("stand-in")
    sys.exit()
words = dict(word.split("=", 1) for word in sys.argv[1:])
name, x = re.search(r"[?]([A-Za-z_/]+)/(\\d+)[$]$", words["--benchmark_filter"]).groups()
cycles = int(os.environ["SMK_BENCH_CYCLES"])
work = int(x) * (cycles if "Cycles" in name else 1)
with open(words["--benchmark_out"], "w") as file:
    json.dump({{"benchmarks": [{{"run_instructions": 2 * work, "run_sm_cycles": work, "peak_kb": 10240}}]}}, file)
print(1000 * work + 500)
"""
VALGRIND = """#!{python}
import pathlib, subprocess, sys
log = next(word for word in sys.argv if word.startswith("--log-file=")).partition("=")[2]
command = [word for word in sys.argv[1:] if not word.startswith(("--tool", "--cache", "--log"))]
host = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
pathlib.Path(log).write_text(f"==1== I   refs:      {{int(host):,}}\\n")
with open({log!r}, "a") as calls:
    calls.write("call\\n")
"""


def expect(holds, what):
    if not holds:
        sys.exit(f"performance: {what}")


def main():
    script = pathlib.Path(sys.argv[1]) / "scripts/performance"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        docs, log, bench = folder / "docs", folder / "calls", folder / "smk_bench"
        docs.mkdir()
        for path, text in ((bench, BENCH), (folder / "valgrind", VALGRIND)):
            path.write_text(text.format(python=sys.executable, log=str(log)), encoding="utf-8")
            path.chmod(0o755)

        def call(*words):
            done = subprocess.run([sys.executable, "-B", script, *words, "--bench", bench, "--docs", docs], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False,
                                  env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            return done.returncode, done.stdout

        def calls():
            return len(log.read_text(encoding="utf-8").splitlines())

        status, said = call("--measure")
        expect(status == 0, said)
        with open(docs / "performance.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        whole = sum(row[0].startswith("Many") for row in rows)
        made = calls()
        expect(made == 2 * (len(rows) - 1 - whole) + whole, f"{made} calls for {len(rows)} rows")
        expect(call("--measure")[0] == 0 and calls() == made, "what is there was counted again")
        (docs / "performance.csv").write_text("".join(",".join(row) + "\n" for row in rows[:-1]), encoding="utf-8")
        expect(call("--measure")[0] == 0 and calls() == made + 2, "what was missing was not counted")

        expect(call("--measure", "--anew")[0] == 0 and calls() == 2 * made + 2, "not all was counted anew")
        expect(call("--anew")[0] == 2, "--anew alone was taken")

        page = (docs / "performance.md").read_text(encoding="utf-8")
        expect("| 132 | 1,000 | 500 | 2.00 | 1,000 | 500 | 2.00 |" in page, "other figures of 132 SMs")
        expect("| 100 | 1,000 | 1.0 | 10.0 | 1,000 | 1.0 | 10.0 |" in page, "other figures of 100 TBs and launches")
        expect(call("--check") == (0, ""), "its own page is not accepted")
        (docs / "performance.md").write_text(page.replace("| 132 | 1,000 |", "| 132 | 1,001 |"), encoding="utf-8")
        status, said = call("--check")
        expect(status == 1 and "performance.md" in said, "another page is not noticed")


if __name__ == "__main__":
    main()
