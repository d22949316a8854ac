"""culprit diff and culprit variance: exact counts of two builds, by hand; groups of real runs."""
import json
import unittest

from harness import BUILD, CulpritTest
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
        table = text[text.index("   old "):text.index("Next ")]
        self.assertTrue(all(len(line) <= 80 for line in table.splitlines()), text)
        lines = self.culprit("diff", "--event", "instructions", old, new, "--format",
                             "csv").stdout.splitlines()
        self.assertEqual("function,base,new,change,low95,high95,tail,verdict", lines[0])

    def test_variance_of_exact_runs(self):
        old, new = self.record_build("old", 0), self.record_build("new", 1000)
        done = self.culprit("variance", "--event", "instructions", old, new, old, "--format", "json")
        document = json.loads(done.stdout)
        self.assertEqual([], list(validator("variance").iter_errors(document)))
        rows = {row["names"]["function"]: row for row in document["rows"]}
        self.assertEqual(0, rows["steady"]["deviation"])
        self.assertGreater(rows["changed"]["deviation"], 0)
        self.assertEqual(1, document["slowest"])
        self.assertAlmostEqual(1, sum(row["explains"] for row in document["rows"]), places=6)


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
