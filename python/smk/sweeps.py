# SPDX-License-Identifier: Apache-2.0
"""The database of a sweep, opened for reading; docs/results.md has its tables and views."""

import pathlib
import sqlite3

from smk.program import InputError
from smk.results import Record, pandas


class Sweep:
    """A database that smk sweep has made or is making."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        if not self.path.is_file():
            raise InputError(f"{path}: no such database")
        self.query("SELECT COUNT(*) FROM results")

    def query(self, sql, parameters=()):
        """The rows that a statement of SQL gives, as records."""
        with self._open() as database:
            try:
                cursor = database.execute(sql, parameters)
                names = [column[0] for column in cursor.description or ()]
                return [Record(zip(names, row)) for row in cursor]
            except sqlite3.Error as error:
                raise InputError(f"{self.path}: {error}") from None

    def runs(self):
        """The finished runs with their measures: the view results."""
        return self.query("SELECT * FROM results WHERE status = 'done'")

    def kernels(self):
        """The kernels of the finished runs, each with its run: the view kernel_results."""
        return self.query(
            "SELECT * FROM kernel_results JOIN runs USING (run) WHERE status = 'done' ORDER BY run, slot"
        )

    def failures(self):
        """The runs that failed, each with its command and its reason."""
        return self.query("SELECT run, command, error FROM runs WHERE status = 'failed'")

    def frame(self, sql=None, parameters=()):
        """A pandas data frame of a statement of SQL, by default of all finished runs."""
        frame = pandas().DataFrame
        return frame(self.runs() if sql is None else self.query(sql, parameters))

    def _open(self):
        uri = self.path.resolve().as_uri() + "?mode=ro"
        try:
            return Closing(sqlite3.connect(uri, uri=True, timeout=60))
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: {error}") from None

    def __repr__(self):
        return f"<Sweep {self.path}: {len(self.runs())} runs>"


class Closing:
    """A connection that is closed at the end of a block, which sqlite3's own block does not do."""

    def __init__(self, database):
        self.database = database

    def __enter__(self):
        return self.database

    def __exit__(self, *_):
        self.database.close()
