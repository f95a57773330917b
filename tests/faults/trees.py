# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which faults are planted, built and run: the working tree stays as it is."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import time

import planted

# A failed assertion: the path to it, and its name.
ASSERTION = re.compile(r"Assertion failed in (?:TOP\.)?([\w.\[\]()]+?)\.(\w+):")
MISMATCH = re.compile(r"^.*cycle \d+: .*\(--seed=\d+\).*$", re.M)
FAILED_TEST = re.compile(r"^\[  FAILED  \] ([\w./]+)", re.M)
CHIP_SAYS = re.compile(r"^.*(?:cycle \d+|seed \d+).*$", re.M)
# Tests that break the reference themselves.
BROKEN = "*FindsEach*:*Finds*Broken*"


# Random scenarios of the whole chip in each mode.
SCENARIOS = "2"
# A machine that has other things to do may take so many times as long as the processor.
PATIENCE = 20


class BuildError(Exception):
    """A fault that does not compile is none."""


def bare(text):
    return " ".join(text.split())[:160]


class Tree:
    """build/faults/tree<N>: a copy of the tracked files, and its own build folder, which is kept."""

    def __init__(self, root, number, jobs):
        self.root, self.jobs = root, jobs
        self.path = root / "build/faults" / f"tree{number}"
        self.build_dir = self.path / "build/release"
        self.changed = {}
        self.environment = os.environ | {"CCACHE_NOHASHDIR": "1"}

    def refresh(self):
        """Brings the copy to the state of the working tree; files that are the same keep their time."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                cwd=self.root, stdout=subprocess.PIPE, check=True).stdout
        (self.path / "build").mkdir(parents=True, exist_ok=True)
        names = [name for name in os.fsdecode(listed).split("\0") if name and (self.root / name).is_file()]
        for name in names:
            target, data = self.path / name, (self.root / name).read_bytes()
            if not target.exists() or target.read_bytes() != data:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                target.chmod((self.root / name).stat().st_mode)
        here = {path.relative_to(self.path).as_posix() for folder in ("rtl", "model", "tb", "tests", "sim")
                for path in (self.path / folder).rglob("*") if path.is_file()}
        for name in here - set(names):
            if "__pycache__" not in name:
                (self.path / name).unlink()
        self.changed = {}

    def configure(self):
        if not (self.build_dir / "build.ninja").exists():
            self.command(["cmake", "--preset", "release", "-DSMK_TRACE=OFF", "-DSMK_FAULTS=ON"], 600)

    def plant(self, fault):
        """The tree with this fault and no other; without one, as it is."""
        texts = planted.patched(fault, self.root) if fault else {}
        for name in {*self.changed, *texts}:
            text = texts.get(name, (self.root / name).read_text(encoding="utf-8"))
            if (self.path / name).read_text(encoding="utf-8") != text:
                (self.path / name).write_text(text, encoding="utf-8")
        self.changed = texts

    def command(self, command, seconds):
        done = subprocess.run(command, cwd=self.path, env=self.environment, timeout=seconds, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise BuildError("\n".join(done.stdout.splitlines()[-15:]))

    def build(self, target):
        self.configure()
        begin = time.monotonic()
        self.command(["ninja", "-C", str(self.build_dir), f"-j{self.jobs}", target], 3600)
        return time.monotonic() - begin

    def run(self, command, seconds, finds=None, **environment):
        """Output, exit status (None: no end in time) and processor seconds; ends once finds(output) is true."""
        environment = self.environment | environment
        log = self.path / "build/run.log"
        with open(log, "wb") as file:
            process = subprocess.Popen(["stdbuf", "-oL", *command], cwd=self.path, env=environment, stdout=file,
                                       stderr=subprocess.STDOUT, start_new_session=True,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)))
            status, used, begin, size = None, 0.0, time.monotonic(), 0
            while True:
                pid, code, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    status, used = os.waitstatus_to_exitcode(code), usage.ru_utime + usage.ru_stime
                    process.returncode = status
                    if status in (-signal.SIGXCPU, -signal.SIGKILL):
                        status = None
                    break
                text = ""
                if finds and log.stat().st_size != size:
                    size = log.stat().st_size
                    text = log.read_text(encoding="utf-8", errors="replace")
                if (text and finds(text)) or time.monotonic() - begin > PATIENCE * seconds:
                    os.killpg(process.pid, signal.SIGKILL)
                    _, _, usage = os.wait4(process.pid, 0)
                    used = usage.ru_utime + usage.ru_stime
                    process.returncode = -9
                    break
                time.sleep(0.05)
        return log.read_text(encoding="utf-8", errors="replace"), status, round(used, 2)


def first_assertion(text):
    """The first that is no assumption about the ports of the block itself: those are the test's to keep."""
    for path, name in ASSERTION.findall(text):
        if not (name.endswith("_M") and "." not in path):
            return f"{name} in {path}"
    return ""


