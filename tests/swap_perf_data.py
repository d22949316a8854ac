"""Turns a perf.data file of a little-endian machine into the one that a big-endian machine
would have written: the same numbers, all the other way round.

    swap_perf_data.py LITTLE BIG

Both forms of file. Text stays as it is, and so do bytes whose meaning is somebody else's (raw
data of tracepoints, AUX traces, formats of tracepoints, BPF sections). Compressed records come
out unpacked. What it does not know ends it with an error. Layouts: perf_event_open(2) and perf's
own perf.data-file-format.txt.
"""
import ctypes
import ctypes.util
import struct
import sys

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCHES, USER_REGISTERS, \
    USER_STACK, WEIGHT, DATA_SOURCE, IDENTIFIER, TRANSACTION, REGISTERS, PHYSICAL, AUX, CGROUP, \
    DATA_PAGE, CODE_PAGE, WEIGHT_STRUCT = (1 << bit for bit in range(25))

# Widths of the bit-fields in declaration order, to 64 bits: little-endian machines fill them
# from the low end, big-endian ones from the high end.
ATTR_FLAGS = [1] * 15 + [2] + [1] * 47
BRANCH_FLAGS = [1, 1, 1, 1, 16, 4, 2, 4, 3, 31]

BUILD_ID_MMAP = 1 << 14   # misc of an MMAP2
SAMPLE = 9


class Unknown(Exception):
    """What this script cannot turn round."""


class Cursor:
    """Walks over bytes and turns them round one value after the other."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0
        self.out = bytearray()

    def left(self):
        return len(self.data) - self.at

    def number(self, letter, count=1):
        """Turns `count` numbers; the last one, read."""
        size = struct.calcsize(letter)
        if self.left() < size * count:
            raise Unknown(f"{count} x {letter} wanted, {self.left()} bytes left")
        values = struct.unpack_from(f"<{count}{letter}", self.data, self.at)
        self.out += struct.pack(f">{count}{letter}", *values)
        self.at += size * count
        return values[-1] if values else None

    def u16(self, count=1):
        return self.number("H", count)

    def u32(self, count=1):
        return self.number("I", count)

    def u64(self, count=1):
        return self.number("Q", count)

    def keep(self, count=None):
        count = self.left() if count is None else count
        if count > self.left():
            raise Unknown(f"{count} bytes wanted, {self.left()} left")
        self.out += self.data[self.at:self.at + count]
        self.at += count

    def numbers_to_end(self):
        self.u64(self.left() // 8)
        self.keep()

    def text(self):
        self.keep(self.u32())

    def texts(self):
        for _ in range(self.u32()):
            self.text()

    def bit_fields(self, widths):
        if self.left() < 8:
            raise Unknown("a bit-field is cut off")
        value, = struct.unpack_from("<Q", self.data, self.at)
        turned, low = 0, 0
        for width in widths:
            turned |= (value >> low & (1 << width) - 1) << 64 - low - width
            low += width
        self.out += struct.pack(">Q", turned)
        self.at += 8


class Attr:
    """What of an event's attr decides how its records are laid out."""

    def __init__(self, data):
        data = data.ljust(136, b"\0")
        self.sample_type, self.read_format, self.flags = struct.unpack_from("<3Q", data, 24)
        self.branch_type, self.user_registers = struct.unpack_from("<2Q", data, 72)
        self.registers, = struct.unpack_from("<Q", data, 96)

    def trailer_bytes(self):
        in_trailer = TID | TIME | ID | STREAM_ID | CPU | IDENTIFIER
        has_trailer = self.flags >> 18 & 1
        return 8 * bin(self.sample_type & in_trailer).count("1") if has_trailer else 0


