# SPDX-License-Identifier: Apache-2.0
"""sim.odd_inputs: whatever is asked of the program, it answers in one line, soon, and in little memory.

usage: odd_inputs.py SMK DATA_DIR [INPUT...]
The inputs are those of odd_inputs.toml beside this file, which says how they are written; with INPUT only those whose
command contains one of them, and what they print. Each call must end

- with its status, by itself: no signal, 10 s of processor time, 60 s of all time, 2 GiB of memory;
- with nothing on stdout and one line on stderr when its status is 2, with no stderr when it is 0: the line begins with
  "smk: ", and has the words in `says`, such as the file or the key;
- without the words of a library.
"""

import concurrent.futures
import json
import os
import pathlib
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
PROCESSOR_SECONDS = 10
SECONDS = 60
BYTES = 2 << 30
LEAST = 500
LONGEST = 1020
# What nobody but a programmer understands.
FORBIDDEN = (
    "terminate called", "std::", "what():", "toml::", "nlohmann", "json.exception", "CLI::", "basic_string", "vector::",
    "Assertion", "core dumped", "Segmentation", "runtime error", "AddressSanitizer", "SystemC", "sqlite3_", "SQLITE_",
    "filesystem error", "bad_alloc", "stoi", "stoull", "fmt::", "regex_error", "bad optional", "bad_variant", "map::at",
    "/usr/include", "/usr/lib",
)  # fmt: skip


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if LIMITED:
        limit_memory()


def text(value):
    """A word of the list as the program gets it: <e4> is that byte."""
    return value.replace("<e4>", "\udce4")


def changed(content, change):
    old, new = change
    assert old in content, f"odd_inputs.toml: no '{old}' to change"
    return content.replace(old, new, 1)


def write_database(path, file, folder):
    """A database with a damage: a size to cut it to, bytes to write over, or statements of SQL."""
    shutil.copy(folder / file["of"], path)
    if "size" in file:
        os.truncate(path, file["size"])
    if "at" in file:
        with open(path, "r+b") as out:
            out.seek(file["at"])
            out.write(bytes([file.get("byte", 255)]) * file.get("count", 1))
    for statement in file.get("sql", []):
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA ignore_check_constraints = ON")
            database.execute(statement)
        database.close()


def write(file, folder, data_dir):
    """One [[file]] of the list."""
    path = folder / text(file["name"])
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = file.get("kind", "text")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(file["to"])
    elif kind == "sparse":
        with open(path, "wb") as out:
            out.truncate(file["size"])
    elif kind == "database":
        write_database(path, file, folder)
    elif kind == "program":
        path.write_text(file["text"], encoding="utf-8")
        path.chmod(0o755)
    elif kind == "bytes":
        path.write_bytes(bytes.fromhex(file["hex"]) * file.get("times", 1))
    else:
        content = file.get("text", "")
        if "of" in file:
            content = (folder / file["of"]).read_text(encoding="utf-8")
        if "ship" in file:
            content = (data_dir / file["ship"]).read_text(encoding="utf-8")
        for change in file.get("changes", []):
            content = changed(content, change)
        path.write_text(content * file.get("times", 1) + file.get("end", ""), encoding="utf-8")


