# SPDX-License-Identifier: Apache-2.0
"""install.example: the example of the library is configured, built and run on an installation.

usage: example.py BUILD
"""

import pathlib
import re
import shutil
import sys
import tempfile

from installed import call, check, install


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = scratch / "prefix"
        install(build, prefix)
        shutil.copytree(prefix / "share/doc/smk/examples/pair", scratch / "pair")
        call(["cmake", "-G", "Ninja", "-S", scratch / "pair", "-B", scratch / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
        call(["cmake", "--build", scratch / "build"])
        printed = call([scratch / "build/pair"])
        print(printed, end="")
        lines = re.findall(r"^(\w+) +histo: IPC ([\d.]+), \d+ TBs  axpy: IPC ([\d.]+), \d+ TBs  (\d+) launches$", printed, re.M)
        check([line[0] for line in lines] == ["in_order", "turns"], "expected a line for each scheduler")
        check(all(float(ipc) > 0 for line in lines for ipc in line[1:3]), "a kernel did nothing")
        check(int(lines[1][3]) > int(lines[0][3]), "turns are not more launches than whole kernels")


main()
