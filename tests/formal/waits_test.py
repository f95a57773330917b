# SPDX-License-Identifier: Apache-2.0
"""meta.waits_can_fail: what waits.py refuses, each on a made-up file."""

import unittest

import waits

ONE = {"name": "one", "block": "b", "who": ".", "ends": ".", "needs": ["two"], "proved": ["a_proof"]}
TWO = {"name": "two", "outside": "host", "who": ".", "ends": ".", "needs": []}


def found(*entries):
    return list(waits.findings(entries, {"a_proof"}, {"unit.Suite.Name"}, {"b"}))


class Refuses(unittest.TestCase):
    def test_nothing_of_a_good_file(self):
        self.assertEqual(found(ONE, TWO), [])

    def test_a_cycle(self):
        self.assertEqual(found(ONE, {**TWO, "needs": ["one"]}),
                         ["waits.toml: one: waits for itself, by its needs", "waits.toml: two: waits for itself, by its needs"])

    def test_a_wait_that_nothing_ends(self):
        self.assertEqual(found({**ONE, "proved": []}, TWO), ["waits.toml: one: nothing says that it ends"])
        self.assertEqual(found({**ONE, "proved": [], "tested": ["unit.Suite"]}, TWO), [])

    def test_what_does_not_exist(self):
        for change in ({"proved": ["no_proof"]}, {"tested": ["unit.Suit"]}, {"needs": ["three"]}, {"block": "c"},
                       {"prooved": []}, {"outside": "host"}):
            self.assertEqual(len(found({**ONE, **change}, TWO)), 1, change)

    def test_two_of_one_name(self):
        self.assertEqual(len(found(ONE, ONE, TWO)), 2)


if __name__ == "__main__":
    unittest.main()
