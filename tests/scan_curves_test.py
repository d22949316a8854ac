"""culprit scan best, explain --over, predict, and what plots say: of a kernel whose costs at each
size are in its text."""
import json
import unittest

import jsonschema

from harness import SOURCE, CulpritTest


def validator(name):
    return jsonschema.Draft7Validator(
        json.loads((SOURCE / f"schema/{name}.schema.json").read_text()))


CURVES = validator("scan_curves")
BEST = validator("scan_best")
DIFF = validator("scan_diff")

# With SLOW an iteration divides 200 times at size 3, and from size 5 on it calls what is inlined
# otherwise; at other sizes SLOW changes nothing.
KERNEL = """#include "HEADER"
#if defined(SLOW) && DIM >= 5
__attribute__((noipa))
#else
__attribute__((always_inline)) inline
#endif
static void step(double* a, double by) {
  for (int i = 0; i < DIM; ++i) a[i] = a[i] * by;
}
int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], factor = 1.5;
  for (int i = 0; i < DIM; ++i) a[i] = 1.25 + i;
  for (long n = 0; n < runs; ++n) {
    for (int k = 0; k < 16; ++k) {
      CULPRIT_CHANGED(a);
      CULPRIT_CHANGED_FLOAT(factor);
      step(a, factor);
    }
#if defined(SLOW) && DIM == 3
    for (int k = 0; k < 200; ++k) {
      CULPRIT_CHANGED_FLOAT(factor);
      a[0] = a[0] / factor;
    }
#endif
  }
  return culprit_use(a, sizeof a);
}
""".replace("HEADER", str(SOURCE / "examples/scan/culprit_kernel.h"))

PLAN = """[scan]
program = "sized.cc"
build = "{cc} {flags} -g -DDIM={DIM} {program} -o {out}"
run = "{out} {runs}"
DIM = "1..6"
[setup]
slow = { cc = "g++", flags = "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize -DSLOW" }
fast = { cc = "g++", flags = "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize" }
again = { cc = "g++", flags = "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize -DUNUSED" }
"""


class Curves(CulpritTest):
    def test_ranges_spikes_and_the_best(self):
        """Takes some seconds: 18 cells, and one for two machines."""
        (self.folder / "sized.cc").write_text(KERNEL)
        (self.folder / "scan.toml").write_text(PLAN)
        self.culprit("scan", "run", "-q")

        curves = json.loads(self.culprit("scan", "explain", "slow", "fast", "--over", "DIM",
                                         "--format", "json").stdout)
        CURVES.validate(curves)
        self.assertEqual([(one["first"], one["last"], one["equal"],
                           one["cause"] and one["cause"]["name"]) for one in curves["ranges"]],
                         [("1", "2", True, None), ("3", "3", False, "divisions"),
                          ("4", "4", True, None), ("5", "6", False, "calls")])
        self.assertEqual([(one["setup"], one["x"], one["cause"]["name"])
                          for one in curves["spikes"]], [("slow", "3", "divisions")])
        text = self.culprit("scan", "explain", "slow", "fast", "--over", "DIM").stdout
        self.assertIn("Spike", text)
        self.assertIn("no difference", text)
        self.assertIn("did you mean 'fast'",
                      self.culprit("scan", "explain", "slow", "fist", "--over", "DIM",
                                   status=1).stderr)
        self.assertIn("no parameter 'N'",
                      self.culprit("scan", "explain", "slow", "fast", "--over", "N",
                                   status=1).stderr)

        best = json.loads(self.culprit("scan", "best", "--format", "json").stdout)
        BEST.validate(best)
        places = best["panels"][0]["places"]
        self.assertEqual([sorted(one["best"]) for one in places],
                         [["again", "fast", "slow"] if size in (1, 2, 4) else ["again", "fast"]
                          for size in range(1, 7)])
        self.assertEqual([one["next"] for one in places], ["", "", "slow", "", "slow", "slow"])
        self.assertEqual(best["by_use"], [])
        used = json.loads(self.culprit("scan", "best", "--use", "*=2", "--format", "json").stdout)
        BEST.validate(used)
        names = [one["name"] for one in used["by_use"]]
        self.assertEqual((sorted(names[:2]), names[2:]), (["again", "fast"], ["slow"]))
        self.assertEqual([one["ratio"] for one in used["by_use"]][:2], [1, 1])
        self.assertIn("once=x", self.culprit("scan", "best", "--use", "once=x", status=2).stderr)
        standing = {one["name"]: one for one in best["panels"][0]["standings"]}
        self.assertEqual((standing["fast"]["mean_ratio"], standing["fast"]["times_best"]), (1, 6))
        self.assertEqual(standing["slow"]["times_best"], 3)
        self.assertRegex(self.culprit("scan", "best").stdout,
                         r"(?m)^ ?1 to 2 .*  nothing else  \w+, \w+, \w+$")

        # `again` is the same curve as `fast`, and has its letter; what was expected has its own.
        plot = self.culprit("scan", "plot", "flops", "--expect", "16*DIM").stdout
        self.assertRegex(plot, r"[ab] (fast, again|again, fast)\b")
        self.assertIn("* expected: 16*DIM", plot)
        self.assertNotRegex(plot, r"(?m)^[^a-z]*\|.*[2-9]")

        (self.folder / "one.toml").write_text(PLAN.replace('"1..6"', "[2]"))
        predicted = json.loads(self.culprit("scan", "predict", "one.toml", "--machine", "zen5",
                                            "--from", "zen4", "--setup", "fast", "-q",
                                            "--format", "json").stdout)
        DIFF.validate(predicted)
        self.assertEqual((predicted["a"], predicted["b"]), ("machine=zen4", "machine=zen5"))
        self.assertEqual(len(predicted["changes"]) + predicted["equal"], 1)
        # Nothing is mispredicted in each iteration, and all that is fetched is at hand.
        for share in ("wrong_path_share", "no_work_share"):
            table = json.loads(self.culprit("scan", "table", share, "-i", "one.culprit",
                                            "--format", "json").stdout)
            mark = table["panels"][0]["series"][0]["marks"][0]
            self.assertAlmostEqual(mark["value"], 0, delta=0.01)
        self.assertIn("zen99",
                      self.culprit("scan", "predict", "--machine", "zen99", status=1).stderr)


if __name__ == "__main__":
    unittest.main()
