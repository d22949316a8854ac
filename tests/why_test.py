"""culprit why: the tree of cycles, from every kind of profile, and the reports whose columns are
its branches."""
import json
import unittest

import jsonschema

from harness import CULPRIT, PROGRAMS, SOURCE, BUILD, CulpritTest, have, run

BRANCHES = 11


def validator(name):
    return jsonschema.Draft7Validator(json.loads((SOURCE / f"schema/{name}.schema.json").read_text()))


def nodes(node):
    yield node
    for part in node["parts"]:
        yield from nodes(part)


def level3(tree):
    return [node for node in nodes(tree) if node["kind"] == "branch"]


class WhyTest(CulpritTest):
    def why(self, *arguments):
        document = json.loads(self.culprit("why", "--format", "json", *arguments).stdout)
        validator("why").validate(document)
        self.assertEqual(len(level3(document["tree"])), BRANCHES)
        return document

    def build_walk(self):
        """Walks a matrix by columns, then by rows: 2 x 800 x 800 loads of 8 bytes."""
        source = self.folder / "walk.c"
        source.write_text("""#include <stdio.h>
#define N 800
static double a[N][N];
__attribute__((noinline)) double by_column(void) {
  double sum = 0;
  for (int j = 0; j < N; ++j) for (int i = 0; i < N; ++i) sum += a[i][j];
  return sum;
}
__attribute__((noinline)) double by_row(void) {
  double sum = 0;
  for (int i = 0; i < N; ++i) for (int j = 0; j < N; ++j) sum += a[i][j];
  return sum;
}
int main(void) {
  for (int i = 0; i < N; ++i) for (int j = 0; j < N; ++j) a[i][j] = i ^ j;
  printf("%g %g\\n", by_column(), by_row());
}
""")
        program = self.folder / "walk"
        run("gcc", "-O1", "-g", source, "-o", program)
        return program


class Timer(WhyTest):
    """Time alone: everything works, and says what it does not know."""

    def setUp(self):
        super().setUp()
        self.culprit("record", "--no-symbols", "-q", "sh", "-c",
                     "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", timeout=300)

    def test_only_cycles_are_known_and_nothing_is_nought(self):
        document = self.why()
        self.assertGreater(document["tree"]["cycles"]["value"], 0)
        self.assertEqual(document["tree"]["provenance"], "sampled")
        for node in nodes(document["tree"]):
            if node["kind"] != "branch":
                continue
            self.assertEqual(node["state"], "not_covered", node["label"])
            self.assertIsNone(node["cycles"])
            self.assertIn("timer", node["reason"])
        text = self.culprit("why").stdout
        self.assertNotIn("load latency", text)   # one sentence says so of all
        self.assertRegex(self.culprit("why", "--events").stdout,
                         r"(?m)^ +- +- +load latency: not covered$")
        self.assertIn("all branches: the timer samples time", text)
        self.assertNotRegex(text, r"(?m)^ *0 ")
        # A program's own times do not tell whether the CPUs ran something else meanwhile.
        self.assertIsNone(document["halted"])
        self.assertNotIn("alted", text.replace("unhalted", ""))

    def test_a_part_has_its_share(self):
        whole = self.why()
        module = self.why("--in", "*sh")
        self.assertLess(module["tree"]["cycles"]["value"], whole["tree"]["cycles"]["value"] * 1.001)
        self.assertEqual(module["everything"], whole["tree"]["cycles"])
        wrong = self.culprit("why", "--in", "no-such-function", status=1).stderr
        self.assertIn("no function and no module here is 'no-such-function'", wrong)

    def test_a_template_by_name_changes_what_is_said(self):
        document = self.why("--template", "zen4")
        self.assertEqual(document["template"]["name"], "zen4")
        # Cycles from time and the clock; the branches could be told, and were not recorded.
        self.assertGreater(document["tree"]["cycles"]["value"], 0)
        states = {node["state"] for node in level3(document["tree"])}
        self.assertLessEqual(states, {"not_recorded", "not_covered"})
        self.assertIn("not_recorded", states)

    def test_every_template_explains_it(self):
        for path in sorted((SOURCE / "data/templates").glob("*.toml")):
            with self.subTest(path.stem):
                document = self.why("--template", path.stem)
                for node in level3(document["tree"]):
                    self.assertIsNone(node["cycles"], node["label"])
                    self.assertTrue(node["reason"], node["label"])
                self.culprit("why", "--template", path.stem, "--events")
                self.culprit("report", "--columns", "hca", "--template", path.stem)

    def test_errors(self):
        wrong = self.culprit("why", "--template", "zen44", status=1).stderr
        self.assertIn("zen44", wrong)
        self.assertIn("zen4", wrong)
        broken = self.folder / "broken.toml"
        broken.write_text("name = 3\n")
        self.assertIn("broken.toml, line 1", self.culprit("why", "--template", broken, status=1).stderr)
        self.assertEqual(self.culprit("why", "a", "b", "c", status=2).stdout, "")
        self.culprit("why", "absent.culprit", status=1)
        self.culprit("why", "--format", "csv", "a", "b", status=2)

    def test_two_profiles_side_by_side(self):
        text = self.culprit("why", "profile.culprit", "profile.culprit").stdout
        self.assertRegex(text, r"(?m)^ *[\d.]+ [kMG] ~ +100.0 % +[\d.]+ [kMG] ~ +100.0 % +1.00 +unhalted")
        document = json.loads(self.culprit("why", "profile.culprit", "profile.culprit",
                                           "--format", "json").stdout)
        validator("why_both").validate(document)
        self.assertEqual(len(document["rows"]), 3 + BRANCHES)

    def test_columns_of_costs_say_what_they_lack(self):
        report = json.loads(self.culprit("report", "--columns", "hca", "--by", "module",
                                         "--format", "json").stdout)
        self.assertEqual([event["name"] for event in report["events"]], ["unhalted cycles"])
        self.assertTrue(any("load latency" in remark or "all branches" in remark
                            for remark in report["remarks"]))


