# SPDX-License-Identifier: Apache-2.0
"""Hand-written text around generated numbers: docs/reproduction/*.md.

{{FIGURE MEASURE POLICY GROUP}}    a number of results.csv; of two policies, A/B, the change in per cent
{{%FIGURE MEASURE POLICY GROUP}}   a share in per cent
<!-- holds: X > Y -->              what the text around it relies on; X and Y are numbers, or named as above
"""

import re

NUMBER = re.compile(r"{{(%?)([^}]+)}}")
CLAIM = re.compile(r"<!-- holds: (.+?) ([<>]) (.+?) -->\n?")


class Unknown(Exception):
    """A text names a number that is not there."""


def name_of(words):
    parts = words.split(maxsplit=3)
    if len(parts) != 4:
        raise Unknown(f"'{words}': expected FIGURE MEASURE POLICY GROUP")
    return parts


def value_of(results, words):
    """The number that the words name, or are."""
    try:
        return float(words)
    except ValueError:
        value = results.get(*name_of(words))
        if value is None:
            raise Unknown(f"no number '{words}'") from None
        return value


def shown(results, words, share):
    figure, measure, policy, group = name_of(words)
    row = results.rows.get((figure, measure, policy, group))
    if row and not re.fullmatch(r"[-0-9.]+", row[0]):
        return row[0]
    if row and "." not in row[0] and not share:
        return row[0]  # a count, of two policies as well
    value = value_of(results, words)
    if share:
        return f"{100 * value:.1f} %"
    if "/" in policy:
        return f"{100 * (value - 1):+.1f} %"
    return f"{value:.3f}"


def fill(text, results, where, problems):
    """The text with its numbers; what is wrong is added to `problems`."""

    def number(match):
        try:
            return shown(results, match.group(2), match.group(1) == "%")
        except Unknown as error:
            problems.append(f"{where}: {error}")
            return "?"

    for left, sign, right in CLAIM.findall(text):
        try:
            one, two = value_of(results, left), value_of(results, right)
        except Unknown as error:
            problems.append(f"{where}: {error}")
            continue
        if not (one > two if sign == ">" else one < two):
            problems.append(f"{where}: does not hold any more, rewrite the text: "
                            f"{left} ({one:.4f}) {sign} {right} ({two:.4f})")
    return NUMBER.sub(number, CLAIM.sub("", text))


class Fragment:
    """A file with a title, what is to be seen, and after "## Why" the explanation."""

    def __init__(self, path, results, problems):
        text = fill(path.read_text(encoding="utf-8"), results, path.name, problems)
        head, _, why = text.partition("\n## Why\n")
        title, _, self.shows = head.partition("\n")
        self.title = title.removeprefix("# ").strip()
        self.shows, self.why = self.shows.strip(), why.strip()
