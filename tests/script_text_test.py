"""culprit import of what `perf script` printed: against what perf says of the same recordings,
and against the import of the recordings themselves."""
import csv
import gzip
import json
import re
import subprocess

from harness import CULPRIT, SOURCE, CulpritTest, run

ORACLE = SOURCE.parent / "shared/perfdata/oracle"

PROGRAM = """
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) double leaf(int n) {
  volatile double x = 1;
  for (int i = 0; i < n; i++) x = x / 1.0001 + i;
  return x;
}
__attribute__((noinline)) double middle(int n) { return leaf(n) + 1; }
__attribute__((noinline)) double other(int n) { return leaf(n) + 2; }
int main(void) {
  double sum = 0;
  const int is_child = fork() == 0;
  for (int i = 0; i < 60; i++) sum += is_child ? middle(400000) : other(300000);
  if (!is_child) wait(0);
  return sum == 0;
}
"""


def read_table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class ScriptText(CulpritTest):
    def import_text(self, text, output="text.culprit"):
        (self.folder / "text").write_bytes(text)
        with open(self.folder / "text", "rb") as file:
            return self.culprit("import", "-q", "-o", output, "-", stdin=file)

    def rows(self, profile, *by):
        words = [word for level in by for word in ("--by", level)]
        return self.culprit("report", *words, "--format", "csv", profile).stdout

    def test_samples_and_periods_of_each_event_are_perfs(self):
        texts = sorted(ORACLE.glob("*.script.txt.gz"))
        if not texts:
            self.skipTest("the texts of perf (../shared/perfdata/oracle) are not here")
        for path in texts:
            name = path.name.removesuffix(".script.txt.gz")
            with self.subTest(name):
                self.import_text(gzip.decompress(path.read_bytes()))
                report = json.loads(self.culprit("report", "--by", "module", "--format", "json",
                                                 "text.culprit").stdout)
                want = {row["event"]: (int(row["samples_script"]), int(row["period_sum_script"]))
                        for row in read_table(ORACLE / f"{name}.events.tsv")
                        if row["samples_script"]}
                self.assertEqual({event["name"]: (event["samples"], int(event["total"]))
                                  for event in report["events"]}, want)

    def test_default_text_has_the_samples_that_it_shows(self):
        """The beginnings of perf script's default output: chains, branch lists, data addresses,
        trace text. Each sample has one line with a time, the last perhaps cut off."""
        texts = sorted(ORACLE.glob("*.script_default.head.txt.gz"))
        if not texts:
            self.skipTest("the texts of perf (../shared/perfdata/oracle) are not here")
        for path in texts:
            with self.subTest(path.name):
                text = gzip.decompress(path.read_bytes())
                want = len(re.findall(rb"^\S?.*? \d+\.\d{9}: ", text, re.MULTILINE))
                self.import_text(text)
                report = json.loads(self.culprit("report", "--by", "module", "--format", "json",
                                                 "text.culprit").stdout)
                self.assertEqual(sum(event["samples"] for event in report["events"]), want)

    def record_with_perf(self, *options):
        self.need("perf")
        self.compile_text(PROGRAM, "program.c", "program", "-O1", "-g", "-fno-omit-frame-pointer",
                          "-fno-optimize-sibling-calls")
        done = run("perf", "record", "-o", "perf.data", "-e", "cpu-clock", "-F", "999", *options,
                   "./program", cwd=self.folder, status=None)
        if done.returncode != 0:
            self.skipTest(f"perf record does not work here: {done.stderr[-200:]}")

    def script(self, *options):
        return subprocess.run(["perf", "script", "-i", "perf.data", *options], cwd=self.folder,
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=120).stdout

    def test_the_text_of_a_recording_says_the_same_as_the_recording(self):
        for options in ((), ("-g",)):
            with self.subTest(options):
                self.record_with_perf(*options)
                self.import_text(self.script("--header", "--no-inline", "--show-mmap-events",
                                             "--show-task-events"))
                self.culprit("import", "-q", "-o", "data.culprit", "perf.data")
                for level in ("function", "instruction"):
                    levels = ("process", "module", level)
                    self.assertEqual(self.rows("text.culprit", *levels),
                                     self.rows("data.culprit", *levels))
                if "-g" not in options:
                    continue
                stacks = [sorted(self.culprit("export", "--to", "collapsed", profile)
                                 .stdout.splitlines())
                          for profile in ("text.culprit", "data.culprit")]
                self.assertIn("main;middle;leaf", "\n".join(stacks[0]))
                self.assertEqual(stacks[0], stacks[1])

    def test_without_mappings_functions_are_those_that_perf_names(self):
        self.record_with_perf()
        text = self.script("-F", "comm,pid,tid,time,period,event,ip,sym,symoff,dso")
        self.import_text(text)
        report = json.loads(self.culprit("report", "--by", "function", "--format", "json",
                                         "text.culprit").stdout)
        want = text.count(b" leaf+0x")
        self.assertGreater(want, 10)
        self.assertEqual([row["values"]["cpu-clock"]["samples"] for row in report["rows"]
                          if row["function"] == "leaf"], [want])

    def test_memory_does_not_grow_with_the_samples(self):
        """The same 100 places, 5,000 and 500,000 times."""
        peaks = []
        for count in (5_000, 500_000):
            with open(self.folder / "text", "w") as file:
                for i in range(count):
                    file.write(f"t 12/12 {i // 1000}.{i % 1000:06}: 100 cycles:  "
                               f"7f00000010{i % 100:02x} f+0x{i % 100:x} (/nowhere/x.so)\n")
            script = (f"import resource,subprocess,sys\n"
                      f"subprocess.run([{str(CULPRIT)!r}, 'import', '-q', '-o', 'o.culprit', 'text'],"
                      f" check=True)\n"
                      f"print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            peaks.append(int(run("python3", "-c", script, cwd=self.folder).stdout))
        self.assertLess(peaks[1], peaks[0] + 4096, f"kB: {peaks}")

    def test_what_is_no_text_of_perf_is_refused_with_advice(self):
        for text in (b"", b"hello\n", b"t 12 cycles: 401000 main\n"):
            (self.folder / "text").write_bytes(text)
            done = self.culprit("import", "text", status=1)
            self.assertIn("not a perf.data file", done.stderr)
            self.assertNotIn("perf script -i", done.stderr)  # perf does not read it either
            self.assertIn("perf script -F comm,pid,tid,time", done.stderr)
            self.assertFalse((self.folder / "profile.culprit").exists())
