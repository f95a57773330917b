# SPDX-License-Identifier: Apache-2.0
"""install.descriptions: man page and completions name every command and every option, and shells take them.

usage: descriptions.py SMK
What there is comes from the text of smk help. A shell that is not installed is left out.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed import call, check

SMK = pathlib.Path(sys.argv[1]).resolve()
# Words before the cursor, the word at it, and some that must be offered.
OFFERS = [
    ([], "", {"run", "compare", "trace", "doctor"}),
    ([], "s", {"sweep", "synth"}),
    (["run"], "--po", {"--policy"}),
    (["run"], "sge", {"sgemm"}),
    (["run"], "lbm+sge", {"lbm+sgemm"}),
    (["run", "sgemm", "--policy"], "smk-p", {"smk-p", "smk-pw", "smk-pw2"}),
    (["compare", "sgemm", "--policies"], "even,spa", {"even,spatial"}),
    (["run", "--control"], "", {"reference", "rtl", "compiled", "lockstep", "lockstep-compiled"}),
    (["run", "--machine"], "fermi-", {"fermi-gpgpusim"}),
    (["trace"], "", {"info", "export"}),
    (["trace", "export"], "--max", {"--max-instructions"}),
    (["run", "--config"], "some", {"some.toml"}),
    (["trace", "info"], "some", {"some_folder"}),
]
BASH = r"""
source "$1"
shift
COMP_WORDS=(smk "$@")
COMP_CWORD=$#
_smk
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = "source $argv[1]; complete --do-complete $argv[2]"
ZSH = r"""
_arguments() { print -rl -- "$@" }
words=(smk "${@[2,-1]}")
CURRENT=$#words
source "$1"
"""


def commands():
    """Every command with the options that its help names."""
    found = {"": call([SMK, "--help"])}
    for name in re.findall(r"^  ([a-z]+) ", found[""].split("Subcommands:")[1], re.M):
        found[name] = call([SMK, name, "--help"])
        for inner in re.findall(r"^  ([a-z]+) ", found[name].partition("Subcommands:")[2], re.M):
            found[f"{name} {inner}"] = call([SMK, name, inner, "--help"])
    names = re.compile(r"^  (?:-[a-z],)?(--[a-z-]+)", re.M)
    return {name: set(names.findall(text)) for name, text in found.items()}


def of_man(text):
    found = {}
    for part in re.split(r"^(?=\.SH OPTIONS|\.SS )", text.replace(r"\-", "-"), flags=re.M)[1:]:
        heading = re.match(r"\.SS \\fBsmk ([a-z ]+)\\fR", part)
        found[heading[1] if heading else ""] = set(re.findall(r"\\fB(--[a-z-]+)\\fR", part))
    return found


def of_bash(text):
    names = re.findall(r"^    '([a-z ]*)/-'\*\) words='([^']*)'", text, re.M)
    return {name: set(re.findall(r"--[a-z-]+", words)) for name, words in names}


def of_zsh(text):
    parts = re.findall(r"^    '([a-z ]*)'\)\n(.*?);;", text, re.M | re.S)
    return {name: set(re.findall(r"'\*(--[a-z-]+)\[", part)) for name, part in parts}


def of_fish(text):
    found = {}
    for name, line in re.findall(r"""^complete .*__smk_is '([a-z ]*)'"(.*)""", text, re.M):
        found.setdefault(name, set()).update(f"--{option}" for option in re.findall(r" -l ([a-z-]+)", line))
    return found


def check_options(name, found, wanted):
    for command, options in wanted.items():
        # The page leaves out smk trace, which has nothing but its two commands.
        if name == "man" and any(other.startswith(command + " ") for other in wanted):
            continue
        missing = options - found.get(command, set())
        check(not missing, f"{name}: smk {command}: no {sorted(missing)}")


def check_offers(name, scratch):
    """Asks a shell what it would offer."""
    for before, word, wanted in OFFERS:
        words = ["smk", *before, word]
        if name == "bash":
            offered = call(["bash", "-c", BASH, "bash", scratch / name, *before, word], cwd=scratch)
        else:
            line = " ".join(words)
            offered = call(["fish", "--no-config", "-c", FISH, scratch / name, line], cwd=scratch)
        lines = {line.split("\t")[0].rstrip("/") for line in offered.splitlines()}
        check(wanted <= lines, f"{name}: {words}: no {sorted(wanted - lines)} in {sorted(lines)}")


def check_zsh(scratch):
    """Without a terminal all that can be seen is what _arguments is called with."""
    for before, option in ((["run"], "--policy"), (["trace", "export"], "--tbs"), ([], "--version")):
        offered = call(["zsh", "-fc", ZSH, "zsh", scratch / "zsh", *before, ""])
        check(f"*{option}[" in offered, f"zsh: {before}: no {option} in {offered}")


def main():
    wanted = commands()
    check(len(wanted) > 10 and "--policy" in wanted["run"], f"smk help is read wrongly: {wanted}")
    readers = {"man": of_man, "bash": of_bash, "zsh": of_zsh, "fish": of_fish}
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "some.toml").touch()
        (scratch / "some_folder").mkdir()
        for name, read in readers.items():
            text = call([SMK, "help", "--as", name])
            (scratch / name).write_text(text)
            check_options(name, read(text), wanted)
        refused = subprocess.run([SMK, "help", "--as", "csh"], stderr=subprocess.PIPE, text=True, check=False)
        check(refused.returncode == 2 and "expected man, bash, zsh or fish" in refused.stderr, refused.stderr)
        check_offers("bash", scratch)
        for shell, look in (("fish", lambda: check_offers("fish", scratch)), ("zsh", lambda: check_zsh(scratch))):
            if shutil.which(shell):
                look()
            else:
                print(f"{shell} is not installed: its completions were only read")
        if shutil.which("man"):
            page = call(["man", "--warnings", "-l", scratch / "man"], env={**os.environ, "MANWIDTH": "100"})
            check("warning" not in page and "--policy NAME" in page, page)
    print(f"{len(wanted)} commands, {sum(map(len, wanted.values()))} options: 0 findings")


main()
