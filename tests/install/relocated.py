# SPDX-License-Identifier: Apache-2.0
"""install.relocated: what is installed needs neither the tree nor the place that it was installed into.

usage: relocated.py BUILD
Installs, renames the folder, looks for paths of the tree in all files, hides the tree and calls every
command that smk help lists.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed import ROOT, call, check, environment, hiding, install

LISTS = ("kernels", "policies", "machines", "settings", "keys", "statistics")


def paths_inside(prefix, folders):
    """Files that have a path of the tree in them."""
    words = [str(folder).encode() for folder in folders]
    return [
        f"{path}: has {word.decode()}"
        for path in sorted(prefix.rglob("*"))
        if path.is_file()
        for word in words
        if word in path.read_bytes()
    ]


class Calls:
    """The commands of the installed smk, and which of them were called."""

    def __init__(self, prefix, scratch, before):
        self.smk = prefix / "bin/smk"
        self.before = before or []
        self.scratch = scratch
        self.environment = environment(scratch)
        self.called = set()

    def __call__(self, *words):
        self.called.add(words[0])
        return call([*self.before, self.smk, *words], cwd=self.scratch, env=self.environment)


def call_all(smk, prefix):
    for what in LISTS:
        check(len(smk("list", what).splitlines()) > 3, f"smk list {what} is short")
    check(f" in {prefix}/share/smk/sim" in smk("doctor"), "smk doctor finds its data elsewhere")
    smk("run", "sgemm+lbm", "--policy", "smk", "--control", "lockstep", "--cycles", "8k",
        "--wave", "1k:2k", "--timeline", "--out", "run")
    for name in ("wave.fst", "wave.gtkw", "timeline.json.gz", "stats.json"):
        check((smk.scratch / "run" / name).stat().st_size > 100, f"{name} is short")
    call_with_objects(smk, prefix)
    smk("compare", "sgemm+lbm", "--policies", "even,smk-pw", "--cycles", "8k")
    sweep = prefix / "share/smk/sim/sweeps/smoke.toml"
    smk("sweep", sweep, "--out", "x.db", "--shard", "1/8")
    smk("trace", "export", "sgemm", "--out", "traces/sgemm", "--tbs", "2", "--launches", "1")
    smk("trace", "info", "traces/sgemm")
    (smk.scratch / "traces/expected.csv").write_text("trace,accelsim_cycles\nsgemm,5000\n")
    smk("validate", "traces")
    smk("timeline", "run", "--svg")
    check("sgemm TB" in (smk.scratch / "run/timeline.svg").read_text(), "the timeline has no sgemm")
    if (prefix / "share/smk/page.html").is_file():
        smk("report", "run")
        smk("report", "x.db")
        check("sgemm" in (smk.scratch / "run/report.html").read_text(), "the report has no sgemm")
    else:
        print("smk report: not tried, its page was not built")
        smk.called.add("report")
    stream = '[[job]]\nworkload = "sgemm"\ntbs = 16\n[[job]]\nworkload = "lbm"\ntbs = 16\nlaunches = 1\n'
    (smk.scratch / "stream.toml").write_text(stream)
    smk("serve", "stream.toml")
    smk("rtl", "emit", "mini", "--out", "mini")
    check((smk.scratch / "mini/rtl/smk_top.sv").is_file(), "smk rtl emit wrote no smk_top")
    sim = prefix / "share/smk/sim"
    for name in re.findall(r"\$SMK_SIM/([\w/]+\.\w+)", (sim / "cosim/built/build_rtl.sh").read_text()):
        check((sim / name).is_file(), f"{name} is not installed, which smk rtl build compiles")
    if shutil.which("verilator") and shutil.which("c++"):
        smk("rtl", "build", "mini")
        smk("run", "sgemm+lbm", "--machine", "mini", "--control", "lockstep", "--cycles", "8k")
    else:
        print("smk rtl build: not tried, Verilator or a compiler is missing")
    if shutil.which("yosys"):
        check("profile_counters" in smk("synth", "profile_counters", "--no-timing"), "smk synth has no block")
    else:
        print("smk synth: not tried, Yosys is missing")
        smk.called.add("synth")


def call_with_objects(smk, prefix):
    """The RTL of other machines lies beside the program: it is found, missed, and refused when it is of other sources."""
    run = ("run", "sgemm+lbm", "--policy", "smk", "--cycles", "8k")
    for machine in ("fermi", "v100"):
        for control in ("lockstep", "lockstep-compiled"):
            smk(*run, "--machine", machine, "--control", control)
    smk(*run, "--machine", "fermi", "--control", "rtl", "--wave", "1k:2k", "--out", "fermi")
    check((smk.scratch / "fermi/wave.fst").stat().st_size > 100, "no waveform of fermi")

    def refusal(machine):
        words = [*smk.before, smk.smk, *run, "--machine", machine, "--control", "rtl"]
        said = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, cwd=smk.scratch, env=smk.environment)
        check(said.returncode == 2 and said.stdout.count("\n") == 1, f"{machine}: {said.returncode}, {said.stdout}")
        return said.stdout

    fermi, v100 = (prefix / f"lib/smk/rtl_{machine}.so" for machine in ("fermi", "v100"))
    kept = fermi.read_bytes()
    fermi.unlink()
    check("with the program for unchanged gtx980, v100; make" in refusal("fermi"), "what is there is not named")
    # The hash of the sources, and nothing else that looks like it.
    hashes = set(re.findall(rb"(?<=\0)[0-9a-f]{64}(?=\0)", kept)) & set(
        re.findall(rb"(?<=\0)[0-9a-f]{64}(?=\0)", v100.read_bytes()))
    check(len(hashes) == 1, f"{len(hashes)} hashes in the objects")
    mine = hashes.pop()
    fermi.write_bytes(kept.replace(mine, mine[::-1]))
    check("rtl_fermi.so: made of other sources than this program; build it again" in refusal("fermi"),
          "an object of other sources is taken")
    smk("run", "sgemm+lbm", "--policy", "smk", "--cycles", "8k", "--control", "rtl")
    fermi.write_bytes(kept)


def call_from_python(smk, prefix):
    """The module finds the program beside it, and not another one in PATH."""
    module = prefix / "lib/python3/dist-packages"
    other = smk.scratch / "other"
    other.mkdir()
    (other / "smk").symlink_to("/bin/false")
    script = "import smk; print(smk.__file__, smk.find(), smk.run('sgemm+lbm', cycles='8k').workload)"
    found = call([*smk.before, "/usr/bin/python3", "-B", "-c", script], cwd=smk.scratch,
                 env={**smk.environment, "PYTHONPATH": str(module), "PATH": f"{other}:/usr/bin:/bin"})
    check(found.split() == [f"{module}/smk/__init__.py", str(smk.smk), "sgemm+lbm"], f"Python finds {found}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folders = [ROOT] if ROOT in build.parents else [ROOT, build]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = scratch / "moved/here"
        prefix.parent.mkdir()
        install(build, prefix)
        found = paths_inside(prefix, folders)
        check(not found, "\n".join(found))
        before = hiding(folders)
        if before is None:
            print("the tree is not hidden: unshare and mount are not allowed here")
        smk = Calls(prefix, scratch, before)
        call_all(smk, prefix)
        call_from_python(smk, prefix)
        smk("help")
        listed = call([smk.smk, "--help"]).split("Subcommands:")[1]
        commands = set(re.findall(r"^  ([a-z]+) ", listed, re.M))
        check(len(commands) > 5, "smk help lists few commands")
        check(smk.called == commands, f"not called, or not listed: {smk.called ^ commands}")
    print(f"{len(commands)} commands: 0 findings")


main()
