"""Figures that the page draws, row by row, against `--format json`; and the state in its address.
Each test starts Chromium, which takes some seconds."""
import json
import os
import re

import jsonschema

from harness import SOURCE
from scan_test import COUNTED, PLAN
from web_test import Browser, fetch, three_digits

PROGRAM = """
enum { kSize = 60 };
double a[kSize][kSize], b[kSize][kSize], c[kSize][kSize];
__attribute__((noinline)) void product(void) {
  for (int i = 0; i < kSize; i++)
    for (int j = 0; j < kSize; j++)
      for (int k = 0; k < kSize; k++) c[i][j] += a[i][k] * b[k][j];
}
int main(void) { for (int i = 0; i < 4; i++) product(); return (int)c[1][1]; }
"""


class Figures(Browser):
    """Everything here is counted by the software PMU, so that two runs of the page agree."""

    def setUp(self):
        super().setUp()
        program = self.compile_text(PROGRAM, "p.c", "p", "-O1", "-g")
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "zen4", "--locality", "all",
                     "--objects", "site", "-o", "p.culprit", program)
        self.profile = self.folder / "p.culprit"

    def test_rows_are_those_of_json(self):
        report = self.answer_json("report", self.profile, "--by", "function,module", "--limit", "0", "--columns", "hca")
        data = self.answer_json("data", self.profile, "--limit", "0")
        upper = "[aria-label='processes and modules'] .row:not(.head)"
        with self.serving(self.profile) as address:
            found = self.steps(
                address,
                ["open", "#1/0/functions?sort=-stalled+cycles", "[aria-label=functions] .row:not(.head)"], ["settle"],
                ["rows", "functions"], ["rows", "processes and modules"],
                # Choosing above restricts what is below, and stands in the address.
                ["click", upper], ["settle"], ["rows", "functions"], ["hash"],
                ["open", "#1/0/data", "[aria-label='data objects'] .row:not(.head)"], ["rows", "data objects"],
                # Back is where one was, with what was chosen there.
                ["click", "nav a[title='g f']"], ["wait", "[aria-label=functions]"], ["back"],
                ["wait", "[aria-label='data objects'] .row:not(.head)"], ["hash"])
        functions, modules, chosen, hash_chosen, objects, after_back = (found[at] for at in (2, 3, 6, 7, 9, 14))
        by_name = {}
        for row in report["rows"]:
            by_name.setdefault(row["function"], []).append(row["values"])
        drawn = 0
        for row in functions:
            values = by_name.get(row["function"], [])
            if len(values) != 1:
                continue  # names that two modules have
            for column in "stalled cycles", "unstalled cycles":
                self.assertEqual(row[f"?{column}"], three_digits_or_less(values[0][column]["value"]), row)
            drawn += 1
        self.assertGreater(drawn, 10)
        ranks = [max(values["stalled cycles"]["value"] for values in by_name[row["function"]]) for row in functions
                 if len(by_name.get(row["function"], [])) == 1]
        self.assertEqual(ranks, sorted(ranks, reverse=True))
        self.assertLess(len(chosen), len(functions) + 1)
        self.assertEqual({row["module"] for row in chosen}, {modules[0]["module"]})
        self.assertIn("module=", hash_chosen)
        self.assertTrue(after_back.startswith("#1/0/data"), after_back)
        self.assertEqual([row["name"].split("\n")[0].split(" kept in")[0] for row in objects][:5],
                         [row["name"] for row in data["rows"]][:5])
        for row, expected in list(zip(objects, data["rows"]))[:5]:
            self.assertEqual(row["=accesses"], three_digits_or_less(expected["use"]["accesses"]))

    def test_matrix_adds_up(self):
        """A row of the matrix has the evictions of that statement's lines, as `culprit locality` counts them."""
        table = self.answer_json("locality", self.profile, "--limit", "0")
        statement = next(row for row in table["rows"] if row.get("line"))
        name = f"{os.path.basename(statement['file'])}:{statement['line']}"
        edges = self.answer_json("locality", name, self.profile)["part"]["edges"]["L1D"]
        evicted = sum(edge["count"] for kind in ("evicted_by_capacity", "evicted_by_conflict")
                      for edge in edges[kind])
        self.assertGreater(evicted, 0)
        matrix = "table.matrix tbody tr"
        with self.serving(self.profile) as address:
            found = self.steps(address, ["open", "#1/0/locality?show=matrix", matrix], ["settle"],
                               ["texts", f"{matrix} th"], ["texts", f"{matrix} td:nth-child(2)"], ["axe"],
                               ["click", "[aria-label='what'] button:nth-child(2)"], ["hash"])
        row = found[2].index(name)
        self.assertEqual(found[3][row], three_digits_or_less(evicted))
        self.assertEqual(found[4], [])
        self.assertIn("what=refetches", found[6])

    def test_usable_at_every_width(self):
        """No screen is wider than its window: wide tables scroll by themselves."""
        steps = []
        for width in (800, 1280, 3840):
            steps.append(["size", width, 900])
            for screen, ready in (("overview", "section[aria-label='hottest functions'] tbody tr"),
                                  ("functions", "[aria-label=functions] .row:not(.head)"),
                                  ("data", "[aria-label='data objects'] .row:not(.head)")):
                steps += [["open", f"#1/0/{screen}", ready], ["settle"],
                          ["evaluate", "document.documentElement.scrollWidth - window.innerWidth"]]
        self.culprit("export", "--to", "html", "-o", "p.html", self.profile)
        found = self.steps((self.folder / "p.html").as_uri(), *steps)
        wider = [found[at] for at, step in enumerate(steps) if step[0] == "evaluate"]
        self.assertEqual(wider, [0] * 9)


