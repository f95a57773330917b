# SPDX-License-Identifier: Apache-2.0
"""meta.names: the same block has the same name everywhere.

rtl/<place>/<block>/smk_<block>.sv = model/control/<place>/<block>.h with its class
  = tb/<block>/ with block.toml and a test = docs/blocks/<block>.md
A folder of rtl/<place>/ is a block; every other file in it is a part of the block. What lies in
rtl/<place>/ itself is no block: what several blocks use, and the whole chip. A header of model/control is
a block's when it begins with "Reference of smk_<block>".
"""

import re

import repo


def class_name(block):
    return "".join(word.capitalize() for word in block.split("_"))


def check_block(place, block):
    """Findings about one folder of rtl/."""
    rtl, header, drawer = f"rtl/{place}/{block}", f"model/control/{place}/{block}.h", f"tb/{block}"
    wanted = [f"{rtl}/smk_{block}.sv", header, f"{drawer}/block.toml", f"docs/blocks/{block}.md"]
    yield from (f"{rtl}: no {path}" for path in wanted if path not in known)
    if not any(path.startswith(f"{drawer}/") and path.endswith("_test.cc") for path in known):
        yield f"{drawer}: no test"
    if header in known:
        text = repo.text(header)
        if not re.search(rf"\b(class|struct) {class_name(block)}\b", text):
            yield f"{header}: no class {class_name(block)}"
        if f"Reference of smk_{block}" not in text:
            yield f"{header}: does not say of which module it is the reference"


known = {str(path) for path in repo.tracked()}
modules = repo.tracked("rtl/*.sv")
blocks = {path.parts[2]: path.parts[1] for path in modules if len(path.parts) == 4}
findings = [finding for block, place in sorted(blocks.items()) for finding in check_block(place, block)]
findings += [
    f"{path}: its name does not start with smk_, or it lies too deep"
    for path in modules
    if not path.stem.startswith("smk_") or len(path.parts) > 4
]
findings += [
    f"{path}: says it is the reference of smk_{name}, which is no block"
    for path in repo.tracked("model/control/*.h")
    for name in re.findall(r"^// Reference of smk_(\w+)", repo.text(path), re.M)
    if name not in blocks
]
everywhere = {path.stem for path in modules}
findings += [
    f"{path}: no smk_{path.parent.name}.sv"
    for path in repo.tracked("tb/*/block.toml")
    if f"smk_{path.parent.name}" not in everywhere
]
repo.report(findings, f"{len(blocks)} blocks, {len(modules)} modules")
