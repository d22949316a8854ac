"""record --region FUNCTION: calls of a function of a program as it is, measured and simulated; and
record --region-events: what the kernel counts in each region of each thread.

Programs print what they computed: a wrapper around their functions must change nothing of it.
"""
import json
import os
import unittest

import jsonschema

from harness import PROGRAMS, SOURCE, CulpritTest, run

CALLED = PROGRAMS / "called.cc"
SCHEMA = json.loads((SOURCE / "schema/regions.schema.json").read_text())
# 100 rounds; fibonacci(15) makes 2 F(16) - 1 calls; every second call of throws_odd throws.
CALLS = {"make_big": 100, "many": 100, "sum_up": 100, "floats": 100, "vectors": 100, "precise": 100,
         "fibonacci": 2 * 987 - 1, "throws_odd": 1000, "passes_on": 1000, "ends_thread": 1}
NATIVE = f"qemu-{os.uname().machine}"
# Clones (ISRA, constant arguments) have names of their own.
FLAGS = ("-g", "-pthread", "-fno-optimize-sibling-calls", "-fno-ipa-sra", "-fno-ipa-cp")


def of_region(names):
    return [word for name in names for word in ("--region", name)]


class RegionFunctions(CulpritTest):
    def regions(self, *words, **options):
        profile, done = self.record(*words, **options)
        report = json.loads(self.culprit("regions", profile, "--format", "json").stdout)
        jsonschema.validate(report, SCHEMA)
        return report, done

    def calls(self, report):
        return {one["name"].split("(")[0]: one["sum"]["executions"]
                for one in report["constructs"] if one["kind"] == "function"}

    def need_x86(self):
        if os.uname().machine != "x86_64":
            self.skipTest("running programs are changed on x86-64 only")


