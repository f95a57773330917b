# SPDX-License-Identifier: Apache-2.0
"""meta.words: no tracked file names a place that exists on one machine only, and pages use the words of the field."""

import re

import repo

# Written in two parts, so that this file does not find itself.
FORBIDDEN = {
    r"(?<![\w.~-])/(?:wo" r"rk|ho" r"me|ro" r"ot|Us" r"ers)/": "a path of one machine",
    r"(?<![\w/-])(?:\.\./)*sha" r"red/[a-z]": "a folder that users do not have",
}
# Bundled third-party text that we do not write.
IGNORED = (".min.js", ".svg")

# What a page says of hardware; rows of tables come from the sources of proofs and claims.
LOOSE = re.compile(r"\b(?:stirred|told|talks?|talking|impatient|heard)\b", re.IGNORECASE)

findings = []
files = [p for p in repo.tracked() if not p.name.endswith(IGNORED)]
for path in files:
    for number, line in enumerate((repo.text(path) or "").splitlines(), start=1):
        for pattern, what in FORBIDDEN.items():
            match = re.search(pattern, line)
            if match:
                findings.append(f"{path}:{number}: '{match.group()}': {what}")
        loose = None if path.suffix != ".md" or line.startswith("|") else LOOSE.search(line)
        if loose:
            findings.append(f"{path}:{number}: '{loose.group()}': not a word of the field; see docs/glossary.md")
repo.report(findings, f"{len(files)} files")