class TimeAlone(Browser):
    """A timer's profile says where the time went, what it cannot say, and the command that would."""

    def test_what_was_not_recorded_says_what_records_it(self):
        self.culprit("record", "-q", "-o", "t.culprit", "--", "python3", "-c",
                     "sorted(str(i) for i in range(600000))")
        with self.serving("t.culprit") as address:
            found = self.steps(
                address, ["open", "#1/0/overview", "section[aria-label='hottest functions'] tbody tr"],
                ["texts", "section[aria-label=verdict]"], ["texts", ".next code"],
                *(step for screen in ("calls", "data", "locality", "regions")
                  for step in (["open", f"#1/0/{screen}", ".missing code"], ["texts", ".missing code"])))
        self.assertRegex(found[1][0], "not covered|is not known")  # the latter beside a lot of kernel
        self.assertEqual(found[2], ["culprit record --engine timer+simulate PROGRAM"])
        self.assertEqual([texts[0] for texts in found[4::2]],
                         ["culprit record -g PROGRAM",
                          "culprit record --locality all PROGRAM",
                          "culprit record --locality all PROGRAM",
                          "culprit record --regions PROGRAM"])


TURNS = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
static double used(void) {
  struct rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_utime.tv_sec + use.ru_utime.tv_usec * 1e-6 + use.ru_stime.tv_sec + use.ru_stime.tv_usec * 1e-6;
}
static void* work(void* name) {
  pthread_setname_np(pthread_self(), name);
  volatile unsigned sum = 0;
  while (used() < 0.3) for (unsigned i = 0; i < 100000; i++) sum += i;
  return 0;
}
int main(void) {
  const char* names[] = {"first", "second"};
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void*)names[i]);
    pthread_join(thread, 0);
  }
  return 0;
}
"""


def name_of(lane):
    """A thread that a sample met as it ended has no number any more: "(exiting)"."""
    return f"{lane['thread']} ({lane['thread_id']})" if "thread_id" in lane else lane["thread"]


class OverTime(Browser):
    """The screen of time: its figures are those of `report --by time`."""

    def setUp(self):
        super().setUp()
        program = self.compile_text(TURNS, "turns.c", "turns", "-O1", "-pthread")
        self.culprit("record", "-q", "-o", "t.culprit", program)
        self.profile = self.folder / "t.culprit"
        self.document = self.answer_json("report", self.profile, "--by", "time,process,thread")
        (self.slices,) = self.document["slices"]

    def drawn(self, thread):
        """What the table should say of a thread, slice by slice, as people read it."""
        lanes = [lane for lane in self.document["lanes"] if thread in ("", lane["thread"])]
        clock = self.document["events"][0]["name"]
        modes = {}
        for lane in lanes:
            for series in lane["series"]:
                if series["event"] != clock:
                    continue
                sums = modes.setdefault(series["mode"], [[0.0, 0.0] for _ in range(self.slices["count"])])
                for i, value in enumerate(series["values"]):
                    sums[series["first"] + i][0] += value
                    sums[series["first"] + i][1] += series["errors"][i] ** 2
        return modes

    def check_rows(self, rows, thread):
        modes = self.drawn(thread)
        self.assertEqual(len(rows) > 5, True, rows)
        for at, row in enumerate(rows):
            for mode, sums in modes.items():
                value, square = sums[at]
                cell = row[f"~{mode}"]
                if value == 0:
                    self.assertEqual(cell, "·", row)
                else:
                    expected = f"{as_duration(value)} ±{as_duration(1.96 * square ** 0.5)}"
                    self.assertEqual(re.sub(r"\s+", " ", cell), expected, row)

    def test_figures_are_those_of_json(self):
        first = next(lane for lane in self.document["lanes"] if lane["thread"] == "first")
        name = f"first ({first['thread_id']})"
        lane = f".time-lane button.name[title='{name}']"
        strip = "[role=application]"
        self.culprit("export", "--to", "html", "-o", "t.html", self.profile)
        with self.serving(self.profile) as address:
            status, body = fetch(address, "d/0/timeline")
            self.assertEqual(status, 200, body)
            served = json.loads(body)
            jsonschema.validate(served, json.loads((SOURCE / "schema/timeline.schema.json").read_text()))
            self.assertEqual(served["lanes"], self.document["lanes"])
            for where in address, (self.folder / "t.html").as_uri():
                with self.subTest(where=where.split(":")[0]):
                    found = self.steps(
                        where, ["open", "#1/0/time", "[aria-label=slices] .row:not(.head)"], ["settle"],
                        ["rows", "slices"], ["texts", ".time-lane .name"], ["axe"], ["click", lane], ["settle"],
                        ["rows", "slices"], ["hash"],
                        # From the keyboard: a slice, and half of the run around it.
                        ["focus", strip], ["press", "ArrowRight"], ["texts", ".tip"], ["press", "+"], ["hash"],
                        ["press", "0"], ["hash"])
                    self.check_rows(found[2], "")
                    self.assertEqual(set(found[3]), {"all threads", *map(name_of, self.document["lanes"])})
                    self.assertEqual(found[4], [])
                    self.check_rows(found[7], "first")
                    self.assertIn("row=", found[8])
                    self.assertRegex(found[11][0], "^" + re.escape(name))
                    self.assertIn("slices=0-", found[13])
                    self.assertNotIn("slices=", found[15])

    def test_usable_at_every_width(self):
        steps = []
        for width in (800, 1280, 3840):
            steps += [["size", width, 900], ["open", "#1/0/time", "[aria-label=slices] .row:not(.head)"], ["settle"],
                      ["evaluate", "document.documentElement.scrollWidth - window.innerWidth"]]
        self.culprit("export", "--to", "html", "-o", "t.html", self.profile)
        found = self.steps((self.folder / "t.html").as_uri(), *steps)
        self.assertEqual([found[at] for at, step in enumerate(steps) if step[0] == "evaluate"], [0, 0, 0])


def as_duration(ns):
    """As the page writes it: three significant digits."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")):
        if ns >= size:
            value = ns / size
            return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"
    return f"{ns} ns"