class Simulated(WhyTest):
    """The software PMU knows every branch but one, and its accounts close."""

    def record(self):
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "zen4", "./walk",
                     timeout=600)

    def setUp(self):
        super().setUp()
        self.build_walk()
        self.record()

    def test_the_accounts_close(self):
        document = self.why()
        tree = document["tree"]
        self.assertEqual(document["template"]["name"], "simulated-core")
        by_branch = {node["branch"]: node for node in nodes(tree) if node["kind"] in ("level", "branch")}
        value = lambda branch: by_branch[branch]["cycles"]["value"]
        self.assertAlmostEqual(value("stalled") + value("unstalled"), value("unhalted"), delta=1e-6 * value("unhalted"))
        stalled = [node for node in by_branch["stalled"]["parts"]
                   if node["kind"] == "branch" and node["cycles"]]
        self.assertEqual(len(stalled), 6)
        self.assertAlmostEqual(sum(node["cycles"]["value"] for node in stalled), value("stalled"),
                               delta=1e-6 * value("unhalted"))
        self.assertEqual(by_branch["multithread_collisions"]["state"], "not_covered")
        self.assertLess(document["overlap"]["value"], 1e-6 * value("unhalted"))
        # By hand: by_column, by_row and main touch 3 x 640,000 numbers; a chain of additions of
        # 3 cycles each (Zen 4's addsd) in the first two.
        self.assertGreater(value("instruction_serialization"), 0.9 * 2 * 640_000 * 2)
        self.assertLess(value("unhalted"), 20e6)

    def test_parts_add_up_to_the_whole(self):
        report = json.loads(self.culprit("report", "--columns", "hca", "--format", "json").stdout)
        jsonschema.Draft7Validator(json.loads((SOURCE / "schema/report.schema.json").read_text())).validate(report)
        self.assertEqual(report["columns"], "hca")
        names = [event["name"] for event in report["events"]]
        self.assertIn("load latency", names)
        self.assertNotIn("multithread collisions", names)
        why = self.why()
        for event in report["events"]:
            total = sum(row["values"][event["name"]]["value"] for row in report["rows"])
            self.assertAlmostEqual(total, event["total"], delta=1e-6 * max(1, event["total"]))
            branch = next(node for node in nodes(why["tree"]) if node["label"] == event["name"])
            self.assertAlmostEqual(branch["cycles"]["value"], event["total"], delta=1e-6 * max(1, event["total"]))

    def test_the_next_step_names_a_function_that_has_rows(self):
        for words in (("--columns", "hca"), ("--columns", "hca:load_latency"), ("--limit", "0")):
            text = self.culprit("report", *words).stdout
            self.assertNotIn("no function here has a name", text)
        for branch in ("hca", "hca:load_latency"):
            text = self.culprit("report", "--columns", branch).stdout
            self.assertRegex(text, r"(?m)^Next +culprit annotate (by_column|by_row)")

    def test_the_header_says_whose_time_it_is(self):
        self.assertRegex(self.culprit("report").stdout.splitlines()[0], r" wall, .* CPU \(of the simulator\)")

    def test_rows_are_cut_and_sorted_by_a_branch(self):
        command = ("report", "--columns", "hca", "--sort", "branch_misprediction", "--format", "json")
        whole = json.loads(self.culprit(*command).stdout)
        values = [row["values"]["branch misprediction"]["value"] for row in whole["rows"]]
        self.assertEqual(values, sorted(values, reverse=True))
        cut = json.loads(self.culprit(*command, "--limit", "3").stdout)
        self.assertEqual(cut["rows"], whole["rows"][:3])
        rest = cut["rest"]["values"]["branch misprediction"]["value"]
        self.assertAlmostEqual(rest, sum(values[3:]), delta=1e-6 * sum(values))
        self.assertIn("cannot sort", self.culprit("report", "--columns", "hca", "--sort", "nonsense", status=1).stderr)

    def test_one_branch_in_detail(self):
        report = json.loads(self.culprit("report", "--columns", "hca:load_latency", "--format", "json").stdout)
        names = [event["name"] for event in report["events"]]
        self.assertIn("DTLB", names)
        self.assertNotIn("branch misprediction", names)
        total = next(event["total"] for event in report["events"] if event["name"] == "load latency")
        heading, *rows = self.culprit("report", "--columns", "hca:load_latency").stdout.split("\n\n")[-2].splitlines()
        self.assertRegex(heading, r"cycles +.share +.load latency")
        cycles = rows[-1].split("%")[1].split()
        self.assertAlmostEqual(float(cycles[0]) * {"k": 1e3, "M": 1e6, "G": 1e9}[cycles[1]], total, delta=0.01 * total)
        wrong = self.culprit("report", "--columns", "hca:load_latancy", status=2).stderr
        self.assertIn("load_latency", wrong)

    def test_advice_says_once_how_often_a_loop_goes_round(self):
        """By the program's text: for each of 800 columns, 800 elements."""
        advice = [one for one in self.why()["advice"] if one["function"] == "by_column"]
        self.assertEqual([one["loop"] and (one["loop"]["rounds"], one["loop"]["entries"]) for one in advice],
                         [(800, 800)] + [None] * (len(advice) - 1))
        # Counted loops run as often as the program says, and are no news.
        self.assertNotIn("Its loop", self.culprit("why").stdout)

    def test_advice_says_how_long_a_search_is(self):
        """3,000 times a key is looked for in 1,000: half of the time it is their last one, half of
        the time none of them. By the text 1,000 rounds, or, where the compiler puts the test in front
        of a round, one less or more."""
        program = self.compile_text("""
            #include <stdio.h>
            static int keys[1000];
            __attribute__((noinline)) int find(int key) {
              for (int i = 0; i < 1000; i++)
                if (keys[i] == key) return i;
              return -1;
            }
            int main(void) {
              for (int i = 0; i < 1000; i++) keys[i] = i;
              int sum = 0;
              for (int i = 0; i < 3000; i++) sum += find(i % 2 ? 999 : -5);
              printf("%d\\n", sum);
            }""", "search.c", "search", "-O1", "-g")
        self.culprit("record", "-q", "--force", "--engine", "simulate", "--machine", "zen4", program)
        found = next(one for one in self.why()["advice"] if one["function"] == "find")["loop"]
        self.assertAlmostEqual(found["rounds"], 1000, delta=1)
        self.assertEqual(found["entries"], 3000)
        self.assertIn("rounds each time that it is entered, 3.00 k times", " ".join(self.culprit("why").stdout.split()))

    def test_advice_names_the_place(self):
        # A column has a line and a page for each of 800 rows: L2 and the second TLB hold them, and
        # loads do not wait for each other. The additions do: 3 cycles each, as measured (3.3).
        whole = self.why("--in", "by_column")
        self.assertAlmostEqual(whole["tree"]["cycles"]["value"] / 640_000, 3.3, delta=0.4)
        advice = whole["advice"]
        self.assertEqual((advice[0]["branch"], advice[0]["label"]),
                         ("instruction_serialization", "chains and fences"))
        self.assertEqual(advice[0]["function"], "by_column")
        self.assertEqual(self.why("--in", "by_row")["advice"][0]["branch"],
                         "instruction_serialization")
        self.assertTrue(advice[0]["line"].startswith("walk.c:"))
        text = self.culprit("why", "--in", "by_column").stdout
        self.assertIn("only function = by_column", text)
        self.assertRegex(text, r"(?m)^  1 .*by_column walk\.c:\d+")


