# SPDX-License-Identifier: Apache-2.0
"""scripts/nightly says which of its parts failed, whichever of a part's commands it was."""

import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def nightly(folder, *parts):
    done = subprocess.run([folder / "scripts/nightly", *parts], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[-1], (folder / "calls").read_text().splitlines()


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        scripts = folder / "scripts"
        scripts.mkdir()
        shutil.copy(ROOT / "scripts/nightly", scripts)
        # In the place of those that it calls; one fails when its arguments have the word of the file `fails`.
        for name in ("setup", "build", "lockstep", "mutation"):
            stub = scripts / name
            stub.write_text(f'#!/bin/sh\necho {name} "$@" >>"{folder}/calls"\n! echo "$@" | grep -qe "$(cat "{folder}/fails")"\n')
            stub.chmod(0o755)
        (folder / "fails").write_text("nothing-fails")
        status, last, calls = nightly(folder, "lockstep", "mutation")
        assert (status, last) == (0, "nightly: PASS"), (status, last)
        runs = [call for call in calls if call.startswith("lockstep")]
        assert len(runs) > 2 and calls[-1].strip() == "mutation", calls
        for word in ("--links", "--random 2000", "--machine v100"):
            (folder / "fails").write_text(word)
            (folder / "calls").unlink()
            status, last, calls = nightly(folder, "lockstep", "mutation")
            assert (status, last) == (1, "nightly: FAIL: lockstep"), (word, status, last)
            assert word in calls[-2] and calls[-1].strip() == "mutation", (word, calls)
    finally:
        shutil.rmtree(folder)


main()
