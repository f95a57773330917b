# SPDX-License-Identifier: Apache-2.0
"""Runs the program smk from Python, and reads what it finds out.

    import smk
    run = smk.run("sgemm+lbm", policy="smk-pw", cycles="200k")
    print(run.stp, run.kernels[0].ipc)
    print(smk.compare(["sgemm", "lbm"], policies=["smk", "even"], set={"sm.l1.bytes": 49152}).frame())
    print(smk.sweep("my.toml", out="my.db").query("SELECT policy, AVG(stp) FROM results GROUP BY policy"))

Keywords are the options of the command, with _ for -: docs/usage.md. Needs nothing but Python; frame() needs
pandas.
"""

from smk.commands import compare, run, sweep
from smk.program import Error, InputError, ProgramNotFound, RunFailed, find
from smk.results import Comparison, Record, Run
from smk.sweeps import Sweep

__all__ = [
    "Comparison",
    "Error",
    "InputError",
    "ProgramNotFound",
    "Record",
    "Run",
    "RunFailed",
    "Sweep",
    "compare",
    "find",
    "run",
    "sweep",
]
