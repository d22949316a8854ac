"""What a first user is told, once and where it matters; and what is not in the way."""
import json
import os
import unittest

from harness import CulpritTest, have, run

INLINED = r"""
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix_bits(unsigned x) {
  for (int i = 0; i < 20; ++i) x = (x ^ x >> 3) * 2654435761u;
  return x;
}
__attribute__((noinline)) unsigned worker(unsigned rounds) {
  unsigned sum = 0;
  for (unsigned i = 0; i < rounds; ++i) sum += mix_bits(i);
  return sum;
}
int main(int count, char** words) { printf("%u\n", worker(count > 1 ? atoi(words[1]) : 1000)); }
"""


class Hints(CulpritTest):
    def build(self, *flags):
        source = self.folder / "inlined.c"
        source.write_text(INLINED)
        program = self.folder / "inlined"
        run("gcc", "-O2", *flags, source, "-o", program)
        return program

    def test_roi_of_an_inlined_function_names_where_it_is(self):
        if not have("qemu-x86_64"):
            self.skipTest("no qemu-x86_64")
        done = self.culprit("record", "--engine", "simulate", "--roi", "mix_bits",
                            self.build("-g"), status=125)
        self.assertIn("inlined into worker; name worker instead", done.stderr)
        done = self.culprit("record", "--engine", "simulate", "--roi", "mix_bitz",
                            self.folder / "inlined", status=125)
        self.assertIn("there is no function 'mix_bitz'", done.stderr)

    def test_dev_null_takes_a_recording(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        done = self.culprit("record", "-o", "/dev/null", self.build("-g"), "1000",
                            env={**os.environ, "TMPDIR": str(temporary)})
        self.assertRegex(done.stdout, r"^\d+$")
        self.assertIn("-> /dev/null", done.stderr)
        self.assertNotIn(str(temporary), done.stderr)
        self.assertEqual(os.listdir(temporary), [])
        self.culprit("record", "-o", "/dev/null", "sh", "-c", "exit 7", status=7)
        self.assertEqual(self.culprit("record", "-o", "/dev/null", "sh", "-c", "kill -9 $$",
                                      status=None).returncode, -9)

    def test_code_without_symbols_is_named_by_file(self):
        program = self.build("-s")
        self.culprit("record", "-o", "p.culprit", "-q", "--engine", "timer", "-F", "2000", program,
                     "3000000", status=None)
        text = self.culprit("report", "p.culprit").stdout
        self.assertRegex(" ".join(text.split()),
                         r"code without symbols, in inlined \([\d.]+ %\): PACKAGE-dbgsym, or DEBUGINFOD_URLS")
        program = self.build("-g")
        self.culprit("record", "-o", "p.culprit", "-q", "--engine", "timer", "-F", "2000", program,
                     "3000000", status=None)
        self.assertNotIn("without symbols, in", self.culprit("report", "p.culprit").stdout)

    def test_time_alone_takes_one_line_and_not_thirteen(self):
        self.culprit("record", "-o", "p.culprit", "-q", self.build("-g"), "3000000", status=None)
        text = self.culprit("why", "p.culprit").stdout
        self.assertEqual(text.count("not covered"), 0)
        self.assertEqual(text.count("all branches:"), 1)
        self.assertNotIn("collisions", text)
        with_events = self.culprit("why", "--events", "p.culprit").stdout
        self.assertIn("load latency: not covered", with_events)
        verdict = " ".join(text[text.index("Verdict"):].split())
        self.assertRegex(verdict, r"^Verdict none: samples of time alone .*; (worker|mix_bits) has \d+ %")
        self.assertIn("culprit record --engine timer+simulate", text)

    def test_a_model_shows_no_noughts_and_no_threads_that_are_none(self):
        if not have("qemu-x86_64"):
            self.skipTest("no qemu-x86_64")
        self.culprit("record", "-o", "s.culprit", "-q", "--engine", "simulate", self.build("-g"),
                     "100000", timeout=300)
        text = self.culprit("why", "s.culprit").stdout
        table = text[:text.index("Verdict")]
        self.assertNotRegex(table, r"(?m)^.* 0\.0 % ")
        self.assertNotIn("collisions", text)
        self.assertIn("Next to nothing:", table)
        words = " ".join(text.split())
        self.assertEqual(words.count("culprit calibrate"), 0 if "calibrated 20" in words else 1)
        document = json.loads(self.culprit("why", "s.culprit", "--format", "json").stdout)
        labels = [part["label"] for level in document["tree"]["parts"] for part in level["parts"]]
        self.assertIn("multithread collisions", labels)   # a program gets all of it

    def test_options_say_what_they_take(self):
        done = self.culprit("export", "--to", "speedscope", status=2)
        self.assertIn("speedscope opens --to pprof or collapsed", done.stderr)
        done = self.culprit("export", "--to", "html", "--max-size", "x", status=2)
        self.assertIn("'x' is not a size (try 500k, 10M or 1Gi)", done.stderr)
        self.assertLess(len(done.stderr), 300)

    def test_header_has_user_and_kernel_time(self):
        self.culprit("record", "-o", "p.culprit", "-q", self.build("-g"), "3000000", status=None)
        self.assertRegex(self.culprit("report", "p.culprit").stdout,
                         r"CPU \([\d.]+ m?s user, [\d.]+ [mun]?s kernel\)")


if __name__ == "__main__":
    unittest.main()
