# SPDX-License-Identifier: Apache-2.0
"""synth.area: no block is more than 5 % larger than in the committed table.

usage: synth_area.py SMK TABLE
Only blocks that have changed since the table was written are synthesized, and one that has not, to see
that the table tells the truth. Exit status 77, skipped, when Yosys is missing.
"""

import json
import subprocess
import sys
import tempfile

SKIPPED = 77
SAMPLE = "profile_counters"

smk, table = sys.argv[1:3]


def synth(*arguments):
    result = subprocess.run(
        [smk, "synth", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    print(result.stdout + result.stderr, end="")
    if result.returncode == 2 and "not installed" in result.stderr:
        sys.exit(SKIPPED)
    if result.returncode != 0:
        sys.exit(1)


def entry(path):
    with open(path, encoding="utf-8") as file:
        blocks = json.load(file)["blocks"]
    return next(block for block in blocks if block["block"] == SAMPLE)


synth("--against", table)
with tempfile.NamedTemporaryFile() as now:
    synth(SAMPLE, "--no-timing", "--no-cache", "--json", now.name)
    here, there = entry(now.name), entry(table)
if here["inputs"] == there["inputs"] and here["own"] != there["own"]:
    sys.exit(f"{SAMPLE}: the table says {there['own']}, but it is {here['own']}")
