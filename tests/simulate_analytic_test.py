"""Programs whose hits, misses and mispredictions follow from the geometry, run whole under the
software PMU, of both architectures."""
import collections
import json
import re

from harness import CulpritTest, run
from profile_segments import EDGE_KINDS, LEVELS, read_rows

MACHINE = """
name = "analytic"
line_bytes = 64
[l1i]
size_kib = 32
ways = 8
[l1d]
size_kib = 32
ways = 8
[l2]
size_kib = 256
ways = 8
[l3]
size_kib = 2048
ways = 16
[prefetch]
stream = false
stride = false
[branch]
return_stack = 32
"""
# One level, as in the paper on data-structure profiling.
PAPERS_MACHINE = """
name = "paper"
line_bytes = 128
[l1i]
size_kib = 32
ways = 8
[l1d]
size_kib = 3072
ways = 12
[l2]
size_kib = 0
[l3]
size_kib = 0
[prefetch]
stream = false
stride = false
"""
# What L2 does not have comes from memory. Of 64-byte lines L2 has 512 sets of 8.
EVICT_MACHINE = """
name = "evict"
[l1i]
size_kib = 32
ways = 8
[l1d]
size_kib = 32
ways = 8
[l2]
size_kib = 256
ways = 8
latency_cycles = 14
[l3]
size_kib = 0
[prefetch]
stream = false
stride = false
[core]
reorder_buffer = 192
[memory]
latency_cycles = 200
"""


class Analytic(CulpritTest):
    compiler = "gcc"

    def setUp(self):
        super().setUp()
        self.need(*self.programs)
        (self.folder / "analytic.toml").write_text(MACHINE)
        self.program = self.compile("analytic.c", "analytic", "-O2", "-g", "-static", "-pthread",
                                    compiler=self.compiler)

    def run_kernel(self, *words, machine="analytic.toml"):
        path, _ = self.record("-q", "--engine", "simulate", "--detail", "events", "--machine",
                              self.folder / machine, "--", self.program, *words, timeout=280)
        return path

    def kernel(self, *words, machine="analytic.toml"):
        """{event: count} of the kernel_... functions."""
        report = self.report(self.run_kernel(*words, machine=machine), "--by", "function")
        total = {}
        for row in report["rows"]:
            if row["function"].startswith("kernel_"):
                for name, cell in row["values"].items():
                    total[name] = total.get(name, 0) + cell["value"]
        return total

    def per_round(self, lines, step):
        """Misses of L1, L2, L3 per visit, once the caches have seen the circle: of two lengths the
        difference."""
        misses = []
        for rounds in ("0002", "0004"):
            counts = self.kernel("chase", str(lines), str(step), rounds)
            misses.append([counts.get(name, 0) for name in
                           ("L1-dcache-load-misses", "LLC-loads", "LLC-load-misses")])
        return [(after - before) / (2 * lines) for before, after in zip(*misses)]


class Shared:
    """The cases, for each architecture."""

    def test_circles_of_half_once_and_twice_each_level(self):
        """A circle that fits is hit, one that does not is missed at every visit (true LRU)."""
        for level, kib in enumerate((32, 256, 2048)):
            for factor, missed in ((0.5, 0), (1, 0), (2, 1)):
                lines = int(kib * 1024 * factor) // 64
                with self.subTest(level=level + 1, factor=factor):
                    found = self.per_round(lines, 64)
                    self.assertEqual(found[level], missed, found)
                    self.assertEqual(found[:level], [1] * level, found)

    def test_strides_of_all_sets_hold_as_many_lines_as_ways(self):
        """L1: 64 sets x 64 bytes; 8 ways."""
        self.assertEqual(self.per_round(8, 4096)[0], 0)
        self.assertEqual(self.per_round(9, 4096)[0], 1)

    def test_branches(self):
        rounds = 400_000
        misses = {kind: self.kernel("branch", kind, str(rounds))["branch-misses"] / rounds
                  for kind in ("random", "biased", "periodic")}
        self.assertAlmostEqual(misses["random"], 0.5, delta=0.02)
        self.assertLess(misses["biased"], 1 / 16 * 1.3)
        self.assertGreater(misses["biased"], 1 / 16 * 0.9)
        self.assertLess(misses["periodic"], 0.001)

    def test_returns_beyond_the_stack(self):
        """Of 101 returns the 32 latest calls are known; the rest are mispredicted, but for those
        to the one place that the indirect predictor or the stack's stale entries give back."""
        shallow = self.kernel("descend", "20", "2000")["branch-misses"] / 2000
        deep = self.kernel("descend", "100", "2000")["branch-misses"] / 2000
        self.assertLess(shallow, 0.1)
        self.assertLessEqual(deep, 101 - 32 + 1)

    def test_products(self):
        """n = 192: by columns each visit of b misses L1 (a column is 192 lines, 24 lines apart: they
        fall on 8 of 64 sets, 24 a set for 8 ways), and so do the 3 of 24 lines of a's row that
        lie in these sets, each time; a and c once more for each of their lines. By rows all is
        read in order: b once per i, an eighth of the visits, as 288 KiB do not fit."""
        n = 192
        columns = self.kernel("product", str(n), "columns")["L1-dcache-load-misses"]
        self.assertAlmostEqual(columns / n ** 3, 1 + 3 / n + 2 / 8 / n, delta=1e-3)
        rows = self.kernel("product", str(n), "rows")["L1-dcache-load-misses"]
        self.assertAlmostEqual(rows / n ** 3, 1 / 8, delta=0.01)


