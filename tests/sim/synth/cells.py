# SPDX-License-Identifier: Apache-2.0
"""synth.cells: the cell library of synth/cells is what its table says, and behaves as cells do.

usage: cells.py
Compares the files with what make_cells.py makes, the functions in Liberty with the Verilog models (Yosys proves
that they are equal), and drives with each other. Each check is then given a library with an error, which it has to
find. Without Yosys only the rest is checked; with OpenSTA it reads the library, too.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

CELLS = pathlib.Path(__file__).resolve().parents[3] / "synth/cells"
sys.path.insert(0, str(CELLS))
from liberty_tables import Table, read  # noqa: E402

LIBRARY, MODELS = CELLS / "smk45.lib", CELLS / "smk45.v"
MAKE = CELLS / "make_cells.py"
DELAYS = ("cell_rise", "cell_fall")
SLEWS = ("rise_transition", "fall_transition")
# A table is written to a tenth of a ps, and read in between.
ROUNDING = 0.2


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def up_to_date(folder):
    """No line when the files are those that the table gives."""
    good, output = run(sys.executable, "-B", str(MAKE), "--check", "--out", str(folder))
    return [] if good else [output.strip()]


def same_functions(library, models, scratch):
    """Yosys on both, cell by cell: state after state for flip-flops."""
    text = models.read_text(encoding="utf-8")
    names = re.findall(r"^module (\w+)", text, re.MULTILINE)
    listed = [cell.name for cell in read(library.read_text(encoding="utf-8")).all("cell")]
    if names != listed:
        return [f"cells of only one file: {sorted(set(names) ^ set(listed))}"]
    (scratch / "models.v").write_text(re.sub(r"\bmodule (\w+)", r"module model_\1", text), encoding="utf-8")
    lines = [f"read_liberty {library}", f"read_verilog {scratch}/models.v", "proc", "opt_clean", "simplemap",
             "async2sync", "dffunmap", "simplemap"]
    for name in names:
        lines += [f"miter -equiv -make_assert -flatten {name} model_{name} miter_{name}",
                  f"log {name}", f"sat -tempinduct -prove-asserts -set-init-undef -seq 1 -verify miter_{name}"]
    (scratch / "equal.ys").write_text("\n".join(lines), encoding="utf-8")
    good, output = run("yosys", "-s", str(scratch / "equal.ys"))
    last = re.findall(r"^(\w+_X\d+)$", output, re.MULTILINE)
    return [] if good else [f"{last[-1] if last else 'no cell'}: Liberty and Verilog are not proved equal"]


def arcs(library, cell):
    """{(pin, when, table): Table} of the delays and slews of a cell."""
    return {
        (timing.attributes["related_pin"], timing.attributes.get("when", ""), table.kind): Table(library, table)
        for pin in cell.all("pin") for timing in pin.all("timing") for table in timing.groups
        if table.kind in DELAYS + SLEWS
    }


def output_of(cell):
    return next(pin for pin in cell.all("pin") if pin.attributes["direction"] == "output")


def families(library):
    """Cells of one function, smallest drive first."""
    found = {}
    for cell in library.all("cell"):
        name, drive = cell.name.rsplit("_X", 1)
        found.setdefault(name, []).append((int(drive), cell))
    return {name: [cell for _, cell in sorted(cells, key=lambda pair: pair[0])] for name, cells in found.items()}


def rises_along(arc, where):
    """More load is never faster, and slews rise with it."""
    return [f"{where}: falls from {a} to {b} with the load"
            for row in arc.rows for a, b in zip(row, row[1:]) if b < a]


def compare_drives(library, small, large):
    findings = []
    if large.number("area") < small.number("area"):
        findings.append(f"{large.name} is smaller than {small.name}")
    if output_of(large).number("max_capacitance") <= output_of(small).number("max_capacitance"):
        findings.append(f"{large.name} drives no more than {small.name}")
    slower = arcs(library, small)
    for key, arc in arcs(library, large).items():
        for slew in arc.axes[0]:
            for load in slower[key].axes[1]:
                if load >= arc.axes[1][0] and arc.at(slew, load) > slower[key].at(slew, load) + ROUNDING:
                    findings.append(f"{large.name} {key}: slower than {small.name} at {slew} ps and {load} fF")
    return findings


def ordered(text):
    """Drives, loads and limits of a library."""
    library, findings = read(text), []
    for cells in families(library).values():
        for small, large in zip(cells, cells[1:]):
            findings += compare_drives(library, small, large)
        for cell in cells:
            for key, arc in arcs(library, cell).items():
                findings += rises_along(arc, f"{cell.name} {key}")
                limit = output_of(cell).number("max_capacitance")
                if abs(arc.axes[1][-1] - limit) > 1e-9:
                    findings.append(f"{cell.name}: its tables end at {arc.axes[1][-1]} fF, not at {limit}")
    return findings


def fan_out_of_four(text):
    """An inverter with four of its kind behind it, at the slew that it makes itself, ps: the mean of both edges."""
    library = read(text)
    cell = families(library)["INV"][0]
    tables = {key[2]: arc for key, arc in arcs(library, cell).items()}
    load = 4 * cell.all("pin")[0].number("capacitance")
    rise = fall = 20.0
    for _ in range(20):
        rise, fall = tables["rise_transition"].at(fall, load), tables["fall_transition"].at(rise, load)
    return (tables["cell_rise"].at(fall, load) + tables["cell_fall"].at(rise, load)) / 2


def expect(findings, what):
    """An error that was put in has to be found."""
    if not findings:
        sys.exit(f"cells: not found: {what}")


def check_seeded_errors(text, scratch):
    wrong = scratch / "wrong"
    wrong.mkdir()
    (wrong / LIBRARY.name).write_text(text.replace("area : 0.532", "area : 0.533"), encoding="utf-8")
    shutil.copy(MODELS, wrong)
    expect(up_to_date(wrong), "an area that the table does not give")
    slow = re.sub(r"(cell \(NAND2_X2\).*?cell_rise \(t_NAND2_X2\) \{\s*values \( \\\s*)\"[\d.-]+", r'\g<1>"99', text,
                  count=1, flags=re.DOTALL)
    expect(ordered(slow), "a NAND2_X2 that is slower than NAND2_X1")
    if shutil.which("yosys"):
        for there, what in (("assign Y = ~(A | B)", "a NOR that is none"), ("if (!RN) Q <= 1'b0", "a reset to 1")):
            models = MODELS.read_text(encoding="utf-8")
            other = there.replace("|", "&").replace("1'b0", "1'b1")
            (wrong / MODELS.name).write_text(models.replace(there, other, 1), encoding="utf-8")
            expect(same_functions(LIBRARY, wrong / MODELS.name, scratch), what)


def corners(table):
    """Derates that are not those of the alpha-power law: mean over n and p, to a hundredth."""
    with open(CELLS / "technology.toml", "rb") as file:
        technology = tomllib.load(file)
    for name, corner in table["corner"].items():
        delays = []
        for kind in "np":
            threshold, alpha = (technology[f"{kind}_{what}"]["value"] for what in ("threshold", "alpha"))
            force = (corner["supply"] - threshold) / (1 - threshold)
            delays.append(corner["supply"] / (force ** alpha * corner["current"]))
        if abs(sum(delays) / 2 - corner["derate"]) > 0.005:
            yield f"corner {name}: derate {corner['derate']}, {sum(delays) / 2:.3f} by its supply and current"


def main():
    text = LIBRARY.read_text(encoding="utf-8")
    findings = up_to_date(CELLS) + ordered(text)
    delay = fan_out_of_four(text)
    with open(CELLS / "technology.toml", "rb") as file:
        length = tomllib.load(file)["gate_length"]["value"]
    # Horowitz's rule: 0.36 to 0.5 ps for each nm.
    if not 0.36 * length <= delay <= 0.5 * length:
        findings.append(f"an inverter with four behind it takes {delay:.1f} ps")
    with open(CELLS / "corners.toml", "rb") as file:
        table = tomllib.load(file)
    findings += corners(table)
    table["corner"]["slow"]["current"] = 0.9
    expect(list(corners(table)), "a corner of another process")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if shutil.which("yosys"):
            findings += same_functions(LIBRARY, MODELS, scratch)
        if shutil.which("sta"):
            (scratch / "read.tcl").write_text(f"read_liberty {LIBRARY}\n", encoding="utf-8")
            good, output = run("sta", "-exit", "-no_splash", str(scratch / "read.tcl"))
            findings += [] if good and not re.search("warning|error", output, re.IGNORECASE) else [output]
        check_seeded_errors(text, scratch)
    for finding in findings[:20]:
        print(finding)
    print(f"{len(read(text).all('cell'))} cells, FO4 {delay:.1f} ps: {len(findings)} findings")
    return int(bool(findings))


sys.exit(main())
