# SPDX-License-Identifier: Apache-2.0
"""What the tests of an installation share."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAIL: {what}")


def call(words, **kwargs):
    """Standard output of a command that must succeed."""
    result = subprocess.run(
        [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        **kwargs
    )
    check(result.returncode == 0, f"{' '.join(map(str, words))}: status {result.returncode}\n{result.stdout}")
    return result.stdout


def install(build, prefix):
    """Installs into a folder that is then renamed to `prefix`: what is installed can be moved."""
    first = prefix.with_name(prefix.name + ".first")
    call(["cmake", "--install", build, "--prefix", first])
    first.rename(prefix)


def environment(home):
    """As a user has it who never heard of the source tree."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SMK")}
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}


def hiding(folders):
    """Words before a command that does not see these folders; None where they cannot be hidden."""
    script = 'for f in {}; do mount -t tmpfs none "$f" || exit 99; done; exec "$@"'.format(
        " ".join(f"'{folder}'" for folder in folders)
    )
    for unshare in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        words = [*unshare, "sh", "-c", script, "sh"]
        try:
            seen = subprocess.run(
                [*words, "ls", str(folders[0])], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                cwd="/"
            )
        except OSError:
            return None
        if seen.returncode == 0 and not seen.stdout:
            return words
    return None
