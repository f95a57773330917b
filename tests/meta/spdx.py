# SPDX-License-Identifier: Apache-2.0
"""meta.spdx: every source file names its licence in its first three lines."""

import repo

SUFFIXES = {
    ".cc", ".h", ".sv", ".svh", ".v", ".vlt", ".py", ".sh", ".cmake", ".tcl", ".ys", ".js", ".mjs", ".css",
}
NAMES = {"CMakeLists.txt", ".clang-format", ".clang-tidy"}
LINE = "SPDX-License-Identifier: Apache-2.0"


def is_source(path, content):
    return path.suffix in SUFFIXES or path.name in NAMES or content.startswith("#!")


findings = []
count = 0
for path in repo.tracked():
    content = repo.text(path)
    if content is None or not is_source(path, content):
        continue
    count += 1
    if not any(LINE in line for line in content.splitlines()[:3]):
        findings.append(f"{path}: no line '{LINE}' at the top")
repo.report(findings, f"{count} source files")
