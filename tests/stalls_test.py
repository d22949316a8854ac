"""why --stalls, loops and frequencies of whole programs: known counts, known causes."""
import json

import jsonschema

from harness import BUILD, SOURCE, CulpritTest, run, runs_alone

PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Four additions that wait for each other: 3 or 4 cycles a round, and nothing else. */
__attribute__((noinline)) double chain(long rounds) {
  double sum = 0;
  for (long i = 0; i < rounds; ++i) sum += 1.5;
  return sum;
}

struct Node { struct Node* next; char rest[120]; };
__attribute__((noinline)) struct Node* chase(struct Node* at, long rounds) {
  for (long i = 0; i < rounds; ++i) at = at->next;
  return at;
}

__attribute__((noinline)) long nested(long outer) {
  long sum = 0;
  for (long i = 0; i < outer; ++i)
    for (long j = 0; j < 100; ++j) __asm__ volatile("addq $1,%0" : "+r"(sum));
  return sum;
}

int main(void) {
  enum { kNodes = 1 << 18 };
  struct Node* nodes = malloc(sizeof(struct Node) * kNodes);
  uint32_t* order = malloc(sizeof(uint32_t) * kNodes);
  for (uint32_t i = 0; i < kNodes; ++i) order[i] = i;
  uint64_t state = 1;
  for (uint32_t i = kNodes - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint32_t j = (uint32_t)((state >> 33) % i), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (uint32_t i = 0; i < kNodes; ++i) nodes[order[i]].next = &nodes[order[(i + 1) % kNodes]];
  printf("%f %p %ld\n", chain(30000000), (void*)chase(nodes, 3000000), nested(1000));
  return 0;
}
"""

# No table in the code says where its jump goes; the compiler pads the targets.
INTERPRETER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t code[4096];

__attribute__((noinline)) uint64_t interpret(const uint64_t* next, long rounds) {
  static void* const at[] = {&&add, &&twist, &&halve, &&stop};
  uint64_t a = 1, b = 3;
again:
  goto* at[*next++ >> 62];
add:
  a += b;
  goto again;
twist:
  b ^= a << 1;
  goto again;
halve:
  a = a / 2 + 1;
  goto again;
stop:
  next = code;
  if (--rounds > 0) goto again;
  return a ^ b;
}

int main(void) {
  uint64_t state = 1, counts[4] = {0};
  for (int i = 0; i < 4096; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t which = i == 4095 ? 3 : (state >> 40) % 3;
    code[i] = which << 62;
    counts[which] += 10000;
  }
  fprintf(stderr, "%lu\n", interpret(code, 10000));
  printf("%lu %lu %lu %lu\n", counts[0], counts[1], counts[2], counts[3]);
  return 0;
}
"""


class Stalls(CulpritTest):
    def build(self, text=PROGRAM):
        source = self.folder / "stalled.c"
        source.write_text(text)
        return self.compile(source, "stalled", "-O2", "-g")

    def both(self, text=PROGRAM):
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")
        profile, _ = self.record("--engine", "timer+simulate", "--windows", "all", "-F", "1999", "--",
                                 self.build(text), timeout=280)
        return profile

    def stalls(self, profile, *options):
        text = self.culprit("why", "--stalls", "--format", "json", *options, profile).stdout
        value = json.loads(text)
        jsonschema.validate(value, json.loads((SOURCE / "schema/stalls.schema.json").read_text()))
        self.check_sums(value)
        return value

    def check_sums(self, value):
        """All of a part adds up to what was measured in it."""
        tallied = value["tallied"]
        self.assertAlmostEqual(
            tallied["cycles"] + value["kernel_cycles"] + value["unknown_cycles"], value["cycles"],
            delta=1e-6 * value["cycles"] + 1e-6)
        for one in [tallied, *value["places"]]:
            if "best_case" in one:
                whole = (sum(one["best_case"].values()) - one["gain_cycles"] +
                         one["dynamic_cycles"] + one["unexplained_cycles"])
            else:
                whole = one["not_told_apart_cycles"]
            self.assertAlmostEqual(whole, one["cycles"], delta=1e-6 * one["cycles"] + 1e-6)
            for cause in one["causes"]:
                self.assertLessEqual(cause["low_cycles"], cause["high_cycles"])

    def causes(self, value):
        cycles = value["tallied"]["cycles"]
        return {one["cause"]: one["high_cycles"] / cycles for one in value["tallied"]["causes"]}

    @runs_alone("measured time")
    def test_known_causes(self):
        profile = self.both()
        self.stalls(profile)
        chase = self.stalls(profile, "--in", "chase")
        # 32 MiB in random order: loads from beyond L2, translation, and nothing else of weight.
        causes = self.causes(chase)
        first = max(causes, key=causes.get)
        self.assertIn(first, ("load_l3", "load_memory", "translation"))
        for ruled_out in ("code_fetch", "divider", "store_buffer", "serializing", "microcode",
                          "forwarding", "load_other_core"):
            self.assertLess(causes.get(ruled_out, 0), 0.01, ruled_out)
        # A chain in registers: no data, translation, fetch or branch.
        chain = self.stalls(profile, "--in", "chain")
        self.assertGreater(chain["tallied"]["best_case"]["chain_cycles"],
                           chain["tallied"]["best_case"]["execution_cycles"])
        for ruled_out in ("load_l2", "load_l3", "load_memory", "translation", "code_fetch",
                          "store_buffer", "misprediction", "divider"):
            self.assertLess(self.causes(chain).get(ruled_out, 0), 0.01, ruled_out)
        # Functions add up to the module that they are of.
        whole = self.stalls(profile, "--in", "stalled")
        self.assertGreaterEqual(whole["cycles"], chase["cycles"] + chain["cycles"])
        # A loop by the address of its head is the function's only one.
        head = chase["places"][0]["loop"]["address"]
        self.assertEqual(chase["places"][0]["cycles"],
                         self.stalls(profile, "--in", head)["cycles"])

        text = self.culprit("why", "--stalls", profile).stdout
        self.assertRegex(text, r"total +100\.0 %")
        listing = self.culprit("annotate", "chase", profile).stdout
        self.assertIn("~~", listing)
        # The letters of what may have cost most stand beside the address that has the samples.
        self.assertRegex(listing, r"(?m)^ .* (dm|d3|t |d2)  *[0-9a-f]{4,}  [a-z]")
        self.assertRegex(listing, r"CPI [0-9.]+ .*, best case [0-9.]+")
        value = json.loads(self.culprit("annotate", "chase", "--format", "json", profile).stdout)
        jsonschema.validate(value,
                            json.loads((SOURCE / "schema/annotate.schema.json").read_text()))
        place = value["places"][0]
        self.assertEqual([3000000], [loop["rounds"] for loop in place["loops"]])
        self.assertEqual({"high"}, {edge["confidence"] for edge in place["edges"]})
        stalls = [one["stall"] for block in place["blocks"] for one in block["instructions"]
                  if "stall" in one]
        self.assertTrue(stalls)
        # The loop waits for memory: its best case is far less than what it took.
        block = max(place["blocks"], key=lambda block: block["values"]["cpu-clock"]["samples"])
        self.assertLess(block["best_case_per_instruction"],
                        0.5 * block["cycles_per_instruction"]["value"])

    @runs_alone("measured time")
    def test_why_has_a_word_of_them_where_its_model_explains_little(self):
        """A machine whose memory answers at once explains next to nothing of the chase."""
        self.need("qemu-x86_64")
        (self.folder / "fast.toml").write_text(
            "[l3]\nsize_kib = 0\n[memory]\nlatency_cycles = 5\n[tlb]\nwalk_last_cycles = 0\n")
        profile, _ = self.record("--engine", "timer+simulate", "--windows", "all", "--machine", "fast.toml",
                                 "--no-experiments", "--", self.build(PROGRAM), timeout=280)
        told = " ".join(self.culprit("why", "--in", "chase", profile).stdout.split())
        self.assertRegex(told, r"Verdict none: \d+ % of the time is unexplained")
        self.assertRegex(told, "its instructions tell more of what is unexplained: "
                               r"(data from memory|address translation) can have had \d+ to \d+ % of the time")

    def test_recorded_targets_of_computed_jumps_are_ways(self):
        profile = self.both(INTERPRETER)
        told = json.loads(self.culprit("annotate", "interpret", "--format", "json", profile).stdout)
        place, = told["places"]
        into = {block["address"]: 0 for block in place["blocks"]}
        for edge in place["edges"]:
            if edge["to"] is not None:
                into[edge["to"]] += edge["runs"]
        for printed in run(self.folder / "stalled").stdout.split():
            self.assertIn(int(printed), into.values())
        # `report --by block` has the same blocks, of time and of executions.
        for row in self.report(profile, "--by", "block", "--function", "interpret")["rows"]:
            self.assertGreater(into[row["address"]], 0, row)
        report = self.report(profile, "--by", "block", "--function", "interpret",
                             "--columns", "frequency")
        counted = {row["address"]: row["values"]["flow:blocks"]["value"] for row in report["rows"]}
        self.assertEqual({block: runs for block, runs in into.items() if runs}, counted)

    def test_counted_frequencies_are_exact(self):
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")
        profile, _ = self.record("--engine", "simulate", "--machine", "none", "--", self.build(),
                                 timeout=280)
        report = json.loads(self.culprit("report", "--by", "loop", "--columns", "frequency",
                                         "--function", "nested", "--format", "json",
                                         profile).stdout)
        rounds = sorted((row["values"]["flow:rounds"]["value"],
                         row["values"]["flow:loop-entries"]["value"])
                        for row in report["rows"] if row["values"]["flow:rounds"]["value"] > 0)
        self.assertEqual([(1000, 1), (100000, 1000)], rounds)
        refused = self.culprit("why", "--stalls", profile, status=1)
        self.assertIn("nothing measured time", refused.stderr)

    def test_time_alone_rules_out_by_the_code(self):
        profile, _ = self.record("--engine", "posix-timer", "-F", "499", "--", self.build())
        value = self.stalls(profile, "--in", "chain")
        self.assertEqual("time", value["executions"])
        self.assertNotIn("best_case", value["tallied"])
        found = {one["cause"] for one in value["places"][0]["causes"]}
        self.assertEqual(found, {"port", "chain", "misprediction"})
        for cause in value["tallied"]["causes"]:
            self.assertEqual(0, cause["low_cycles"])
        refused = self.culprit("report", "--columns", "frequency", profile, status=1)
        self.assertIn("time alone tells no counts", refused.stderr)

    def test_parts_that_are_not_there(self):
        profile, _ = self.record("--engine", "posix-timer", "--", self.build())
        done = self.culprit("why", "--stalls", "--in", "nowhere", profile, status=1)
        self.assertIn("'nowhere'", done.stderr)
