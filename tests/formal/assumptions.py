# SPDX-License-Identifier: Apache-2.0
"""meta.assumptions: every assumption _M of the sources has an entry in assumptions.toml, which says what makes it true.

usage: assumptions.py [--write]

An entry is about one name in one block:
  block    the folder of tb/ or rtl/ that the files are in
  name     what is assumed; files: where, with `ASSUME in properties or `SMK_ASSERT in RTL and checkers
  giver    who makes it true: a block, or from outside "host", "machine" or "configuration"
  proved   "proof: Assertion", together all of it;  partly: the same, but not all of it
  watched  "file: Assertion", which says it in simulation; an `SMK_ASSERT of `files` need not be named
  later    true: what proves it holds in a cycle because of those before; so two proofs may assume each other
  why      one sentence

Proofs that assume each other are refused, unless on the way round an assumption is given later: all of them are
about every cycle after reset (PDR or induction), so the first cycle in which one fails would need an earlier one.
--write puts the table into docs/proofs.md.
"""

import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tb"))
from drawers import drawers, proofs, property_files
from proofs_page import finish

FILE = HERE / "assumptions.toml"
END = "<!-- end of assumptions -->\n"
OUTSIDE = {"host", "machine", "configuration"}
MUST, MAY = {"block", "name", "files", "giver", "why"}, {"proved", "partly", "watched", "later"}


def occurrences():
    """All assumptions of the sources: (block, file, name), and whether simulation watches it."""
    found = {}
    sources = [*(ROOT / "tb").glob("*/*props.sv"), *(ROOT / "tb").glob("*/*.svh"),
               *(ROOT / "tb").glob("*/smk_*_checker.sv"), *(ROOT / "rtl").rglob("*.sv")]
    for path in sorted(sources):
        for macro, name in re.findall(r"`(ASSUME|SMK_ASSERT)\((\w+_M)\b", path.read_text(encoding="utf-8")):
            found[path.parent.name, path.name, name] = macro == "SMK_ASSERT"
    return found


def assertions():
    """All assertions that run in simulation, as "file: name"."""
    found = set()
    for path in [*(ROOT / "rtl").rglob("*.sv"), *(ROOT / "tb").glob("*/smk_*_checker.sv")]:
        text = path.read_text(encoding="utf-8")
        found |= {f"{path.name}: {name}" for name in re.findall(r"`SMK_ASSERT(?:_STREAM)?\((\w+)", text)}
    return found


def given(entry):
    """What proves it, or part of it."""
    return entry.get("proved", []) + entry.get("partly", [])


def check_entries(entries, sources, known_proofs, known_assertions, blocks):
    """What is wrong with entries one by one, and which assumptions have none."""
    seen = set()
    for entry in entries:
        where = f"assumptions.toml: {entry.get('block')} {entry.get('name')}"
        yield from (f"{where}: unknown key '{key}'" for key in sorted(entry.keys() - MUST - MAY))
        missing = sorted(MUST - entry.keys())
        yield from (f"{where}: no key '{key}'" for key in missing)
        if missing:
            continue
        here = [(entry["block"], file, entry["name"]) for file in entry["files"]]
        yield from (f"{where}: is not in {file}" for _, file, _ in set(here) - sources.keys())
        yield from (f"{where}: has two entries for {file}" for _, file, _ in set(here) & seen)
        seen |= set(here)
        if entry["giver"] not in OUTSIDE | blocks:
            yield f"{where}: no block '{entry['giver']}', nor host, machine or configuration"
        for text in given(entry):
            proof, _, assertion = text.partition(": ")
            if assertion not in known_proofs.get(proof, ()):
                yield f"{where}: no proof '{proof}' of {assertion}"
        watched = [text for text in entry.get("watched", []) if text not in known_assertions]
        yield from (f"{where}: no assertion {text}" for text in watched)
        runs = entry.get("watched") or any(sources.get(key) for key in here)
        if not (entry.get("proved") or runs or entry["giver"] in OUTSIDE):
            yield f"{where}: is neither proved nor watched nor given from outside"
    for block, file, name in sorted(sources.keys() - seen):
        yield f"{block}/{file}: {name} has no entry in assumptions.toml"


def edges_of(entries, proofs_of_file):
    """Which proof assumes what which other proves: (from, to, entry)."""
    for entry in entries:
        for file in entry.get("files", []):
            for proof in proofs_of_file.get((entry["block"], file), []):
                for text in given(entry):
                    yield proof, text.partition(": ")[0], entry


def reachable(graph, start):
    seen, queue = set(), [start]
    while queue:
        for to in graph.get(queue.pop(), ()):
            if to not in seen:
                seen.add(to)
                queue.append(to)
    return seen


def check_cycles(edges):
    """Proofs that assume each other in the same cycle, and entries that are given later for nothing."""
    edges = list(edges)
    at_once, all_of = {}, {}
    for source, to, entry in edges:
        all_of.setdefault(source, set()).add(to)
        if not entry.get("later"):
            at_once.setdefault(source, set()).add(to)
    for source in sorted(at_once):
        if source in reachable(at_once, source):
            yield f"proof {source} assumes what is proved from it, in the same cycle"
    needed = {id(entry) for source, to, entry in edges if entry.get("later") and
              (source == to or source in reachable(all_of, to))}
    for _, _, entry in edges:
        if entry.get("later") and id(entry) not in needed:
            needed.add(id(entry))
            yield f"assumptions.toml: {entry['block']} {entry['name']}: is given later, but is on no cycle"


def kind(entry):
    if entry.get("proved"):
        return "proved"
    return "outside" if entry["giver"] in OUTSIDE else "watched"


def cell(entry):
    """How it is held up."""
    if entry.get("proved"):
        names = sorted({text.partition(": ")[0] for text in entry["proved"]})
        return ", ".join(f"`{name}`" for name in names)
    names = sorted({text.partition(": ")[0] for text in entry.get("partly", [])})
    part = f"; part of it: {', '.join(f'`{name}`' for name in names)}" if names else ""
    runs = not all(file.endswith("props.sv") for file in entry["files"]) or entry.get("watched")
    return ("watched" if runs else "given") + part


def table(entries):
    count = {what: sum(kind(entry) == what for entry in entries) for what in ("proved", "watched", "outside")}
    text = (f"{len(entries)} assumptions: {count['proved']} are proved of those who give them, {count['watched']} are "
            f"watched only, {count['outside']} are given from outside.\n\n"
            "| assumed | of | given by | held up by | why |\n|---|---|---|---|---|\n")
    for entry in entries:
        text += (f"| `{entry['name']}` | {entry['block']} | {entry['giver']} | {cell(entry)} | {entry['why']} |\n")
    return text


def findings(entries):
    known_proofs = {p["name"]: p["assertions"] + p.get("invariants", []) for p in proofs()}
    proofs_of_file = {}
    for proof in proofs():
        for path in property_files(proof["module"]):
            proofs_of_file.setdefault((path.parent.name, path.name), []).append(proof["name"])
    yield from check_entries(entries, occurrences(), known_proofs, assertions(), set(drawers()))
    yield from check_cycles(edges_of(entries, proofs_of_file))


def main():
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["assumption"]
    found = list(findings(entries))
    return finish("assumptions.py", f"{len(entries)} assumptions", found, END, lambda: table(entries))


if __name__ == "__main__":
    sys.exit(main())