class Evict:
    """Case 4 of papers/hierarchical-cycle-accounting: code and data that each fit L2 (256 KiB) and
    together do not. Both are 192 KiB, 3072 lines, six in each of L2's sets, and far more than L1
    holds, so that each line is looked up in L2 once a round."""
    LINES = 3072

    def record_evict(self, which, rounds):
        (self.folder / "evict.toml").write_text(EVICT_MACHINE)
        path, _ = self.record("-q", "--engine", "simulate", "--locality", "all", "--machine",
                              self.folder / "evict.toml", "--", self.evict_program(), which,
                              str(rounds), output=f"{which}{rounds}.culprit", timeout=280)
        return path

    def evict_program(self):
        program = self.folder / "evict"
        if not program.exists():
            self.compile("evict.c", "evict", "-O2", "-g", "-static", compiler=self.compiler)
        return program

    def misses_of_l2(self, which):
        """{function: (fetches, loads)} per round: of two lengths the difference."""
        found = collections.defaultdict(lambda: [0, 0])
        for rounds, sign in ((8, 1), (4, -1)):
            for row in self.report(self.record_evict(which, rounds), "--by", "function")["rows"]:
                for column, event in enumerate(("LLC-code-misses", "LLC-load-misses")):
                    cell = row["values"].get(event, {"value": 0})
                    found[row["function"]][column] += sign * cell["value"] / 4
        return found

    def function_of(self):
        """A file offset's function: kernel_code, kernel_data or another."""
        program = self.evict_program()
        text = re.search(r" \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ",
                         run("readelf", "-SW", program).stdout)
        bias = int(text[1], 16) - int(text[2], 16)
        symbols = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \w (kernel_\w+)$",
                             run("nm", "-S", program).stdout, re.M)
        ranges = [(int(start, 16) - bias, int(size, 16), name) for start, size, name in symbols]
        self.assertEqual(2, len(ranges))
        return lambda offset: next((name for start, size, name in ranges
                                    if 0 <= offset - start < size), "other")

    def test_code_or_data_alone_stay_in_l2(self):
        """Six lines a set, of eight: after the first round neither misses L2, though each line
        misses L1 every round. Where the stack and the lines of main lie depends on the environment
        and the program's path: three of them in one set are too many, and only they miss there."""
        for which in ("code", "data"):
            misses = self.misses_of_l2(which)
            self.assertEqual([0, 0], misses.pop(f"kernel_{which}"), which)
            self.assertLess(sum(sum(others) for others in misses.values()), 2, (which, misses))

    def test_together_each_line_misses_l2(self):
        """Twelve lines take turns in sets of eight: true LRU has none when its turn comes. One line
        more of code is the return behind the last full one; one load more is x86's return."""
        misses = self.misses_of_l2("both")
        self.assertEqual([self.LINES + 1, 0], misses["kernel_code"])
        self.assertEqual(0, misses["kernel_data"][0])
        self.assertAlmostEqual(self.LINES, misses["kernel_data"][1], delta=1)

    def test_edges_say_who_evicts_whom(self):
        """In a set the lines come as c1 .. c6 d1 .. d6, and each pushes out the one eight before it,
        which is four after it in the next round: c1 and c2 push out c5 and c6 (of code); c3 .. c6
        d1 .. d4; d1 and d2 d5 and d6; d3 .. d6 c1 .. c4. A third of each kind's evictions is by
        itself, two thirds are by the other. A set with one of the few lines of others (main, the
        stack, the returns) shifts them by one: there are less than ten, two evictions each."""
        self.need("zstd")
        function_of = self.function_of()
        evictions, kinds = collections.Counter(), collections.Counter()
        for rounds, sign in ((8, 1), (4, -1)):
            for edge in read_rows(self.record_evict("both", rounds), "edges"):
                kind = EDGE_KINDS[edge["kind"]]
                if LEVELS[edge["level"]] != "l2" or kind not in ("conflict", "capacity"):
                    continue
                pair = function_of(edge["from_offset"]), function_of(edge["to_offset"])
                evictions[pair] += sign * edge["count"] / 4
                kinds[kind] += sign * edge["count"] / 4
        code, data = "kernel_code", "kernel_data"
        for pair, share in (((code, code), 1 / 3), ((code, data), 2 / 3), ((data, data), 1 / 3),
                            ((data, code), 2 / 3)):
            self.assertAlmostEqual(share * self.LINES, evictions[pair], delta=20, msg=evictions)
        # As many come as go, and a cache of any ways of this size would lose them, too.
        self.assertAlmostEqual(2 * self.LINES, sum(evictions.values()), delta=10)
        self.assertGreater(kinds["capacity"], 0.99 * 2 * self.LINES)

    def test_why_names_starvation_and_load_latency(self):
        """A line of code that comes from memory (200 cycles) has work for some 4: at the least 180
        each are starvation. A load waits for the one before it: of its 200 cycles 4 are L1's, and
        not stalled; what dispatches while the reorder buffer is not full (192 uops, once a round)
        is less than 10 a load. From L2 (14 cycles) both are below 14."""
        def stalled(which):
            found = collections.Counter()
            for rounds, sign in ((8, 1), (4, -1)):
                document = json.loads(self.culprit(
                    "why", "--in", "kernel_*", "--format", "json",
                    self.record_evict(which, rounds)).stdout)
                level = next(part for part in document["tree"]["parts"]
                             if part["branch"] == "stalled")
                for branch in level["parts"]:
                    if branch["kind"] == "branch" and branch["cycles"]:
                        found[branch["branch"]] += sign * branch["cycles"]["value"] / 4 / self.LINES
            return found, document["advice"]
        for which in ("code", "data"):
            cycles, _ = stalled(which)
            self.assertLess(cycles["instruction_starvation"] + cycles["load_latency"], 14, which)
        cycles, advice = stalled("both")
        for branch in ("instruction_starvation", "load_latency"):
            self.assertGreater(cycles[branch], 180, branch)
            self.assertLess(cycles[branch], 201, branch)
        self.assertLess(sum(cycles.values()), 2 * 201)
        self.assertEqual({("instruction_starvation", "kernel_code"), ("load_latency", "kernel_data")},
                         {(one["branch"], one["function"]) for one in advice[:2]})


