# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys."""

import json
import os
import pathlib
import subprocess

from gates import Unsupported


def run(yosys, script, out, environment):
    """What the script of this folder writes as JSON to `out`; Unsupported with Yosys's last lines when it fails."""
    path = pathlib.Path(__file__).resolve().with_name(script)
    environment = os.environ | environment | {"SMK_OUT": str(out)}
    environment.pop("SMK_TOP", None)  # netlist.tcl would make a netlist of its own
    done = subprocess.run([yosys, "-q", "-c", path], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Unsupported("\n".join([f"yosys failed in {script}:", *done.stdout.splitlines()[-20:]]))
    return json.loads(out.read_text(encoding="utf-8"))