class Measured(RegionFunctions):
    def test_calls_are_counted_and_nothing_is_disturbed(self):
        self.need_x86()
        for compiler, level in (("g++", "-O0"), ("g++", "-O2"), ("clang++-19", "-O2")):
            with self.subTest(compiler=compiler, level=level):
                self.need(compiler)
                flags = [flag for flag in FLAGS if "ipa" not in flag or compiler == "g++"]
                program = self.compile(CALLED, f"called-{compiler}{level}", level, *flags,
                                       compiler=compiler)
                plain = run(program).stdout
                report, done = self.regions(*of_region([*CALLS, "jumps"]), "--", program)
                self.assertEqual(done.stdout, plain)
                calls = self.calls(report)
                calls.pop("jumps", None)
                # The last one seems to go on to the end.
                jumps = next(one for one in report["constructs"]
                             if one["name"].startswith("jumps"))
                self.assertEqual(jumps["sum"]["unfinished"], 1)
                self.assertEqual(calls, CALLS)
                # Of 499 calls that a jump left, each is seen to be over by the next one.
                self.assertEqual(report["ledger"]["regions_dropped"], 498)
                self.assertNotIn("regions_unmatched", report["ledger"])

    def test_constructs_are_below_the_function_and_times_are_its_own(self):
        self.need_x86()
        text = """
#include <time.h>
__attribute__((noinline)) static void solve(int ms) {
  struct timespec t = {0, ms * 1000000};
#pragma omp parallel num_threads(2)
#pragma omp critical
  nanosleep(&t, 0);
}
int main(void) { for (int i = 0; i < 3; ++i) solve(10); return 0; }"""
        try:
            program = self.compile_text(text, "solve.c", "solve", "-O1", "-g", "-fopenmp",
                                        "-fno-ipa-cp")
        except AssertionError as error:
            if "omp.h" in str(error):
                self.skipTest("no OpenMP here")
            raise
        report, _ = self.regions("--region", "solve", "--", program)
        kinds = {one["id"]: one["kind"] for one in report["constructs"]}
        rows = report["call_graph"]
        chain = []
        row = next(row for row in rows if kinds[row["construct"]] == "critical")
        while row is not None:
            chain.append(kinds[row["construct"]])
            row = None if row["parent"] is None else rows[row["parent"]]
        self.assertEqual(chain, ["critical", "parallel", "function"])
        function = next(one for one in report["constructs"] if one["kind"] == "function")
        self.assertEqual(function["sum"]["executions"], 3)
        # Two naps of 10 ms one after the other, three times.
        self.assertGreaterEqual(function["sum"]["whole_ns"], 60e6)
        self.assertEqual(function["lines_are"], "construct")
        self.assertEqual(function["first_line"], 3)

    def test_samples_know_the_function(self):
        self.need_x86()
        text = """
static volatile unsigned long sum;
__attribute__((noinline)) static void solve(void) { for (long i = 0; i < 1000000; ++i) sum += i; }
int main(void) { for (int i = 0; i < 200; ++i) solve(); return 0; }"""
        program = self.compile_text(text, "spin.c", "spin", "-O1", "-g")
        profile, _ = self.record("--region", "solve", "--", program)
        rows = self.report(profile, "--by", "region,function", "--limit", "0")["rows"]
        regions = {row["region"] for row in rows if row["function"] == "solve"}
        self.assertEqual({name.split()[0] for name in regions}, {"function"}, regions)

    def test_children_and_libraries(self):
        self.need_x86()
        self.compile_text("int twice(int x) { volatile int y = x; return 2 * y; }", "twice.c",
                          "libtwice.so", "-O1", "-g", "-shared", "-fPIC")
        text = """
#include <sys/wait.h>
#include <unistd.h>
int twice(int);
int main(void) {
  if (fork() == 0) _exit(twice(2));
  int status;
  wait(&status);
  return twice(WEXITSTATUS(status)) != 8;
}"""
        program = self.compile_text(text, "uses.c", "uses", "-O1", "-g",
                                    "-Wl,--no-as-needed", self.folder / "libtwice.so",
                                    f"-Wl,-rpath,{self.folder}")
        report, _ = self.regions("--region", f"{self.folder}/libtwice.so:twice", "--", program)
        self.assertEqual(self.calls(report), {"twice": 2})

    def test_what_cannot_be_a_region_says_why(self):
        self.need_x86()
        text = """
__attribute__((noinline)) static int tiny(int x) { return x; }
__attribute__((noinline)) int loops(const int* p, long n) {
  int sum = 0;
  do { sum += *p++; } while (--n != 0);
  return sum;
}
int main(int count, char** words) {
  (void)words;
  volatile int (*const pointer)(int) = (volatile int (*)(int))tiny;
  return pointer(count) + loops(&count, 1) - 2;
}"""
        program = self.compile_text(text, "small.c", "small", "-O2", "-g", "-fno-ipa-cp",
                                    "-fno-ipa-icf")
        done = self.record("--region", "tiny", "--", program, status=125)[1]
        self.assertIn("'tiny' is shorter than 5 bytes", done.stderr)
        self.assertIn("--engine simulate", done.stderr)
        text = """
static int plain(int x) { volatile int y = x; return y; }
static int (*choose(void))(int) { return plain; }
__attribute__((noinline)) int chosen(int x) __attribute__((ifunc("choose")));
int main(int count, char** words) { (void)words; return chosen(count) - 1; }"""
        chosen = self.compile_text(text, "chosen.c", "chosen", "-O1", "-g")
        for engine in ((), ("--engine", "simulate")):
            done = self.record("--region", "chosen", *engine, "--", chosen, status=125)[1]
            self.assertIn("is not what is called", done.stderr)
        text = """
struct Table { long values[FIELDS]; };
__attribute__((noinline)) long take(struct Table by_value, int at) { return by_value.values[at]; }
int main(int count, char** words) {
  struct Table table = {{0}};
  (void)words;
  table.values[count] = 7;
  return take(table, count) - 7;
}"""
        for fields, status in ((64, 0), (65, 125)):   # 512 bytes are handed on
            taker = self.compile_text(text, "take.c", "take", "-O1", "-g", f"-DFIELDS={fields}", "-fno-ipa-sra")
            done = self.record("--region", "take", "--", taker, status=status)[1]
        self.assertIn("'take' takes 520 bytes of arguments on the stack, and a wrapper hands on 512", done.stderr)
        done = self.record("--region", "mian", "--", program, status=125)[1]
        self.assertIn("did you mean main?", done.stderr)
        done = self.record("--region", "main", "-p", os.getpid(), status=2)[1]
        self.assertIn("--regions is for a program that is started", done.stderr)

    def test_a_library_that_is_loaded_later_is_not_covered(self):
        self.need_x86()
        self.compile_text("int twice(int x) { volatile int y = x; return 2 * y; }", "twice.c",
                          "libtwice.so", "-O1", "-g", "-shared", "-fPIC")
        text = """
#include <dlfcn.h>
int main(int count, char** words) {
  (void)count;
  int (*twice)(int) = (int (*)(int))dlsym(dlopen(words[1], RTLD_NOW), "twice");
  return twice(2) - 4;
}"""
        program = self.compile_text(text, "later.c", "later", "-O1", "-g", "-ldl")
        library = self.folder / "libtwice.so"
        profile, done = self.record("--region", f"{library}:twice", "--", program, library)
        self.assertIn("are not covered: its file was in no process", done.stderr)
        notes = self.report(profile)["ledger"]["notes"]
        self.assertTrue(any("are not covered" in note for note in notes), notes)


