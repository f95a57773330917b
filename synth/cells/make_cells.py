#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the cell library: smk45.lib (Liberty) and smk45.v (Verilog models), from technology.toml and cells.toml.

usage: synth/cells/make_cells.py [--check] [--technology FILE] [--out FOLDER]

--check writes nothing and fails when the files in FOLDER are not what it would write.
"""
import argparse
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
from flip_flops import FlipFlop
from liberty import cell_text, flip_flop_text, header
from networks import Cell
from timing import Technology
from verilog import cell_model, flip_flop_model

NAME = "smk45"


def read(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def make(technology, entries):
    """The texts of the two files."""
    liberty, verilog = [header(NAME, technology)], ["// SPDX-License-Identifier: Apache-2.0\n"
                                                    "// The cells of smk45.lib. Made by synth/cells/make_cells.py.\n"]
    for name, entry in entries.items():
        for drive in entry["drives"]:
            if "stages" in entry:
                cell = Cell(name, drive, entry)
                liberty.append(cell_text(technology, cell))
                verilog.append(cell_model(cell))
            else:
                reset, preset = entry.get("reset", ""), entry.get("set", "")
                model = FlipFlop(technology, drive, bool(reset), bool(preset))
                cell_name, columns = f"{name}_X{drive}", entry["columns"] + drive
                liberty.append(flip_flop_text(technology, cell_name, columns, model, reset, preset))
                verilog.append(flip_flop_model(cell_name, reset, preset))
    return {f"{NAME}.lib": "\n".join(liberty) + "}\n", f"{NAME}.v": "\n".join(verilog)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--technology", default=HERE / "technology.toml")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    args = parser.parse_args()
    stale = []
    for name, text in make(Technology(read(args.technology)), read(HERE / "cells.toml")).items():
        path = args.out / name
        if not args.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"make_cells: {' and '.join(stale)} are not what synth/cells/make_cells.py makes; run it")


if __name__ == "__main__":
    main()