class WithoutCycles(Browser):
    """A software PMU without a machine counts events, and no cycles: there are no costs to ask for."""

    def test_it_is_not_asked_for_costs(self):
        profile, _ = self.record("--engine", "simulate", "--machine", "none", "--", "true")
        with self.serving(profile) as address:
            index = json.loads(fetch(address, "d/0/index")[1])
            self.assertEqual(index["documents"]["costs"]["is_there"], False)
            # Nor has it times.
            self.assertEqual(index["documents"]["timeline"],
                             {"is_there": False, "filled_by": "culprit record PROGRAM"})
            found = self.steps(address, ["open", "#1/0/time", ".missing code"], ["texts", ".missing code"])
            self.assertEqual(found[1], ["culprit record PROGRAM"])
            status, body = fetch(address, "d/0/costs")
            self.assertEqual(status, 404)
            self.assertIn("no cycles", json.loads(body)["error"])
            # An answer other than 200 would be an error in the browser's console.
            found = self.steps(
                address, ["open", "#1/0/overview", "section[aria-label='hottest functions'] tbody tr"],
                ["texts", ".next"], ["open", "#1/0/functions", "[aria-label=functions] .row:not(.head)"])
        self.assertEqual(found[1], ["No cycles were counted. What takes them: culprit record --engine timer+simulate PROGRAM"])