class NotCovered(RegionFunctions):
    def test_programs_without_the_library(self):
        """A shell runs two programs for so long that both have samples."""
        text = """
#include <time.h>
static volatile unsigned long sum;
int main(void) {
  for (struct timespec t = {0}; t.tv_sec * 1000 + t.tv_nsec / 1000000 < 150;
       clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
    for (int i = 0; i < 100000; ++i) sum += i;
  return 0;
}"""
        static = self.compile_text(text, "spin.c", "all-in-one", "-O1", "-g", "-static")
        dynamic = self.compile_text(text, "spin.c", "with-us", "-O1", "-g")
        profile, _ = self.record("--regions", "--", "sh", "-c", f"{static}; {dynamic}; exit 0")
        report = self.report(profile, "--by", "process,region", "--limit", "0")
        self.assertEqual(report["ledger"]["region_processes_not_covered"], 1)
        self.assertIn("regions of these programs are not covered: all-in-one",
                      report["ledger"]["notes"])
        regions = {}
        for row in report["rows"]:
            regions.setdefault(row["process"].split()[0], set()).add(row["region"])
        self.assertEqual(regions["all-in-one"], {"[not known]"}, regions)
        self.assertIn("[outside regions]", regions["with-us"])

    def test_all_programs_with_the_library_are_covered(self):
        profile, _ = self.record("--regions", "--", "sh", "-c", "ls / >/dev/null; true | cat; exit 0")
        self.assertNotIn("region_processes_not_covered", self.report(profile)["ledger"])


class Simulated(RegionFunctions):
    def test_calls_and_their_counts(self):
        self.need(NATIVE)
        text = """
static double values[1000];
__attribute__((noinline)) static double read_values(long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += values[i];
  return sum;
}
int main(void) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += read_values(100 + i);
  for (long i = 0; i < 10; ++i) sum += ((volatile double*)values)[i];
  return sum != 0;
}"""
        program = self.compile_text(text, "read.c", "read", "-O1", "-g", "-static", "-fno-ipa-cp")
        profile, _ = self.record("--region", "read_values", "--engine", "simulate", "--machine",
                                 "none", "--", program)
        report = json.loads(self.culprit("regions", profile, "--format", "json", "--counter",
                                         "fp-loads").stdout)
        jsonschema.validate(report, SCHEMA)
        self.assertEqual(self.calls(report), {"read_values": 3})
        loads = report["constructs"][0]["sum"]["counts"]["fp-loads"]
        self.assertEqual(loads, {"inside": 100 + 101 + 102, "waiting": 0})

    def test_calls_of_all_kinds(self):
        self.need("g++", NATIVE)
        program = self.compile(CALLED, "called", "-O2", *FLAGS, compiler="g++")
        plain = run(program).stdout
        report, done = self.regions(*of_region(CALLS), "--engine", "simulate", "--machine", "none",
                                    "--", program)
        self.assertEqual(done.stdout, plain)
        self.assertEqual(self.calls(report), CALLS)


