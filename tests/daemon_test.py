"""`culprit daemon` as a whole: what it collects, what a kill costs, who may ask it what.

What samples the whole system needs root; what counts in the kernel needs BPF. Both are skipped,
with the reason, where they are refused.
"""
import collections
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import jsonschema

import harness

SPIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) double burn_for(double seconds) {
  struct timespec now;
  double x = 1, end = 0;
  do {
    for (int i = 0; i < 100000; ++i) x = x * 1.0000001 + 0.5;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    end = now.tv_sec + now.tv_nsec * 1e-9;
  } while (end < seconds);
  return x;
}
int main(int argc, char** argv) { printf("%f\\n", burn_for(argc > 1 ? atof(argv[1]) : 1)); return 0; }
"""


TOUCH = """
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((noinline)) void touch_pages(volatile char* at, long pages) {
  for (long i = 0; i < pages; ++i) at[i * 4096] = 1;
}
int main(int argc, char** argv) {
  long pages = argc > 1 ? atol(argv[1]) : 1;
  char* at = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(at, pages * 4096, MADV_NOHUGEPAGE);
  touch_pages(at, pages);
  return 0;
}
"""

# Three quarters of burn() are called by often().
CALLS = """
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) double burn(long rounds) {
  volatile double x = 1;
  for (long i = 0; i < rounds; ++i) x = x * 1.0000001 + 0.5;
  return x;
}
__attribute__((noinline)) double often(void) { return burn(300000) + 1; }
__attribute__((noinline)) double seldom(void) { return burn(100000) + 2; }
int main(void) {
  double sum = 0;
  while (clock() < 1.2 * CLOCKS_PER_SEC) sum += often() + seldom();
  printf("%f\\n", sum);
  return 0;
}
"""

# Works in step with a clock of 1,000 Hz: half of each millisecond in one function, half in the other.
IN_STEP = """
#include <time.h>
__attribute__((noinline)) void first_half(volatile double* x) {
  for (int i = 0; i < 3000; ++i) *x = *x * 1.0000001 + 0.5;
}
__attribute__((noinline)) void second_half(volatile double* x) {
  for (int i = 0; i < 3000; ++i) *x = *x * 1.0000001 + 0.25;
}
int main(void) {
  volatile double x = 1;
  while (clock() < 1.5 * CLOCKS_PER_SEC) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    (now.tv_nsec % 1000000 < 500000 ? first_half : second_half)(&x);
  }
  return 0;
}
"""


# A clock that can be set: OFFSET_FILE has the seconds that it is ahead.
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  int (*real)(clockid_t, struct timespec*) = dlsym(RTLD_NEXT, "clock_gettime");
  const int done = real(clock, now);
  long ahead = 0;
  FILE* file = clock == CLOCK_REALTIME ? fopen(getenv("OFFSET_FILE"), "r") : 0;
  if (file) {
    if (fscanf(file, "%ld", &ahead) != 1) ahead = 0;
    fclose(file);
  }
  now->tv_sec += ahead;
  return done;
}
"""


