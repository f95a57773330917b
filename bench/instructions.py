# SPDX-License-Identifier: Apache-2.0
"""Host instructions of smk_bench: counted, recorded by compiler, and compared with what is recorded.

Unlike a time, a count does not depend on load, and hardly on the machine: two counts of one program by valgrind
differ by some thousand instructions, in reading the environment. Another compiler, or other options, make other
code: figures are by what `smk_bench --built-by` says.
"""

import csv
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bin/smk_bench"
FIGURES = ROOT / "bench/instructions.csv"
COLUMNS = ("built_by", "benchmark", "cycles", "host_per_warp")
LIMIT = 3.0  # % that a count may differ from what is recorded


class Failure(Exception):
    """A count that could not be made, with the reason."""


def run_program(name, main):
    """Ends a script with what main() says; what cannot be measured is one line and exit code 2."""
    try:
        sys.exit(main())
    except (Failure, OSError) as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        sys.exit(2)


def failed(command, said):
    """One line: the last that the command said."""
    lines = said.strip().splitlines()
    return lines[-1] if lines else f"{command[0]}: failed and said nothing"


def counter():
    """perf where the machine lets it, valgrind where not, None where neither is there."""
    if shutil.which("perf"):
        said = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False).stdout
        if re.search(r"^\d", said, re.MULTILINE):
            return "perf"
    return "valgrind" if shutil.which("valgrind") else None


def count(command, tool, environment=None):
    """Host instructions of a command, which must end well."""
    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name) / "log"
        if tool == "perf":
            before = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", log]
            line = r"^(\d+)"
        else:
            before = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={name}/out",
                      f"--log-file={log}"]
            line = r"I *refs: *([\d,]+)"
        done = subprocess.run([*before, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, **(environment or {})}, check=False)
        found = re.search(line, log.read_text(encoding="utf-8"), re.MULTILINE) if log.is_file() else None
        if done.returncode != 0:
            raise Failure(failed(command, done.stdout))
        if not found:
            raise Failure(f"{command[0]}: counted nothing")
        return int(found[1].replace(",", ""))


def seconds(command):
    """Processor time of a command, which must end well and says nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(failed(command, done.stderr))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def run(bench, name, cycles, tool=None):
    """What a run of a benchmark says of itself, and with a tool its host instructions, as `host`."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        command = [bench, f"--benchmark_filter=^((Gpu|Wide|Kernel)Cycles/|Transactions/)?{name}$", "--benchmark_min_time=0",
                   f"--benchmark_out={result}", "--benchmark_out_format=json"]
        length = {"SMK_BENCH_CYCLES": str(cycles)}
        if tool:
            host = count(command, tool, length)
        else:
            host = None
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **length},
                                  text=True, check=False)
            if done.returncode != 0:
                raise Failure(f"{name}: {bench} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
        text = result.read_text(encoding="utf-8") if result.is_file() else ""
    runs = json.loads(text)["benchmarks"] if text.strip() else []
    if not runs:
        raise Failure(f"{name}: no such benchmark")
    if runs[0].get("error_occurred"):
        raise Failure(f"{name}: {runs[0]['error_message']}")
    return {**runs[0], "host": host}


def count_run(bench, name, cycles, tool):
    """Host and warp instructions and SM-cycles of one run of a benchmark."""
    made = run(bench, name, cycles, tool)
    return made["host"], round(made["run_instructions"]), round(made["run_sm_cycles"])


def count_cycles(bench, name, cycles, tool):
    """The same of the second half of a run of twice as many cycles: without the start of the program."""
    short = count_run(bench, name, cycles, tool)
    return tuple(long - one for one, long in zip(short, count_run(bench, name, 2 * cycles, tool)))


def built_by(bench):
    return subprocess.run([bench, "--built-by"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def read(path):
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: row["built_by"]))


def record(path, bench, names, cycles):
    """New figures of this compiler instead of those that are there."""
    made = built_by(bench)
    rows = []
    for name in names:
        host, warp, _ = count_cycles(bench, name, cycles, "valgrind")
        rows.append({"built_by": made, "benchmark": name, "cycles": cycles, "host_per_warp": f"{host / warp:.1f}"})
    write(path, [row for row in read(path) if row["built_by"] != made] + rows)
    return rows


def reason_to_skip(path, bench):
    """Why nothing can be compared here, or None."""
    if not shutil.which("valgrind"):
        return "no valgrind; scripts/setup installs it"
    made, known = built_by(bench), sorted({row["built_by"] for row in read(path)})
    if made not in known:
        return f"no figures of {made}, only of: {'; '.join(known)}"
    return None


def compare(path, bench):
    """(benchmark, recorded, counted, change in %) of all figures of this compiler."""
    made = built_by(bench)
    for row in read(path):
        if row["built_by"] != made:
            continue
        host, warp, _ = count_cycles(bench, row["benchmark"], int(row["cycles"]), "valgrind")
        recorded, counted = float(row["host_per_warp"]), host / warp
        yield row["benchmark"], recorded, counted, 100 * (counted / recorded - 1)
