# SPDX-License-Identifier: Apache-2.0
"""Verilator takes the driver at the largest size that is supported, as `smk rtl build` gives it, and warns of nothing.

largest_driver.py VERILATOR RTL COSIM: 132 SMs and 8 kernels, some blocks apart.
"""

import pathlib
import subprocess
import sys

verilator = sys.argv[1]
rtl, cosim = map(pathlib.Path, sys.argv[2:])
config = pathlib.Path(__file__).resolve().parent / "largest"
folders = [cosim / "apart", rtl / "common", *sorted((rtl / "driver").iterdir()), *sorted((rtl / "sm").iterdir())]
search = [word for folder in folders for word in ("-y", str(folder))]
done = subprocess.run(
    [verilator, "--lint-only", "--assert", "-DSIM_APART", "--top-module", "sim_driver", f"-I{rtl / 'common'}", f"-I{config}",
     f"-I{cosim / 'apart'}", *search, str(rtl / "lint.vlt"), str(rtl / "common/smk_pkg.sv"), str(cosim / "sim_driver.sv")],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
if done.returncode != 0 or "%Warning" in done.stdout:
    sys.exit(f"the driver of {config.name}:\n{done.stdout[:2000]}")
