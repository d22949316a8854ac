"""String instructions that repeat, under the software PMU: memory, registers and faults are what
they are natively, counts are those of every round, and time is that of lines."""
from harness import CulpritTest, run

MACHINE = """
name = "strings"
[l1d]
size_kib = 64
[prefetch]
stream = false
stride = false
[strings]
copy_start_cycles = 100
fill_start_cycles = 40
copy_bytes_per_cycle = 15
fill_bytes_per_cycle = 30
round_cycles = 3
"""
KIB = 1024


class Strings(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64", "gcc")
        (self.folder / "strings.toml").write_text(MACHINE)
        self.program = self.compile("strings.c", "strings", "-O2", "-g", "-static", compiler="gcc")

    def simulate(self, kind, size, rounds, *options):
        """Output, and {event: count} of the kernels."""
        if "--machine" not in options:
            options += ("--machine", self.folder / "strings.toml")
        profile, ran = self.record("-q", "--engine", "simulate", *options, "--", self.program,
                                   kind, str(size), str(rounds), timeout=120)
        total = {}
        for row in self.report(profile, "--by", "function", "--limit", "0")["rows"]:
            if row["function"].startswith("kernel_"):
                for name, cell in row["values"].items():
                    total[name] = total.get(name, 0) + cell["value"]
        return ran.stdout, total

    def native(self, kind, size, rounds):
        return run(self.program, kind, str(size), str(rounds)).stdout

    def test_memory_is_what_it_is_natively(self):
        for kind in ("copy", "words", "fill", "back", "near", "far", "down"):
            for size in (1, 63, 5000, 40 * KIB + 8):
                with self.subTest(kind=kind, size=size):
                    output, _ = self.simulate(kind, size, 2, "--machine", "none")
                    self.assertEqual(output, self.native(kind, size, 2))

    def test_a_fault_comes_where_it_does_natively(self):
        output, _ = self.simulate("fault", 40 * KIB, 1)
        self.assertEqual(output, self.native("fault", 40 * KIB, 1))
        # 5 bytes behind the start of a page, up to the page that must not be written.
        self.assertEqual(output.split()[:4], [str(20 * KIB), str(20 * KIB), str(20 * KIB - 5),
                                              str(40 * KIB - (20 * KIB - 5))])

    def test_signals_in_the_middle(self):
        output, _ = self.simulate("ticks", 300 * KIB, 20)
        self.assertEqual(output, self.native("ticks", 300 * KIB, 20))

    def test_every_round_counts(self):
        size, rounds = 10_000, 3
        for options in ((), ("--objects", "site"), ("--locality", "all"), ("--deterministic",),
                        ("--detail", "events"), ("--machine", "none")):
            with self.subTest(options=options):
                _, counts = self.simulate("copy", size, rounds, *options)
                self.assertEqual(counts["L1-dcache-loads"], size * rounds + rounds)  # and ret
                self.assertEqual(counts["load-bytes"], size * rounds + 8 * rounds)
                self.assertEqual(counts["store-bytes"], size * rounds)

    def cycles(self, kind, size, event="sim:microcode-cycles"):
        """Per round, once caches have seen all: of two lengths the difference."""
        few, many = (self.simulate(kind, size, rounds)[1] for rounds in (10, 30))
        return (many[event] - few[event]) / 20

    def test_time_is_that_of_lines(self):
        """By hand: a start, then so many bytes a cycle; a round alone has its own. (Bytes take
        whole ticks: 56, and 28.)"""
        self.assertAlmostEqual(self.cycles("copy", 2048), 100 + 2048 / 15, places=6)
        self.assertAlmostEqual(self.cycles("words", 2048), 100 + 2048 / 15, places=6)
        self.assertAlmostEqual(self.cycles("fill", 2048), 40 + 2048 / 30, places=6)
        # And the direction flag, which is set and cleared.
        self.assertAlmostEqual(self.cycles("back", 2048), 100 + 1 / 15 + 3 * 2047, delta=2)
        self.assertAlmostEqual(self.cycles("near", 2048), 100 + 1 / 15 + 3 * 2047, places=6)
        self.assertAlmostEqual(self.cycles("down", 2048), 100 + 2048 / 15, places=6)

    def test_most_time_of_a_copy_is_its_microcode(self):
        """In L1D nothing else takes time but a call and a return."""
        self.assertLess(self.cycles("copy", 8192, "sim:cycles"), 100 + 8192 / 15 + 20)
