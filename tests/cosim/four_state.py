# SPDX-License-Identifier: Apache-2.0
"""cosim.four_state: smk_top of configuration small, simulated with X, says what it says without.

four_state.py RECORD_TOP PORTS RTL SEED...: Yosys writes the RTL as plain Verilog, before anything is
mapped; Icarus gives it what record_top has recorded. Registers begin as X. After the reset no output
may differ where it is known, and no control output may be X: everything but the payload of what is
not valid. Exit status 77 without iverilog.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Payload: it counts only in a cycle in which something is valid, and is X before the first such.
# Of each: the bits per element, and which bit of an element, or which port, says so.
PAYLOAD = {
    "grant_warp_o": "grant_valid_o",
    "grant_kernel_o": "grant_valid_o of scheduler 0",
    "warp_start_o": "its highest bit",
    "context_o": "its highest bit",
    "release_slot_o": "release_valid_o",
    "release_flushed_o": "release_valid_o",
    "decision_o": "its highest bit",
}
BENCH = """
module bench;
  reg [{last_in}:0] in_of [0:{last_cycle}];
  reg [{last_out}:0] out_of [0:{last_cycle}];
  reg [{last_in}:0] in;
  wire [{last_out}:0] out;
  reg [{last_out}:0] unknown, differs;
  reg clk;
  integer cycle, resets;
  smk_top dut (.clk_i(clk), {pins});
  initial begin
    $readmemh("in.hex", in_of);
    $readmemh("out.hex", out_of);
    clk = 0;
    unknown = 0;
    differs = 0;
    resets = 0;
    for (cycle = 0; cycle <= {last_cycle}; cycle = cycle + 1) begin
      in = in_of[cycle];
      #1;
      if (!in[{reset}]) resets = resets + 1;
      else if (resets != 0) begin
        // X where it is not known: only there is out ^ out not 0.
{checks}
      end
      clk = 1;
      #1;
      clk = 0;
      #1;
    end
    $display("unknown %b", unknown);
    $display("differs %b", differs);
    $display("cycles %0d resets %0d", cycle, resets);
  end
