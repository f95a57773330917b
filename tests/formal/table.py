# SPDX-License-Identifier: Apache-2.0
"""meta.proofs: the table of docs/proofs.md is that of the proofs in tb/*/block.toml.

usage: table.py [--write]
Also checks that every proof's assertions, lemmas and mutant exist.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tb"))
from drawers import faults, proofs, property_files
from proofs_page import finish

END = "<!-- end of table -->\n"
METHODS = {"pdr": "PDR (ABC)", "induction": "induction (ABC)"}


def row(proof):
    config = ", ".join(f"{name} {value}" for name, value in proof.get("config", {}).items())
    return (f"| `{proof['name']}` | {proof['property']} | {METHODS[proof['method']]} | "
            f"{proof['bound']} | {config or 'small'} | {proof['mutant']} |\n")


def table():
    text = ("| proof | what is proved | method | bound | configuration small, but | mutant refuted |\n"
            "|---|---|---|---|---|---|\n")
    return text + "".join(map(row, proofs()))


def findings():
    """Also: every fault is refuted by a proof, or seeded."""
    used = {name for name, fault in faults().items() if "finds" in fault or "path" in fault}
    for proof in proofs():
        where = f"tb/{proof['block']}/block.toml: {proof['name']}"
        if proof["mutant"] not in faults():
            yield f"{where}: no fault {proof['mutant']}"
        used.add(proof["mutant"])
        text = "".join(path.read_text() for path in property_files(proof["module"]))
        names = set(re.findall(r"`PROVE\((\w+)", text)) | {"Hold"}
        for name in proof["assertions"] + proof.get("invariants", []) + proof.get("lemmas", []):
            if name not in names:
                yield f"{where}: no assertion {name}"
    # What several wrappers include is proved if one of them proves it.
    proved = {(path, name) for p in proofs() for path in property_files(p["module"])
              for name in p["assertions"] + p.get("invariants", [])}
    yield from (f"fault {name}: no proof refutes it" for name in faults().keys() - used)
    for path in sorted({path for path, _ in proved}):
        for name in re.findall(r"`PROVE\((\w+)", path.read_text()):
            if (path, name) not in proved:
                yield f"{path.name}: {name} is in no proof"


def main():
    return finish("table.py", f"{len(proofs())} proofs", list(findings()), END, table)


sys.exit(main())
