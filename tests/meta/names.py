# SPDX-License-Identifier: Apache-2.0
"""meta.names: the same block has the same name everywhere.

rtl/<place>/<block>/smk_<block>.sv = model/control/<block>.h with a class of the block's name
  = tb/<block>/directed_test.cc = docs/blocks/<block>.md
A block may exist in C++ before it exists in SystemVerilog, but never the other way round.
"""

import re

import repo

# What has no twin, and why. The only list of exceptions.
EXCLUDED = {
    "control_plane": "the seam between the control plane and the machine, not a block",
    "control_probe": "the registers between driver and SMs, for comparisons",
    "reference_control": "wiring: the reference blocks behind the seam",
    "types": "types only",
    "messages": "types only: the signals between the driver and the SMs",
    "pkg": "types only, in SystemVerilog",
    "driver": "wiring of one GPU's blocks",
    "sm_control": "wiring of one SM's blocks",
    "sm_tables": "the part of sm_control that is no scheduler: in C++ it is SmControl itself",
    "sm_quotas": "a part of sm_tables",
    "sm_reports": "a part of sm_tables",
    "sm_victims": "a part of sm_tables",
    "sm_views": "a part of sm_tables",
    "sm_warps": "a part of sm_tables",
    "buffer_list": "a part of preempted_queue",
    "down_counter": "a part of kernel_table",
    "range_shrinks": "a part of drf_tracker",
    "sm_usage": "a part of drf_tracker",
    "dispatch_fit": "a part of tb_dispatch",
    "dispatch_marks": "a part of tb_dispatch, which is one class in C++",
    "dispatch_partitions": "a part of tb_dispatch",
    "dispatch_pick": "a part of tb_dispatch",
    "dispatch_preempt": "a part of tb_dispatch",
    "dispatch_send": "a part of tb_dispatch",
    "dispatch_steps": "a part of tb_dispatch",
    "driver_bus": "a part of driver",
    "driver_decision": "a part of driver",
    "driver_events": "a part of driver",
    "driver_profile": "a part of driver",
    "drf_order": "a part of drf_tracker, which is one class in C++",
    "drf_share": "a part of drf_tracker",
    "top": "wiring of the whole chip",
}
# Parts of several blocks (trees, dividers, FIFOs) are tested through the blocks that use them.
COMMON = "rtl/common/"


def class_name(block):
    return "".join(word.capitalize() for word in block.split("_"))


def modelled_blocks():
    return {p.stem for p in repo.tracked("model/control/*.h")} - EXCLUDED.keys()


def rtl_blocks():
    files = [p for p in repo.tracked("rtl/*.sv") if not str(p).startswith(COMMON)]
    return {p.stem[len("smk_"):]: p for p in files if p.stem.startswith("smk_")}


def twins(block):
    return [f"docs/blocks/{block}.md", f"tb/{block}/directed_test.cc"]


known = {str(p) for p in repo.tracked()}
modelled = modelled_blocks()
findings = []
for block in sorted(modelled):
    header = f"model/control/{block}.h"
    findings += [f"{header}: no {twin}" for twin in twins(block) if twin not in known]
    if not re.search(rf"\b(class|struct) {class_name(block)}\b", repo.text(header)):
        findings.append(f"{header}: no class {class_name(block)}")

rtl = rtl_blocks()
for block, path in sorted(rtl.items()):
    if block not in EXCLUDED and block not in modelled:
        findings.append(f"{path}: no model/control/{block}.h")
findings += [
    f"{p}: the file's name does not start with smk_"
    for p in repo.tracked("rtl/*.sv")
    if not p.stem.startswith("smk_")
]
repo.report(findings, f"{len(modelled)} blocks in C++, {len(rtl)} in SystemVerilog")
