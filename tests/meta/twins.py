# SPDX-License-Identifier: Apache-2.0
"""meta.twins: every reference class has Inputs, Outputs, State, Eval and Tick, as CONTRIBUTING.md says."""

import re

import repo

NAMES = {
    "Inputs": r"\b(struct Inputs \{|using Inputs =)",
    "Outputs": r"\b(struct Outputs \{|using Outputs =)",
    "State": r"\b(struct (alignas\(64\) )?State \{|using State =)",
    "Eval": r"\bOutputs&? Eval\(const Inputs&( in)?\) const\b",
    "Tick": r"\bvoid Tick\(const Inputs& in(, const Outputs& out)?\)",
}

headers = [path for path in repo.tracked("model/control/*.h") if "// Reference of smk_" in repo.text(path)]
findings = [
    f"{path}: {name} is missing, or declared otherwise"
    for path in headers
    for name, pattern in NAMES.items()
    if not re.search(pattern, repo.text(path))
]
repo.report(findings, f"{len(headers)} reference classes")
