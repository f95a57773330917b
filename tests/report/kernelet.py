# SPDX-License-Identifier: Apache-2.0
"""scripts/kernelet with a stand-in for smk: the calls that it makes, that it goes on where it was stopped, and its check.

usage: kernelet.py SOURCE_DIR
"""

import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Kernelet takes 100 cycles, Base 120, a draw 90 and more; a job of tea has 1 MB of copies, one of sad 2.
STAND_IN = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps([words, pathlib.Path(words[1]).read_text() if words[0] == "serve" else ""]) + "\\n")
if words[0] == "run":
    print(json.dumps({{"warp_instructions": 160_000, "cycles": 200_000, "sms": [1]}}))
    sys.exit()
value = lambda name: words[words.index(name) + 1] if name in words else None
scheduler = value("--scheduler")
if scheduler == "kernelet" and value("--out"):
    folder = pathlib.Path(value("--out"))
    folder.mkdir()
    (folder / "kernelet.csv").write_text("workload,kernel,tbs,cycles,ipc,predicted_ipc,instructions_per_tb,memory_ratio,"
        "uncoalesced,pur,mur,least_tbs,slice_overhead\\ntea,k,448,9,0.75,0.5,9,0.1,0,0.2,0.3,2,0.01\\n")
if scheduler == "sequential" and value("--out"):
    folder = pathlib.Path(value("--out"))
    folder.mkdir()
    (folder / "copies.csv").write_text("name,direction,bytes\\ntea,in,4194304\\nsad,in,4194304\\nsad,out,4194304\\n")
if scheduler == "kernelet-opt" and value("--out"):
    folder = pathlib.Path(value("--out"))
    folder.mkdir()
    head = "workload_a,workload_b,tbs_a,tbs_b,balanced,predicted_ipc_a,predicted_ipc_b,predicted_profit,measured_ipc_a," \\
           "measured_ipc_b,measured_profit"
    (folder / "kernelet_measured.csv").write_text(head + "\\ntea,spmv,3,1,1,0.5,0.25,0.2,0.5,0.5,0.1\\n"
                                                  "tea,spmv,1,3,0,0.25,0.25,0.2,0.25,0.3,-0.1\\n"
                                                  "tea,tea,2,2,1,0.5,0.5,0,0.5,0.5,0\\n")
span = {{"sequential": 130, "in-order": 120, "kernelet": 100, "kernelet-opt": 95}}.get(scheduler)
span = span or 90 + 10 * int(scheduler.split(":")[1])
print(json.dumps({{"antt": 2, "host": {{"makespan": span + 20 * ("--no-overlap" in words), "copy_in_cycles": 30,
    "copy_out_cycles": 20, "copy_overlap": 0.96}}}}))
"""


def expect(holds, what):
    if not holds:
        sys.exit(f"kernelet: {what}")


def call(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


def measure_all(script, stand_in, docs, log):
    """Everything, twice; how many calls that took."""
    ways = (["pairs"], ["whole"], ["changed"], ["gain"], ["many", "--machine", "gtx680", "--groups", "mi"], ["draws", "--draws", "3", "--groups", "mix", "ci"], ["copies", "--groups", "mix"])
    counts = []
    for _ in range(2):
        for way in ways:
            status, said = call(script, "--smk", stand_in, "--docs", docs, "--measure", *way)
            expect(status == 0, said)
        counts.append(len(log.read_text(encoding="utf-8").splitlines()))
    expect(counts[0] == counts[1], f"{counts}: runs were made again")
    calls = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    draws = [words for words, _ in calls if any(word.startswith("kernelet-random:") for word in words)]
    expect(len(draws) == 6 and all("replay" in words for words in draws), f"{draws}: three draws of two groups by replay")
    known = [words for words, _ in calls if "c2050" in words and words[0] == "serve" and "replay" not in words]
    expect(len(known) == 5 and sum("kernelet-opt" in words for words in known) == 4,
           f"{known}: more than OPT and the profiles, which docs/systems.csv has not")
    larger = [text for _, text in calls if "scale = 1.0" in text]
    memories = [text.split("host.memory = ")[1].split("\n")[0] for text in larger]
    expect(memories == 8 * ["6"] + 4 * ["12"], f"{memories}: one sad, then four of each at factor 1")


def main():
    source = pathlib.Path(sys.argv[1])
    script = source / "scripts/kernelet"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        docs, log, stand_in = folder / "docs", folder / "calls", folder / "smk"
        docs.mkdir()
        shutil.copy(source / "docs/systems.csv", docs)
        stand_in.write_text(STAND_IN.format(python=sys.executable, log=str(log)), encoding="utf-8")
        stand_in.chmod(0o755)
        measure_all(script, stand_in, docs, log)
        with open(docs / "kernelet_draws.csv", newline="", encoding="utf-8") as file:
            schedulers = [row["scheduler"] for row in csv.DictReader(file)]
        expect(schedulers[:3] == ["in-order", "kernelet", "kernelet-opt"] and schedulers[-1] == "kernelet-random:3",
               f"{schedulers}: another order")

        status, said = call(script, "--docs", docs)
        expect(status == 0, said)
        page = (docs / "kernelet.md").read_text(encoding="utf-8")
        for row in ("| `c2050`, balanced | ± 0.2 | 0 of 1, 0 % | 0.250 | 0.250 | 1 of 1 |",
                    "| `c2050`, balanced, not sliced | ± 0.2 | 1 of 1, 100 % | 0.050 |",
                    "| `gtx680`, all | ± 0.8 | 2 of 2, 100 % | 0.150 |",
                    "| `tea` + `spmv` | 3 + 1 | 0.75 | 1.00 * | 0.80 | +20, +10 | 3 + 1 |",
                    "| `gtx680` MI | 100 | +8.3 % | +20.0 % | +5.3 % |",
                    "| `tea` | 0.50 | 0.75 | 30 % | 2 | 0.50 | 0.75 | 30 % | 2 |",
                    "| `gtx680` MIX | 130 | 120 | 100 | 95 | +8.3 % | +20.0 % | +5.3 % |",
                    "| MIX | 3 | 100 | 95 | 120 | 100 | 110 | 120 | 0, 0.0 % |",
                    "| MIX, 2.5, 4 | 0.0 | 0.0 | 0.0 | 0.0 | +20.0 % | +20.0 % | +40.0 % | 96 % | 96 % | 0.50 |"):
            expect(row in page, f"no row {row}")
        expect("<circle" in (docs / "images/kernelet_pairs.svg").read_text(encoding="utf-8"), "no points")
        expect(call(script, "--docs", docs, "--check") == (0, ""), "its own page is not accepted")
        (docs / "kernelet.md").write_text(page.replace("+20.0 %", "+21.0 %", 1), encoding="utf-8")
        status, said = call(script, "--docs", docs, "--check")
        expect(status == 1 and "kernelet.md" in said, "another page is not noticed")


if __name__ == "__main__":
    main()
