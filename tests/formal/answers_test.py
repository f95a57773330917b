# SPDX-License-Identifier: Apache-2.0
"""formal.answers: an answer of answers.json counts for its model only, and only good ones are written."""

import json
import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import prove

PROOF = {"name": "sm_usage_exact", "module": "m", "property": "p", "method": "pdr", "bound": "unbounded",
         "assertions": [], "mutant": "Wrong"}


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = {None: "a", "Wrong": "b"}
        self.models = {None: "good", "Wrong": "wrong"}
        self.says = {"good": "proved", "wrong": "refuted in cycle 3"}
        self.asked, self.built = [], []
        for name, value in {
            "ANSWERS": self.folder / "answers.json",
            "sources": lambda proof, mutant, source, work: (mutant, self.files[mutant]),
            "build": lambda proof, mutant, files, work: self.built.append(files) or 0,
            "model_of": lambda proof, mutant, work: self.models[mutant],
            "steps_of": lambda proof, mutant: self.models[mutant],
            "abc": lambda proof, steps, work: self.asked.append(steps) or self.says[steps],
        }.items():
            patch = mock.patch.object(prove, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        # Who runs this test may ask for all proofs anew: it is not meant by that.
        environment = {name: value for name, value in os.environ.items() if name != "SMK_PROVE_ALL"}
        for patch in mock.patch("builtins.print"), mock.patch.dict(os.environ, environment, clear=True):
            patch.start()
            self.addCleanup(patch.stop)

    def prove(self, write=False):
        self.asked, self.built = [], []
        return prove.prove(PROOF, self.folder, self.folder, None, write)

    def test_a_model_is_made_and_asked_about_once(self):
        self.assertTrue(self.prove(write=True))
        self.assertEqual((self.built, self.asked), ([None, "Wrong"], ["good", "wrong"]))
        self.assertTrue(self.prove())
        self.assertEqual((self.built, self.asked), ([], []))

    def test_other_files_of_the_same_model_are_read_but_not_asked_about(self):
        self.prove(write=True)
        self.files[None] = "with another parameter"
        self.assertTrue(self.prove(write=True))
        self.assertEqual((self.built, self.asked), ([None], []))
        self.assertTrue(self.prove())
        self.assertEqual(self.built, [])

    def test_nothing_is_written_without_record(self):
        self.assertTrue(self.prove())
        self.assertFalse(prove.ANSWERS.exists())

    def test_another_model_is_asked_about(self):
        self.prove(write=True)
        self.files[None] = self.models[None] = "other"
        self.says["other"] = "refuted in cycle 1"
        self.assertFalse(self.prove())
        self.assertEqual(self.asked, ["other"])

    def test_a_bad_answer_is_not_written(self):
        self.says["wrong"] = "proved"  # the mutant is not noticed
        self.assertFalse(self.prove(write=True))
        self.assertFalse(prove.ANSWERS.exists())

    def test_a_bad_answer_in_the_file_is_bad(self):
        self.prove(write=True)
        known = json.loads(prove.ANSWERS.read_text(encoding="utf-8"))
        known[PROOF["name"]]["proof"]["answer"] = "no answer in time"
        prove.ANSWERS.write_text(json.dumps(known), encoding="utf-8")
        self.assertFalse(self.prove())

    def test_all_are_asked_about_when_told_so(self):
        self.prove(write=True)
        with mock.patch.dict(os.environ, {"SMK_PROVE_ALL": "1"}):
            self.assertTrue(self.prove())
        self.assertEqual((self.built, self.asked), ([None, "Wrong"], ["good", "wrong"]))

    def test_proofs_that_are_gone_leave_the_file(self):
        prove.ANSWERS.write_text('{"no_such_proof": {}}', encoding="utf-8")
        self.prove(write=True)
        self.assertEqual(list(json.loads(prove.ANSWERS.read_text(encoding="utf-8"))), [PROOF["name"]])


class Sources(unittest.TestCase):
    """The hash of files says the same wherever they are, and something else when one of them changes."""

    def hash_of(self, mutant=None, change=None, by=" ", **proof):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copytree(prove.ROOT / "rtl", folder / "rtl")
            if change:
                path = folder / "rtl" / change
                path.write_text(path.read_text(encoding="utf-8").rstrip("\n") + by + "\n", encoding="utf-8")
            known = next(p for p in prove.proofs() if p["name"] == "work_queue_once")
            (folder / "work").mkdir()
            return prove.sources({**known, **proof}, mutant, folder / "rtl", folder / "work")[1]

    def test_a_hash_is_of_contents(self):
        same = self.hash_of()
        self.assertEqual(self.hash_of(), same)
        self.assertEqual(self.hash_of(timeout=1), same)
        for change in ("driver/work_queue/smk_work_queue.sv", "common/smk_assert.svh", "config/small/smk_config.svh"):
            self.assertNotEqual(self.hash_of(change=change), same, change)
            self.assertEqual(self.hash_of(change=change, by="  // a comment"), same, change)
        with tempfile.TemporaryDirectory() as name:
            shutil.copytree(prove.TB, pathlib.Path(name) / "tb")
            with mock.patch.object(prove, "TB", pathlib.Path(name) / "tb"):
                moved = self.hash_of()
                for change in ("common/formal.svh", "token_arbiter/turn.svh"):
                    path = prove.TB / change
                    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
                    self.assertNotEqual(self.hash_of(), moved, change)
                    moved = self.hash_of()
        self.assertEqual(self.hash_of(change="sm/quota_scheduler/smk_quota_scheduler.sv"), same)
        self.assertNotEqual(self.hash_of(mutant="EverySecondIsSkipped"), same)
        self.assertNotEqual(self.hash_of(assertions=["Hold"]), same)
        self.assertNotEqual(self.hash_of(reduce="scl;"), same)


if __name__ == "__main__":
    unittest.main()