# Each thread touches pages that nobody has touched: a fault each. What else faults at its first use
# (code, stacks) is used before, in a section of its own.
PAGES = r"""
#include <omp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static void touch(char* memory, int pages, size_t page, int naps) {
  struct timespec nap = {0, 2000000};
  for (int i = 0; i < pages; ++i) memory[(size_t)i * page] = 1;
  for (int i = 0; i < naps; ++i) nanosleep(&nap, NULL);
}
int main(int count, char** words) {
  (void)words;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
#pragma omp parallel num_threads(3)
  {
    char* memory = mmap(NULL, 200 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, 200 * page, MADV_NOHUGEPAGE);
    const int pages = 100 + 20 * omp_get_thread_num();
    for (int i = 0; i < 2; ++i) {
#pragma omp critical(before)
      touch(memory + (size_t)(198 - i) * page, 1, page, 1);
    }
#pragma omp critical(many)
    touch(memory, pages, page, 5);
    if (count > 1) {
#pragma omp barrier
      for (int i = 3; i < 64; ++i) close(i);
#pragma omp barrier
    }
#pragma omp critical(one)
    touch(memory + 199 * page, 1, page, count > 1);
  }
  return !puts("done");
}"""

USAGE = """#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "culprit/region.h"
struct usage { long faults, switches, cpu_ns; };
static struct usage now(void) {
  struct rusage kernel;
  getrusage(RUSAGE_THREAD, &kernel);
  struct timespec cpu;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return (struct usage){kernel.ru_minflt + kernel.ru_majflt, kernel.ru_nvcsw + kernel.ru_nivcsw,
                        cpu.tv_sec * 1000000000L + cpu.tv_nsec};
}
static void tell(struct usage from, struct usage to) {
  printf("%ld %ld %ld\\n", to.faults - from.faults, to.switches - from.switches,
         to.cpu_ns - from.cpu_ns);
}
int main(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory = mmap(NULL, 300 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, 300 * page, MADV_NOHUGEPAGE);
  const struct timespec nap = {0, 1000000};
  const struct usage before = now();
  CULPRIT_REGION_BEGIN("work");
  const struct usage begin = now();
  for (size_t i = 0; i < 300; ++i) memory[i * page] = 1;
  for (int i = 0; i < 10; ++i) {
    nanosleep(&nap, NULL);
    CULPRIT_REGION_BEGIN("inside");
    CULPRIT_REGION_END("inside");
  }
  while (now().cpu_ns - begin.cpu_ns < 20000000) {}
  const struct usage end = now();
  CULPRIT_REGION_END("work");
  const struct usage after = now();
  tell(begin, end);
  tell(before, after);
  return 0;
}"""


