# SPDX-License-Identifier: Apache-2.0
"""An SM of v100 is one of gtx980: Verilator makes the same C++ of both.

same_sm.py VERILATOR RTL: exit status 1 when any file differs besides the package's.
"""

import pathlib
import subprocess
import sys
import tempfile

verilator = sys.argv[1]
rtl = pathlib.Path(sys.argv[2])
TOPS = {
    "smk_sm_tables": rtl / "sm/sm_control/smk_sm_tables.sv",
    "smk_quota_scheduler": rtl / "sm/quota_scheduler/smk_quota_scheduler.sv",
    "smk_sm_profile": rtl / "sm/sm_control/smk_sm_profile.sv",
}
FOLDERS = [rtl / "common", *sorted((rtl / "sm").iterdir())]


def verilated(top, file, config, out):
    """What Verilator writes, by file name."""
    search = [word for folder in FOLDERS for word in ("-y", str(folder))]
    subprocess.run(
        [verilator, "--cc", "--assert", "--top-module", top, "--prefix", "V", "--Mdir", out,
         f"-I{rtl / 'common'}", f"-I{rtl / 'config' / config}", *search, str(rtl / "lint.vlt"),
         str(rtl / "common/smk_pkg.sv"), str(file)],
        check=True,
    )
    return {
        path.name: path.read_text()
        for path in pathlib.Path(out).iterdir()
        if path.suffix in (".h", ".cpp") and "smk_pkg" not in path.name
    }


differ = []
for top, file in TOPS.items():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        gtx980 = verilated(top, file, "gtx980", one)
        v100 = verilated(top, file, "v100", other)
    assert len(gtx980) > 3, f"{top}: only {sorted(gtx980)}"
    names = sorted(gtx980.keys() | v100.keys())
    differ += [f"{top}: {name}" for name in names if gtx980.get(name) != v100.get(name)]
    print(f"{top}: {len(names)} files, {sum(map(len, gtx980.values()))} characters")
sys.exit("\n".join(["differs between gtx980 and v100:", *differ]) if differ else 0)
