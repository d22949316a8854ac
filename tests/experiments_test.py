"""Experiments of timer+simulate: the command runs again, natively, with one thing changed."""
import json
import os
import subprocess

from harness import BUILD, CULPRIT, CulpritTest, runs_alone
from why_test import validator


class Preloaded(CulpritTest):
    """What the libraries do to a program, without culprit."""

    def output_of(self, *words, library):
        program = self.compile("subnormal_path.c", "subnormal_path", "-O1", "-pthread")
        environment = {**os.environ, "LD_PRELOAD": str(BUILD / library) if library else ""}
        return subprocess.run([program, *words], env=environment, capture_output=True, text=True,
                              check=True).stdout.splitlines()

    def test_subnormals_are_zero(self):
        self.assertEqual("1.11254e-308", self.output_of(library="")[0])
        self.assertEqual("0", self.output_of(library="libculprit_no_subnormals.so")[0])

    def test_wishes_for_cpus_are_granted_in_words_only(self):
        cpus = len(os.sched_getaffinity(0))
        self.assertEqual([f"1 of {cpus}"] * cpus + [f"{cpus} granted"],
                         self.output_of("cpus", library=""))
        self.assertEqual([f"{cpus} of {cpus}"] * cpus + [f"{cpus} granted"],
                         self.output_of("cpus", library="libculprit_one_cpu.so"))


class Recorded(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def record_twice(self, *options, flags=()):
        program = self.compile("subnormal_path.c", "subnormal_path", "-O1", "-g", "-pthread", *flags)
        profile, done = self.record("--engine", "timer+simulate", "--windows", "all", "--machine", "zen4",
                                    *options, "--", program, timeout=280)
        # Seen once, whatever the runs of experiments print.
        self.assertEqual("1.11254e-308", done.stdout.splitlines()[0])
        self.assertEqual(2, len(done.stdout.splitlines()))
        return profile

    def why(self, profile):
        done = self.culprit("why", "--format", "json", profile)
        document = json.loads(done.stdout)
        validator("why").validate(document)
        return document

    @runs_alone("measured time")
    def test_what_a_change_saves_is_measured(self):
        profile = self.record_twice()
        why = self.why(profile)
        tried = {one["experiment"]: one for one in why["tried"]}
        self.assertGreaterEqual(tried["no-subnormals"]["pairs"], 3)
        # Six of seven parts of the work go; loading the program stays.
        self.assertGreater(tried["no-subnormals"]["saved"]["expected"], 0.6)
        first = why["advice"][0]
        self.assertEqual("microcode_exceptions", first["branch"])
        self.assertEqual("no-subnormals", first["tried"])
        self.assertEqual("sum_up", first["function"])
        self.assertAlmostEqual(tried["no-subnormals"]["saved"]["expected"],
                               first["gain"]["expected"], delta=0.1)
        self.assertEqual("microcode_exceptions", why["verdict"]["branch"])
        text = self.culprit("why", profile).stdout
        self.assertIn("with subnormal numbers flushed to zero it takes", " ".join(text.split()))
        # The experiment's events are columns for who asks, and none else.
        self.assertNotIn("experiment:", text)
        self.assertNotIn("experiment:", self.culprit("report", profile).stdout)

    def test_is_not_run_again_where_that_is_not_wanted(self):
        self.assertEqual([], self.why(self.record_twice("--no-experiments"))["tried"])

    def test_static_program_says_that_it_was_not(self):
        profile = self.record_twice(flags=["-static"])
        why = self.why(profile)
        self.assertEqual([], why["tried"])
        self.assertTrue([note for note in why["ledger"]["notes"] if "no experiments" in note],
                        why["ledger"]["notes"])