class StaticModel(WhyTest):
    """Where a CPU's events do not tell, exact executions times LLVM's costs do."""

    # A million rounds of a chain of additions, and of four multiplications that share a port.
    PROGRAM = r"""
    .globl main
    .type adds, @function
    adds: mov $1000000, %ecx
    1:  addsd %xmm1, %xmm0
        dec %ecx
        jne 1b
        ret
    .size adds, . - adds
    .type multiplies, @function
    multiplies: mov $1000000, %ecx
    1:  imul %rsi, %rax
        imul %rsi, %rdx
        imul %rsi, %rdi
        imul %rsi, %r8
        dec %ecx
        jne 1b
        ret
    .size multiplies, . - multiplies
    .type main, @function
    main: call adds
        call multiplies
        xor %eax, %eax
        ret
    .size main, . - main
    .section .note.GNU-stack,"",@progbits
    """

    def setUp(self):
        super().setUp()
        if not have("qemu-x86_64"):
            self.skipTest("no qemu-x86_64")
        source = self.folder / "loops.s"
        source.write_text(self.PROGRAM)
        run("gcc", source, "-o", self.folder / "loops")
        self.culprit("record", "-q", "--engine", "simulate", "--detail", "events", "-o",
                     "loops.culprit", "./loops", timeout=600)

    def branches(self, template, part):
        document = self.why("--template", template, "--in", part, "loops.culprit")
        return {node["branch"]: node for node in level3(document["tree"])}

    def test_ports_and_chains_by_hand(self):
        """Intel's and AMD's manuals: addsd 4 cycles on Skylake-SP, 3 on Zen 4; imul one a cycle."""
        cycles = lambda node: node["cycles"]["value"]
        adds = self.branches("skylake-sp", "adds")
        # Beside the chain, two fused uops would take half a cycle.
        self.assertAlmostEqual(cycles(adds["instruction_serialization"]), 3.5e6, delta=10)
        multiplies = self.branches("skylake-sp", "multiplies")
        self.assertAlmostEqual(cycles(multiplies["port_saturation"]), 4e6, delta=10)
        self.assertEqual(cycles(multiplies["instruction_serialization"]), 0)
        zen = self.branches("zen4", "adds")
        self.assertAlmostEqual(cycles(zen["instruction_serialization"]), 2.5e6, delta=1e5)
        for node in (adds["instruction_serialization"], multiplies["port_saturation"]):
            self.assertEqual(node["provenance"], "modelled")
            self.assertEqual(node["state"], "partly_measured")
            self.assertIn("static model", node["reason"])

    def test_columns_have_it_for_each_function(self):
        report = self.report("loops.culprit", "--columns", "hca", "--template", "skylake-sp")
        ports = {row["function"]: row["values"]["port saturation"]["value"]
                 for row in report["rows"]}
        self.assertAlmostEqual(ports["multiplies"], 4e6, delta=10)

    def test_without_executions_nothing_is_made_up(self):
        self.culprit("record", "-q", "--engine", "timer", "-o", "time.culprit", "./loops")
        document = self.why("--template", "skylake-sp", "time.culprit")
        by_branch = {node["branch"]: node for node in level3(document["tree"])}
        self.assertIsNone(by_branch["port_saturation"]["cycles"])
        self.assertIsNone(by_branch["instruction_serialization"]["cycles"])


