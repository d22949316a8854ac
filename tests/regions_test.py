"""culprit record --regions and culprit regions: OpenMP constructs of real programs.

The programs' bodies sleep, and they measure themselves how long: what is expected depends on no CPU.
"""
import json
import os
import shutil
import unittest

import jsonschema

from harness import PROGRAMS, SOURCE, CulpritTest, run, runs_alone

CONSTRUCTS = PROGRAMS / "openmp/constructs.c"
GCC = [("gcc", "-O0"), ("gcc", "-O2")]
CLANG = [("clang-19", "-O0"), ("clang-19", "-O2")]
# Between its clock and ours a thread may lose its CPU.
ABSOLUTE_S, RELATIVE = 0.001, 0.02


def schema():
    return json.loads((SOURCE / "schema/regions.schema.json").read_text())


class RegionsTest(CulpritTest):
    def openmp(self, source, output, compiler, *flags):
        """A program of OpenMP; skips where the compiler has none."""
        self.need(compiler)
        try:
            return self.compile(source, output, "-g", "-fopenmp", *flags, compiler=compiler)
        except AssertionError as error:
            if "omp.h" in str(error) or "lomp" in str(error):
                self.skipTest(f"{compiler} has no OpenMP here (libomp-19-dev)")
            raise

    def regions(self, *command, status=0, **options):
        """(the report, what the program printed)"""
        profile, done = self.record("--regions", *command, status=status, **options)
        report = json.loads(self.culprit("regions", profile, "--format", "json").stdout)
        jsonschema.validate(report, schema())
        self.check_sums(report)
        return report, done

    def check_sums(self, report):
        for construct in report["constructs"]:
            for one in [construct["sum"], *construct["threads"]]:
                parts = sum(one[part + "_ns"] for part in
                            ("enter", "body", "exit", "exit_barrier", "wait"))
                self.assertAlmostEqual(one["whole_ns"], parts, delta=1)
            whole = sum(one["whole_ns"] for one in construct["threads"])
            self.assertAlmostEqual(construct["sum"]["whole_ns"], whole, delta=1)

    def check_exclusive(self, report):
        """Of a program without regions in others: exclusive times are those of the outermost."""
        graph = report["call_graph"]
        roots = sum(one["inclusive_ns"] for one in graph if one["parent"] is None)
        exclusive = sum(one["exclusive_ns"] for one in graph)
        self.assertAlmostEqual(exclusive, roots, delta=max(1e5, 0.005 * roots))

    def find(self, report, kind, line=None):
        found = [one for one in report["constructs"]
                 if one["kind"] == kind and line in (None, one["first_line"])]
        self.assertEqual(len(found), 1, f"{kind} {line}: {report['constructs']}")
        return found[0]

    def near(self, seen_s, expected_s, what=""):
        self.assertLessEqual(abs(seen_s - expected_s),
                             max(ABSOLUTE_S, RELATIVE * expected_s), f"{what} {seen_s} {expected_s}")


def seconds(construct, part):
    """By thread, in their order."""
    return [one[part + "_ns"] / 1e9 for one in construct["threads"]]


def said(text):
    """What the program measured: {name: [seconds by thread]}"""
    found = {}
    for line in text.splitlines():
        name, thread, value = line.split()
        found.setdefault(name, []).append(float(value))
    return found


def pragma_line(text, number=1):
    lines = [index for index, line in enumerate(CONSTRUCTS.read_text().splitlines(), 1)
             if text in line]
    return lines[number - 1]


