# SPDX-License-Identifier: Apache-2.0
"""usage: many_runs.py FROM TO N: a database of N runs, those of FROM again and again with other seeds."""

import hashlib
import sqlite3
import struct
import sys

TABLES = ("runs", "kernels", "sms", "stalls", "preemptions", "settings")


def columns(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def copy_rows(database, table, runs, new_id, seed):
    names = columns(database, table)
    rows = []
    for run in runs:
        for row in map(list, database.execute(f"SELECT * FROM {table} WHERE run = ?", (run,))):
            row[names.index("run")] = new_id[run]
            if table == "runs":
                row[names.index("seed")] = str(seed)
            if table == "kernels":
                row[names.index("isolated_run")] = new_id[row[names.index("isolated_run")]]
            rows.append(row)
    places = ",".join("?" * len(names))
    database.executemany(f"INSERT INTO {table} VALUES ({places})", rows)


def cell(value):
    if value is None:
        return b"n,"
    if isinstance(value, int):
        return b"i%d," % value
    if isinstance(value, float):
        return b"r" + struct.pack(">d", value).hex().encode() + b","
    text = value.encode()
    return b"t%d:%s," % (len(text), text)


# As sim/sweep/damage.cc has it.
def seal(database, run):
    text = b""
    for table in TABLES:
        text += table.encode() + b"\n"
        names = columns(database, table)
        for row in database.execute(f"SELECT * FROM {table} WHERE run = ?", (run,)):
            pairs = [(n, v) for n, v in zip(names, row) if n != "rows_sha256"]
            if table == "settings":  # its columns have names, as some come later
                cells = [n.encode() + b"=" + cell(v) for n, v in pairs if v is not None]
            else:
                cells = [cell(v) for _, v in pairs]
            text += b"".join(cells) + b"\n"
    digest = hashlib.sha256(text).hexdigest()
    database.execute("UPDATE runs SET rows_sha256 = ? WHERE run = ?", (digest, run))


source, target, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = sqlite3.connect(target)
sqlite3.connect(source).backup(db)
ids = [row[0] for row in db.execute("SELECT run FROM runs ORDER BY run")]
count, copy = len(ids), 1
while count < wanted:
    copy += 1
    taken = ids[: wanted - count]
    renamed = {i: hashlib.sha256(f"{i} {copy}".encode()).hexdigest()[:16] for i in ids}
    for name in TABLES:
        copy_rows(db, name, taken, renamed, copy)
    for run in taken:
        seal(db, renamed[run])
    count += len(taken)
db.commit()
