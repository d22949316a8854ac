"""Data objects in the software PMU: whose accesses are whose, in programs that access each of theirs
a known number of times."""
import json
import os
import re

import jsonschema

from harness import PROGRAMS, SOURCE, CulpritTest, run

LOADS = "L1-dcache-loads"


def line_of(source, mark):
    """The line that ends with "// MARK"."""
    lines = (PROGRAMS / source).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith("// " + mark))


class ObjectsTest(CulpritTest):
    def simulate(self, program, *options, **more):
        path, done = self.record("-q", "--engine", "simulate", *options, "--", program,
                                 timeout=280, **more)
        self.said = done.stderr
        return path

    def values(self, profile, event, *arguments, by="object"):
        """{(names of the row): value}"""
        found = {}
        levels = by.split(",")
        for row in self.report(profile, "--by", by, *arguments)["rows"]:
            key = tuple(row.get(level) for level in levels)
            value = row["values"].get(event, {"value": 0})["value"]
            found[key if len(levels) > 1 else key[0]] = value
        return found


THREAD_LOCALS = """
#include <pthread.h>
enum { N = 4096, ROUNDS = 20 };
static __thread long counters[N];
__thread struct { int hits; double parts[1000]; } state;
static void* work(void* unused) {
  for (int r = 0; r < ROUNDS; ++r) {
    for (int i = 0; i < N; ++i) counters[i] += r;
    for (int i = 0; i < 1000; ++i) state.parts[i] += 1;
  }
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  work(0);
  return pthread_join(other, 0);
}
"""


class ThreadLocals(ObjectsTest):
    """Each of two threads loads its own 4096 elements and 1000 members twenty times."""

    def check(self, *flags):
        self.need("qemu-x86_64", "gcc")
        program = self.compile_text(THREAD_LOCALS, "own.c", "own", "-O1", "-g", "-pthread", *flags)
        profile = self.simulate(program, "--objects", "site", "--locality", "all", "--machine", "small-core")
        report = self.report(profile, "--by", "object,thread")
        loads = {}
        for row in report["rows"]:
            loads.setdefault(row["object"], []).append(row["values"].get(LOADS, {"value": 0})["value"])
        self.assertEqual(loads["counters"], [20 * 4096] * 2)
        self.assertEqual(loads["state"], [20 * 1000] * 2)
        return profile

    def test_each_threads_own_are_one_object(self):
        profile = self.check()
        # Members by what debug information says of the variable.
        self.assertIn("parts", self.culprit("data", "state", profile).stdout)

    def test_of_a_static_program(self):
        self.check("-static")


