# SPDX-License-Identifier: Apache-2.0
"""python.notebooks: each notebook of docs/notebooks runs from its first cell to its last, and draws a figure.

Exit status 77, skipped, without the packages of scripts/setup notebook. They are small beside pandas and
matplotlib, which a notebook needs anyway, so it is nbconvert that executes it, and not a script of ours.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("nbconvert", "ipykernel", "matplotlib", "pandas")


def outputs(notebook):
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def execute(path, folder):
    """What the notebook is when all its cells have run."""
    environment = {**os.environ, "HOME": folder, "SMK_CACHE_DIR": folder + "/cache", "TMPDIR": folder}
    environment["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a notice of three lines
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--log-level=WARN", "--to=notebook", "--execute", path]
        + ["--ExecutePreprocessor.timeout=240", f"--output-dir={folder}"],
        cwd=folder,
        env=environment,
        check=True,
    )
    return json.loads((pathlib.Path(folder) / path.name).read_text(encoding="utf-8"))


missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
if missing:
    print(f"not installed: {', '.join(missing)}; scripts/setup notebook")
    sys.exit(SKIPPED)
notebooks = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
assert notebooks
for path in notebooks:
    # What cells have printed is of one machine and one day; it stays out of the repository.
    assert not outputs(json.loads(path.read_text(encoding="utf-8"))), f"{path}: has outputs; clear them"
    with tempfile.TemporaryDirectory() as folder:
        shown = outputs(execute(path, folder))
    assert any("image/png" in output.get("data", {}) for output in shown), f"{path}: no figure"
    for output in shown:
        print(output.get("text") or output.get("data", {}).get("text/plain", ""))
