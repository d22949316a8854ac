"""culprit validate: kernels that are known by hand, by the software PMU."""
import json

import jsonschema

from harness import SOURCE, CulpritTest


class Validate(CulpritTest):
    # The kernels of which everything is known, and few megabytes.
    QUICK = "nops,loads,stores,chase-l1,chase-l2,random-branches,random-words,calls,locked-adds,fences"

    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")

    def validate(self, *arguments, **options):
        return self.culprit("validate", "--engine", "simulate", "--machine", "zen4", *arguments,
                            timeout=240, **options)

    def test_the_software_pmu_counts_what_kernels_cause(self):
        report = self.folder / "zen4.json"
        text = self.validate("--only", self.QUICK, "--report", report).stdout
        self.assertIn("Each event was counted as its kernels cause it.", text)
        table = json.loads(report.read_text())
        jsonschema.validate(table, json.loads((SOURCE / "schema/validate.schema.json").read_text()))
        self.assertTrue(table["is_right"])
        kernels = {one["kernel"]: one for one in table["kernels"]}
        self.assertEqual(set(self.QUICK.split(",")), set(kernels))
        counted = {event["event"]: event["counted"] for event in kernels["random-branches"]["events"]}
        # xorshift of nine instructions, test, branch, dec, jnz, and a nop half of the time.
        self.assertAlmostEqual(13.5, counted["instructions"], delta=0.01)
        self.assertEqual(2, counted["branches"])
        self.assertIn("L1-dcache-loads", kernels["random-branches"]["zeros"])
        # The machine file's 18 cycles of a misprediction, and what waits for the branch's operands.
        self.assertAlmostEqual(18, kernels["random-branches"]["penalty_cycles"], delta=4)
        # L2 answers in 14 cycles, L1D in 4.
        self.assertAlmostEqual(10, kernels["chase-l2"]["penalty_cycles"], delta=1)

    def test_says_which_kernels_there_are(self):
        done = self.culprit("validate", "--engine", "simulate", "--only", "random-branch", status=125)
        self.assertIn("did you mean random-branches?", done.stderr)

    def test_events_of_a_cpu_are_not_those_of_the_software_pmu(self):
        done = self.culprit("validate", "--engine", "simulate", "--template", "zen4", status=125)
        self.assertIn("--engine pmu", done.stderr)

    def test_does_not_replace_what_is_not_its_own(self):
        notes = self.folder / "notes.txt"
        notes.write_text("mine")
        done = self.validate("--only", "nops", "--report", notes, status=125)
        self.assertIn("notes.txt", done.stderr)
        self.assertEqual("mine", notes.read_text())
