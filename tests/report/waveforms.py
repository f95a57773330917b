# SPDX-License-Identifier: Apache-2.0
"""docs/waveforms.md walks through two runs: its own commands are run, and what other files say of them is compared.

usage: waveforms.py SOURCE_DIR SMK
"""

import csv
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def expect(found, expected, what):
    if found != expected:
        sys.exit(f"waveforms: docs/waveforms.md: {what}: expected {expected}, found {found}")


def section(page, title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]


def run(text, smk, folder):
    """The first command of the section, into another folder."""
    command = re.search(r"^    (build/release/bin/smk run (?:.*\\\n)*.*)\n", text, re.M)[1].replace("\\\n", " ")
    words = shlex.split(command)
    words[0], words[words.index("--out") + 1] = smk, str(folder)
    subprocess.run([*words, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers_of(text, says):
    """Of the row of the walk that says this: its cycles, and the numbers in its text."""
    found = re.search(rf"^\| ([\d, ]+) \|(.*{says}.*)\|$", text, re.M)
    if not found:
        sys.exit(f"waveforms: docs/waveforms.md: no row says '{says}'")
    return [[int(number) for number in re.findall(r"\d+", part)] for part in found.groups()]


def check_preemption(page, smk, folder):
    text = section(page, "A preemption in a real run")
    run(text, smk, folder)
    decision = next(row for row in rows(folder / "decisions.csv") if row["reason"] == "preempt")
    expect(numbers_of(text, "`ReasonPreempt`")[0], [int(decision["cycle"])], "cycle of the decision")
    shares = [int(decision["share_1"]), int(decision["share_0"])]
    expect(numbers_of(text, "a decision begins")[1][-2:], shares, "rK of both kernels")
    marker = re.search(r"^\*\S+ (\d+) ", (folder / "wave.gtkw").read_text(encoding="utf-8"), re.M)
    expect(numbers_of(text, "asks for a context buffer")[0][0], int(marker[1]) // 1000, "cycle of the marker")
    tb = next(row for row in rows(folder / "tbs.csv") if row["outcome"] == "saved")
    slot = numbers_of(text, "asks for a context buffer")[1][0]
    expect([slot, int(decision["sm"])], [int(tb["tb_slot"]), int(tb["sm"])], "slot and SM of the TB")
    expect(numbers_of(text, "the last line is in memory")[0], [int(tb["end_cycle"])], "end of the TB")


def check_epoch(page, smk, folder):
    text = section(page, "An epoch in a real run")
    run(text, smk, folder)
    sm = re.search(r"It shows SM (\d+)", text)[1]
    quotas = {}  # of both kernels, by the end of the window
    for row in rows(folder / "samples.csv"):
        if row["sm"] == sm:
            quotas.setdefault(int(row["cycle"]), []).append(int(row["quota"]))
    window = int(row["length"])
    reload, left = numbers_of(text, "all warps `with quota`")
    in_force = [quotas[cycle] for cycle in sorted(quotas) if cycle > reload[0] - window][:3]
    unused, later = numbers_of(text, "quotas of the next window arrive")
    expect([left[:2], later[:2], later[2:4]], in_force, "quotas of three windows")
    expect(reload[0] < unused[0] < later[4], True, "order of the windows")


def main():
    page = (pathlib.Path(sys.argv[1]) / "docs/waveforms.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        check_preemption(page, sys.argv[2], pathlib.Path(folder) / "preemption")
        check_epoch(page, sys.argv[2], pathlib.Path(folder) / "epoch")


if __name__ == "__main__":
    main()