class CountsOfPerfStat(WhyTest):
    """What perf stat printed on another machine, for programs."""
    HAND = """# started on Sat Nov 21 20:43:11 2026

1000000,,cycles,1000000,100.00,,
400000,,uops_retired.retire_slots:c=1:i=1,1000000,100.00,,
1000,,mem_load_l3_miss_retired.local_dram,250000,25.00,,
<not counted>,,arith.divider_active,0,0.00,,
7,,page-faults,1,100.00,,
"""

    def test_the_tree_of_a_whole_run(self):
        (self.folder / "stat.csv").write_text(self.HAND)
        self.culprit("import", "stat.csv")
        document = self.why("--template", "skylake-sp", "--events")
        by_branch = {node["branch"]: node for node in nodes(document["tree"])
                     if node["kind"] in ("level", "branch")}
        self.assertEqual(by_branch["unhalted"]["cycles"]["value"], 1_000_000)
        self.assertEqual(by_branch["stalled"]["cycles"]["value"], 400_000)
        self.assertEqual(by_branch["unstalled"]["cycles"]["value"], 600_000)
        dram = next(node for node in nodes(document["tree"]) if node["label"] == "local DRAM")
        # perf scaled it to the whole time already.
        self.assertEqual(dram["event"]["count"]["value"], 1000)
        self.assertEqual(dram["cycles"]["value"], 1000 * dram["event"]["penalty"])
        self.assertEqual(by_branch["instruction_latency"]["state"], "not_recorded")
        self.assertIsNone(by_branch["instruction_latency"]["cycles"])
        self.assertEqual(document["other_events"], ["page-faults"])
        self.assertIn("no parts", self.culprit("why", "--in", "main", "--template", "skylake-sp", status=1).stderr)

    @unittest.skipUnless(have("perf"), "no perf")
    def test_what_perf_prints_here(self):
        for form in ("-x,", "-x;", "-j"):
            with self.subTest(form=form):
                run("perf", "stat", form, "-o", "stat.txt", "-e", "task-clock,page-faults", "true",
                    cwd=self.folder)
                self.culprit("import", "stat.txt")
                document = self.why("--template", "zen4")
                self.assertEqual(document["other_events"], ["task-clock", "page-faults"])
                self.assertIsNone(document["tree"]["cycles"])


