#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Area of the control logic by block, as an SVG.

usage: synth/area/picture.py TABLE.json >PICTURE.svg
TABLE.json is what smk synth --json wrote for all blocks. A bar is a block on all SMs together.
"""

import json
import sys

ROW, LEFT, WIDTH, TOP = 22, 160, 420, 44
COLOURS = {"sm": "#4477aa", "gpu": "#cc6677"}

with open(sys.argv[1], encoding="utf-8") as file:
    table = json.load(file)
blocks = {block["block"]: block for block in table["blocks"]}


def instances(name):
    """How often the GPU has a block."""
    if name in ("sm_control", "driver"):
        return table["sms"] if name == "sm_control" else 1
    return sum(
        block["contains"][name] * instances(parent)
        for parent, block in blocks.items()
        if name in block.get("contains", {})
    )


# Without those that the GPU does not have yet.
areas = {name: instances(name) * block["own"]["um2"] for name, block in blocks.items() if instances(name)}
total = sum(areas.values())
largest = max(areas.values())
rows = sorted(areas.items(), key=lambda item: -item[1])
height = TOP + ROW * len(rows) + 8

print(
    '<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 130}" height="{height}" '
    'font-family="sans-serif" font-size="12">\n'
    f'<rect width="100%" height="100%" fill="white"/>\n'
    f'<text x="10" y="18" font-weight="bold">{total / 1e6:.2f} mm2 of control logic, '
    f'{table["config"]}, {table["library"]["name"]}</text>\n'
    f'<rect x="10" y="26" width="10" height="10" fill="{COLOURS["sm"]}"/>'
    f'<text x="24" y="35">all {table["sms"]} SMs</text>\n'
    f'<rect x="110" y="26" width="10" height="10" fill="{COLOURS["gpu"]}"/>'
    '<text x="124" y="35">driver</text>'
)
for index, (name, area) in enumerate(rows):
    y = TOP + ROW * index
    width = WIDTH * area / largest
    print(
        f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{name}</text>'
        f'<rect x="{LEFT}" y="{y + 3}" width="{width:.1f}" height="{ROW - 6}" '
        f'fill="{COLOURS[blocks[name]["per"]]}"/>'
        f'<text x="{LEFT + width + 6:.1f}" y="{y + 14}">{area / total:.1%}</text>'
    )
print("</svg>")
