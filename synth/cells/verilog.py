# SPDX-License-Identifier: Apache-2.0
"""Verilog models of the cells, for simulation of netlists: what they do, without delays."""


def expression(tree):
    kind, parts = tree
    if kind == "input":
        return parts
    sign = " & " if kind == "series" else " | "
    return "(" + sign.join(expression(part) for part in parts) + ")"


def cell_model(cell):
    lines = [f"module {cell.name} ({', '.join(f'input {pin}' for pin in cell.pins)}, output Y);"]
    for stage in cell.stages:
        if stage.output != "Y":
            lines.append(f"  wire {stage.output};")
        lines.append(f"  assign {stage.output} = ~{expression(stage.tree)};")
    return "\n".join([*lines, "endmodule", ""])


def flip_flop_model(name, reset, preset):
    pins = ["D", "CK", *filter(None, (reset, preset))]
    edge = f" or negedge {reset or preset}" if reset or preset else ""
    first = ""
    if reset or preset:
        first = f"if (!{reset or preset}) Q <= 1'b{int(bool(preset))};\n    else "
    return (f"module {name} ({', '.join(f'input {pin}' for pin in pins)}, output reg Q);\n"
            f"  always @(posedge CK{edge})\n    {first}Q <= D;\nendmodule\n")
