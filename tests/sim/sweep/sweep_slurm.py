#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli.sweep_slurm: a sweep of 16 runs as an array job on a real cluster of one node.

usage: sweep_slurm.py SMK
Starts munged, slurmctld and slurmd on the loopback interface, with everything of theirs in a temporary
folder, and ends them. Skipped (status 77) when they are not installed: scripts/setup slurm.
"""
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel"]
SPEC = """
name = "sixteen"
kernels = ["cutcp", "lbm", "sgemm", "stencil"]
workloads = "all-pairs"
policies = ["spatial", "smk-pw"]
machines = "mini"
cycles = 20_000
"""
MAX_TASKS = 6
CONF = """
ClusterName=smktest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
MaxArraySize={array}
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """The three daemons, as children of this process in the foreground."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []

    def start(self, *command):
        log = open(self.folder / (os.path.basename(command[0]) + ".out"), "w")
        self.daemons.append(
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def __enter__(self):
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.folder.chmod(0o755)
        conf = self.folder / "slurm.conf"
        conf.write_text(CONF.format(host=host, folder=self.folder, ctld_port=free_port(),
                                    slurmd_port=free_port(), array=MAX_TASKS + 1,
                                    user=pwd.getpwuid(os.getuid()).pw_name))
        os.environ["SLURM_CONF"] = str(conf)
        self.start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                   f"--key-file={key}", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.start("slurmctld", "-D", "-f", str(conf))
        self.start("slurmd", "-D", "-f", str(conf), "-N", host)
        try:
            wait_for(lambda: "idle" in run("sinfo", "--noheader", "--format", "%t"), "an idle node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            for log in pathlib.Path(os.environ.get("SLURM_CONF", "/")).parent.glob("*.log"):
                print(f"--- {log.name}\n{log.read_text()[-2000:]}")
            sys.exit(f"waited {seconds} s for {what}")
        time.sleep(0.1)


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def sweep(smk, *arguments, status=0):
    done = subprocess.run([smk, "sweep", "s.toml", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    print(f"smk sweep s.toml {' '.join(arguments)}\n{done.stdout}{done.stderr}", flush=True)
    assert done.returncode == status, done.returncode
    return done


def exported(smk, database):
    """All results of a database, but for what differs between equal runs."""
    text = subprocess.run([smk, "sweep", "--export", "json", "--out", database], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    runs = json.loads(text)["runs"]
    for item in runs:
        for key in ("wall_seconds", "finished", "stderr", "rows_sha256"):
            item.pop(key)
    return runs


def equals_local(smk):
    done = sweep(smk, "--out", "a.db", "--slurm", "--wait", "--tasks", "99%2")
    assert done.stdout.endswith("PASS\n") and "16 runs in 6 tasks" in done.stdout
    assert exported(smk, "a.db") == exported(smk, "local.db")
    logs = sorted(p.name for p in pathlib.Path("a.db.slurm").glob("*.log"))
    assert logs == [f"1.{k}.log" for k in range(1, MAX_TASKS + 1)], logs
    for log in logs:
        assert pathlib.Path("a.db.slurm", log).read_text().endswith("PASS\n")
    assert not list(pathlib.Path("a.db.slurm").glob("*.db")), "merged parts are removed"
    assert "job" not in sweep(smk, "--out", "a.db", "--slurm").stdout, "nothing is left to submit"


def resubmits_what_failed(smk):
    """Task 3 of the first job cannot write its database; a second job makes its runs."""
    folder = pathlib.Path("b.db.slurm")
    command = [smk, "sweep", "s.toml", "--out", "b.db", "--slurm", "--wait", "--tasks", "4"]
    with subprocess.Popen(command + ["--sbatch=--hold"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        wait_for((folder / "job").exists, "the first job")
        (folder / "1.3.db").write_text("not a database, but long enough to be taken for one" * 20)
        first = (folder / "job").read_text()
        run("scontrol", "release", first)
        # The second job is held as well.
        wait_for((folder / "2.runs").exists, "the second job")
        wait_for(lambda: (folder / "job").read_text() != first, "its id")
        run("scontrol", "release", (folder / "job").read_text())
        out, err = process.communicate(timeout=60)
    print(f"{' '.join(command[1:])}\n{out}{err}", flush=True)
    assert process.returncode == 0
    assert "16 runs in 4 tasks" in out and "4 runs in 4 tasks" in out, out
    assert "not a database" in (folder / "1.3.log").read_text()
    assert "1.3.db" in err, "the broken part is set aside, with a warning"
    assert exported(smk, "b.db") == exported(smk, "local.db")


def resubmits_what_was_cancelled(smk):
    """Without --wait: the same command collects, and submits what is missing."""
    out = sweep(smk, "--out", "c.db", "--slurm", "--tasks", "4", "--sbatch=--hold").stdout
    job = out.split("job ")[1].split(":")[0]
    refused = sweep(smk, "--out", "c.db", "--slurm", status=2)
    assert refused.stdout == "" and "still in the queue" in refused.stderr
    run("scancel", f"{job}_2")
    run("scontrol", "release", job)
    done = sweep(smk, "--out", "c.db", "--slurm", "--wait")
    assert "4 runs in 1 task," in done.stdout, done.stdout
    assert exported(smk, "c.db") == exported(smk, "local.db")


def main():
    smk = sys.argv[1]
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [p for p in PROGRAMS if shutil.which(p) is None]
    if missing:
        skip(f"{', '.join(missing)} not installed: scripts/setup slurm")
    # A short name: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="smk_slurm_", dir="/tmp") as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        pathlib.Path("s.toml").write_text(SPEC)
        with Cluster(folder):
            sweep(smk, "--out", "local.db")
            equals_local(smk)
            resubmits_what_failed(smk)
            resubmits_what_was_cancelled(smk)
    print("16 runs on a cluster of one node: equal to local ones")


if __name__ == "__main__":
    main()
