# SPDX-License-Identifier: Apache-2.0
"""smk rtl: what it writes is taken by Verilator in two sizes at once; what it builds runs in lockstep.

rtl.py SMK [MACHINE CYCLES POLICY...]: with a machine, only that its chip as one model does what the
reference does. Exit status 77 without Verilator or a compiler.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import same_results  # noqa: E402

SMK = sys.argv[1]
SKIPPED = 77
ROUND = "policy_i == smk_pkg::WarpPolicyLrr"
BENCH = """
// Two sizes in one model: both take a launch, and say when it cannot be.
module bench (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       launch_i,
  output logic [3:0] done_o
);
  a_smk_pkg::kernel_descriptor_t a;
  b_smk_pkg::kernel_descriptor_t b;
  always_comb begin
    a          = '0;
    a.threads  = 16'd1;
    a.tb_count = 32'd0;
    b          = '0;
    b.threads  = 16'd1;
    b.tb_count = 32'd1;
  end
  a_smk_pkg::launch_error_e a_error;
  b_smk_pkg::launch_error_e b_error;
  a_smk_kernel_table u_a (.clk_i, .rst_ni, .launch_valid_i(launch_i), .launch_kernel_i('0), .launch_i(a),
                          .launch_error_o(a_error), .tick_i(1'b0), .dispatch_new_i('0),
                          .finished_valid_i('0), .finished_kernel_i('0),
                          .linger_ticks_i('0));
  b_smk_kernel_table u_b (.clk_i, .rst_ni, .launch_valid_i(launch_i), .launch_kernel_i('0), .launch_i(b),
                          .launch_error_o(b_error), .tick_i(1'b0), .dispatch_new_i('0),
                          .finished_valid_i('0), .finished_kernel_i('0),
                          .linger_ticks_i('0));
  logic a_active, b_active;
  assign a_active = u_a.active_o != '0;
  assign b_active = u_b.active_o != '0;
  // What differs: the sizes, who took the launch.
  assign done_o = {a_smk_pkg::NumSms == 3 && $bits(u_a.active_o) == 4,
                   b_smk_pkg::NumSms == 5 && $bits(u_b.active_o) == 8, a_active, b_active};
endmodule
"""
MAIN = """
#include <Vbench.h>
#include <cstdio>
int main() {
  Vbench m;
  m.rst_ni = 1; m.clk_i = 0; m.launch_i = 0; m.eval();
  m.rst_ni = 0; m.eval();
  m.rst_ni = 1; m.launch_i = 1; m.eval();
  m.clk_i = 1; m.eval(); m.clk_i = 0; m.launch_i = 0; m.eval();
  std::printf("%d\\n", m.done_o);
}
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


def emit(work):
    """Two sizes, each with a prefix, in one model; and one as it is."""
    must([SMK, "rtl", "emit", "gtx980", "--set", "sms=3", "--out", work / "a", "--prefix", "a"])
    must([SMK, "rtl", "emit", "gtx980", "--set", "sms=5", "--kernels", "8", "--out", work / "b", "--prefix", "b"])
    (work / "bench.sv").write_text(BENCH, encoding="utf-8")
    (work / "main.cc").write_text(MAIN, encoding="utf-8")
    must(["verilator", "--cc", "--exe", "--build", "-Wno-fatal", "-Wno-PINMISSING", "--top-module", "bench",
          "-F", "a/a_smk.f", "-F", "b/b_smk.f", "bench.sv", "main.cc"], cwd=work)
    said = must([work / "obj_dir/Vbench"]).strip()
    check(said == "13", f"two sizes in one model: expected 13 (both sizes, only b launched), got {said}")
    must([SMK, "rtl", "emit", "mini", "--kernels", "8", "--out", work / "c"])
    # The call in the README runs as it is, and says nothing.
    for name in "ac":
        readme = (work / name / "README").read_text(encoding="utf-8")
        words = next(line for line in readme.splitlines() if line.startswith("verilator ")).split()
        said = must(words, cwd=work / name)
        check(said == "", f"the call in {name}/README says: {said[:600]}")
    # A block of which the assertions look at more than 40 words of the cycle before.
    words = [word for word in words if word not in ("--lint-only", "-Wall")]
    must([*words[:-1], "smk_kernel_table", "--cc", "--build", "--assert", "-Wno-fatal"], cwd=work / "c")


def build(work):
    environment = os.environ | {"SMK_CACHE_DIR": str(work / "cache")}
    tiny = ["--set", "sms=1", "--set", "sm.schedulers=2"]
    tiny += ["--set", "sm.limits.threads=1024"]
    run = [SMK, "run", "sgemm+lbm", "--policy", "smk-p", "--cycles", "6k", "--machine", "gtx980", *tiny]
    status, said = call([*run, "--control", "lockstep"], env=environment)
    check(status == 2 and "smk rtl build gtx980" in said, f"without it: status {status}: {said}")
    said = must([SMK, "rtl", "build", "gtx980", *tiny], env=environment)
    check("built" in said, said)
    check("was built" in must([SMK, "rtl", "build", "gtx980", *tiny], env=environment), "the second time")
    said = must([*run, "--control", "lockstep", "--out", work / "l"], env=environment)
    must([*run, "--control", "rtl", "--out", work / "r"], env=environment)
    must([*run, "--control", "reference", "--out", work / "f"], env=environment)
    one, other = ((work / name / "kernels.csv").read_text(encoding="utf-8") for name in "rf")
    check(one == other, "rtl and reference differ")
    edited(work, environment, tiny, run)
    check("comes with the program" in must([SMK, "rtl", "build", "v100"], env=environment), "v100 is built")
    if shutil.which("yosys"):
        compiled(work, environment, tiny, run)
    for wrong, message in (("control.preempted_depth=5000", "expected a whole number from 1 to 4096"),
                           ("control.link_stages=2", "the RTL is the same with any"),
                           ("sm.x=1", "unknown key")):
        status, said = call([SMK, "rtl", "build", "mini", "--set", wrong], env=environment)
        check(status == 2 and message in said and said.count("\n") == 1, said)
    environment["PATH"] = str(work)
    status, said = call([SMK, "rtl", "build", "mini"], env=environment)
    check(status == 2 and "verilator is not installed" in said and said.count("\n") == 1, said)


def edited(work, environment, tiny, run):
    """Results of other RTL are not taken from the cache; here warps go round in place of greedy, then oldest."""
    def isolated():
        stats = json.loads(must([own, *run[1:], "--control", "rtl", "--json"], env=environment))
        return stats["wall"]["isolated_from_cache"], [kernel["ipc_isolated"] for kernel in stats["kernels"]]

    own = work / "own/bin/smk"
    share = pathlib.Path(SMK).resolve().parent.parent / "share/smk"
    shutil.copytree(share, work / "own/share/smk")
    own.parent.mkdir()
    shutil.copy(SMK, own)
    isolated()
    known, before = isolated()
    check(known == [True, True], f"not in the cache: {known}")
    scheduler = work / "own/share/smk/rtl/sm/quota_scheduler/smk_quota_scheduler.sv"
    text = scheduler.read_text(encoding="utf-8")
    check(text.count(ROUND) == 1, f"{scheduler} has no {ROUND}")
    scheduler.write_text(text.replace(ROUND, "1'b1"), encoding="utf-8")
    must([own, "rtl", "build", "gtx980", *tiny], env=environment)
    known, after = isolated()
    check(known == [False, False] and before != after, f"results of other RTL: {known}, {before}, {after}")


def compiled(work, environment, tiny, run):
    """The same machine with compiled gates: in lockstep, and what it writes is what the reference writes."""
    status, said = call([*run, "--control", "lockstep-compiled"], env=environment)
    check(status == 2 and "smk rtl build gtx980 --compiled" in said, f"without gates: status {status}: {said}")
    build = [SMK, "rtl", "build", "gtx980", *tiny, "--compiled"]
    check("built" in must(build, env=environment), "compiled")
    check("was built" in must(build, env=environment), "compiled, the second time")
    check("  compiled  " in must([SMK, "rtl", "list"], env=environment), "the list has no compiled gates")
    # With quotas, which the gates count, too.
    for policy in ("smk-p", "smk-pw"):
        words = [policy if word == "smk-p" else word for word in run] + ["--no-cache"]
        must([*words, "--control", "lockstep-compiled"], env=environment)
        for control in ("compiled", "reference"):
            must([*words, "--control", control, "--out", work / f"{policy}-{control}"], env=environment)
        different = same_results.difference(work / f"{policy}-reference", work / f"{policy}-compiled")
        check(not different, different)
    check("comes with the program" in must([SMK, "rtl", "build", "fermi", "--compiled"], env=environment), "fermi's gates are built")
    for wrong, message in ((["--gates", "sm_assign"], "not for --compiled"), (["--chip"], "one of both")):
        status, said = call([*build, *wrong], env=environment)
        check(status == 2 and message in said and said.count("\n") == 1, said)


def chip(work, machine, cycles, policies):
    """smk_top as one model, for a whole workload."""
    environment = os.environ | {"SMK_CACHE_DIR": str(work / "cache")}
    run = [SMK, "run", "cutcp+stencil", "--cycles", cycles, "--machine", machine, "--timeline"]
    status, said = call([*run, "--control", "chip", "--out", work / "x"], env=environment)
    check(status == 2 and f"smk rtl build {machine} --chip" in said, f"without it: status {status}: {said}")
    must([SMK, "rtl", "build", machine, "--chip"], env=environment)
    for policy in policies:
        folders = [work / f"{policy}-{control}" for control in ("reference", "chip")]
        for folder in folders:
            control = folder.name.rsplit("-", 1)[1]
            must([*run, "--policy", policy, "--control", control, "--out", folder], env=environment)
        different = same_results.difference(*folders)
        check(not different, different)
    status, said = call([*run, "--control", "chip", "--set", "control.link_stages=2", "--out", work / "x"],
                        env=environment)
    check(status == 2 and "its links have no relay stations" in said, said)
    status, said = call([*run, "--control", "chip", "--wave", "--out", work / "x"], env=environment)
    check(status == 2 and "needs --control rtl or lockstep" in said, said)


def main():
    if not shutil.which("verilator") or not shutil.which("c++"):
        sys.exit(SKIPPED)
    if len(sys.argv) > 2:
        with tempfile.TemporaryDirectory() as folder:
            chip(pathlib.Path(folder), sys.argv[2], sys.argv[3], sys.argv[4:])
        print(f"the chip of {sys.argv[2]} does what the reference does for {sys.argv[3]} cycles: {sys.argv[4:]}")
        return
    with tempfile.TemporaryDirectory() as folder:
        emit(pathlib.Path(folder))
        build(pathlib.Path(folder))
    print("two sizes in one model; one built and run in lockstep")


main()