@runs_alone("measures how long threads sleep and wait")
class Constructs(RegionsTest):
    def each(self, compilers, case):
        for compiler, level in compilers:
            print(compiler, level)   # of a failure's traceback it is the last
            program = self.openmp(CONSTRUCTS, f"constructs-{compiler}{level}", compiler, level)
            report, done = self.regions(program, case)
            yield compiler, report, said(done.stdout)

    def both_near(self, construct, enters, bodies):
        for seen, expected in zip(seconds(construct, "enter"), enters):
            self.near(seen, expected, "enter")
        for seen, expected in zip(seconds(construct, "body"), bodies):
            self.near(seen, expected, "body")

    def test_critical(self):
        for _, report, own in self.each(GCC + CLANG, "critical"):
            critical = self.find(report, "critical")
            self.assertEqual([one["executions"] for one in critical["threads"]], [1, 1, 1, 1])
            self.both_near(critical, own["enter"], own["critical"])
            self.assertEqual(critical["first_line"], pragma_line("#pragma omp critical\n".strip()))
            self.assertEqual(critical["lines_are"], "construct")

    def test_critical_with_names(self):
        for _, report, own in self.each(GCC + CLANG, "named"):
            for name in ("first", "second"):
                critical = self.find(report, "critical", pragma_line(f"critical({name})"))
                self.near(sum(seconds(critical, "body")), sum(own[name]), name)

    def test_dynamic_loop(self):
        for compiler, report, own in self.each(GCC + CLANG, "loop"):
            loop = self.find(report, "loop")
            self.assertEqual(loop["name"], "dynamic")
            for seen, expected in zip(seconds(loop, "body"), own["loop"]):
                self.near(seen, expected, "body")
            self.assertGreaterEqual(loop["sum"]["pieces"], 8)

    def test_guided_loop_of_a_region(self):
        for _, report, own in self.each(GCC + CLANG, "guided"):
            loop = self.find(report, "loop")
            self.assertEqual(loop["name"], "guided")
            self.near(sum(seconds(loop, "body")), sum(own["loop"]), "body")

    def test_static_loop(self):
        for compiler, report, own in self.each(GCC + CLANG, "static"):
            if compiler == "gcc":
                region = self.find(report, "parallel")
                for seen, expected in zip(seconds(region, "body"), own["loop"]):
                    self.near(seen, expected, "body")
            else:
                loop = self.find(report, "loop")
                self.assertEqual(loop["name"], "static")
                for seen, expected in zip(seconds(loop, "body"), own["loop"]):
                    self.near(seen, expected, "body")

    def test_sections(self):
        for compiler, report, own in self.each(GCC + CLANG, "sections"):
            sections = self.find(report, "sections")
            self.assertEqual(sections["sum"]["pieces"], 2)
            self.assertEqual(sections["first_line"], pragma_line("omp sections"))
            for seen, expected in zip(seconds(sections, "body"), own["sections"]):
                self.near(seen, expected, "body")
            self.assertEqual([one["pieces"] > 0 for one in sections["threads"]],
                             [slept > 0 for slept in own["sections"]])

    def test_sections_of_clang_are_of_the_threads_that_ran_them(self):
        section = """
#pragma omp section
    __atomic_fetch_add(&ran[omp_get_thread_num()], 1, __ATOMIC_RELAXED);
"""
        source = self.folder / "five.c"
        source.write_text(f"""#include <omp.h>
#include <stdio.h>
int ran[2];
int main(void) {{
#pragma omp parallel num_threads(2)
  {{
#pragma omp parallel num_threads(1)
    __atomic_fetch_add(&ran[0], 0, __ATOMIC_RELAXED);
#pragma omp sections
    {{{section * 5}    }}
  }}
  for (int i = 0; i < 2; ++i) printf("ran %d %d\\n", i, ran[i]);
}}
""")
        program = self.openmp(source, "five", "clang-19", "-O1")
        report, done = self.regions(program)
        sections = self.find(report, "sections")
        self.assertEqual([one["pieces"] for one in sections["threads"]],
                         [int(count) for count in said(done.stdout)["ran"]])

    def test_fewer_sections_than_threads(self):
        """Who has no section waits at the region's own barrier: no work is uneven there."""
        program = self.compile_text("""#include <unistd.h>
int main(void) {
#pragma omp parallel sections num_threads(4)
  {
#pragma omp section
    usleep(30000);
#pragma omp section
    usleep(30000);
  }
}
""", "few.c", "few", "-O2", "-g", "-fopenmp", compiler="gcc")
        report, _ = self.regions(program)
        lost = report["regions"][0]["overheads"]
        self.assertEqual(lost["imbalance_ns"], 0)
        self.assertGreater(lost["limited_parallelism_ns"], 30e6)
        properties = [finding["property"] for finding in report["findings"]]
        self.assertIn("ImbalanceDueToNotEnoughSections", properties)
        self.assertNotIn("ImbalanceInParallelSections", properties)

    def test_single(self):
        for compiler, report, own in self.each(GCC + CLANG, "single"):
            single = self.find(report, "single")
            self.assertEqual(single["sum"]["executions"], 4)
            self.assertEqual(single["sum"]["pieces"], 1)
            self.assertEqual(single["first_line"], pragma_line("omp single"))
            for seen, expected in zip(seconds(single, "body"), own["single"]):
                self.near(seen, expected, "body")
            if compiler != "gcc":
                # How long depends on when they came, but the one that works does not wait most.
                executor = own["single"].index(max(own["single"]))
                waiting = seconds(single, "exit_barrier")
                self.assertLess(waiting[executor], max(waiting))

    def test_barrier(self):
        for _, report, own in self.each(GCC + CLANG, "barrier"):
            barrier = self.find(report, "barrier")
            for seen, expected in zip(seconds(barrier, "wait"), own["wait"]):
                self.near(seen, expected, "wait")

    def test_lock(self):
        for _, report, own in self.each(GCC + CLANG, "lock"):
            lock = self.find(report, "lock")
            self.both_near(lock, own["enter"], own["lock"])
            self.check_exclusive(report)
            self.assertEqual(lock["first_line"], pragma_line("omp_set_lock"))

    def test_ordered(self):
        for _, report, own in self.each(GCC + CLANG, "ordered"):
            ordered = self.find(report, "ordered")
            self.both_near(ordered, own["enter"], own["ordered"])

    def test_tasks_are_not_waiting(self):
        for _, report, own in self.each(GCC + CLANG, "tasks"):
            task = self.find(report, "task")
            self.assertEqual(task["sum"]["executions"], 8)
            self.assertEqual(task["sum"]["pieces"], 8)
            self.near(sum(seconds(task, "body")), sum(own["task"]), "task")
            # Four threads, eight tasks: nobody waits as long as two tasks take.
            wait = self.find(report, "taskwait")
            self.assertLess(wait["sum"]["wait_ns"] / 1e9, max(own["task"]))
            self.check_exclusive(report)

    def check_lasts(self, seen_s, threads_s, program_s):
        """As long as its busiest thread, and not longer than the program, whose runtime starts."""
        self.assertGreaterEqual(seen_s, max(threads_s) - ABSOLUTE_S)
        self.assertLessEqual(seen_s, program_s + ABSOLUTE_S)

    def test_tasks_at_the_end_of_a_region_are_its_work(self):
        for _, report, own in self.each(GCC + CLANG, "late"):
            region = self.find(report, "parallel")
            self.check_lasts(report["parallel_wall_ns"] / 1e9, own["task"], own["whole"][0])
            for whole in seconds(region, "whole"):
                self.check_lasts(whole, own["task"], own["whole"][0])
            tasks = sum(own["task"])
            self.near(region["sum"]["inner_tasks_ns"] / 1e9, tasks, "tasks")
            self.check_exclusive(report)
            self.assertGreaterEqual(region["sum"]["body_ns"], region["sum"]["inner_tasks_ns"])
            # The single is over at once, unless its thread loses its CPU.
            for finding in report["findings"]:
                if finding["property"] == "UnparallelizedInSingleRegion":
                    self.assertLess(finding["severity"], 0.25)

    def test_tasks_at_the_end_of_a_region_hold_others(self):
        for _, report, own in self.each(GCC + CLANG[:1], "inside"):
            outer, inner = [one for one in report["constructs"] if one["kind"] == "parallel"]
            tasks = sum(own["outer"]) + sum(own["inner"]) + sum(own["region"])
            for whole in seconds(outer, "whole"):
                self.check_lasts(whole, [tasks / 4], own["whole"][0])
            self.near(outer["sum"]["inner_tasks_ns"] / 1e9, tasks, "tasks")
            self.check_exclusive(report)  # the inner region has one thread
            self.near(sum(seconds(inner, "body")), sum(own["region"]), "inner region")

    def test_taskloop(self):
        for compiler, report, own in self.each(GCC + CLANG, "taskloop"):
            task = self.find(report, "taskloop" if compiler == "gcc" else "task")
            self.assertEqual(task["sum"]["executions"], 8)
            self.near(sum(seconds(task, "body")), sum(own["task"]), "task")
            self.check_exclusive(report)

    def test_master(self):
        for _, report, own in self.each(CLANG, "master"):
            master = self.find(report, "master")
            self.near(sum(seconds(master, "body")), own["master"][0], "master")

    def test_nested_regions(self):
        # At -O2 clang jumps to its runtime for the inner region, which then has the outer one's
        # address: both are one construct.
        for _, report, own in self.each(GCC + CLANG[:1], "nested"):
            regions = [one for one in report["constructs"] if one["kind"] == "parallel"]
            self.assertEqual(len(regions), 2)
            inner = regions[1]
            self.assertEqual(inner["sum"]["executions"], 4)
            self.near(sum(seconds(inner, "body")), sum(own["nested"]), "nested")

    def test_serial_time_is_nobodys_waiting(self):
        for _, report, own in self.each(GCC + CLANG, "often"):
            region = self.find(report, "parallel")
            self.assertEqual([one["executions"] for one in region["threads"]], [5, 5, 5, 5])
            for seen, expected in zip(seconds(region, "body"), own["parallel"]):
                self.near(seen, expected, "body")
            walls = seconds(region, "whole")
            self.assertLess(max(walls) - min(walls), 0.002)
            self.assertLess(max(walls), own["whole"][0] - 5 * 0.02)


    def test_fortran(self):
        """By GNU's compiler, and LLVM's if it is here; bench/region_constructs.py has all cases."""
        self.need("gfortran")
        source = PROGRAMS / "openmp/constructs.f90"
        lines = source.read_text().splitlines()
        for compiler in ("gfortran", "flang-new-19"):
            if shutil.which(compiler) is None:
                continue
            program = self.folder / compiler
            run(compiler, "-O2", "-g", "-fopenmp", source, "-o", program, cwd=self.folder)
            for kind, pragma in (("critical", "!$omp critical"), ("single", "!$omp single")):
                print(compiler, kind)
                report, done = self.regions(program, kind)
                construct = self.find(report, kind)
                for seen, expected in zip(seconds(construct, "body"), said(done.stdout)[kind],
                                          strict=True):
                    self.near(seen, expected, "body")
                line = lines[construct["first_line"] - 1].strip()
                self.assertEqual((line, construct["lines_are"]), (pragma, "construct"))
                region = self.find(report, "parallel")
                line = lines[region["first_line"] - 1].strip()
                self.assertTrue(line.startswith("!$omp parallel num_threads"), region)


