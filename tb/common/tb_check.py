# SPDX-License-Identifier: Apache-2.0
"""Runs a testbench, lets it write a waveform, and reads that back.

usage: tb_check.py TESTBENCH WAVE_CHECK TRACE
The testbench must pass, and its last line say so. With TRACE it must write BLOCK.fst and BLOCK.gtkw, of
which WAVE_CHECK then says that the save file names only signals that the waveform has.
"""

import pathlib
import subprocess
import sys
import tempfile

testbench, wave_check, trace = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
block = testbench.name[len("tb_"):]


def run(command):
    print("+", *command, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit {done.returncode}")
    return done.stdout.rstrip().splitlines()


def refuses(option):
    done = subprocess.run([str(testbench), option], stderr=subprocess.PIPE, text=True)
    if done.returncode != 2 or not done.stderr.startswith(f"tb_{block}: ") or done.stderr.count("\n") != 1:
        sys.exit(f"{option}: exit {done.returncode}, {done.stderr}")


for bad in ("--nonsense", "--seed=many", "--wave-cycles=-1", "--wave-test=NoSuchTest"):
    if trace or not bad.startswith("--wave-test"):
        refuses(bad)
names = [line.split()[0] for line in run([str(testbench), "--list"])]
if len(set(names)) != len(names) or not names:
    sys.exit("--list names no test, or one twice")

with tempfile.TemporaryDirectory() as folder:
    lines = run([str(testbench)] + ([f"--wave={folder}"] if trace else []))
    if not lines[-1].startswith("PASS: "):
        sys.exit(f"the last line is not PASS: {lines[-1]}")
    if trace:
        fst, gtkw = (pathlib.Path(folder) / f"{block}.{kind}" for kind in ("fst", "gtkw"))
        opened = f"open: gtkwave {fst} {gtkw}"
        if not any(line.strip() == opened for line in lines):
            sys.exit(f"does not say '{opened}'")
        run([wave_check, str(fst), str(gtkw), f"dut.smk_{block}"])
