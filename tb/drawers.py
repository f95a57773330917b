# SPDX-License-Identifier: Apache-2.0
"""The drawers tb/<block>/: what their block.toml and their properties say.

usage: drawers.py     checks every block.toml, claims.toml of tests/ and tb/common/waivers.toml

Nothing else knows the format. A block.toml has these lists and tables, each of which may be missing:

[synthesis.MODULE]  what smk synth knows of smk_MODULE
  per         "sm" or "gpu": exists once in each SM, or once in the GPU
  contains    modules that keep their boundaries inside this one; everything else below is flattened
  wiring      true: does nothing but join what it contains
  counters    registers that [SMK] Sec. 6.7 and [Warped-Slicer] Sec. V-I count, with our copies for
              plans and reports
[[claim]]           what we claim (of no block: claims.toml beside its first test, in tests/)
  claim       one sentence that can be true or false
  paper       where it comes from, or "none"
  checks      the tests that would fail if it were not so
[[proof]]           run by tests/formal/prove.py, with its mutant
  module      a part of the block, if not the block itself
  property    what is proved, in words
  assertions  those of props.sv, or <module>_props.sv; "Hold" stands for "no register changes"
  invariants  of the same file, about registers: proved together with them, but not asked of the mutant
  lemmas      assertions of the same file, or of what it includes, that are assumed, but for the mutant: proved
              by another entry
  method      of ABC: pdr, or induction (over `frames` cycles)
  reduce      what ABC does before; "" where scorr hides the invariants from induction
  bound       "unbounded": holds in every cycle after any number of cycles. Else the response in cycles
              that the property says, also after any number of cycles.
  config      what differs from configuration small
  mutant      a fault of any drawer, which the same proof must refute
  mutant_frames  cycles in which the mutant is refuted, if not `frames`
  timeout     seconds for a tool, if not the usual
  long        true: runs with ctest -C long only
[[fault]]           a mutant for proofs; with `finds` seeded for tests/cosim, with `path` for its stream_paths.py
  cut         the name of an SMK_CUT in the block: there the expression becomes `wrong`
  law, finds  the law that it breaks, and the assertion that must find it first
  mode        the policy of the runs that must show it, if not "partitioned"; "alone": the block is in no plane,
              and has a test of its own
  path        the rule (S3 or S4) that it breaks by a path between ports
[[waiver]]          what coverage leaves out (of several blocks: tb/common/waivers.toml)
  file        of the block, may be a pattern
  kind        toggle: `what` is a signal, with * for any text and [31:20,7:0] or [*] for its bits
              line, branch: text that stands on the line    user: the name of a cover point
              file: a whole file that no program holds, as *
  what        may be a list; what takes nothing out fails the report
  reason      why it cannot or need not be reached
[[survivor]]        a mutant that no test can or need see
  mutant      a regular expression
  reason      why
"""

import functools
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# Of each list: the keys that an entry must have, and those that it may have.
KEYS = {
    "claim": ({"claim", "paper", "checks"}, set()),
    "proof": ({"name", "property", "assertions", "method", "bound", "mutant"},
              {"module", "invariants", "lemmas", "frames", "reduce", "config", "mutant_frames",
               "timeout", "long"}),
    "fault": ({"name", "cut", "wrong"}, {"law", "finds", "mode", "path"}),
    "waiver": ({"file", "kind", "what", "reason"}, set()),
    "survivor": ({"mutant", "reason"}, set()),
}
SYNTHESIS = ({"per"}, {"contains", "wiring", "counters"})


def stop(path, text):
    sys.exit(f"{path.relative_to(ROOT)}: {text}")


def check_keys(path, where, entry, must, may):
    for key in sorted(entry.keys() - must - may):
        stop(path, f"{where}: unknown key '{key}'")
    for key in sorted(must - entry.keys()):
        stop(path, f"{where}: no key '{key}'")


