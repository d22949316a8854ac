"""culprit diff and culprit variance: exact counts of two builds, by hand; groups of real runs."""
import json
import unittest

from harness import BUILD, CulpritTest, run
from schema_test import validator

# Each function's loop is one instruction sequence per round; EXTRA rounds more are the change.
PROGRAM = """#include <stdint.h>
static volatile uint64_t sink;
#define LOOP(name, rounds) __attribute__((noinline)) void name(void) { \\
  for (uint64_t i = 0; i < rounds; ++i) sink = i; }
LOOP(steady, 100000)
LOOP(changed, 100000 + EXTRA)
#if EXTRA
LOOP(added, 5000)
#else
LOOP(removed, 5000)
#endif
int main(void) {
  steady(); changed();
#if EXTRA
  added();
#else
  removed();
#endif
  return 0;
}"""


class Exact(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def record_build(self, name, extra, compiler="gcc"):
        program = self.compile_text(PROGRAM, f"{name}.c", name, "-O1", "-g", f"-DEXTRA={extra}",
                                    compiler=compiler)
        path, _ = self.record("-q", "--engine", "simulate", "--machine", "none", "--", program,
                              output=f"{name}.culprit")
        return path

    def rows(self, *arguments, status=0):
        done = self.culprit("diff", *arguments, "--format", "json", status=status)
        document = json.loads(done.stdout)
        self.assertEqual([], list(validator("diff").iter_errors(document)))
        return document, {row["names"]["function"]: row for row in document["rows"]}

    def test_counts_of_two_builds(self):
        """A round is as many instructions here as there, so 1,000 more rounds of 100,000 are one
        per cent and the few instructions around the loop less; names that one side lacks say so."""
        old, new = self.record_build("old", 0), self.record_build("new", 1000)
        document, rows = self.rows("--event", "instructions", old, new)
        self.assertEqual("same", rows["steady"]["verdict"])
        self.assertEqual(rows["steady"]["base"], rows["steady"]["new"])
        self.assertEqual("more", rows["changed"]["verdict"])
        self.assertAlmostEqual(0.01, rows["changed"]["change"], delta=1e-4)
        per_round = (rows["changed"]["new"] - rows["changed"]["base"]) / 1000
        self.assertEqual(per_round, round(per_round))
        self.assertEqual(("gone", "new"), (rows["removed"]["verdict"], rows["added"]["verdict"]))
        total = document["total"]
        self.assertEqual(sum(row["base"] for row in document["rows"]), total["base"])
        self.assertEqual(sum(row["new"] for row in document["rows"]), total["new"])

    def test_versions_in_one_profile(self):
        """Runs by turns in one profile are what separate profiles of them are."""
        old, new = self.record_build("old", 0), self.record_build("new", 1000)
        apart, _ = self.rows("--event", "instructions", "--base", old, old, "--new", new, new)
        both = self.folder / "both.culprit"
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "none", "-r", "2", "-o",
                     both, "--compare", f"old={self.folder / 'old'} 7", "--compare",
                     f"new={self.folder / 'new'} 7")
        together, rows = self.rows("--event", "instructions", both)
        self.assertEqual("more", rows["changed"]["verdict"])
        for name in ("steady", "changed", "removed", "added"):
            of = [row for row in apart["rows"] if row["names"]["function"] == name]
            self.assertEqual([(row["base"], row["new"]) for row in of],
                             [(rows[name]["base"], rows[name]["new"])])
        document = json.loads(self.culprit("variance", "--event", "instructions", both, "--format",
                                           "json").stdout)
        self.assertEqual(4, len(document["runs"]))

    def test_a_profile_and_itself(self):
        old = self.record_build("old", 0)
        _, rows = self.rows("--event", "instructions", old, old)
        self.assertEqual({"same"}, {row["verdict"] for row in rows.values()})

    def test_fail_above_is_status_3(self):
        old, new = self.record_build("old", 0), self.record_build("new", 50000)
        for limit, status in (("5%", 3), ("60", 0)):
            self.culprit("diff", "--event", "instructions", "--fail-above", limit, old, new,
                         status=status)
        self.culprit("diff", "--event", "instructions", "--fail-above", "5%", old, old, status=0)

    def test_text_and_csv(self):
        old, new = self.record_build("old", 0), self.record_build("new", 1000)
        text = self.culprit("diff", "--event", "instructions", old, new).stdout
        self.assertRegex(text, r"(?m)^ *\S+ [kM] +\S+ [kM] +\+1\.0 % +\+ +changed$")
        table = text[text.index("   old "):text.index("= counted")]
        self.assertTrue(all(len(line) <= 80 for line in table.splitlines()), text)
        lines = self.culprit("diff", "--event", "instructions", old, new, "--format",
                             "csv").stdout.splitlines()
        self.assertEqual("function,base,new,change,low95,high95,tail,verdict,functions,cause", lines[0])

    def test_variance_of_exact_runs(self):
        old, new = self.record_build("old", 0), self.record_build("new", 1000)
        done = self.culprit("variance", "--event", "instructions", old, new, old, "--format", "json")
        document = json.loads(done.stdout)
        self.assertEqual([], list(validator("variance").iter_errors(document)))
        rows = {row["names"]["function"]: row for row in document["rows"]}
        self.assertEqual(0, rows["steady"]["deviation"])
        self.assertGreater(rows["changed"]["deviation"], 0)
        self.assertEqual(1, document["slowest"])
        extremes = {row["names"]["function"]: row for row in document["extremes"]["rows"]}
        self.assertNotIn("steady", extremes)
        self.assertLess(extremes["changed"]["fastest"], extremes["changed"]["slowest"])
        self.assertAlmostEqual(1, sum(row["explains"] for row in document["rows"]), places=6)