def swap_attr(data):
    cursor = Cursor(data)
    cursor.u32(2)              # type, size
    cursor.u64(4)              # config, period, sample_type, read_format
    cursor.bit_fields(ATTR_FLAGS)
    cursor.u32(2)              # wakeup, breakpoint type
    for step in ("Q", "Q", "Q", "Q", "II", "Q", "IHH", "II", "Q", "Q"):
        # config1, config2, branches, user registers, stack bytes + clock, registers, AUX
        # watermark + deepest stack, AUX sample bytes, signal data, config3
        for letter in step if cursor.left() else ():
            cursor.number(letter)
    cursor.numbers_to_end()
    return cursor.out


class Records:
    """Records in, turned records out; remembers the attrs that come by."""

    def __init__(self):
        self.attrs = []
        self.by_id = {}
        self.inflated = b""
        self.inflate = None

    def add_attr(self, data, ids):
        for one in ids:
            self.by_id.setdefault(one, len(self.attrs))
        self.attrs.append(Attr(data))

    def attr_of(self, kind, body):
        if not self.attrs:
            raise Unknown("a record comes before any event")
        first = self.attrs[0]
        if len(self.attrs) == 1:
            return first
        at = None
        if kind == SAMPLE:
            if first.sample_type & IDENTIFIER:
                at = 0
            elif first.sample_type & ID:
                at = 8 * bin(first.sample_type & (IP | TID | TIME | ADDR)).count("1")
        elif first.trailer_bytes():
            if first.sample_type & IDENTIFIER:
                at = len(body) - 8
            elif first.sample_type & ID:
                at = len(body) - first.trailer_bytes() + 8 * bin(
                    first.sample_type & (TID | TIME)).count("1")
        if at is None or at < 0 or at + 8 > len(body):
            return first
        return self.attrs[self.by_id.get(struct.unpack_from("<Q", body, at)[0], 0)]

    def swap_all(self, data):
        """Whole records, with the bytes that follow some of them."""
        out = bytearray()
        at = 0
        while at < len(data):
            if len(data) - at < 8:
                raise Unknown(f"{len(data) - at} bytes are left after the last record")
            kind, misc, size = struct.unpack_from("<IHH", data, at)
            if size < 8 or at + size > len(data):
                raise Unknown(f"the record at {at} has a size of {size} bytes")
            body = data[at + 8:at + size]
            at += size
            if kind in (81, 83):
                out += self.unpack(kind, body)
                continue
            out += struct.pack(">IHH", kind, misc, size) + self.swap_body(kind, misc, body)
            extra = 0
            if kind == 66:    # tracing data, padded
                extra = (struct.unpack_from("<I", body)[0] + 7) // 8 * 8
            elif kind == 71:  # an AUX trace
                extra = struct.unpack_from("<Q", body)[0]
            out += data[at:at + extra]
            at += extra
        return out

    def unpack(self, kind, body):
        if kind == 83:
            body = body[8:8 + struct.unpack_from("<Q", body)[0]]
        if self.inflate is None:
            self.inflate = Inflater()
        self.inflated += self.inflate(body)
        whole = 0
        while whole + 8 <= len(self.inflated):
            size, = struct.unpack_from("<H", self.inflated, whole + 6)
            if size < 8:
                raise Unknown("a compressed record has a record without a size")
            if whole + size > len(self.inflated):
                break
            whole += size
        done, self.inflated = self.inflated[:whole], self.inflated[whole:]
        return self.swap_all(done)

    def swap_body(self, kind, misc, body):
        cursor = Cursor(body)
        if kind >= 64:
            if kind not in PERFS_OWN:
                raise Unknown(f"a record of type {kind}")
            PERFS_OWN[kind](self, cursor)
            cursor.keep()
            return cursor.out
        attr = self.attr_of(kind, body)
        if kind == SAMPLE:
            swap_sample(cursor, attr)
            cursor.keep()
            return cursor.out
        if kind not in KERNELS:
            raise Unknown(f"a record of type {kind}")
        end = len(body) - attr.trailer_bytes()
        cursor, trailer = Cursor(body[:end]), Cursor(body[end:])
        KERNELS[kind](cursor, attr, misc)
        cursor.keep()
        swap_trailer(trailer, attr)
        return cursor.out + trailer.out


