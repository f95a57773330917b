# SPDX-License-Identifier: Apache-2.0
"""Reads a Liberty file, as far as scripts/power and the tests of a library need it: groups, attributes, tables."""

import re

TOKEN = re.compile(r'"[^"]*"|[(){}:;,]|[^\s(){}:;,"]+')


class Group:
    """kind (name) { ... }: attributes by name, and the groups inside."""

    def __init__(self, kind, name):
        self.kind, self.name, self.attributes, self.groups = kind, name, {}, []

    def all(self, kind):
        return [group for group in self.groups if group.kind == kind]

    def number(self, name):
        return float(self.attributes[name])


def read(text):
    """The group `library`."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace("\\\n", "")
    tokens = TOKEN.findall(text)
    tokens.reverse()

    def arguments():
        words = []
        while (token := tokens.pop()) != ")":
            if token not in "(,":
                words.append(token.strip('"'))
        return words

    def inside(group):
        while (word := tokens.pop()) != "}":
            if word == ";":
                continue
            if tokens[-1] == ":":
                tokens.pop()
                group.attributes[word] = tokens.pop().strip('"')
                continue
            words = arguments()
            if tokens[-1] == "{":
                tokens.pop()
                group.groups.append(inside(Group(word, words[0] if words else "")))
            else:
                group.attributes[word] = words
        return group

    kind, name = tokens.pop(), arguments()[0]
    tokens.pop()
    return inside(Group(kind, name))


class Table:
    """Values over slew and load, with lines between the points; over slew alone, the same for every load."""

    def __init__(self, library, group):
        template = next(t for t in library.groups if t.name == group.name and t.kind.endswith("_template"))
        self.axes = [_numbers(template.attributes[f"index_{axis}"][0])
                     for axis in (1, 2) if f"index_{axis}" in template.attributes]
        self.rows = [_numbers(row) for row in group.attributes["values"]]
        if len(self.axes) == 1:
            self.axes.append([0.0, 1.0])
            self.rows = [[value, value] for value in self.rows[0]]

    def at(self, slew, load):
        (i, a), (j, b) = (_place(axis, value) for axis, value in zip(self.axes, (slew, load)))
        upper = self.rows[i][j] * (1 - b) + self.rows[i][j + 1] * b
        lower = self.rows[i + 1][j] * (1 - b) + self.rows[i + 1][j + 1] * b
        return upper * (1 - a) + lower * a


def _numbers(text):
    return [float(word) for word in text.replace(",", " ").split()]


def _place(axis, value):
    """The interval that a value is in, or is nearest to, and where in it."""
    index = 0
    while index < len(axis) - 2 and value > axis[index + 1]:
        index += 1
    return index, (value - axis[index]) / (axis[index + 1] - axis[index])
