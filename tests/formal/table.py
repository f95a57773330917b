# SPDX-License-Identifier: Apache-2.0
"""meta.proofs: the table of docs/proofs.md is that of proofs.toml.

usage: table.py [--write]
Also checks that every proof's assertions, lemmas and mutant exist.
"""

import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tb"))
from drawers import property_files

PAGE = ROOT / "docs/proofs.md"
BEGIN, END = "<!-- table: tests/formal/table.py --write -->\n", "<!-- end of table -->\n"
KEYS = {"name", "block", "property", "assertions", "lemmas", "method", "bound", "config", "mutant",
        "long", "timeout", "frames", "reduce", "invariants", "mutant_frames"}
METHODS = {"pdr": "PDR (ABC)", "induction": "induction (ABC)"}


def row(proof):
    config = ", ".join(f"{name} {value}" for name, value in proof.get("config", {}).items())
    return (f"| `{proof['name']}` | {proof['property']} | {METHODS[proof['method']]} | "
            f"{proof['bound']} | {config or 'small'} | {proof['mutant']} |\n")


def table(proofs):
    text = ("| proof | what is proved | method | bound | configuration small, but | mutant refuted |\n"
            "|---|---|---|---|---|---|\n")
    return text + "".join(map(row, proofs))


def findings(proofs):
    bugs = set()
    for path in (HERE / "mutants.toml", ROOT / "tests/cosim/seeded_bugs/bugs.toml"):
        bugs |= {bug["name"] for bug in tomllib.loads(path.read_text())["bug"]}
    for proof in proofs:
        where = f"proofs.toml: {proof['name']}"
        yield from (f"{where}: unknown key '{key}'" for key in sorted(proof.keys() - KEYS))
        if proof["mutant"] not in bugs:
            yield f"{where}: no mutant {proof['mutant']}"
        text = "".join(path.read_text() for path in property_files(proof["block"]))
        names = set(re.findall(r"`PROVE\((\w+)", text)) | {"Hold"}
        for name in proof["assertions"] + proof.get("invariants", []) + proof.get("lemmas", []):
            if name not in names:
                yield f"{where}: no assertion {name}"
    proved = {(p["block"], name) for p in proofs
              for name in p["assertions"] + p.get("invariants", [])}
    for block in sorted({proof["block"] for proof in proofs}):
        for path in property_files(block):
            for name in re.findall(r"`PROVE\((\w+)", path.read_text()):
                if (block, name) not in proved:
                    yield f"{path.name}: {name} is in no proof"


def main():
    proofs = tomllib.loads((HERE / "proofs.toml").read_text())["proof"]
    found = list(findings(proofs))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + table(proofs) + END + after
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(wanted)
    elif page != wanted:
        found.append("docs/proofs.md: not the table of proofs.toml; run tests/formal/table.py --write")
    print("\n".join([*found, f"{len(proofs)} proofs: {len(found)} findings"]))
    return 1 if found else 0


sys.exit(main())
