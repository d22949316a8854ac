"""report --by line --never: what gcov says of the same program, compiled in the same way."""
import json
import re
import unittest

from harness import BUILD, CulpritTest, run
from schema_test import validator

PROGRAM = """#include <stdio.h>
static int weigh(int x) {
  if (x > 100)
    return x * 3;
  return x + 1;
}
int parse(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) {
    if (i == 1000) {
      sum -= weigh(i);
      sum *= 2;
    } else {
      sum += weigh(i);
    }
  }
  switch (x) {
    case 1:
      sum = 7;
      break;
    case 10:
      sum ^= 5;
      break;
    default:
      sum = 0;
  }
  return sum;
}
int unused(int x) {
  return x * 11;
}
int main(int argc, char** argv) {
  int sum = parse(10);
  if (argc > 5)
    sum = unused(argc);
  return sum == 12345;
}
"""


class Never(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def record_program(self, *options, flags=("-O0", "-g")):
        program = self.compile_text(PROGRAM, "covered.c", "covered", *flags)
        path, _ = self.record("-q", "--engine", "simulate", "--machine", "none", *options, "--",
                              program)
        return path

    def gcov_lines(self):
        """{function: lines that never ran} by gcc's own instrumentation."""
        self.need("gcov")
        run("gcc", "-O0", "-g", "--coverage", "covered.c", "-o", "instrumented", cwd=self.folder)
        run("./instrumented", cwd=self.folder)
        run("gcov", "instrumented-covered", cwd=self.folder)
        never = set()
        for line in (self.folder / "covered.c.gcov").read_text().splitlines():
            count, number = line.split(":")[:2]
            # Labels have counters there, and no code of their own here.
            is_label = re.match(r"case .*:$|default:$", line.split(":", 2)[2].strip())
            if count.strip() == "#####" and not is_label:
                never.add(int(number))
        return never

    def never(self, *question):
        done = self.culprit("report", "--by", "line", "--never", *question, "--format", "json")
        document = json.loads(done.stdout)
        self.assertEqual([], list(validator("never").iter_errors(document)))
        return document

    def test_lines_are_those_of_gcov(self):
        self.record_program()
        document = self.never("--module", "*covered")
        lines = {(row["function"], line) for row in document["rows"]
                 for first, last in row["never"] for line in range(first, last + 1)}
        body = PROGRAM.splitlines()
        unused = range(body.index("int unused(int x) {") + 1, body.index("int main(int argc, char** argv) {") + 1)
        theirs = {line for line in self.gcov_lines() if line not in unused}
        self.assertEqual(theirs, {line for _, line in lines})
        self.assertIn(("weigh", 4), lines)
        self.assertEqual(len(theirs), document["never_lines"])
        self.assertFalse(document["knows_all_functions"])

    def test_all_functions_have_names(self):
        self.record_program("--facts", "all")
        document = self.never("--module", "*covered")
        never = {one["function"] for one in document["functions_never"]}
        self.assertIn("unused", never)
        self.assertFalse(never & {"main", "parse", "weigh"})
        text = self.culprit("report", "--by", "line", "--never", "--module", "*covered").stdout
        self.assertRegex(text, r"(?m)^ *\d+ +\d+  weigh +covered\.c:4$")
        self.assertRegex(text, r"(?m)^  covered  unused$")
        self.assertTrue(all(len(line) <= 80 for line in text[text.index("lines"):].splitlines()
                            if not line.startswith("Next")), text)

    def test_symbolizing_later_finds_them_too(self):
        profile = self.record_program()
        self.culprit("symbolize", "--facts", "all", profile)
        document = self.never("--module", "*covered")
        self.assertIn("unused", {one["function"] for one in document["functions_never"]})

    def test_what_is_not_known_is_said(self):
        profile = self.record_program()
        text = self.culprit("report", "--by", "line", "--never", profile).stdout
        self.assertIn("--facts all", re.sub(r"\s+", " ", text))
        done = self.culprit("report", "--never", profile, status=2)
        self.assertIn("--by line --never", done.stderr)
        done = self.culprit("report", "--by", "line", "--never", "--function", "absent", profile,
                            status=1)
        self.assertIn("nothing here matches", done.stderr)
        timed, _ = self.record("-q", "--", "true", output="timed.culprit")
        done = self.culprit("report", "--by", "line", "--never", timed, status=1)
        self.assertIn("every execution was counted", done.stderr)


if __name__ == "__main__":
    unittest.main()
