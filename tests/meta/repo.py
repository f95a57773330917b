# SPDX-License-Identifier: Apache-2.0
"""What the meta tests share: the files git knows, and how a finding is reported."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*patterns):
    """Paths, relative to the root, that git knows and that exist; all, or those matching a pattern."""
    out = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, stdout=subprocess.PIPE
    ).stdout.decode()
    return [p for p in map(pathlib.PurePosixPath, filter(None, out.split("\0"))) if (ROOT / p).is_file()]


def text(path):
    """Contents of a tracked file, or None when it is not text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def report(findings, looked_at):
    """Prints the findings, one per line, and ends the program."""
    for finding in findings:
        print(finding)
    print(f"{looked_at}: {len(findings)} findings")
    sys.exit(1 if findings else 0)
