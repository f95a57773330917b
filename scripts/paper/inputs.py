# SPDX-License-Identifier: Apache-2.0
"""What scripts read: databases of sweeps. What cannot be read is refused in one line, with status 2."""

import pathlib
import sqlite3
import sys


def refuse(tool, text):
    print(f"{tool}: {text}", file=sys.stderr)
    sys.exit(2)


class Database:
    """A database that smk sweep has made; nothing is written. `tool` is the script that says what is wrong."""

    def __init__(self, path, tool):
        self.path, self.tool = path, tool
        if not pathlib.Path(path).is_file():
            refuse(tool, f"{path}: no such database")
        uri = pathlib.Path(path).resolve().as_uri()
        try:
            self.connection = sqlite3.connect(f"{uri}?mode=ro", uri=True)
        except sqlite3.Error as error:
            refuse(tool, f"{path}: {error}")
        self.rows("SELECT run FROM results LIMIT 1")

    def rows(self, query, values=()):
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            refuse(self.tool, f"{self.path}: no database of smk sweep: {error}")