class Programs(RegionsTest):
    """What is around the measurement: the program is what it was, whatever it does."""

    def test_lines_of_pragmas(self):
        for compiler, level in GCC + CLANG:
            with self.subTest(compiler=compiler, level=level):
                program = self.openmp(CONSTRUCTS, f"lines-{compiler}{level}", compiler, level)
                report, _ = self.regions(program, "barrier", 1)
                barrier = self.find(report, "barrier")
                self.assertEqual(barrier["first_line"], pragma_line("omp barrier"))
                region = self.find(report, "parallel")
                within = [index for index, line in enumerate(
                    CONSTRUCTS.read_text().splitlines(), 1) if line == "static void barrier(void) {"]
                self.assertEqual(region["first_line"], within[0] + 1)

    def test_the_program_is_what_it_was(self):
        text = """
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic) num_threads(3)
  for (int i = 0; i < 1000; ++i) sum += i;
  printf("%d %s\\n", sum, words[1]);
  fprintf(stderr, "told\\n");
  fflush(stdout);
  if (count > 2) raise(SIGTERM);
  return 42;
}"""
        program = self.compile_text(text, "sum.c", "sum", "-g", "-fopenmp")
        _, done = self.regions(program, "word", status=42)
        self.assertEqual(done.stdout, "499500 word\n")
        self.assertIn("told\n", done.stderr)
        report, done = self.regions(program, "word", "signal", status=-15)
        self.assertEqual(self.find(report, "loop")["sum"]["pieces"], 1000)

    def test_ends_inside_regions(self):
        text = """
#include <omp.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static jmp_buf back;
int main(int count, char** words) {
  (void)count;
  const char* how = words[1];
  if (strcmp(how, "fork") == 0) {
#pragma omp parallel num_threads(2)
#pragma omp critical
    if (omp_get_thread_num() == 0) {
      const pid_t child = fork();
      if (child == 0) _exit(3);
      int status;
      waitpid(child, &status, 0);
      printf("child %d\\n", WEXITSTATUS(status));
    }
    return 0;
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
#pragma omp master
    {
      if (strcmp(how, "exit") == 0) exit(5);
      if (strcmp(how, "_exit") == 0) _exit(6);
      if (strcmp(how, "abort") == 0) abort();
      if (strcmp(how, "longjmp") == 0 && setjmp(back) == 0) longjmp(back, 1);
    }
  }
  return 0;
}"""
        for compiler, _ in (GCC[0], CLANG[0]):
            self.need(compiler)
            try:
                program = self.compile_text(text, "ends.c", f"ends-{compiler}", "-g", "-fopenmp",
                                            compiler=compiler)
            except AssertionError:
                self.skipTest(f"{compiler} has no OpenMP here (libomp-19-dev)")
            for how, status in (("exit", 5), ("_exit", 6), ("abort", -6), ("longjmp", 0),
                                ("fork", 0)):
                with self.subTest(compiler=compiler, how=how):
                    report, done = self.regions(program, how, status=status)
                    if how in ("exit", "_exit", "abort"):
                        self.assertTrue(any("ended inside" in note
                                            for note in report["ledger"]["notes"]), report)
                        region = self.find(report, "parallel")
                        # Of the other thread the body may have ended, and its wait not.
                        self.assertIn(region["sum"]["unfinished"], (1, 2))
                    if how == "fork":
                        self.assertEqual(done.stdout, "child 3\n")
                        # What the child was in is its parent's.
                        self.assertEqual([one["sum"]["unfinished"] for one in report["constructs"]],
                                         [0, 0])
                        self.assertEqual(report["ledger"]["regions_open"], 2)

    def test_what_has_not_ended_lasts_until_the_program_does(self):
        text = """
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** words) {
  (void)count;
  omp_lock_t lock;
  volatile int asks = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      asks = 1;
      omp_set_lock(&lock);
    } else {
      while (!asks) usleep(100);
      double begin = omp_get_wtime();
      usleep(60000);
      printf("%.6f\\n", omp_get_wtime() - begin);
      fflush(stdout);
      if (strcmp(words[1], "_exit") == 0) _exit(6);
      raise(SIGKILL);
    }
  }
  return 0;
}"""
        path = self.folder / "stuck.c"
        path.write_text(text)
        for compiler, engine, how, status in (("gcc", "timer", "_exit", 6),
                                              ("gcc", "posix-timer", "kill", -9),
                                              ("clang-19", "timer", "kill", -9)):
            print(compiler, engine, how)
            program = self.openmp(path, f"stuck-{compiler}", compiler, "-O1")
            report, done = self.regions("--engine", engine, program, how, status=status)
            slept_s = float(done.stdout)
            # Compilers may make one call of both.
            locks = [one for one in report["constructs"] if one["kind"] == "lock"]
            region = self.find(report, "parallel")
            for seen_ns in (sum(one["sum"]["body_ns"] for one in locks),
                            *(one["body_ns"] for one in region["threads"])):
                # What it took to end the process is that machine's.
                self.assertGreaterEqual(seen_ns / 1e9, slept_s - ABSOLUTE_S)
                self.assertLess(seen_ns / 1e9, slept_s + 1)
            # It may lose its CPU just before it asks.
            waits = [one["enter_ns"] for lock in locks for one in lock["threads"]]
            self.assertGreater(max(waits) / 1e9, slept_s / 4)
            for key in ("executions", "unfinished"):
                self.assertEqual(sum(one["sum"][key] for one in locks), 2)
            self.assertIn("ended inside 4 executions", " ".join(report["remarks"]))

    def test_two_runtimes_of_their_own_scope(self):
        library = """
#include <omp.h>
__attribute__((visibility("default"))) int count_threads(void) {
  int threads = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp critical
    threads += omp_get_num_threads() == 3;
  }
  return threads;
}"""
        loader = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) { puts(dlerror()); return 1; }
    int (*run)(void) = (int (*)(void))dlsym(library, "count_threads");
    printf("%d\\n", run());
  }
  return 0;
}"""
        # Copies of libgomp under names of their own, as Python's packages bring them.
        system = run("gcc", "-print-file-name=libgomp.so.1").stdout.strip()
        if not os.path.exists(system):
            self.skipTest("no libgomp.so.1 beside gcc")
        paths = []
        for name in ("1", "2"):
            own = f"libgom{name}.so.1"   # as long as the name that it replaces
            (self.folder / own).write_bytes(
                open(system, "rb").read().replace(b"libgomp.so.1", own.encode()))
            path = self.folder / f"lib{name}.so"
            run("gcc", "-g", "-fopenmp", "-fPIC", "-c", "-x", "c", "-", "-o",
                self.folder / f"{name}.o", input=library)
            run("gcc", "-shared", self.folder / f"{name}.o", self.folder / own, "-o", path,
                "-Wl,-rpath," + str(self.folder))
            self.assertIn(own, run("readelf", "-d", path).stdout)
            paths.append(path)
        program = self.compile_text(loader, "loader.c", "loader", "-g", "-ldl")
        report, done = self.regions(program, *paths)
        self.assertEqual(done.stdout, "3\n3\n")
        criticals = [one for one in report["constructs"] if one["kind"] == "critical"]
        self.assertEqual([one["sum"]["executions"] for one in criticals], [3, 3])

    def test_tools_of_others_and_none(self):
        program = self.openmp(CONSTRUCTS, "told", "clang-19")
        for setting, words in (({"OMP_TOOL": "disabled"}, "OMP_TOOL=disabled"),
                               ({"OMP_TOOL_LIBRARIES": "/nowhere.so"}, "another tool")):
            with self.subTest(**setting):
                profile, done = self.record("--regions", program, "critical", 1,
                                            env={**os.environ, **setting})
                self.assertEqual(len(said(done.stdout)["critical"]), 4)
                self.assertIn("no OpenMP construct was seen", done.stderr)
                report = self.report(profile)
                self.assertTrue(any(words in note for note in report["ledger"]["notes"]),
                                report["ledger"])

    def test_a_runtime_without_tool_interface(self):
        """Another one of LLVM's kind, by its name."""
        library = self.compile_text("int run(int x) { return x; }", "runtime.c", "libiomp5.so",
                                    "-shared", "-fPIC")
        program = self.compile_text("int run(int); int main(void) { return run(7); }", "uses.c",
                                    "uses", "-Wl,--no-as-needed", library,
                                    f"-Wl,-rpath,{self.folder}")
        profile, done = self.record("--regions", program, status=7)
        self.assertIn("no OpenMP construct was seen", done.stderr)
        notes = self.report(profile)["ledger"]["notes"]
        self.assertTrue(any("without tool interface" in note for note in notes), notes)

    def test_marks_that_do_not_fit_together(self):
        text = """
#include "culprit/region.h"
#include <stdio.h>
int main(void) {
  CULPRIT_REGION_BEGIN("outer");
  CULPRIT_REGION_BEGIN("inner");
  CULPRIT_REGION_END("outer");   /* takes the inner one along */
  CULPRIT_REGION_END("inner");   /* has none */
  CULPRIT_REGION_BEGIN("whole");
  CULPRIT_REGION_END("whole");
  CULPRIT_REGION_BEGIN("open");
  return !puts("done");
}"""
        program = self.compile_text(text, "marks.c", "marks", "-g", *MARKS)
        report, done = self.regions(program)
        self.assertEqual(done.stdout, "done\n")
        marks = {one["name"]: one["sum"]["executions"] for one in report["constructs"]}
        self.assertEqual((marks["outer"], marks["whole"]), (1, 1))
        ledger = report["ledger"]
        self.assertEqual([ledger["regions_" + key] for key in ("dropped", "unmatched")], [1, 1])
        unfinished = {one["name"]: one["sum"]["unfinished"] for one in report["constructs"]}
        self.assertEqual(unfinished, {"outer": 0, "inner": 0, "whole": 0, "open": 1})

    def test_what_cannot_be_measured_says_so(self):
        static = self.compile_text("int main(void) { return 0; }", "s.c", "s", "-static")
        done = self.record("--regions", static, status=125)[1]
        self.assertIn("statically linked", done.stderr)
        done = self.culprit("record", "--regions", "-p", os.getpid(), status=2)
        self.assertIn("--regions", done.stderr)
        profile, _ = self.record("true")
        done = self.culprit("regions", profile, status=1)
        self.assertIn("culprit record --regions", done.stderr)

    def test_memory_is_of_regions_not_of_executions(self):
        text = """
#include <omp.h>
int main(void) {
  volatile long sum = 0;
#pragma omp parallel num_threads(2)
  for (long i = 0; i < 200000; ++i) {
#pragma omp critical
    sum += i;
  }
  return 0;
}"""
        program = self.compile_text(text, "many.c", "many", "-O1", "-g", "-fopenmp")
        report, _ = self.regions(program)
        self.assertEqual(self.find(report, "critical")["sum"]["executions"], 400000)
        self.assertLess((self.folder / "profile.culprit").stat().st_size, 500_000)

    def test_fortran(self):
        self.need("gfortran")
        text = """program sums
  integer :: i
  real(8) :: a(1000), total
  total = 0
  !$omp parallel do schedule(dynamic, 100) num_threads(2)
  do i = 1, 1000
    a(i) = half(2 * i)
  end do
  !$omp end parallel do
  !$omp parallel num_threads(2)
  !$omp critical
  total = total + 1
  !$omp end critical
  !$omp end parallel
  print '(F6.1, F10.1)', total, sum(a)
contains
  real(8) function half(n)
    integer, intent(in) :: n
    half = 0.5d0 * n
  end function
end program
"""
        program = self.compile_text(text, "sums.f90", "sums", "-O2", "-g", "-fopenmp",
                                    compiler="gfortran")
        report, done = self.regions(program)
        self.assertEqual(done.stdout.split(), ["2.0", "500500.0"])
        self.assertEqual(self.find(report, "loop")["sum"]["pieces"], 10)
        self.assertEqual(self.find(report, "critical")["first_line"], 11)
        # A function that is inlined there, from below, is no part of it.
        region = next(one for one in report["constructs"] if one["type"] == "PARALLEL LOOP")
        self.assertEqual(region["first_line"], 5)
        self.assertIn(region["last_line"], (7, 8, 9))


