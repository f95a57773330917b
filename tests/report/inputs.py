# SPDX-License-Identifier: Apache-2.0
"""The scripts that make pages of databases: what is none, or is of another sweep, is refused in a line and changes no page.

  python3 inputs.py SOURCE SMK
"""

import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SCRIPTS = ("comparison", "reproduction", "slicer_alone", "slicer_pairs", "systems", "tb_curves")


def refused(script, docs, database, expected, *options):
    done = subprocess.run([sys.executable, "-B", script, "--docs", docs, *options, database], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    said = (done.returncode, done.stdout, done.stderr.count("\n"))
    if said != (2, "", 1) or not done.stderr.startswith(f"{script.name}: ") or expected not in done.stderr:
        sys.exit(f"inputs: {script.name} {database.name}: expected '{expected}', got {done.returncode} {done.stderr[-400:]}")
    if any(docs.iterdir()):
        sys.exit(f"inputs: {script.name} {database.name}: it wrote something")


def main():
    source, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        docs = folder / "docs"
        docs.mkdir()
        text, other, sweep = folder / "text?.db", folder / "other.db", folder / "sweep.db"
        text.write_text("words", encoding="utf-8")
        with sqlite3.connect(other) as database:
            database.execute("CREATE TABLE t (x)")
        subprocess.run([smk, "sweep", "sgemm+lbm", "--policies", "spatial", "--cycles", "2k", "--out", sweep, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        for name in SCRIPTS:
            script = source / "scripts" / name
            refused(script, docs, folder / "none.db", "no such database")
            refused(script, docs, folder, "no such database")
            refused(script, docs, text, "file is not a database")
            refused(script, docs, other, "no database of smk sweep: no such table")
            refused(script, docs, sweep, "no length has all pairs" if name == "slicer_pairs" else "sim/sweeps/")
        refused(source / "scripts/reproduction", docs, sweep, "no runs of sim/sweeps/smk_paper.toml", "--partial")


if __name__ == "__main__":
    main()
