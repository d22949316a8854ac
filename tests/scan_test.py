"""culprit scan: costs of an iteration whose values are known, from facts measured apart
(../shared/facts/scan.md, section 2) or by the kernel's own text; and campaigns in which something
goes wrong."""
import json
import os
import re
import shlex
import signal
import subprocess
import time
import unittest

import jsonschema

from harness import CULPRIT, SOURCE, CulpritTest

ONE = jsonschema.Draft7Validator(json.loads((SOURCE / "schema/scan_one.schema.json").read_text()))
TABLE = jsonschema.Draft7Validator(json.loads((SOURCE / "schema/scan_table.schema.json").read_text()))

EXPLAIN = jsonschema.Draft7Validator(
    json.loads((SOURCE / "schema/scan_explain.schema.json").read_text()))
STATUS, FIND, VERIFY, TREND = (
    jsonschema.Draft7Validator(json.loads((SOURCE / f"schema/scan_{name}.schema.json").read_text()))
    for name in ("status", "find", "verify", "trend"))

VECADD = (SOURCE / "examples/scan/vecadd.cc").read_text().replace(
    "culprit_kernel.h", str(SOURCE / "examples/scan/culprit_kernel.h"))

PLAN = """[scan]
program = ["{program}"]
build = "{{cc}} {{flags}} -g -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
runs = [100, 300, 700]
{more}
[setup]
{setups}
"""

# Adds numbers up that it was not given: what it costs is in its text. In a loop of its own each
# iteration is one asm statement, of 3 instructions, and what the compiler needs to go round.
COUNTED = """#include <cstdlib>
#include <cstdio>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  long a = 0;
  for (long n = 0; n < runs; ++n) {
    asm volatile(".rept DIM\\n\\tnop\\n\\t.endr" : "+r"(a));
  }
  std::puts("same");
}
""".replace(".rept DIM", '.rept " TEXT(DIM) "').replace(
    "#include <cstdio>", "#include <cstdio>\n#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)")

# Calls pow DIM times an iteration, and atan from the third on.
POWERS = """#include <cmath>
#include <cstdio>
#include <cstdlib>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  volatile double base = 1.37, sum = 0;
  for (long n = 0; n < runs; ++n) {
    for (int i = 0; i < (DIM > 2 ? 2 : DIM); ++i) sum = std::pow(base, 2.71);
    if (DIM > 2) sum = std::atan(base);
  }
  std::puts(sum > 0 ? "good" : "bad");
}
"""


TOUCHES = """
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char** argv) {
  (void)argc;
  char* pages = mmap(0, DIM * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, DIM * 4096, MADV_NOHUGEPAGE);
  for (long runs = atol(argv[1]); runs > 0; runs--) {
    for (int page = 0; page < DIM; page++) ((volatile char*)pages)[page * 4096] = 1;
    madvise(pages, DIM * 4096, MADV_DONTNEED);
  }
  return 0;
}
"""


class ScanTest(CulpritTest):
    def one(self, *arguments, **options):
        done = self.culprit("scan", "one", "--format", "json", *arguments, **options)
        document = json.loads(done.stdout)
        ONE.validate(document)
        return document

    def plan(self, program, text, setups, more="", name="scan.toml"):
        (self.folder / program).write_text(text)
        (self.folder / name).write_text(PLAN.format(program=program, setups=setups, more=more))

    def document(self, schema, action, *arguments, **options):
        """What an action prints as JSON."""
        document = json.loads(self.culprit("scan", action, *arguments, "--format", "json",
                                           **options).stdout)
        schema.validate(document)
        return document

    def values(self, *arguments):
        """{row: [values]}, what is missing by its reason."""
        document = json.loads(self.culprit("scan", "table", "--format", "json", *arguments).stdout)
        TABLE.validate(document)
        return {series["name"]: [mark.get("value", mark.get("missing")) for mark in series["marks"]]
                for panel in document["panels"] for series in panel["series"]}


