# SPDX-License-Identifier: Apache-2.0
"""meta.assumptions_can_fail: what assumptions.py refuses, each on a made-up file."""

import unittest

import assumptions

SOURCES = {("b", "props.sv", "One_M"): False, ("b", "smk_b.sv", "Two_M"): True}
PROOFS = {"a_proof": ["Holds_A"]}
ONE = {"block": "b", "name": "One_M", "files": ["props.sv"], "giver": "a", "proved": ["a_proof: Holds_A"], "why": "."}
TWO = {"block": "b", "name": "Two_M", "files": ["smk_b.sv"], "giver": "a", "why": "."}


def found(*entries):
    return list(assumptions.check_entries(entries, SOURCES, PROOFS, {"smk_a.sv: Seen_A"}, {"a", "b"}))


class Refuses(unittest.TestCase):
    def test_nothing_of_a_good_file(self):
        self.assertEqual(found(ONE, TWO), [])

    def test_an_orphan(self):
        self.assertEqual(found(ONE), ["b/smk_b.sv: Two_M has no entry in assumptions.toml"])

    def test_an_entry_of_nothing(self):
        self.assertEqual(found(ONE, TWO, {**TWO, "name": "Three_M", "giver": "host"}),
                         ["assumptions.toml: b Three_M: is not in smk_b.sv"])

    def test_a_proof_that_does_not_exist(self):
        for text in ("no_proof: Holds_A", "a_proof: Other_A"):
            self.assertEqual(len(found({**ONE, "proved": [text]}, TWO)), 1)

    def test_an_assertion_that_does_not_exist(self):
        self.assertEqual(len(found({**ONE, "watched": ["smk_a.sv: NotSeen_A"]}, TWO)), 1)
        self.assertEqual(found({**ONE, "watched": ["smk_a.sv: Seen_A"]}, TWO), [])

    def test_a_giver_that_does_not_exist(self):
        self.assertEqual(len(found({**ONE, "giver": "nobody"}, TWO)), 1)

    def test_what_nothing_holds_up(self):
        self.assertEqual(found({**ONE, "proved": []}, TWO),
                         ["assumptions.toml: b One_M: is neither proved nor watched nor given from outside"])
        self.assertEqual(found({**ONE, "proved": [], "giver": "machine"}, TWO), [])

    def test_keys_that_do_not_exist_or_are_missing(self):
        self.assertEqual(len(found({**ONE, "prooved": []}, TWO)), 1)
        self.assertEqual(len(found(ONE, TWO, {"block": "b", "name": "One_M"})), 3)

    def test_two_entries_of_one_assumption(self):
        self.assertEqual(found(ONE, TWO, TWO), ["assumptions.toml: b Two_M: has two entries for smk_b.sv"])


class Cycles(unittest.TestCase):
    def check(self, **more):
        entries = [{"block": "b", "name": "One_M", "files": ["props.sv"], "proved": ["of_c: C_A"], **more},
                   {"block": "c", "name": "Other_M", "files": ["props.sv"], "proved": ["of_b: B_A"]}]
        files = {("b", "props.sv"): ["of_b"], ("c", "props.sv"): ["of_c"]}
        return list(assumptions.check_cycles(assumptions.edges_of(entries, files)))

    def test_proofs_that_assume_each_other(self):
        self.assertEqual(len(self.check()), 2)

    def test_not_when_one_is_given_later(self):
        self.assertEqual(self.check(later=True), [])

    def test_later_for_nothing(self):
        entry = {"block": "b", "name": "One_M", "files": ["props.sv"], "proved": ["of_c: C_A"], "later": True}
        edges = assumptions.edges_of([entry], {("b", "props.sv"): ["of_b"]})
        self.assertEqual(list(assumptions.check_cycles(edges)),
                         ["assumptions.toml: b One_M: is given later, but is on no cycle"])


if __name__ == "__main__":
    unittest.main()
