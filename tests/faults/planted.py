# SPDX-License-Identifier: Apache-2.0
"""The planted faults of faults.toml: what an entry may say, and whether it still applies.

An entry [[fault]] has
  name        in one word, what goes wrong
  what        the same in a sentence
  block       whose testbench tb_<block> runs; "top" for wires between the blocks
  rtl         patches of the RTL: a list of [file, old text, new text]; the old text is there exactly once
  twin        patches of the C++ twin, alike. With both, the same fault is in both: lockstep cannot see it.
and it may have
  wiring      true: a wire, a link or a parameter between blocks is wrong
  edge        true: only the last kernel, SM, slot, warp or scheduler is concerned
  proofs      proofs of tb/*/block.toml that bear on it
  chip        true: also the whole small chip in lockstep with the reference
  netlist     true: also the lockstep tests on the block's netlist
  hole        why nothing finds it: without this, a fault that nothing finds is an error
  open        true: the fault has not been run yet, or not by all that may find it; it counts for nothing
"""

import hashlib
import json
import pathlib
import re
import tomllib

MUST = {"name", "what", "block"}
MAY = {"rtl", "twin", "wiring", "edge", "proofs", "chip", "netlist", "hole", "open"}
METHODS = ("lockstep", "properties", "specification", "proofs", "chip", "netlist")


class FaultError(Exception):
    """faults.toml says something that cannot be."""


def read(path):
    """All faults, checked for their keys."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    if set(content) - {"fault"}:
        raise FaultError(f"{path.name}: unknown key '{min(set(content) - {'fault'})}'")
    faults, names = content.get("fault", []), set()
    for fault in faults:
        name = fault.get("name", "a fault without a name")
        for key in sorted(MUST - fault.keys()):
            raise FaultError(f"{path.name}: {name}: no key '{key}'")
        for key in sorted(fault.keys() - MUST - MAY):
            raise FaultError(f"{path.name}: {name}: unknown key '{key}'")
        if not re.fullmatch(r"[A-Z]\w+", name) or name in names:
            raise FaultError(f"{path.name}: {name}: no name, or there twice")
        if not patches(fault):
            raise FaultError(f"{path.name}: {name}: no patch")
        names.add(name)
    return faults


def patches(fault):
    return [*fault.get("rtl", []), *fault.get("twin", [])]


def is_same(fault):
    """The same in RTL and twin."""
    return "rtl" in fault and "twin" in fault


def identity(fault):
    """Of what its results are: what is patched, and for whom."""
    text = json.dumps([fault["block"], fault.get("rtl", []), fault.get("twin", [])])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def methods(fault):
    """Those that could find it by their nature, the cheap ones first."""
    wanted = {"lockstep", "properties"}
    if "twin" in fault:
        wanted.add("specification")
    if "rtl" not in fault:
        wanted.discard("properties")  # they are those of the RTL
    wanted |= {key for key in ("proofs", "chip", "netlist") if fault.get(key)}
    return [method for method in METHODS if method in wanted]


def patched(fault, root):
    """The files of `root` that the fault changes, with their new text."""
    texts = {}
    for number, patch in enumerate(patches(fault), 1):
        if len(patch) != 3:
            raise FaultError(f"{fault['name']}: patch {number} is not file, old and new text")
        name, old, new = patch
        path = root / name
        if not path.is_file():
            raise FaultError(f"{fault['name']}: no file {name}")
        text = texts.get(name, path.read_text(encoding="utf-8"))
        count = text.count(old) if old else 0
        if count != 1 or old == new:
            raise FaultError(f"{fault['name']}: {name}: the old text is there {count} times: {old.strip()[:60]}")
        texts[name] = text.replace(old, new)
    return texts


def findings(faults, results, root, proofs):
    """What is wrong with the file and with the stored results."""
    for fault in faults:
        name = fault["name"]
        try:
            patched(fault, root)
        except FaultError as error:
            yield str(error)
        for proof in set(fault.get("proofs", [])) - proofs:
            yield f"{name}: no proof {proof}"
        if not (root / "tb" / fault["block"] / "block.toml").is_file():
            yield f"{name}: no block {fault['block']}"
        stored = results.get(name, {})
        if fault.get("open"):
            if any(result["found"] for result in stored.get("methods", {}).values()):
                yield f"{name}: it is found, and said to be open"
            continue
        if stored.get("identity") != identity(fault):
            yield f"{name}: no results of this fault; run scripts/fault_matrix --only {name}"
            continue
        found = any(result["found"] for result in stored["methods"].values())
        if not found and "hole" not in fault:
            yield f"{name}: nothing finds it"
        if found and "hole" in fault:
            yield f"{name}: it is found, and said to be a hole"
    for name in sorted(results.keys() - {fault["name"] for fault in faults}):
        yield f"{name}: results of a fault that is gone"


def load_results(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
