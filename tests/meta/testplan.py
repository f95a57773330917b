# SPDX-License-Identifier: Apache-2.0
"""meta.testplan: every claim in tests/testplan.yaml is checked by tests that exist.

usage: testplan.py [BUILD_DIR]
A test exists when its name, label.Suite.Test, stands in a tests/<label>/*_test.cc or, with
label unit, in a tb/<block>/*_test.cc, or when CTest knows
it in BUILD_DIR (scripts, proofs, and instances of parameterized tests).
"""

import json
import re
import subprocess
import sys

import yaml

import repo

PLAN = "tests/testplan.yaml"
KEYS = {"claim", "paper", "block", "checks"}
GTEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


def tests_in_sources():
    names = set()
    for path in repo.tracked("tests/*_test.cc", "tb/*_test.cc"):
        label = "unit" if path.parts[0] == "tb" else path.parts[1]
        names |= {f"{label}.{suite}.{test}" for suite, test in GTEST.findall(repo.text(path))}
    return names


def tests_in_ctest(build_dir):
    out = subprocess.run(
        ["ctest", "--test-dir", build_dir, "--show-only=json-v1"], check=True, stdout=subprocess.PIPE
    ).stdout
    return {test["name"] for test in json.loads(out)["tests"]}


def check_entry(entry, where, names):
    if not isinstance(entry, dict):
        return [f"{where}: expected a mapping of {', '.join(sorted(KEYS))}"]
    findings = [f"{where}: unknown key '{key}'" for key in sorted(entry.keys() - KEYS)]
    findings += [f"{where}: no key '{key}'" for key in sorted(KEYS - entry.keys())]
    checks = entry.get("checks")
    if not isinstance(checks, list) or not checks:
        return findings + [f"{where}: 'checks' must list at least one test"]
    return findings + [f"{where}: no test {check}" for check in checks if check not in names]


known_names = tests_in_sources()
if len(sys.argv) > 1:
    known_names |= tests_in_ctest(sys.argv[1])
plan = yaml.safe_load(repo.text(PLAN))
if not isinstance(plan, list):
    repo.report([f"{PLAN}: expected a list of claims"], PLAN)
all_findings = []
for index, item in enumerate(plan, start=1):
    claim = item.get("claim") if isinstance(item, dict) else None
    all_findings += check_entry(item, f"{PLAN}: {claim or f'entry {index}'}", known_names)
repo.report(all_findings, f"{len(plan)} claims, {len(known_names)} tests")