class One(ScanTest):
    def build(self, text, name, *flags):
        return self.compile_text(text, name + ".cc", name, "-O2", "-g", *flags, compiler="g++")

    def costs(self, document, event="instructions"):
        return document["per_iteration"][event]["value"]

    def test_costs_of_an_iteration_by_place(self):
        self.build(COUNTED, "counted", "-DDIM=7")
        document = self.one("--", "./counted", "{runs}")
        # 7 nops; add, cmp and jne, or sub and jne.
        self.assertIn(self.costs(document), (9, 10))
        self.assertEqual([row["name"] for row in document["rows"]], ["main"])
        lines = self.one("--by", "line", "--", "./counted", "{runs}")
        self.assertEqual(max(row["per_iteration"]["instructions"]["value"] for row in lines["rows"]
                             if "asm volatile" in row["detail"]), 7)
        each = self.one("--by", "instruction", "--", "./counted", "{runs}")
        self.assertEqual(sum(row["detail"].startswith("nop") for row in each["rows"]), 7)

    def test_do_not_depend_on_the_environment_or_the_loop_counts(self):
        self.build(COUNTED, "counted", "-DDIM=7")
        expected = self.costs(self.one("--", "./counted", "{runs}"))
        for size in (0, 4000, 20000):
            environment = dict(os.environ, PADDING="x" * size)
            document = self.one("--", "./counted", "{runs}", env=environment)
            self.assertEqual(self.costs(document), expected)
        document = self.one("--runs", "5,1000,12345", "--", "./counted", "{runs}")
        self.assertEqual(self.costs(document), expected)

    def test_long_iterations_are_run_less_often(self):
        """400,000 rounds of three instructions each: 120 million at 100 runs."""
        self.build("""#include <cstdlib>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  for (long n = 0; n < runs; ++n) {
    long rounds = 400000;
    asm volatile("1: nop\\n\\tsub $1, %0\\n\\tjne 1b" : "+r"(rounds));
  }
}
""", "long")
        done = self.culprit("scan", "one", "--by", "instruction", "--", "./long", "{runs}")
        self.assertIn("from runs of 20, 50 and 100", done.stdout)
        rows = self.one("--by", "instruction", "--", "./long", "{runs}")["rows"]
        self.assertEqual(3, sum(row["per_iteration"]["instructions"]["value"] == 400000 for row in rows))

    def test_are_refused_where_they_grow_with_the_loop_count(self):
        self.build("""#include <cstdlib>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  volatile long sum = 0;
  for (long n = 0; n < runs; ++n) for (long i = 0; i < n; ++i) sum = sum + i;
}
""", "grows")
        document = self.one("--", "./grows", "{runs}")
        self.assertTrue(document["refused"])
        self.assertIsNone(document["per_iteration"])
        self.assertEqual([one["function"] for one in document["growing"]], ["main"])
        self.assertIn("Refused", self.culprit("scan", "one", "--", "./grows", "{runs}").stdout)

    def test_name_what_belongs_to_no_iteration(self):
        self.build("""#include <cstdlib>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10) * 100;
  volatile long* const array = static_cast<long*>(std::malloc(runs * 8));
  for (long n = 0; n < runs; ++n) array[n] = n;
  std::free(const_cast<long*>(array));
}
""", "sized")
        document = self.one("--iterations-per-run", "100", "--", "./sized", "{runs}")
        self.assertEqual(self.costs(document, "L1-dcache-stores"), 1)
        self.assertEqual([row["function"] for row in document["rows"]], ["main"])
        self.assertTrue({one["function"] for one in document["once"]} & {"sysmalloc", "_int_free"},
                        document["once"])

    def test_are_means_where_iterations_differ(self):
        self.build("""#include <cstdlib>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  volatile long sum = 0;
  unsigned x = 1;
  for (long n = 0; n < runs; ++n) {
    x = x * 1664525u + 1013904223u;
    if (x >> 31) sum = n;
  }
}
""", "varies")
        document = self.one("--runs", "1000,3000,7000", "--", "./varies", "{runs}")
        self.assertTrue(document["varies"])
        stores = document["per_iteration"]["L1-dcache-stores"]
        self.assertAlmostEqual(stores["value"], 0.5, delta=0.02)
        self.assertGreater(stores["error"], 0)

    def test_what_is_wrong_is_said(self):
        for arguments, words in ((["--", "true"], "must have {runs}"),
                                 (["--runs", "3,1", "--", "true", "{runs}"], "ascend"),
                                 (["--runs", "x", "--", "true", "{runs}"], "no list"),
                                 ([], "which program")):
            done = self.culprit("scan", "one", *arguments, status=2)
            self.assertIn(words, done.stderr)
        done = self.culprit("scan", "one", "--", "./none", "{runs}", status=1)
        self.assertIn("./none", done.stderr)
        done = self.culprit("scan", "one", "--", "sh", "-c", "kill -SEGV $$ # {runs}", status=1)
        self.assertIn("signal 11", done.stderr)
        done = self.culprit("scan", "one", "--", "true", "{runs}")
        self.assertIn("optimised away", " ".join(done.stdout.split()))


