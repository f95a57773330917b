# SPDX-License-Identifier: Apache-2.0
"""Where the program is, how it is called, and what its ends are in Python."""

import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve()
# Of an installation: PREFIX/lib/python3/dist-packages/smk is this module, PREFIX/bin/smk the program.
BESIDE = HERE.parents[4] / "bin/smk" if HERE.parts[-5:-2] == ("lib", "python3", "dist-packages") else None
BUILD = HERE.parents[2] / "build"


class Error(Exception):
    """Something that the program, or this module, says in one line."""


class ProgramNotFound(Error):
    """There is no program smk."""


class InputError(Error, ValueError):
    """Bad usage or input: exit status 2."""


class RunFailed(Error, RuntimeError):
    """The run found a failure, exit status 1, or the program was killed."""


def find():
    """The path of the program: the environment variable SMK, else that of the same installation, else PATH, else
    the build folder of this tree."""
    named = os.environ.get("SMK")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFound(f"SMK={named}: no such program")
        return found
    built = [BUILD / preset / "bin" / "smk" for preset in ("release", "debug")]
    for path in filter(None, (BESIDE, shutil.which("smk"), *built)):
        if os.access(path, os.X_OK):
            return str(path)
    raise ProgramNotFound("smk: not found; build it, or set SMK to its path")


def call(words):
    """What the program prints when it is called with these words; throws what it says when it fails."""
    command = [find(), *words]
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
    except OSError as error:
        raise ProgramNotFound(f"{command[0]}: {error.strerror}") from None
    except ValueError as error:  # a zero byte in a word
        raise InputError(str(error)) from None
    out = ended.stdout.decode("utf-8", "replace")
    if ended.returncode == 0:
        return out
    raise failure(ended.returncode, out, ended.stderr.decode("utf-8", "replace"))


def failure(status, out, err):
    """The exception for a call that ended so."""
    said = err.strip().splitlines()
    if status == 2:
        return InputError(said[-1].removeprefix("smk: ") if said else "exit status 2")
    if status < 0:
        return RunFailed(f"the program was killed by signal {-status}")
    reason = reason_of(out)
    if not reason:
        reason = said[-1].removeprefix("smk: ") if said else f"exit status {status}"
    return RunFailed(reason)


def reason_of(out):
    """What is behind FAIL: in the JSON document, or in the last line."""
    try:
        out = json.loads(out)["status"]
    except (ValueError, TypeError, KeyError):
        pass
    last = out.strip().splitlines()[-1:] if isinstance(out, str) else []
    return last[0].removeprefix("FAIL: ") if last and last[0].startswith("FAIL: ") else ""
