# SPDX-License-Identifier: Apache-2.0
"""scripts/tb_curves: a page from the runs of a sweep, and one that is not of its numbers is noticed.

  python3 tb_curves.py SOURCE SMK
"""

import pathlib
import subprocess
import sys
import tempfile

# Two kernels in short runs: spmv holds 15 TBs, of which each can do with a few; mri-q 8.
SPEC = """name = "tb_curves"
description = "short"
machines = "gtx980"
cycles = 20_000
kernels = ["mri-q", "spmv"]
[[experiment]]
name = "curves"
workloads = "all-singles"
policies = "isolated"
[experiment.set]
sm.limits.tbs = [1, 2, 8, 31]
"""
ROWS = """machine,variant,kernel,type,tbs,resident,ipc
m,,cutcp,C,1,1.00,10.0000
m,,cutcp,C,2,1.99,20.0000
m,,cutcp,C,3,2.97,19.5000
m,,cutcp,C,4,2.97,19.5000
m,,spmv,M,1,1.00,5.0000
m,,spmv,M,2,2.00,4.0000
m,sm.fetch_warps=4,cutcp,C,1,1.00,10.0000
m,sm.fetch_warps=4,cutcp,C,3,2.97,30.0000
"""


def call(source, docs, *options):
    done = subprocess.run([source / "scripts/tb_curves", "--docs", docs, *options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def expect(holds, what):
    if not holds:
        sys.exit(f"tb_curves: {what}")


def main():
    source, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        docs = pathlib.Path(folder) / "docs"
        docs.mkdir()
        (docs / "tb_curves.csv").write_text(ROWS, encoding="utf-8")
        expect(call(source, docs, "--check")[0] == 1, "a missing page is not noticed")
        expect(call(source, docs)[0] == 0, "the page is not made")
        page = (docs / "tb_curves.md").read_text(encoding="utf-8")
        for part in ("| cutcp | 3 | 2 | 20.00 | 98% |", "| spmv | 2 | 1 | 5.00 | 80% |",
                     "| cutcp | 3 | 2 (20.0) | 3 (30.0) |", "the best number and the limit). spmv (knee at 1 of 2)"):
            expect(part in page, f"'{part}' is not on the page")
        expect(call(source, docs, "--check")[0] == 0, "its own page is not accepted")
        (docs / "tb_curves.csv").write_text(ROWS.replace("19.5", "17.5"), encoding="utf-8")
        expect(call(source, docs, "--check")[0] == 1, "other numbers are not noticed")
        spec, database = docs / "short.toml", docs / "short.db"
        spec.write_text(SPEC, encoding="utf-8")
        subprocess.run([smk, "sweep", spec, "--out", database, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        expect(call(source, docs, database)[0] == 0, "a sweep is not read")
        rows = (docs / "tb_curves.csv").read_text(encoding="utf-8").splitlines()
        expect(len(rows) == 9, f"{len(rows) - 1} rows, not 8")
        expect("| mri-q | 8 |" in (docs / "tb_curves.md").read_text(encoding="utf-8"), "no mri-q")
        status, said = call(source, docs, docs / "none.db")
        expect(status == 2 and "no such database" in said, "a missing database")


if __name__ == "__main__":
    main()