class Campaign(ScanTest):
    def test_agrees_with_the_facts(self):
        """Cells of the table in the facts: instructions, loads, stores. All 32 are checked by
        bench/scan.py."""
        self.need("g++-12", "clang++-19")
        self.plan("vecadd.cc", VECADD,
                  'gcc12_O2 = { cc = "g++-12", flags = "-O2" }\n'
                  'gcc12_O3 = { cc = "g++-12", flags = "-O3" }\n'
                  'clang19_O2 = { cc = "clang++-19", flags = "-O2" }\n',
                  "DIM = [3, 5]")
        self.culprit("scan", "run")
        self.assertEqual(self.values(), {"gcc12_O2": [9, 41], "gcc12_O3": [13, 12],
                                         "clang19_O2": [9, 13]})
        self.assertEqual(self.values("loads"), {"gcc12_O2": [4, 10], "gcc12_O3": [8, 6],
                                                "clang19_O2": [4, 6]})
        self.assertEqual(self.values("stores", "--setup", "gcc*", "--setup", "!*O3"),
                         {"gcc12_O2": [2, 5]})
        ratios = self.values("loads / DIM", "--base", "gcc12_O2")
        self.assertEqual(ratios["gcc12_O3"], [2, 0.6])
        svg = self.culprit("scan", "plot", "loads", "-o", "-", "--form", "svg").stdout
        self.assertIn("clang19_O2", svg)
        self.assertIn("a clang19_O2", self.culprit("scan", "plot").stdout)

    def test_runs_only_what_is_missing_or_has_changed(self):
        header = self.folder / "count.h"
        header.write_text("#define EXTRA 0\n")
        text = '#include "count.h"\n' + COUNTED
        self.plan("counted.cc", text, 'O2 = { cc = "g++", flags = "-O2" }', "DIM = [1, 4]")
        self.assertIn("2 cells", self.culprit("scan", "run").stderr)
        self.assertIn("0 cells", self.culprit("scan", "run").stderr)
        before = self.values()["O2"]
        self.assertEqual(before[1] - before[0], 3)
        header.write_text("#define EXTRA 1\n")
        self.assertIn("2 changed", self.culprit("scan", "status").stdout)
        self.assertIn("2 cells", self.culprit("scan", "run").stderr)
        self.plan("counted.cc", text, 'O2 = { cc = "g++", flags = "-O2" }', "DIM = [1, 4, 5]")
        self.assertIn("1 cell in", self.culprit("scan", "run").stderr)
        self.assertEqual(len(self.values()["O2"]), 3)
        self.culprit("scan", "forget", "--setup", "O2")
        self.assertIn("3 missing", self.culprit("scan", "status").stdout)

    def test_what_fails_is_a_row_with_its_message(self):
        self.plan("counted.cc", COUNTED + """
#if DIM == 2
#error planted
#endif
""", 'plain = { cc = "g++", flags = "" }\nnone = { cc = "no-such-compiler", flags = "" }',
                  "timeout_s = 60\nDIM = [1, 2]")
        done = self.culprit("scan", "run", status=1)
        self.assertIn("3 failed", done.stderr)
        self.assertEqual(self.values()["plain"][1], "build failed")
        status = self.culprit("scan", "status").stdout
        self.assertIn("#error planted", status)
        # An error that both sizes have is told once.
        self.assertRegex(status, r"counted none 1 and 1 more cell: build failed: .*: not found")
        self.assertEqual(status.count("no-such-compiler"), 1)
        document = self.document(STATUS, "status")
        self.assertEqual({name: document[name] for name in (
            "cells", "done", "failed", "changed", "missing", "unexpected")},
            {"cells": 4, "done": 1, "failed": 3, "changed": 0, "missing": 0, "unexpected": 0})
        self.assertEqual(sorted(one["cells"] for one in document["problems"]),
                         [["counted none 1", "counted none 2"], ["counted plain 2"]])
        self.assertEqual({one["state"] for one in document["problems"]}, {"build failed"})
        # Nothing has changed: what failed is not tried again, unless somebody asks for it.
        self.assertIn("0 cells", self.culprit("scan", "run", "--setup", "none").stderr)
        self.assertIn("2 cells", self.culprit("scan", "retry", "--setup", "none", status=1).stderr)

    def test_errors_of_fortran_have_their_place(self):
        self.need("gfortran")
        self.plan("wrong.f90", "program wrong\n  implicit none\n  unknown = 1\nend program\n",
                  'O2 = { cc = "gfortran -cpp", flags = "-O2" }', "DIM = 1")
        self.culprit("scan", "run", status=1)
        self.assertRegex(self.culprit("scan", "status").stdout,
                         r"build failed: wrong\.f90:3:\d+: Error: Symbol .unknown.")

    def test_crashes_hangs_and_other_results_are_told(self):
        self.plan("odd.cc", """#include <cstdlib>
#include <cstdio>
#include <unistd.h>
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  for (long n = 0; n < runs; ++n) asm volatile("nop");
  if (KIND == 1) std::abort();
  if (KIND == 2) for (;;) pause();
  if (KIND == 3) std::puts("other");
  if (KIND == 4) return 7;
}
""", "\n".join(f'kind{kind} = {{ cc = "g++ -DKIND={kind}", flags = "-O1" }}' for kind in range(5)),
                  "timeout_s = 10\nDIM = 1")
        self.culprit("scan", "run", status=1)
        status = self.culprit("scan", "status").stdout
        self.assertIn("2 done, 3 failed", status)
        self.assertRegex(status, r"odd kind1 1: crashed: killed by signal 6")
        self.assertRegex(status, r"odd kind2 1: timed out: ended after 10 s while running")
        self.assertRegex(status, r"odd kind3 1: prints something else than with kind0")
        self.assertRegex(status, r"odd kind4 1: run failed: exit status 7")

    def test_times_are_measured(self):
        """An iteration of 4,000 dependent additions takes some ten times as long as one of 400,
        whatever else the machine does: other load at most doubles CPU time. One that fails where
        there are more iterations than were counted is told."""
        text = COUNTED.replace("nop", "add $1, %0").replace("long a = 0;", """long a = 0;
  if (FAILS && runs > 700) return 3;""")
        self.plan("counted.cc", text,
                  'works = { cc = "g++", flags = "-O2 -DFAILS=0" }\n'
                  'fails = { cc = "g++", flags = "-O2 -DFAILS=1" }',
                  "time_percent = 50\nDIM = [400, 4000]")
        self.culprit("scan", "run", status=1)
        # The first loop count that is tried is the last of `runs`: 700.
        self.assertRegex(self.culprit("scan", "status").stdout,
                         r"counted fails 400.*: run failed: exit status 3 at \d+ runs")
        document = json.loads(self.culprit("scan", "table", "time", "--format", "json",
                                           "--setup", "works").stdout)
        TABLE.validate(document)
        self.assertEqual(document["provenance"], "sampled")
        short, long = document["panels"][0]["series"][0]["marks"]
        self.assertGreater(long["value"] / short["value"], 4)
        self.assertLess(long["value"] / short["value"], 25)
        self.assertGreater(short["error"], 0)
        self.assertRegex(self.culprit("scan", "table", "time").stdout, r" works +[\d.e+]+\+-")
        self.assertIn("0 cells", self.culprit("scan", "run", status=None).stderr)

    def test_events_are_counted_natively(self):
        """Each iteration touches DIM pages that it then gives back: DIM page faults, by hand."""
        self.plan("touches.c", TOUCHES, 'O2 = { cc = "gcc", flags = "-O2" }',
                  'events = ["page-faults:u"]\nDIM = [1, 4]')
        with open(self.folder / "scan.toml", "a") as plan:
            plan.write('[expect]\n"native:page-faults:u" = ">= DIM - 0.5"\n')
        self.culprit("scan", "run")
        self.assertNotIn("not as expected", self.culprit("scan", "status").stdout)
        done = self.culprit("scan", "table", "native:page-faults:u", "--format", "json")
        document = json.loads(done.stdout)
        TABLE.validate(document)
        self.assertEqual(document["provenance"], "sampled")
        for mark, pages in zip(document["panels"][0]["series"][0]["marks"], (1, 4), strict=True):
            self.assertAlmostEqual(mark["value"], pages, delta=0.05)
        # Time of the same runs is there, too.
        self.assertGreater(self.values("time_ns")["O2"][1], 0)
        self.assertRegex(self.culprit("scan", "explain", "touches", "O2", "1", "touches", "O2", "4").stdout,
                         r"(?m)^ *(1|1\.0\d*|0\.99\d*) +\S+ +\S+ +~native:page-faults:u")
        text = (self.folder / "scan.toml").read_text().partition("[expect]")[0]
        for events, message in (('["page-faults,task-clock"]', "names several events"),
                                ('["no-such-event"]', "no-such-event"),
                                ('["page-faults", "page-faults"]', "names an event twice")):
            (self.folder / "scan.toml").write_text(text.replace('["page-faults:u"]', events))
            self.assertIn(message, self.culprit("scan", "run", status=1).stderr)

    def test_expectations_are_checked(self):
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flags = "-O2" }', "DIM = [1, 4]")
        with open(self.folder / "scan.toml", "a") as plan:
            plan.write('[expect]\ninstructions = ">= 6"\n')
        done = self.culprit("scan", "run", status=1)
        self.assertIn("1 cell not as expected", done.stderr)
        self.assertRegex(self.culprit("scan", "status").stdout,
                         r"counted O2 1: instructions >= 6: \d is not >= 6")

    def test_cells_know_libraries_from_those_before(self):
        """Facts of a library are made for the first cell: the next ones find in it what kind of
        instructions they executed there, and more where they call what no cell has called."""
        self.plan("powers.cc", POWERS, 'O1 = { cc = "g++", flags = "-O1" }', "DIM = [1, 2, 3]")
        self.culprit("scan", "run", "-j", "1")
        once, twice, other = self.values("flops")["O1"]
        self.assertGreater(once, 5)
        self.assertEqual(twice, 2 * once)
        self.assertGreater(other, 2 * once + 5)
        names = self.culprit("report", "--by", "function", "--limit", "0", "scan.culprit").stdout
        for name in ("pow", "atan"):
            self.assertRegex(names, rf"\b(__)?{name}")

    def test_survives_its_end(self):
        """Killed at any moment, it loses the cells under way; the next run goes on. What it had made
        meanwhile goes with it."""
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flags = "-O2" }', 'DIM = "1..12"')
        temporary = self.folder / "temporary"
        temporary.mkdir()
        for signal_sent in (signal.SIGINT, signal.SIGKILL, signal.SIGKILL):
            process = subprocess.Popen([CULPRIT, "scan", "run", "-j", "2"], cwd=self.folder,
                                       env={**os.environ, "TMPDIR": str(temporary)},
                                       stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 60
            before = self.cells_done()
            while (process.poll() is None and self.cells_done() <= before
                   and time.monotonic() < deadline):
                time.sleep(0.05)
            process.send_signal(signal_sent)
            words = process.communicate(timeout=60)[1]
            if signal_sent == signal.SIGINT and process.returncode != 0:
                self.assertIn("interrupted", words)
        self.wait_until(lambda: not list(temporary.glob("culprit-*")))
        self.culprit("scan", "run")
        counts = self.values()["O2"]
        self.assertEqual([b - a for a, b in zip(counts, counts[1:])], [1] * 11)
        # All that a table can be made of is as in a scan that nobody interrupted.
        self.culprit("scan", "run", "-o", "whole.culprit")
        for expression in ("instructions", "loads", "stores", "branches", "moves", "text_bytes"):
            self.assertEqual(self.values(expression), self.values(expression, "-i", "whole.culprit"))
        self.assertIn("12 cells, 12 measured: 0 problems", self.culprit("scan", "verify").stdout)

    def wait_until(self, holds):
        deadline = time.monotonic() + 30
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def cells_done(self):
        done = self.culprit("scan", "status", status=None)
        found = re.search(r"(\d+) done", done.stdout)
        return int(found[1]) if found else 0

    def test_two_scans_on_one_file(self):
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flags = "-O2" }', 'DIM = "1..30"')
        first = subprocess.Popen([CULPRIT, "scan", "run", "-q", "-j", "1"], cwd=self.folder,
                                 stderr=subprocess.DEVNULL)
        try:
            while not (self.folder / "scan.culprit").exists():
                time.sleep(0.02)
            time.sleep(0.2)
            self.assertIn("another scan is writing to",
                          self.culprit("scan", "run", status=1).stderr)
        finally:
            first.kill()
            first.wait()

    def test_names_with_blanks(self):
        self.plan("a kernel.cc", COUNTED, '"-O2 -g" = { cc = "g++", flags = "-O2" }', "DIM = [2]")
        self.culprit("scan", "run")
        self.assertEqual(list(self.values()), ["-O2 -g"])

    def test_plots_as_pdf(self):
        self.need("rsvg-convert")
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flags = "-O2" }', "DIM = [1, 2]")
        self.culprit("scan", "run")
        self.culprit("scan", "plot", "-o", "cost.pdf")
        self.assertEqual((self.folder / "cost.pdf").read_bytes()[:5], b"%PDF-")
        self.assertIn("-o FILE.pdf", self.culprit("scan", "plot", "--form", "pdf", status=2).stderr)

    def test_init_writes_a_plan_that_runs(self):
        (self.folder / "counted.cc").write_text(COUNTED)
        self.culprit("scan", "init", "counted.cc")
        self.assertIn("is there already", self.culprit("scan", "init", "counted.cc", status=1).stderr)
        self.culprit("scan", "run", "--setup", "gcc_O2")
        counts = self.values()["gcc_O2"]
        self.assertEqual([b - a for a, b in zip(counts, counts[1:])], [1] * 7)

    def test_a_pragma_of_one_loop_is_a_variable(self):
        text = (SOURCE / "examples/scan/two_loops.cc").read_text().replace(
            "culprit_kernel.h", str(SOURCE / "examples/scan/culprit_kernel.h"))
        setups = """plain = { cc = "g++", flags = "-O2 -fno-tree-vectorize" }
first = { cc = "g++", flags = '-O2 -fno-tree-vectorize "-DFIRST_LOOP=_Pragma(\\"GCC unroll 8\\")"' }"""
        self.plan("two_loops.cc", text, setups, "DIM = 2")
        self.culprit("scan", "run")
        # Rounds of the first loop, of the second, and of the kernel's own.
        self.assertEqual(self.values("branches"), {"plain": [16 + 16 + 1], "first": [2 + 16 + 1]})

    def test_next_steps_can_be_typed(self):
        """They name the file that was asked about, and what was asked."""
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flags = "-O2" }', "DIM = [2, 3]",
                  name="other.toml")

        def follow(text):
            command = re.search(r"(?m)^Next +culprit (.+?)(?:   .*)?$", text)[1]
            return command, self.culprit(*shlex.split(command)).stdout

        command, _ = follow(self.culprit("scan", "status", "other.toml").stdout)
        self.assertEqual(command, "scan run other.toml")
        command, table = follow(self.culprit("scan", "status", "other.toml").stdout)
        self.assertEqual(command, "scan table -i other.culprit")
        command, _ = follow(self.culprit("scan", "table", "instructions / DIM", "-i",
                                         "other.culprit", "--over", "DIM").stdout)
        self.assertEqual(command, "scan plot 'instructions / DIM' --over DIM -i other.culprit")

    def test_bad_files_and_words(self):
        (self.folder / "scan.toml").write_text("[scan]\nprogram = 1\nrun = \n")
        self.assertRegex(self.culprit("scan", "run", status=1).stderr, r"scan.toml, line 3")
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flag = "-O2" }', "DIM = [1]")
        self.assertIn("did you mean flags", self.culprit("scan", "run", status=1).stderr)
        # Before anything is built.
        plain = 'O2 = { cc = "g++", flags = "-O2" }'
        for comparison, words in ((r'laods = ">= 1"', "did you mean loads?"),
                                  (r'loads = ">= DMI"', "'DMI' is not a name"),
                                  (r'cpi = "< 1"', "cpi needs what this scan did not count")):
            self.plan("counted.cc", COUNTED, plain + "\n[expect]\n" + comparison, "DIM = [1]")
            done = self.culprit("scan", "run", status=1)
            self.assertRegex(done.stderr, r"scan\.toml, line \d+: .*" + re.escape(words))
            self.assertFalse((self.folder / "scan.culprit").exists())
        self.plan("counted.cc", COUNTED, plain, "DIM = [1]")
        done = self.culprit("scan", "table", "-i", "counted.cc", status=1)
        self.assertIn("counted.cc", done.stderr)
        (self.folder / "counted.cc").unlink()
        self.assertIn("no file matches", self.culprit("scan", "run", status=1).stderr)


