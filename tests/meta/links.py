# SPDX-License-Identifier: Apache-2.0
"""meta.links: what a page points to exists: files, folders, headings; in docs/extending.md also paths
in backquotes."""

import re

import repo

# Parts of docs/reproduction.md, which is looked at.
FRAGMENTS = "docs/reproduction"
# Their paths are what a reader edits. A name between < > is any; {h,cc} are two files.
PATHS = ("docs/extending.md",)
LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.<>*-]+(?:/[\w.<>*{},-]+)+/?")


def anchors(path):
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", repo.text(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def exists(path):
    braces = re.search(r"\{(.*?)\}", path)
    if braces:
        return all(exists(path.replace(braces[0], part)) for part in braces[1].split(","))
    return any(repo.ROOT.glob(re.sub(r"<\w+>", "*", path).rstrip("/")))


findings = []
pages = [p for p in repo.tracked("*.md") if str(p.parent) != FRAGMENTS]
for page in pages:
    for number, line in enumerate(repo.text(page).splitlines(), start=1):
        for link in LINK.findall(line):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, heading = link.partition("#")
            target = repo.ROOT / page.parent / name if name else repo.ROOT / page
            if not target.exists():
                findings.append(f"{page}:{number}: no file '{link}'")
            elif heading and heading not in anchors(target):
                findings.append(f"{page}:{number}: no heading '{link}'")
        if str(page) in PATHS:
            words = [word for quoted in QUOTED.findall(line) for word in quoted.split()]
            findings += [f"{page}:{number}: no file '{word}'" for word in words
                         if PATH.fullmatch(word) and word.split("/")[0] != "build" and not exists(word)]
repo.report(findings, f"{len(pages)} pages")
