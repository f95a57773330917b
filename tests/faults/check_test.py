# SPDX-License-Identifier: Apache-2.0
"""meta.faults_can_fail: scripts/fault_matrix --check finds a patch that does not apply, one that applies twice, results
that are not of the fault, a fault that nothing finds, and keys that are none."""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import planted

FAULT = """
[[fault]]
name = "WakesTooLate"
what = "a fault for this test"
block = "driver"
rtl = [["{file}", "{old}", "something else"]]
"""
GOOD = FAULT.format(file="rtl/driver/driver/smk_driver.sv", old="module smk_driver (")
NOT_THERE = FAULT.format(file="rtl/driver/driver/smk_driver.sv", old="module smk_driver of old (")
TWICE = FAULT.format(file="rtl/top/smk_top.sv", old="assign decision_o     = ")


def check(folder, text, results=None):
    """Exit status and output of a check of this list of faults."""
    faults, out = folder / "faults.toml", folder / "results.json"
    faults.write_text(text, encoding="utf-8")
    if results is None:  # those that a run would have left
        results = {}
        try:
            for fault in planted.read(faults):
                results[fault["name"]] = {
                    "identity": planted.identity(fault),
                    "methods": {m: {"found": True, "seconds": 1.0} for m in planted.methods(fault)},
                }
        except planted.FaultError:
            pass
    out.write_text(json.dumps(results), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-B", str(ROOT / "scripts/fault_matrix"), "--check", "--faults", str(faults), "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def cases(folder):
    """What is checked, what the check must say (None: nothing), the faults, and their results if not those of a run."""
    path = folder / "good.toml"
    path.write_text(GOOD, encoding="utf-8")
    (fault,) = planted.read(path)
    missed = {"found": False, "seconds": 1.0}

    def of(methods):
        return {"WakesTooLate": {"identity": planted.identity(fault), "methods": {m: missed for m in methods}}}

    return [
        ("a fault with its results", None, GOOD, None),
        ("a patch that does not apply", "there 0 times", NOT_THERE, None),
        ("a patch that applies twice", "there 2 times", TWICE, None),
        ("no results", "no results of this fault", GOOD, {}),
        ("results of another patch", "no results of this fault", GOOD,
         {"WakesTooLate": {"identity": "0", "methods": {}}}),
        ("a fault that nothing finds", "nothing finds it", GOOD, of(planted.methods(fault))),
        ("a key that is none", "unknown key 'blok'", GOOD + 'blok = "driver"\n', None),
        ("a block that is none", "no block drivers", GOOD.replace('"driver"', '"drivers"'), None),
        ("a proof that is none", "no proof of_nothing", GOOD + 'proofs = ["of_nothing"]\n', None),
        ("a fault that is gone", "results of a fault that is gone", GOOD, {"Gone": {}}),
    ]


def main():
    failed = []
    with tempfile.TemporaryDirectory() as name:
        tried = cases(pathlib.Path(name))
        for what, wanted, text, results in tried:
            status, output = check(pathlib.Path(name), text, results)
            if (status != 0 or "Traceback" in output) if wanted is None else (status == 0 or wanted not in output):
                failed.append(f"{what}: exit status {status}:\n{output}")
    print("\n".join([*failed, f"{len(tried)} checks, {len(failed)} failed"]))
    return 1 if failed else 0


sys.exit(main())
