# SPDX-License-Identifier: Apache-2.0
"""Coverage points of the RTL, and the waivers that take some of them out.

A point is known by its place in the source and its name: instances, parameters of a module and
programs are merged. A toggle point is one bit of one signal of the source.
"""

import collections
import fnmatch
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tb"))
import drawers

KINDS = ("line", "branch", "toggle", "user")
# A bit counts as toggled when one run of one program changed it twice after reset: up and down.
NEEDED = {"line": 1, "branch": 1, "toggle": 2, "user": 1}

Point = collections.namedtuple("Point", "file line column kind name")


def parse_lines(text):
    """{3, 5, 6} of "3,5-6"."""
    lines = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        lines.update(range(int(first), int(last or first) + 1))
    return lines


class Coverage:
    """Counts per point, and the source lines that a line or branch point stands for."""

    def __init__(self):
        self.counts = {}
        self.lines = {}

    def read(self, path, rtl):
        """Adds a data file of Verilator; only what lies in the folder `rtl` counts."""
        for text in path.read_text(encoding="utf-8").splitlines():
            if not text.startswith("C '"):
                continue
            key, _, count = text[3:].rpartition("' ")
            fields = dict(field.split("\2", 1) for field in key.split("\1") if field)
            file = pathlib.Path(fields["f"])
            if file.is_relative_to(rtl):
                self.add(fields, str(file.relative_to(rtl)), int(count))

    def add(self, fields, file, count):
        kind = fields["page"].split("/")[0].removeprefix("v_")
        point = Point(file, int(fields["l"]), int(fields.get("n", 0)), kind, fields.get("o", ""))
        before = self.counts.get(point, 0)
        self.counts[point] = max(before, count) if kind == "toggle" else before + count
        if kind in ("line", "branch"):
            self.lines.setdefault(point, set()).update(parse_lines(fields.get("S", "")))

    def hit(self, point):
        return self.counts[point] >= NEEDED[point.kind]


def indices(text):
    """A regular expression of an index, of ranges or of any index: [3], [31:20,7:0], [*]."""
    if text == "[*]":
        return r"\[\d+\]"
    numbers = []
    for part in text[1:-1].split(","):
        high, _, low = part.partition(":")
        numbers += range(int(low or high), int(high) + 1)
    return r"\[(?:" + "|".join(map(str, numbers)) + r")\]"


def pattern_of(what):
    """A regular expression of a signal with * and ranges of bits."""
    parts = re.split(r"(\[(?:\*|[\d:,]+)\])", what)
    return "".join(
        indices(p) if p.startswith("[") else ".*".join(map(re.escape, p.split("*"))) for p in parts
    )


class Waiver:
    """One waiver of tb/. `what` is a signal with * and ranges of bits, the text of a line,
    the name of a cover point, or * for a whole file that no program holds; or a list of such."""

    def __init__(self, entry):
        self.file, self.kind = entry["file"], entry["kind"]
        self.what, self.reason = entry["what"], entry["reason"]
        if self.kind not in (*KINDS, "file") or not self.reason.strip():
            raise ValueError(f"waiver of {self.what}: needs a kind of {KINDS} and a reason")
        self.whats = [self.what] if isinstance(self.what, str) else self.what
        self.patterns = {what: re.compile(pattern_of(what)) for what in self.whats}
        self.unused = set(self.whats)

    def takes(self, point, source_line):
        """Whether the point is waived; what waives it has a use."""
        if point.kind != self.kind or not fnmatch.fnmatch(point.file, self.file):
            return False
        if self.kind in ("line", "branch"):
            taken = {what for what in self.whats if what in source_line}
        else:
            taken = {what for what in self.whats if self.patterns[what].fullmatch(point.name)}
        self.unused -= taken
        return bool(taken)

    def takes_file(self, file):
        taken = self.kind == "file" and fnmatch.fnmatch(file, self.file)
        if taken:
            self.unused.clear()
        return taken

    def __str__(self):
        return f"{self.file}: {self.kind} {self.what}"


def load_waivers():
    return [Waiver(entry) for entry in drawers.waivers()]


def check_waivers(waivers, rtl):
    """Findings about waivers that name nothing: no file, no such word in it."""
    sources = {str(p.relative_to(rtl)): p.read_text(encoding="utf-8") for p in rtl.rglob("*.sv")}
    findings = []
    for waiver in waivers:
        texts = [text for file, text in sources.items() if fnmatch.fnmatch(file, waiver.file)]
        if not texts:
            findings.append(f"{waiver}: no such file")
            continue
        # Members of structs are declared in the package.
        text = "\n".join(texts + [sources["common/smk_pkg.sv"]])
        wanted = [] if waiver.kind == "file" else waiver.whats
        if waiver.kind == "toggle":
            wanted = re.findall(r"(?<![\w*])[A-Za-z]\w*(?![\w*])", " ".join(waiver.whats))
        findings += [f"{waiver}: no '{word}' in it" for word in wanted if word not in text]
    return findings


def group_bits(names):
    """a[3], a[2], b.c[0] as ["a[3:2]", "b.c[0]"]."""
    groups = collections.OrderedDict()
    for name in names:
        match = re.fullmatch(r"(.*)\[(\d+)\]", name)
        groups.setdefault(match[1] if match else name, []).append(int(match[2]) if match else None)
    texts = []
    for base, bits in groups.items():
        bits = sorted(filter(lambda bit: bit is not None, bits), reverse=True)
        runs = []
        for bit in bits:
            if runs and runs[-1][1] == bit + 1:
                runs[-1][1] = bit
            else:
                runs.append([bit, bit])
        ranges = [f"[{a}:{b}]" if a != b else f"[{a}]" for a, b in runs]
        texts += [base + r for r in ranges] or [base]
    return texts
