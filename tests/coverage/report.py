#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of scripts/coverage: what the tests reached in each module of rtl/.

  report.py DATA... --out DIR     table, DIR/summary.json, DIR/modules/*.txt; fails under the limits
    --update                      also writes the table into docs/measured/coverage.md
    --blocks BLOCK...             only of these folders of rtl/: the other rows of the page stay as they are
  report.py --check-waivers       only whether every waiver names something that exists

A line is covered when everything on it ran; a branch is one side of an if; a toggle is one bit of
one signal, covered when one run changed it twice after reset; cover points are SMK_COVER.
"""

import argparse
import json
import pathlib
import re
import sys

from points import KINDS, Coverage, check_waivers, group_bits, load_waivers

HERE = pathlib.Path(__file__).resolve().parent
RTL = HERE.parents[1] / "rtl"
PAGE = HERE.parents[1] / "docs/measured/coverage.md"
BEGIN, END = "<!-- table: scripts/coverage --update -->\n", "<!-- end of table -->\n"
LIMITS = {"line": 95.0, "branch": 95.0, "toggle": 90.0, "user": 100.0}
TITLES = {"line": "lines", "branch": "branches", "toggle": "toggles", "user": "cover points"}


class Module:
    """What was reached in one file: hit and missed items per kind, and those that are waived."""

    def __init__(self, file):
        self.file, self.name = file, pathlib.Path(file).stem
        self.source = (RTL / file).read_text(encoding="utf-8").splitlines()
        self.hit = {kind: 0 for kind in KINDS}
        self.missed = {kind: [] for kind in KINDS}
        self.waived = {kind: 0 for kind in KINDS}

    def total(self, kind):
        return self.hit[kind] + len(self.missed[kind])

    def percent(self, kind):
        return 100.0 * self.hit[kind] / self.total(kind) if self.total(kind) else 100.0

    def summary(self):
        row = {"file": self.file}
        for kind in KINDS:
            row[TITLES[kind]] = {
                "hit": self.hit[kind], "total": self.total(kind), "waived": self.waived[kind],
                "percent": round(self.percent(kind), 2),
                "missed": [self.describe(kind, item) for item in self.missed[kind]],
            }
        return row

    def describe(self, kind, item):
        if kind == "line":
            return str(item)
        return f"{item.line} {item.name}"


def find_waiver(waivers, point, source):
    return next((waiver for waiver in waivers if waiver.takes(point, source)), None)


def count_points(module, points, coverage, waivers):
    for point in points:
        if coverage.hit(point):
            module.hit[point.kind] += 1
        elif find_waiver(waivers, point, module.source[point.line - 1]):
            module.waived[point.kind] += 1
        else:
            module.missed[point.kind].append(point)


def count_lines(module, points, coverage, waivers):
    """A line stands in the point of its block, and in more when several blocks touch it."""
    on_line = {}
    for point in points:
        for line in coverage.lines[point]:
            on_line.setdefault(line, []).append(point)
    for line, here in sorted(on_line.items()):
        missed = [point for point in here if not coverage.hit(point)]
        if not missed:
            module.hit["line"] += 1
        elif all(find_waiver(waivers, p._replace(kind="line"), module.source[p.line - 1])
                 or find_waiver(waivers, p, module.source[p.line - 1]) for p in missed):
            module.waived["line"] += 1
        else:
            module.missed["line"].append(line)


def make_modules(coverage, waivers):
    by_file = {}
    for point in sorted(coverage.counts):
        by_file.setdefault(point.file, []).append(point)
    modules = []
    for file, points in sorted(by_file.items()):
        module = Module(file)
        count_points(module, [p for p in points if p.kind != "line"], coverage, waivers)
        count_lines(module, [p for p in points if p in coverage.lines], coverage, waivers)
        modules.append(module)
    return modules


def unmeasured(modules, waivers):
    """Files and cover points of the source that no data speaks of."""
    known = {module.file for module in modules}
    files = [str(p.relative_to(RTL)) for p in sorted(RTL.rglob("*.sv"))]
    findings = [f"{file}: not in the data" for file in files
                if file not in known and not any([w.takes_file(file) for w in waivers])]
    for module in modules:
        declared = re.findall(r"^\s*`SMK_COVER\((\w+)", "\n".join(module.source), re.M)
        if len(declared) != module.total("user") + module.waived["user"]:
            findings.append(f"{module.file}: has {len(declared)} cover points, the data others")
    return findings


def stale(data):
    """Data of older RTL has its points on other lines."""
    newest = max(RTL.rglob("*.sv"), key=lambda file: file.stat().st_mtime)
    return [f"{path.name}: older than {newest.relative_to(RTL)}; run the program again"
            for path in data if path.stat().st_mtime < newest.stat().st_mtime]


def cell(module, kind):
    if module.total(kind) == 0:
        return "-"
    counts = f"{module.hit[kind]}/{module.total(kind)}"
    return counts if kind == "user" else f"{module.percent(kind):.1f} % of {module.total(kind)}"


def add_up(modules):
    total = Module(modules[0].file)
    total.name = "all"
    for module in modules:
        for kind in KINDS:
            total.hit[kind] += module.hit[kind]
            total.missed[kind] += module.missed[kind]
            total.waived[kind] += module.waived[kind]
    return total


def table(modules):
    """In Markdown, as docs/measured/coverage.md has it."""
    rows = [["module"] + [TITLES[kind] for kind in KINDS] + ["waived"]]
    for module in modules + [add_up(modules)]:
        waived = sum(module.waived.values())
        rows.append([module.name] + [cell(module, kind) for kind in KINDS] + [str(waived or "-")])
    return in_columns(rows)


def in_columns(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(t.ljust(w) for t, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def cells_of(line):
    return [text.strip() for text in line.strip().strip("|").split("|")]


def merged(text, old):
    """The rows of `old` with those of `text` instead of theirs; a sum would be of different runs."""
    head, *rows = [cells_of(line) for line in text.splitlines() if not line.startswith("|--")]
    known = [cells_of(line) for line in old.splitlines()[2:]]
    new = {row[0]: row for row in rows if row[0] != "all"}
    kept = [new.pop(row[0], row) for row in known if row[0] != "all"]
    return in_columns([head, *kept, *new.values()])


def update_page(text, whole):
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    old, after = rest.split(END)
    text = text if whole else merged(text, old)
    PAGE.write_text(before + BEGIN + text + "\n" + END + after, encoding="utf-8")


def annotate(module, coverage, folder):
    """The source with the lowest count of what stands on a line, and below it what is missed."""
    counts, missed = {}, {}
    for point, lines in coverage.lines.items():
        if point.file == module.file:
            for line in lines:
                counts[line] = min(counts.get(line, 1 << 62), coverage.counts[point])
    for kind in ("branch", "toggle", "user"):
        for point in module.missed[kind]:
            missed.setdefault(point.line, []).append(
                f"{kind} {point.name}" if kind != "toggle" else point.name)
    with open(folder / f"{module.name}.txt", "w", encoding="utf-8") as out:
        for number, text in enumerate(module.source, start=1):
            mark = "!" if number in module.missed["line"] else " "
            out.write(f"{mark} {counts.get(number, ''):>10} {number:4} {text}\n")
            for name in group_bits(missed.get(number, [])):
                out.write(f"!{'':16} -- not seen: {name}\n")


def failures(modules, waivers, whole):
    """What keeps the report from passing: every module is held to every limit."""
    found = unmeasured(modules, waivers) if whole else []
    for module in modules:
        found += [f"{module.file}: {TITLES[kind]} {module.percent(kind):.1f} %, not {limit:g} %"
                  for kind, limit in LIMITS.items() if module.percent(kind) < limit]
        found += [f"{module.file}: cover point {p.name} was never hit" for p in module.missed["user"]]
    if whole:
        found += [f"waiver without use: {waiver.file}: {waiver.kind} {what}"
                  for waiver in waivers for what in sorted(waiver.unused)]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check-waivers", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--blocks", nargs="+", default=[])
    args = parser.parse_args()
    waivers = load_waivers()
    found = check_waivers(waivers, RTL)
    if args.check_waivers:
        print(*found, f"{len(waivers)} waivers: {len(found)} findings", sep="\n")
        return bool(found)
    coverage = Coverage()
    for path in args.data:
        coverage.read(path, RTL)
    if not coverage.counts:
        print("coverage: no data", file=sys.stderr)
        return 2
    modules = make_modules(coverage, waivers)
    if args.blocks:
        modules = [module for module in modules if pathlib.Path(module.file).parent.name in args.blocks]
    found += stale(args.data) + failures(modules, waivers, not args.blocks)
    (args.out / "modules").mkdir(parents=True, exist_ok=True)
    for module in modules:
        annotate(module, coverage, args.out / "modules")
    summary = {"limits": LIMITS, "total": add_up(modules).summary(), "failures": found,
               "modules": {module.name: module.summary() for module in modules}}
    del summary["total"]["file"]
    for kind in KINDS:
        del summary["total"][TITLES[kind]]["missed"]
    (args.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(table(modules))
    if args.update:
        update_page(table(modules), not args.blocks)
    for finding in found:
        print(f"coverage: {finding}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
