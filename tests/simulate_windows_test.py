"""--windows: what it estimates, against the same program simulated whole; and what ends a window in
the middle: forks, programs that are executed, threads, signals, jumps."""
import json

from simulate_test import ENVIRONMENT, Simulated

LONG_LOOP = """
int main(void) {
  for (volatile unsigned i = 0; i < 300000000; ++i) {}
}
"""
# Each round of a phase is a few instructions; the phases differ in what they cost.
PHASES = r"""
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
unsigned char memory[8 << 20];
static _Thread_local volatile unsigned left, right;  // lines that threads fight for are no phase
static jmp_buf back;
__attribute__((noinline)) unsigned walk(unsigned n) {
  unsigned x = 1, sum = 0;
  for (unsigned i = 0; i < n; ++i) x = x * 1664525 + 1013904223, sum += memory[x >> 9];
  return sum;
}
__attribute__((noinline)) unsigned branch(unsigned n) {
  unsigned x = 1, sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    x = x * 1664525 + 1013904223;
    if (x >> 31) ++left; else right += i;
  }
  return left + sum;
}
__attribute__((noinline)) unsigned touch(unsigned rounds) {
  unsigned sum = 0;
  for (unsigned i = 0; i < rounds; ++i)
    for (unsigned k = 0, line = 0; k < 256; ++k, line = (line * 165 + 77) & 255)
      sum += ((volatile unsigned char*)memory)[line << 6];  // no stride that could be prefetched
  return sum;
}
__attribute__((noinline)) void jump(unsigned i) { if (i % 3 == 0) longjmp(back, 1); }
__attribute__((noinline)) unsigned jumps(volatile unsigned n) {
  volatile unsigned i = 0, done = 0;
  if (setjmp(back)) ++done;
  for (; i < n;) jump(i++);
  return done;
}
__attribute__((noinline)) unsigned copy(unsigned pages) {
  unsigned sum = 0;
  for (unsigned i = 0; i < pages; ++i) {
    unsigned char* to = memory + (4 << 20) + i * 4096, * from = memory + i * 4096;
    unsigned long bytes = 4096;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    sum += branch(300);
  }
  return sum;
}
static void* work(void* arg) { return (void*)(size_t)(walk(200000) + branch(200000 + !arg)); }
int main(int argc, char** argv) {
  const char* what = argv[1];
  volatile unsigned sum = 0;
  if (!strcmp(what, "phases")) sum = walk(700000) + branch(700000) + walk(300000);
  if (!strcmp(what, "copy")) sum = copy(1024);
  if (!strcmp(what, "touch")) sum = touch(8000);
  if (!strcmp(what, "jumps")) sum = jumps(600000);
  if (!strcmp(what, "fork")) {
    sum = walk(200000);
    for (int i = 0; i < 3; ++i) if (fork() == 0) { sum += branch(200000); _exit(0); }
    while (wait(NULL) > 0) sum += branch(10);
  }
  if (!strcmp(what, "exec")) { sum = branch(200000); execl(argv[0], argv[0], "jumps", NULL); }
  if (!strcmp(what, "threads")) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, argv);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  if (!strcmp(what, "killed")) { sum = walk(300000); raise(SIGKILL); }
  printf("%u\n", sum);
  return argc - 2;
}
"""
FIRST = 200_000  # instructions that are modelled whole
EXACT = ("instructions", "branches", "branches-taken", "calls", "L1-dcache-loads",
         "L1-dcache-stores", "load-bytes", "store-bytes")
MISSES = ("sim:cycles", "L1-dcache-load-misses", "branch-misses")


SPIN = """
#include <stdlib.h>
#include <time.h>
int main(int argc, char** argv) {
  const clock_t until = clock() + atol(argv[argc - 1]) * (CLOCKS_PER_SEC / 1000);
  volatile long turns = 0;
  while (clock() < until)
    for (int i = 0; i < 20000; ++i) ++turns;
  return 0;
}
"""