# Copies between twelve pairs of buffers. Where these are in their pages is drawn for each run, by a
# generator that goes on from run to run: all at one place, which is one set of a cache, or apart.
COPIES = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { kPairs = 12, kPage = 4096, kBytes = 2 * kPage, kRoom = kBytes + kPage };
__attribute__((noinline)) void copy_all(char** from, char** to) {
  for (long at = 0; at < kBytes; at += 8)
    for (int i = 0; i < kPairs; ++i) {
      *(volatile uint64_t*)(to[i] + at) = *(volatile uint64_t*)(from[i] + at);
    }
}
int main(int argc, char** argv) {
  if (argc != 2) return 1;
  unsigned long state = 1;
  FILE* file = fopen(argv[1], "r");
  if (file) {
    if (fscanf(file, "%lu", &state) != 1) return 1;
    fclose(file);
  }
  state = state * 6364136223846793005u + 1442695040888963407u;
  file = fopen(argv[1], "w");
  fprintf(file, "%lu", state);
  fclose(file);
  const int lines = (state >> 33) % 3;   // 2, 0, 0, 0 in the first four runs
  char* all = aligned_alloc(kPage, 2 * kPairs * kRoom);
  char *from[kPairs], *to[kPairs];
  for (int i = 0; i < kPairs; ++i) {
    from[i] = all + 2 * i * kRoom + i * lines * 64;
    to[i] = from[i] + kRoom;
  }
  copy_all(from, to);
  return 0;
}
"""

# 200,000 dependent loads, one in each line of a table in an order that no prefetcher follows; and
# 200,000 branches on a bit of a generator. LINES and RANDOM are what changes.
CAUSES = """#include <stdint.h>
#include <stdlib.h>
static uint64_t (*table)[8];
volatile uint64_t sink, mask = RANDOM;
__attribute__((noinline)) void lookup(void) {
  uint64_t at = 0;
  for (int i = 0; i < 200000; ++i) at = table[at][0];
  sink = at;
}
__attribute__((noinline)) void decide(void) {
  uint64_t state = 1, bits = mask;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (state >> 63 & bits) sink = state;
  }
}
__attribute__((noinline)) void steady(void) { for (int i = 0; i < 200000; ++i) sink = i; }
int main(void) {
  table = malloc(LINES * sizeof *table);
  for (uint64_t i = 0; i < LINES; ++i) table[i][0] = (i * 5 + 1) % LINES;
  lookup(); decide(); steady();
  return 0;
}"""


class Causes(CulpritTest):
    """What was planted is the first branch of the function that has it."""

    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def record_build(self, name, *flags, engine="simulate"):
        program = self.compile_text(CAUSES, f"{name}.c", name, "-O1", "-g", *flags)
        path, _ = self.record("-q", "--engine", engine, "--windows", "all", "--machine", "zen4", "--",
                              program, output=f"{name}.culprit")
        return path

    def test_are_the_branches_that_were_planted(self):
        old = self.record_build("old", "-DLINES=128", "-DRANDOM=0")       # 8 KiB: in L1
        new = self.record_build("new", "-DLINES=65536", "-DRANDOM=1")     # 4 MiB: beyond L2
        question = ("diff", "--event", "sim:cycles", old, new)
        document = json.loads(self.culprit(*question, "--format", "json").stdout)
        self.assertEqual([], list(validator("diff").iter_errors(document)))
        causes = {row["names"]["function"]: row["cause"] for row in document["rows"]}
        first = causes["lookup"]["branches"][0]
        self.assertEqual("load_latency", first["branch"])
        loads = first["events"][0]
        self.assertLess(loads["base"], 1000)       # a part of 128 lines, at most each once
        # Each load in a line of its own; of the lines that were written last, L2 may have 16384.
        self.assertTrue(200000 - 16384 <= loads["new"] <= 200100, loads)
        instructions = causes["lookup"]["instructions"]
        self.assertEqual(instructions["base"], instructions["new"])
        first = causes["decide"]["branches"][0]
        self.assertEqual("branch_misprediction", first["branch"])
        misses = {event["label"]: event for event in first["events"]}["mispredicted branches"]
        self.assertAlmostEqual(100000, misses["new"], delta=10000)   # a coin's
        text = self.culprit(*question).stdout
        self.assertRegex(text, r"(?m)^  lookup: \+\S+ \S+ \?cycles, \+\S+ \S+ in the tree$")
        self.assertRegex(text, r"(?m)^    \+\S+ M \?  load latency")
        self.assertNotRegex(text, r"(?m)^  steady: ")    # a few cycles of its first rounds
        lines = self.culprit(*question, "--format", "csv").stdout.splitlines()
        self.assertIn("load_latency +", next(line for line in lines if line.startswith("lookup,")))
        # Of a row that varies the fastest run and the slowest tell the same.
        question = ("variance", "--event", "sim:cycles", old, new)
        document = json.loads(self.culprit(*question, "--format", "json").stdout)
        self.assertEqual([], list(validator("variance").iter_errors(document)))
        causes = {row["names"]["function"]: row["cause"] for row in document["extremes"]["rows"]}
        self.assertEqual("load_latency", causes["lookup"]["branches"][0]["branch"])
        text = self.culprit(*question).stdout
        self.assertRegex(text, r"(?m)^ *fastest +slowest +change +function$")
        self.assertRegex(text, r"(?m)^    \+\S+ M \?  load latency")

    def test_copies_between_buffers_at_random_places_vary(self):
        program = self.compile_text(COPIES, "copies.c", "copies", "-O1", "-g")
        profile = self.folder / "copies.culprit"
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "zen4", "-r", "4", "-o", profile,
                     program, self.folder / "state")
        document = json.loads(self.culprit("variance", profile, "--format", "json").stdout)
        rows = {row["names"]["function"]: row for row in document["rows"]}
        self.assertGreater(rows["copy_all"]["max"], 1.6 * rows["copy_all"]["min"])
        self.assertGreater(rows["copy_all"]["explains"], 0.6)   # the rest: the first run has no state
        causes = {row["names"]["function"]: row["cause"] for row in document["extremes"]["rows"]}
        self.assertEqual("load_latency", causes["copy_all"]["branches"][0]["branch"])

    def test_time_alone_tells_none(self):
        program = self.compile_text(CAUSES.replace("200000", "100000000"), "long.c", "long", "-O1",
                                    "-g", "-DLINES=128", "-DRANDOM=0")
        short = self.compile_text(CAUSES.replace("200000", "30000000"), "short.c", "short", "-O1",
                                  "-g", "-DLINES=128", "-DRANDOM=0")
        old, _ = self.record("-q", "--", short, output="short.culprit")
        new, _ = self.record("-q", "--", program, output="long.culprit")
        text = self.culprit("diff", old, new).stdout
        self.assertIn("cause unknown: time alone", text)

    def test_counts_without_cycles_have_no_tree(self):
        """No branch is said not to have changed, where none was modelled."""
        old, _ = self.record("--engine", "simulate", "--machine", "none", "true", output="a.culprit")
        new, _ = self.record("--engine", "simulate", "--machine", "none", "true", "x",
                             output="b.culprit")
        text = self.culprit("diff", old, new).stdout
        self.assertIn("cause unknown: no cycles were modelled", text)
        self.assertNotIn("tree of cycles", text)
        self.assertNotIn("culprit why", text)

    def test_why_of_two_compares_measured_time(self):
        profile = self.record_build("both", "-DLINES=128", "-DRANDOM=0", engine="timer+simulate")
        document = json.loads(self.culprit("why", profile, profile, "--format", "json").stdout)
        self.assertEqual([], list(validator("why_both").iter_errors(document)))
        own = json.loads(self.culprit("why", profile, "--format", "json").stdout)
        self.assertEqual(own["measured"] is not None, document["seconds_measured"])
        if own["measured"] is None:
            self.skipTest("the clock of this machine is not known")
        seconds = document["a"]["seconds"]
        cycles = own["measured"]["measured"]
        self.assertAlmostEqual(document["a"]["seconds_error"] / seconds,
                               cycles["error"] / cycles["value"])
        self.assertIn("CPU time, measured", self.culprit("why", profile, profile).stdout)


# One function that is renamed, one whose rare half is put apart by its compiler, one that is inlined
# by others, and two twins that cannot be told apart; NEW gives the other names.
RENAMED = """#include <stdint.h>
#if NEW
#define scan scan_words
#define left one
#define right two
#endif
#define TWIN(name) __attribute__((noinline)) uint64_t name(uint64_t n) { \\
  uint64_t sum = n; \\
  for (uint64_t i = 0; i < n; ++i) sum = sum * 3 + (sum >> 7) + (i ^ sum << 3) + sum / 5; \\
  return sum; }