endmodule
"""


def call(words, folder):
    run = subprocess.run([str(word) for word in words], cwd=folder, text=True, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        sys.exit(f"FAIL: {words[0]}: status {run.returncode}\n{run.stdout[-3000:]}")
    return run.stdout


def plain_verilog(rtl, folder):
    """Of every module below smk_top. Flattened and optimized it would not be what is written."""
    files = [path for path in sorted(rtl.glob("common/*.sv")) + sorted(rtl.glob("*/*/*.sv"))
             if path.name != "smk_pkg.sv"]
    call(["yosys", "-q", "-p",
          f"read_verilog -sv -I{rtl}/common -I{rtl}/config/small {rtl}/common/smk_pkg.sv "
          f"{' '.join(map(str, files))} {rtl}/top/smk_top.sv; hierarchy -check -top smk_top; proc; "
          "check -assert; opt_clean; memory_collect; write_verilog -noattr top.v"], folder)


def layout(ports):
    """Name and lowest bit of each port, in a word where the first port is highest."""
    at, found = sum(width for _, width in ports), {}
    for name, width in ports:
        at -= width
        found[name] = (at, width)
    return found


def elements(where, name, sms):
    """Bits of a port, SM by SM."""
    at, width = where[name]
    return [(at + sm * (width // sms), width // sms) for sm in range(sms)]


def masks(where, sms, schedulers):
    """For each payload port: groups of bits, and the bit that says that they count."""
    for sm in range(sms):
        grants = elements(where, "grant_valid_o", sms)[sm][0]
        at, width = elements(where, "grant_warp_o", sms)[sm]
        for scheduler in range(schedulers):
            each = width // schedulers
            yield at + scheduler * each, each, grants + scheduler
        at, width = elements(where, "grant_kernel_o", sms)[sm]
        yield at, width, grants
        for name in ("warp_start_o", "context_o"):
            at, width = elements(where, name, sms)[sm]
            yield at, width - 1, at + width - 1
        valid = elements(where, "release_valid_o", sms)[sm][0]
        for name in ("release_slot_o", "release_flushed_o"):
            yield *elements(where, name, sms)[sm], valid
    at, width = where["decision_o"]
    yield at, width - 1, at + width - 1


def bench(ports, cycles, sms=2, schedulers=2):
    inputs = [(name, width) for kind, name, width in ports if kind == "INPUT"]
    outputs = [(name, width) for kind, name, width in ports if kind == "OUTPUT"]
    ins, outs = layout(inputs), layout(outputs)
    pins = [f".{name}(in[{at + width - 1}:{at}])" for name, (at, width) in ins.items()]
    pins += [f".{name}(out[{at + width - 1}:{at}])" for name, (at, width) in outs.items()]
    checks, control = [], set(range(sum(width for _, width in outputs)))
    for at, width, valid in masks(outs, sms, schedulers):
        control -= set(range(at, at + width))
        bits = f"[{at + width - 1}:{at}]"
        checks.append(f"        if (out[{valid}] === 1'b1) unknown{bits} = unknown{bits} | "
                      f"((out{bits} ^ out{bits}) === {width}'b0 ? {width}'b0 : {{{width}{{1'b1}}}});")
        checks.append(f"        if (out[{valid}] === 1'b1 && out{bits} !== out_of[cycle]{bits}) "
                      f"differs{bits} = {{{width}{{1'b1}}}};")
    for bit in sorted(control):
        checks.append(f"        if (out[{bit}] === 1'bx) unknown[{bit}] = 1;")
        checks.append(f"        if (out[{bit}] !== out_of[cycle][{bit}]) differs[{bit}] = 1;")
    text = BENCH.format(last_in=sum(width for _, width in inputs) - 1, last_cycle=cycles - 1,
                        last_out=sum(width for _, width in outputs) - 1, pins=", ".join(pins),
                        reset=ins["rst_ni"][0], checks="\n".join(checks))
    return text, outs


def main():
    if not shutil.which("iverilog") or not shutil.which("yosys"):
        sys.exit(SKIPPED)
    record, ports_file, rtl = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    ports = [(kind, name, int(width)) for kind, name, width in
             re.findall(r"SMK_(\w+)\((\w+), (\d+)\)", ports_file.read_text(encoding="utf-8"))]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        call([record, "record.txt", *sys.argv[4:]], folder)
        lines = [line.split() for line in (folder / "record.txt").read_text(encoding="utf-8").splitlines()]
        for name, column in (("in.hex", 0), ("out.hex", 1)):
            (folder / name).write_text("".join(f"{line[column]}\n" for line in lines), encoding="utf-8")
        plain_verilog(rtl, folder)
        text, outs = bench(ports, len(lines))
        (folder / "bench.v").write_text(text, encoding="utf-8")
        call(["iverilog", "-g2005-sv", "-o", "bench", "bench.v", "top.v"], folder)
        said = call(["vvp", "-n", "bench"], folder)
    found = {word: bits for word, bits in re.findall(r"^(unknown|differs) ([01xz]+)$", said, re.M)}
    resets = re.search(r"^cycles (\d+) resets (\d+)$", said, re.M)
    if len(found) != 2 or not resets or int(resets[2]) < 2:
        sys.exit(f"FAIL: the simulation did not end well:\n{said[-2000:]}")
    wrong = []
    for what, bits in found.items():
        for name, (at, width) in outs.items():
            part = bits[len(bits) - at - width:len(bits) - at]
            if set(part) != {"0"}:
                wrong.append(f"{name}: {'X' if what == 'unknown' else 'another value'} in bits {part}")
    if wrong:
        sys.exit("FAIL: " + "\n".join(wrong))
    print(f"{resets[1]} cycles of {len(sys.argv) - 4} runs: no X on a control output or a valid payload, "
          f"all {sum(width for _, width in outs.values())} output bits as recorded")


main()
