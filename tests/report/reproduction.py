# SPDX-License-Identifier: Apache-2.0
"""report.reproduction_tool: scripts/reproduction notices every kind of stale document.

usage: reproduction.py SOURCE_DIR SMK
A small sweep stands in for the whole one, and words without numbers for those of the document.
"""

import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

root, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(root / "scripts"))
from paper import fragments, results  # noqa: E402

SPEC = """
name = "smk_paper"
cycles = 5000
[[experiment]]
name = "pairs"
machines = ["gtx980-gpgpusim", "gtx980"]
workloads = ["cutcp+stencil", "cutcp+sgemm", "lbm+spmv"]
policies = ["isolated", "leftover", "even", "spatial", "smk", "smk-p", "smk-pw"]
[[experiment]]
name = "tb-distribution"
machines = "gtx980-gpgpusim"
workloads = "cutcp+stencil"
policies = ["smk", "smk-p"]
"""


def call(*options, status, program=None):
    done = subprocess.run([root / "scripts/reproduction", "--smk", program or fake, *options],
                          capture_output=True, text=True)
    assert done.returncode == status, (options, done.returncode, done.stdout, done.stderr)
    return done.stderr


def changed(path, old, new, options, expected):
    """The check fails while the file is changed, and says why."""
    text = path.read_text(encoding="utf-8")
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert expected in call(*options, "--check", status=1), path
    path.write_text(text, encoding="utf-8")


def check_fragments():
    """Numbers are filled in, and claims that do not hold are found."""
    table, problems = results.Results(), []
    for policy, value in (("a", 1.5), ("b", 1.2)):
        table.add("fig", "stp", policy, "C+M", value)
    text = "{{fig stp a C+M}} {{fig stp a/b C+M}} {{%fig stp b C+M}}"
    assert fragments.fill(text, table, "f", problems) == "1.500 +25.0 % 120.0 %"
    table.add("gain", "pairs_ahead", "a/b", "all", 24, 45)
    assert fragments.fill("{{gain pairs_ahead a/b all}} of 45", table, "f", problems) == "24 of 45"
    assert fragments.fill("<!-- holds: fig stp a C+M > 1.4 -->\nx", table, "f", problems) == "x"
    assert not problems
    for wrong in ("<!-- holds: fig stp a C+M < fig stp b C+M -->", "{{fig stp c C+M}}", "{{fig}}"):
        fragments.fill(wrong, table, "f", problems)
    assert len(problems) == 3 and "does not hold" in problems[0], problems


def check_document(folder):
    docs, words, database = folder / "docs", folder / "words", folder / "s.db"
    readme = folder / "README.md"
    readme.write_text("a\n<!-- reproduction -->\n<!-- end of reproduction -->\nb\n", encoding="utf-8")
    words.mkdir()
    for path in (root / "docs/reproduction").glob("*.md"):
        plain = fragments.NUMBER.sub("n", fragments.CLAIM.sub("", path.read_text(encoding="utf-8")))
        (words / path.name).write_text(plain, encoding="utf-8")
    (folder / "s.toml").write_text(SPEC, encoding="utf-8")
    subprocess.run([smk, "sweep", folder / "s.toml", "--out", database, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    options = ("--docs", docs, "--words", words)
    call(*options, status=0, program=smk)
    subprocess.run([smk, "sweep", root / "sim/sweeps/reduced.toml", "--out", folder / "reduced.db",
                    "--quiet"], check=True, stdout=subprocess.DEVNULL)
    call(*options, "--check", status=77)
    assert "cache: not in the database" in call(*options, database, status=1)
    call(*options, database, "--partial", status=0)
    call(*options, "--check", status=0)
    document = docs / "reproduction.md"
    assert re.search(r"^\| stp of smk-pw over spatial \| C\+M \| .* \| \+17.0 % \|",
                     document.read_text(encoding="utf-8"), re.MULTILINE)
    check_sim_stalls(document, docs, database, options)
    assert "(docs/images/reproduction/fig10.svg)" in readme.read_text(encoding="utf-8")
    changed(readme, "fig10", "fig11", options, "README.md: is not what")
    changed(document, "C+M", "C+X", options, "is not what scripts/reproduction writes")
    changed(docs / "reproduction/results.csv", "pairs,stp,smk,C+M,", "pairs,stp,smk,C+M,9", options,
            "is not what")
    changed(docs / "reproduction/reduced.csv", "reduced,stp,smk-pw,lbm+sgemm,",
            "reduced,stp,smk-pw,lbm+sgemm,9", options, "reduced set: reduced stp smk-pw")
    changed(docs / "images/reproduction/fig10.svg", "STP", "SPT", options, "fig10.svg")
    with sqlite3.connect(database) as db:
        db.execute("UPDATE runs SET status = 'failed' WHERE policy = 'smk-p'")
    assert "pairs: 6 of " in call(*options, database, status=1)
    assert "no such database" in call(*options, folder / "none.db", status=2)


def check_sim_stalls(document, docs, database, options):
    """Fig. 14 has both attributions; of a database without the second, it says that there is none."""
    table = results.Results.read(docs / "reproduction/results.csv")
    for policy in ("spatial", "smk-p", "smk-pw"):
        sums = [sum(table.get("fig14", name, policy, "C+M") for name in names)
                for names in (("sim_pipeline", "sim_control", "sim_data"), ("stalls",))]
        assert abs(sums[0] - sums[1]) < 0.0003, (policy, sums)
    text = document.read_text(encoding="utf-8")
    assert "| what | our reasons | the simulator's | on gtx980 | paper |" in text
    assert re.search(r"^\| data of smk-pw over spatial \| [-+].* % \| [-+].* % \| [-+].* % \| \+14.5 % \|$", text,
                     re.MULTILINE), text
    assert re.search(r"^\| sim_control \|( [0-9.]+ % \|){6}$", text, re.MULTILINE)
    assert "sim_data, smk-pw: " in (docs / "images/reproduction/fig14.svg").read_text(encoding="utf-8")
    old = database.with_name("old.db")
    shutil.copy(database, old)
    with sqlite3.connect(old) as db:
        db.execute("ALTER TABLE stalls DROP COLUMN sim_data")
    call(*options, old, "--partial", status=0)
    text = document.read_text(encoding="utf-8")
    assert "its database has no columns for it" in text and "| sim_" not in text
    call(*options, "--check", status=0)
    call(*options, database, "--partial", status=0)


check_fragments()
with tempfile.TemporaryDirectory() as temporary:
    # Called as smk sweep SPEC --out DB --quiet: gives what was made once.
    fake = pathlib.Path(temporary) / "smk"
    fake.write_text(f'#!/bin/sh\ncp "{temporary}/reduced.db" "$4"\n', encoding="utf-8")
    fake.chmod(0o755)
    check_document(pathlib.Path(temporary))
print("ok")
