# SPDX-License-Identifier: Apache-2.0
"""Gates in a run: blocks as netlists give the same results to the byte, and a netlist with a fault is found.

gates.py SMK                                      a small machine, one block, and what is refused
gates.py SMK fault                                the same with two blocks, and then one with a fault
Whole workloads: scripts/gates.

Exit status 77 without Verilator, Yosys or a compiler.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import same_results

SMK = pathlib.Path(sys.argv[1]).resolve()
SKIPPED = 77
# As small as an SM of the RTL gets that has the kernels' TBs; compiled in a third of the time.
TINY = ["--machine", "gtx980", "--set", "sms=1", "--set", "sm.schedulers=2", "--set", "sm.limits.threads=1024"]
COMPILER = '#!/bin/sh\nexec c++ "$@" -O0\n'
# Yosys with a fault: a gate too many before an output of quota_scheduler. The machine cannot tell, for a scheduler
# may grant nothing. It has another version.
YOSYS = """#!/bin/sh
if [ "$1" = -V ]; then echo with a fault; exit; fi
'{yosys}' "$@" || exit
for netlist in "$SMK_OUT"/*_gates0.v; do
  '{python}' - "$netlist" <<'TXT' || exit
{script}TXT
done
"""
FAULT = r"""
import pathlib, re, sys
path = pathlib.Path(sys.argv[1])
text, count = re.subn(r"\.A\((.*?)\),(\s*)\.Y\(grant_valid_o\)", r".A(\1 & ~ready_i[0]),\2.Y(grant_valid_o)",
                      path.read_text())
path.write_text(text)
sys.exit(count != 1)
"""


def call(words, **kwargs):
    run = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, check=False, **kwargs)
    return run.returncode, run.stdout


def must(words, **kwargs):
    status, said = call(words, **kwargs)
    if status != 0:
        sys.exit(f"FAIL: {' '.join(map(str, words))}: status {status}\n{said[-3000:]}")
    return said


def check(holds, what):
    if not holds:
        sys.exit(f"FAIL: {what}")


def same(one, other):
    different = same_results.difference(one, other)
    check(not different, different)


def program(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def refusals(work, environment):
    run = [SMK, "run", "sgemm+lbm", "--cycles", "1k"]
    rtl = [*run, "--control", "lockstep", "--gates"]
    for words, message in (
            ([*rtl, "quota_sheduler"], "has no block 'quota_sheduler'; did you mean 'quota_scheduler'"),
            ([*rtl, "work_queue"], "work_queue is not in what --control rtl evaluates"),
            ([*rtl, "sm_control"], "sm_control is not in what --control rtl evaluates"),
            ([*rtl, ""], "--gates"),
            ([*rtl, "sm_assign,"], "expected blocks"),
            ([*rtl, "sm_assign,smk_sm_assign"], "sm_assign is named twice"),
            ([*rtl, "tb_dispatch,driver"], "tb_dispatch is inside driver"),
            ([*run, "--gates", "sm_assign"], "needs --control rtl or lockstep, not reference"),
            ([*run, "--control", "chip", "--gates", "sm_assign"], "needs --control rtl or lockstep, not chip"),
            ([*rtl, "sm_assign", "--wave", "--out", work / "x"], "has no waveforms"),
            ([SMK, "rtl", "build", "mini", "--gates", "sm_assing"], "no block 'sm_assing'"),
            ([SMK, "rtl", "build", "mini", "--gates", ""], "--gates"),
            ([SMK, "rtl", "build", "mini", "--chip", "--gates", "sm_assign"], "not for --chip")):
        status, said = call(words, env=environment)
        check(status == 2 and message in said and said.count("\n") == 1, f"{words[1:]}: status {status}: {said}")
    (work / "few").mkdir()
    for tool in ("verilator", "quick-c++"):
        (work / "few" / tool).symlink_to(shutil.which(tool, path=environment["PATH"]))
    status, said = call([*rtl, "sm_assign"], env=environment | {"PATH": str(work / "few")})
    check(status == 2 and "yosys is not installed" in said and said.count("\n") == 1, said)


def small(work, fault):
    (work / "bin").mkdir()
    program(work / "bin/quick-c++", COMPILER)
    environment = os.environ | {"SMK_CACHE_DIR": str(work / "cache"), "CXX": "quick-c++",
                                "PATH": f"{work / 'bin'}:{os.environ['PATH']}"}
    refusals(work, environment)
    check("nothing" in must([SMK, "rtl", "list"], env=environment), "list of nothing")
    run = [SMK, "run", "sgemm+lbm", "--policy", "smk-pw", "--cycles", "6k", *TINY]
    blocks = ["quota_scheduler", "sample_counters"] if fault else ["quota_scheduler"]
    said = must([*run, "--control", "lockstep", "--gates", ",".join(blocks), "--out", work / "l"], env=environment)
    check(f"lockstep with gates {', '.join(blocks)}" in said, said)
    other = ",".join(f"smk_{block}" for block in reversed(blocks))
    must([*run, "--control", "rtl", "--gates", other, "--out", work / "g"], env=environment)
    must([*run, "--control", "reference", "--out", work / "f"], env=environment)
    same(work / "l", work / "f")
    same(work / "g", work / "f")
    must([SMK, "run", "--config", work / "g/config.toml", "--no-cache", "--out", work / "a"], env=environment)
    same(work / "a", work / "f")
    for name in "lga":
        manifest = json.loads((work / name / "manifest.json").read_text(encoding="utf-8"))
        check(manifest["gates"] == blocks, f"manifest of {name}")
    listed = json.loads(must([SMK, "rtl", "list", "--json"], env=environment))
    check([row["gates"] for row in listed] == [blocks], f"list: {listed}")
    if not fault:
        print(f"{', '.join(blocks)} as gates: equal to the byte")
        return
    program(work / "bin/yosys", YOSYS.format(yosys=shutil.which("yosys"), python=sys.executable, script=FAULT))
    status, said = call([*run, "--control", "lockstep", "--gates", "quota_scheduler"], env=environment)
    check(status == 1 and "quota_scheduler" in said and "grant_valid" in said, f"with a fault: status {status}: {said}")
    print(f"found: {said.splitlines()[-1]}")


def main():
    if not all(shutil.which(tool) for tool in ("verilator", "yosys", "c++")):
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        small(pathlib.Path(folder), fault=len(sys.argv) == 3)


main()
