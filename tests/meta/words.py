# SPDX-License-Identifier: Apache-2.0
"""meta.words: no tracked file names a place that exists on one machine only."""

import re

import repo

# Written in two parts, so that this file does not find itself.
FORBIDDEN = {
    r"(?<![\w.~-])/(?:wo" r"rk|ho" r"me|ro" r"ot|Us" r"ers)/": "a path of one machine",
    r"(?<![\w/-])(?:\.\./)*sha" r"red/[a-z]": "a folder that users do not have",
}
# Bundled third-party text that we do not write.
IGNORED = (".min.js", ".svg")

findings = []
files = [p for p in repo.tracked() if not p.name.endswith(IGNORED)]
for path in files:
    for number, line in enumerate((repo.text(path) or "").splitlines(), start=1):
        for pattern, what in FORBIDDEN.items():
            match = re.search(pattern, line)
            if match:
                findings.append(f"{path}:{number}: '{match.group()}': {what}")
repo.report(findings, f"{len(files)} files")