class Graph(Browser):
    """Blocks of a function: laid out in a worker, without overlaps, drawn where they are in sight."""

    BRANCHES = 60
    PROGRAM = "\n".join(
        ["volatile int out;", "__attribute__((noinline)) int many(int n) {", " int s = 0;", " for (int i = 0; i < n; ++i) {"] +
        [f"  if ((i ^ {i * 7919}) & {1 << i % 5}) s += out;" for i in range(BRANCHES)] +
        [" }", " return s;", "}", "int main(void) { return many(50) & 1; }"])
    BOXES = """[...document.querySelectorAll('svg .block')].map((one) => {
      const [x, y] = one.getAttribute('transform').match(/[-0-9.]+/g).map(Number);
      const box = one.querySelector('.box');
      return [x, y, x + Number(box.getAttribute('width')), y + Number(box.getAttribute('height'))]; })"""

    def test_layout(self):
        program = self.compile_text(self.PROGRAM, "many.c", "many", "-O1", "-g")
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "none", "-o", "m.culprit", program)
        self.culprit("export", "--to", "html", "-o", "m.html", "m.culprit")
        blocks = sum(len(place["blocks"]) for place in self.answer_json("annotate", "many", "m.culprit")["places"])
        self.assertGreater(blocks, self.BRANCHES)
        way = (["open", "#1/0/functions?q=%5Emany%24", "[aria-label=functions] .row:not(.head)"],
               ["focus", "[aria-label='functions: rows']"], ["press", "ArrowDown"], ["press", "Enter"],
               ["wait", "svg .block"], ["count", "svg .block"],
               ["evaluate", "document.querySelector('.frame svg').getAttribute('aria-label')"],
               # As small as it takes to see all of them.
               *[["click", ".blocks [aria-label=smaller]"]] * 20, ["settle"], ["evaluate", self.BOXES])
        with self.serving("m.culprit") as address:
            served = self.steps(address, *way)
            self.assertEqual(self.done["workers"], 1)
            # A browser that lets the page have no worker shows the same.
            without = self.steps(address, way[0], ["evaluate", "delete window.Worker"], *way[1:])
            self.assertEqual(self.done["workers"], 0)
        in_file = self.steps((self.folder / "m.html").as_uri(), *way)
        self.assertEqual(self.done["workers"], 1)
        boxes = served[-1]
        self.assertEqual(served[6], f"control flow: {blocks} blocks")
        self.assertEqual(len(boxes), blocks)
        self.assertLess(served[5], blocks)  # what was in sight at first
        self.assertEqual(without[-1], boxes)
        self.assertEqual(in_file[-1], boxes)
        for i, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[i + 1:]:
                self.assertTrue(right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top,
                                (boxes[i], other))


def three_digits_or_less(value):
    """As the page writes an amount that may be small."""
    if value >= 999.5 or value == int(value):
        return three_digits(value) if value >= 999.5 else str(int(value))
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


