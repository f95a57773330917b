# SPDX-License-Identifier: Apache-2.0
"""meta.claims: every claim in tb/<block>/block.toml and in a claims.toml of tests/ is checked by tests that
exist.

usage: claims.py [BUILD_DIR]
A test exists when its name, label.Suite.Test, stands in a tests/<label>/*_test.cc or, with label unit, in
a tb/<block>/*_test.cc, or when CTest knows it in BUILD_DIR (scripts, proofs, and instances of
parameterized tests).
"""

import json
import re
import subprocess
import sys

import repo

sys.path.insert(0, str(repo.ROOT / "tb"))
import drawers

# Folders with another label than their name.
LABELS = {"tb": "unit", "trace": "model"}
GTEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


def tests_in_sources():
    names = set()
    for path in repo.tracked("tests/*_test.cc", "tb/*_test.cc"):
        folder = path.parts[0] if path.parts[0] == "tb" else path.parts[1]
        label = LABELS.get(folder, folder)
        names |= {f"{label}.{suite}.{test}" for suite, test in GTEST.findall(repo.text(path))}
    return names


def tests_in_ctest(build_dir):
    out = subprocess.run(
        ["ctest", "--test-dir", build_dir, "-C", "long", "--show-only=json-v1"], check=True, stdout=subprocess.PIPE
    ).stdout
    return {test["name"] for test in json.loads(out)["tests"]}


known = tests_in_sources()
if len(sys.argv) > 1:
    known |= tests_in_ctest(sys.argv[1])
findings = []
count = 0
for file, claim in drawers.claims():
    count += 1
    where = f"{file}: {claim['claim']}"
    if not claim["checks"]:
        findings.append(f"{where}: 'checks' must list at least one test")
    findings += [f"{where}: no test {check}" for check in claim["checks"] if check not in known]
repo.report(findings, f"{count} claims, {len(known)} tests")