class Inflater:
    """The zstd stream that runs through all compressed records."""

    class Buffer(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]

    def __init__(self):
        name = ctypes.util.find_library("zstd")
        if name is None:
            raise Unknown("compressed records, and there is no libzstd")
        self.zstd = ctypes.CDLL(name)
        self.zstd.ZSTD_createDStream.restype = ctypes.c_void_p
        self.zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
        self.zstd.ZSTD_decompressStream.argtypes = [ctypes.c_void_p] * 3
        self.stream = self.zstd.ZSTD_createDStream()   # freed with the process

    def __call__(self, data):
        room = ctypes.create_string_buffer(1 << 17)
        held = ctypes.create_string_buffer(bytes(data), len(data))
        source = self.Buffer(ctypes.addressof(held), len(data), 0)
        done = b""
        while True:
            target = self.Buffer(ctypes.addressof(room), len(room), 0)
            result = self.zstd.ZSTD_decompressStream(self.stream, ctypes.byref(target),
                                                     ctypes.byref(source))
            if self.zstd.ZSTD_isError(ctypes.c_size_t(result)):
                raise Unknown("a compressed record is damaged")
            done += room.raw[:target.at]
            if source.at == source.size and target.at < target.size:
                return done


# --- the kernel's records

def swap_trailer(cursor, attr):
    for bit in (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER):
        if attr.sample_type & bit and cursor.left():
            cursor.u32(2) if bit in (TID, CPU) else cursor.u64()


def swap_registers(cursor, mask):
    if cursor.u64() != 0:
        cursor.u64(bin(mask).count("1"))


def swap_read(cursor, read_format):
    is_group = read_format & 8
    per_counter = 1 + bin(read_format & (4 | 16)).count("1")   # value, id, lost
    counters = cursor.u64() if is_group else 1
    times = bin(read_format & 3).count("1")
    cursor.u64(times + counters * per_counter - (0 if is_group else 1))


