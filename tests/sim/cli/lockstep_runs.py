# SPDX-License-Identifier: Apache-2.0
"""scripts/lockstep runs again what another program has done, or the same one for other cycles, or without success.
Random runs have settings from both ends of their ranges and from between; what is refused is no failure of theirs.

lockstep_runs.py SMK SCRIPT
"""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import random
import shutil
import sys
import tempfile

SMK, SCRIPT = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("lockstep", SCRIPT)
lockstep = importlib.util.module_from_spec(importlib.util.spec_from_loader("lockstep", loader))
loader.exec_module(lockstep)

RUN = ["sgemm", "--policy", "leftover"]


def execute(folder, cycles, program):
    """How many outputs a run has compared, and whether it was made."""
    args = argparse.Namespace(smk=SMK, program=program, out=folder, cycles=cycles, control="lockstep", random=0)
    before = [manifest.stat().st_mtime_ns for manifest in folder.glob("*/*/manifest.json")]
    events, failure = lockstep.execute(args, RUN)
    assert failure is None, failure
    return events, before != [manifest.stat().st_mtime_ns for manifest in folder.glob("*/*/manifest.json")]


def check_draws():
    dice = random.Random(1)
    drawn = {values: {str(lockstep.draw(values, dice)) for _ in range(3000)} for values in
             ("0 to 9", "an integer from 1 to 40", "a number from 0.5 to 3", "a power of two from 2 to 16",
              "a multiple of 128 from 0 to 512", "one of free, fifo, turns", "gto or lrr", "a text that is not empty")}
    whole = [{str(n) for n in numbers} for numbers in (range(10), range(1, 41), [0.5, 1, 2, 3], [2, 4, 8, 16], range(0, 513, 128))]
    assert list(drawn.values()) == whole + [{"free", "fifo", "turns"}, {"gto", "lrr"}, {"None"}], drawn


def check_refusals(folder):
    args = argparse.Namespace(smk=SMK, program="", out=folder, cycles=500, control="lockstep", random=1)
    refused = ["sgemm", "--policy", "leftover", "--set", "memory.t_rc=1"]
    assert lockstep.execute(args, refused) == (None, None), "a run that is refused has failed"
    args.random = 0
    assert "t_rc" in lockstep.execute(args, refused)[1], "only random runs may be refused"
    runs = list(lockstep.random_runs(SMK, 40, 1000, 1))
    assert runs == list(lockstep.random_runs(SMK, 40, 1000, 1)), "the same seed makes other runs"
    assert runs[1:] == list(lockstep.random_runs(SMK, 39, 1000, 2)), "a run depends on those before it"
    fixed = [word for run in runs for word in run if lockstep.FIXED.fullmatch(word.split("=")[0])]
    assert not [word for word in fixed if not word.startswith("run.grid_divisor=")], fixed


def main():
    check_draws()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        check_refusals(folder)
        program = lockstep.hash_of(SMK)
        events, ran = execute(folder, 500, program)
        assert ran and events > 0, events
        assert execute(folder, 500, program) == (events, False), "what is done is made again"
        more, ran = execute(folder, 1000, program)
        assert ran and more > events, "the run of other cycles is taken for this one"
        assert execute(folder, 1000, "0" * 64) == (more, True), "what another program has done is taken for this one's"
        [manifest] = folder.glob("*/*/manifest.json")
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "status": "FAIL"}))
        assert execute(folder, 1000, program) == (more, True), "a run that failed is taken for done"
        manifest.write_text("{")
        assert execute(folder, 1000, program) == (more, True), "half a manifest is taken for a whole one"
    finally:
        shutil.rmtree(folder)


main()