DIFF = jsonschema.Draft7Validator(json.loads((SOURCE / "schema/scan_diff.schema.json").read_text()))


class History(ScanTest):
    def diff(self, *sides, status):
        done = self.culprit("scan", "diff", *sides, "--format", "json", status=status)
        document = json.loads(done.stdout)
        DIFF.validate(document)
        return document

    def test_what_changed_between_labels(self):
        """A history of four, of which the third executes one instruction more in each iteration."""
        setups = 'O1 = { cc = "g++", flags = "-O1" }\nO2 = { cc = "g++", flags = "-O2" }'
        self.plan("counted.cc", COUNTED, setups, "DIM = [50]")
        for label in ("v1", "v2", "v3", "v4"):
            if label == "v3":
                planted = COUNTED.replace(".endr", ".endr\\n\\tnop")
                self.assertNotEqual(planted, COUNTED)
                (self.folder / "counted.cc").write_text(planted)
            self.culprit("scan", "run", "--label", label)
        self.assertEqual(len(self.values()), 2)  # of the last label
        first = self.values("--label", "v1")
        self.assertEqual([after[0] - first[setup][0] for setup, after in self.values().items()],
                         [1, 1])
        document = self.diff("v2", "v3", status=1)
        self.assertEqual(sorted((one["cell"], one["b"] - one["a"], one["function"])
                                for one in document["changes"]),
                         [("counted O1 50", 1, "main"), ("counted O2 50", 1, "main")])
        self.assertEqual((document["equal"], document["unpaired"]), (0, 0))
        self.assertEqual(self.diff("v3", "v4", status=0)["changes"], [])
        self.assertEqual(self.diff("v3", "v2", status=0)["equal"], 0)  # better is no failure
        trend = self.culprit("scan", "trend").stdout
        self.assertRegex(trend, r"(?m)^v3 .*changed since v2$")
        self.assertEqual(trend.count("changed since"), 1)
        self.assertIn("4 cells, 4 measured: 0 problems".replace("4 c", "8 c").replace("4 m", "8 m"),
                      self.culprit("scan", "verify").stdout)
        verified = self.document(VERIFY, "verify")
        self.assertEqual((verified["cells"], verified["problems"]), (8, []))
        steps = self.document(TREND, "trend")["labels"]
        self.assertEqual([step["label"] for step in steps], ["v1", "v2", "v3", "v4"])
        self.assertEqual([[one["b"] - one["a"] for one in step["changes"]] for step in steps],
                         [[], [], [1, 1], []])
        found = self.document(FIND, "find", "nop")["lines"]  # all cells execute it
        self.assertEqual([(one["field"], one["text"], sorted(one["cells"])) for one in found],
                         [("code", "nop", ["counted O1 50", "counted O2 50"])])
        found = self.culprit("scan", "find", "++ -o1 ").stdout
        self.assertRegex(found, r"build: g\+\+ -O1 .*counted O1 50")
        self.assertIn("0 lines", self.culprit("scan", "find", "no such words").stdout)
        self.assertIn("did you mean", self.culprit("scan", "diff", "v1", "v9", status=2).stderr)
        self.assertIn("no cells with the label",
                      self.culprit("scan", "table", "--label", "v9", status=1).stderr)


