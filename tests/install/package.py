# SPDX-License-Identifier: Apache-2.0
"""install.package: cpack makes Debian packages that say what they need, and what is in them runs.

usage: package.py BUILD
Exit status 77, skipped, without dpkg-deb or dpkg-shlibdeps.
"""

import pathlib
import shutil
import sys
import tempfile

from installed import call, check, environment

SKIPPED = 77
NEEDS = {
    "smk": ["libc6 (", "libcsv3", "libfmt", "liblzma5", "libsqlite3", "libssl3", "libstdc++6", "libsystemc", "libtomlplusplus", "zlib1g"],
    "libsmk-dev": ["smk (= ", "libsystemc-dev", "libtomlplusplus-dev", "liblzma-dev"],
}
HOLDS = {
    "smk": ["./usr/bin/smk", "./usr/lib/smk/rtl_fermi.so", "./usr/lib/smk/rtl_v100.so", "./usr/share/smk/sim/machines/gtx980.toml", "./usr/share/smk/tb/top/wave.toml",
            "./usr/lib/python3/dist-packages/smk/__init__.py", "./usr/share/man/man1/smk.1", "./usr/share/bash-completion/completions/smk"],
    "libsmk-dev": ["libsmk_model.a", "smkConfig.cmake", "./usr/include/smk/host/simulation.h"],
}


def main():
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        sys.exit(SKIPPED)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        call(["cpack", "--config", build / "CPackConfig.cmake", "-B", scratch, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"])
        packages = {call(["dpkg-deb", "-f", deb, "Package"]).strip(): deb for deb in scratch.glob("*.deb")}
        check(packages.keys() == NEEDS.keys(), f"packages: {sorted(packages)}")
        for name, deb in packages.items():
            depends = call(["dpkg-deb", "-f", deb, "Depends"])
            print(f"{name}: {deb.stat().st_size >> 10} KiB, needs {depends}", end="")
            missing = [need for need in NEEDS[name] if need not in depends]
            check(not missing, f"{name} does not depend on {missing}")
            contents = call(["dpkg-deb", "-c", deb])
            missing = [file for file in HOLDS[name] if file not in contents]
            check(not missing, f"{name} does not hold {missing}")
            call(["dpkg-deb", "-x", deb, scratch / "root"])
        check("PASS" in call([scratch / "root/usr/bin/smk", "run", "sgemm", "--cycles", "8k", "--no-cache"],
                             env=environment(scratch)), "smk of the package does not run")


main()