class Scan(Browser):
    """The screen of a scan. COUNTED says by its text what an iteration costs: DIM no-operations."""

    VALUES = """[...document.querySelectorAll('table.values tbody tr')].map((row) => [row.querySelector('th').innerText,
      [...row.querySelectorAll('td')].map((cell) => cell.dataset.missing || [Number(cell.dataset.value), Number(cell.dataset.error)])])"""

    def setUp(self):
        super().setUp()
        (self.folder / "counted.cc").write_text(COUNTED)
        (self.folder / "scan.toml").write_text(PLAN.format(
            program="counted.cc", more="DIM = [2, 5, 16]",
            setups='O1 = { cc = "g++", flags = "-O1" }\nO0 = { cc = "g++", flags = "-O0" }\n'
                   'broken = { cc = "g++", flags = "-include absent.h" }'))
        self.culprit("scan", "run", "-q", "-j", "1", status=1)  # one by one: O0 is first

    def values(self, *arguments):
        """As `scan table` has them, in the form of VALUES."""
        document = self.answer_json("scan", "table", *arguments)
        return [[series["name"], [mark.get("missing") or [mark["value"], mark["error"]] for mark in series["marks"]]]
                for panel in document["panels"] for series in panel["series"]]

    def test_curves_lead_to_code(self):
        ready = "svg[role=application] .point"
        nops = "#1/0/scan?ev=nops&values=1"
        with self.serving("scan.culprit") as address:
            for name, schema in ("scan", "web_scan"), ("scan/values/0", "web_scan_values"):
                jsonschema.validate(json.loads(fetch(address, f"d/0/{name}")[1]),
                                    json.loads((SOURCE / f"schema/{schema}.schema.json").read_text()))
            cells = json.loads(fetch(address, "d/0/scan")[1])
            for path, status in (("scan/values/9999", 404), ("scan/cell/0/", 404), ("scan/cell/99/line", 404), ("scan/x", 404),
                                 ("scan/explain/0", 404), (f"scan/cell/{cells['setup'].index('broken')}/line", 404),
                                 ("scan/expression/no%20such%20name", 400)):
                self.assertEqual(fetch(address, f"d/0/{path}")[0], status, path)
            found = self.steps(
                address, ["open", "", ready], ["hash"],
                ["open", nops, ready], ["evaluate", self.VALUES], ["axe"],
                ["open", "#1/0/scan?ev=instructions+%2F+DIM&base=O1&values=1", ready], ["evaluate", self.VALUES],
                ["open", "#1/0/scan?ev=nops&over=setup&by=DIM&values=1", ready], ["evaluate", self.VALUES],
                ["open", "#1/0/scan?ev=loads&expect=DIM+%2B+1&values=1", ".plot .expected"], ["texts", "table.values tbody tr:last-child"],
                # By keyboard from a point to its cell.
                ["open", nops, ready], ["focus", "svg[role=application]"], ["press", "ArrowRight"], ["press", "ArrowRight"],
                ["texts", ".tip"], ["press", "Enter"], ["wait", "[aria-label='costs by place'] .row:not(.head)"], ["hash"],
                ["rows", "costs by place"],
                ["select", "section[aria-label=cell] select", "counted O1 5"], ["wait", ".causes"], ["texts", ".causes b"], ["hash"], ["axe"],
                ["scheme", "dark"], ["settle"], ["axe"],
                # What is hidden stands in the address.
                ["click", "button.curve"], ["settle"], ["count", ".plot .point"], ["hash"], ["back"], ["forward"], ["wait", ready], ["count", ".plot .point"])
        self.assertEqual(found[1], "#1/0/scan")
        self.assertEqual(sorted(found[3]), sorted(self.values("nops")))
        by_name = dict(found[3])
        self.assertEqual(by_name["broken"], ["build failed"] * 3)
        self.assertEqual(by_name["O1"], [[2, 0], [5, 0], [16, 0]])
        self.assertEqual(sorted(found[6]), sorted(self.values("instructions / DIM", "--base", "O1")))
        self.assertEqual(sorted(found[8], key=str), sorted(self.values("nops", "--over", "setup", "--by", "DIM"), key=str))
        self.assertEqual(found[10][0].split("\t"), ["expected: DIM + 1", "3", "6", "17"])
        self.assertEqual([texts for texts in (found[4], found[24], found[27])], [[], [], []])
        self.assertEqual(found[15], ["O0, DIM 5: 5"])
        self.assertIn("a=counted+O0+5", found[18])
        self.assertIn("b=counted+O1+5", found[23])
        places = {row["line"]: row["instructions"] for row in found[19]}
        self.assertTrue(any(line.startswith("counted.cc:") for line in places), places)
        total = self.values("instructions", "--setup", "O0")[0][1][1][0]
        self.assertEqual(sum(0 if text == "·" else float(text) for text in places.values()), total)
        causes = self.answer_json("scan", "explain", "counted O0 5", "counted O1 5")["causes"]
        self.assertEqual(found[22], [one["text"] for one in causes])
        # Of two curves with three points one is left.
        self.assertEqual((found[30], found[35]), (3, 3))
        self.assertIn("hide=", found[31])

    def test_one_file(self):
        self.culprit("export", "--to", "html", "-o", "s.html", "scan.culprit")
        causes = [one["text"] for one in self.answer_json("scan", "explain", "counted O0 5", "counted O1 5")["causes"]]
        found = self.steps(
            (self.folder / "s.html").as_uri(), ["open", "", ".plot .point"], ["hash"], ["count", "input[type=search]"],
            ["open", "#1/0/scan?ev=nops&base=O1&values=1&a=counted+O1+5&b=counted+O0+5", ".causes"], ["evaluate", self.VALUES], ["texts", ".causes b"])
        self.assertEqual(found[1:3], ["#1/0/scan", 0])
        self.assertEqual(sorted(found[4]), sorted(self.values("nops", "--base", "O1")))
        self.assertEqual(found[5], causes)
        done = self.culprit("export", "--to", "html", "--max-size", "20k", "-o", "s.html", "scan.culprit")
        self.assertRegex(done.stderr, r"left out: \d+ details of cells")
