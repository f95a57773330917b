# SPDX-License-Identifier: Apache-2.0
"""formal.answers: an answer of answers.json counts for its model only, and only good ones are written."""

import json
import os
import pathlib
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
        self.models = {None: "good", "Wrong": "wrong"}
        self.says = {"good": "proved", "wrong": "refuted in cycle 3"}
        self.asked = []
        for name, value in {
            "ANSWERS": self.folder / "answers.json",
            "build": lambda *_: 0,
            "model_of": lambda proof, mutant, work: (self.models[mutant], self.models[mutant]),
            "abc": lambda proof, steps, work: self.asked.append(steps) or self.says[steps],
        }.items():
            patch = mock.patch.object(prove, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch("builtins.print")
        patch.start()
        self.addCleanup(patch.stop)

    def prove(self, write=False):
        self.asked = []
        return prove.prove(PROOF, self.folder, self.folder, None, write)

    def test_a_model_is_asked_about_once(self):
        self.assertTrue(self.prove(write=True))
        self.assertEqual(self.asked, ["good", "wrong"])
        self.assertTrue(self.prove())
        self.assertEqual(self.asked, [])

    def test_nothing_is_written_without_record(self):
        self.assertTrue(self.prove())
        self.assertFalse(prove.ANSWERS.exists())

    def test_another_model_is_asked_about(self):
        self.prove(write=True)
        self.models[None] = "other"
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
        self.assertEqual(self.asked, ["good", "wrong"])

    def test_proofs_that_are_gone_leave_the_file(self):
        prove.ANSWERS.write_text('{"no_such_proof": {}}', encoding="utf-8")
        self.prove(write=True)
        self.assertEqual(list(json.loads(prove.ANSWERS.read_text(encoding="utf-8"))), [PROOF["name"]])


if __name__ == "__main__":
    unittest.main()
