"""culprit scan search: the setup that is found is known, because the kernel's own text decides what
each value of a factor costs."""
import json
import unittest

import jsonschema

from harness import SOURCE, CulpritTest, runs_alone

SCHEMA = jsonschema.Draft7Validator(json.loads((SOURCE / "schema/scan_search.schema.json").read_text()))

# A chain of DEPTH * 10 additions for each iteration. SHORT takes half of it away, SHORTER three
# quarters of it, but only together with SHORT; OTHER prints something else; NOTHING is not used.
KERNEL = """#include <cstdio>
#include <cstdlib>
#if defined(SHORT) && defined(SHORTER)
#define LINKS 25
#elif defined(SHORT)
#define LINKS 50
#else
#define LINKS 100
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  unsigned char kept[1] = {1};
  for (long n = 0; n < runs; ++n) {
    asm volatile(".rept " TEXT(LINKS) "\\n\\timulq $3, %%rax, %%rax\\n\\t.endr"
                 : "+m"(kept) : : "rax", "cc");
    kept[0] = static_cast<unsigned char>(kept[0] ^ n);
  }
#ifdef OTHER
  std::puts("other");
#else
  std::puts("one");
#endif
}
"""

PLAN = """[scan]
program = ["kernel with blanks.cc"]
build = "g++ -O1 {flags} {program} -o {out}"
run = "{out} {runs}"
[search]
short = ["", "-DSHORT"]
shorter = ["", "-DSHORTER"]
other = ["", "-DOTHER -DSHORT"]
nothing = ["", "-DNOTHING"]
broken = ["", "-fno-such-flag"]
"""


class Search(CulpritTest):
    def setUp(self):
        super().setUp()
        (self.folder / "kernel with blanks.cc").write_text(KERNEL)

    @runs_alone("it compares times")
    def test_finds_the_setup_that_is_known_to_be_the_best(self):
        (self.folder / "scan.toml").write_text(PLAN)
        done = self.culprit("scan", "search", "--machine", "none", "--max-runs", "160", "--format",
                            "json", "--quiet")
        document = json.loads(done.stdout)
        SCHEMA.validate(document)
        self.assertLessEqual(document["runs"], 160)
        self.assertEqual(document["setups"], 32)
        trials = {trial["name"]: trial for trial in document["trials"]}
        chosen = document["trials"][document["chosen"]]
        self.assertEqual(chosen["name"], "short=-DSHORT shorter=-DSHORTER")
        self.assertEqual(chosen["variables"]["flags"], "-DSHORT -DSHORTER")
        # 25 multiplications of 3 cycles instead of 100, and what the loop takes.
        best = document["finalists"][0]
        self.assertLess(best["to_base"]["high"], 0.5)
        self.assertGreater(best["to_base"]["low"], 0.1)
        # Counts are exact: half of the instructions but those of the loop.
        self.assertAlmostEqual(
            trials["base"]["count"] - trials["short=-DSHORT"]["count"], 50, places=6)
        self.assertEqual(trials["nothing=-DNOTHING"]["same_as"], 0)
        self.assertIn("prints something else", trials["other=-DOTHER -DSHORT"]["failure"])
        self.assertIn("no-such-flag", trials["broken=-fno-such-flag"]["failure"])
        self.assertEqual(sum("broken" in name for name in trials), 1)

    def test_says_what_is_wrong_with_the_plan(self):
        for text, words in (
                (PLAN[:PLAN.index("[search]")] + '[setup]\none = {}\n', "has no section [search]"),
                (PLAN.replace('short = ["", "-DSHORT"]', 'short = ["", ""]'), "has a value twice"),
                (PLAN + 'flags = "{nobody}"\n', "nothing is called {nobody}"),
                (PLAN.replace("-O1", "-fnone"), "does not work")):
            (self.folder / "scan.toml").write_text(text)
            done = self.culprit("scan", "search", "--quiet", status=1)
            self.assertIn(words, done.stderr)
        (self.folder / "scan.toml").write_text(PLAN)
        done = self.culprit("scan", "search", "--at", "DIM=3", status=1)
        self.assertIn("no such parameter", done.stderr)


if __name__ == "__main__":
    unittest.main()
