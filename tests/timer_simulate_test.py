"""record --engine timer+simulate: a program's measured time and its exact counts in one profile."""
import json
import re
import signal
import subprocess
import time

from harness import BUILD, CULPRIT, CulpritTest, runs_alone
from why_test import validator

ROUNDS = 10_000_000
WORDS = str(ROUNDS).zfill(8)
LOOPS = ("integer_rounds", "real_rounds", "calling_rounds")
# Half a second of CPU time, 500 samples, on any machine. It asks for the time seldom: each time the
# kernel brings it up to date, which costs a sampling timer its ticks.
BUSY = """#include <time.h>
int main(void) {
  while (clock() < CLOCKS_PER_SEC / 2)
    for (volatile long i = 0; i < 10000000; ++i) {}
}"""


class TimerAndSimulation(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def twice(self, *command, status=0, options=(), **more):
        return self.record("--engine", "timer+simulate", "--windows", "all", *options, "--", *command,
                           status=status, timeout=280, **more)

    def notes(self, profile):
        return self.report(profile)["ledger"]["notes"]

    def joined(self, profile):
        """Samples, and which percentage of them is on code that was not simulated."""
        for note in self.notes(profile):
            if found := re.match(r"of ([0-9,]+) samples of the native run ([0-9.]+) %", note):
                return int(found[1].replace(",", "")), float(found[2])
        raise AssertionError(self.notes(profile))


# A fixed amount of work, and what CPU time it took.
WORK = """#include <stdio.h>
#include <time.h>
int main(void) {
  for (volatile long i = 0; i < 150000000; ++i) {}
  struct timespec took;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &took);
  printf("%.9f", took.tv_sec + took.tv_nsec / 1e9);
}"""


class OwnTime(TimerAndSimulation):
    """A sample takes 2 us on some machines and 45 on others: that is not the program's time."""

    @runs_alone("measured time")
    def test_of_samples_is_no_time_of_the_program(self):
        program = self.compile_text(WORK, "work.c", "work", "-O1")
        ratios = []
        for _ in range(3):
            bare = float(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
            profile, _ = self.twice(program, options=["-F", "4999", "--machine", "none"])
            report = self.report(profile)
            (clock,) = (one for one in report["events"] if one["unit"] == "ns")
            own = report["ledger"].get("sample_time", 0)
            # Nothing is lost by it: what is left, and what was taken out.
            self.assertAlmostEqual(clock["total"] + own, clock["samples"] * clock["period"],
                                   delta=clock["samples"])
            ratios.append(clock["total"] / 1e9 / bare)
        # Where a sample takes 45 of 200 us, it would be 1.29 without that.
        self.assertLess(min(ratios), 1.1, ratios)
        self.assertGreater(max(ratios), 0.9, ratios)

    def test_chooses_how_many_there_are(self):
        program = self.compile_text(WORK, "work.c", "work", "-O1")
        profile, _ = self.twice(program, options=["--machine", "none"])
        report = self.report(profile)
        (clock,) = (one for one in report["events"] if one["unit"] == "ns")
        own = report["ledger"].get("sample_time", 0)
        self.assertLess(own, 0.055 * clock["samples"] * clock["period"])


class Loops(TimerAndSimulation):
    def record_loops(self):
        program = self.compile("counted.c", "counted", "-O1", "-g", "-pthread")
        return self.twice(program, "loops", WORDS, options=["-F", "4999"])

    @runs_alone("measured time")
    def test_measured_time_is_beside_exact_counts(self):
        profile, done = self.record_loops()
        self.assertRegex(done.stderr, r"now simulating it in user mode: expect .* of CPU time")
        report = self.report(profile)
        self.assertEqual("ns", report["events"][0]["unit"])
        rows = {row["function"]: row for row in report["rows"]}
        integer = rows["integer_rounds"]
        self.assertEqual(ROUNDS, integer["values"]["L1-dcache-stores"]["value"])
        self.assertEqual(ROUNDS, rows["real_rounds"]["values"]["fp-stores"]["value"])
        self.assertEqual(ROUNDS, rows["calling_rounds"]["values"]["calls"]["value"])
        clock = report["events"][0]["name"]
        self.assertGreater(sum(rows[name]["values"][clock]["samples"] for name in LOOPS), 20)
        cycles = integer["values"][clock]["value"] * report["clock"]["hertz"] / 1e9
        self.assertAlmostEqual(
            cycles / integer["values"]["instructions"]["value"],
            integer["derived"]["cycles_per_instruction"]["value"], places=6)
        samples, missed = self.joined(profile)
        self.assertEqual(report["events"][0]["samples"], samples)
        self.assertLess(missed, 5)
        text = self.culprit("report", profile).stdout
        self.assertRegex(text, "=executed .*~CPI")
        self.assertIn("counts: simulated as ", text)
        for level in ("line", "block"):
            text = self.culprit("report", profile, "--by", level).stdout
            self.assertRegex(text, "~cycles .* ~CPI", level)
        # Skid: an instruction's samples are partly its neighbour's.
        text = self.culprit("report", profile, "--by", "instruction").stdout
        self.assertRegex(text, "~cycles .* =executed")
        self.assertNotIn("~CPI", text)
        self.annotate(profile, cycles)
        self.explain(profile)

    def annotate(self, profile, cycles):
        """Executions are those of the source, and what is measured is all there."""
        text = self.culprit("annotate", "integer_rounds", profile).stdout
        self.assertRegex(text, r"~cycles +~share\^ =executed +~CPI\^")
        self.assertRegex(text, r"\n  10.0 M runs   [0-9.]+ \+-[0-9.]+ cycles each   CPI [0-9.]+ \+-")
        document = json.loads(self.culprit("annotate", "--format", "json", "integer_rounds",
                                           profile).stdout)
        validator("annotate").validate(document)
        blocks = [block for place in document["places"] for block in place["blocks"]]
        loop = max(blocks, key=lambda block: block["values"]["instructions"]["value"])
        runs = [one["values"]["instructions"]["value"] for one in loop["instructions"]]
        self.assertEqual([ROUNDS] * len(runs), runs)
        total = loop["cycles_per_instruction"]["value"] * sum(runs)
        self.assertAlmostEqual(1, total / cycles, delta=0.05)  # the rest runs once
        # Whoever owns the samples of the block: all are in somebody's range.
        highest = sum(one["cycles_per_instruction"]["high"] * ROUNDS for one in loop["instructions"]
                      if "cycles_per_instruction" in one)
        self.assertGreater(highest, total)
        for one in loop["instructions"]:
            if "cycles_per_instruction" in one:
                self.assertLessEqual(one["cycles_per_instruction"]["low"] * ROUNDS, total)

    def explain(self, profile):
        document = json.loads(self.culprit("why", "--format", "json", profile).stdout)
        validator("why").validate(document)
        both = document["measured"]
        self.assertAlmostEqual(
            both["measured"]["value"],
            both["kernel"]["value"] + both["modelled"] + both["unexplained"]["value"], delta=1)
        self.assertEqual(document["tree"]["cycles"]["value"], both["modelled"])
        self.assertIn("unexplained = measured - modelled", self.culprit("why", profile).stdout)
        # A real CPU's template: its cycles are those that were measured.
        document = json.loads(self.culprit("why", "--format", "json", "--template", "skylake-sp",
                                           profile).stdout)
        self.assertAlmostEqual(both["measured"]["value"], document["tree"]["cycles"]["value"],
                               delta=1)


class Verdicts(TimerAndSimulation):
    """A verdict is firm where the model's cycles are those measured, and careful where not."""
    # Additions that wait for each other take a cycle each on any CPU; and a walk through 64 MiB in
    # random order, of which no cache of a core has anything.
    CHAIN = """
__attribute__((noinline)) long chain(long n) {
  long a = 1;
  for (long i = 0; i < n; ++i)
    __asm__ volatile(".rept 32; add %0, %0; .endr" : "+r"(a));
  return a;
}
int main(void) { return (int)(chain(8000000) & 1); }
"""
    WALK = """
#include <stdlib.h>
enum { kLines = 1 << 20 };
static struct { unsigned next, rest[15]; } lines[kLines];
__attribute__((noinline)) unsigned walk(unsigned at, long n) {
  while (n-- > 0) at = lines[at].next;
  return at;
}
int main(void) {
  for (unsigned i = 0; i < kLines; ++i) lines[i].next = i;
  unsigned long seed = 1;
  for (unsigned i = kLines - 1; i > 0; --i) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    unsigned j = (unsigned)((seed >> 33) % i), was = lines[i].next;
    lines[i].next = lines[j].next, lines[j].next = was;
  }
  return (int)(walk(0, 3000000) & 1);
}
"""
    # L3 holds it all and answers as fast as L2: no CPU does.
    WRONG_L3 = """name = "wrong"
[l3]
size_kib = 262144
ways = 16
latency_cycles = 15
[tlb]
data = { entries = 65536, ways = 8 }
"""

    def verdict(self, source, function, *options):
        program = self.compile_text(source, f"{function}.c", function, "-O1", "-g")
        profile, _ = self.twice(program, options=["-F", "4999", *options])
        words = ("why", "--in", function, profile)
        document = json.loads(self.culprit(*words, "--format", "json").stdout)
        validator("why").validate(document)
        self.assertGreater(document["measured"]["samples"], 100)
        return document, self.culprit(*words).stdout

    @runs_alone("measured time")
    def test_a_chain_of_additions_is_firm(self):
        document, text = self.verdict(self.CHAIN, "chain")
        self.assertEqual({"certainty": "firm", "branch": "instruction_serialization", "kernel": None,
                          "library": None, "waiting": None, "reason": ""}, document["verdict"])
        self.assertRegex(text, r"instruction serialization   <== culprit")
        advice = document["advice"][0]
        self.assertEqual("instruction_serialization", advice["branch"])
        # By hand: of 32 additions, a cycle each, a core that takes six at once needs 5.5 for the
        # loop's 33 instructions; one that takes four 8.3.
        self.assertGreater(advice["upper_end"], 0.7)
        self.assertLessEqual(advice["at_most"], advice["upper_end"])

    @runs_alone("measured time")
    def test_a_machine_with_a_wrong_cache_gets_no_verdict(self):
        machine = self.folder / "wrong.toml"
        machine.write_text(self.WRONG_L3)
        document, text = self.verdict(self.WALK, "walk", "--machine", machine)
        self.assertEqual("none", document["verdict"]["certainty"], text)
        self.assertIn("% of the time is unexplained, more than ", document["verdict"]["reason"])
        self.assertNotIn("<==", text)
        self.assertIn("Verdict none:", text)


class Hints(TimerAndSimulation):
    """Where nothing counts, this is what to do, and it is said."""
    ADVICE = "culprit record --engine timer+simulate"

    def setUp(self):
        super().setUp()
        if self.rows()["hardware counters"]["available"] == "yes":
            self.skipTest("this machine has hardware counters")

    def rows(self, **options):
        document = json.loads(self.culprit("doctor", "--format", "json", **options).stdout)
        return {row["name"]: row for row in document["capabilities"]}

    def test_doctor(self):
        for name in ("hardware counters", "cycle accounting"):
            self.assertIn(self.ADVICE, self.rows()[name]["remedy"])
        (self.folder / "bin").mkdir()
        without = self.rows(env={"PATH": str(self.folder / "bin")})
        self.assertEqual("no", without["simulate"]["available"])
        self.assertRegex(without["hardware counters"]["remedy"], "^install qemu-user, then ")

    def test_record_of_time_alone(self):
        profile, done = self.record("true")
        self.assertNotIn("timer+simulate", done.stderr)   # too few samples for any advice
        busy = self.compile_text(BUSY, "busy.c", "busy")
        profile, done = self.record(busy)
        self.assertIn(self.ADVICE, done.stderr)
        self.assertIn(self.ADVICE, self.culprit("why", profile).stdout.replace("\n        ", " "))
        for options in (["-q"], ["--engine", "timer"], ["--engine", "simulate"]):
            _, done = self.record(*options, "true")
            self.assertNotIn("timer+simulate", done.stderr, options)

    def test_event_that_only_hardware_has(self):
        for words in (["-e", "cycles"], ["--template", "auto"]):
            done = self.culprit("record", *words, "true", status=125)
            self.assertIn("--engine timer+simulate", done.stderr)


class Streams(TimerAndSimulation):
    FAST = ["--machine", "none"]

    def test_output_is_seen_once_and_the_status_is_the_programs(self):
        script = "echo said; echo warned >&2; exit 3"
        profile, done = self.twice("sh", "-c", script, status=3, options=self.FAST)
        self.assertEqual("said\n", done.stdout)
        self.assertFalse([note for note in self.notes(profile) if "ended" in note])

    def test_a_file_is_read_by_both_runs(self):
        numbers = self.folder / "numbers"
        numbers.write_text("3\n4\n")
        with open(numbers) as stream:
            profile, _ = self.twice("sh", "-c", "read x; exit $x", status=3, options=self.FAST,
                                    stdin=stream)
        notes = " ".join(self.notes(profile))
        self.assertNotIn("ended with", notes)
        self.assertNotIn("standard input", notes)

    def test_a_pipe_is_read_by_the_native_run(self):
        profile, _ = self.twice("sh", "-c", "read x; exit $x", status=3, options=self.FAST,
                                input="3\n")
        notes = " ".join(self.notes(profile))
        self.assertIn("the simulated run had no standard input", notes)
        self.assertIn("ended with exit status 1, the native run with exit status 3", notes)

    def test_threads_of_both_runs_are_the_same_rows(self):
        program = self.compile("threaded.c", "threaded", "-O1", "-g", "-pthread")
        times = 20_000_000
        profile, _ = self.twice(program, "four", times, options=[*self.FAST, "-F", "4999"])
        rows = self.report(profile, "--by", "thread,function", "--limit", "0")["rows"]
        clock = self.report(profile)["events"][0]["name"]
        found = {row["function"]: row for row in rows}
        for number, name in enumerate(("first", "second", "third", "fourth"), 1):
            values = found[name]["values"]
            self.assertEqual(number * times, values["L1-dcache-stores"]["value"])
            self.assertGreater(values[clock]["samples"], 10, name)
        tids = [found[name]["thread_id"] for name in ("first", "second", "third", "fourth")]
        self.assertEqual(sorted(set(tids)), tids)
        self.assertLessEqual(len({row["thread_id"] for row in rows if "thread_id" in row}), 5)
        notes = " ".join(self.notes(profile))
        self.assertRegex(notes, "by the order in which they began: [45]")

    def test_what_it_cannot_be_of_is_refused(self):
        for options in (["-p", "1"], ["-a"], ["-e", "cycles"], ["--duration", "1s"]):
            words = ["true"] if options[0] != "-p" else []
            done = self.culprit("record", "--engine", "timer+simulate", *options, *words, status=2)
            self.assertIn("--engine timer+simulate runs a whole program twice", done.stderr)
        script = self.folder / "text"
        script.write_text("no program\n")
        script.chmod(0o755)
        done = self.culprit("record", "--engine", "timer+simulate", script, status=125)
        self.assertFalse((self.folder / "profile.culprit").exists(), done.stderr)


class Interrupted(TimerAndSimulation):
    """A simulated run that is interrupted does not look complete, nor end with status 0."""
    INTERRUPTED = "the simulation was interrupted: counted is what ran until then"

    def interrupt(self, engine, script, times=1):
        """Interrupts `culprit record` while it simulates; its exit status, and the notes."""
        path = self.folder / "profile.culprit"
        process = subprocess.Popen(
            [CULPRIT, "record", "--engine", engine, "--machine", "none", "-o", path, "--", "sh",
             "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "simulating" in line:
                break
        for _ in range(times):
            time.sleep(1)
            process.send_signal(signal.SIGINT)
        status = process.wait(timeout=60)
        process.stderr.close()
        return status, " ".join(self.notes(path))

    def test_once(self):
        status, notes = self.interrupt("simulate", "while :; do :; done")
        self.assertEqual(-signal.SIGINT, status)
        self.assertIn(self.INTERRUPTED, notes)
        self.assertNotIn("still running", notes)

    def test_program_that_ends_well_all_the_same(self):
        status, notes = self.interrupt("simulate", "trap 'exit 0' INT; while :; do :; done")
        self.assertEqual(0, status)
        self.assertIn(self.INTERRUPTED, notes)

    def test_program_that_does_not_end(self):
        status, notes = self.interrupt("simulate", "trap '' INT; sleep 20", times=2)
        self.assertEqual(-signal.SIGINT, status)
        self.assertIn(self.INTERRUPTED + ", the command was still running", notes)

    def test_second_run(self):
        script = "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done"
        status, notes = self.interrupt("timer+simulate", script)
        self.assertEqual(-signal.SIGINT, status)
        self.assertIn(self.INTERRUPTED, notes)

    def test_whole_one(self):
        profile, _ = self.record("--engine", "simulate", "--machine", "none", "--", "true")
        self.assertNotIn("interrupted", " ".join(self.notes(profile)))
