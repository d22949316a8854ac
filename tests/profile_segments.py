"""Packed tables of a .culprit file, read by what docs/format.md says of them, not by our code."""
import sqlite3
import struct
import subprocess

LEVELS = ("l1i", "l1d", "l2", "l3", "memory", "itlb", "dtlb", "stlb")
EDGE_KINDS = ("reuse", "conflict", "capacity", "true sharing", "false sharing",
              "refetch after capacity", "refetch after conflict")


class _Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value


def _unzigzag(value):
    return value >> 1 if value % 2 == 0 else -(value >> 1) - 1


def _columns(data, rows):
    """{name: [unsigned]}: what columns of counts and ids are packed by."""
    stream, columns = _Bytes(data), {}
    for _ in range(stream.varint()):
        name = stream.take(stream.varint()).decode()
        kind, encoding = stream.take(2)
        payload = _Bytes(stream.take(stream.varint()))
        if kind != 0:
            raise ValueError(f"column {name} is not of unsigned numbers")
        if encoding == 0:
            values = [payload.varint()] * rows
        elif encoding == 1:
            values = [payload.varint() for _ in range(rows)]
        elif encoding == 2:
            values, last = [], 0
            for _ in range(rows):
                last = (last + _unzigzag(payload.varint())) % 2 ** 64
                values.append(last)
        elif encoding == 3:
            values = list(struct.unpack(f"<{rows}Q", payload.take(8 * rows)))
        elif encoding == 4:
            other, factor = payload.varint(), payload.varint()
            values = [value * factor % 2 ** 64 for value in list(columns.values())[other]]
        else:
            raise ValueError(f"column {name} has encoding {encoding}")
        columns[name] = values
    return columns


def read_rows(path, kind):
    """[{column: value}] of all segments of a kind."""
    found = []
    database = sqlite3.connect(path)
    for rows, data in database.execute("select s.rows, s.data from segments s where s.kind = ? "
                                       "order by s.id", (kind,)):
        plain = subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE,
                               check=True).stdout
        columns = _columns(plain, rows)
        found.extend(dict(zip(columns, values)) for values in zip(*columns.values()))
    database.close()
    return found
