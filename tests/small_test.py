"""What a small build (-DCULPRIT_SMALL=ON) makes, here by the rooms of the whole one: its commands do
what they say, and what it records is completed by the whole of culprit. arm_test.py makes a small
build and has it on a live PMU.
"""
import json
import pathlib

from harness import BUILD, CulpritTest, run

SMALL = BUILD / "culprit_small"
SPIN = """
static volatile unsigned long sink;
__attribute__((noinline)) void spin_here(void) {
  for (unsigned long i = 0; i < 400000000; ++i) sink = i;
}
int main(void) { spin_here(); return 3; }
"""


class Small(CulpritTest):
    def run_small(self, *arguments, status=0):
        return run(SMALL, *arguments, status=status, cwd=self.folder)

    def test_needs_neither_llvm_nor_elfutils(self):
        needed = run("ldd", SMALL).stdout
        for library in ("LLVM", "libdw", "libelf", "libdebuginfod"):
            self.assertNotIn(library, needed)
        self.assertIn("libsqlite3", needed)

    def test_watches_this_machine_and_its_programs(self):
        doctor = json.loads(self.run_small("doctor", "--format", "json").stdout)
        whole = json.loads(self.culprit("doctor", "--format", "json").stdout)
        # The shim and QEMU's plugin are beside the whole culprit only, and so is the software PMU.
        self.assertEqual([one["name"] for one in doctor["capabilities"]] + ["machine model"],
                         [one["name"] for one in whole["capabilities"]])
        events = self.run_small("events", "-e", "{task-clock,page-faults}:u").stdout
        self.assertEqual(events, self.culprit("events", "-e", "{task-clock,page-faults}:u").stdout)
        self.run_small("stat", "-e", "page-faults", "--format", "json", "--log", "log", "true")
        count = json.loads((self.folder / "log").read_text())["counts"][0]
        self.assertGreater(count["value"], 10)
        self.assertEqual(self.run_small("templates").stdout, self.culprit("templates").stdout)
        self.assertIn("0 findings", self.run_small("templates", "lint", "armv8").stdout)

    def test_what_it_records_is_completed_by_the_whole(self):
        spin = self.compile_text(SPIN, "spin.c", "spin", "-O1", "-g")
        done = self.run_small("record", "-o", "spin.culprit", spin, status=3)
        self.assertIn("culprit symbolize", done.stderr)
        profile = pathlib.Path(self.folder / "spin.culprit")
        self.culprit("symbolize", profile)
        self.assertGreater(self.shares(self.report(profile))["spin_here"], 0.9)

    def test_what_it_leaves_out_says_where_it_is(self):
        for command in (["report", "x"], ["why", "x"], ["import", "x"], ["symbolize", "x"]):
            done = self.run_small(*command, status=1)
            self.assertIn("take the profile to a machine with the whole of culprit", done.stderr)
        done = self.run_small("stat", "--template", "armv8", "true", status=125)
        self.assertIn("no hardware counters", done.stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
