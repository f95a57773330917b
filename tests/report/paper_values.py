# SPDX-License-Identifier: Apache-2.0
"""report.paper_values: the numbers of the paper have known keys, and derived ones fit each other.

usage: paper_values.py SOURCE_DIR
"""

import pathlib
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "scripts"))
from paper import values  # noqa: E402

paper = values.PaperValues(root / "sim/sweeps/paper_values.toml")
# What the paper says twice agrees: C+M under SMK-(P+W) over spatial is 17 %.
gain = paper.find("smk-pw", "C+M", "stp") / paper.find("spatial", "C+M", "stp")
assert abs(gain - paper.find("smk-pw", "C+M", "stp", "spatial")) < 0.005, gain
assert paper.find("smk-p", "all", "fairness") == 0.54
assert paper.find("smk-p", "C+C", "stp") is None, "the paper does not print it"

good = {"figure": "fig10", "policy": "smk", "group": "all", "measure": "stp", "value": 1.0,
        "source": "Sec. 6.2"}
assert values.check({"value": [good]}) == []
for change in ({"figure": "fig99"}, {"policy": "smq"}, {"measure": "speed"}, {"value": "1"},
               {"colour": 1}, {"over": "spatial"}):
    assert values.check({"value": [good | change]}), change
for key in good:
    assert values.check({"value": [{k: v for k, v in good.items() if k != key}]}), key
assert values.check({"value": [good, good]}), "twice"
assert values.check({"values": [good]}), "unknown table"
print(f"{len(paper.entries)} numbers")
