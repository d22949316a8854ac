"""Exports as the tools that they are for read them: totals are the report's."""
import collections
import gzip
import importlib
import json
import os
import pty
import re
import subprocess
import sys
import unittest

import harness
from harness import CulpritTest, run

MILL = """
#include <cstdio>
#include <vector>
static inline unsigned mix(unsigned x) {
  x ^= x >> 13;
  x *= 0x5bd1e995;
  return x ^ (x >> 15);
}
__attribute__((noinline)) unsigned grind(const std::vector<unsigned>& v) {
  unsigned sum = 0;
  for (unsigned x : v) {
    if (x & 1) sum += mix(x);
    else sum ^= x;
  }
  return sum;
}
__attribute__((noinline)) unsigned turn(std::vector<unsigned>& v, int times) {
  unsigned sum = 0;
  for (int i = 0; i < times; ++i) {
    v[i % v.size()] += sum;
    sum += grind(v);
  }
  return sum + 1;
}
int main() {
  std::vector<unsigned> v(10000, 3);
  for (unsigned i = 0; i < v.size(); ++i) v[i] = mix(i);
  std::printf("%u\\n", turn(v, 20000));
}
"""


class Export(CulpritTest):
    """One recording with stacks, for all tests of this file that need one."""

    def setUp(self):
        super().setUp()
        self.need("clang++-19")
        self.mill = self.compile_text(MILL, "mill.cc", "mill", "-O2", "-g",
                                      "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
                                      compiler="clang++-19")
        self.profile, _ = self.record("-g", self.mill)

    def export(self, format, *arguments, **options):
        target = self.folder / f"out.{format}"
        self.culprit("export", self.profile, "--to", format, "-o", target, *arguments, **options)
        return target

    def total(self):
        """{samples, value} of the first event, as the report has them."""
        event = self.report(self.profile)["events"][0]
        return event["samples"], round(event["total"])

    def functions(self):
        """{name: value}, inlined code on its own."""
        report = self.report(self.profile)
        event = report["events"][0]["name"]
        sums = {}
        for row in report["rows"]:
            sums[row["function"]] = sums.get(row["function"], 0) + row["values"][event]["value"]
        return sums


