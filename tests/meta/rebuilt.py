# SPDX-License-Identifier: Apache-2.0
"""meta.rebuilt: nothing is verilated again in every build.

  python3 rebuilt.py BUILD

Ninja runs a command in every build when the list of what it read is not that of its first output, or has another one."""

import pathlib
import re
import sys

BUILD = re.compile(r"^build ([^:|]+)[|:].*\n(?:  .*\n)*?  depfile = (\S+)$", re.MULTILINE)


def wrong(folder):
    """A line for each list of another output."""
    for outputs, depfile in BUILD.findall((folder / "build.ninja").read_text()):
        if not pathlib.Path(depfile).is_file():
            continue
        found = pathlib.Path(depfile).read_text().partition(":")[0].replace("\\\n", " ").split()
        expected = outputs.split()[:1]
        if found != expected:
            yield f"{depfile} is about {' '.join(found[:3])}, not about {expected[0]} alone"


folder = pathlib.Path(sys.argv[1])
lines = list(wrong(folder))
print(*lines, sep="\n")
print("rebuilt:", "FAIL" if lines else "PASS")
sys.exit(bool(lines))
