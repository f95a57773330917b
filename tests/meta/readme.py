# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md work as printed: each is run, in its order, and what it prints compared.

  python3 readme.py BUILD [--long]

A command is a line with "$ " in a block ```console, where the lines behind it are what it prints (as in tutorial.py), an
indented line, or code within a sentence that begins with one of PROGRAMS. They are run in a folder that has the tree's files
and the build folder as links, so that nothing is written into the tree. Numbers under the heading "cycles/s" may be others.

In place of a command that installs something, needs a screen or takes long, the one beside it in INSTEAD is run. With --long,
those of LONG are run themselves. Both lists must be in the page, and a program must have been built by scripts/demo or by a
command before it."""

import os
import pathlib
import re
import sys
import tempfile

import repo
import tutorial

PROGRAMS = r"(?:smk|gtkwave|cmake|ctest|cpack|podman|scripts/\w+|build/release/bin/\w+|tb_\w+)"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^    (\S[^\n]*)$|(?<!`)`(" + PROGRAMS + r" [^`\n]+)`(?!`)", re.MULTILINE | re.DOTALL)

DEMO = "build/release/bin/smk compare cutcp+stencil --policies isolated,spatial,smk-pw --cycles 2M | sed 's/control reference/control rtl/'"
LONG = {
    "scripts/demo": DEMO,
    "smk compare lbm+sgemm": "smk compare lbm+sgemm --cycles 20k",
    "smk sweep lbm+sgemm --set sm.l1.bytes=24576,49152": "smk sweep lbm+sgemm --set sm.l1.bytes=24576,49152 --cycles 20k",
}
INSTEAD = {
    "scripts/test": "scripts/test --help",
    "cmake --workflow --preset check": "cmake --list-presets=workflow | grep '\"check\"'",
    "podman build -t smk .": "test -f Containerfile",
    "podman run -it --rm smk": "grep '^CMD' Containerfile",
    "smk sweep sim/sweeps/smk_paper.toml": "smk sweep sim/sweeps/smk_paper.toml --list",
    "smk report smk_paper.db": "smk report --help",
    "gtkwave out/demo_wave/wave.fst out/demo_wave/wave.gtkw": "grep out/demo_wave scripts/demo",
    "gtkwave out/w/wave.fst out/w/wave.gtkw": "ls out/w/wave.fst out/w/wave.gtkw",
    "gtkwave preempt_engine.fst preempt_engine.gtkw": "ls preempt_engine.fst preempt_engine.gtkw",
}
# What cmake --install takes along besides the program.
INSTALLED = {"smk", "smk_model", "smk_descriptions"}


def commands(page):
    """The page's commands, each once, with what they print."""
    found = []
    for kind, text, line, word in BLOCK.findall(page):
        if kind == "console":
            found += tutorial.commands(text)
        elif line or word:
            found.append(((line or word).split("  #")[0].rstrip(), []))
    shown = {command for command, printed in found if printed}
    return [(command, printed) for command, printed in dict.fromkeys((c, tuple(p)) for c, p in found)
            if printed or command not in shown]


def without_speed(lines):
    """The printed lines with any number under cycles/s."""
    rows, inside = [], False
    for line in lines:
        if inside:
            inside = bool(line.strip())
            line = re.sub(r" *\d+$", "...", line)
        inside = inside or line.endswith("cycles/s")
        rows.append(line)
    return rows


def missing_programs(found):
    """Commands whose program neither scripts/demo nor a command before them has built."""
    built = set(re.search(r"^scripts/build --no-setup (.*)$", repo.text("scripts/demo"), re.MULTILINE)[1].split())
    missing = []
    for command, _ in found:
        words = command.split()
        if words[0] == "scripts/build":
            built |= set(words[1:])
        needs = INSTALLED if command.startswith("cmake --install") else {words[0].rpartition("/")[2]}
        if re.match(r"smk|tb_|build/release|cmake --install", command) and not needs <= built:
            missing.append(f"{command}: after scripts/demo, {sorted(needs - built)} is not built")
    return missing


def links(folder, build):
    """The folder as a clone after the build."""
    for path in {pathlib.Path(path.parts[0]) for path in repo.tracked()}:
        (folder / path).symlink_to(repo.ROOT / path)
    for name in ("build", "home"):
        (folder / name).mkdir()
    (folder / "build/release").symlink_to(build)


def main():
    build, long = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] == ["--long"]
    found = commands(repo.text("README.md"))
    instead = INSTEAD if long else {**INSTEAD, **LONG}
    shown = [command for command, _ in found]
    findings = [f"README.md does not show '{command}'" for command in {**INSTEAD, **LONG} if command not in shown]
    findings += missing_programs(found)
    ran, exports = [], ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        links(folder, build)
        environment = dict(os.environ, HOME=f"{name}/home", SMK_CACHE_DIR=f"{name}/cache")
        for command, printed in found:
            if not tutorial.can_run(command):
                continue
            run = instead.get(command, command)
            problem = tutorial.run(exports + run, without_speed(printed), folder, environment)
            if command.startswith("export "):
                exports += command + "\n"
            ran.append(run)
            findings += [problem] if problem else []
            print("$", run)
    repo.report(findings, f"README.md: {len(ran)} commands, {len(set(ran) & set(shown))} as they are printed")


if __name__ == "__main__":
    main()