class Pprof(Export):
    def decode(self, path):
        self.need("protoc")
        try:
            import google.protobuf  # noqa: F401
        except ImportError:
            self.skipTest("no python3-protobuf on this machine")
        run("protoc", f"--python_out={self.folder}", f"--proto_path={harness.SOURCE / 'tests'}",
            harness.SOURCE / "tests/pprof_profile.proto")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        sys.modules.pop("pprof_profile_pb2", None)
        from google.protobuf import descriptor_pool, symbol_database  # noqa: F401
        schema = importlib.import_module("pprof_profile_pb2")
        return schema.Profile.FromString(gzip.decompress(path.read_bytes()))

    def test_totals_places_and_labels(self):
        profile = self.decode(self.export("pprof"))
        text = list(profile.string_table)
        self.assertEqual("", text[0])
        types = [(text[t.type], text[t.unit]) for t in profile.sample_type]
        self.assertEqual([("samples", "count"), ("cpu-clock", "nanoseconds")], types)
        sums = tuple(sum(sample.value[i] for sample in profile.sample) for i in (0, 1))
        self.assertEqual(self.total(), sums)
        self.assertEqual("cpu-clock", text[profile.period_type.type])
        self.assertEqual(1001003, profile.period)
        self.assertGreater(profile.time_nanos, 1_600_000_000_000_000_000)
        self.assertIn("ledger: 0 samples lost", [text[row] for row in profile.comment])

        # The main program comes first, with its build-id as readelf prints it.
        main = profile.mapping[0]
        self.assertEqual(str(self.mill), text[main.filename])
        notes = run("readelf", "-n", self.mill).stdout
        self.assertIn(f"Build ID: {text[main.build_id]}\n", notes)

        # Values of functions, by the innermost line of each leaf.
        functions = {row.id: row for row in profile.function}
        locations = {row.id: row for row in profile.location}
        values = {}
        for sample in profile.sample:
            lines = locations[sample.location_id[0]].line
            name = text[functions[lines[0].function_id].name] if lines else None
            values[name] = values.get(name, 0) + sample.value[1]
        ours = self.functions()
        inner = [name for name in ours if name.startswith(("grind", "mix"))]
        self.assertEqual(2, len(inner), ours)
        for name in inner:
            self.assertEqual(round(ours[name]), values[name], name)

        # Addresses are the file's own: addr2line names the same function and line.
        checked = 0
        for row in profile.location:
            if row.mapping_id != main.id or not row.line:
                continue
            self.assertTrue(main.memory_start <= row.address < main.memory_limit)
            said = run("addr2line", "-C", "-f", "-e", self.mill, hex(row.address)).stdout.split("\n")
            line = row.line[0]
            file = text[functions[line.function_id].filename].rsplit("/", 1)[-1]
            place = said[1].rsplit("/", 1)[-1].split(" ")[0].replace(":?", ":0")
            # Code of no line has no file for addr2line; in pprof the file is the function's.
            if line.line == 0:
                file, place = "", "??:" + place.rsplit(":", 1)[-1]
            self.assertEqual(f"{file or '??'}:{line.line}", place)
            checked += 1
        self.assertGreater(checked, 2)

        # Stacks: some sample of grind has turn and main above it.
        names = [[text[functions[line.function_id].name] for where in sample.location_id
                  for line in locations[where].line] for sample in profile.sample]
        self.assertTrue(any(any(n.startswith("grind(") for n in stack) and "main" in stack
                            for stack in names), names[:5])

        labels = {text[label.key]: text[label.str] or label.num
                  for sample in profile.sample for label in sample.label}
        self.assertEqual("mill", labels["process"])
        self.assertEqual(labels["pid"], labels["tid"])

    def test_pprof_itself_reads_it(self):
        self.need("pprof")
        top = run("pprof", "-top", "-unit=ns", self.export("pprof"), cwd=self.folder).stdout
        self.assertIn("Type: cpu-clock", top)
        self.assertIn(f"{self.total()[1]}ns total", top)
        self.assertRegex(top, r"grind")

    def test_a_terminal_is_refused(self):
        ours, theirs = pty.openpty()
        done = subprocess.run([harness.CULPRIT, "export", self.profile, "--to", "pprof"],
                              stdout=theirs, stderr=subprocess.PIPE, text=True)
        os.close(ours)
        os.close(theirs)
        self.assertEqual(2, done.returncode)
        self.assertIn("-o FILE", done.stderr)


class Callgrind(Export):
    def test_callgrind_annotate_agrees(self):
        self.need("callgrind_annotate")
        path = self.export("callgrind")
        text = run("callgrind_annotate", "--threshold=100", "--auto=no", path).stdout
        number = lambda word: int(word.replace(",", ""))
        total = number(re.search(r"([\d,]+) .*PROGRAM TOTALS", text).group(1))
        self.assertEqual(self.total()[1], total)
        self.assertIn("Events recorded:  cpu_clock", text)
        listed = [number(n) for n in re.findall(r"^ *([\d,]+) +\([\d. ]+%\) .*:", text, re.M)]
        self.assertEqual(total, sum(listed))
        # Callgrind has inlined code with the function that it is in: grind is what the
        # report has at nm's addresses of it.
        symbol = re.search(r"^([0-9a-f]+) ([0-9a-f]+) T _Z5grind", run("nm", "-S", self.mill).stdout, re.M)
        begin, size = (int(word, 16) for word in symbol.groups())
        ours = sum(row["values"]["cpu-clock"]["value"]
                   for row in self.report(self.profile, "--by", "instruction")["rows"]
                   if row.get("module") == str(self.mill) and begin <= int(row["address"], 16) < begin + size)
        theirs = sum(number(n) for n in re.findall(r"^ *([\d,]+) .*:grind\(", text, re.M))
        self.assertEqual(round(ours), theirs)
        self.assertGreater(ours, 0.8 * total)

    def test_calls_have_inclusive_costs(self):
        self.need("callgrind_annotate")
        text = run("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no",
                   self.export("callgrind")).stdout
        turn = re.search(r"([\d,]+) .*mill\.cc:turn\(", text)
        grind = re.search(r"([\d,]+) .*mill\.cc:grind\(", text)
        self.assertIsNotNone(turn, text)
        # All of grind is called from turn.
        self.assertGreaterEqual(int(turn.group(1).replace(",", "")),
                                0.99 * int(grind.group(1).replace(",", "")))


