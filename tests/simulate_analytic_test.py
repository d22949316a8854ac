"""Programs whose hits, misses and mispredictions follow from the geometry, run whole under the
software PMU, of both architectures."""
from harness import CulpritTest

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


class X86(Analytic, Shared):
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


class Arm(Analytic, Shared):
    programs = ("qemu-aarch64", "aarch64-linux-gnu-gcc")
    compiler = "aarch64-linux-gnu-gcc"