# What each setup does to it is known: the flags are the cause.
PLANTED = """#include "HEADER"
#ifdef CALL
__attribute__((noinline))
#endif
static double step(double x, double y) { return x OPERATION y; }
int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[8], b[8];
  double factor = 1.5;
  for (int i = 0; i < 8; ++i) a[i] = b[i] = 1.25 + i;
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
#ifndef KEEP
    CULPRIT_CHANGED(a);
    CULPRIT_CHANGED_FLOAT(factor);
#endif
    for (int i = 0; i < 8; ++i)
      a[i] = step(b[i], factor);
  }
#ifdef KEEP
  return 0;
#endif
  return culprit_use(a, sizeof a);
}
""".replace("HEADER", str(SOURCE / "examples/scan/culprit_kernel.h"))


class Explain(ScanTest):
    def causes(self, a, b):
        document = json.loads(self.culprit("scan", "explain", f"planted {a} 1", f"planted {b} 1",
                                           "--format", "json").stdout)
        EXPLAIN.validate(document)
        return document

    def test_names_planted_causes(self):
        setups = {"packed": "-O3", "again": "-O3 -DOTHER", "scalar": "-O3 -fno-tree-vectorize",
                  "rolled": "-O2 -fno-tree-vectorize",
                  "call": "-O3 -DCALL", "divides": "-O3 -DOPERATION=/", "removed": "-O3 -DKEEP"}
        lines = "\n".join(
            f'{name} = {{ cc = "g++", flags = "{flags}'
            f'{"" if "OPERATION" in flags else " -DOPERATION=*"}" }}'
            for name, flags in setups.items())
        self.plan("planted.cc", PLANTED, lines, "DIM = 1")
        self.culprit("scan", "run")
        for other, cause in (("scalar", "scalar"), ("call", "calls"),
                             ("divides", "divisions"), ("removed", "removed")):
            with self.subTest(cause=cause):
                found = self.causes(other, "packed")
                self.assertEqual(found["causes"][0]["name"], cause, found["causes"])
        rolled = self.causes("rolled", "scalar")
        self.assertEqual(rolled["causes"][0]["name"], "rolled", rolled["causes"])
        line = 1 + PLANTED.splitlines().index("    for (int i = 0; i < 8; ++i)")
        self.assertIn(rolled["causes"][0]["place"], [f"planted.cc:{line}", f"planted.cc:{line + 1}"])
        same = self.causes("again", "packed")
        self.assertEqual((same["causes"], same["events"]), ([], []))
        text = self.culprit("scan", "explain", "planted", "scalar", "1", "planted", "packed", "1").stdout
        self.assertIn("A does 0 % of its floating-point operations in packed", " ".join(text.split()))
        best = self.culprit("scan", "best", "--setup", "scalar,packed,again").stdout
        self.assertRegex(best, r"(?m)^ ?1 +\d+ +\d+\.\d %, scalar +(packed, again|again, packed)$")
        self.assertEqual(self.values("packed_ratio", "--setup", "packed,scalar"),
                         {"packed": [1], "scalar": [0]})

    def test_what_is_wrong_is_said(self):
        self.plan("counted.cc", COUNTED, 'O2 = { cc = "g++", flags = "-O2" }', "DIM = [1]")
        self.culprit("scan", "run")
        done = self.culprit("scan", "explain", "counted O2 1", "counted O3 1", status=1)
        self.assertIn("did you mean 'counted O2 1'?", done.stderr)
        self.assertIn("no cell 'counted'", self.culprit("scan", "explain", "counted", status=1).stderr)
        same = self.culprit("scan", "explain", "counted O2 1", "counted O2 1").stdout
        self.assertIn("every event is equal", same)


if __name__ == "__main__":
    unittest.main()
