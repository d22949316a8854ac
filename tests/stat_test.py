"""`culprit stat` on this host: software events beside perf stat's, statuses, formats, errors.

What hardware counters count is in arm_test.py, where there are some.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from harness import CULPRIT, NOBODY, CulpritTest, run

# Touches 2,000 new pages, sleeps 20 times, and burns 0.2 s of its own CPU time.
WORK = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0.2;
  char* pages = mmap(0, 2000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, 2000 * 4096, MADV_NOHUGEPAGE);
  for (int i = 0; i < 2000; ++i) pages[i * 4096] = 1;
  for (int i = 0; i < 20; ++i) usleep(1000);
  while (cpu_s() < seconds) continue;
  return 0;
}
"""


class StatTest(CulpritTest):
    def setUp(self):
        super().setUp()
        self.work = self.compile_text(WORK, "work.c", "work", "-O1")

    def stat(self, *arguments, status=0, **options):
        """The JSON table."""
        done = self.culprit("stat", "--format", "json", "--log", self.folder / "log", *arguments,
                            status=status, **options)
        return json.loads((self.folder / "log").read_text()), done

    def counts(self, *arguments, **options):
        table, _ = self.stat(*arguments, **options)
        return {count["event"]: count for count in table["counts"]}

    def perf_stat(self, events, *command):
        """{event: value} as perf counts it."""
        self.need("perf")
        done = run("perf", "stat", "-x", ";", "-e", events, *command)
        rows = [line.split(";") for line in done.stderr.splitlines() if ";" in line]
        return {row[2]: float(row[0]) for row in rows}

    def has_pmu(self):
        doctor = json.loads(self.culprit("doctor", "--format", "json").stdout)
        return doctor["capabilities"][0]["available"] == "yes"

    def test_software_events_are_perfs(self):
        events = "task-clock,page-faults,context-switches"
        ours = {name: count["value"] for name, count in
                self.counts("-e", events, self.work).items()}
        perf = self.perf_stat(events, self.work)
        # perf prints task-clock in ms. CPU time by the program's own clock is 0.2 s.
        self.assertAlmostEqual(ours["task-clock"] * 1e-6, perf["task-clock"], delta=20)
        self.assertAlmostEqual(ours["task-clock"] * 1e-9, 0.2, delta=0.02)
        # 2,000 pages, and some 100 of loading: the same program both times.
        self.assertAlmostEqual(ours["page-faults"], perf["page-faults"], delta=20)
        self.assertGreaterEqual(ours["page-faults"], 2000)
        # 20 sleeps; how often others come in between is the machine's.
        self.assertGreaterEqual(ours["context-switches"], 20)
        self.assertGreaterEqual(perf["context-switches"], 20)

    def test_repetitions_have_a_mean_and_an_interval(self):
        table, _ = self.stat("-r", "4", "-e", "page-faults", self.work, "0.02")
        self.assertEqual(table["repetitions"], 4)
        count = table["counts"][0]
        low, high = count["interval95"]
        self.assertTrue(low <= count["value"] <= high)
        self.assertGreaterEqual(count["value"], 2000)
        self.assertLess(high - low, 0.05 * count["value"])

    def test_children_are_counted_unless_told_otherwise(self):
        shell = ["sh", "-c", f"{self.work} 0.05; {self.work} 0.05"]
        self.assertGreaterEqual(self.counts("-e", "page-faults", *shell)["page-faults"]["value"], 4000)
        alone = self.counts("--no-inherit", "-e", "page-faults", *shell)
        self.assertLess(alone["page-faults"]["value"], 2000)

    def test_intervals_add_up_to_the_total(self):
        text = self.culprit("stat", "-I", "50", "-x", ";", "-e", "page-faults", "--log", "log",
                            "-o", "counts.culprit", self.work)
        self.assertIn("counts.culprit", text.stderr)
        lines = (self.folder / "log").read_text().splitlines()
        self.assertGreaterEqual(len(lines), 4)   # 0.2 s of CPU time
        ends = [float(line.split(";")[0]) for line in lines]
        self.assertEqual(ends, sorted(ends))
        parts = [float(line.split(";")[1]) for line in lines if "not counted" not in line]
        self.assertGreaterEqual(sum(parts), 2000)
        self.assertLess(sum(parts), 2200)

    def test_a_running_process_and_its_threads(self):
        with subprocess.Popen([self.work, "30"]) as child:
            try:
                time.sleep(0.2)
                table, _ = self.stat("-p", child.pid, "--per-thread", "--duration", "0.5s", "-e",
                                     "task-clock")
            finally:
                child.kill()
        count = table["counts"][0]
        self.assertEqual(count["thread"]["id"], child.pid)
        self.assertEqual(count["thread"]["name"], "work")
        self.assertGreater(count["value"], 0.05e9)
        self.assertLess(count["value"], 0.6e9)

    def test_the_whole_system_counts_more_than_the_program(self):
        if os.geteuid() != 0:
            self.skipTest("counting whole CPUs needs root here")
        count = self.counts("-a", "-e", "page-faults", self.work)["page-faults"]
        self.assertGreaterEqual(count["value"], 2000)

    def test_status_and_signal_pass_through(self):
        self.culprit("stat", "-e", "task-clock", "sh", "-c", "exit 7", status=7)
        self.culprit("stat", "-e", "task-clock", "sh", "-c", "kill -9 $$", status=-9)
        self.culprit("stat", "/no/such/program", status=127)
        self.culprit("stat", self.folder, status=126)

    def test_interrupt_prints_what_was_counted(self):
        with subprocess.Popen([CULPRIT, "stat", "-e", "page-faults", self.work, "30"], text=True,
                              stderr=subprocess.PIPE, start_new_session=True) as child:
            time.sleep(1)
            child.send_signal(signal.SIGINT)
            _, text = child.communicate(timeout=20)
        faults = re.search(r"([\d,]+)  page-faults", text)
        self.assertIsNotNone(faults, text)
        self.assertGreaterEqual(int(faults[1].replace(",", "")), 2000)

    def test_usual_events_without_a_pmu(self):
        if self.has_pmu():
            self.skipTest("this machine has a PMU")
        counts = self.counts(self.work)
        self.assertIsNone(counts["cycles"]["value"])
        self.assertIn("no hardware PMU", counts["cycles"]["reason"])
        self.assertGreaterEqual(counts["page-faults"]["value"], 2000)

    def test_hardware_events_without_a_pmu_say_why(self):
        if self.has_pmu():
            self.skipTest("this machine has a PMU")
        for arguments in (["-e", "cycles"], ["--engine", "pmu"], ["-e", "{instructions,cycles}:u"]):
            done = self.culprit("stat", *arguments, self.work, status=125)
            self.assertIn("no hardware PMU", done.stderr)
            self.assertIn("->", done.stderr)   # and what to do

    def test_wrong_events_name_the_nearest(self):
        done = self.culprit("stat", "-e", "page-fault", "true", status=125)
        self.assertIn("page-faults", done.stderr)

    def test_not_permitted_says_what_would_be(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become nobody")
        done = self.culprit("stat", "-a", "-e", "page-faults", "true", status=125, user=NOBODY,
                            group=NOBODY)
        self.assertIn("perf_event_paranoid", done.stderr)
        if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
            self.skipTest("kernel.perf_event_paranoid is not 2: the rest is for that")
        done = self.culprit("stat", "-e", "page-faults", "true", user=NOBODY, group=NOBODY)
        self.assertIn("user code only", done.stderr)
        # What happens in the kernel alone would be 0 there: it is refused instead.
        done = self.culprit("stat", "-e", "context-switches", "true", status=125, user=NOBODY,
                            group=NOBODY)
        self.assertIn("perf_event_paranoid", done.stderr)


if __name__ == "__main__":
    unittest.main()
