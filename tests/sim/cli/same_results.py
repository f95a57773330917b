# SPDX-License-Identifier: Apache-2.0
"""Compares what two runs have written, whoever decided in them."""

import re

# What may differ: who decided, which blocks are gates, how long it took.
OF_THE_RUN = (rb"(?m)^gates = .*\n|^ *\"?control\"?[ :=]+['\"](reference|rtl|(lockstep-)?compiled|lockstep)['\"],?$"
              rb"|^ *\"(wall_seconds|cycles_per_second)\": .*$|^ *\"lockstep\": \{[^}]*\},?\n")


def difference(one, other):
    """What differs between two folders, but for the manifest and for what may; "" when nothing does."""
    names = sorted(path.name for path in one.iterdir())
    if "stats.json" not in names or "decisions.csv" not in names:
        return f"only {names}"
    if names != sorted(path.name for path in other.iterdir()):
        return f"other files: {names}"
    for name in names:
        if name == "manifest.json":
            continue
        texts = [re.sub(OF_THE_RUN, b"", (run / name).read_bytes()) for run in (one, other)]
        if texts[0] != texts[1]:
            return f"{name} differs with gates"
    return ""
