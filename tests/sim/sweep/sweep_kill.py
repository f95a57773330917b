#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli.sweep_kill: kill -9 at 50 random moments loses no result, makes none twice and changes none.

usage: sweep_kill.py SMK [SEED]
A sweep, or one of its workers, is killed and the sweep is called again, until 50 were killed. After
each kill the database must be sound and still hold every result that it held before, made once and
unchanged. When a sweep is through, its results must equal those of an undisturbed one.
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

KILLS = 50
SPEC = """
kernels = ["cutcp", "lbm", "sgemm", "spmv"]
workloads = "all-pairs"
policies = ["spatial", "smk", "smk-pw"]
machines = "mini"
cycles = 10_000
"""
RUNS = 4 + 3 * 6


def results(path):
    """What must not change: {run: everything that is stored of it}, of finished runs."""
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = {}
        for row in db.execute("SELECT * FROM runs WHERE status = 'done'"):
            found[row[0]] = list(row)
        for table in ("kernels", "sms", "stalls", "preemptions"):
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


def main():
    smk = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="smk_kill_") as folder:
        os.chdir(folder)
        pathlib.Path("s.toml").write_text(SPEC)
        begin = time.monotonic()
        subprocess.run([smk, "sweep", "s.toml", "--out", "plain.db"], check=True,
                       stdout=subprocess.DEVNULL)
        # A sweep must get on between two kills, and not be through before the first.
        duration = (time.monotonic() - begin) / 2
        expected = same_everywhere("plain.db")
        assert len(expected) == RUNS, len(expected)
        kills = sweeps = 0
        while kills < KILLS:
            database = f"killed{sweeps}.db"
            command = [smk, "sweep", "s.toml", "--out", database]
            before = {}
            while kills < KILLS:
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
                if len(after) == RUNS:
                    break
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            assert same_everywhere(database) == expected
            for run, stored in before.items():
                assert results(database)[run] == stored, f"{run} was made twice"
            sweeps += 1
        print(f"{kills} kills in {sweeps} sweeps of {RUNS} runs: all equal to an undisturbed one")


if __name__ == "__main__":
    main()
