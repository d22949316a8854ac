"""culprit scan explain of one cell: what a compiler said of its loops beside what was executed, where
the loop's text says how much that is."""
import json

import jsonschema

from harness import SOURCE, CulpritTest

EXECUTED = jsonschema.Draft7Validator(
    json.loads((SOURCE / "schema/scan_executed.schema.json").read_text()))

# Four floats to a vector: of ROUNDS + 3 + 3 additions those of whole vectors are packed.
KERNEL = """#include <cstdlib>
float a[128], b[128];
__attribute__((noipa)) void add(int count) {
  for (int i = 0; i < count; ++i) {
    a[i] += b[i];
  }
}
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  for (int i = 0; i < 128; ++i) {
    b[i] = 1.5f + i;
  }
  for (long n = 0; n < runs; ++n) {
    add(ROUNDS);
    add(3);
    add(3);
  }
}
"""


class ExecutedRemarks(CulpritTest):
    def explain(self, rounds):
        document = json.loads(self.culprit("scan", "explain", "kernel", "O3", str(rounds),
                                           "--format", "json").stdout)
        EXECUTED.validate(document)
        return {one["place"]: one for one in document["remarks"] if one["vectorised"]}

    def test_vectors_that_never_ran_are_told(self):
        self.need("g++-12")
        (self.folder / "kernel.cc").write_text(KERNEL)
        (self.folder / "scan.toml").write_text("""[scan]
program = "kernel.cc"
build = "{cc} {flags} {remarks} -g -DROUNDS={ROUNDS} {program} -o {out}"
run = "{out} {runs}"
ROUNDS = [3, 4, 64]
[setup]
O3 = { cc = "g++-12", flags = "-O3 --param vect-epilogues-nomask=0" }
plain = { cc = "g++-12", flags = "-O1" }
""")
        self.culprit("scan", "run")
        for rounds, execution, share in ((3, "scalar", 0), (4, "mostly scalar", 4 / 10),
                                         (64, "packed", 64 / 70)):
            loop = self.explain(rounds)["kernel.cc:4"]
            self.assertEqual(loop["execution"], execution)
            self.assertAlmostEqual(loop["packed_share"], share)
            # That loop runs before all iterations.
            self.assertEqual(self.explain(rounds)["kernel.cc:10"]["execution"], "nothing")
        text = " ".join(self.culprit("scan", "explain", "kernel", "O3", "3").stdout.split())
        self.assertIn("kernel.cc:4 executed: only scalar code: the vectors never ran", text)
        text = " ".join(self.culprit("scan", "explain", "kernel", "plain", "4", "kernel", "O3",
                                     "4").stdout.split())
        self.assertIn("executed: 40 % of the work packed, the rest one by one", text)
        self.assertIn("vectorised and unrolled no loop",
                      " ".join(self.culprit("scan", "explain", "kernel", "plain", "3").stdout.split()))