def swap_sample(cursor, attr):
    def words(count=1):
        return cursor.u64(count)

    def raw():
        cursor.keep(cursor.u32())

    def branches():
        count = words()
        if attr.branch_type & 1 << 17:
            words()
        for _ in range(count):
            words(2)
            cursor.bit_fields(BRANCH_FLAGS)
        if attr.branch_type & 1 << 19:
            words(count)

    def stack():
        size = words()
        if size:
            words(size // 8)
            words()

    fields = [
        (IDENTIFIER, words), (IP, words), (TID, lambda: cursor.u32(2)), (TIME, words),
        (ADDR, words), (ID, words), (STREAM_ID, words), (CPU, lambda: cursor.u32(2)),
        (PERIOD, words), (READ, lambda: swap_read(cursor, attr.read_format)),
        (CALLCHAIN, lambda: words(words())), (RAW, raw), (BRANCHES, branches),
        (USER_REGISTERS, lambda: swap_registers(cursor, attr.user_registers)),
        (USER_STACK, stack), (WEIGHT | WEIGHT_STRUCT, words), (DATA_SOURCE, words),
        (TRANSACTION, words), (REGISTERS, lambda: swap_registers(cursor, attr.registers)),
        (PHYSICAL, words), (CGROUP, words), (DATA_PAGE, words), (CODE_PAGE, words),
        (AUX, lambda: cursor.keep(words())),
    ]
    if attr.sample_type >> 25:
        raise Unknown(f"sample type {attr.sample_type:#x}")
    for bit, swap in fields:
        if attr.sample_type & bit:
            swap()


def swap_mmap2(cursor, attr, misc):
    cursor.u32(2)
    cursor.u64(3)
    if misc & BUILD_ID_MMAP:
        cursor.keep(24)
    else:
        cursor.u32(2)
        cursor.u64(2)
    cursor.u32(2)


def fields(words):
    """A record that begins with these fields and goes on with text."""
    def swap(cursor, attr, misc):
        for letter in words:
            cursor.number(letter)
    return swap


def swap_namespaces(cursor, attr, misc):
    cursor.u32(2)
    cursor.u64(2 * cursor.u64())


def swap_read_record(cursor, attr, misc):
    cursor.u32(2)
    swap_read(cursor, attr.read_format)


KERNELS = {
    1: fields("IIQQQ"), 2: fields("QQ"), 3: fields("II"), 4: fields("IIIIQ"), 5: fields("QQQ"),
    6: fields("QQQ"), 7: fields("IIIIQ"), 8: swap_read_record, 10: swap_mmap2, 11: fields("QQQ"),
    12: fields("II"), 13: fields("Q"), 14: fields(""), 15: fields("II"), 16: swap_namespaces,
    17: fields("QIHH"), 18: fields("HHI"), 19: fields("Q"), 20: fields("QHH"), 21: fields("Q"),
}


# --- perf's own records

def swap_attribute(records, cursor):
    size = struct.unpack_from("<I", cursor.data, 4)[0] or 64
    records.add_attr(cursor.data[:size],
                     struct.unpack_from(f"<{(len(cursor.data) - size) // 8}Q", cursor.data, size))
    cursor.out += swap_attr(cursor.data[:size])
    cursor.at = size
    cursor.numbers_to_end()


def swap_event_update(records, cursor):
    kind = cursor.u64()
    cursor.u64()
    if kind == 1:
        cursor.u64()      # a scale
    elif kind == 3:
        swap_cpu_map(records, cursor)


def swap_cpu_map(records, cursor):
    kind = cursor.u16()
    if kind == 0:
        cursor.u16(cursor.u16())
    elif kind == 1:
        count, size = cursor.u16(), cursor.u16()
        cursor.keep(2)    # padding
        cursor.number("I" if size == 4 else "Q", count)


def swap_feature_record(records, cursor):
    kind = cursor.u64()
    cursor.out += swap_feature(kind, cursor.data[8:])
    cursor.at = len(cursor.data)


def own(words):
    def swap(records, cursor):
        for letter in words:
            cursor.number(letter)
    return swap


def all_numbers(records, cursor):
    cursor.numbers_to_end()


def swap_thread_map(records, cursor):
    for _ in range(cursor.u64()):
        cursor.u64()
        cursor.keep(16)


PERFS_OWN = {
    64: swap_attribute, 65: own("Q"), 66: own("I"), 67: own("I"), 68: own(""), 69: all_numbers,
    70: lambda records, cursor: (cursor.u32(2), cursor.numbers_to_end()), 71: own("QQQIIII"),
    72: own("IIIIIIQQ"), 73: swap_thread_map, 74: swap_cpu_map, 78: swap_event_update,
    79: own("QQQ"), 80: swap_feature_record, 82: own(""),
}


# --- features

def swap_event_descriptions(cursor):
    events, attr_bytes = cursor.u32(), cursor.u32()
    for _ in range(events):
        cursor.out += swap_attr(cursor.data[cursor.at:cursor.at + attr_bytes])
        cursor.at += attr_bytes
        ids = cursor.u32()
        cursor.text()
        cursor.u64(ids)


def swap_build_ids(cursor):
    while cursor.left():
        cursor.u32()
        cursor.u16()
        size = cursor.u16()
        cursor.u32()
        cursor.keep(size - 12)


def swap_cpu_topology(cursor):
    cursor.texts()
    cursor.texts()
    cursor.keep()    # numbers and, in newer files, more texts: nobody reads on here


def swap_numa_topology(cursor):
    for _ in range(cursor.u32()):
        cursor.u32()
        cursor.u64(2)
        cursor.text()


def swap_caches(cursor):
    cursor.u32()
    for _ in range(cursor.u32()):
        cursor.u32(4)
        for _ in range(3):
            cursor.text()


def listed(words):
    """A count, and so many entries of these fields; T is text."""
    def swap(cursor):
        for _ in range(cursor.u32()):
            for letter in words:
                cursor.text() if letter == "T" else cursor.number(letter)
    return swap


def swap_pmu_caps(cursor):
    for _ in range(cursor.u32()):
        listed("TT")(cursor)
        cursor.text()


FEATURES = {
    1: Cursor.keep, 2: swap_build_ids, **dict.fromkeys((3, 4, 5, 6, 8, 9), Cursor.text),
    7: lambda cursor: cursor.u32(2), 10: Cursor.u64, 11: Cursor.texts,
    12: swap_event_descriptions, 13: swap_cpu_topology, 14: swap_numa_topology,
    15: Cursor.keep, 16: listed("IT"), 17: listed("TII"), 18: Cursor.numbers_to_end,
    19: Cursor.keep, 20: swap_caches, 21: lambda cursor: cursor.u64(2),
    22: Cursor.numbers_to_end, 23: Cursor.u64, 24: Cursor.u64, 25: Cursor.keep, 26: Cursor.keep,
    27: lambda cursor: cursor.u32(5), 28: listed("TT"),
    29: lambda cursor: (cursor.u32(2), cursor.u64(2)), 30: listed("TT"), 31: swap_pmu_caps,
}


def swap_feature(kind, data):
    if not data:
        return b""    # the mark after the last one, in the pipe form
    if kind not in FEATURES:
        raise Unknown(f"feature {kind}")
    cursor = Cursor(data)
    FEATURES[kind](cursor)
    cursor.keep()
    return cursor.out


# --- the two forms

def swap_file_form(data):
    cursor = Cursor(data[8:104])
    cursor.numbers_to_end()
    (_, entry_bytes, attrs_at, attrs_bytes, data_at, data_bytes, _, _,
     *features) = struct.unpack_from("<12Q", data, 8)
    out = bytearray(data)
    out[:104] = b"PERFILE2"[::-1] + cursor.out
    records = Records()
    for at in range(attrs_at, attrs_at + attrs_bytes, entry_bytes):
        ids_at, ids_bytes = struct.unpack_from("<2Q", data, at + entry_bytes - 16)
        attr = data[at:at + entry_bytes - 16]
        ids = struct.unpack_from(f"<{ids_bytes // 8}Q", data, ids_at)
        records.add_attr(attr, ids)
        out[at:at + entry_bytes] = swap_attr(attr) + struct.pack(">2Q", ids_at, ids_bytes)
        out[ids_at:ids_at + ids_bytes] = struct.pack(f">{len(ids)}Q", *ids)
    turned = records.swap_all(data[data_at:data_at + data_bytes])
    struct.pack_into(">Q", out, 48, len(turned))
    out[data_at:] = turned
    # The table of features follows the records; they follow it.
    at = data_at + data_bytes
    kinds = [word * 64 + bit for word in range(4) for bit in range(64) if features[word] >> bit & 1]
    table, contents = bytearray(), bytearray()
    for kind in kinds:
        section_at, size = struct.unpack_from("<2Q", data, at)
        at += 16
        table += struct.pack(">2Q", len(out) + 16 * len(kinds) + len(contents), size)
        contents += swap_feature(kind, data[section_at:section_at + size])
    return bytes(out + table + contents)


def swap(data):
    """The bytes of the big-endian file."""
    if data[:8] != b"PERFILE2":
        raise Unknown("this is not a little-endian perf.data file")
    size, = struct.unpack_from("<Q", data, 8)
    if size == 16:
        return b"PERFILE2"[::-1] + struct.pack(">Q", 16) + bytes(Records().swap_all(data[16:]))
    return swap_file_form(data)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        turned = swap(data)
    except Unknown as problem:
        sys.exit(f"{sys.argv[1]}: cannot turn it round: {problem}")
    with open(sys.argv[2], "wb") as file:
        file.write(turned)


if __name__ == "__main__":
    main()
