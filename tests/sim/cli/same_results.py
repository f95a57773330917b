# SPDX-License-Identifier: Apache-2.0
"""Compares what two runs have written, whoever decided in them."""

import re

# What may differ: who decided, which blocks are gates, how long it took, what was there before.
OF_THE_RUN = (rb"(?m)^gates = .*\n|^ *\"?control\"?[ :=]+['\"](reference|rtl|chip|(lockstep-)?compiled|lockstep)['\"],?$"
              rb"|^ *\"(wall_seconds|cycles_per_second)\": .*$|^ *\"lockstep\": \{[^}]*\},?\n"
              rb"|^ *\"isolated_from_cache\": \[[^\]]*\]")


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
            lines = zip(*(text.decode(errors="replace").splitlines() for text in texts))
            return f"{name} differs: {next((pair for pair in lines if pair[0] != pair[1]), 'one is longer')}"
    return ""
