# SPDX-License-Identifier: Apache-2.0
"""A page whose commands work as printed: every command of docs/tutorial.md is run, and what it prints compared.

  python3 tutorial.py PAGE BIN

A block ```toml behind a line that ends with `NAME`: is a file. In a block ```console a line that begins with
"$ " is a command; the lines behind it are what it prints: "..." stands for anything within a line, and alone
in a line for any lines. A command that ends with another status than 0 fails the page. Commands of smk synth are
left out where its tools are not installed (scripts/setup synth)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^[^\n]*`([^`\n]+)`:\n\n)?^```(toml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_LINES, ANY_TEXT = r"(?:[^\n]*\n)*?", r"[^\n]*?"


def pattern(lines):
    """What the printed lines must look like; blanks at the ends of lines do not count."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(ANY_LINES)
        else:
            texts = (r"\s+".join(map(re.escape, piece.split(" "))) if piece.strip() else re.escape(piece)
                     for piece in line.rstrip().split("..."))
            parts.append(ANY_TEXT.join(texts) + r"[ ]*\n")
    return re.compile("".join(parts))


def commands(text):
    """Pairs of a command and the lines that it prints."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f"tutorial: a block of commands begins with '{line}'")
    return found


def can_run(command):
    return not command.startswith("smk synth") or shutil.which("sta") is not None


def run(command, printed, folder, environment):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800)
    output = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "\n"
    if done.returncode != 0:
        return f"$ {command}\nstatus {done.returncode}:\n{output}"
    if printed and not pattern(printed).fullmatch(output):
        return f"$ {command}\nthe page has\n" + "\n".join(printed) + f"\nbut it prints\n{output}"
    return None


def main():
    page, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    ran, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PATH=f"{program}:{os.environ['PATH']}", SMK_CACHE_DIR=f"{folder}/cache")
        for name, kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind == "toml":
                if not name:
                    sys.exit("tutorial: a file without a name")
                (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
                continue
            for command, printed in filter(lambda pair: can_run(pair[0]), commands(text)):
                problem = run(command, printed, folder, environment)
                ran += 1
                if problem:
                    wrong.append(problem)
    for problem in wrong:
        print(problem)
    if ran == 0:
        sys.exit(f"tutorial: {page} has no command")
    print(f"{ran} commands, {len(wrong)} that do not do what the page says")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