def read(path, kinds):
    """A file of lists; those that it does not have are empty."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    for kind in content.keys() - kinds:
        stop(path, f"unknown key '{kind}'")
    for kind in kinds - {"synthesis"}:
        for number, entry in enumerate(content.setdefault(kind, []), start=1):
            name = entry.get("name") or f"entry {number}"
            check_keys(path, f"{kind} {name}", entry, *KEYS[kind])
    for module, entry in content.setdefault("synthesis", {}).items():
        check_keys(path, f"synthesis.{module}", entry, *SYNTHESIS)
    return content


@functools.cache
def drawers():
    """What block.toml says, by block."""
    return {path.parent.name: read(path, {*KEYS, "synthesis"}) for path in sorted(HERE.glob("*/block.toml"))}


def entries(kind):
    """All entries of a list, with their block; each name once."""
    found = [{"block": block, **entry} for block, drawer in drawers().items() for entry in drawer[kind]]
    names = [entry["name"] for entry in found if "name" in entry]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"tb/*/block.toml: {kind} {name} is there {names.count(name)} times")
    return found


def proofs():
    return [{"module": entry["block"], **entry} for entry in entries("proof")]


def faults():
    return {entry["name"]: entry for entry in entries("fault")}


def claims():
    """Claims of blocks and of everything else, each with the file that it stands in."""
    files = [*sorted(HERE.glob("*/block.toml")), *sorted(ROOT.glob("tests/**/claims.toml"))]
    for path in files:
        kinds = {"claim"} if path.name == "claims.toml" else {*KEYS, "synthesis"}
        for entry in read(path, kinds)["claim"]:
            yield path.relative_to(ROOT), entry


def waivers():
    """Of blocks, with files as patterns below rtl/, and those of several blocks."""
    blocks = [{**entry, "file": f"{folder(entry['block'])}/{entry['file']}"} for entry in entries("waiver")]
    return blocks + read(HERE / "common/waivers.toml", {"waiver"})["waiver"]


def folder(block):
    """Where the RTL of a block is, below rtl/."""
    (file,) = (ROOT / "rtl").rglob(f"smk_{block}.sv")
    return file.parent.relative_to(ROOT / "rtl")


def cuts(text):
    """The cut points of a file: name, and where their expression begins and ends."""
    for start in re.finditer(r"`SMK_CUT\((\w+), ", text):
        depth, end = 1, start.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield start[1], start.end(), end - 1


def cut_file(fault, rtl):
    """The one file of the fault's block in `rtl` that has its cut point."""
    files = [path for path in sorted((rtl / folder(fault["block"])).glob("*.sv"))
             if fault["cut"] in [name for name, _, _ in cuts(path.read_text(encoding="utf-8"))]]
    if len(files) != 1:
        sys.exit(f"tb/{fault['block']}/block.toml: {fault['name']}: the block has {len(files)} files with "
                 f"a cut point {fault['cut']}, not one")
    return files[0]


def seed(text, chosen):
    """`text` with some cut points as chosen[name](what stands there)."""
    done, parts = 0, []
    for name, begin, end in cuts(text):
        if name in chosen:
            parts += [text[done:begin], chosen[name](text[begin:end])]
            done = end
    return "".join(parts) + text[done:]


def measured_blocks():
    """The blocks that are synthesized, and have lockstep tests of their own: they have mutants."""
    return [block for block, drawer in drawers().items()
            if block in drawer["synthesis"] and (HERE / block / "lockstep_test.cc").is_file()]


def measured_inside(block):
    """The outermost blocks inside a block that have mutants of their own."""
    contains = {name: entry.get("contains", []) for drawer in drawers().values()
                for name, entry in drawer["synthesis"].items()}
    found = []
    for part in contains[block]:
        found += [part] if part in measured_blocks() else measured_inside(part)
    return found


def property_files(module):
    """The properties of smk_<module> and what they include: props.sv of a block, <part>_props.sv of
    a part in its block's drawer."""
    (first,) = [*HERE.glob(f"{module}/props.sv"), *HERE.glob(f"*/{module}_props.sv")]
    files = [first]
    for file in files:
        for name in re.findall(r'^\s*`include "(\w+/\w+\.svh)"', file.read_text(encoding="utf-8"), re.M):
            files.append(HERE / name)
    return files


def check_cuts():
    """Each cut point is there once in its block, and a fault uses it."""
    used = {(fault["block"], fault["cut"]): cut_file(fault, ROOT / "rtl") for fault in faults().values()}
    seen = []
    for path in sorted((ROOT / "rtl").rglob("*.sv")):
        for name, _, _ in cuts(path.read_text(encoding="utf-8")):
            cut = path.parent.name, name
            if cut not in used:
                stop(path, f"no fault uses the cut point {name}")
            if cut in seen:
                stop(path, f"a second cut point {name}")
            seen.append(cut)
    return len(seen)


def main():
    counts = [f"{len(entries(kind))} {kind}s" for kind in KEYS if kind != "claim"]
    print(f"{len(drawers())} drawers: {len(list(claims()))} claims, {', '.join(counts)}, "
          f"{len(waivers())} waivers with those of several blocks, {check_cuts()} cut points")


if __name__ == "__main__":
    main()
