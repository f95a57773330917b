# SPDX-License-Identifier: Apache-2.0
"""meta.waits: nobody in the chip waits for somebody who waits for him, and each wait has what says that it ends.

usage: waits.py [--write]

An entry of waits.toml is one wait:
  name     who, ends: who waits, and with what that is over: sentences of the page
  block    the folder of rtl/ whose wait it is; or outside: "host" or "machine", who end it
  needs    the waits that must end first
  proved   the proofs of what `ends` says; tested: beginnings of names of tests that show it

A cycle of needs is refused: that would be a deadlock, or a wait that is said too coarsely. A wait of a block without a
proof or a test is refused. --write puts the table into docs/proofs.md.
"""

import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tb"))
from assumptions import reachable
from drawers import proofs
from proofs_page import finish

FILE = HERE / "waits.toml"
END = "<!-- end of waits -->\n"
MUST, MAY = {"name", "who", "ends", "needs"}, {"block", "outside", "proved", "tested"}


def test_names():
    """All tests of the testbenches, as "unit.Suite.Name"."""
    found = set()
    for path in (ROOT / "tb").rglob("*_test.cc"):
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"), re.M):
            found.add(f"unit.{suite}.{name}")
    return found


def findings(entries, known_proofs, known_tests, blocks):
    names = [entry.get("name") for entry in entries]
    graph = {entry.get("name"): entry.get("needs", []) for entry in entries}
    for entry in entries:
        where = f"waits.toml: {entry.get('name')}"
        yield from (f"{where}: unknown key '{key}'" for key in sorted(entry.keys() - MUST - MAY))
        yield from (f"{where}: no key '{key}'" for key in sorted(MUST - entry.keys()))
        if names.count(entry.get("name")) > 1:
            yield f"{where}: is there twice"
        yield from (f"{where}: needs '{need}', which is no wait" for need in entry.get("needs", []) if need not in graph)
        yield from (f"{where}: no proof '{name}'" for name in entry.get("proved", []) if name not in known_proofs)
        yield from (f"{where}: no test '{name}'" for name in entry.get("tested", [])
                    if not any(test.startswith(name + ".") for test in known_tests))
        if "outside" in entry:
            if "block" in entry or entry["outside"] not in ("host", "machine"):
                yield f"{where}: is outside by host or machine, or of a block"
        elif entry.get("block") not in blocks:
            yield f"{where}: no block '{entry.get('block')}'"
        elif not entry.get("proved") and not entry.get("tested"):
            yield f"{where}: nothing says that it ends"
        if entry.get("name") in reachable(graph, entry.get("name")):
            yield f"{where}: waits for itself, by its needs"


def table(entries):
    text = "| who waits | of | it ends | after | says |\n|---|---|---|---|---|\n"
    for entry in entries:
        says = [f"`{name}`" for name in entry.get("proved", [])] + [f"`{name}` (test)" for name in entry.get("tested", [])]
        after = ", ".join(entry["needs"]) or "–"
        text += (f"| *{entry['name']}*: {entry['who']} | {entry.get('block', entry.get('outside'))} | {entry['ends']} | "
                 f"{after} | {', '.join(says) or 'given'} |\n")
    return text


def main():
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["wait"]
    blocks = {path.name for path in (ROOT / "rtl").glob("*/*") if path.is_dir()}
    found = list(findings(entries, {proof["name"] for proof in proofs()}, test_names(), blocks))
    return finish("waits.py", f"{len(entries)} waits", found, END, lambda: table(entries))


if __name__ == "__main__":
    sys.exit(main())