class Counters(RegionFunctions):
    def program(self):
        try:
            return self.compile_text(PAGES, "pages.c", "pages", "-O1", "-g", "-fopenmp",
                                     "-Wl,-z,now")
        except AssertionError as error:
            if "omp.h" in str(error):
                self.skipTest("no OpenMP here")
            raise

    def counted(self, *arguments, events="page-faults,context-switches,task-clock"):
        profile, done = self.record("--region-events", events, "--", self.program(), *arguments,
                                    status=None)
        if done.returncode == 125 and "region-events" in done.stderr:
            self.skipTest("the kernel counts no events for us here")
        self.assertEqual(done.stdout, "done\n")
        report = json.loads(self.culprit("regions", profile, "--format", "json").stdout)
        jsonschema.validate(report, SCHEMA)
        return report, profile

    def test_page_faults_and_switches_of_each_thread(self):
        report, profile = self.counted()
        criticals = {one["name"]: one for one in report["constructs"] if one["kind"] == "critical"}
        first, second = criticals["many"], criticals["one"]
        faults = [one["counts"]["page-faults"]["inside"] for one in first["threads"]]
        self.assertEqual(faults, [100, 120, 140])   # a page each
        self.assertEqual([one["counts"]["page-faults"]["inside"] for one in second["threads"]],
                         [1, 1, 1])
        for one in first["threads"]:   # five naps
            self.assertGreaterEqual(one["counts"]["context-switches"]["inside"], 5)
            # They take 10 ms of the clock and next to nothing of a CPU.
            self.assertLess(one["counts"]["task-clock"]["inside"], one["body_ns"] / 2)
        region = next(one for one in report["constructs"] if one["kind"] == "parallel")
        self.assertGreaterEqual(region["sum"]["counts"]["page-faults"]["inside"], 360 + 3 + 6)
        self.assertIsNone(report["counts"]["page-faults"])   # of the program nobody counted them
        text = self.culprit("regions", profile).stdout
        self.assertIn("page-faults", text)

    def test_a_program_that_closes_its_files_is_not_disturbed(self):
        report, _ = self.counted("close")
        self.assertTrue(any("closed by the program" in note for note in report["ledger"]["notes"]),
                        report["ledger"])
        # What is read from memory needs no file.
        report, _ = self.counted("close", events="page-faults")
        last = next(one for one in report["constructs"] if one["name"] == "one")
        self.assertEqual([one["counts"]["page-faults"]["inside"] for one in last["threads"]],
                         [1, 1, 1])
        self.assertFalse(any("closed by the program" in note
                             for note in report["ledger"]["notes"]), report["ledger"])

    def test_they_are_what_the_kernel_says(self):
        """Beside getrusage(), asked for before and after each edge of the region."""
        program = self.compile_text(USAGE, "usage.c", "usage", "-O1", "-g",
                                    "-I", SOURCE / "include")
        profile, done = self.record("--region-events", "page-faults,context-switches,task-clock",
                                    "--", program, status=None)
        if done.returncode == 125 and "region-events" in done.stderr:
            self.skipTest("the kernel counts no events for us here")
        inner, outer = (tuple(int(word) for word in line.split())
                        for line in done.stdout.splitlines())
        report = json.loads(self.culprit("regions", profile, "--format", "json").stdout)
        work = next(one for one in report["constructs"] if one["name"] == "work")["sum"]
        seen = {name: one["inside"] for name, one in work["counts"].items()}
        self.assertGreaterEqual(inner[0], 300)
        for at, name in enumerate(("page-faults", "context-switches")):
            self.assertLessEqual(inner[at], seen[name], name)
            self.assertLessEqual(seen[name], outer[at], name)
        # A virtual machine's kernel may have two opinions of time that others took from it.
        self.assertGreater(seen["task-clock"], 0.9 * inner[2] - 1e6)
        self.assertLess(seen["task-clock"], 1.5 * outer[2] + 5e6)
        self.assertLess(seen["task-clock"], work["body_ns"])

    def test_a_child_that_nobody_knows_of_is_left_alone(self):
        """A fork without its handlers: what is read from memory is not there in the child."""
        program = self.compile_text("""
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "culprit/region.h"
int main(void) {
  CULPRIT_REGION_BEGIN("parent");
  const long child = syscall(SYS_fork);
  CULPRIT_REGION_BEGIN("both");
  CULPRIT_REGION_END("both");
  if (child == 0) _exit(7);
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  CULPRIT_REGION_END("parent");
  return !printf("child %d\\n", WEXITSTATUS(status));
}""", "unknown.c", "unknown", "-O1", "-I", SOURCE / "include")
        _, done = self.record("--region-events", "page-faults,task-clock", "--", program,
                              status=None)
        if done.returncode == 125 and "region-events" in done.stderr:
            self.skipTest("the kernel counts no events for us here")
        self.assertEqual(done.stdout, "child 7\n")

    def test_what_cannot_be_counted_is_said_at_once(self):
        done = self.record("--region-events", "page-fautls", "--", "true", status=125)[1]
        self.assertIn("page-faults", done.stderr)
        done = self.record("--region-events", "page-faults,cpu-clock,task-clock,minor-faults,"
                           "major-faults", "--", "true", status=125)[1]
        self.assertIn("4 are the most", done.stderr)


if __name__ == "__main__":
    unittest.main()
