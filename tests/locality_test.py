"""`culprit locality` of programs of whose lines everything can be worked out by hand: no figure here
depends on where anything lies, as each kernel's data begin at a large page and the caches are full of
other things before."""
import json

import jsonschema

from harness import PROGRAMS, SOURCE, CulpritTest, run

MACHINE = """
name = "analytic"
line_bytes = 64
[l1i]
size_kib = 32
ways = 8
[l1d]
size_kib = 32
ways = {ways}
[l2]
size_kib = 256
ways = 8
[l3]
size_kib = 2048
ways = 16
[prefetch]
stream = false
stride = false
"""
PROGRAM = PROGRAMS / "lines.c"
SCHEMA = SOURCE / "schema/locality.schema.json"


def line_of(comment):
    return next(number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1)
                if text.endswith("// " + comment))


class Lines(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64", "gcc")
        for ways in (1, 8):
            (self.folder / f"ways{ways}.toml").write_text(MACHINE.format(ways=ways))
        self.program = self.compile("lines.c", "lines", "-O2", "-fno-tree-vectorize", "-g", "-static",
                                    "-pthread")

    def simulate(self, *words, ways=8, options=("--detail", "events")):
        path, _ = self.record("-q", "--engine", "simulate", "--locality", "all", *options, "--machine",
                              self.folder / f"ways{ways}.toml", "--", self.program, *words,
                              timeout=280)
        return path

    def locality(self, path, *words):
        document = json.loads(self.culprit("locality", *words, "-i", path, "--format", "json").stdout)
        jsonschema.validate(document, json.loads(SCHEMA.read_text()))
        return document

    def line(self, comment, *words, **options):
        """What became of the lines of the statement with that comment."""
        part = self.locality(self.simulate(*words, **options), f"lines.c:{line_of(comment)}")["part"]
        for level in part["use"]["levels"].values():
            self.check_sums(level)
        return part

    def check_sums(self, level):
        self.assertLessEqual(level["bytes_touched"], 64 * level["lines"])
        self.assertLessEqual(level["bytes_touched"], level["bytes_accessed"])
        self.assertLessEqual(level["lines_reused"] + level["lines_never_used"], level["lines"])

    @staticmethod
    def counts(edges):
        """{line of lines.c, "itself" or a function: count}."""
        return {"itself" if edge["itself"] else edge.get("line", edge.get("function")): edge["count"]
                for edge in edges}

    @staticmethod
    def refetches(edges):
        """Lines that came again: had by the statement itself, and by what cleared the memory."""
        return tuple(sum(edge["count"] for edge in edges["refetches"] if edge["itself"] == itself)
                     for itself in (True, False))

    def test_strides(self):
        """Of each line that has any, a stride below 64 touches 8 bytes in so many places; above it,
        8 of 64 bytes, in a line of each stride. Every level sees the same: all is read once."""
        for step in (8, 32, 64, 512):
            with self.subTest(stride=step):
                part = self.line("strided load", "stride", str(step), "4096")
                accesses = 4096 * 64 // step
                lines = min(4096, accesses)
                self.assertEqual(accesses, part["use"]["accesses"])
                self.assertEqual(accesses, part["kinds"]["integer_load"]["accesses"])
                for name in ("L1D", "L2", "L3"):
                    level = part["use"]["levels"][name]
                    self.assertEqual(lines, level["lines"], name)
                    self.assertEqual(100 * 8 * max(64 // step, 1) / 64, level["spatial_percent"])
                    self.assertEqual(0, level["temporal"])
                    self.assertEqual(lines if step < 64 and name == "L1D" else 0,
                                     level["lines_reused"])
                reused = self.counts(part["edges"]["L1D"]["reused_by"])
                self.assertEqual({"itself": accesses - lines} if step < 64 else {}, reused)
                self.assertEqual((0, lines), self.refetches(part["edges"]["L1D"]))

    def test_rows_and_columns(self):
        """1000 x 1000 doubles, rows 129 lines apart: an odd number, so that a column falls on all
        sets evenly. It has 1000 lines for L1's 512: true LRU has lost each when its turn comes, and
        so each visit brings in a line of which it uses 8 bytes, and 7 of 8 visits one that was there
        before. L2 holds them until all is used. By rows each line is used up at once."""
        n, pitch = 1000, 129 * 8
        part = self.line("by columns", "columns", str(n), str(pitch))
        l1d, l2 = part["use"]["levels"]["L1D"], part["use"]["levels"]["L2"]
        self.assertEqual((n * n, 12.5, 0, 0), tuple(l1d[key] for key in (
            "lines", "spatial_percent", "temporal", "lines_reused")))
        self.assertEqual((n * n * 7 // 8, n * n // 8), self.refetches(part["edges"]["L1D"]))
        capacity = self.counts(part["edges"]["L1D"]["evicted_by_capacity"])["itself"]
        conflict = self.counts(part["edges"]["L1D"]["evicted_by_conflict"]).get("itself", 0)
        self.assertLessEqual(n * n - 512, capacity + conflict + 64)
        self.assertGreater(capacity, 0.95 * n * n)
        self.assertEqual((n * n // 8, 100, 0), tuple(l2[key] for key in (
            "lines", "spatial_percent", "temporal")))
        self.assertEqual((0, n * n // 8), self.refetches(part["edges"]["L2"]))
        self.assertEqual(n * n, part["kinds"]["float_load"]["misses"]["L1D"])
        part = self.line("by rows", "rows", str(n), str(pitch))
        l1d = part["use"]["levels"]["L1D"]
        self.assertEqual((n * n // 8, 100, 0, n * n), tuple(l1d[key] for key in (
            "lines", "spatial_percent", "temporal", "touches")))
        self.assertEqual((0, n * n // 8), self.refetches(part["edges"]["L1D"]))

    def test_columns_of_a_power_of_two_are_conflicts(self):
        """Rows 128 lines apart: a column of 1000 lines falls on one set of 64."""
        n = 1000
        part = self.line("by columns", "columns", str(n), "1024")
        conflict = self.counts(part["edges"]["L1D"]["evicted_by_conflict"])["itself"]
        self.assertEqual(n * n, part["use"]["levels"]["L1D"]["lines"])
        self.assertGreater(conflict, 0.99 * n * n)

    def test_structs_and_arrays(self):
        """Two of eight doubles of a struct that is one line: a quarter. As arrays: all of it."""
        n = 10_000
        level = self.line("of structs", "aos", str(n))["use"]["levels"]["L1D"]
        self.assertEqual((n, 25), (level["lines"], level["spatial_percent"]))
        level = self.line("of arrays", "soa", str(n))["use"]["levels"]["L1D"]
        self.assertEqual((2 * n // 8, 100), (level["lines"], level["spatial_percent"]))

    def test_two_arrays_in_one_set(self):
        """One way, and arrays as far apart as the cache is large: each load evicts the other's line,
        but where one of them was alone."""
        n = 4096
        for comment, other in (("ping", "pong"), ("pong", "ping")):
            part = self.line(comment, "pingpong", str(n), str(32 * 1024), ways=1)
            level = part["use"]["levels"]["L1D"]
            self.assertEqual((n, 12.5, 0), (level["lines"], level["spatial_percent"],
                                           level["temporal"]))
            evicted = self.counts(part["edges"]["L1D"]["evicted_by_conflict"])
            self.assertAlmostEqual(n, evicted[line_of(other)], delta=n // 8 + 1)
            self.assertEqual((n * 7 // 8, n // 8), self.refetches(part["edges"]["L1D"]))
        # With two ways nothing is lost: each line is used eight times.
        level = self.line("ping", "pingpong", str(n), str(32 * 1024))["use"]["levels"]["L1D"]
        self.assertEqual((n // 8, 100), (level["lines"], level["spatial_percent"]))

    def test_what_one_loop_hands_to_the_next(self):
        """Half of L1D: the reader finds it all there, each byte is used twice. Twice L1D: true LRU
        has lost each line when it is read, and L2 has them; so the same of L2 and L3."""
        for level, next_level, kib in (("L1D", "L2", 32), ("L2", "L3", 256), ("L3", None, 2048)):
            for factor in (0.5, 2):
                with self.subTest(level=level, factor=factor):
                    size = int(kib * 1024 * factor)
                    path = self.simulate("hand_on", str(size))
                    producer = self.locality(path, f"lines.c:{line_of('produce')}")["part"]
                    consumer = line_of("consume")
                    use, edges = producer["use"]["levels"][level], producer["edges"][level]
                    lines = size // 64
                    self.assertEqual((lines, 100), (use["lines"], use["spatial_percent"]))
                    reused = self.counts(edges["reused_by"]).get(consumer, 0)
                    refetched = self.counts(edges["refetched_by"]).get(consumer, 0)
                    # L1D is asked for each word, the others for each line that the one before lacks.
                    asked = size // 8 if level == "L1D" else lines
                    if factor < 1:
                        self.assertEqual((asked, 0, 1), (reused, refetched, use["temporal"]))
                    else:
                        self.assertEqual((0, lines, 0), (reused, refetched, use["temporal"]))

    def test_false_sharing(self):
        """Two counters in one line are taken from each other, never for the same bytes; in two lines
        never."""
        take = ("--detail", "core", "--deterministic")
        edges = self.line("count", "shared", "2000", options=take)["edges"]["L1D"]
        false = sum(edge["count"] for edge in edges["shared_other_bytes"] if edge["itself"])
        self.assertGreater(false, 10)
        self.assertNotIn("itself", self.counts(edges["shared_same_bytes"]))
        edges = self.line("count", "apart", "2000", options=take)["edges"]["L1D"]
        for kind in ("shared_same_bytes", "shared_other_bytes"):
            self.assertNotIn("itself", self.counts(edges[kind]))

    def test_a_statement_over_several_lines(self):
        """It is one row, with all that its lines have; each of them stands for it."""
        source = ("double a[1000], b[1000], c[1000];\n"             # 1
                  "int main(void) {\n"
                  "  for (int round = 0; round < 10; ++round)\n"
                  "    for (int i = 0; i < 1000; ++i)\n"
                  "      a[i] =\n"                                 # 5
                  "        b[i] *\n"
                  "        c[i];\n"
                  "  return (int)a[7];\n"
                  "}\n")
        program = self.compile_text(source, "product.c", "product", "-O1", "-g", "-static")
        path, _ = self.record("-q", "--engine", "simulate", "--locality", "all", "--detail", "events", "--machine",
                              self.folder / "ways8.toml", "--", program)
        rows = [row for row in self.locality(path)["rows"] if row.get("file", "").endswith("product.c")]
        statement = next(row for row in rows if (row["line"], row["last_line"]) == (5, 7))
        self.assertEqual(statement["use"]["accesses"], 30_000)
        lines = [row for row in self.locality(path, "--by", "line")["rows"]
                 if row.get("file", "").endswith("product.c") and 5 <= row["line"] <= 7]
        self.assertGreater(len(lines), 1, "the compiler told lines apart")
        self.assertEqual(sum(row["use"]["accesses"] for row in lines), 30_000)
        part = self.locality(path, "product.c:6")["part"]
        self.assertEqual((part["name"], part["use"]["accesses"]), ("product.c:5-7", 30_000))
        only = lines[0]["line"]
        part = self.locality(path, "--by", "line", f"product.c:{only}")["part"]
        self.assertEqual((part["name"], part["use"]["accesses"]), (f"product.c:{only}", lines[0]["use"]["accesses"]))
        self.assertIn("product.c:5-7", self.culprit("locality", "-i", path).stdout)

    def test_sums(self):
        """Parts add up to the whole, whatever they are by; edges to what their lines say."""
        path = self.simulate("columns", "300", "320")
        totals = {by: self.locality(path, "--by", by) for by in ("module", "function", "statement", "line",
                                                                 "column", "instruction")}
        for by, document in totals.items():
            self.assertEqual(document["totals"], totals["line"]["totals"], by)
            for name in ("L1D", "L2", "L3", "L1I"):
                for key in ("lines", "bytes_touched", "touches", "lines_reused"):
                    self.assertEqual(document["totals"]["levels"][name][key],
                                     sum(row["use"]["levels"][name][key] for row in document["rows"]))
            self.assertEqual(document["totals"]["accesses"],
                             sum(row["use"]["accesses"] for row in document["rows"]))
        for row in totals["function"]["rows"]:
            for level in row["use"]["levels"].values():
                self.check_sums(level)
        part = self.locality(path, "kernel_columns")["part"]
        for name in ("L1D", "L2", "L3"):
            level, edges = part["use"]["levels"][name], part["edges"][name]
            # A line is evicted once, or there at the end. L2 and L3 have lines of the function's
            # code, too, less than four: they are in the evictions alone.
            evicted = sum(edge["count"] for kind in ("capacity", "conflict")
                          for edge in edges["evicted_by_" + kind])
            code = evicted + level["lines_at_end"] - level["lines"]
            self.assertIn(code, range(1 if name == "L1D" else 4), name)
            # Each touch but a line's first is a reuse, and nothing was prefetched here.
            reused = sum(edge["count"] for edge in edges["reused_by"])
            self.assertEqual(level["touches"] - level["lines"], reused)
        lists = part["kinds"]
        self.assertEqual(part["use"]["accesses"], sum(kind["accesses"] for kind in lists.values()))
        self.assertEqual(part["use"]["levels"]["L1D"]["lines"],
                         sum(kind["levels"]["L1D"]["lines"] for kind in lists.values()))

    def check_sampled(self, comment, *words, first, likely=0.85):
        """A sample of the sets against all of them: of a statement's lines, uses and edges so many
        intervals hold; what is not estimated is equal, and edges add up to touches."""
        statement = f"lines.c:{line_of(comment)}"
        options = ("--detail", "events", "--objects", "site")
        truth = self.locality(self.simulate(*words, options=options), statement)["part"]
        inside = outside = 0
        for seed in (1, 2):
            path = self.simulate(*words, options=(*options[2:], "--sets", f"1/8,{seed},{first}"))
            document = self.locality(path, statement)
            self.assertEqual({"one_of": 8, "random_groups": 8}, document["caches"]["sampling"])
            self.assertEqual("sampled", document["cost"]["provenance"])
            part = document["part"]
            self.assertEqual(truth["use"]["accesses"], part["use"]["accesses"])
            pairs = []   # (exact, estimate, error)
            for name in ("L1D", "L2", "L3"):
                exact, level = truth["use"]["levels"][name], part["use"]["levels"][name]
                pairs += [(exact[key] or 0, level[key] or 0, level["errors"][key])
                          for key in ("lines", "spatial_percent", "temporal")]
                reused = sum(edge["count"] for edge in part["edges"][name]["reused_by"])
                self.assertEqual(level["touches"] - level["lines"], reused)
                for kind in ("reused_by", "evicted_by_capacity", "evicted_by_conflict", "refetches"):
                    exact = self.counts(truth["edges"][name][kind])
                    pairs += [(exact.get(*self.counts([edge]), 0), edge["count"], edge["error"])
                              for edge in part["edges"][name][kind]]
            for exact, estimate, error in pairs:
                if error is None:    # seen in too few sets
                    continue
                inside += abs(estimate - exact) <= error + 1e-6
                outside += abs(estimate - exact) > error + 1e-6
        self.assertGreater(inside + outside, 12)
        self.assertGreaterEqual(inside / (inside + outside), likely, (inside, outside))
        return path, part

    def test_sampled_structs(self):
        self.check_sampled("of structs", "aos", "150000", first=50000)

    def test_sampled_columns(self):
        self.check_sampled("by columns", "columns", "600", "1032", first=50000)

    def test_sampled_columns_of_a_power_of_two(self):
        """Columns are in one set of 64 each, eight in the same one: what is hot first is not later."""
        self.check_sampled("by columns", "columns", "600", "1024", first=50000)

    def test_sampled_loops_that_hand_on(self):
        path, _ = self.check_sampled("produce", "hand_on", str(4 << 20), first=100000)
        text = self.culprit("locality", f"lines.c:{line_of('produce')}", path, "--width", "80").stdout
        self.assertIn("not covered: --sets all", text)
        self.assertRegex(text, r"\d±\d")
        self.assertLessEqual(max(len(line) for line in text.splitlines()[2:]
                                if not line.startswith("Next")), 80, text)
        data = json.loads(self.culprit("data", "-i", path, "--format", "json").stdout)
        jsonschema.validate(data, json.loads((SOURCE / "schema/data.schema.json").read_text()))
        self.assertIsNotNone(data["rows"][0]["use"]["levels"]["L1D"]["errors"]["spatial_percent"])
        self.assertIn("±", self.culprit("data", path).stdout)

    def test_a_sample_of_what_ends_before_it_begins_is_exact(self):
        """Without prefetchers, as --sets all is on a machine that has none."""
        exact, sampled = (self.locality(self.simulate("rows", "100", "1032", options=options))
                          for options in (("--detail", "events"), ("--sets", "1/16")))
        self.assertEqual(exact["totals"]["levels"], sampled["totals"]["levels"])
        self.assertEqual(exact["totals"]["misses"], sampled["totals"]["misses"])
        self.assertIsNone(sampled["caches"]["sampling"])
        self.assertIn("all cache sets were simulated", str(sampled["ledger"]))

    def test_text_csv_and_bad_questions(self):
        path = self.simulate("columns", "300", "320")
        text = self.culprit("locality", path, "--width", "80").stdout
        self.assertLessEqual(max(len(line) for line in text.splitlines()[2:]
                                if not line.startswith("Next")), 80, text)
        self.assertIn(f"lines.c:{line_of('by columns')}", text)
        text = self.culprit("locality", "kernel_columns", path, "--width", "80").stdout
        for words in ("reused by", "refetched", "nobody"):
            self.assertIn(words, text)
        text = self.culprit("annotate", "kernel_columns", path, "--columns", "locality").stdout
        self.assertRegex(text, r"100.0 %   12.5 %     0.00 .*sd ")
        self.culprit("annotate", "kernel_columns", path, "--columns", "locality", "--format", "json",
                     status=2)
        rows = self.culprit("locality", path, "--format", "csv").stdout.splitlines()
        self.assertIn("L1D lines", rows[0])
        self.assertEqual({len(rows[0].split(","))}, {len(row.split(",")) for row in rows[1:4]})
        wrong = self.culprit("locality", "kernel_colunms", path, status=1).stderr
        self.assertIn("did you mean kernel_columns", wrong)
        line = line_of("by columns")
        text = self.culprit("locality", f"lines.c:{line - 1}-{line + 1}", path).stdout
        self.assertIn(f"lines.c:{line}", text)
        wrong = self.culprit("locality", f"lines.c:{line + 1}-{line - 1}", path, status=1).stderr
        self.assertIn("no code", wrong)
        wrong = self.culprit("locality", "nowhere.c:5", path, status=1).stderr
        self.assertIn("nowhere.c", wrong)
        self.culprit("locality", "--by", "words", path, status=2)

    def test_advice(self):
        """Programs of bench/locality_advice.py: a piece of the kind that the program was made for names
        its lines. Where L2 has the lines of a column in 14 cycles, loads that do not wait for each
        other hide them: its repair pays where several passes need them. Takes seconds: whole programs."""
        for name, kind, rounds, machine in (("column_sums", "swap_loops", 4, "zen4"),
                                            ("two_passes", "fuse_loops", 1,
                                             self.folder / "ways8.toml")):
            source = SOURCE / "bench/locality_pairs" / f"{name}.c"
            run("gcc", "-O2", "-g", "-DPOINTS=40000", f"-DROUNDS={rounds}", "-o", self.folder / name, source)
            path, _ = self.record("-q", "--engine", "simulate", "--locality", "all", "--machine",
                                  machine, "--", self.folder / name, timeout=280)
            advice = self.locality(path)["advice"]
            marked = {f"{name}.c:{number}" for number, text in enumerate(
                source.read_text().splitlines(), 1) if text.endswith("// here")}
            pieces = [one for one in advice if one["kind"] == kind]
            self.assertTrue(pieces, [one["title"] for one in advice])
            self.assertLessEqual(set(pieces[0]["lines"]), marked)
            self.assertGreater(pieces[0]["share"], 0.05)
            text = self.culprit("locality", path, "--width", "80").stdout
            self.assertLessEqual(max(len(line) for line in text.splitlines()[2:]
                                     if not line.startswith("Next")), 80, text)

    def test_profile_without_locality(self):
        path, _ = self.record("-q", "--engine", "simulate", "--detail", "events", "--", self.program,
                              "stride", "64", "100")
        wrong = self.culprit("locality", path, status=1).stderr
        self.assertIn("--locality all", wrong)
        wrong = self.culprit("data", path, status=1).stderr
        self.assertIn("culprit record --locality all PROGRAM", wrong)

    def test_implies_data_objects_and_measured_time(self):
        path, _ = self.record("-q", "--locality", "l1", "--machine", "small-core", "--", self.program,
                              "stride", "64", "100")
        rows = json.loads(self.culprit("data", path, "--format", "json").stdout)["rows"]
        self.assertTrue(any(row["name"].startswith("at: pages") for row in rows), rows)
        names = {event["name"] for event in
                 json.loads(self.culprit("report", path, "--format", "json").stdout)["events"]}
        self.assertLessEqual({"cpu-clock", "instructions"}, names)
        path, _ = self.record("-q", "--engine", "simulate", "--locality", "l1", "--objects", "none",
                              "--machine", "small-core", "--", self.program, "stride", "64", "100")
        self.assertIn("no data objects", self.culprit("data", path, status=1).stderr)