class MatrixVector(ObjectsTest):
    """The paper's case: each of four threads loads a quarter of a, whose elements are all loaded once;
    b is loaded by all threads as often. The paper's n is 12000 (bench/matvec.py)."""
    N = 400

    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64", "gcc")
        # Vectorised, two elements would be one load.
        self.program = self.compile("matvec.c", "matvec", "-O2", "-g", "-fno-tree-vectorize",
                                    "-pthread", f"-DN={self.N}")

    def check(self, profile, name):
        report = self.report(profile, "--by", "object,thread", "--function", "multiply")
        each = [row["values"]["fp-loads"]["value"] for row in report["rows"]
                if row["object"] == name]
        self.assertEqual(each, [self.N ** 2 // 4] * 4)

    def test_loads_of_each_thread_by_the_variables_own_name(self):
        profile = self.simulate(self.program, "--objects", "site", "--machine", "none")
        self.check(profile, "a")
        loads = self.values(profile, "fp-loads", "--function", "multiply")
        self.assertEqual(loads["b"], self.N ** 2)
        report = self.report(profile, "--by", "object")
        for name, total in ((event["name"], event["total"]) for event in report["events"]):
            rows = sum(row["values"].get(name, {"value": 0})["value"] for row in report["rows"])
            self.assertEqual(rows, total, name)

    def test_a_range_of_that_name_has_the_same(self):
        profile = self.simulate(self.program, "--range", "matrix=a", "--machine", "none")
        self.check(profile, "matrix")
        text = self.culprit("report", profile, "--by", "object").stdout
        self.assertRegex(re.sub(r"\s+", " ", text), f"range matrix: {8 * self.N ** 2:,} bytes from "
                         "0x[0-9a-f]+, covered exactly: offsets 0 and 0")

    def test_objects_change_nothing_that_is_counted(self):
        """With a machine, its prefetchers and its time; the threads take turns."""
        def totals(*options):
            profile = self.simulate(self.program, "--machine", "small-core", "--deterministic",
                                    "--locality", "all", *options)
            return {event["name"]: event["total"] for event in self.report(profile)["events"]}
        self.assertEqual(totals("--objects", "site"), totals("--objects", "none"))

    def test_a_range_that_is_nowhere_is_said(self):
        profile = self.simulate(self.program, "--range", "absent", "--machine", "none")
        text = self.culprit("report", profile, "--by", "object").stdout
        self.assertIn("range 'absent': no variable 'absent' in any file that ran", text)

    def test_profiles_without_objects_say_how_to_get_them(self):
        profile = self.simulate(self.program, "--machine", "none")
        said = self.culprit("report", profile, "--by", "object", status=None).stderr
        self.assertIn("no counts by data object", said)
        self.assertIn("--objects site", said)

    def test_wrong_words_are_refused(self):
        for words, expected in ((("--range", "x=0x10"), "is no range"),
                                (("--objects", "page"), "'page' is not one of site, size, instance")):
            done = self.culprit("record", "--engine", "simulate", *words, "--", self.program,
                                status=None)
            self.assertIn(expected, re.sub(r"\s+", " ", done.stderr))
            self.assertNotEqual(done.returncode, 0)


MARKED = r"""
#include <stdlib.h>
#include "culprit/range.h"
static long table[1000];
static __attribute__((noinline)) long sum(const volatile long* at, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += at[i];
  return total;
}
int main(void) {
  long* rows = calloc(3000, sizeof *rows);
  long* more = calloc(500, sizeof *more);
  culprit_range("first half", rows, 1500 * sizeof *rows);
  culprit_range("table's", table + 100, 200 * sizeof *table);
  culprit_range("first half", more, 500 * sizeof *more);
  culprit_range("", more, 8);
  return sum(rows, 3000) + sum(more, 500) + sum(table, 1000) != 0;
}
"""
MARKED_FORTRAN = """
program marked
  use culprit_ranges
  use, intrinsic :: iso_c_binding
  implicit none
  real(8), allocatable, target, volatile :: a(:)
  real(8) :: total
  integer :: i
  allocate(a(1000))
  a = 1
  call culprit_range('matrix', c_loc(a(1)), int(8 * 600, c_size_t))
  total = 0
  do i = 1, 1000
    total = total + a(i)
  end do
  if (total /= 1000) stop 1
end program
"""


STACKS = r"""
#include <pthread.h>
static __attribute__((noipa)) long sum(const volatile long* at, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += at[i];
  return total;
}
static __attribute__((noipa)) long parse(void) {
  long words[300];
  for (long i = 0; i < 300; ++i) ((volatile long*)words)[i] = i;
  return sum(words, 300);
}
static __attribute__((noipa)) long nest(long n) {
  long each[50];
  for (long i = 0; i < 50; ++i) ((volatile long*)each)[i] = i;
  const long inner = n == 0 ? 0 : nest(n - 1);
  return sum(each, 50) + inner;
}
static long one = 1, kept;
static __attribute__((noipa)) long jump(long n) {   // saves n, and ends in a jump to parse
  kept = sum(&one, 1);
  kept += n;
  return parse();
}
static void* work(void* table) { return (void*)sum(table, 1000); }
int main(void) {
  long table[1000];
  pthread_t other;
  for (long i = 0; i < 1000; ++i) ((volatile long*)table)[i] = i;
  long total = sum(table, 1000) + parse() + nest(9) + jump(3);
  pthread_create(&other, 0, work, table);
  pthread_join(other, 0);
  return total == 0;
}
"""


class Stacks(ObjectsTest):
    """The stack by the function in whose frame it is, and by variable, whoever accesses it."""

    def check(self, *options, compiler="gcc"):
        program = self.compile_text(STACKS, "stacks.c", "stacks", "-O2", "-g",
                                    *([] if "clang" in compiler else ["-fno-tree-vectorize"]),
                                    "-pthread", *options, compiler=compiler)
        profile = self.simulate(program, "--objects", "site", "--machine", "none")
        loads = self.values(profile, LOADS, "--function", "sum")
        of_arrays = {name: value for name, value in loads.items() if value >= 100}
        def at(variable, function):
            text = next(number for number, line in enumerate(STACKS.splitlines(), 1)
                        if f"long {variable}[" in line)
            return f"{variable} in {function} stacks.c:{text}"
        self.assertEqual({at("table", "main"): 2000, at("words", "parse"): 600,
                          at("each", "nest"): 500}, of_arrays, loads)
        stores = self.values(profile, "L1-dcache-stores", "--function", "nest")
        self.assertEqual(500, stores[at("each", "nest")])
        self.assertIn(stores["stack of nest"], range(10, 100))   # registers that it saves
        for name in ("words", "words in parse"):
            self.assertIn(at("words", "parse"), self.culprit("data", name, profile).stdout)
        self.assertIn("no data object here is 'stack'",
                      self.culprit("data", "stack", profile, status=1).stderr)

    def test_arrays_of_functions_and_of_another_thread(self):
        self.need("qemu-x86_64", "gcc")
        self.check()
        self.check("-static")
        self.check("-fomit-frame-pointer", "-fno-pie", "-no-pie", "-fcf-protection=none")

    def test_the_same_of_aarch64(self):
        self.need("qemu-aarch64", "aarch64-linux-gnu-gcc")
        self.check(compiler="aarch64-linux-gnu-gcc")

    def test_frames_by_a_register(self):
        """clang tells where variables are from the stack pointer on, or the frame pointer."""
        self.need("qemu-x86_64", "clang-19")
        vectorless = ("-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-inline")
        self.check(*vectorless, compiler="clang-19")
        self.check(*vectorless, "-fno-omit-frame-pointer", compiler="clang-19")

    def test_functions_of_a_stripped_program_are_told_apart(self):
        self.need("qemu-x86_64", "gcc")
        program = self.compile_text(STACKS, "stacks.c", "stripped", "-O2", "-s", "-pthread",
                                    "-fno-tree-vectorize")
        profile = self.simulate(program, "--objects", "site", "--machine", "none")
        loads = self.values(profile, LOADS)
        found = sorted((value for name, value in loads.items()
                        if name.startswith("stack of sub_")), reverse=True)
        self.assertEqual([2000, 600, 500], [value // 100 * 100 for value in found[:3]], loads)


# By hand: 20 rounds load the x of 500 points, 7 the kinds of 300 edges; who makes them stores two
# members of each, whoever inlines `weigh` another two of 40 edges.
STACK_MEMBERS = r"""
struct point { double x, y, z; int id; };
struct edge { long from; struct { short weight; char kind; } how; };
static __attribute__((noipa)) double sum(const volatile struct point* at, long n) {
  double total = 0;
  for (long i = 0; i < n; ++i) total += at[i].x;
  return total;
}
static inline __attribute__((always_inline)) long weigh(long n) {
  volatile struct edge heavy[40];
  for (long i = 0; i < 40; ++i) heavy[i].how.weight = n;
  long total = 0;
  for (long i = 0; i < 40; ++i) total += heavy[i].how.weight;
  return total;
}
static __attribute__((noipa)) double work(long n) {
  volatile struct point cloud[500];
  volatile struct edge edges[300];
  for (long i = 0; i < 500; ++i) { cloud[i].x = n; cloud[i].id = n; }
  for (long i = 0; i < 300; ++i) { edges[i].from = n; edges[i].how.kind = n; }
  double total = 0;
  for (int round = 0; round < 20; ++round) total += sum(cloud, 500);
  for (int round = 0; round < 7; ++round)
    for (long i = 0; i < 300; ++i) total += edges[i].how.kind;
  return total + weigh(n) + weigh(n + 1);
}
int main(int count, char** words) { (void)words; return work(count) == 0; }
"""
STACK_MEMBERS_CXX = r"""
#include <array>
struct Pair { long key; std::array<int, 2> values; long spare; };
struct Iterator {
  volatile long at, end;
  long operator*() const { return at; }
  Iterator& operator++() { at = at + 1; return *this; }
  bool operator!=(const Iterator& other) const { return at != other.at; }
};
struct Chain {
  Iterator begin() const { return {0, 30}; }
  Iterator end() const { return {30, 30}; }
};
static __attribute__((noipa)) long sum(const volatile Pair* at, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += at[i].key;
  return total;
}
static __attribute__((noipa)) long work(long n) {
  std::array<std::array<Pair, 10>, 20> table;
  volatile Pair* const pairs = table[0].data();
  for (long i = 0; i < 200; ++i) { pairs[i].key = n; pairs[i].values._M_elems[1] = 1; }
  long total = 0;
  for (int round = 0; round < 9; ++round) total += sum(pairs, 200);
  Chain chain;
  for (long each : chain) total += each;   // its iterators have no line
  return total;
}
int main(int count, char**) { return work(count) == 0; }
"""
SPARSE_ON_STACK = r"""
struct particle { double x; double spare[6]; int id; };
static __attribute__((noipa)) double sum(const volatile struct particle* at, long n) {
  double total = 0;
  for (long i = 0; i < n; ++i) total += at[i].x;
  return total;
}
static __attribute__((noipa)) double work(long n) {
  volatile struct particle cloud[20000];
  for (long i = 0; i < 20000; ++i) cloud[i].x = n;
  double total = 0;
  for (int round = 0; round < 5; ++round) total += sum(cloud, 20000);
  return total;
}
int main(int count, char** words) { (void)words; return work(count) == 0; }
"""


class StackMembers(ObjectsTest):
    """Types of variables on the stack, and which of their members are accessed."""

    def record_members(self, text, name, compiler, *flags):
        program = self.compile_text(text, name, "members", "-O2", "-g", *flags, compiler=compiler)
        return self.simulate(program, "--objects", "site", "--locality", "all", "--machine",
                             "small-core")

    def members(self, profile, variable):
        """The type, and {member: (place, bytes, accesses)}."""
        document = json.loads(self.culprit("data", variable, profile, "--format", "json").stdout)
        jsonschema.validate(document, json.loads((SOURCE / "schema/data.schema.json").read_text()))
        part = document["part"]
        return part["type"], {row["name"]: (row["place"], row["size_bytes"], row["use"]["accesses"])
                              for row in part["fields"]}

    def check(self, compiler, *flags):
        profile = self.record_members(STACK_MEMBERS, "members.c", compiler, *flags)
        of, members = self.members(profile, "cloud")
        self.assertEqual("point", of)
        self.assertEqual({"x": ("offset 0", 8, 500 + 20 * 500), "y": ("offset 8", 8, 0),
                          "z": ("offset 16", 8, 0), "id": ("offset 24", 4, 500),
                          "[padding]": ("offset 28", 4, 0)}, members)
        of, members = self.members(profile, "edges")
        self.assertEqual("edge", of)
        self.assertEqual({"from": ("offset 0", 8, 300), "how.weight": ("offset 8", 2, 0),
                          "how.kind": ("offset 10", 1, 300 + 7 * 300),
                          "[padding]": ("offset 11", 5, 0)}, members)
        # The variable of an inlined function, of both calls.
        of, members = self.members(profile, "heavy")
        self.assertEqual("edge", of)
        self.assertEqual(("offset 8", 2, 2 * 80), members["how.weight"])
        return profile

    def test_two_variables_of_a_function_and_one_that_it_inlines(self):
        self.need("qemu-x86_64", "gcc")
        profile = self.check("gcc")
        text = self.culprit("data", "cloud", profile).stdout
        self.assertIn("at 32 B of point", text)
        self.assertIn("stack, point of 32 B", text)

    def test_advice_to_split_goes_by_its_members(self):
        """Of each 64 B the loop loads 8."""
        self.need("qemu-x86_64", "gcc")
        profile = self.record_members(SPARSE_ON_STACK, "sparse.c", "gcc", "-fno-tree-vectorize")
        text = re.sub(r"\s+", " ", self.culprit("data", profile).stdout)
        self.assertIn("1 split particle", text)
        self.assertIn("each particle it accesses x (8 B), and 56 B hardly ever", text)

    def test_from_the_stack_pointer_on(self):
        self.need("qemu-x86_64", "clang-19")
        self.check("clang-19", "-fno-unroll-loops")

    def test_the_same_of_aarch64(self):
        self.need("qemu-aarch64", "aarch64-linux-gnu-gcc")
        self.check("aarch64-linux-gnu-gcc")

    def test_std_array_is_an_array(self):
        self.need("qemu-x86_64", "g++")
        profile = self.record_members(STACK_MEMBERS_CXX, "members.cc", "g++")
        of, members = self.members(profile, "table")
        self.assertEqual("Pair", of)
        self.assertEqual({"key": ("offset 0", 8, 200 + 9 * 200),
                          "values._M_elems": ("offset 8", 8, 200),
                          "spare": ("offset 16", 8, 0)}, members)

    def test_what_compilers_declare_has_no_line(self):
        self.need("qemu-x86_64", "g++")
        profile = self.record_members(STACK_MEMBERS_CXX, "members.cc", "g++", "-O0")
        of, members = self.members(profile, "__for_begin")
        self.assertEqual("Iterator", of)
        # It is made, compared 31 times, and in 30 rounds loaded for the body, loaded and stored to
        # add one.
        self.assertEqual({"at": ("offset 0", 8, 1 + 31 + 30 + 2 * 30), "end": ("offset 8", 8, 1)},
                         members)


OWN_ALLOCATOR = r"""
#include <stdlib.h>
static char* at;
__attribute__((noinline)) static void* pool_get(int pool, unsigned long bytes) {
  char* block = at;
  (void)pool;
  at += (bytes + 15) / 16 * 16;
  __asm__ volatile("" : : : "memory");
  return block;
}
__attribute__((noinline)) static void pool_put(void* block) { __asm__ volatile("" : : "r"(block)); }
static __attribute__((noinline)) long sum(const volatile long* from, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += from[i];
  return total;
}
int main(void) {
  at = calloc(1, 1 << 16);
  long* nodes = pool_get(1, 300 * sizeof *nodes);
  long* edges = pool_get(2, 500 * sizeof *edges);
  long total = sum(nodes, 300) + sum(edges, 500);
  pool_put(edges);
  return total != 0;
}
"""


class OwnAllocators(ObjectsTest):
    """--allocator: functions of the program's own that hand out parts of what they have."""

    def test_blocks_are_named_by_who_asked_for_them(self):
        self.need("qemu-x86_64", "gcc")
        program = self.compile_text(OWN_ALLOCATOR, "pool.c", "pool", "-O2", "-g",
                                    "-fno-tree-vectorize", "-fno-ipa-cp", "-fno-ipa-sra")
        loads = self.values(self.simulate(program, "--objects", "site", "--machine", "none"), LOADS,
                            "--function", "sum")
        self.assertEqual(800, max(loads.values()))   # all of what calloc gave
        loads = self.values(self.simulate(program, "--allocator", "pool_get:2", "--allocator",
                                          "pool_put:frees", "--machine", "none"), LOADS,
                            "--function", "sum")
        self.assertEqual([300, 500], sorted(loads.values())[-2:])

    def test_wrong_words(self):
        done = self.culprit("record", "--engine", "simulate", "--allocator", "pool_get:9", "--",
                            "true", status=None)
        self.assertIn("is no allocator", done.stderr)
        self.assertNotEqual(0, done.returncode)


class Why(ObjectsTest):
    """culprit why --in-object: the cycles that accesses to an object cost."""

    def test_the_tree_of_an_object(self):
        self.need("qemu-x86_64", "gcc")
        program = self.compile("matvec.c", "matvec", "-O2", "-g", "-fno-tree-vectorize", "-pthread",
                               "-DN=200")
        profile = self.simulate(program, "--objects", "site", "--machine", "small-core")
        cycles = self.values(profile, "sim:cycles")
        document = json.loads(self.culprit("why", profile, "--in-object", "a", "--format",
                                           "json").stdout)
        self.assertAlmostEqual(cycles["a"], document["tree"]["cycles"]["value"],
                               delta=1e-6 * cycles["a"])
        text = re.sub(r"\s+", " ", self.culprit("why", profile, "--in-object", "a").stdout)
        loads = self.values(profile, LOADS)["a"]
        self.assertEqual(200 ** 2, loads)
        self.assertIn("its accesses: 40.0 k loads, 40.0 k stores", text)
        wrong = self.culprit("why", profile, "--in-object", "nothing", status=1).stderr
        self.assertIn("no data object here is 'nothing'", wrong)
        self.culprit("why", profile, "--in-object", "a", "--stalls", status=2)


class Marks(ObjectsTest):
    """culprit_range() of include/culprit: the program names parts of its memory."""

    def test_ranges_that_a_program_marks(self):
        self.need("qemu-x86_64", "gcc")
        for options in (("-O2",), ("-O2", "-static"), ("-O3", "-fno-pie", "-no-pie")):
            program = self.compile_text(MARKED, "marked.c", "marked", *options, "-fno-tree-vectorize",
                                        "-I", SOURCE / "include")
            profile = self.simulate(program, "--objects", "site", "--machine", "none")
            loads = self.values(profile, LOADS, "--function", "sum")
            self.assertEqual((2000, 200, 800), (loads["first half"], loads["table's"],
                                                loads["table"]), options)
            ledger = str(self.report(profile)["ledger"])
            self.assertRegex(ledger, "1 ranges that .*marked marked are not told apart")
        text = self.culprit("report", profile, "--by", "object").stdout
        self.assertIn("range first half", text)

    def test_ranges_that_a_fortran_program_marks(self):
        self.need("qemu-x86_64", "gfortran")
        (self.folder / "marked.f90").write_text(MARKED_FORTRAN)
        run("gfortran", "-O2", "-g", SOURCE / "include/culprit/culprit_range.f90",
            self.folder / "marked.f90", "-o", self.folder / "marked", cwd=self.folder)
        profile = self.simulate(self.folder / "marked", "--objects", "site", "--machine", "none")
        loads = self.values(profile, LOADS)
        self.assertEqual(600, loads["matrix"])


OWN_PARTS = r"""
#include <pthread.h>
#include "culprit/range.h"
static long table[2000];
static __attribute__((noipa)) long sum(const volatile long* at, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += at[i];
  return total;
}
static void* work(void* part) {
  culprit_thread_range("mine", (long*)part, 1000 * sizeof *table);
  return (void*)sum(table, 2000);
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, table + 1000 * i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return sum(table, 2000) != 0;
}
"""
OWN_PARTS_FORTRAN = """
program own
  use culprit_ranges
  use, intrinsic :: iso_c_binding
  implicit none
  real(8), allocatable, target, volatile :: a(:)
  real(8) :: total
  integer :: i
  allocate(a(1000))
  a = 1
  call culprit_thread_range('mine', c_loc(a(1)), int(8 * 600, c_size_t))
  total = 0
  do i = 1, 1000
    total = total + a(i)
  end do
  if (total /= 1000) stop 1
end program
"""


class OwnMarks(ObjectsTest):
    """culprit_thread_range(): a part of memory as far as one thread accesses it."""

    def test_what_other_threads_do_there_is_of_what_lies_beneath(self):
        """Each thread loads all 2,000 elements, 1,000 of them its own; main loads all, too."""
        self.need("qemu-x86_64", "gcc")
        program = self.compile_text(OWN_PARTS, "own.c", "own", "-O2", "-fno-tree-vectorize",
                                    "-pthread", "-I", SOURCE / "include")
        profile = self.simulate(program, "--objects", "site", "--machine", "none")
        loads = self.values(profile, LOADS, "--function", "sum")
        self.assertEqual((2000, 4000), (loads["mine"], loads["table"]))
        rows = self.report(profile, "--by", "object,thread", "--function", "sum")["rows"]
        self.assertEqual([1000, 1000], [row["values"][LOADS]["value"] for row in rows
                                        if row["object"] == "mine"])

    def test_the_same_call_in_fortran(self):
        self.need("qemu-x86_64", "gfortran")
        (self.folder / "own.f90").write_text(OWN_PARTS_FORTRAN)
        run("gfortran", "-O2", "-g", SOURCE / "include/culprit/culprit_range.f90",
            self.folder / "own.f90", "-o", self.folder / "own", cwd=self.folder)
        loads = self.values(self.simulate(self.folder / "own", "--objects", "site", "--machine",
                                          "none"), LOADS)
        self.assertEqual(600, loads["mine"])


SITES = r"""
#include <stdlib.h>
static __attribute__((noipa)) long sum(const volatile long* at, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += at[i];
  return total;
}
static __attribute__((noipa)) void* get(long n) {
  void* block = calloc(n, sizeof(long));
  __asm__ volatile("" : : : "memory");
  return block;
}
static long left[100];
int main(void) {
  long total = sum(left, 100);
  for (long i = 1; i <= 3; ++i) {
    long* rows = get(100 * i);  // rows
    long* other = get(1000);  // other
    total += sum(rows, 100 * i) + sum(other, 1000);
    free(rows);
  }
  return total != 0;
}
"""


STATICS = """
int f(int i) { static int table[4000]; table[i] += i; return table[3999 - i]; }
int g(int i) { static int buf[4000]; buf[i] += i; return buf[3999 - i]; }
int h(int i) { static int buf[4000]; buf[i] += i; return buf[3999 - i]; }
int main() {
  int sum = 0;
  for (int i = 0; i < 4000; ++i) sum += f(i) + g(i) + h(i);
  return sum == 1;
}
"""

ARRAYS = """
program arrays
  real(8) :: a(20000), b(20000)
  integer :: i
  do i = 1, 20000
    a(i) = i
  end do
  do i = 1, 20000
    b(i) = 2 * a(i)
  end do
  print *, b(20000)
end program
"""


class NumberedNames(ObjectsTest):
    """Compilers write a number behind the names of variables of functions: table.2."""

    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64", "gcc")

    def test_a_range_is_what_the_source_calls_it(self):
        program = self.compile_text(STATICS, "statics.c", "statics", "-O1", "-g")
        profile = self.simulate(program, "--range", "table", "--range", "buf", "--machine", "none")
        loads = self.values(profile, LOADS)
        self.assertEqual(8000, loads["table"])
        self.assertEqual([4000 + 4000] * 2, [value for name, value in loads.items()
                                             if name.startswith("buf.")])
        text = self.culprit("report", profile, "--by", "object").stdout
        self.assertRegex(text, r"range 'buf': 'buf' may be buf.[0-9] or buf.[0-9] of statics: name one of them")

    def test_near_names_are_offered_at_the_end_of_recording(self):
        program = self.compile_text(STATICS, "statics.c", "statics", "-O1", "-g")
        _, done = self.record("--engine", "simulate", "--range", "tabel", "--range", "x=statics:absent",
                              "--machine", "none", "--", program, status=None)
        self.assertIn("range 'tabel': no variable 'tabel' in any file that ran (did you mean table?)", done.stderr)
        self.assertIn("range 'x': no variable 'absent' in statics", done.stderr)

    def test_reports_have_the_name_of_the_source(self):
        program = self.compile_text(STATICS, "statics.c", "statics", "-O1", "-g")
        loads = self.values(self.simulate(program, "--objects", "site", "--machine", "none"), LOADS)
        self.assertEqual(8000, loads["table"])
        self.assertNotIn("buf", loads)

    def test_arrays_of_a_main_program_in_fortran(self):
        self.need("gfortran")
        program = self.compile_text(ARRAYS, "arrays.f90", "arrays", "-O1", "-g", compiler="gfortran")
        profile = self.simulate(program, "--range", "mine=a", "--machine", "none")
        self.assertEqual(20000, self.values(profile, "fp-loads")["mine"])


class Sites(ObjectsTest):
    """--range NAME=FILE:LINE: all blocks that a line allocates, itself or in what it calls."""

    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64", "gcc")
        self.program = self.compile_text(SITES, "sites.c", "sites", "-O2", "-g",
                                         "-fno-tree-vectorize")
        lines = SITES.splitlines()
        self.rows, self.other, self.get = (
            next(number for number, line in enumerate(lines, 1) if mark in line)
            for mark in ("// rows", "// other", "calloc("))

    def test_blocks_of_a_line(self):
        profile = self.simulate(self.program, "--range", f"rows=sites.c:{self.rows}", "--machine",
                                "none")
        loads = self.values(profile, LOADS, "--function", "sum")
        self.assertEqual((600, 100), (loads["rows"], loads["left"]))
        self.assertEqual(3000, sum(value for name, value in loads.items() if "get" in name), loads)
        text = re.sub(r"\s+", " ", self.culprit("report", profile, "--by", "object").stdout)
        self.assertIn("range rows: 4,800 bytes in 3 blocks, covered exactly: offsets 0 and 0", text)

    def test_what_the_environment_asks_for(self):
        asked = f"both=sites.c:{self.get};part=left"
        profile = self.simulate(self.program, "--machine", "none", env={**os.environ, "CULPRIT_RANGE": asked})
        loads = self.values(profile, LOADS, "--function", "sum")
        self.assertEqual((3600, 100), (loads["both"], loads["part"]))
        done = self.culprit("record", "--engine", "simulate", "--", self.program, status=None,
                            env={**os.environ, "CULPRIT_RANGE": "a;=b"})
        self.assertIn("CULPRIT_RANGE: '=b' is no range", done.stderr)

    def test_lines_without_code_or_allocations_are_said(self):
        def said(asked, program=self.program):
            done = self.culprit("record", "--engine", "simulate", "--machine", "none", "-o",
                                self.folder / "x.culprit", "--range", asked, "--", program,
                                status=None)
            return re.sub(r"\s+", " ", done.stderr)
        self.assertRegex(said("rows=sites.c:10"), "no code of '.*sites' is of sites.c:10: those "
                         "before and behind it that have are [0-9]+ and [0-9]+")
        self.assertIn("it has no code of that file", said("rows=absent.c:10"))
        free = self.other + 2
        self.assertIn(f"range 'rows': sites.c:{free} allocated nothing", said(f"rows=sites.c:{free}"))
        stripped = self.compile_text(SITES, "sites.c", "stripped", "-O2", "-s")
        self.assertIn("no debug information", said("rows=sites.c:10", stripped))

    def test_what_masks_would_have_covered(self):
        """[8, 32) is in one block of 32 bytes, and is made of two: [8, 16) and [16, 32)."""
        profile = self.simulate(self.program, "--range", "odd=0x100000008+24", "--machine", "none")
        for masks, expected in ((1, "offsets 8 and 0"), (4, "offsets 0 and 0")):
            text = re.sub(r"\s+", " ", self.culprit("report", profile, "--by", "object",
                                                    "--address-masks", str(masks)).stdout)
            self.assertIn("covered exactly: offsets 0 and 0; address masks, "
                          f"{masks} of them, would have had {expected}", text)


INSTANCES = r"""
#include <stdlib.h>
enum { kBlocks = 10050, kLarge = 20 };
static __attribute__((noipa)) long sum(const volatile long* at, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += at[i];
  return total;
}
int main(void) {
  static long* rows[kBlocks];
  static long* large[kLarge];
  long total = 0;
  for (int i = 0; i < kBlocks; ++i) rows[i] = calloc(2, sizeof(long));
  for (int i = 0; i < kLarge; ++i) large[i] = calloc(100, sizeof(long));
  for (int i = 0; i < kBlocks; ++i) total += sum(rows[i], 2);
  for (int i = 0; i < kLarge; ++i) total += sum(large[i], 5 * (i + 1));
  return total != 0;
}
"""


class Instances(ObjectsTest):
    def test_the_largest_blocks_are_objects_of_their_own(self):
        """10,070 blocks: the last 20 are the largest, and 70 of the others are not told apart."""
        self.need("qemu-x86_64", "gcc")
        program = self.compile_text(INSTANCES, "instances.c", "instances", "-O2", "-g",
                                    "-fno-tree-vectorize")
        profile = self.simulate(program, "--objects", "instance", "--machine", "none")
        loads = self.values(profile, LOADS, "--function", "sum", "--limit", "0")
        line = {mark: next(number for number, text in enumerate(INSTANCES.splitlines(), 1)
                           if mark in text) for mark in ("rows[i] =", "large[i] =")}
        rows = f"rows[i] instances.c:{line['rows[i] =']}"
        large = f"large[i] instances.c:{line['large[i] =']}"
        self.assertEqual([5 * i for i in range(1, 21)], [loads[f"{large} #{i}"]
                                                         for i in range(1, 21)])
        self.assertEqual({2}, {value for name, value in loads.items() if name.startswith(f"{rows} #")})
        self.assertEqual(9980, sum(name.startswith(f"{rows} #") for name in loads))
        self.assertEqual(2 * 70, loads[rows])
        self.assertIn("70 blocks of the heap are under the places that allocate them: the 10,000 "
                      "largest ones are objects of their own", str(self.report(profile)["ledger"]))


class EveryKind:
    """tests/programs/objects.cc"""
    compiler = "g++"
    flags = ()

    def setUp(self):
        super().setUp()
        self.need(*self.programs)
        self.program = self.compile("objects.cc", "objects", "-O2", "-g", "-fno-tree-vectorize",
                                    "-fno-optimize-sibling-calls", *self.flags,
                                    compiler=self.compiler)

    def test_each_object_has_the_loads_that_are_its_own(self):
        profile = self.simulate(self.program, "--objects", "site", "--machine", "none")
        loads = self.values(profile, LOADS, "--function", "visit")
        named = {re.sub(r"\(anonymous namespace\)::", "", name): value
                 for name, value in loads.items()}

        def at(function, mark):
            """By all callers of the function, whose results have names of their own."""
            name = f"{function} objects.cc:{line_of('objects.cc', 'site ' + mark)}"
            return sum(value for key, value in named.items()
                       if key == name or key.endswith(": " + name))
        self.assertEqual(named.get("left"), 250, named)
        self.assertEqual(named.get("right"), 250)
        self.assertEqual(named.get("table"), 500)
        self.assertEqual(at("make_rows", "rows"), 1000 + 7 * 100, named)
        rows = f"rows: make_rows objects.cc:{line_of('objects.cc', 'site rows')}"
        self.assertEqual(named.get(rows), 1000, named)
        self.assertEqual(at("make_cleared", "cleared"), 2000)
        self.assertEqual(at("make_larger", "larger"), 3000)
        self.assertEqual(at("make_aligned", "aligned"), 4000, named)
        self.assertEqual(at("make_vector", "vector"), 5000)
        self.assertEqual(at("mmap make_mapping", "mapping"), 6000, named)

    def test_an_object_alone(self):
        profile = self.simulate(self.program, "--objects", "site", "--machine", "none")
        functions = self.values(profile, LOADS, "--object", "*make_rows*", by="function")
        self.assertEqual([value for name, value in functions.items() if "visit" in name], [1700])


class Shared(EveryKind, ObjectsTest):
    programs = ("qemu-x86_64", "g++")


class Static(EveryKind, ObjectsTest):
    """No library is preloaded: a static program is seen as well."""
    programs = ("qemu-x86_64", "g++")
    flags = ("-static",)


class Aarch64(EveryKind, ObjectsTest):
    programs = ("qemu-aarch64", "aarch64-linux-gnu-g++")
    compiler = "aarch64-linux-gnu-g++"


class Fields(ObjectsTest):
    """tests/programs/fields.c"""
    def fields(self, profile, name):
        text = self.culprit("data", name, "-i", profile, "--format", "json").stdout
        part = json.loads(text)["part"]
        return part, {field["name"]: field["use"]["accesses"] for field in part["fields"]}

    def check(self, compiler):
        program = self.compile("fields.c", "fields", "-O1", "-g", "-fno-tree-vectorize",
                               compiler=compiler)
        profile = self.simulate(program, "--objects", "site", "--machine", "small-core")
        part, bodies = self.fields(profile, "bodies")
        # The engine shows a load of both in two parts: it begins at the first.
        self.assertEqual(bodies, {"tag": 0, "[padding]": 0, "at.x": 0, "at.x to at.y": 1000,
                                  "at.y": 2000, "id": 2000, "speed": 0, "next": 0})
        self.assertEqual([(field["place"], field["size_bytes"]) for field in part["fields"]],
                         [("offset 0", 1), ("offset 1", 7), ("offset 8", 8), ("offset 8", 16),
                          ("offset 16", 8), ("offset 24", 4), ("offset 28", 4), ("offset 32", 24), ("offset 56", 8)])
        self.assertEqual(part["type"], "body")
        _, state = self.fields(profile, "state")
        self.assertEqual(state, {"rounds": 0, "[padding]": 0, "parts": 600, "total": 0})
        part, nodes = self.fields(profile, "make_node*")
        self.assertEqual(part["type"], "node")
        self.assertEqual(nodes["key"], 20000 + 10 * 20000)
        self.assertEqual(nodes["next"], 2 * 20000 + 10 * 20000)
        self.assertEqual(sum(nodes.values()), part["use"]["accesses"])

    def test_members_of_a_variable_and_of_blocks(self):
        self.need("qemu-x86_64", "gcc")
        self.check("gcc")

    def test_the_same_of_aarch64(self):
        self.need("qemu-aarch64", "aarch64-linux-gnu-gcc")
        self.check("aarch64-linux-gnu-gcc")


TURNS = r"""
static long left[1 << 15], right[1 << 15];
static __attribute__((noipa)) long visit(long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) {
    const volatile long* const at = i % 4 != 0 ? left : right;
    total += at[i * 7 & 0x7fff];
  }
  return total;
}
int main(void) { return visit(1000000) != 0; }
"""


class Sampled(ObjectsTest):
    """--sets with locality: of the accesses that it leaves out some are looked at."""

    def test_accesses_by_object_are_estimated_and_their_sum_is_exact(self):
        """Three of four loads by one instruction are of the one object. Intervals twice as wide as
        those of 95 % hold in all but one of 10,000 runs."""
        self.need("qemu-x86_64", "gcc")
        program = self.compile_text(TURNS, "turns.c", "turns", "-O2", "-g", "-fno-tree-vectorize")
        profile = self.simulate(program, "--objects", "site", "--locality", "all", "--machine",
                                "small-core", "--sets", "1/8,1,50000")
        data = json.loads(self.culprit("data", "-i", profile, "--format", "json").stdout)
        uses = {row["name"]: row["use"] for row in data["rows"]}
        for name, loads in (("left", 750_000), ("right", 250_000)):
            use = uses[name]
            self.assertAlmostEqual(loads, use["accesses"], delta=2 * use["accesses_error"])
            self.assertIn(round(use["accesses_error"]), range(50, 20_000))
        self.assertEqual(1_000_000, sum(uses[name]["accesses"] for name in ("left", "right")))
        self.assertEqual(0, data["totals"]["accesses_error"])
        self.assertIn("one access in 64, chosen at random", str(data["ledger"]))
        self.assertIn("~accesses", self.culprit("data", profile).stdout)
        statements = json.loads(self.culprit("locality", "visit", "-i", profile, "--format",
                                             "json").stdout)["part"]
        self.assertEqual(0, statements["use"]["accesses_error"])
        exact = self.culprit("report", profile, "--by", "function", "--format", "json").stdout
        loads = {row["function"]: row["values"][LOADS]["value"]
                 for row in json.loads(exact)["rows"] if LOADS in row["values"]}
        self.assertEqual(1_000_001, loads["visit"])   # it returns to where its call has put it
        self.assertRegex(self.culprit("report", profile).stdout, r"(?m)^L1-dcache-loads: .* counted$")


class Sizes(ObjectsTest):
    def test_blocks_of_one_place_by_their_size(self):
        self.need("qemu-x86_64", "g++")
        program = self.compile("objects.cc", "objects", "-O2", "-g", "-fno-tree-vectorize",
                               "-fno-optimize-sibling-calls", compiler="g++")
        profile = self.simulate(program, "--objects", "size", "--machine", "none")
        loads = self.values(profile, LOADS, "--function", "visit")
        rows = sorted(value for name, value in loads.items() if "make_rows" in name)
        self.assertEqual(rows, [700, 1000], loads)


if __name__ == "__main__":
    import unittest
    unittest.main()
