# SPDX-License-Identifier: Apache-2.0
# Tables of the manual that are lists of the program: they stand between
#   <!-- smk list settings --markdown -->   and   <!-- end -->
# and are what the command prints.
#
#   tables.py SMK DOCS           says which differ
#   tables.py SMK DOCS --write   writes them
import pathlib
import re
import subprocess
import sys

TABLE = re.compile(r"<!-- smk (list [^>]*?) -->\n(.*?)<!-- end -->", re.DOTALL)
# A list that no page shows any more would not be missed otherwise.
LEAST = {"usage.md": 1, "machine_keys.md": 1, "results.md": 10}


def main():
    smk, docs = sys.argv[1], pathlib.Path(sys.argv[2])
    write = "--write" in sys.argv
    wrong = []
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text()

        def table(match, page=page):
            printed = subprocess.run([smk, *match[1].split()], check=True, capture_output=True,
                                     text=True).stdout
            if printed != match[2]:
                wrong.append(f"{page}: the table of smk {match[1]}")
            return f"<!-- smk {match[1]} -->\n{printed}<!-- end -->"

        new, count = TABLE.subn(table, text)
        if count < LEAST.get(page.name, 0):
            wrong.append(f"{page}: {count} tables of smk list, expected {LEAST[page.name]}")
        if write and new != text:
            page.write_text(new)
    if wrong and not write:
        sys.exit("\n".join(wrong) + "\ncall tests/sim/cli/tables.py SMK DOCS --write")


main()