class Windows(Simulated):
    def setUp(self):
        super().setUp()
        self.program = self.compile_text(PHASES, "phases.c", "phases", "-O1", "-g", "-pthread")

    def rows(self, what, *options, status=0):
        """({function: {event: cell}}, report)"""
        profile, done = self.simulate(self.program, what, options=options, status=status)
        report = self.report(profile, "--by", "function")
        return {row["function"]: row["values"] for row in report["rows"]}, report

    def windows(self, what, share="10%", first=FIRST, status=0):
        return self.rows(what, "--windows", f"{share},3,{first}", status=status)

    def check(self, what, functions=("walk", "branch"), status=0, nearly=0.03):
        """Executions as they are; costs within their intervals, or `nearly` the exact ones."""
        exact, _ = self.rows(what, status=status)
        estimates, report = self.windows(what, status=status)
        for function in functions:
            for event in EXACT:
                self.assertEqual(exact[function].get(event, {}).get("value"),
                                 estimates[function].get(event, {}).get("value"), (function, event))
            for event in MISSES:
                value = exact[function].get(event, {}).get("value", 0)
                if value < 1000:
                    continue
                cell = estimates[function][event]
                self.assertGreater(cell["error"], 0, (function, event))
                self.assertLessEqual(abs(cell["value"] - value),
                                     max(3 * cell["error"], nearly * value), (function, event))
        return report

    def test_phases_that_come_once(self):
        report = self.check("phases")
        provenance = {event["name"]: event["provenance"] for event in report["events"]}
        self.assertEqual("sampled", provenance["L1-dcache-load-misses"])
        self.assertEqual("modelled", provenance["sim:cycles"])
        self.assertEqual("counted", provenance["instructions"])
        self.assertIn("windows with 10 %", str(report["ledger"]))

    def test_what_memory_has_between_windows(self):
        """A string instruction loads some lines and stores others: each are counted as what they are."""
        exact, _ = self.rows("copy")
        estimates, _ = self.windows("copy")
        for event in "LLC-load-misses", "LLC-store-misses":
            value = exact["copy"].get(event, {}).get("value", 0)
            self.assertLessEqual(abs(estimates["copy"].get(event, {}).get("value", 0) - value), 0.01 * value + 20, event)
        self.assertGreater(exact["copy"]["LLC-load-misses"]["value"] + exact["copy"]["LLC-store-misses"]["value"], 10_000)

    def test_jumps(self):
        self.check("jumps", ("jump",))

    def test_forked_children_have_windows_of_their_own(self):
        self.check("fork")

    def test_executed_programs(self):
        self.check("exec", ("branch", "jump"))

    def test_threads_are_in_windows_together(self):
        # They run as they come, the whole simulation's, too: what they meet in L3 differs.
        self.check("threads", nearly=0.15)

    def test_a_killed_program_keeps_what_was_measured(self):
        self.check("killed", ("walk",), status=None)

    def test_a_short_program_is_exact(self):
        exact, _ = self.rows("jumps")
        short, report = self.windows("jumps", first=100_000_000)
        self.assertEqual(exact["jump"], short["jump"])
        self.assertIn("all was simulated", str(report["ledger"]))

    def test_no_miss_in_any_window_is_no_certain_zero(self):
        # The first round misses most of 256 lines, in the beginning; the other rounds hit.
        rows, _ = self.windows("touch")
        cell = rows["touch"]["L1-dcache-load-misses"]
        self.assertGreater(cell["value"], 100)
        self.assertLess(cell["value"], 300)
        # Three misses in a tenth of the run would be thirty.
        self.assertGreater(cell["error"], 10)
        self.assertLess(cell["error"], 60)

    def test_what_no_window_met_is_not_covered(self):
        # 0.01 % in windows: the end of the program is in none.
        _, report = self.windows("phases", share="0.01%")
        self.assertIn("that no window met", str(report["ledger"]))
        main = next(row for row in report["rows"] if row["function"] == "main")
        self.assertGreater(main["values"]["instructions"]["value"], 0)

    def test_part_of_a_program(self):
        exact, _ = self.rows("phases", "--roi", "branch")
        estimates, _ = self.rows("phases", "--roi", "branch", "--windows", f"10%,3,{FIRST}")
        self.assertEqual(exact["branch"]["instructions"], estimates["branch"]["instructions"])
        cell = estimates["branch"]["sim:cycles"]
        self.assertLess(abs(cell["value"] / exact["branch"]["sim:cycles"]["value"] - 1), 0.03)
        limited, _ = self.rows("phases", "--max-instructions", "1000000", "--windows",
                               f"10%,3,{FIRST}")
        total = sum(row["instructions"]["value"] for row in limited.values())
        self.assertLess(abs(total - 1_000_000), 10_000)

    def test_what_does_not_go_together(self):
        for options in (("--locality", "l1"), ("--sets", "1/4"), ("--objects", "site"),
                        ("--deterministic",), ("--machine", "none")):
            done = self.culprit("record", "--engine", "simulate", "--windows", "auto", *options,
                                "--", "true", status=None)
            self.assertNotEqual(0, done.returncode)
            self.assertIn("--windows and " + options[0], done.stderr)

    def test_a_budget_ends_the_program(self):
        loop = ["/bin/sh", "-c", "sleep 1000 & while :; do :; done"]
        profile, done = self.simulate(*loop, options=("--budget", "1s"))
        self.assertIn("budget of 1.00 s was spent", done.stderr)
        report = self.report(profile, "--by", "process")
        self.assertIn("budget of 1.00 s", str(report["ledger"]))
        self.assertGreater(report["rows"][0]["values"]["instructions"]["value"], 1000)

    def test_a_budget_that_ends_it_leaves_no_verdict(self):
        loop = self.compile_text(LONG_LOOP, "long.c", "long", "-O1")
        profile, _ = self.record("--engine", "timer+simulate", "--budget", "1s", "--", loop,
                                 env=ENVIRONMENT)
        why = json.loads(self.culprit("why", "--format", "json", profile).stdout)
        self.assertEqual("none", why["verdict"]["certainty"])
        self.assertRegex(why["verdict"]["reason"], "ended by a budget of 1.00 s when it had [0-9.e+-]+ %")
        self.assertEqual([], [one for one in why["advice"] if not one["kernel"] and not one["library"]])

    def test_a_budget_decides_how_many_windows(self):
        profile, done = self.record("--engine", "timer+simulate", "--budget", "100s", "--",
                                    self.program, "jumps", env=ENVIRONMENT)
        # There is time for the most that there may be: a fifth.
        self.assertEqual(0, done.returncode)
        self.assertIn("all was simulated", str(self.report(profile, "--by", "module")["ledger"]))

    def test_are_chosen_where_all_of_it_would_take_minutes(self):
        """Of a program that ends by its own clock, so that it takes as long on any machine."""
        spin = self.compile_text(SPIN, "spin.c", "spin", "-O1")
        for ms, options, are_chosen in ((900, (), True), (900, ("--windows", "all"), False),
                                        (900, ("--detail", "events", "--objects", "site"), False),
                                        (50, (), False)):
            with self.subTest(ms=ms, options=options):
                profile, done = self.record("--engine", "timer+simulate", "--machine", "zen4",
                                            "--no-experiments", *options, "--", spin, str(ms))
                ledger = str(self.report(profile, "--by", "module")["ledger"])
                # By its own clock a fast machine brings it to its first windows, a slow one does not.
                self.assertEqual(are_chosen, "all was simulated" in ledger or "from windows with" in ledger)
                self.assertEqual(are_chosen, "all of it, which is exact: --windows all" in done.stderr)

    def test_answers_show_errors(self):
        profile, _ = self.simulate(self.program, "phases",
                                   options=("--windows", f"10%,3,{FIRST}"))
        self.assertRegex(self.culprit("report", profile).stdout, r"\?share +\+- ")
        self.assertRegex(self.culprit("why", profile).stdout,
                         r"100\.0 % +[0-9]+\.[0-9] \? unhalted cycles")
