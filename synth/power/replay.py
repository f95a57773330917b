# SPDX-License-Identifier: Apache-2.0
"""Plays what went into a block into its netlist, with Icarus Verilog, and counts how often every pin changes.

The netlist begins at reset. It gets the inputs of each recorded cycle, and has to answer with the recorded outputs
in each but the first, before which registers without reset may have held anything: that shows that netlist and
recording are the same block. A change counts once per edge: no hazards.
"""
import pathlib
import subprocess

import waves


class Failure(Exception):
    """What is wrong, in one line."""


def run(step, command, log, cwd=None, env=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    log.write_text(done.stdout, encoding="utf-8")
    if done.returncode != 0:
        raise Failure(f"{step}: {(done.stdout.strip().splitlines() or ['no output'])[-1]}")
    return done.stdout


def field(name):
    """A port's name in Verilog; Yosys escapes what is no plain word."""
    return name if name.isidentifier() else f"\\{name} "


def bench(top, inputs, outputs, cycles):
    """A test bench with the rows of inputs.hex and outputs.hex; pins are dumped from the first on."""
    def vector(ports, prefix):
        return ", ".join(f"{prefix}{i}" for i in range(len(ports)))

    def wires(ports, kind, prefix):
        return "".join(f"  {kind} [{bits - 1}:0] {prefix}{i};\n" for i, bits in enumerate(ports.values()))

    widths = sum(inputs.values()), sum(outputs.values())
    pins = [f".{field('clk_i')}(clk)"]
    pins += [f".{field(name)}({prefix}{i})" for ports, prefix in ((inputs, "i"), (outputs, "o"))
             for i, name in enumerate(ports)]
    return f"""module bench;
  reg clk = 0;
  integer row = 0, wrong = 0;
  reg [{widths[0] - 1}:0] given [0:{cycles}];
  reg [{widths[1] - 1}:0] expected [0:{cycles}];
{wires(inputs, "reg", "i")}{wires(outputs, "wire", "o")}
  {top} dut ({", ".join(pins)});
  initial begin
    $readmemh("inputs.hex", given);
    $readmemh("outputs.hex", expected);
    $dumpfile("pins.vcd");
    {{{vector(inputs, "i")}}} = given[0];
    #1 {{{vector(inputs, "i")}}} = given[1];
    #1 row = 1;
    while (row <= {cycles}) begin
      if (row == 1) $dumpvars(0, dut);
      #1 if (row > 1 && {{{vector(outputs, "o")}}} !== expected[row]) begin
        if (wrong == 0) $display("first wrong row %0d: expected %h", row, expected[row]);
        wrong = wrong + 1;
      end
      #1 clk = 1;
      if (row < {cycles}) {{{vector(inputs, "i")}}} <= given[row + 1];
      row = row + 1;
      #1 clk = 0;
    end
    $display("rows %0d wrong %0d", {cycles}, wrong);
    $finish;
  end
endmodule
"""


def hexadecimal(ports, row):
    value = 0
    for name, bits in ports.items():
        value = value << bits | row[name]
    return f"{value:x}\n"


def pins_of(header):
    """{(cell, pin): id} of all cells."""
    found = {}
    for scope, members in header.members.items():
        cell = scope.partition("bench/dut/")[2]
        if cell:
            found |= {(cell.lstrip("\\"), name): code for name, _, code in members if code is not None}
    return found


def play(top, netlist_file, models, netlist, rows, folder):
    """{(cell, pin): changes} in these rows."""
    inputs = {name: bits for name, bits in netlist.inputs.items() if name != "clk_i"}
    outputs = netlist.outputs
    reset = dict.fromkeys(inputs, 0)
    (folder / "inputs.hex").write_text("".join(hexadecimal(inputs, row) for row in [reset, *rows]), encoding="utf-8")
    (folder / "outputs.hex").write_text("0\n" + "".join(hexadecimal(outputs, row) for row in rows), encoding="utf-8")
    (folder / "bench.v").write_text(bench(top, inputs, outputs, len(rows)), encoding="utf-8")
    # Registers without reset begin at 0, as in what was recorded.
    text = pathlib.Path(models).read_text(encoding="utf-8").replace("output reg Q", "output reg Q = 1'b0")
    (folder / "models.v").write_text(text, encoding="utf-8")
    program = folder / "bench.vvp"
    run("iverilog", ["iverilog", "-g2012", "-s", "bench", "-o", program, folder / "bench.v", netlist_file,
                     folder / "models.v"], folder / "iverilog.txt")
    said = run("vvp", ["vvp", "-n", program], folder / "vvp.txt", cwd=folder)
    if f"rows {len(rows)} wrong 0" not in said:
        wrong = [line for line in said.splitlines() if "wrong" in line]
        raise Failure(f"netlist and recording differ: {'; '.join(wrong)}")
    with open(folder / "pins.vcd", encoding="utf-8") as file:
        header = waves.Header(file)
        count = waves.toggles(file)
    pathlib.Path(folder / "pins.vcd").unlink()
    return {pin: count.get(code, 0) for pin, code in pins_of(header).items()}