def lockstep(tree, fault, seconds):
    """Outputs that differ. What a test says by hand of the RTL counts for the specification."""
    if fault["block"] == "top":
        return chip(tree, fault, seconds)
    tree.build(f"tb_{fault['block']}")
    text, status, used = tree.run(
        [str(tree.build_dir / f"bin/tb_{fault['block']}"), "--gtest_fail_fast", f"--gtest_filter=-{BROKEN}"],
        seconds, SMK_LOCKSTEP_ONLY="compare")
    seen = MISMATCH.search(text)
    result = {"found": bool(seen), "seconds": used}
    if seen:
        result["says"] = bare(seen[0])
    elif status is None:
        result.update(found=None, says=f"no end in {seconds} s")
    elif status != 0:
        by_hand = re.search(r"^    \S*?(tb/\S+:\d+: .*)$", text, re.M)
        result["by_hand"] = bare(by_hand[1] if by_hand else text[-160:])
    return result


def properties(tree, fault, seconds):
    """Assertions and checkers, with nothing compared."""
    if fault["block"] == "top":
        return chip(tree, fault, seconds, "*HoldsItsLaws*")
    tree.build(f"tb_{fault['block']}")
    text, status, used = tree.run(
        [str(tree.build_dir / f"bin/tb_{fault['block']}"), f"--gtest_filter=-{BROKEN}"],
        seconds, finds=first_assertion, SMK_LOCKSTEP_ONLY="assert")
    seen = first_assertion(text)
    result = {"found": bool(seen), "seconds": used}
    if seen:
        result["says"] = seen
    elif status is None:
        result.update(found=None, says=f"no end in {seconds} s")
    return result


def specification(tree, fault, seconds):
    """What tests say by hand of the twin, and what the machine demands of the whole twin in random scenarios."""
    total = 0
    for target in ("faults_spec", "chip_tests"):
        tree.build(target)
        text, status, used = tree.run([str(tree.build_dir / "bin" / target), "--gtest_fail_fast"], seconds)
        total = round(total + used, 2)
        if status is None:
            return {"found": None, "seconds": total, "says": f"{target}: no end in {seconds} s"}
        if status != 0:
            test = FAILED_TEST.search(text)
            return {"found": True, "seconds": total, "says": test[1] if test else bare(text[-160:])}
    return {"found": False, "seconds": total}


def proofs(tree, fault, seconds):
    """A proof that is refuted; each is given the RTL with the fault."""
    total, open_ones = 0, []
    for name in fault["proofs"]:
        text, status, used = tree.run(
            ["python3", "-B", str(tree.path / "tests/formal/prove.py"), name, "--only", "proof"], seconds)
        total = round(total + used, 2)
        answer = re.search(r"^  proof: (.*)$", text, re.M)
        if answer and answer[1].startswith("refuted"):
            return {"found": True, "seconds": total, "says": f"{name}: {answer[1].split(' in ')[0]}"
                    + (f" in {answer[1].split(' in ')[1]}" if " in cycle" in answer[1] else "")}
        if not answer and status is not None:
            raise BuildError(text[-600:])
        if not answer or not answer[1].startswith("proved"):
            open_ones.append(name)
    if open_ones:
        return {"found": None, "seconds": total, "says": f"{', '.join(open_ones)}: no answer in time"}
    return {"found": False, "seconds": total}


def chip(tree, _, seconds, tests="*EqualsTheReference*"):
    """smk_top of the small chip, beside the reference or alone."""
    tree.build("faults_chip")
    text, status, used = tree.run(
        [str(tree.build_dir / "bin/faults_chip"), "--gtest_fail_fast", f"--gtest_filter={tests}"], seconds,
        SMK_SCENARIOS=SCENARIOS)
    if status is None:
        return {"found": None, "seconds": used, "says": f"no end in {seconds} s"}
    if status == 0:
        return {"found": False, "seconds": used}
    says = first_assertion(text) or next((line for line in CHIP_SAYS.findall(text) if "seeds" not in line), text[-160:])
    return {"found": True, "seconds": used, "says": bare(says)}


def netlist(tree, fault, seconds):
    """The lockstep tests on what Yosys makes of the block."""
    tree.build(f"netlist_{fault['block']}")
    text, status, used = tree.run(
        [str(tree.build_dir / "tests/netlist" / f"netlist_{fault['block']}"), "--gtest_fail_fast",
         f"--gtest_filter=-{BROKEN}"], seconds)
    seen = MISMATCH.search(text)
    if status is None:
        return {"found": None, "seconds": used, "says": f"no end in {seconds} s"}
    result = {"found": status != 0, "seconds": used}
    if status != 0:
        result["says"] = bare(seen[0] if seen else text[-160:])
    return result


RUN = {method: globals()[method] for method in planted.METHODS}