volatile uint64_t sink;
TWIN(left)
TWIN(right)
static uint64_t weigh(uint64_t x) { return x * 0x9e3779b97f4a7c15u ^ x >> 31; }
__attribute__((noinline)) uint64_t scan(const uint64_t* from, uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) {
    if (from[i] & 1) sum += from[i] / 3; else if (from[i] & 2) sum ^= from[i] << 2; else sum -= i;
  }
  return sum;
}
__attribute__((cold, noinline)) void complain(uint64_t x) { sink = x; }
__attribute__((noinline)) uint64_t lookup(uint64_t x) {
  if (__builtin_expect(x % 1000 == 999, 0)) { sink = x; complain(x); sink = x * 7; return 5; }
  return weigh(x) + 1;
}
int main(void) {
  uint64_t words[256];
  for (uint64_t i = 0; i < 256; ++i) words[i] = i * i;
  for (uint64_t i = 0; i < 5000; ++i) sink = lookup(i);
  sink = scan(words, 256) + left(1000) + right(1000);
  return 0;
}"""


class Functions(CulpritTest):
    """Functions of two builds, by two compilers and with other flags."""

    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def record_build(self, name, compiler, *flags):
        program = self.compile_text(RENAMED, f"{name}.c", name, "-g", *flags, compiler=compiler)
        path, _ = self.record("-q", "--engine", "simulate", "--machine", "none", "--", program,
                              output=f"{name}.culprit")
        return path

    def functions(self, old, new):
        question = ("diff", "--event", "instructions", old, new)
        document = json.loads(self.culprit(*question, "--format", "json").stdout)
        self.assertEqual([], list(validator("diff").iter_errors(document)))
        return ({row["names"]["function"]: row for row in document["rows"]},
                self.culprit(*question).stdout)

    def test_a_renamed_function_is_known_by_its_shape(self):
        rows, text = self.functions(self.record_build("old", "gcc", "-O2", "-DNEW=0"),
                                    self.record_build("new", "gcc", "-O2", "-DNEW=1"))
        scan = rows["scan"]
        self.assertEqual({"base": ["scan"], "new": ["scan_words"], "matched_by": "shape"},
                         scan["functions"])
        self.assertEqual("same", scan["verdict"])
        self.assertEqual(scan["base"], scan["new"])
        self.assertIn("scan -> scan_words (by the shape of the code)", text)
        for name, verdict in (("left", "gone"), ("right", "gone"), ("one", "new"), ("two", "new")):
            self.assertEqual(verdict, rows[name]["verdict"], name)   # which is which, nobody knows
        self.assertNotIn("scan_words", rows)

    def test_the_same_build_renames_nothing(self):
        old = self.record_build("old", "gcc", "-O2", "-DNEW=0")
        rows, text = self.functions(old, old)
        self.assertEqual({"name"}, {row["functions"]["matched_by"] for row in rows.values()})
        self.assertNotIn("Matched", text)

    def test_inlined_and_split_functions_keep_their_rows(self):
        """clang -O0 makes a function of all, gcc -O2 inlines `weigh` and may put the rare half of
        `lookup` apart: which, nm says."""
        self.need("clang-19")
        rows, text = self.functions(self.record_build("old", "clang-19", "-O0", "-DNEW=0"),
                                    self.record_build("new", "gcc", "-O2", "-DNEW=0"))
        self.assertEqual((["weigh"], ["weigh (inlined)"], "name"),
                         tuple(rows["weigh"]["functions"][key] for key in ("base", "new", "matched_by")))
        self.assertIn("weigh -> weigh (inlined)", text)
        symbols = run("nm", self.folder / "new").stdout.split()
        parts = sorted(name for name in symbols if name == "lookup" or name.startswith("lookup."))
        self.assertEqual(parts, rows["lookup"]["functions"]["new"])
        self.assertGreater(len(parts), 1)


class Words(CulpritTest):
    def test_what_is_wrong_is_said(self):
        profile, _ = self.record("-q", "--", "true")
        for arguments, status, words in (
                ([], 2, "two profiles are compared"),
                ([profile], 1, "holds one run"),
                (["--base", profile], 2, "--new FILE"),
                ([profile, profile, "--fail-above", "x"], 2, "no percentage"),
                ([profile, profile, "--fail-above", "nan"], 2, "no percentage"),
                ([profile, profile, "--by", "instruction"], 1, "addresses differ"),
                ([profile, profile, "--event", "cycels"], 1, "no event 'cycels'"),
                ([profile, self.folder / "none.culprit"], 1, "none.culprit")):
            done = self.culprit("diff", *arguments, status=status)
            self.assertIn(words, done.stderr, arguments)
        done = self.culprit("variance", status=2)
        self.assertIn("culprit record -r", done.stderr)
        done = self.culprit("variance", profile, status=1)
        self.assertIn("holds one run", done.stderr)

    def test_what_cannot_be_repeated_is_said(self):
        for arguments, words in (
                (["--compare", "old"], "no name and command"),
                (["--compare", "=true"], "no name and command"),
                (["--compare", "old=true"], "--compare twice"),
                (["--compare", "a=true", "--compare", "a=false"], "are called 'a'"),
                (["--compare", "a=true", "--compare", "b=true", "--", "true"], "no program beside"),
                (["-r", "2", "-a"], "not with --all-cpus")):
            done = self.culprit("record", *arguments, status=2)
            self.assertIn(words, done.stderr, arguments)
        left = self.folder / "left.culprit"
        done = self.culprit("record", "-r", "3", "-o", left, "--", "false", status=125)
        self.assertIn("ended with status 1", done.stderr)
        self.assertFalse(left.exists())


if __name__ == "__main__":
    unittest.main()
