"""Counts of one program by valgrind's tools and by the software PMU, in one shape, so that they can
be compared. Shared by simulate_test.py and bench/simulated_counts.py.

What the two count differently, and how it is told apart:
- a repeated string instruction: each round is one for valgrind (string_instructions());
- an instruction that reads and writes one place is a read for cachegrind, a write for callgrind
  (loads_by_callgrind());
- testing a bit of a register goes through memory in valgrind (tested_bits());
- linkage stubs have no object in callgrind's files, only an address (of_module()).
"""
import collections
import os
import re

from harness import run


def plain_machine(last_level_kib):
    """What valgrind has: two levels, true LRU, no prefetcher."""
    return f"""
name = "plain"
[l1i]
size_kib = 32
ways = 8
[l1d]
size_kib = 32
ways = 8
[l2]
size_kib = 0
[l3]
size_kib = {last_level_kib}
ways = 16
[prefetch]
stream = false
stride = false
"""


def plain_caches(last_level_kib):
    """Options for valgrind's tools of the same caches."""
    return "--I1=32768,8,64", "--D1=32768,8,64", f"--LL={last_level_kib * 1024},16,64"


MACHINE = plain_machine(1024)
CACHES = ("--cache-sim=yes", *plain_caches(1024))
BIASES = (0, 0x108000)  # where valgrind loads programs: as linked; position-independent ones


def seen_environment(environment):
    """For a simulated run to see what valgrind's programs do: a few more variables, and in their
    order, as QEMU turns it round. (perl and python count them, getenv looks through them.)"""
    seen = run("valgrind", "-q", "--tool=none", "/usr/bin/env", env=environment).stdout
    return dict(line.split("=", 1) for line in reversed(seen.splitlines()))


def read_callgrind(path):
    """{object: {address: {event: count}}} of `callgrind --dump-instr=yes`, and
    {object: {address: function}}."""
    counts = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    functions = collections.defaultdict(dict)
    current, function, address, is_inclusive, events = None, "", 0, False, []
    for line in open(path, errors="replace"):
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("ob="):
            current = line[3:].strip()
        elif line.startswith("fn="):
            function = line[3:].strip()
        elif line.startswith("calls="):
            is_inclusive = True
        elif re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) (\d+|[+-]\d+|\*) \d", line):
            where, _, *values = line.split()
            if where.startswith("0x"):
                address = int(where, 16)
            elif where != "*":
                address += int(where)
            if not is_inclusive:
                counts[current][address].update(dict(zip(events, map(int, values))))
                functions[current][address] = function
            is_inclusive = False
    return counts, functions


def run_callgrind(folder, command, environment, options=()):
    out = folder / "callgrind.out"
    run("valgrind", "--tool=callgrind", "--dump-instr=yes", "--skip-plt=no",
        "--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={out}",
        *options, *command, env=environment, cwd=folder, timeout=280)
    return read_callgrind(out)


def run_cachegrind(folder, command, environment, options=()):
    """{function: {event: count}} with the caches of MACHINE."""
    out = folder / "cachegrind.out"
    run("valgrind", "--tool=cachegrind", *CACHES, f"--cachegrind-out-file={out}", *options,
        *command, env=environment, cwd=folder, timeout=280)
    found, function = collections.defaultdict(collections.Counter), ""
    events = []
    for line in out.read_text(errors="replace").splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            function = line[3:]
        elif line[:1].isdigit():
            found[function].update(dict(zip(events, map(int, line.split()[1:]))))
    return found


def counts_of_report(report):
    """{module: {address: {event: count}}} of `report --by module,instruction --format json`."""
    counts = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for row in report["rows"]:
        if "address" not in row:
            continue
        counts[row["module"]][int(row["address"], 16)].update(
            {name: int(cell["value"]) for name, cell in row["values"].items()})
    return counts


def of_module(counts, path, known=()):
    """Of one module, by its file; of callgrind's, with the stubs at addresses that are `known`."""
    path = os.path.realpath(path)
    found = collections.defaultdict(collections.Counter)
    for name, values in counts.items():
        if os.path.realpath(name) == path or name == os.path.basename(path):
            for address, value in values.items():
                found[address].update(value)
    for address, value in counts.get("???", {}).items():
        offset = next((address - bias for bias in BIASES if address - bias in known), None)
        if offset is not None:
            found[offset].update(value)
    return found


def _instructions(path, pattern):
    listing = run("objdump", "-d", "--no-show-raw-insn", path).stdout
    return {int(match.group(1), 16)
            for match in re.finditer(rf"^\s*([0-9a-f]+):\s+{pattern}", listing, re.M)}


def string_instructions(path):
    return _instructions(path, r"repn?z? ")


def tested_bits(path):
    return _instructions(path, r"bt[crs]?\s+%\w+,%\w+$")


def loads_by_callgrind(ours, theirs):
    """An instruction's loads: as many as its stores, where it has those alone, but both for us."""
    merged = theirs["Dr"] == 0 and ours["L1-dcache-loads"] > 0 and ours["L1-dcache-stores"] > 0
    return theirs["Dw"] if merged else theirs["Dr"]


def linkage_stubs(path):
    """Whether an address is in a section that callgrind names no object for."""
    headers = run("objdump", "-h", path).stdout
    ranges = [(int(start, 16), int(start, 16) + int(size, 16)) for size, start in re.findall(
        r"^ +\d+ \.(?:plt\S*|init|fini) +([0-9a-f]+) +([0-9a-f]+)", headers, re.M)]
    return lambda address: any(begin <= address < end for begin, end in ranges)
