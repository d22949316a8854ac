"""culprit report --by time: samples by slice of a run's time. Figures are held against each other
and against the program's own order of threads, never against clocks."""

import csv
import io
import json
import unittest

import jsonschema

from harness import SOURCE, CulpritTest

SCHEMA = json.loads((SOURCE / "schema/timeline.schema.json").read_text())
# Each thread ends before the next one begins, and sleeps in between: whatever else runs, nothing of
# "second" comes before the last of "first".
PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
static double used(void) {
  struct rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_utime.tv_sec + use.ru_utime.tv_usec * 1e-6 + use.ru_stime.tv_sec + use.ru_stime.tv_usec * 1e-6;
}
static void* work(void* name) {
  pthread_setname_np(pthread_self(), name);
  volatile unsigned sum = 0;
  while (used() < 0.25) for (unsigned i = 0; i < 100000; i++) sum += i;
  return 0;
}
int main(void) {
  const char* names[] = {"first", "second"};
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void*)names[i]);
    pthread_join(thread, 0);
    usleep(120000);
  }
  return 0;
}
"""


class OverTime(CulpritTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile_text(PROGRAM, "turns.c", "turns", "-O1", "-g", "-pthread")

    def record_turns(self, *options):
        done = self.culprit("record", "-q", "-o", "t.culprit", *options, "--", self.program, status=None)
        if done.returncode == 125:
            self.skipTest("not permitted here: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "t.culprit"

    def by_time(self, profile, *options):
        document = json.loads(self.culprit("report", profile, "--format", "json", *options).stdout)
        jsonschema.validate(document, SCHEMA)
        return document

    def check(self, profile):
        document = self.by_time(profile, "--by", "time,process,thread")
        rows = {(row["process_id"], row.get("thread_id"), row["thread"]): row["values"]
                for row in self.report(profile, "--by", "process,thread", "--limit", "0")["rows"]}
        events = [event["name"] for event in document["events"]]
        for lane in document["lanes"]:
            expected = rows.pop((lane["process_id"], lane.get("thread_id"), lane["thread"]))
            for event in events:
                series = [one for one in lane["series"] if one["event"] == event]
                # Errors are Poisson's of each cell. Where samples differ in their values, cells of slices
                # give a little another one than cells of places.
                for part in "samples", "value":
                    self.assertEqual(lane["values"][event][part], expected[event][part])
                self.assertEqual(sum(sum(one["samples"]) for one in series), expected[event]["samples"])
                self.assertEqual(sum(sum(one["values"]) for one in series), expected[event]["value"])
        self.assertEqual(rows, {})
        self.assertEqual({event: document["without_time"][event]["samples"] for event in events},
                         {event: 0 for event in events})
        (slices,) = document["slices"]
        self.assertLessEqual(slices["count"], 200)
        # The program takes half a second of CPU time and sleeps a quarter: 64 slices of 10 ms at least.
        self.assertGreaterEqual(slices["count"] * slices["width_ns"], 640_000_000)

        first, second = (next(lane for lane in document["lanes"] if lane["thread"] == name)
                         for name in ("first", "second"))
        clock = events[0]
        ends = {lane["thread"]: [(one["first"], one["first"] + len(one["values"]) - 1)
                                 for one in lane["series"] if one["event"] == clock]
                for lane in (first, second)}
        self.assertLess(max(end for _, end in ends["first"]), min(begin for begin, _ in ends["second"]))

        # CSV has the same sums; fewer slices are sums of more.
        text = self.culprit("report", profile, "--by", "time,thread", "--format", "csv").stdout
        lines = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(sum(float(line[f"{clock} value"]) for line in lines),
                         sum(lane["values"][clock]["value"] for lane in document["lanes"]))
        few = self.by_time(profile, "--by", "time", "--limit", "5")
        self.assertLessEqual(few["slices"][0]["count"], 5)
        self.assertEqual(few["shown"], document["shown"])
        filtered = self.by_time(profile, "--by", "time", "--thread", "first")
        self.assertEqual(filtered["shown"][clock], first["values"][clock])
        return document

    def test_timer(self):
        self.check(self.record_turns())

    def test_posix_timer(self):
        self.check(self.record_turns("--engine", "posix-timer"))

    def test_waits(self):
        document = self.check(self.record_turns("--off-cpu"))
        main = next(lane for lane in document["lanes"] if lane["thread"] == "turns")
        waits = [one for one in main["series"] if one["event"] == "off-cpu"]
        # No slice has more of a wait than it is long.
        width = document["slices"][0]["width_ns"]
        self.assertLessEqual(max(max(one["values"]) for one in waits), width)
        self.assertGreaterEqual(sum(sum(one["values"]) for one in waits), 240_000_000)

    def test_text(self):
        profile = self.record_turns()
        text = self.culprit("report", profile, "--by", "time").stdout
        self.assertIn("from s", text)
        self.assertRegex(text, r"\n +0\.00 .*#")
        self.assertRegex(text, r"100\.0 % .*total")
        strips = self.culprit("report", profile, "--by", "time,thread").stdout
        self.assertRegex(strips, r"first \(\d+\) +[.:+#]")
        for width in 80, 120:
            for line in self.culprit("report", profile, "--by", "time,thread", "--width", width).stdout.splitlines():
                self.assertLessEqual(len(line), width, line)
        refused = self.culprit("report", profile, "--by", "time,function", status=None)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("by thread, not by code", refused.stderr)

    def test_what_has_no_times_says_what_has(self):
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "none", "-o", "s.culprit", "--", "true")
        refused = self.culprit("report", "s.culprit", "--by", "time", status=None)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("culprit record PROGRAM", refused.stderr)


if __name__ == "__main__":
    unittest.main()
