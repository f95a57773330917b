# SPDX-License-Identifier: Apache-2.0
"""meta.sentences: no sentence of a page has more than 40 words.

A sentence ends with a full stop, a question or an exclamation mark and a space. What stands in backquotes
or in {{ }} is one word; tables, headings, comments and blocks of code are left out.
"""

import re

import repo

MOST = 40
LEFT_OUT = re.compile(r"<!--.*?-->|^```.*?^```|^(?:\||#|    ).*?$", re.MULTILINE | re.DOTALL)
PARAGRAPH = re.compile(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", re.MULTILINE)
END = re.compile(r"(?<=[.?!])[\"*)_]*\s+")
ONE_WORD = re.compile(r"`[^`]*`|\{\{.*?\}\}")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
WORD = re.compile(r"[^\W_][\w'’.,-]*")


def sentences(text):
    """Each with the line it begins on."""
    text = LEFT_OUT.sub(lambda match: "\n" * match[0].count("\n"), text)
    begin = 0
    for part in [*PARAGRAPH.finditer(text), None]:
        paragraph = text[begin : part.start() if part else len(text)]
        at = 0
        for end in [*END.finditer(paragraph), None]:
            stop = end.start() if end else len(paragraph)
            yield text.count("\n", 0, begin + at) + 1, paragraph[at:stop].strip()
            at = end.end() if end else stop
        begin = part.end() if part else len(text)


def words(sentence):
    return len(WORD.findall(ONE_WORD.sub("x", LINK.sub(r"\1", sentence))))


findings = []
pages = repo.tracked("*.md")
for page in pages:
    for line, sentence in sentences(repo.text(page)):
        if words(sentence) > MOST:
            findings.append(f"{page}:{line}: {words(sentence)} words: {' '.join(sentence.split())}")
repo.report(findings, f"{len(pages)} pages")
