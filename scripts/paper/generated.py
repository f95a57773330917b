# SPDX-License-Identifier: Apache-2.0
"""A page whose tables a script writes between marks, `<!-- NAME -->` and `<!-- end -->`, and whose words are its own."""

import argparse
import csv
import io
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
BEGIN, END = "<!-- {} -->\n", "<!-- end -->\n"


def arguments(description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("db", nargs="?", metavar="DB", help="database of the sweep")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--docs", type=pathlib.Path, default=DOCS, metavar="FOLDER",
                        help="the folder of what is generated (docs)")
    return parser.parse_args()


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def model_version():
    """That of the program which these sources make: what another has measured is not to be mixed with it."""
    text = (DOCS.parent / "sim/experiment/model_version.h").read_text(encoding="utf-8")
    return re.search(r'kModelVersion\[\] = "(\w+)"', text)[1]


def csv_text(columns, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def page(name, tables):
    """The page with these contents at its marks. A mark that is not there is a mistake."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for mark, content in tables.items():
        before, begin, rest = text.partition(BEGIN.format(mark))
        if not begin:
            raise ValueError(f"docs/{name}: no mark '{mark}'")
        text = before + begin + "\n" + content + "\n" + END + rest.partition(END)[2]
    return text


def finish(args, tool, made):
    """Writes what has changed, or only tells; the exit status."""
    stale = []
    for name, content in made.items():
        path = args.docs / name
        if path.is_file() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(name)
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    for name in stale:
        print(f"docs/{name}: " + (f"not what scripts/{tool} writes" if args.check else "written"))
    return int(bool(stale) and args.check)
