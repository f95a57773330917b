#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli.sweep_kill: kill -9 at random moments loses no result, makes none twice and changes none.

usage: sweep_kill.py SMK [SEED]
A sweep of pairs, or one of its workers, is killed and the sweep is called again, until 50 were killed, and then one of
streams of jobs until 20 were. After each kill the database must be sound and still hold every result that it held
before, made once and unchanged. When a sweep is through, its results must equal those of an undisturbed one.
"""
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PAIRS = """
kernels = ["cutcp", "lbm", "sgemm", "spmv"]
workloads = "all-pairs"
policies = ["spatial", "smk", "smk-pw"]
machines = "mini"
cycles = 10_000
"""
STREAM = """
launches = 1
tbs = 12
[[job]]
workload = "tea"
count = 2
copy_in = "64K"
[[job]]
workload = "blackscholes"
arrival = 3000
"""
STREAMS = """
streams = "jobs.toml"
schedulers = ["sequential", "in-order", "kernelet", "kernel-merge"]
policies = ["leftover", "smk-p"]
machines = "mini"
"""
# What is swept: the specification, its runs, how many kills.
SWEEPS = {"pairs": (PAIRS, 4 + 3 * 6, 50), "streams": (STREAMS, 2 + 4 * 2, 20)}

def results(path):
    """What must not change: {run: everything that is stored of it}, of finished runs."""
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = {}
        for row in db.execute("SELECT * FROM runs WHERE status = 'done'"):
            found[row[0]] = list(row)
        for table in ("kernels", "sms", "stalls", "preemptions", "streams", "jobs"):
            for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3"):
                found[row[0]].append(row)
        failed = db.execute("SELECT command, error FROM runs WHERE status = 'failed'").fetchall()
        assert not failed, failed
        return found


def same_everywhere(path):
    with sqlite3.connect(path) as db:
        return db.execute("SELECT run, result_sha256, attempts FROM runs ORDER BY run").fetchall()


def children(pid):
    try:
        return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def disturb(command, rng, duration):
    """Starts a sweep and kills it, or first one of its workers; gives the number of kills."""
    sweep = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kills = 0
    time.sleep(rng.uniform(0, duration))
    workers = children(sweep.pid)
    if workers and rng.random() < 0.5:
        try:
            os.kill(rng.choice(workers), signal.SIGKILL)
            kills += 1
        except ProcessLookupError:
            pass
        time.sleep(rng.uniform(0, duration / 4))
    if sweep.poll() is None:
        sweep.kill()
        kills += 1
    sweep.wait()
    return kills


def kill_sweep(smk, name, rng):
    spec, runs, most = SWEEPS[name]
    pathlib.Path(f"{name}.toml").write_text(spec)
    os.environ["SMK_CACHE_DIR"] = f"{name}.cache"
    begin = time.monotonic()
    subprocess.run([smk, "sweep", f"{name}.toml", "--out", f"{name}.db"], check=True, stdout=subprocess.DEVNULL)
    # A sweep must get on between two kills, and not be through before the first.
    duration = (time.monotonic() - begin) / 2
    expected = same_everywhere(f"{name}.db")
    assert len(expected) == runs, len(expected)
    kills = sweeps = 0
    while kills < most:
        database = f"{name}{sweeps}.db"
        command = [smk, "sweep", f"{name}.toml", "--out", database]
        os.environ["SMK_CACHE_DIR"] = f"{name}{sweeps}.cache"  # what kernels are profiled for is made once more
        before = {}
        while kills < most:
            kills += disturb(command, rng, duration)
            if not os.path.exists(database):
                continue
            try:
                after = results(database)
            except sqlite3.OperationalError as error:
                # Killed before it had made its tables.
                assert "no such table" in str(error) and not before, error
                continue
            for run, stored in before.items():
                assert after.get(run) == stored, f"{run} was lost, or made twice"
            before = after
            if len(after) == runs:
                break
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert same_everywhere(database) == expected
        for run, stored in before.items():
            assert results(database)[run] == stored, f"{run} was made twice"
        sweeps += 1
    print(f"{name}: {kills} kills in {sweeps} sweeps of {runs} runs: all equal to an undisturbed one")


def main():
    smk = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="smk_kill_") as folder:
        os.chdir(folder)
        pathlib.Path("jobs.toml").write_text(STREAM)
        for name in SWEEPS:
            kill_sweep(smk, name, rng)


if __name__ == "__main__":
    main()