class Dot(Export):
    def test_graphviz_draws_it(self):
        self.need("dot")
        path = self.export("dot", "--function", "grind")
        picture = run("dot", "-Tsvg", path).stdout
        self.assertIn("<svg", picture)
        self.assertGreater(picture.count('class="node"'), 2)
        self.assertGreater(picture.count('class="edge"'), 2)
        # The function's begin is where nm has it.
        address = run("nm", self.mill).stdout
        begin = re.search(r"^0*([0-9a-f]+) T _Z5grind", address, re.M).group(1)
        self.assertIn(f"b{begin} [label=", path.read_text())

    def test_calls_need_branch_records(self):
        done = self.culprit("export", self.profile, "--to", "dot", status=1)
        self.assertIn("record -b", done.stderr)

    def test_words_are_checked(self):
        for arguments, said in [(["--to", "dot", "--function", "main", "--limit", "3"],
                                 "without --function"),
                                (["--to", "csv", "--function", "main"], "for --to dot only"),
                                (["--to", "pprof", "--image", "x"], "autofdo, bolt and dot only")]:
            done = self.culprit("export", self.profile, *arguments, status=2)
            self.assertIn(said, done.stderr)


class ImportedBranches(CulpritTest):
    """A recording of test.binary (not a PIE: mapped at 0x400000 from its start)."""
    FILE = harness.SOURCE.parent / "shared/perfdata/files/autofdo__test.lbr"
    BASE, END = 0x400000, 0x500000

    def setUp(self):
        super().setUp()
        self.need("perf")
        if not self.FILE.exists():
            self.skipTest(f"no {self.FILE.name} beside this folder")
        self.culprit("import", "-q", "--no-debuginfod", self.FILE)

    def oracle(self):
        """{(from, to) in test.binary: how often}, by perf."""
        text = run("perf", "script", "-i", self.FILE, "-F", "brstack").stdout
        counts = collections.Counter()
        for source, target in re.findall(r"0x([0-9a-f]+)/0x([0-9a-f]+)/", text):
            ends = int(source, 16), int(target, 16)
            if all(self.BASE <= end < self.END for end in ends):
                counts[tuple(f"{end - self.BASE:x}" for end in ends)] += 1
        return counts

    def test_bolt_has_the_branches_that_perf_has(self):
        text = self.culprit("export", "--to", "bolt", "--image", "test.binary").stdout
        ours = collections.Counter()
        for kind, source, target, count, *_ in map(str.split, text.splitlines()):
            if kind == "B" and "X:0" not in (source, target):
                ours[source, target] += int(count)
        theirs = self.oracle()
        self.assertGreater(sum(theirs.values()), 10_000)
        self.assertEqual(theirs, ours)


class AutoFdoTotals(CulpritTest):
    SOURCE = """
unsigned mix(unsigned x) { x ^= x >> 13; return x * 0x5bd1e995; }
__attribute__((noinline)) unsigned grind(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) sum = i % 3 ? sum + mix(i) : sum ^ i;
  return sum;
}
int main(void) { return grind(1000) == 1; }
"""

    def test_are_bytes_of_code_times_executions(self):
        self.need("qemu-x86_64")
        if not (harness.BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")
        source = self.folder / "grinder.c"
        source.write_text(self.SOURCE)
        profile, _ = self.record("--engine", "simulate", "--machine", "none", "--",
                                 self.compile(source, "grinder", "-O2", "-g"))
        text = self.culprit("export", "--to", "autofdo", "--image", "grinder", profile).stdout
        listing = json.loads(
            self.culprit("annotate", "grind", "--format", "json", profile).stdout)
        whole = sum(one["size"] * one["values"]["instructions"]["value"]
                    for block in listing["places"][0]["blocks"] for one in block["instructions"])
        self.assertGreater(whole, 10_000)
        self.assertEqual(f"grind:{round(whole)}:1", re.search(r"(?m)^grind:.*$", text)[0])


class BranchFormats(Export):
    def test_need_branch_records(self):
        for format in ("autofdo", "bolt"):
            done = self.culprit("export", self.profile, "--to", format, status=1)
            self.assertIn("record -b", done.stderr)


if __name__ == "__main__":
    unittest.main()
