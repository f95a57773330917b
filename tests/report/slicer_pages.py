# SPDX-License-Identifier: Apache-2.0
"""scripts/slicer_alone, scripts/slicer_pairs and scripts/comparison: pages from short runs of the sweeps that they name.
scripts/slicer_samples: the rows of a pair, made again, are those of the table.

  python3 slicer_pages.py SOURCE SMK
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# The tool, its sweep, the experiment of it, and what of the page each run of it leads to.
PAGES = (("slicer_alone", "slicer_alone", (), "slicer_alone.md", "| LBM | `lbm36` |"),
         ("slicer_pairs", "warped_slicer", ("--experiment", "short", "--experiment", "short-strict"),
          "reproduction_slicer.md", "| Compute + Memory (16) |"),
         ("comparison", "comparison", ("--experiment", "slicer"), "comparison.md", "| `smk-pw` |"))
CYCLES = "3_000"


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def expect(holds, what):
    if not holds:
        sys.exit(f"slicer_pages: {what}")


def look(source, smk, folder, tool, sweep, options, page, part):
    text = (source / f"sim/sweeps/{sweep}.toml").read_text(encoding="utf-8")
    spec, database, docs = folder / f"{sweep}.toml", folder / f"{sweep}.db", folder / tool
    spec.write_text(re.sub(r"^cycles = \S+", f"cycles = {CYCLES}", text, flags=re.M), encoding="utf-8")
    status, said = call(smk, "sweep", spec, "--out", database, "--quiet", *options)
    expect(status == 0, said)
    script = [source / "scripts" / tool, "--docs", docs]
    expect(call(*script, folder / "no.db")[1].endswith("no such database\n"), "a missing database is not noticed")
    status, said = call(*script, database)
    expect(status == 0, said)
    expect(part in (docs / page).read_text(encoding="utf-8"), f"'{part}' is not on {page}")
    expect(call(*script, "--check") == (0, ""), f"{tool}: its own page is not accepted")
    (docs / page).write_text("other words", encoding="utf-8")
    status, said = call(*script, "--check")
    expect(status == 1 and page in said, f"{tool}: another page is not noticed")


def samples(source, smk, pair):
    """Where there is fst2vcd."""
    if shutil.which("fst2vcd") is None:
        return
    table = (source / "docs/reproduction_slicer_samples.csv").read_text(encoding="utf-8").splitlines()
    those = [line for line in table if line.startswith((f"{pair},", "pair,"))]
    status, said = call(source / "scripts/slicer_samples", pair, "--smk", smk)
    expect(status == 0 and len(those) > 2, said)
    expect(said.splitlines() == those, f"slicer_samples: {pair} has other samples now:\n{said}")
    status, said = call(source / "scripts/slicer_samples", "hot+no_such_kernel", "--smk", smk)
    expect(status == 1 and said.startswith("slicer_samples: hot+no_such_kernel: "), said)


def main():
    source, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        for each in PAGES:
            look(source, smk, pathlib.Path(folder), *each)
    samples(source, smk, "hot+bfs")


if __name__ == "__main__":
    main()
