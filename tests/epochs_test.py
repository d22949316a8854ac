"""Questions about a database of epochs that bench/day_of_epochs made: many epochs, no daemon."""
import json
import os
import pty
import subprocess
import unittest

import harness

MAKER = harness.BUILD / "day_of_epochs"


class Epochs(harness.CulpritTest):
    """18 epochs of ten minutes that end now, of a program with known functions."""

    def setUp(self):
        super().setUp()
        if not MAKER.exists():
            self.skipTest("day_of_epochs is not built")
        functions = "\n".join(f"__attribute__((noinline)) double work_{i}(double x) {{\n"
                              + "  x = x * 1.5 + 2;\n" * 40 + "  return x; }" for i in range(20))
        calls = " + ".join(f"work_{i}(x)" for i in range(20))
        self.program = self.compile_text(
            functions + f"\nint main(int argc, char** argv) {{ double x = argc; return (int)({calls}); }}",
            "day.c", "day", "-O1", "-g")
        self.database = self.folder / "db"
        harness.run(MAKER, self.database, 18, 2000, self.program)

    def ask(self, command, *options, **settings):
        return self.culprit(command, "--db", self.database, *options, **settings)

    def test_a_report_is_the_sum_of_its_epochs(self):
        def samples(*options):
            report = json.loads(self.ask("report", "--by", "function", "--format", "json",
                                         *options).stdout)
            event = report["events"][0]["name"]
            return {row["function"]: row["values"][event]["samples"] for row in report["rows"]}
        whole = samples()
        self.assertTrue(any(name.startswith("work_") for name in whole))
        parts = {}
        names = sorted(path.name for path in (self.database / "epochs").iterdir())
        self.assertEqual(len(names), 18)
        for name in names:
            for function, count in samples("--epoch", name).items():
                parts[function] = parts.get(function, 0) + count
        self.assertEqual(whole, parts)

    def test_an_epoch_by_its_path_has_the_names_of_its_database(self):
        path = sorted((self.database / "epochs").iterdir())[3]
        chosen = json.loads(self.ask("report", "--epoch", path.name, "--format", "json").stdout)
        by_path = json.loads(self.culprit("report", "-i", path, "--format", "json").stdout)
        self.assertEqual(chosen["rows"], by_path["rows"])
        self.assertTrue(any(row["function"].startswith("work_") for row in by_path["rows"]))
        self.assertIn("work_", self.culprit("annotate", "work_0", path).stdout)
        other = path.with_name(sorted(self.database.glob("epochs/*"))[4].name)
        compared = json.loads(self.culprit("diff", path, other, "--format", "json").stdout)
        self.assertTrue(any(row["names"]["function"].startswith("work_") for row in compared["rows"]))
        alone = self.folder / path.name
        alone.write_bytes(path.read_bytes())
        self.culprit("report", alone)

    def test_who_compares_epochs_by_path_sees_what_is_looked_up(self):
        first, second = sorted((self.database / "epochs").iterdir())[:2]
        ours, theirs = pty.openpty()
        done = subprocess.run([harness.CULPRIT, "diff", first, second], stdout=subprocess.DEVNULL,
                              stderr=theirs, cwd=self.folder)
        os.close(theirs)
        seen = os.read(ours, 100_000).decode()
        os.close(ours)
        self.assertEqual(0, done.returncode, seen)
        self.assertIn("symbols of 1 of 1 images", seen)

    def test_instructions_of_a_binary(self):
        done = self.culprit("top-instructions", "day", "--db", self.database, "--format", "json",
                            "--limit", 0)
        report = json.loads(done.stdout)
        event = report["events"][0]
        rows = report["rows"]
        self.assertEqual(sum(row["values"][event["name"]]["value"] for row in rows), event["total"])
        counts = [row["values"][event["name"]]["samples"] for row in rows]
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertTrue(all(row["address"] for row in rows))
        # The hottest place is the first of Zipf's law: 1 + 1000 / k samples at k = 1 each time.
        self.assertGreater(counts[0], 1000)
        nothing = self.culprit("top-instructions", "other", "--db", self.database, "--format", "json")
        self.assertEqual(json.loads(nothing.stdout)["rows"], [])

    def test_other_questions(self):
        self.assertIn("work_", self.ask("annotate", "work_*", "--since", "2h").stdout)
        self.assertIn("unhalted cycles", self.ask("why", "--since", "24h").stdout)
        self.assertIn("no branch records", self.culprit(
            "export", "--to", "autofdo", "--db", self.database, "--since", "24h", status=1).stderr)
        self.assertIn("work_", self.culprit("export", "--to", "collapsed", "--db", self.database).stdout)

    def test_epochs_are_compared_before_and_after(self):
        # The same law before and after: nothing has changed.
        done = self.ask("diff", "--since", "175m", "--to", "85m", "--by", "comm", "--format", "json")
        difference = json.loads(done.stdout)
        self.assertEqual(len(difference["base"]), 10)   # those that begin before that moment
        self.assertEqual(len(difference["new"]), 8)
        text = self.ask("diff", "--since", "175m", "--to", "85m", "--by", "comm").stdout
        self.assertRegex(text, r"old +\S+-1\.culprit")
        none = self.ask("diff", "--since", "175m", "--to", "5h", status=1)
        self.assertIn("nothing to", none.stderr)
        for words, said in ((["--since", "3h"], "--to says where"), (["--to", "1h", "a", "b"], "either")):
            self.assertIn(said, self.ask("diff", *words, status=2).stderr)

    def test_each_epoch_is_a_run_that_may_vary(self):
        text = self.ask("variance", "--since", "24h", "--by", "comm").stdout
        self.assertIn("18 runs", text)
        self.assertIn("command0", text)
        self.assertIn("fewer than two", self.ask("variance", "--since", "5m", status=1).stderr)
        self.assertIn("either", self.ask("variance", "a", "b", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
