"""Reports against programs whose shares of time are known (tests/programs/shares.c)."""
import json
import re

from harness import CulpritTest, run, runs_alone

TRUTH = {"alpha": 0.50, "beta": 0.30, "gamma": 0.20}
POINTS = 0.015      # the bound, with at least 10,000 samples


class KnownShares(CulpritTest):
    def build(self, *flags):
        self.compile("shares_part.c", "libshares_part.so", "-O2", "-g", "-shared", "-fPIC",
                     "-DNAME=library_gamma")
        self.compile("shares_part.c", "libshares_plugin.so", "-O2", "-g", "-shared", "-fPIC",
                     "-DNAME=plugin_gamma")
        return self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-Wl,--no-as-needed",
                            self.folder / "libshares_part.so", f"-Wl,-rpath,{self.folder}",
                            "-ldl", *flags)

    def check(self, gamma, *mode, threads=2, seconds=3.0, key="function"):
        """Records a run at 4,999 Hz and holds the shares of its three parts against what the
        program measured. What samples and other interrupts take in the kernel is in no part."""
        program = self.build()
        profile, done = self.record("-F", "4999", "--", program, seconds, threads, *mode)
        truth = json.loads(done.stdout)
        whole = sum(truth.values())
        report = self.report(profile)
        self.assertGreaterEqual(report["events"][0]["samples"], 10_000)
        shares = self.shares(report)
        symbols = {"alpha": "alpha", "beta": "beta", "gamma": gamma}
        in_parts = sum(shares.get(symbol, 0) for symbol in symbols.values())
        self.assertGreater(in_parts, 0.85)
        for name, symbol in symbols.items():
            with self.subTest(part=name):
                self.assertAlmostEqual(truth[name] / whole, TRUTH[name], delta=0.002)
                self.assertAlmostEqual(shares.get(symbol, 0) / in_parts, truth[name] / whole,
                                       delta=POINTS)
        return profile, report

    @runs_alone("how two threads share the CPUs")
    def test_functions_on_two_threads(self):
        profile, _ = self.check("gamma_outline")
        by_thread = self.report(profile, "--by", "thread,function")
        threads = {}
        for row in by_thread["rows"]:
            if row["function"] == "alpha":
                threads[row["thread_id"]] = row["values"]["cpu-clock"]["value"]
        self.assertEqual(len(threads), 2)
        low, high = sorted(threads.values())
        self.assertGreater(low / high, 0.95)

    def test_inlined_helper_is_told_apart_from_its_caller(self):
        _, report = self.check("gamma_inlined", "inlined")
        rows = [row for row in report["rows"] if row["function"] == "gamma_inlined"]
        self.assertTrue(rows and all(row["inlined"] for row in rows))
        self.assertLess(self.shares(report).get("holder", 0), POINTS)

    def test_shared_library(self):
        profile, _ = self.check("library_gamma", "library")
        modules = self.module_shares(profile)
        self.assertAlmostEqual(modules["libshares_part.so"], TRUTH["gamma"], delta=POINTS)

    def test_plugin_opened_later(self):
        profile, _ = self.check("plugin_gamma", "plugin", "./libshares_plugin.so")
        modules = self.module_shares(profile)
        self.assertAlmostEqual(modules["libshares_plugin.so"], TRUTH["gamma"], delta=POINTS)

    def test_child_process(self):
        profile, _ = self.check("gamma_outline", "child")
        processes = self.shares(self.report(profile, "--by", "process"), "process_id")
        self.assertEqual(len([share for share in processes.values() if share > 0.1]), 2)

    def test_code_made_at_run_time(self):
        profile, _ = self.check("jit_gamma", "jit")
        modules = self.module_shares(profile)
        self.assertAlmostEqual(modules["[jit]"], TRUTH["gamma"], delta=POINTS)


class Sums(CulpritTest):
    def test_parts_add_up_to_the_whole_at_every_level(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread")
        profile, _ = self.record("-F", "4999", "--", program, 1, 2)
        levels = ["process", "thread", "module", "function", "line", "block", "instruction"]
        for level in levels + [",".join(levels)]:
            with self.subTest(by=level):
                report = self.report(profile, "--by", level)
                event = report["events"][0]
                cells = [row["values"][event["name"]] for row in report["rows"]]
                self.assertEqual(sum(cell["samples"] for cell in cells), event["samples"])
                self.assertEqual(sum(cell["value"] for cell in cells), event["total"])

    def test_instruction_and_inlined_rows_are_marked_as_subject_to_skid(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread")
        profile, _ = self.record("-F", "4999", "--", program, 1, 2, "inlined")
        text = self.culprit("report", profile, "--by", "instruction").stdout
        self.assertIn("skid", text.lower())
        rows = self.report(profile, "--by", "instruction")["rows"]
        self.assertTrue(all(row.get("skid", False) for row in rows))
        rows = self.report(profile, "--by", "function")["rows"]
        marks = {row["function"]: row.get("skid", False) for row in rows}
        self.assertTrue(marks["gamma_inlined"])
        self.assertFalse(marks["alpha"])


class Intervals(CulpritTest):
    RUNS = 40

    @runs_alone("the errors of shares of time")
    def test_95_percent_intervals_cover_the_truth(self):
        """88 to 100 % of printed intervals over 40 runs hold the program's own measure."""
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread")
        covered = asked = 0
        for _ in range(self.RUNS):
            profile, done = self.record("--no-symbols", "-q", "--", program, 0.4, 2)
            truth = json.loads(done.stdout)
            whole = sum(truth.values())
            self.culprit("symbolize", profile)
            text = self.culprit("report", profile).stdout
            for name, symbol in (("alpha", "alpha"), ("beta", "beta"), ("gamma", "gamma_outline")):
                #  ~cycles  ~share   +-  function
                row = re.search(rf"([0-9.]+) %\s+([0-9.]+)\s.*\b{symbol}\b", text)
                self.assertIsNotNone(row, text)
                share, half_width = float(row[1]), float(row[2])
                asked += 1
                covered += abs(share - 100 * truth[name] / whole) <= half_width
        print(f"{covered} of {asked} intervals cover the truth")
        self.assertGreaterEqual(covered / asked, 0.88)