def call(words, folder, environment=None):
    """Calls the program in a folder, where its cache is, with the stand-ins of bin before other programs."""
    return subprocess.run(
        [SMK, *words],
        cwd=folder,
        env={
            **os.environ,
            "SMK_CACHE_DIR": str(folder / "cache"),
            "SMK_DATA_DIR": str(DATA_DIR),
            "PATH": f"{SHARED / 'bin'}:{os.environ['PATH']}",
            **(environment or {}),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        preexec_fn=limit,
        timeout=SECONDS,
        check=False,
    )


def keys(what):
    """Names of settings or keys, as the program lists them."""
    listed = call(["list", what, "--json"], SHARED).stdout
    return [row["key"] for row in json.loads(listed)]


def inputs(groups):
    """Every input: its group, its command, its value, and the change of a file that goes with it."""
    for group in groups:
        values = group.get("with", [""])
        values = keys(values) if isinstance(values, str) else values
        values = [value for value in values if value not in group.get("without", [])]
        for command in group["call"] if isinstance(group["call"], list) else [group["call"]]:
            for value in values:
                for change in group.get("changes", [None]):
                    yield group, command, value, change


def ended_badly(group, value, ended):
    """What is wrong with the end of a call, or an empty text."""
    expected = group.get("status", 2)
    if ended.returncode not in (expected if isinstance(expected, list) else [expected]):
        return f"status {ended.returncode}, expected {expected}"
    out, err = ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")
    lines = [line for line in err.removesuffix("\n").split("\n") if line]
    found = [word for word in FORBIDDEN if word in out + err]
    if found:
        return f"words of a library: {found}"
    if ended.returncode == 0:
        return f"{len(lines)} lines on stderr" if len(lines) > group.get("notices", 0) else ""
    if ended.returncode == 1:
        failed = out.split("\n")[-2:-1] + lines
        return "" if len(failed) == 1 and failed[0].startswith("FAIL: ") else "expected one line FAIL: reason"
    if ended.returncode == 2 and out:
        return "something on stdout"
    if len(lines) != 1 or not lines[0].startswith("smk: "):
        return "expected one line on stderr that begins with smk:"
    if len(lines[0]) > LONGEST:
        return f"a line of {len(lines[0])} characters"
    says = group.get("says", "").replace("{}", value)
    return "" if says in lines[0] else f"does not say '{says}'"


def check(given):
    """Makes the call of one input; gives what it looks like, what is wrong with it, and what it printed."""
    group, command, value, change = given
    shown = f"smk {command.replace('{}', value)!r}" + (f" with {change[1]!r} for {change[0]!r}" if change else "")
    words = []
    for word in shlex.split(command):
        several = word == "{}" and group.get("words", False)
        words += [text(each) for each in (shlex.split(value) if several else [word.replace("{}", value)])]
    with tempfile.TemporaryDirectory(dir=SHARED.parent) as name:
        folder = pathlib.Path(name)
        (folder / "in").symlink_to(SHARED)
        for file in group.get("own", []):
            shutil.copy(SHARED / file, folder / file)
        if change:
            file = pathlib.PurePath(group["file"])
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            for neighbour in (SHARED / file).parent.iterdir() if len(file.parts) > 1 else []:
                shutil.copy(neighbour, folder / file.parent)
            content = changed((SHARED / file).read_text(encoding="utf-8"), change)
            (folder / file).write_bytes(os.fsencode(text(content)))
        environment = {key: text(each.replace("{}", value)) for key, each in group.get("env", {}).items()}
        try:
            ended = call(words, folder, environment)
        except subprocess.TimeoutExpired:
            return shown, f"still runs after {SECONDS} s", ""
    printed = (ended.stdout + ended.stderr)[:2000].decode("utf-8", "replace")
    return shown, ended_badly(group, value, ended), f"  status {ended.returncode}: {printed}"


def memory_can_be_limited():
    """AddressSanitizer takes terabytes of addresses, so that a limit would end it at once."""
    return (
        subprocess.run([SMK, "--version"], preexec_fn=limit_memory, capture_output=True, check=False).returncode == 0
    )


SMK, DATA_DIR, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
LIMITED = memory_can_be_limited()
listed = tomllib.loads((HERE / "odd_inputs.toml").read_text(encoding="utf-8"))
with tempfile.TemporaryDirectory() as scratch:
    SHARED = pathlib.Path(scratch) / "in"
    SHARED.mkdir()
    for each in listed["file"]:
        if each.get("kind") == "made":
            made = call(shlex.split(each["call"]), SHARED)
            assert made.returncode == 0, made.stdout + made.stderr
        else:
            write(each, SHARED, DATA_DIR)
    everything = list(inputs(listed["group"]))
    asked = [given for given in everything if not wanted or any(word in given[1] + given[2] for word in wanted)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        ends = list(pool.map(check, asked))
failures = 0
for shown, wrong, printed in ends:
    if wrong:
        failures += 1
        print(f"{shown}\n  {wrong}\n{printed}")
    elif wanted:
        print(f"{shown}\n{printed}")
print(f"{len(ends)} inputs{'' if LIMITED else ', memory not limited'}: {failures} failures")
sys.exit(failures > 0 or len(everything) < LEAST)