class RecordedElsewhere(WhyTest):
    """Recordings by others, used in place where ../shared/perfdata is present: the template is
    their CPU's, and their cycles are those of perf's own sums."""
    FOLDER = SOURCE.parent / "shared/perfdata"
    CPUS = {"CParTP__perf.data.old": "zen3",
            "autofdo__hierarchical_discriminator_test.x86_64.perf.data": "haswell-ep",
            "autofdo__propeller_sample_1.perfdata1": "skylake-sp",
            "autofdo__test.lbr": "westmere-ep",
            "pdc__perf.data.branch_stack_spec": "zen4",
            "pdc__perf.data.callgraph_and_branch-3.8": "sandy-bridge",
            "simpleperf__generated_by_linux_perf.data": "ivy-bridge-ep"}

    def setUp(self):
        super().setUp()
        if not self.FOLDER.exists():
            self.skipTest("the recorded files (../shared/perfdata) are not here")

    def test_trees_of_all_of_them(self):
        compared = 0
        for path in sorted((self.FOLDER / "files").iterdir()):
            oracle = self.FOLDER / "oracle" / f"{path.name}.events.tsv"
            if not path.is_file() or not oracle.exists():
                continue
            with self.subTest(path.name):
                self.culprit("import", "-q", "--no-symbols", path)
                document = self.why()
                self.assertIn("Template: ", self.culprit("why").stdout)
                if path.name in self.CPUS:
                    self.assertEqual(document["template"]["name"], self.CPUS[path.name])
                rows = [line.split("\t") for line in oracle.read_text().splitlines()[1:]]
                periods = [int(row[3]) for row in rows
                           if row[3] and row[0].split(":")[0] in ("cycles", "cpu-cycles")]
                if len(periods) == 1 and document["tree"]["cycles"]:
                    self.assertEqual(document["tree"]["cycles"]["value"], periods[0])
                    compared += 1
        self.assertGreaterEqual(compared, 12)


class Refusals(CulpritTest):
    """Without hardware counters a template's events cannot be had: said, with what can."""

    def setUp(self):
        super().setUp()
        if self.culprit("stat", "-e", "cycles", "true", status=None).returncode == 0:
            self.skipTest("this machine has hardware counters")

    def test_recording_and_counting_by_template(self):
        for command in ("record", "stat"):
            wrong = self.culprit(command, "--template", "auto", "true", status=125).stderr
            self.assertIn("no hardware counters", wrong)
            self.assertIn("--engine timer+simulate", wrong)
            self.culprit(command, "--template", "auto", "-e", "cycles", "true", status=2)


if __name__ == "__main__":
    unittest.main()