class X86(Analytic, Shared, Evict):
    programs = ("qemu-x86_64", "gcc")

    def test_papers_matrix_vector_product(self):
        """12000 x 12000 on four threads: 36,000,000 loads of the matrix each, a miss for each 16
        of them; the vector (94 KiB) stays. Shown as 2,250,582 to 2,250,741 misses a thread there."""
        (self.folder / "paper.toml").write_text(PAPERS_MACHINE)
        path = self.run_kernel("matvec", "12000", machine="paper.toml")
        loads = [row["values"] for row in self.report(path, "--by", "function", "--by",
                                                      "instruction")["rows"]
                 if row["function"] == "kernel_matvec"]
        streams = [values for values in loads
                   if values.get("L1-dcache-loads", {}).get("value", 0) == 4 * 36_000_000]
        misses = sorted(values["L1-dcache-load-misses"]["value"] for values in streams)
        self.assertEqual(len(streams), 2)  # the matrix, the vector
        self.assertLess(misses[0], 4 * 1000)
        self.assertAlmostEqual(misses[1] / (4 * 2_250_000), 1, delta=0.001)


class Arm(Analytic, Shared, Evict):
    programs = ("qemu-aarch64", "aarch64-linux-gnu-gcc")
    compiler = "aarch64-linux-gnu-gcc"
