# SPDX-License-Identifier: Apache-2.0
"""python.module: the Python module calls the program, gives what it printed, and throws what it said."""

import contextlib
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import smk
from smk import commands, program

BINARY = os.environ["SMK"]
SHORT = {"machine": "mini", "cycles": 10_000}
SWEPT = {"machines": "mini", "cycles": 10_000}
try:
    import pandas
except ImportError:
    pandas = None


class InAFolder(unittest.TestCase):
    """Each test has a folder of its own with a cache of its own, and runs there."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(contextlib.chdir(folder))
        self.enterContext(mock.patch.dict(os.environ, {"SMK": BINARY, "SMK_CACHE_DIR": folder + "/cache"}))

    def stand_in(self, script):
        """Another program takes the place of smk."""
        path = pathlib.Path("stand_in")
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        path.chmod(0o755)
        os.environ["SMK"] = str(path.resolve())


class Running(InAFolder):
    def test_a_run_is_its_stats_json(self):
        run = smk.run("sgemm+lbm", policy="even", out="out", **SHORT)
        self.assertIsInstance(run, smk.Run)
        self.assertEqual(run, json.loads(pathlib.Path("out/stats.json").read_text(encoding="utf-8")))
        self.assertEqual(run.kernels[0].name, "sgemm")
        self.assertEqual(run.policy, "even")
        self.assertGreater(run.stp, 0)
        self.assertIn("stp", dir(run))
        self.assertEqual(repr(run), f"<Run of sgemm+lbm under even: STP {run.stp}>")
        with self.assertRaisesRegex(AttributeError, "no 'spt'; there are schema, "):
            run.spt

    def test_keywords_are_the_options(self):
        run = smk.run(
            ["sgemm", "lbm"],
            set={"run.grid_divisor": 2, "run.ideal_preemption": True},
            arrive={"lbm": 5000},
            client={"lbm": "me"},
            no_repeat=True,
            force=False,
            seed=None,
            out="out",
            **SHORT,
        )
        config = pathlib.Path("out/config.toml").read_text(encoding="utf-8")
        self.assertIn("grid_divisor = 2", config)
        self.assertIn("ideal_preemption = true", config)
        self.assertEqual(run.kernels[1].arrival, 5000)
        self.assertEqual({client.name for client in run.clients}, {"sgemm", "me"})
        self.assertEqual(smk.run(config="out/config.toml", seed=2).seed, 2)

    def test_a_plus_in_a_name_is_written_twice(self):
        self.assertEqual(commands.joined(["a+b.toml", pathlib.Path("c")]), "a++b.toml+c")

    def test_a_comparison_has_a_row_for_each_policy(self):
        comparison = smk.compare("sgemm+sgemm+lbm", ["smk", "table:1,1,1"], **SHORT)
        self.assertEqual([result.policy for result in comparison.policies], ["smk", "table:1,1,1"])
        row = comparison.rows()[1]
        table = comparison.policy("table:1,1,1")
        self.assertEqual(row["stp"], table.stp)
        self.assertEqual(row["preemptions.count"], table.preemptions["count"])
        for name, kernel in zip(("sgemm#1", "sgemm#2", "lbm"), table.kernels):
            self.assertEqual(row["normalized_ipc." + name], kernel.normalized_ipc)
        with self.assertRaisesRegex(KeyError, "no 'even'; there are smk, table:1,1,1"):
            comparison.policy("even")


class Sweeping(InAFolder):
    SPEC = {
        "workloads": ["sgemm+lbm", "lbm"],
        "policies": ["even", "smk"],
        "experiment": [{"name": 'a"b', "set": {"policy.epoch_length": [1000, 2000]}}, {"name": "plain"}],
        **SWEPT,
    }

    def test_a_specification_may_be_a_dictionary(self):
        sweep = smk.sweep(self.SPEC, "my.db")
        with contextlib.closing(sqlite3.connect("my.db")) as database:
            runs = database.execute("SELECT COUNT(*) FROM runs WHERE status = 'done'").fetchone()[0]
            names = database.execute("SELECT DISTINCT experiment FROM members ORDER BY 1").fetchall()
        self.assertGreater(runs, 6)
        self.assertEqual(len(sweep.runs()), runs)
        self.assertEqual(names, [('a"b',), ("plain",)])
        self.assertEqual(sweep.failures(), [])
        self.assertEqual({kernel.name for kernel in sweep.kernels()}, {"sgemm", "lbm"})
        best = sweep.query("SELECT policy, MAX(stp) AS best FROM results WHERE workload = ?", ["sgemm+lbm"])
        self.assertGreater(best[0].best, 0)
        self.assertEqual(repr(smk.Sweep("my.db")), f"<Sweep my.db: {runs} runs>")

    def test_a_specification_may_be_a_file_and_is_not_made_twice(self):
        pathlib.Path("s.toml").write_text(commands.toml({**self.SPEC, "experiment": []}), encoding="utf-8")
        first = smk.sweep(pathlib.Path("s.toml"), "a.db", jobs=1).query("SELECT run, finished FROM runs ORDER BY run")
        self.assertEqual(first, smk.sweep("s.toml", "a.db").query("SELECT run, finished FROM runs ORDER BY run"))

    def test_a_database_is_only_read(self):
        sweep = smk.sweep({"workloads": "sgemm", **SWEPT}, "a.db")
        with self.assertRaisesRegex(smk.InputError, "a.db: attempt to write a readonly database"):
            sweep.query("DELETE FROM runs")

    def test_what_is_no_database_is_refused(self):
        pathlib.Path("text.db").write_text("no database at all " * 100, encoding="utf-8")
        pathlib.Path("empty.db").touch()
        for name in ("none.db", ".", "text.db", "empty.db"):
            with self.assertRaisesRegex(smk.InputError, f"^{name}: "):
                smk.Sweep(name)


class Frames(InAFolder):
    @unittest.skipUnless(pandas, "python3-pandas is not installed")
    def test_frames_have_the_numbers(self):
        run = smk.run("sgemm+lbm", **SHORT)
        frame = run.frame()
        self.assertEqual(list(frame["name"]), ["sgemm", "lbm"])
        self.assertEqual(frame["ipc"][1], run.kernels[1].ipc)
        comparison = smk.compare("sgemm+lbm", "smk,even", **SHORT)
        self.assertEqual(comparison.frame().loc["even", "stp"], comparison.policy("even").stp)
        sweep = smk.sweep({"workloads": "sgemm+lbm", **SWEPT}, "a.db")
        self.assertEqual(len(sweep.frame()), len(sweep.runs()))
        self.assertEqual(list(sweep.frame("SELECT 1 AS one")["one"]), [1])

    def test_without_pandas_the_error_says_so(self):
        run = smk.Run(kernels=[])
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(smk.Error, "^a frame needs pandas; apt-get install python3-pandas$"):
                run.frame()


class Failing(InAFolder):
    def test_bad_input_says_what_the_program_says(self):
        with self.assertRaises(smk.InputError) as caught:
            smk.run("sgem", **SHORT)
        said = subprocess.run([BINARY, "run", "sgem"], capture_output=True, text=True, check=False).stderr
        self.assertEqual(f"smk: {caught.exception}\n", said)
        self.assertIsInstance(caught.exception, ValueError)
        for call in (
            lambda: smk.run("sgemm", polcy="smk"),
            lambda: smk.run("--help"),
            lambda: smk.run("a\0b"),
            lambda: smk.compare("sgemm", policies=["x"]),
            lambda: smk.sweep("none.toml", "a.db"),
            lambda: smk.sweep({"cycels": 5}, "a.db"),
        ):
            self.assertRaises(smk.InputError, call)

    def test_a_failure_says_its_reason(self):
        self.stand_in("echo '{\"status\": \"FAIL: a TB was lost\"}'; exit 1")
        with self.assertRaisesRegex(smk.RunFailed, "^a TB was lost$"):
            smk.run("sgemm")
        self.stand_in("echo; echo 'FAIL: 2 of 5 runs failed'; exit 1")
        with self.assertRaisesRegex(smk.RunFailed, "^2 of 5 runs failed$"):
            smk.sweep("s.toml", "a.db")
        self.stand_in("echo 'smk: standard output: cannot be written' >&2; exit 1")
        with self.assertRaisesRegex(smk.RunFailed, "^standard output: cannot be written$"):
            smk.run("sgemm")
        self.stand_in("exit 1")
        with self.assertRaisesRegex(smk.RunFailed, "^exit status 1$"):
            smk.run("sgemm")
        self.stand_in("kill -9 $$")
        with self.assertRaisesRegex(smk.RunFailed, "^the program was killed by signal 9$"):
            smk.run("sgemm")

    def test_a_sweep_with_failures_can_be_looked_at(self):
        self.stand_in("echo 'FAIL: x'; exit 1")
        self.assertRaises(smk.RunFailed, smk.sweep, "s.toml", "a.db")
        os.environ["SMK"] = BINARY
        self.assertEqual(smk.sweep({"workloads": "sgemm", **SWEPT}, "a.db").failures(), [])


class Finding(InAFolder):
    def test_the_variable_goes_before_the_path_and_that_before_the_build(self):
        self.stand_in("echo '{}'")
        named = os.environ["SMK"]
        self.assertEqual(smk.find(), named)
        folder = pathlib.Path("bin")
        folder.mkdir()
        os.symlink(named, folder / "smk")
        with mock.patch.dict(os.environ, {"SMK": "", "PATH": str(folder.resolve())}):
            self.assertEqual(smk.find(), str(folder.resolve() / "smk"))
        built = pathlib.Path("build/release/bin").resolve()
        built.mkdir(parents=True)
        os.symlink(named, built / "smk")
        with mock.patch.dict(os.environ, {"SMK": "", "PATH": "/nowhere"}):
            with mock.patch.object(program, "BUILD", pathlib.Path("build").resolve()):
                self.assertEqual(smk.find(), str(built / "smk"))
            with mock.patch.object(program, "BUILD", pathlib.Path("none")):
                with self.assertRaisesRegex(smk.ProgramNotFound, "^smk: not found; build it, or set SMK"):
                    smk.find()

    def test_a_variable_that_names_nothing_is_an_error(self):
        os.environ["SMK"] = "/none/smk"
        with self.assertRaisesRegex(smk.ProgramNotFound, "^SMK=/none/smk: no such program$"):
            smk.run("sgemm")
        path = pathlib.Path("text")
        path.write_text("no program", encoding="utf-8")
        path.chmod(0o755)
        os.environ["SMK"] = str(path.resolve())
        with self.assertRaisesRegex(smk.ProgramNotFound, "text: Exec format error$"):
            smk.run("sgemm")

    def test_the_module_needs_only_the_standard_library(self):
        blocked = "import sys; sys.modules['pandas'] = sys.modules['numpy'] = None; import smk; print(smk.__all__[0])"
        out = subprocess.run([sys.executable, "-S", "-c", blocked], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out, "Comparison\n")


class Printing(unittest.TestCase):
    def test_nothing_is_printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            smk.run("sgemm", no_cache=True, **SHORT)
        self.assertEqual(out.getvalue(), "")


unittest.main()
