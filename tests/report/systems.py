# SPDX-License-Identifier: Apache-2.0
"""A sweep of streams, and scripts/systems: short streams under four systems, beside smk serve itself.

  python3 systems.py SOURCE SMK
"""

import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

STREAMS = ("ci", "mi", "mix", "all")
SPEC = """
name = "systems"
machines = ["gtx980", "c2050"]
streams = [{streams}]
[[experiment]]
name = "hardware"
schedulers = "in-order"
policies = ["leftover", "smk-p"]
[[experiment]]
name = "kernel-merge"
machines = "gtx980"
schedulers = "kernel-merge"
policies = "leftover"
[experiment.set]
host.merge_barrier = "tb"
[[experiment]]
name = "draws"
machines = "gtx980"
seeds = [2, 3]
schedulers = "in-order"
policies = ["leftover", "smk-p"]
"""


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def expect(holds, what):
    if not holds:
        sys.exit(f"systems: {what}")


STREAM = """
name = "kernelet_{stream}"
launches = 1
[[job]]
workload = "spmv"
tbs = {tbs}
copy_in = "64K"
[[job]]
client = "second"
workload = "blackscholes"
arrival = 2000
tbs = 20
"""


def write_streams(folder):
    """Short streams of the names of the real ones; their specification."""
    for i, stream in enumerate(STREAMS):
        text = STREAM.format(stream=stream, tbs=16 + i)
        (folder / f"kernelet_{stream}.toml").write_text(text, encoding="utf-8")
    spec = folder / "systems.toml"
    spec.write_text(SPEC.format(streams=", ".join(f'"kernelet_{stream}.toml"' for stream in STREAMS)), encoding="utf-8")
    return spec


def beside_serve(smk, folder, database):
    """Every number that both have is the same, for a stream that the hardware shares, and for a merged one."""
    for scheduler, policy in (("in-order", "smk-p"), ("kernel-merge", "leftover")):
        status, said = call(smk, "serve", folder / "kernelet_mix.toml", "--scheduler", scheduler, "--policy", policy,
                            "--machine", "gtx980",
                            "--set", "host.merge_barrier=tb", "--json", "--quiet")
        expect(status == 0, said)
        stats = json.loads(said)
        row = database.execute(
            "SELECT s.makespan, s.throughput, s.mean_turnaround, r.antt, r.fairness, r.warp_instructions, s.run FROM "
            "results r JOIN stream_results s USING (run) WHERE workload = 'kernelet_mix' AND r.seed = '1' AND machine = 'gtx980' "
            "AND s.scheduler = ? AND policy = ?", (scheduler, policy)).fetchone()
        host = stats["host"]
        expected = [host["makespan"], host["throughput"], host["mean_turnaround"], stats["antt"], stats["fairness"],
                    stats["warp_instructions"]]
        for ours, theirs in zip(row, expected):
            expect(abs(ours - theirs) <= 1e-9 * abs(theirs), f"{scheduler} {policy}: {row} and {expected} of smk serve")
        jobs = database.execute("SELECT client, arrival, finish FROM jobs WHERE run = ? ORDER BY slot",
                                (row[-1],)).fetchall()
        expect(jobs == [(j["client"], j["arrival"], j["finish"]) for j in stats["jobs"]], f"{jobs} are no such jobs")


def main():
    source, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
    script = source / "scripts/systems"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        spec, path, docs = write_streams(folder), folder / "systems.db", folder / "docs"
        status, said = call(smk, "sweep", spec, "--out", path, "--quiet")
        expect(status == 0, said)
        expect(" 0 made" in call(smk, "sweep", spec, "--out", path)[1], "runs were made again")
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        streams = database.execute("SELECT COUNT(*) FROM streams").fetchone()[0]
        expect(streams == 36, f"{streams} streams, not 4 under 2 policies on 2 machines, 4 merged, and 2 more draws of 4 under 2")
        beside_serve(smk, folder, database)
        status, said = call(smk, "report", path, "--out", folder / "page.html")
        expect(status == 0, said)

        expect(call(script, "--docs", docs, folder / "no.db")[1].endswith("no such database\n"), "no database, no word")
        status, said = call(script, "--docs", docs, path)
        expect(status == 0, said)
        page = (docs / "systems.md").read_text(encoding="utf-8")
        expect(re.search(r"\| left-over \| .* \| \+0\.0 % \|", page), "left-over is not the base of the page")
        # Three draws of each stream: their mean, how far they reach, and the mean of the streams in each draw.
        expect("| left-over |" + 5 * " +0.0 % (+0.0 % to +0.0 %) |" in page, "no draws")
        draws = re.search(r"\| SMK-P \|" + 5 * r" ([+-][\d.]+) % \(([+-][\d.]+) % to ([+-][\d.]+) %\) \|", page)
        expect(draws, "no draws of SMK-P")
        means, least, most = ([float(value) for value in draws.groups()[i::3]] for i in range(3))
        expect(all(low <= mean <= high for mean, low, high in zip(means, least, most)), f"{draws[0]} are no means")
        expect(min(means[:4]) <= means[4] <= max(means[:4]), f"{draws[0]}: the last is no mean of the others")
        expect("| SMK-P |" in page and "| KernelMerge |" in page and "| Kernelet | `kernelet`" not in page, "other systems")
        expect(call(script, "--docs", docs, "--check") == (0, ""), "its own page is not accepted")
        # A database of one draw: the others stay.
        one = folder / "one.db"
        shutil.copy(path, one)
        with sqlite3.connect(one) as part:
            part.execute("DELETE FROM runs WHERE seed != '2'")
        expect(call(script, "--docs", docs, one) == (0, ""), "rows that a database does not have are lost")
        (docs / "systems.md").write_text(page.replace("SMK-P |", "SMK-Q |"), encoding="utf-8")
        status, said = call(script, "--docs", docs, "--check")
        expect(status == 1 and "systems.md" in said, "another page is not noticed")


if __name__ == "__main__":
    main()
