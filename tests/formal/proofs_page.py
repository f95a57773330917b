# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/proofs.md, each between two marks: written with --write, else compared."""

import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/proofs.md"


def finish(script, what, found, end, table):
    """Prints the findings of a script, one of which may be that its table is another; the exit status."""
    begin = f"<!-- table: tests/formal/{script} --write -->\n"
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    if not found:
        wanted = before + begin + table() + end + rest.split(end)[1]
        if sys.argv[1:] == ["--write"]:
            PAGE.write_text(wanted, encoding="utf-8")
        elif page != wanted:
            found = [f"docs/proofs.md: not the table of {script}; run tests/formal/{script} --write"]
    print("\n".join([*found, f"{what}: {len(found)} findings"]))
    return 1 if found else 0
