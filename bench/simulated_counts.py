#!/usr/bin/env python3
"""The software PMU's exact counts beside valgrind's, on real programs.

    bench/simulated_counts.py CULPRIT [--only NAME] [--runs 10] [--layouts 4]

1. Executions, loads and stores of each instruction, beside `callgrind --dump-instr=yes`: of the
   program, and of the libraries that do more than a hundredth of its work: how many instructions,
   how many are counted the same, the largest difference, and that of the sums. Apart: repeated
   string instructions, of which valgrind counts each round, and the stubs of libraries, for which
   it names no library. Where executions differ, callgrind is compared with itself, too: --layouts
   of its own runs, which place things at other addresses.
2. C library and loader, which choose code by the CPU, and each tool has one of its own
   (GLIBC_TUNABLES takes away what it can of that): the differences of the sums, and the function
   with most of it.
3. Misses of D1 and of the last level beside cachegrind, on its geometry, without a prefetcher; and
   the range of cachegrind's own counts over --layouts.
4. Whether --runs runs are identical, in every count of every instruction.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "tests"), str(FOLDER)]

import simulate          # noqa: E402  (from the folders above)
import valgrind_counts   # noqa: E402
from harness import run  # noqa: E402

# What QEMU's CPU and valgrind's differ in: the C library is to take what both have, and sizes that
# it would find out by CPUID.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent", "PYTHONHASHSEED": "0",
    "PERL_HASH_SEED": "0",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-BMI2,-LZCNT,-MOVBE,"
                      "-ERMS,-FSRM,-RTM,-XSAVEC,-XSAVE:glibc.cpu.x86_data_cache_size=32768:"
                      "glibc.cpu.x86_shared_cache_size=1048576:"
                      "glibc.cpu.x86_non_temporal_threshold=786432",
}
SHARED = {"C library": ("libc.so", "libc-"), "loader": ("ld-linux", "ld-2")}
OF_VALGRIND = ("vgpreload", "???")
SQL = ("create table t(a,b);with recursive r(i) as (select 1 union all select i+1 from r where "
       "i<4000) insert into t select i,(i*7919)%10007 from r;create index k on t(b);"
       "select sum(x.b) from t x join t y on x.a=y.b;")


def programs(folder):
    """[(name, command)]"""
    data = folder / "data"
    data.write_bytes(pathlib.Path("/usr/bin/perl").resolve().read_bytes()[:300_000])
    text = folder / "text"
    text.write_text("".join(f"{i} {i * i} word{i * 7919 % 1000}\n" for i in range(6000)))
    sums = folder / "sums"
    sums.write_text("scale=60\nfor (i = 1; i < 400; ++i) s += sqrt(i)\ns\nquit\n")
    hashes = simulate.HASH.replace("300000", "60000").replace("600000", "100000")
    yield "gzip", ["/usr/bin/gzip", "-n", "-c", data]
    yield "xz -1", ["/usr/bin/xz", "-1", "-T1", "-c", data]
    yield "sort", ["/usr/bin/sort", "-k3", text]
    yield "mawk", ["/usr/bin/mawk", "{ n += $2; seen[$3]++ } END { print n, seen[\"word7\"] }", text]
    yield "bc", ["/usr/bin/bc", "-q", sums]
    yield "md5sum", ["/usr/bin/md5sum", data]
    yield "matmul column", [simulate.build(folder, "matmul.c", simulate.MATMUL, "gcc"), "100",
                            "column"]
    yield "unordered_map", [simulate.build(folder, "hash.cc", hashes, "g++")]
    yield "sqlite3", ["/usr/bin/sqlite3", ":memory:", SQL]
    yield "perl", ["/usr/bin/perl", "-e",
                   "my %n; $n{$_ * 7919 % 1000} += $_ for 1 .. 20000; print scalar keys %n"]
    yield "python3", ["/usr/bin/python3", "-s", "-S", "-c",
                      "print(sum(len(str(i * i)) for i in range(20000)))"]


def layouts(count):
    """[(environment, options)] of valgrind: the stack and what is mapped are at other addresses."""
    for i in range(1, count + 1):
        yield (ENVIRONMENT | {"PADDING": "x" * 208 * i},
               [f"--aspace-minaddr={0x4000000 + i * 0x111000:#x}"])


def simulated(culprit, folder, command):
    """The report, and {module: {address: {event: count}}}."""
    profile = folder / "run.culprit"
    run(culprit, "record", "-q", "--engine", "simulate", "--machine", folder / "plain.toml",
        "--detail", "events", "-o", profile, "--", *command, cwd=folder, timeout=600,
        env=valgrind_counts.seen_environment(ENVIRONMENT))
    report = json.loads(run(culprit, "report", "--by", "module,instruction", "--format", "json",
                            profile).stdout)
    return report, valgrind_counts.counts_of_report(report)


def percent(ours, theirs):
    return f"{100 * (ours / theirs - 1):+.3f}" if theirs else "-"


def sum_of(counts, event):
    return sum(values[event] for values in counts.values())


class Program:
    """One program by both tools."""

    def __init__(self, options, folder, name, command):
        self.options, self.folder, self.name, self.command = options, folder, name, command
        self.path = os.path.realpath(command[0])
        self.report, self.ours = simulated(options.culprit, folder, command)
        self.theirs, self.functions = self.callgrind(ENVIRONMENT)

    def callgrind(self, environment, options=()):
        return valgrind_counts.run_callgrind(self.folder, self.command, environment,
                                             [*valgrind_counts.CACHES, *options])

    def module(self, path):
        """{address: counts} of both, without what they count differently."""
        path = os.path.realpath(path)
        ours = valgrind_counts.of_module(self.ours, path)
        known = ours if path == self.path else ()
        theirs = valgrind_counts.of_module(self.theirs, path, known)
        apart = valgrind_counts.string_instructions(path)
        is_stub = valgrind_counts.linkage_stubs(path) if path != self.path else lambda _: False
        for counts in (ours, theirs):
            for address in [one for one in counts if one in apart or is_stub(one)]:
                del counts[address]
        bits = valgrind_counts.tested_bits(path)
        for address, events in theirs.items():
            if address in bits:
                events["Dr"] = events["Dw"] = 0
            events["loads"] = valgrind_counts.loads_by_callgrind(ours[address], events)
        return ours, theirs

    def own_modules(self):
        shared = tuple(prefix for prefixes in SHARED.values() for prefix in prefixes)
        work = {os.path.realpath(module): sum_of(counts, "instructions")
                for module, counts in self.ours.items()
                if not os.path.basename(module).startswith(shared + OF_VALGRIND)}
        return sorted((path for path in work
                       if path == self.path or work[path] > sum(work.values()) / 100),
                      key=lambda path: path != self.path)

    def print_instructions(self):
        for path in self.own_modules():
            ours, theirs = self.module(path)
            for title, event, their_event in (("executions", "instructions", "Ir"),
                                              ("loads", "L1-dcache-loads", "loads"),
                                              ("stores", "L1-dcache-stores", "Dw")):
                pairs = [(ours[at][event], theirs[at][their_event]) for at in {*ours, *theirs}]
                pairs = [pair for pair in pairs if pair != (0, 0)]
                far = max((abs(a - b) for a, b in pairs), default=0)
                print(f"{self.name:15}{os.path.basename(path)[:19]:20}{title:11}"
                      f"{sum(b for _, b in pairs):12,}{len(pairs):9,}"
                      f"{sum(a == b for a, b in pairs):9,}{far:9,}"
                      f"{percent(sum(a for a, _ in pairs), sum(b for _, b in pairs)):>9}", flush=True)
                if title == "executions" and far:
                    self.print_itself(path, theirs)

    def print_itself(self, path, counts):
        """Callgrind against itself, elsewhere in memory: the worst of some runs."""
        unequal, far = 0, 0
        for environment, options in layouts(self.options.layouts):
            # The same variables: interpreters count what they find in them.
            other = valgrind_counts.of_module(self.callgrind(ENVIRONMENT, options)[0], path, counts)
            differences = [abs(counts[at]["Ir"] - other[at]["Ir"]) for at in counts]
            unequal = max(unequal, sum(one != 0 for one in differences))
            far = max(far, *differences)
        print(f"{'':15}{'(callgrind against itself)':31}{'':12}{len(counts):9,}"
              f"{len(counts) - unequal:9,}{far:9,}", flush=True)

    def shared_rows(self):
        for title, prefixes in SHARED.items():
            path = next((os.path.realpath(module) for module in self.ours
                         if os.path.basename(module).startswith(prefixes)), None)
            if path is None:
                continue
            ours, theirs = self.module(path)
            cells = [percent(sum_of(ours, event), sum_of(theirs, their_event))
                     for event, their_event in (("instructions", "Ir"), ("L1-dcache-loads", "loads"),
                                                ("L1-dcache-stores", "Dw"))]
            yield (f"{self.name:15}{title:11}{sum_of(theirs, 'Ir'):12,}"
                   + "".join(f"{cell:>9}" for cell in cells)
                   + "   " + self.farthest_function(path, ours, theirs))

    def farthest_function(self, path, ours, theirs):
        names = {}
        for module, functions in self.functions.items():
            if os.path.realpath(module) == path:
                names.update(functions)
        by_name = collections.Counter()
        for address in {*ours, *theirs}:
            # Code that only we ran has no name in callgrind's file.
            by_name[names.get(address, "(others)")] += ours[address]["instructions"] - \
                theirs[address]["Ir"]
        name, difference = max(by_name.items(), key=lambda item: abs(item[1]))
        return f"{difference:+,} {name}" if difference else ""

    def miss_row(self):
        def cachegrind(environment, options=()):
            total = collections.Counter()
            for counts in valgrind_counts.run_cachegrind(self.folder, self.command, environment,
                                                         options).values():
                total.update(counts)
            return total["D1mr"] + total["D1mw"], total["DLmr"] + total["DLmw"]
        theirs = cachegrind(ENVIRONMENT)
        others = [cachegrind(*layout) for layout in layouts(self.options.layouts)]
        row = f"{self.name:15}"
        for level, name in enumerate(("L1-dcache", "LLC")):
            ours = sum(sum_of(counts, f"{name}-{kind}-misses") for counts in self.ours.values()
                       for kind in ("load", "store"))
            own = [100 * (one[level] / theirs[level] - 1) for one in [theirs, *others]]
            row += (f"{theirs[level]:11,}{ours:11,}{percent(ours, theirs[level]):>9}"
                    f"{min(own):+8.2f}..{max(own):+.2f}")
        return row

    def is_repeated(self):
        """Whether all runs have the same counts of all addresses."""
        def fingerprint(report):
            return hashlib.sha256(json.dumps(report["rows"], sort_keys=True).encode()).digest()
        return all(fingerprint(simulated(self.options.culprit, self.folder, self.command)[0])
                   == fingerprint(self.report) for _ in range(self.options.runs - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--layouts", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "plain.toml").write_text(valgrind_counts.MACHINE)
        chosen = [one for one in programs(folder) if options.only in one[0]]
        print("1. Each instruction, beside callgrind; sums in %")
        print(f"{'':15}{'module':20}{'':11}{'callgrind':>12}{'compared':>9}{'equal':>9}"
              f"{'largest':>9}{'sum':>9}")
        shared, misses, repeated = [], [], []
        for name, command in chosen:
            program = Program(options, folder, name, command)
            program.print_instructions()
            shared.extend(program.shared_rows())
            misses.append(program.miss_row())
            repeated.append(f"{name:15}{'yes' if program.is_repeated() else 'no'}")
        print("\n2. C library and loader, beside callgrind; differences of the sums in %")
        print(f"{'':26}{'callgrind':>12}{'executed':>9}{'loads':>9}{'stores':>9}   most of it")
        print("\n".join(shared))
        print("\n3. Misses, beside cachegrind; its own range over other places in memory, in %")
        print(f"{'':15}{'D1':>11}{'ours':>11}{'%':>9}{'itself':>14}"
              f"{'last level':>13}{'ours':>11}{'%':>9}{'itself':>14}")
        print("\n".join(misses))
        print(f"\n4. {options.runs} runs are identical")
        print("\n".join(repeated))


if __name__ == "__main__":
    main()
