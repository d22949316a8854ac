"""record --periods-from: sampling periods by what a counting run counted, of the kernel's own
events, which every machine has."""
import re

from harness import CulpritTest

# Faults on 4,000 pages of its own, and takes 0.2 s of CPU time, so that samples are not too many a
# second.
PROGRAM = r"""
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>
int main(void) {
  enum { kPages = 4000 };
  char* pages = mmap(0, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, kPages * 4096, MADV_NOHUGEPAGE);
  for (int i = 0; i < kPages; ++i) pages[i * 4096] = 1;
  while (clock() < CLOCKS_PER_SEC / 5) {
  }
  return 0;
}
"""


class Periods(CulpritTest):
    def setUp(self):
        super().setUp()
        source = self.folder / "faults.c"
        source.write_text(PROGRAM)
        self.program = self.compile(source, "faults", "-O1")
        self.counts = self.folder / "counts.culprit"
        self.culprit("stat", "-e", "page-faults", "-e", "task-clock", "-o", self.counts, "--",
                     self.program)

    def chosen(self, *options):
        profile, _ = self.record("--periods-from", self.counts, *options, "--", self.program)
        text = re.sub(r"\s+", " ", self.culprit("report", profile).stdout)
        periods = re.search(r"periods: (.*?samples of each)", text)[1]
        report = self.report(profile)
        return periods, {event["name"]: event for event in report["events"]}

    def test_about_as_many_samples_come_as_were_asked_for(self):
        periods, events = self.chosen("--samples", "40", "-e", "page-faults", "-e", "task-clock")
        self.assertIn("from counts.culprit, for 40 samples of each", periods)
        faults = events["page-faults"]
        # 4,000 faults and those of the program's start: one in 101 or a few primes more.
        self.assertTrue(101 <= faults["period"] <= 131, faults)
        self.assertAlmostEqual(40, faults["samples"], delta=4)
        # A fifth of a second / 40, by another clock than the program's.
        self.assertTrue(4_000_000 <= events["task-clock"]["period"] <= 9_000_000, events)

    def test_a_period_that_is_said_is_kept(self):
        _, events = self.chosen("--samples", "40", "-e", "page-faults/period=7/",
                                "-e", "task-clock")
        self.assertEqual(7, events["page-faults/period=7/"]["period"])

    def test_what_is_rare_is_sampled_each_time(self):
        periods, events = self.chosen("--samples", "100000000", "-e", "page-faults")
        self.assertIn("page-faults every", periods)
        # At most 10,000 a second of 0.2 s: 2,000 of 4,000.
        self.assertTrue(2 <= events["page-faults"]["period"] <= 3, events)

    def test_what_tells_no_period_is_said(self):
        done = self.culprit("record", "--periods-from", self.counts, "-e", "context-switches", "--",
                            self.program, status=125)
        self.assertIn("'context-switches' was not counted in counts.culprit", done.stderr)
        done = self.culprit("record", "--periods-from", self.counts, "--", self.program, status=125)
        self.assertIn("name them with -e", done.stderr)
        sampled, _ = self.record("--engine", "posix-timer", "--", self.program)
        done = self.culprit("record", "--periods-from", sampled, "-o", self.folder / "x.culprit",
                            "-e", "page-faults", "--", self.program, status=125)
        self.assertIn("no counts", done.stderr)
        for options in (("--samples", "7"), ("--periods-from", self.counts, "-c", "7")):
            self.culprit("record", *options, "-e", "page-faults", "--", self.program, status=2)