MARKS = ("-I", SOURCE / "include")


@runs_alone("measures how long threads sleep")
class Ranks(RegionsTest):
    """Processes of an MPI program, by what a launcher says in the environment."""

    def test_ranks_together(self):
        program = self.openmp(CONSTRUCTS, "constructs", "gcc", "-O2")
        files, own = [], {}
        for rank, nap_ms in (("0", "20"), ("10", "20"), ("2", "60")):
            environment = {**os.environ, "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "11"}
            _, done = self.record("--regions", "--", program, "critical", nap_ms, env=environment)
            files.append(self.folder / f"profile.rank{rank}.culprit")
            self.assertIn(files[-1].name, done.stderr)
            own[rank] = said(done.stdout)
        report = json.loads(self.culprit("regions", *files, "--format", "json").stdout)
        jsonschema.validate(report, schema())
        self.check_sums(report)
        self.assertEqual([f"r{rank}:{number}" for rank in ("0", "2", "10") for number in range(4)],
                         [thread["thread"] for thread in report["threads"]])
        critical = self.find(report, "critical")
        bodies = [body for rank in ("0", "2", "10") for body in own[rank]["critical"]]
        for seen, expected in zip(seconds(critical, "body"), bodies, strict=True):
            self.near(seen, expected)
        # Ranks run at once: the region takes as long as in the slowest, 4 bodies of 60 ms.
        region = self.find(report, "parallel")
        wall = next(one for one in report["regions"] if one["construct"] == region["id"])["wall_ns"]
        slowest = max(one["whole_ns"] for one in region["threads"])
        self.assertAlmostEqual(slowest, wall, delta=1)
        text = self.culprit("regions", *files).stdout
        self.assertIn("r10:3", text)


class Real(RegionsTest):
    """Programs as they are written: right results, and what is reported of them."""

    def both(self, program, **options):
        """The report; what the program prints is what it prints without us."""
        plain = run(program, cwd=self.folder).stdout
        report, done = self.regions(program, **options)
        self.assertEqual(done.stdout, plain)
        self.assertNotIn("regions_dropped", report["ledger"])
        self.assertNotIn("regions_unmatched", report["ledger"])
        return report

    def test_conjugate_gradients(self):
        for compiler in ("gcc", "clang-19"):
            program = self.openmp("openmp/cg.c", f"cg-{compiler}", compiler, "-O2", "-lm")
            report = self.both(program)
            executions = sum(max(one["executions"] for one in region["threads"])
                             for region in report["constructs"] if region["kind"] == "parallel")
            self.assertEqual(executions, 1 + 150 * 5)   # 150 steps of five operations

    def test_tasks_that_sort(self):
        for compiler in ("gcc", "clang-19"):
            program = self.openmp("openmp/sort.c", f"sort-{compiler}", compiler, "-O2")
            report = self.both(program)
            tasks = [one for one in report["constructs"] if one["kind"] == "task"]
            # 64,000 numbers halve six times: 63 merges, of two tasks each.
            self.assertEqual(sum(one["sum"]["executions"] for one in tasks), 126)
            self.assertEqual(sum(one["sum"]["pieces"] for one in tasks), 126)
            self.assertLess(len(report["constructs"]), 10)   # recursion is one construct

    def test_walk_of_a_graph(self):
        program = self.openmp("openmp/walk.cc", "walk", "g++", "-O2")
        report = self.both(program)
        self.assertEqual(self.find(report, "loop")["name"], "dynamic")
        self.assertEqual(self.find(report, "critical")["sum"]["executions"], 4 * 23)

    def test_stencil_with_marks(self):
        for compiler in ("g++", "clang++-19"):
            program = self.openmp("openmp/stencil.cc", f"stencil-{compiler}", compiler, "-O2",
                                  *MARKS)
            report = self.both(program)
            marks = {one["name"]: one for one in report["constructs"] if one["kind"] == "user"}
            self.assertEqual(marks["sweeps"]["sum"]["executions"], 1)
            self.assertEqual(marks["step"]["sum"]["executions"], 3 * 20)
            self.assertTrue(marks["step"]["file"].endswith("stencil.cc"), marks["step"])
            rows = report["call_graph"]
            names = {one["id"]: one["name"] or one["kind"] for one in report["constructs"]}
            step = next(row for row in rows if names[row["construct"]] == "step")
            around = rows[step["parent"]]
            self.assertEqual(names[around["construct"]], "parallel")
            self.assertEqual(names[rows[around["parent"]]["construct"]], "sweeps")

    def test_marks_do_nothing_without_us(self):
        for flags in (("-no-pie",), ("-static",), ("-O0",)):
            program = self.compile("openmp/stencil.cc", "plain", *MARKS, *flags, compiler="g++")
            self.assertEqual(run(program).stdout, "0.755228658\n")

    def test_product_in_fortran(self):
        self.need("gfortran")
        program = self.folder / "product"
        run("gfortran", "-O2", "-g", "-fopenmp", SOURCE / "include/culprit/culprit_region.f90",
            PROGRAMS / "openmp/product.f90", "-o", program, cwd=self.folder)
        report = self.both(program)
        self.assertEqual(self.find(report, "loop")["sum"]["pieces"], 16)
        self.assertEqual(self.find(report, "user")["name"], "multiply")

    def test_instrumented_functions(self):
        text = """
static volatile int sink;
__attribute__((noinline)) static void leaf(int i) { sink = i; }
__attribute__((noinline)) static void branch(int n) { for (int i = 0; i < n; ++i) leaf(i); }
__attribute__((noinline)) static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
int main(void) { branch(10); branch(5); leaf(1); return depth(1000) - 1000; }"""
        program = self.compile_text(text, "calls.c", "calls", "-O1", "-g", "-finstrument-functions",
                                    "-fno-optimize-sibling-calls")
        report, _ = self.regions(program)
        calls = {one["name"]: one["sum"]["executions"] for one in report["constructs"]}
        self.assertEqual({name: calls[name] for name in ("main", "branch", "leaf")},
                         {"main": 1, "branch": 2, "leaf": 16})
        self.assertLessEqual(calls["depth"], 1001)

    def test_beside_the_sampling_library(self):
        program = self.openmp("openmp/walk.cc", "walk", "g++", "-O1")
        report, done = self.regions("--engine", "posix-timer", program)
        self.assertEqual(done.stdout, "depth 23, sum 207886\n")
        self.assertEqual(self.find(report, "loop")["name"], "dynamic")

    def test_marks_of_likwid(self):
        program = self.folder / "likwid"
        # In place of LIKWID's own library: what it would be called with.
        self.compile_text("""
#include <stdio.h>
int likwid_markerStartRegion(const char* name) { return puts(name); }
int likwid_markerStopRegion(const char* name) { (void)name; return 0; }""",
                          "marker.c", "liblikwid.so", "-shared", "-fPIC")
        run("gcc", "-O2", "-g", "-fopenmp", PROGRAMS / "openmp/likwid.c",
            self.folder / "liblikwid.so", "-Wl,-rpath," + str(self.folder), "-o", program)
        report, done = self.regions(program)
        self.assertEqual(sorted(done.stdout.split()), ["done"] + 2 * ["inside"] + 3 * ["serial"])
        marks = {one["name"]: one["sum"]["executions"]
                 for one in report["constructs"] if one["kind"] == "user"}
        self.assertEqual(marks, {"serial": 3, "inside": 2})

    def test_extension_of_python(self):
        self.need("python3")
        self.compile_text("""
long sum_up(long n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100) num_threads(3)
  for (long i = 0; i < n; ++i) sum += i;
  return sum;
}""", "sums.c", "sums.so", "-O2", "-g", "-fopenmp", "-shared", "-fPIC")
        (self.folder / "use.py").write_text(
            "import ctypes\nprint(ctypes.CDLL('./sums.so').sum_up(1000))\n")
        report, done = self.regions("python3", "use.py")
        self.assertEqual(done.stdout, "499500\n")
        self.assertEqual(self.find(report, "loop")["sum"]["pieces"], 10)

    def test_the_barrier_of_a_reduction_is_the_loops(self):
        path = self.folder / "sum.c"
        path.write_text("""int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
  }
  return sum != 4950;
}""")
        report, _ = self.regions(self.openmp(path, "sum", "clang-19", "-O1"))
        self.assertEqual({one["kind"] for one in report["constructs"]}, {"parallel", "loop"})

    def test_calls_that_are_jumps(self):
        """The last call of a function is a jump at -O2, which seems to come from its caller."""
        self.need("python3")
        self.compile_text("""
static int sum;
static volatile int sink;
static void __attribute__((noinline)) step(int i) {
  sink = i;
#pragma omp taskwait
}
void add(void) {
#pragma omp parallel num_threads(3)
#pragma omp atomic
  sum += 1;
}
int run(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    sink = 1;
#pragma omp task
    sink = 2;
    step(3);
#pragma omp barrier
  }
  return sum;
}""", "jumps.c", "jumps.so", "-O2", "-g", "-fopenmp", "-shared", "-fPIC")
        (self.folder / "use.py").write_text("""import ctypes
library = ctypes.CDLL('./jumps.so')
library.add()
library.add()
print(library.run())
""")
        report, done = self.regions("python3", "use.py")
        self.assertEqual(done.stdout, "6\n")
        self.assertEqual(self.find(report, "barrier")["sum"]["executions"], 2)
        self.assertEqual(self.find(report, "single")["sum"]["executions"], 2)
        self.assertEqual(self.find(report, "taskwait")["sum"]["executions"], 2)

    def test_more_threads_than_cpus_is_said(self):
        program = self.openmp("openmp/walk.cc", "walk", "g++", "-O1")
        report, _ = self.regions(program, env={**os.environ, "OMP_NUM_THREADS": "16"})
        if report["machine"]["cpus_online"] < 4:
            self.assertIn("threads share", report["remarks"][0])


if __name__ == "__main__":
    unittest.main()
