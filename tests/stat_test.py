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

from harness import CULPRIT, NOBODY, CulpritTest, run, runs_alone

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

# The first thread touches 500 new pages, three of its threads 1,000 to 3,000, a child 7,000.
THREADS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(long n) {
  char* p = mmap(0, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(p, n * 4096, MADV_NOHUGEPAGE);
  for (long i = 0; i < n; ++i) p[i * 4096] = 1;
}
static void* run(void* a) {
  char name[] = "touch-0";
  name[6] = (char)('0' + (long)a);
  pthread_setname_np(pthread_self(), name);
  for (int turn = 0; turn < 10; ++turn) {
    touch(100 * (long)a);
    usleep(1000);   /* so that they take turns on the CPUs, and the kernel exchanges counters */
  }
  return 0;
}
int main(int argc, char** argv) {
  pthread_t threads[3];
  if (argc > 1) sleep(1);
  for (long i = 0; i < 3; ++i) pthread_create(threads + i, 0, run, (void*)(i + 1));
  touch(500);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  if (fork() == 0) {
    touch(7000);
    _exit(0);
  }
  wait(0);
  if (argc > 1) sleep(30);
  return 0;
}
"""

# Stops who counts it, starts threads one after the other, and lets it go on.
UNHEARD = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void* run(void* a) { return a; }
int main(int argc, char** argv) {
  kill(getppid(), SIGSTOP);
  for (long n = atol(argv[argc - 1]); n > 0; --n) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
  }
  kill(getppid(), SIGCONT);
  usleep(300000);   /* records that come now say how many did not */
  return 0;
}
"""


# Counts ten writes to a variable of its own by a breakpoint, without culprit.
BREAKPOINT = """
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile int watched;
int main(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_addr = (unsigned long)&watched;
  attr.bp_len = sizeof watched;
  attr.exclude_kernel = 1;
  const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  for (int i = 0; i < 10; ++i) watched = i;
  long long count = -1;
  if (fd < 0 || read(fd, &count, sizeof count) != sizeof count) count = -1;
  printf("%lld\\n", count);
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

    def counts_of_running(self, command, *arguments):
        """The process, and what --per-thread counts of it once it has run for a while."""
        with subprocess.Popen(command) as child:
            try:
                time.sleep(0.2)
                table, _ = self.stat("-p", child.pid, "--per-thread", *arguments)
            finally:
                child.kill()
        return child.pid, table["counts"]

    def test_a_running_process_and_its_threads(self):
        pid, counts = self.counts_of_running([self.work, "30"], "--duration", "0.5s", "-e",
                                             "task-clock")
        count = counts[0]
        self.assertEqual(count["thread"]["id"], pid)
        self.assertEqual(count["thread"]["name"], "work")
        self.assertGreater(count["value"], 0.05e9)
        self.assertLess(count["value"], 0.6e9)

    def threads(self):
        return self.compile_text(THREADS, "threads.c", "threads", "-O1", "-pthread")

    def assert_pages(self, counts, pages):
        """What each thread touched, and less than 200 pages of its stack and of loading."""
        found = [(count["thread"]["name"], count["value"]) for count in counts
                 if count["event"].startswith("page-faults")]
        self.assertEqual([name for name, _ in found], [name for name, _ in pages])
        for (name, value), (_, expected) in zip(found, pages):
            self.assertTrue(expected <= value < expected + 200, found)
        for count in counts:
            self.assertEqual(count["counted_ratio"], 1, counts)

    def need_kernel_that_tells(self):
        done = self.culprit("stat", "--per-thread", "-e", "page-faults", "true", status=None)
        if "cannot tell threads apart" in done.stderr:
            self.skipTest(done.stderr)

    def test_threads_and_children_of_a_program_each_have_a_row(self):
        self.need_kernel_that_tells()
        program = self.threads()
        for attempt in range(3):   # how threads are switched differs
            table, _ = self.stat("--per-thread", "-e", "page-faults,task-clock", program)
            self.assert_pages(table["counts"],
                              [("threads", 500), ("touch-1", 1000), ("touch-2", 2000),
                               ("touch-3", 3000), ("threads", 7000)])
        for event in "page-faults", "task-clock":
            self.assertEqual(len({count["thread"]["id"] for count in table["counts"]
                                  if count["event"] == event}), 5)

    def test_threads_that_begin_and_end_later_have_a_row(self):
        self.need_kernel_that_tells()
        _, counts = self.counts_of_running([self.threads(), "later"], "--duration", "3s", "-e",
                                           "page-faults:u")
        self.assert_pages(counts,
                          [("threads", 500), ("touch-1", 1000), ("touch-2", 2000),
                           ("touch-3", 3000), ("threads", 7000)])

    def test_threads_that_run_on_are_said_not_to_be_told_apart(self):
        self.need_kernel_that_tells()
        shell = ["sh", "-c", f"({self.work} 3 & sleep 3 & ); sleep 0.5"]
        table, _ = self.stat("--per-thread", "-e", "page-faults", *shell)
        self.assertTrue(any("were not told apart" in note for note in table["ledger"]), table)

    def test_what_more_threads_than_it_can_hear_of_counted_is_elsewhere(self):
        self.need_kernel_that_tells()
        threads = 4000
        program = self.compile_text(UNHEARD, "unheard.c", "unheard", "-O1", "-pthread")
        # On one CPU: each has its own buffer, and says what it lost when the next record comes.
        cpu = str(min(os.sched_getaffinity(0)))
        table, _ = self.stat("--per-thread", "-e", "context-switches", "taskset", "-c", cpu,
                             program, str(threads))
        lost, = [note for note in table["ledger"] if "were lost" in note]
        silent = threads + 1 - len({count["thread"]["id"] for count in table["counts"]})
        self.assertGreater(silent, 0)
        # Of each thread that has no row the kernel would have told its birth and its reading.
        records = int(re.match(r"([\d,]+) records of threads", lost)[1].replace(",", ""))
        self.assertGreaterEqual(records, 2 * silent - 4)

    def test_what_per_thread_cannot_do_is_refused(self):
        for arguments, word in ((["-a"], "whole CPUs"), (["-r", "2"], "different runs"),
                                (["-I", "10"], "no intervals")):
            done = self.culprit("stat", "--per-thread", *arguments, "true", status=2)
            self.assertIn(word, done.stderr)

    def test_a_task_on_some_cpus_is_not_scaled_up(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU")
        here, there = cpus[:2]
        events = ["-e", "page-faults", "taskset", "-c", here, self.work]
        counts = self.counts("-C", here, *events)["page-faults"]
        self.assertEqual(counts["counted_ratio"], 1)
        self.assertTrue(2000 <= counts["value"] < 2200, counts)
        elsewhere = self.counts("-C", there, *events)["page-faults"]["value"]
        self.assertTrue(elsewhere is None or elsewhere < 200, elsewhere)

    def test_tracepoints_are_perfs(self):
        if self.culprit("events", "sched:sched_switch", status=None).returncode != 0:
            self.skipTest("tracefs is not mounted here, or may not be read")
        ours = self.counts("-e", "syscalls:sys_enter_clock_nanosleep", self.work)
        ours.update(self.counts("-e", "sched:sched_process_exit", "sh", "-c", "true; /bin/true"))
        # 20 calls of usleep(); the shell and its child end.
        self.assertEqual(ours["syscalls:sys_enter_clock_nanosleep"]["value"], 20)
        self.assertEqual(ours["sched:sched_process_exit"]["value"], 2)
        perf = self.perf_stat("syscalls:sys_enter_clock_nanosleep", self.work)
        self.assertEqual(perf["syscalls:sys_enter_clock_nanosleep"], 20)

    def need_breakpoints(self):
        """Some hypervisors take breakpoints and never stop at one, whoever asks."""
        probe = self.compile_text(BREAKPOINT, "breakpoint.c", "breakpoint", "-O0")
        count = run(probe).stdout.strip()
        if count != "10":
            self.skipTest(f"this machine's breakpoints do not work: {count} of 10 writes were seen")

    def test_breakpoints_are_counted_and_run_out(self):
        """A CPU has four: the fifth is refused, and so is one that others hold."""
        program = self.compile_text(
            "#include <stdio.h>\nvolatile long watched __attribute__((aligned(64)));\n"
            "int main(void) { for (int i = 0; i < 1000; ++i) watched = i; return 0; }\n",
            "watched.c", "watched", "-O1", "-no-pie")
        address = next(line.split()[0] for line in run("nm", program).stdout.splitlines()
                       if line.endswith(" watched"))
        first = self.culprit("stat", "-e", f"mem:0x{address}/8:w:u", "--format", "json", "--log",
                             self.folder / "log", program, status=None)
        if first.returncode != 0:
            self.skipTest(f"no breakpoints here: {first.stderr}")
        self.need_breakpoints()
        counts = json.loads((self.folder / "log").read_text())["counts"]
        self.assertEqual(counts[0]["value"], 1000)
        five = [word for i in range(5) for word in ("-e", f"mem:0x{0x1000 + 16 * i:x}:w")]
        done = self.culprit("stat", *five, program, status=125)
        self.assertIn("no breakpoint register is free", done.stderr)
        if os.geteuid() == 0:
            held = subprocess.Popen([CULPRIT, "stat", "-a", *five[:8], "--log", "/dev/null",
                                     "sleep", "60"], start_new_session=True)
            self.addCleanup(held.wait)
            self.addCleanup(os.killpg, held.pid, signal.SIGKILL)  # with its sleep
            time.sleep(0.5)
            done = self.culprit("stat", *five[8:], program, status=125)
            self.assertIn("no breakpoint register is free", done.stderr)
            self.assertIn("has perf events open", done.stderr)

    def test_a_cgroup(self):
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        root = next((mount[1] for mount in mounts if mount[2] == "cgroup2"), None)
        if root is None or os.geteuid() != 0:
            self.skipTest("no cgroup2 mount, or not root")
        group = pathlib.Path(root) / f"culprit-stat-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"cannot make a cgroup: {error}")
        self.addCleanup(group.rmdir)
        inside = f"echo $$ > {group}/cgroup.procs; exec {self.work}"
        count = self.counts("--cgroup", group.name, "-e", "page-faults", "sh", "-c", inside)
        self.assertTrue(2000 <= count["page-faults"]["value"] < 2300, count)
        count = self.counts("--cgroup", group.name, "-e", "page-faults", self.work)
        self.assertEqual(count["page-faults"]["value"] or 0, 0)

    @runs_alone("what other programs take")
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
