# SPDX-License-Identifier: Apache-2.0
"""What the tests that call Yosys share: the files that a module needs, and how a script is run."""

import os
import pathlib
import re
import subprocess
import sys


def files_of(top, rtl):
    """The package, the file `top`, and the modules of rtl/ that it needs, transitively.

    A module that `top` defines itself takes the place of that in rtl/.
    """
    seen = {"smk_pkg", *re.findall(r"^module (smk_\w+)", top.read_text(encoding="utf-8"), re.M)}
    queue, files = [top], [rtl / "common/smk_pkg.sv"]
    while queue:
        path = queue.pop()
        files.append(path)
        text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        for name in sorted(set(re.findall(r"\bsmk_[a-z0-9_]+", text)) - seen):
            seen.add(name)
            queue += rtl.rglob(f"{name}.sv")
    return files


def files_of_block(block, rtl):
    return files_of(next(rtl.rglob(f"smk_{block}.sv")), rtl)


def run_script(yosys, script, block, rtl, settings, config="gtx980"):
    """Runs a Tcl script of Yosys on a block; ends the program with its last lines when it fails."""
    environment = os.environ | {
        "SMK_TOP": f"smk_{block}",
        "SMK_INCLUDE": f"{rtl / 'common'} {rtl / 'config' / config}",
        "SMK_FILES": " ".join(map(str, files_of_block(block, rtl))),
    } | settings
    result = subprocess.run(
        [yosys, "-q", "-c", str(script)], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    if result.returncode != 0:
        print(*result.stdout.splitlines()[-20:], sep="\n")
        sys.exit(f"{pathlib.Path(script).name}: yosys failed on smk_{block}")
