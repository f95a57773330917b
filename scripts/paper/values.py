# SPDX-License-Identifier: Apache-2.0
"""Reads sim/sweeps/paper_values.toml: the numbers of the paper that ours stand beside."""

import tomllib

FIGURES = {"table2", "table3", "fig5", "fig10", "fig12", "fig13", "fig14", "fig15", "fig16",
           "overhead", "warped-slicer-fig6"}
POLICIES = {"isolated", "leftover", "even", "spatial", "spatial-ideal", "smk", "smk-p", "smk-pw",
            "smk-pw-ideal", "smk-pw2", "warped-slicer"}
MEASURES = {"stp", "antt", "fairness", "ipc", "resource_fairness", "stall_cycles", "registers",
            "shared_memory", "threads", "sms_alone", "sms_shared", "pipeline", "control", "data",
            "stalls", "partition_counters", "warp_scheduling_counters", "storage_kilobytes"}
KEYS = {"value": {"figure", "policy", "group", "measure", "value", "source"}}
KEYS["ratio"] = KEYS["value"] | {"over"}


def findings(entry, kind):
    """What is wrong with one entry."""
    where = f"[[{kind}]] {entry.get('figure')} {entry.get('policy')} {entry.get('group')}"
    missing = KEYS[kind] - entry.keys()
    unknown = entry.keys() - KEYS[kind] - {"note"}
    found = [f"{where}: no key '{key}'" for key in sorted(missing)]
    found += [f"{where}: unknown key '{key}'" for key in sorted(unknown)]
    if found:
        return found
    known = {"figure": FIGURES, "policy": POLICIES, "over": POLICIES, "measure": MEASURES}
    for key, names in known.items():
        if key in entry and entry[key].split(":")[0] not in names:
            found.append(f"{where}: unknown {key} '{entry[key]}'")
    if not isinstance(entry["value"], (int, float)) or entry["value"] < 0:
        found.append(f"{where}: expected a number, got {entry['value']!r}")
    return found


def check(document):
    """What is wrong with a whole file."""
    found = [f"unknown key '{key}'" for key in document.keys() - KEYS.keys()]
    seen = set()
    for kind in KEYS:
        for entry in document.get(kind, []):
            found += findings(entry, kind)
            name = (kind, *(entry.get(k) for k in ("figure", "policy", "over", "group", "measure")))
            if name in seen:
                found.append(f"twice: {name}")
            seen.add(name)
    return found


class PaperValues:
    """The numbers, by what they are of."""

    def __init__(self, path):
        with open(path, "rb") as file:
            document = tomllib.load(file)
        wrong = check(document)
        if wrong:
            raise ValueError(f"{path}: {wrong[0]}")
        self.entries = [dict(e, over=e.get("over", "")) for k in KEYS for e in document[k]]

    def of(self, figure):
        """The entries that stand beside a figure."""
        return [e for e in self.entries if e["figure"] == figure]

    def find(self, policy, group, measure, over=""):
        """The number, or None when the paper does not give it."""
        wanted = (policy, group, measure, over)
        for e in self.entries:
            if (e["policy"], e["group"], e["measure"], e["over"]) == wanted:
                return e["value"]
        return None
