# SPDX-License-Identifier: Apache-2.0
"""scripts/lockstep runs again what another program has done, or the same one for other cycles, or without success.

lockstep_runs.py SMK SCRIPT
"""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
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
    args = argparse.Namespace(smk=SMK, program=program, out=folder, cycles=cycles, compiled=False)
    before = [manifest.stat().st_mtime_ns for manifest in folder.glob("*/*/manifest.json")]
    events, failure = lockstep.execute(args, RUN)
    assert failure is None, failure
    return events, before != [manifest.stat().st_mtime_ns for manifest in folder.glob("*/*/manifest.json")]


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
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
