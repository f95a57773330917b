# SPDX-License-Identifier: Apache-2.0
"""What lies in the drawers tb/<block>/."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def property_files(module):
    """The properties of smk_<module> and what they include: props.sv of a block, <part>_props.sv of
    a part in its block's drawer."""
    (first,) = [*HERE.glob(f"{module}/props.sv"), *HERE.glob(f"*/{module}_props.sv")]
    files = [first]
    for file in files:
        for name in re.findall(r'^\s*`include "(\w+/\w+\.svh)"', file.read_text(encoding="utf-8"), re.M):
            files.append(HERE / name)
    return files