class Daemon(harness.CulpritTest):
    """Each test has a database, and daemons that end with it."""

    def setUp(self):
        super().setUp()
        self.database = self.folder / "db"

    def start(self, *options, settle=1.2, env=None):
        """A daemon that samples; skips the test where nothing may."""
        log = open(self.folder / "log", "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen([harness.CULPRIT, "daemon", "--db", self.database, *options],
                                   stderr=log, stdout=log, env=env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            said = (self.folder / "log").read_text()
            if "sampling the whole system" in said:
                break
            if process.poll() is not None:
                if "nothing may sample" in said:
                    self.skipTest(said.strip())
                self.fail(said)
            time.sleep(0.05)
        else:
            self.fail("the daemon does not begin:\n" + (self.folder / "log").read_text())
        time.sleep(settle)
        return process

    def start_in_kernel(self, *options, **settings):
        process = self.start(*options, **settings)
        if self.status()["collector"] != "eBPF":
            self.skipTest("no BPF here: " + self.status()["fallback"])
        return process

    def ask(self, *request, **options):
        return self.culprit("daemon", "--db", self.database, *request, **options)

    def status(self):
        return json.loads(self.ask("status", "--format", "json").stdout)

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        # Symbols of programs that other tests have deleted are found first.
        self.assertEqual(process.wait(100), 0, (self.folder / "log").read_text())

    def wait_until(self, is_so, seconds=30):
        deadline = time.monotonic() + seconds
        while not is_so():
            self.assertLess(time.monotonic(), deadline, (self.folder / "log").read_text())
            time.sleep(0.1)

    def spin(self, seconds=1.0, name="spin"):
        program = self.compile_text(SPIN, "spin.c", name, "-O1", "-g")
        harness.run(program, seconds)
        return program

    def files(self):
        return sorted((self.database / "epochs").glob("*.culprit"))

    def cells(self, *options, event="cpu-clock", what="samples"):
        """{function: samples} of the database."""
        report = json.loads(self.culprit("report", "--db", self.database, "--format", "json",
                                         "--by", "function", *options).stdout)
        cells = collections.Counter()
        for row in report["rows"]:   # several programs may have a function of one name
            cells[row["function"]] += row["values"][event][what]
        return cells

    # ---- what it collects ----

    def test_samples_are_conserved_and_placed(self):
        process = self.start_in_kernel("--rate", "999")
        self.spin(2.0, name="conserved")   # other tests spin, too, and all are seen
        status = self.status()
        totals = status["in_all"]
        counted = totals["table_hits"] + totals["table_misses"]
        self.assertEqual(totals["handled"], totals["idle"] + counted)
        # Rates are random within a quarter: their mean over some seconds and CPUs is not far off.
        expected = totals["clock_ns"] / (1e9 / status["rate_hz"])
        self.assertAlmostEqual(totals["handled"] + totals["skipped"], expected,
                               delta=2 * status["cpus"] + 0.25 * expected)
        asked = time.monotonic()
        self.stop(process)
        after_ns = (time.monotonic() - asked) * 1e9 * status["cpus"]
        # All of the clocks' time is there, idle time apart: skipped periods are shared by the
        # samples beside them.
        report = json.loads(self.culprit("report", "--db", self.database, "--format", "json",
                                         "--by", "module").stdout)
        busy_ns = totals["clock_ns"] * counted / totals["handled"]
        self.assertGreater(report["events"][0]["total"], 0.99 * busy_ns)
        self.assertLess(report["events"][0]["total"], busy_ns + after_ns + 1e7)
        # The handlers' own time is a row, as those say that were timed; the end adds a last drain.
        own_ns = totals["handler_ns"] / totals["handler_timed"] * totals["handled"]
        profiler = [row["values"]["cpu-clock"] for row in report["rows"] if row["module"] == "[profiler]"]
        self.assertEqual([value["samples"] for value in profiler], [0])
        self.assertGreater(profiler[0]["value"], 0.4 * own_ns)
        self.assertLess(profiler[0]["value"], 2.5 * own_ns)
        burning = self.cells("--module", "conserved").get("burn_for", 0)
        self.assertGreater(burning, 1000)   # of 2000, by a busy machine's clock
        self.assertLess(burning, 2200)
        cells = self.cells()
        # What is in the file is what was counted, less what was lost; the end adds a last drain.
        self.assertGreaterEqual(sum(cells.values()), counted - totals["lost"])

    def test_programs_in_step_with_the_clock_are_measured_right(self):
        self.start_in_kernel("--rate", "1000", settle=0)
        program = self.compile_text(IN_STEP, "step.c", "step", "-O1")
        running = subprocess.Popen([program])
        while running.poll() is None:
            time.sleep(0.15)
            self.ask("flush")   # each drain draws another period
        cells = self.cells("--module", "step")
        half = cells["first_half"] / (cells["first_half"] + cells["second_half"])
        # A constant period of a millisecond gives 0 or 1. Of some ten random periods one may be so near
        # to it that its part of the samples is of one half: 0.5 +- 0.04.
        self.assertAlmostEqual(half, 0.5, delta=0.3)

    def check_page_faults(self, name):
        """A page is touched for the first time once. Daemons of other tests run meanwhile."""
        program = self.compile_text(TOUCH, "touch.c", name, "-O1", "-g")
        harness.run(program, 20000)
        self.ask("flush")
        touched = self.cells("--module", name, event="page-faults", what="value")
        # A fault during another handler of its CPU is skipped, and shared by all others there.
        self.assertGreater(touched["touch_pages"], 16000)
        self.assertLess(touched["touch_pages"], 24000)

    def test_processes_are_told_apart_on_request(self):
        self.start_in_kernel("--rate", "999", "--by", "process", settle=0)
        program = self.compile_text(SPIN, "spin.c", "twins", "-O1")
        twins = [subprocess.Popen([program, "0.5"], stdout=subprocess.DEVNULL) for _ in range(2)]
        for twin in twins:
            twin.wait()
        report = json.loads(self.culprit("report", "--db", self.database, "--format", "json", "--by",
                                         "process", "--module", "twins").stdout)
        self.assertEqual({row["process_id"] for row in report["rows"]}, {twin.pid for twin in twins})
        self.assertEqual(len(report["rows"]), 2)   # those of the user and of the kernel are one

    def test_events_beside_time(self):
        self.start_in_kernel("--rate", "99", "-e", "page-faults/period=1/", settle=0.2)
        self.check_page_faults("touches")
        status = self.status()
        self.assertEqual([event["name"] for event in status["events"]], ["page-faults"])
        self.assertGreaterEqual(status["events"][0]["value"], 20000)
        # Time is what it is without them.
        totals = status["in_epoch"]
        expected = totals["clock_ns"] / (1e9 / status["rate_hz"])
        clocks = totals["handled"] - status["events"][0]["value"]
        self.assertLess(clocks, expected * 1.25 + 2 * status["cpus"])
        # What the kernel counts itself is in no template of a CPU.
        self.assertIn("Template: time only", self.culprit("why", "--db", self.database).stdout)
        # Sets take turns from drain to drain; without events there is time alone.
        self.ask("events", "{page-faults},{context-switches}")
        for _ in range(6):
            time.sleep(0.1)
            self.ask("flush")
        events = self.status()["events"]
        for event in events:
            self.assertGreater(event["running_ns"], 0.1 * event["enabled_ns"])
            self.assertLess(event["running_ns"], 0.9 * event["enabled_ns"])
        # One set at a time, from the first drain on.
        running = sum(event["running_ns"] for event in events)
        self.assertLess(running, 1.08 * events[0]["enabled_ns"])
        self.ask("events", "none")
        self.assertEqual(self.status()["events"], [])
        for words, expected in (("cycels", "did you mean"), ("cpu-clock", "sampled anyway"),
                                ("page-faults/freq=9/", "fixed periods")):
            self.assertIn(expected, self.ask("events", words, status=1).stderr)

    def test_events_through_rings(self):
        self.start("--no-bpf", "-e", "page-faults/period=1/", settle=0.2)
        self.check_page_faults("touches-rings")

    def test_stacks_beside_counts(self):
        self.start("--rate", "499", "--stacks", "199", "--budget", "50", settle=0)
        name = "calls"
        harness.run(self.compile_text(CALLS, "calls.c", name, "-O2"))
        self.ask("pause")   # so that symbols are looked up once
        tree = json.loads(self.culprit("report", "--db", self.database, "--format", "json", "--tree",
                                       "callers", "--module", name, "--function", "burn").stdout)
        values = {row["function"]: row["values"]["cpu-clock"] for row in tree["rows"]}
        stacks = self.status()["stacks"]
        self.assertGreater(stacks["in_epoch"]["samples"], 50)
        # Callers share what was counted, which is what a report without stacks says.
        self.assertEqual(values["often"]["value"] + values["seldom"]["value"], values["burn"]["value"])
        flat = self.cells("--module", name, what="value")
        self.assertAlmostEqual(values["burn"]["value"], flat["burn"], delta=0.02 * flat["burn"])
        # Some 200 stacks of burn: 0.75 within five of their standard errors.
        self.assertAlmostEqual(values["often"]["value"] / values["burn"]["value"], 0.75, delta=0.17)
        folded = self.culprit("export", "--db", self.database, "--to", "collapsed").stdout
        self.assertIn("main;often;burn", folded)

    def test_status_follows_its_schema(self):
        self.start("--no-bpf", "-e", "page-faults", "--stacks", "19")
        schema = json.loads((harness.SOURCE / "schema/daemon_status.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.validate(self.status(), schema)
        text = self.ask("status").stdout
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()
                            if str(self.database) not in line), text)

    def test_deleted_programs_have_their_names(self):
        process = self.start_in_kernel("--rate", "999", settle=0.2)
        program = self.compile_text(SPIN, "spin.c", "spin", "-O1", "-g")
        running = subprocess.Popen([program, "1.5"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        program.unlink()
        running.wait()
        self.stop(process)
        self.assertGreater(self.cells("--module", "spin").get("burn_for", 0), 100)

    def test_rings_do_where_bpf_is_not(self):
        process = self.start("--no-bpf", "--rate", "499")
        self.spin(1.0)
        self.assertEqual(self.status()["collector"], "perf rings")
        self.stop(process)
        self.assertGreater(self.cells().get("burn_for", 0), 200)

    def test_rings_know_labels(self):
        process = self.start("--no-bpf", "--rate", "499")
        where = ("--since", "1h", "--where", "label=*build=17*")
        none = self.culprit("report", "--db", self.database, *where, status=1).stderr
        self.assertIn("has a label (culprit daemon label KEY=VALUE", " ".join(none.split()))
        self.spin(0.5, name="before")
        self.ask("label", "build=17")
        self.spin(0.5, name="after")
        self.ask("label", "build=")
        self.stop(process)
        rows = self.culprit("report", "--db", self.database, *where, "--by", "process").stdout
        self.assertIn("after", rows)
        self.assertNotIn("before", rows)

    def test_annotate_why_and_export_read_the_database(self):
        process = self.start("--rate", "499")
        self.spin(1.0)
        self.stop(process)
        choice = ("--db", self.database, "--since", "1h")
        self.assertIn("burn_for", self.culprit("annotate", "burn_for", *choice).stdout)
        self.assertIn("burn_for", self.culprit("export", "--to", "collapsed", *choice).stdout)
        self.culprit("why", *choice)
        only = self.culprit("report", *choice, "--where", "comm=spin", "--by", "process").stdout
        self.assertIn("spin", only)
        self.assertNotIn("python", only)
        # The next command that it names opens the same.
        self.assertIn("--since 1h", only)

    # ---- epochs ----

    def test_epochs_begin_when_asked_and_hold_each_sample_once(self):
        process = self.start("--rate", "499")
        for request in (("epoch",), ("rate", "250"), ("label", "build=17")):
            self.ask(*request)
            time.sleep(0.3)
        self.assertAlmostEqual(self.status()["rate_hz"], 250, delta=1)
        self.stop(process)
        self.assertEqual(len(self.files()), 4)
        each = [sum(self.cells("--epoch", path.name).values()) for path in self.files()]
        self.assertEqual(sum(self.cells().values()), sum(each))
        self.assertEqual(list((self.database / "current").iterdir()), [])

    def test_a_clock_that_is_set_begins_an_epoch(self):
        """The machine's own clock is shared: this is one of the daemon alone."""
        offset = self.folder / "offset"
        offset.write_text("0")
        library = self.compile_text(CLOCK, "clock.c", "clock.so", "-shared", "-fPIC", "-O1")
        process = self.start("--rate", "99", "--no-symbols", settle=0.2, env={
            **os.environ, "LD_PRELOAD": str(library), "OFFSET_FILE": str(offset),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
        for hours, epochs in ((2, 1), (-2, 2)):
            offset.write_text(str(hours * 3600))
            self.wait_until(lambda epochs=epochs: len(self.files()) == epochs)
        self.stop(process)
        self.assertEqual((self.folder / "log").read_text().count("the clock was set"), 2)
        self.assertEqual(len(self.files()), 3)
        each = [sum(self.cells("--epoch", path.name).values()) for path in self.files()]
        self.assertEqual(sum(self.cells().values()), sum(each))

    def test_a_database_that_cannot_be_written(self):
        self.stop(self.start("--rate", "99", "--no-symbols", settle=0.2))
        samples = sum(self.cells().values())
        bound = self.folder / "bound"
        bound.mkdir()
        mounted = [subprocess.run(["mount", *words, bound], capture_output=True, check=False).returncode
                   for words in (("--bind", self.database), ("-o", "remount,ro,bind"))]
        self.addCleanup(subprocess.run, ["umount", "-l", bound], capture_output=True, check=False)
        if any(mounted):
            self.skipTest("needs the right to mount a folder read-only")
        self.database = bound
        self.assertIn("Read-only file system", self.ask(status=1).stderr)
        self.assertEqual(sum(self.cells().values()), samples)   # and is read all the same

    def test_what_goes_for_want_of_space_is_told(self):
        self.database.mkdir(exist_ok=True)
        # Little is missing to 256 MiB: a sixteenth of it is less than one epoch is.
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=262080k", "culprit", self.database],
                                 capture_output=True, check=False).returncode
        self.addCleanup(subprocess.run, ["umount", "-l", self.database], capture_output=True, check=False)
        if mounted != 0:
            self.skipTest("needs the right to mount a file system")
        process = self.start("--no-bpf", "--rate", "99", "--no-symbols", settle=0.2)
        self.assertEqual(self.status()["removed_for_space"], {"epochs": 0, "bytes": 0})
        for _ in range(8):
            self.ask("epoch")
        self.wait_until(lambda: self.status()["removed_for_space"]["epochs"] > 0)
        text = self.ask("status").stdout
        self.assertRegex(text, r"removed +the oldest \d+, .* since too little space is free")
        self.stop(process)
        self.assertRegex((self.folder / "log").read_text(),
                         r"removed the oldest .*: less than .* are free here")

    def test_a_growing_epoch_can_be_asked(self):
        self.start("--rate", "499", "--flush", "1h")
        self.spin(0.5)
        self.assertEqual(self.files(), [])
        self.assertGreater(self.cells("--since", "1h").get("burn_for", 0), 50)

    def test_kill_costs_one_flush_at_most(self):
        process = self.start("--rate", "499", "--flush", "1h")
        self.spin(0.5)
        self.ask("flush")
        before = sum(self.cells().values())
        self.spin(0.2)
        process.kill()
        process.wait()
        self.stop(self.start(settle=0))
        said = (self.folder / "log").read_text()
        self.assertIn("recovered the epoch", said)
        self.assertGreaterEqual(sum(self.cells("--epoch", self.files()[0].name).values()), before)

    def test_a_full_disk_is_no_end(self):
        small = self.folder / "small"
        small.mkdir()
        # With less than 256 MiB free, old epochs make room: none would be kept for the test to see.
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=320m", "tmpfs", small],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("needs the right to mount a file system that is small")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        self.database = small / "db"
        process = self.start("--rate", "99", "--flush", "1s", "--epoch", "2s", "--no-symbols", settle=0)
        ballast = small / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            for piece in bytes(1 << 20), bytes(4096):
                with self.assertRaises(OSError):
                    while True:
                        file.write(piece)
        self.wait_until(lambda: any("no space" in text for text in self.status()["problems"]))
        os.truncate(ballast, 0)
        before = len(self.files())
        self.wait_until(lambda: len(self.files()) > before)
        self.assertIsNone(process.poll())
        self.assertGreater(sum(self.cells("--epoch", self.files()[-1].name).values()), 0)

    def test_a_file_that_never_answers_is_not_touched(self):
        server = self.compile("silent_files.c", "silent_files", "-O1")
        program = self.compile_text(SPIN, "spin.c", "spin", "-O1")
        served = self.folder / "served"
        served.mkdir()
        serving = subprocess.Popen([server, program, served], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Its end ends whatever waits for it.
        self.addCleanup(subprocess.run, ["umount", "-l", served], capture_output=True, check=False)
        self.addCleanup(serving.stdout.close)
        self.addCleanup(serving.wait)
        self.addCleanup(serving.kill)
        said = serving.stdout.readline()
        if said != "mounted\n":
            self.skipTest("needs the right to mount a file system of its own: " + said.strip())
        running = subprocess.Popen([served / "run", "60"], stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        time.sleep(0.3)   # all of it has been read
        serving.stdin.close()
        process = self.start_in_kernel("--rate", "499", settle=0.5)
        self.stop(process)
        report = json.loads(self.culprit("report", "--db", self.database, "--format", "json", "--by",
                                         "module").stdout)
        samples = {row["module"]: row["values"]["cpu-clock"]["samples"] for row in report["rows"]}
        untouched = f"[unknown: {served}/run: not opened, its file system may not answer]"
        self.assertGreater(samples.get(untouched, 0), 10, samples)

    def test_names_of_strangers_stay_on_their_line(self):
        process = self.start_in_kernel("--rate", "999", settle=0.2)
        self.spin(0.6, name="a\x1b[2J\nb c'd")
        self.stop(process)
        text = self.culprit("report", "--db", self.database, "--by", "comm,module").stdout
        self.assertNotIn("\x1b", text)
        self.assertRegex(text, r"a\?\[2J\?b c'd")

    def test_paused_daemons_count_nothing(self):
        self.start("--rate", "499")
        self.ask("pause")
        before = self.status()["in_all"]["handled"]
        time.sleep(1)
        status = self.status()
        self.assertTrue(status["paused"])
        self.assertLessEqual(status["in_all"]["handled"] - before, status["cpus"])
        self.ask("resume")
        time.sleep(1)
        self.assertGreater(self.status()["in_all"]["handled"], before)

    # ---- what is refused, and how ----

    def test_rights_that_it_needs(self):
        self.need("setpriv")
        if os.geteuid() != 0:
            self.skipTest("needs root, to become somebody with some of its rights")
        program = self.culprit_for_anybody()
        self.folder.chmod(0o777)
        self.start_in_kernel(settle=0)
        for rights, expected in (("+bpf,+perfmon,+syslog", "by eBPF"), ("+perfmon", "by perf rings"),
                                 ("+bpf", "nothing may sample")):
            log = self.folder / "rights"
            with open(log, "w") as output:
                process = subprocess.Popen(
                    ["setpriv", "--reuid", str(harness.NOBODY), "--regid", str(harness.NOBODY),
                     "--clear-groups", "--inh-caps", "-all," + rights, "--ambient-caps",
                     "-all," + rights, program, "daemon", "--rate", "99", "--db",
                     self.folder / ("db" + rights)], stdout=output, stderr=output)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            deadline = time.monotonic() + 20
            # What is lost by a right that it has not, it says last.
            last_words = ("nothing may sample", "without CAP_DAC_READ_SEARCH")
            while time.monotonic() < deadline and not any(text in log.read_text() for text in last_words):
                time.sleep(0.05)
            self.assertIn(expected, log.read_text(), rights)
            self.assertEqual("without CAP_SYSLOG" in log.read_text(), rights == "+perfmon", rights)

    def test_second_daemon_is_refused(self):
        self.start("--no-bpf")
        done = self.ask(status=1)
        self.assertIn("is in use", done.stderr)

    def test_databases_of_later_versions_are_refused(self):
        self.database.mkdir()
        (self.database / "epochs").mkdir()
        (self.database / "version").write_text("culprit epochs 99\n")
        self.assertIn("version", self.ask(status=1).stderr)
        self.assertIn("version", self.culprit("report", "--db", self.database, status=1).stderr)

    def test_wrong_words_are_refused(self):
        for words, status, expected in (
                (("--rate", "0"), 2, "a rate is"), (("--rate", "x"), 2, "no rate"),
                (("--epoch", "10"), 2, "no length of time"), (("stopp",), 2, "nothing that can be"),
                (("rate", "1e9"), 2, "a rate is"), (("status",), 1, "cannot open the database")):
            done = self.ask(*words, status=status)
            self.assertIn(expected, done.stderr, words)
        self.database.mkdir()
        (self.database / "letter").write_text("Dear Sir")
        self.assertIn("no database of epochs", self.ask(status=1).stderr)

    def test_times_without_epochs_are_named(self):
        process = self.start("--no-bpf", settle=0.3)
        self.stop(process)
        done = self.culprit("report", "--db", self.database, "--from", "2020-01-01", "--to",
                            "2020-01-02", status=1)
        self.assertIn("no epoch of that time", done.stderr)
        done = self.culprit("report", "--db", self.database, "--since", "soonish", status=1)
        self.assertIn("no moment", done.stderr)
        done = self.culprit("report", "--since", "2h", "--db", self.folder / "nowhere", status=1)
        self.assertIn("cannot open the database", done.stderr)


if __name__ == "__main__":
    unittest.main()
