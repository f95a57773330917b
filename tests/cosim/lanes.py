# SPDX-License-Identifier: Apache-2.0
"""cosim.lanes: the generator of lanes on small netlists: every gate, every kind of flip-flop, and what it refuses.

usage: lanes.py CXX YOSYS
What each netlist means is written down here by hand; the C++ that is made of it is compiled and must do the same, with
every pattern of inputs in lanes of its own.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "synth/lanes"))
import cpp  # noqa: E402
from netlist import ONE, ZERO, Netlist, Unsupported  # noqa: E402

CXX, YOSYS = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) > 2 else ("c++", "yosys")

# What each gate is of its pins, and how many it has.
GATES = {
    "BUF": lambda a: a, "NOT": lambda a: 1 - a,
    "AND": lambda a, b: a & b, "NAND": lambda a, b: 1 - (a & b), "OR": lambda a, b: a | b,
    "NOR": lambda a, b: 1 - (a | b), "XOR": lambda a, b: a ^ b, "XNOR": lambda a, b: 1 - (a ^ b),
    "ANDNOT": lambda a, b: a & (1 - b), "ORNOT": lambda a, b: a | (1 - b),
    "MUX": lambda a, b, s: b if s else a, "NMUX": lambda a, b, s: 1 - (b if s else a),
    "AOI3": lambda a, b, c: 1 - ((a & b) | c), "OAI3": lambda a, b, c: 1 - ((a | b) & c),
    "AOI4": lambda a, b, c, d: 1 - ((a & b) | (c & d)), "OAI4": lambda a, b, c, d: 1 - ((a | b) & (c | d)),
}
# The next value of a flip-flop of its value q and the pins d, e and r.
FLOPS = {
    "DFF_P": lambda q, d, e, r: d,
    "DFF_PN0": lambda q, d, e, r: d, "DFF_PN1": lambda q, d, e, r: d,
    "DFFE_PP": lambda q, d, e, r: d if e else q, "DFFE_PN": lambda q, d, e, r: q if e else d,
    "DFFE_PN0P": lambda q, d, e, r: d if e else q, "DFFE_PN1N": lambda q, d, e, r: q if e else d,
    "SDFF_PP0": lambda q, d, e, r: 0 if r else d, "SDFF_PN1": lambda q, d, e, r: d if r else 1,
    "SDFFE_PP1P": lambda q, d, e, r: 1 if r else d if e else q,
    "SDFFE_PN0N": lambda q, d, e, r: 0 if not r else q if e else d,
    "SDFFCE_PP1P": lambda q, d, e, r: q if not e else 1 if r else d,
    "SDFFCE_PN0N": lambda q, d, e, r: q if e else 0 if not r else d,
}
CLOCK, RESET, FIRST = 2, 3, 4  # bits of the netlists


def pins_of(name):
    count = GATES[name].__code__.co_argcount
    return "ABS" if "MUX" in name else "ABCD"[:count]


def module(inputs, outputs, cells):
    """As Yosys writes it; ports are names with their bits, cells are (type, pins)."""
    ports = {"clk_i": ("input", [CLOCK]), "rst_ni": ("input", [RESET])}
    ports |= {name: ("input", bits) for name, bits in inputs.items()}
    ports |= {name: ("output", bits) for name, bits in outputs.items()}
    return {"modules": {"m": {
        "ports": {name: {"direction": way, "bits": bits} for name, (way, bits) in ports.items()},
        "netnames": {name: {"hide_name": 0, "bits": bits} for name, (_, bits) in ports.items()},
        "cells": {f"cell{i}": {"type": f"$_{kind}_", "connections": {pin: [bit] for pin, bit in pins.items()}}
                  for i, (kind, pins) in enumerate(cells)},
    }}}


def all_gates():
    """One gate of each kind, all of the same four inputs."""
    cells, out = [], []
    for i, name in enumerate(GATES):
        pins = {pin: FIRST + k for k, pin in enumerate(pins_of(name))}
        cells.append((name, pins | {"Y": 100 + i}))
        out.append(100 + i)
    return module({"in_i": [4, 5, 6, 7]}, {"out_o": out}, cells)


def all_flops():
    """One flip-flop of each kind, of the inputs d, e and r."""
    cells, out = [], []
    for i, name in enumerate(FLOPS):
        pins = {"C": CLOCK, "D": 4, "Q": 100 + i}
        if "E" in name.split("_")[0]:
            pins["E"] = 5
        if name.startswith("S"):
            pins["R"] = 6
        elif re.search("_PN[01]", name):
            pins["R"] = RESET
        cells.append((name, pins))
        out.append(100 + i)
    return module({"in_i": [4, 5, 6]}, {"out_o": out}, cells)


def parse(*functions):
    return list(map(cpp.Function.parse, functions))


def run(netlist, functions, program, words=1):
    """What the program prints that has an object `lanes` of the class."""
    made = cpp.passes(netlist, parse(*functions), YOSYS)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "lanes.h").write_text(cpp.header(netlist, "Lanes", "a test", made, words), encoding="utf-8")
        (folder / "lanes.cc").write_text(cpp.source(netlist, "Lanes", "lanes.h", made, words), encoding="utf-8")
        (folder / "main.cc").write_text(
            '#include <cstdio>\n#include "lanes.h"\nint main() {\nsmk::lanes::Lanes lanes;\nlanes.Reset();\n'
            + program + "}\n", encoding="utf-8")
        subprocess.run([CXX, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-I", folder,
                        folder / "lanes.cc", folder / "main.cc", "-o", folder / "main"], check=True)
        return subprocess.run([folder / "main"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


# Lane i of word w has the bits of i + w as its inputs.
PATTERNS = """for (unsigned w = 0; w < lanes.kWords; ++w) {
  for (unsigned b = 0; b < sizeof(lanes.in.in_i) / (8 * lanes.kWords); ++b) {
    lanes.in.in_i[b][w] = 0;
    for (unsigned i = 0; i < 64; ++i) lanes.in.in_i[b][w] |= std::uint64_t{(i + w) >> b & 1} << i;
  }
}
"""
PRINT = """for (unsigned w = 0; w < lanes.kWords; ++w) {
  for (const auto& bit : lanes.out.out_o) std::printf("%llx\\n", static_cast<unsigned long long>(bit[w]));
}
"""


class Lanes(unittest.TestCase):
    def test_every_gate_does_what_its_name_says(self):
        netlist = Netlist(all_gates(), "m")
        for words in (1, 2):
            said = run(netlist, ["Settle=outputs"], PATTERNS + "lanes.Settle();\n" + PRINT, words)
            of_gates = [(w, *gate) for w in range(words) for gate in GATES.items()]
            for word, (w, name, means) in zip(said, of_gates, strict=True):
                for i in range(64):
                    pins = [(i + w) >> b & 1 for b in range(means.__code__.co_argcount)]
                    self.assertEqual(int(word, 16) >> i & 1, means(*pins), f"{name} of {pins}, word {w} of {words}")

    def test_each_of_two_words_has_registers_of_its_own(self):
        flops = [("DFFE_PP", {"C": CLOCK, "D": 4, "E": 5, "Q": 100})]
        netlist = Netlist(module({"in_i": [4, 5]}, {"out_o": [100]}, flops), "m")
        program = "lanes.q[0] ^= lanes.q[0];\n"
        program += "".join(f"lanes.in.in_i[0][{w}] = {w + 5};\nlanes.in.in_i[1][{w}] = {w} ? ~0ull : 1;\n" for w in range(2))
        said = run(netlist, ["Cycle=outputs+edge"], program + 2 * f"lanes.Cycle();\n{PRINT}", 2)
        self.assertEqual(said, ["0", "0", "1", "6"])

    def test_every_flip_flop_takes_its_next_value(self):
        netlist = Netlist(all_flops(), "m")
        functions = ["Settle=outputs", "Edge=edge", "Cycle=outputs+edge"]
        program = f"lanes.Settle();\n{PRINT}{PATTERNS}"
        # Lanes 8 to 15 and so on begin with 1 in every register.
        program += "for (auto& word : lanes.q) word[0] = 0xff00ff00ff00ff00;\nlanes.Edge();\nlanes.Settle();\n" + PRINT
        program += "for (auto& word : lanes.q) word[0] = 0xff00ff00ff00ff00;\nlanes.Cycle();\n" + PRINT
        program += "lanes.Settle();\n" + PRINT
        words = run(netlist, functions, program)
        count = len(FLOPS)
        self.assertEqual(len(words), 4 * count)
        for k, (name, means) in enumerate(FLOPS.items()):
            self.assertEqual(int(words[k], 16), (1 << 64) - 1 if re.search("^DFFE?_PN1", name) else 0, f"{name}: reset")
            for i in range(64):
                q, d, e, r = i >> 3 & 1, i & 1, i >> 1 & 1, i >> 2 & 1
                after_edge, wires, after_cycle = (int(words[part * count + k], 16) >> i & 1 for part in (1, 2, 3))
                self.assertEqual(after_edge, means(q, d, e, r), f"{name}: q {q} d {d} e {e} r {r}")
                self.assertEqual((wires, after_cycle), (q, after_edge), f"{name}: outputs are those before the edge")

    def test_registers_that_take_each_others_values_exchange_them(self):
        flops = [("DFF_P", {"C": CLOCK, "D": 101 - i, "Q": 100 + i}) for i in range(2)]
        netlist = Netlist(module({}, {"out_o": [100, 101]}, flops), "m")
        words = run(netlist, ["Cycle=outputs+edge"],
                    "lanes.q[0][0] = 1;\nlanes.q[1][0] = 2;\n" + f"lanes.Cycle();\n{PRINT}" * 2)
        self.assertEqual(words, ["1", "2", "2", "1"])

    def test_inputs_that_are_fixed_leave_fewer_gates(self):
        netlist = Netlist(all_gates(), "m")
        for value in (0, 1):
            fixed = netlist.with_fixed({"in_i": value})
            want = [ONE if means(*[value] * means.__code__.co_argcount) else ZERO for means in GATES.values()]
            self.assertEqual(fixed.outputs["out_o"], want)
            self.assertEqual(fixed.nodes, {})

    def test_a_register_that_keeps_its_value_is_not_written(self):
        cells = [("MUX", {"A": 100, "B": 4, "S": 5, "Y": 101}), ("DFF_P", {"C": CLOCK, "D": 101, "Q": 100})]
        netlist = Netlist(module({"d_i": [4], "load_i": [5]}, {"out_o": [100]}, cells), "m")
        made = cpp.passes(netlist, parse("Edge=edge", "Quiet=edge/load_i=0"), YOSYS)
        text = cpp.source(netlist, "Lanes", "lanes.h", made)
        edge, quiet = text.split("void Lanes::Edge")[1].split("void Lanes::Quiet")
        self.assertIn("q[0] =", edge)
        self.assertNotIn("q[0] =", quiet)

    def test_equal_gates_are_one(self):
        cells = [("AND", {"A": 4, "B": 5, "Y": 100}), ("AND", {"A": 5, "B": 4, "Y": 101}),
                 ("NOT", {"A": 100, "Y": 102}), ("NOT", {"A": 102, "Y": 103})]
        netlist = Netlist(module({"in_i": [4, 5]}, {"out_o": [100, 101, 103]}, cells), "m")
        self.assertEqual(len(set(netlist.outputs["out_o"])), 1)

    def refuses(self, said, inputs, outputs, cells):
        with self.assertRaisesRegex(Unsupported, said):
            Netlist(module(inputs, outputs, cells), "m")

    def test_what_cannot_be_lanes_is_refused_by_name(self):
        latch = ("DLATCH_P", {"E": 4, "D": 5, "Q": 100})
        self.refuses(r"cell cell0 is a \$_DLATCH_P_, which is no gate", {"in_i": [4, 5]}, {"out_o": [100]}, [latch])
        falling = ("DFF_N", {"C": CLOCK, "D": 4, "Q": 100})
        self.refuses(r"is a \$_DFF_N_", {"in_i": [4]}, {"out_o": [100]}, [falling])
        other = ("DFF_P", {"C": 4, "D": 5, "Q": 100})
        self.refuses("the clock of cell0 is in_i, not clk_i", {"in_i": [4], "d_i": [5]}, {"out_o": [100]}, [other])
        for name, pin in (("DFF_PP0", RESET), ("DFF_PN0", 5)):
            reset = (name, {"C": CLOCK, "D": 4, "Q": 100, "R": pin})
            self.refuses("the reset of cell0 is not rst_ni at 0", {"d_i": [4], "x_i": [5]}, {"out_o": [100]}, [reset])
        loop = [("AND", {"A": 4, "B": 101, "Y": 100}), ("NOT", {"A": 100, "Y": 101})]
        self.refuses("depends on itself", {"in_i": [4]}, {"out_o": [100]}, loop)
        self.refuses("nothing drives out_o", {"in_i": [4]}, {"out_o": [100]}, [])
        self.refuses("nothing drives 55", {"in_i": [4]}, {"out_o": [100]}, [("AND", {"A": 4, "B": 55, "Y": 100})])
        with self.assertRaisesRegex(Unsupported, "no module n, only m"):
            Netlist(all_gates(), "n")
        without = all_gates()
        del without["modules"]["m"]["ports"]["rst_ni"]
        with self.assertRaisesRegex(Unsupported, "no input rst_ni"):
            Netlist(without, "m")

    def test_what_is_held_is_calculated_when_it_is_told_to_have_changed(self):
        # out = in AND (held XOR q); q takes the value of `load`, which Quiet takes for 0 and Cycle does not.
        cells = [("XOR", {"A": 5, "B": 100, "Y": 101}), ("AND", {"A": 4, "B": 101, "Y": 102}),
                 ("MUX", {"A": 100, "B": 5, "S": 6, "Y": 103}), ("DFF_P", {"C": CLOCK, "D": 103, "Q": 100})]
        netlist = Netlist(module({"in_i": [4], "held_i": [5], "load_i": [6]}, {"out_o": [102]}, cells), "m")
        program = "lanes.q[0][0] = 0;\nlanes.in.in_i[0][0] = ~0ull;\n"
        for step in ("lanes.in.held_i[0][0] = 1;\nlanes.Quiet();\n",  # calculated
                     "lanes.in.held_i[0][0] = 2;\nlanes.Quiet();\n",  # not told
                     "lanes.Changed();\nlanes.Quiet();\n",
                     "lanes.in.in_i[0][0] = 6;\nlanes.Quiet();\n",  # not held
                     "lanes.in.load_i[0][0] = ~0ull;\nlanes.Cycle();\n",  # changes the register, so that is told
                     "lanes.Quiet();\n"):
            program += step + PRINT
        words = run(netlist, ["Cycle=outputs+edge", "Quiet=outputs+edge/load_i=0,held_i=held"], program)
        self.assertEqual(words, ["1", "1", "2", "2", "2", "0"])

    def test_a_register_can_be_fixed_that_stays_so(self):
        cells = [("AND", {"A": 4, "B": 5, "Y": 101}), ("DFF_PN0", {"C": CLOCK, "D": 101, "Q": 100, "R": RESET}),
                 ("OR", {"A": 100, "B": 4, "Y": 102})]
        content = module({"a_i": [4], "b_i": [5]}, {"out_o": [102]}, cells)
        content["modules"]["m"]["netnames"]["taken_q"] = {"hide_name": 0, "bits": [100]}
        netlist = Netlist(content, "m")
        one, = cpp.passes(netlist, parse("Cycle=outputs+edge/b_i=0,taken_q=0"), YOSYS)
        self.assertEqual((one.body.nodes, one.edges), ({}, []))
        with self.assertRaisesRegex(Unsupported, "taken_q does not stay 0"):
            cpp.passes(netlist, parse("Cycle=edge/taken_q=0"), YOSYS)

    def test_functions_are_named_as_they_are_asked_for(self):
        self.assertEqual(parse("A=outputs+edge/x_i=0,y_i=1,z_i=held"),
                         [cpp.Function("A", ("outputs",), True, {"x_i": 0, "y_i": 1}, frozenset({"z_i"}))])
        self.assertEqual(parse("B=edge", "C=x_o+y_o"), [cpp.Function("B", (), True), cpp.Function("C", ("x_o", "y_o"), False)])
        for wrong in ("A", "A=", "A=wires of", "1=edge", "=edge"):
            with self.assertRaisesRegex(ValueError, "expected NAME=outputs"):
                parse(wrong)
        for wrong in ("A=edge/x_i", "A=edge/x_i=2", "A=edge/x_i=0,y_i"):
            with self.assertRaisesRegex(ValueError, "expected an input with 0, 1 or held"):
                parse(wrong)
        netlist = Netlist(all_gates(), "m")
        for wrong in ("A=wires", "A=edge/x_i=0", "A=edge/x_i=held"):
            with self.assertRaisesRegex(Unsupported, "A: there is no (wires|x_i)"):
                cpp.passes(netlist, parse(wrong), YOSYS)

    def test_fewer_operations_are_found(self):
        # (a AND b) OR (a AND c) is a AND (b OR c).
        cells = [("AND", {"A": 4, "B": 5, "Y": 100}), ("AND", {"A": 4, "B": 6, "Y": 101}), ("OR", {"A": 100, "B": 101, "Y": 102})]
        netlist = Netlist(module({"in_i": [4, 5, 6]}, {"out_o": [102]}, cells), "m")
        one, = cpp.passes(netlist, parse("Settle=outputs"), YOSYS)
        self.assertEqual(sorted(node.kind for node in one.body.nodes.values()), ["and", "or"])


unittest.main()
