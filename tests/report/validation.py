# SPDX-License-Identifier: Apache-2.0
"""scripts/validation: the page is made of its numbers, and a page that is not is noticed.

  python3 validation.py SOURCE
"""

import pathlib
import subprocess
import sys
import tempfile

ROWS = """trace,expected_cycles,cycles,error
exports/sgemm,1000,1050,0.050000
exports/lbm,2000,1900,-0.050000
micro/bar,500,1500,2.000000
"""


def call(source, docs, *options):
    return subprocess.run([source / "scripts/validation", "--docs", docs, *options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def expect(holds, what):
    if not holds:
        sys.exit(f"validation: {what}")


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        docs = pathlib.Path(folder)
        (docs / "validation.csv").write_text(ROWS, encoding="utf-8")
        expect(call(source, docs, "--check").returncode == 1, "a missing page is not noticed")
        expect(not (docs / "validation.md").exists(), "--check writes")
        expect(call(source, docs).returncode == 0, "the page is not made")
        page = (docs / "validation.md").read_text(encoding="utf-8")
        for part in ("| exports | 2 | 5.0% | +5.0% (exports/sgemm) |",
                     "| all | 3 | 70.0% | +200.0% (micro/bar) |", "| lbm | 2000 | 1900 | -5.0% |",
                     "images/validation_micro.svg", "Bars end at 2."):
            expect(part in page, f"'{part}' is not on the page")
        chart = (docs / "images/validation_micro.svg").read_text(encoding="utf-8")
        expect("bar, ours: 2.000" in chart, "a bar is not cut at 2")
        expect(call(source, docs, "--check").returncode == 0, "its own page is not accepted")
        changed = ROWS.replace("1500,2.0", "600,0.2")
        (docs / "validation.csv").write_text(changed, encoding="utf-8")
        expect(call(source, docs, "--check").returncode == 1, "other numbers are not noticed")
        expect("needs FOLDER" in call(source, docs, "--quiet").stdout, "options without FOLDER")


if __name__ == "__main__":
    main()
