# SPDX-License-Identifier: Apache-2.0
"""The two pictures of docs/timeline.md are what the page's own commands draw, and what cannot be drawn is refused in a line.

usage: timeline.py SOURCE_DIR SMK
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def main():
    source, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
    page = (source / "docs/timeline.md").read_text(encoding="utf-8")
    found = re.findall(r"^```\n(smk run .*)\n(scripts/timeline_picture .*)\n```\n\n!\[[^]]*\]\((.*)\)$", page, re.M)
    if len(found) != 2:
        sys.exit(f"timeline: docs/timeline.md: expected the commands of two pictures, found {len(found)}")
    with tempfile.TemporaryDirectory() as folder:
        for run, draw, picture in found:
            run, draw = shlex.split(run), shlex.split(draw)
            out = run[run.index("--out") + 1]
            here = f"{folder}/{out}"
            subprocess.run([smk, *run[1:-1], here, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            words = [word.replace(out, here) for word in draw[1:]]
            drawn = subprocess.run([sys.executable, "-B", source / draw[0], *words], check=True, stdout=subprocess.PIPE).stdout
            if drawn != (source / "docs" / picture).read_bytes():
                sys.exit(f"timeline: docs/{picture}: not what its commands draw")
        refusals(source / draw[0], pathlib.Path(words[0]), pathlib.Path(folder))


def refusals(script, trace, folder):
    text, cut = folder / "text.gz", folder / "cut.gz"
    text.write_text("no gzip", encoding="utf-8")
    cut.write_bytes(trace.read_bytes()[:2000])
    for words, expected in (((folder / "none.gz",), "no such file"), ((text,), "expected a timeline.json.gz"),
                            ((cut,), "expected a timeline.json.gz"), ((trace, "--sm", "99"), "expected one of the SMs 0 to"),
                            ((trace, "--counter", "nix"), "'nix': expected one of: IPC,")):
        done = subprocess.run([sys.executable, "-B", script, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        if (done.returncode, done.stdout, done.stderr.count("\n")) != (2, "", 1) or expected not in done.stderr:
            sys.exit(f"timeline: {words[1:] or words}: expected '{expected}', got {done.returncode} {done.stderr[-300:]}")


if __name__ == "__main__":
    main()
