"""Branch records as counts: against what perf adds up of real recordings, and against a program
of which every instruction was followed."""
import array
import collections
import csv
import io
import json
import pathlib
import platform
import re

from harness import SOURCE, CulpritTest, run

RECORDINGS = SOURCE.parent / "shared/perfdata/files"


class Walked(CulpritTest):
    """tests/programs/walked.c, stepped through, with records as a CPU would make them."""

    DEPTH = 16

    def setUp(self):
        super().setUp()
        self.need("gcc", "objdump")
        if platform.machine() != "x86_64":
            self.skipTest("the program is followed on x86_64 only")
        self.program = self.compile("walked.c", "walked", "-O1", "-g", "-static", "-nostdlib",
                                    "-fno-pie", "-no-pie", "-fcf-protection=none",
                                    "-fno-asynchronous-unwind-tables", "-Wl,--build-id")
        stepper = self.compile("step.c", "step", "-O1")
        done = run(stepper, "steps", self.program, status=None, cwd=self.folder)
        if done.returncode != 0:
            self.skipTest("programs cannot be stepped through here (ptrace)")
        self.steps = array.array("Q", (self.folder / "steps").read_bytes())
        self.decode()
        self.find_branches()

    def decode(self):
        """Length, function and kind of each instruction, by objdump."""
        self.length, self.function, self.calls, self.always = {}, {}, {}, set()
        self.entry = {}
        name, last = None, None
        text = run("objdump", "-d", "--no-show-raw-insn", self.program).stdout
        for line in text.splitlines():
            if found := re.match(r"^([0-9a-f]+) <(\w+)>:", line):
                name, last = found[2], None
                self.entry[name] = int(found[1], 16)
            elif found := re.match(r"^ +([0-9a-f]+):\s+(\w+)(.*)", line):
                at = int(found[1], 16)
                if last is not None:
                    self.length[last] = at - last
                self.function[at] = name
                if found[2] in ("call", "jmp", "ret"):
                    self.always.add(at)   # a taken branch even to the next instruction
                if found[2] == "call":
                    self.calls[at] = "*" in found[3]
                last = at

    def find_branches(self):
        """Taken branches as (source, target, instructions since the one before)."""
        self.branches, since = [], 0
        for at, then in zip(self.steps, self.steps[1:]):
            since += 1
            if at in self.always or then != at + self.length.get(at, 0):
                self.branches.append((at, then, since))
                since = 0

    def write_records(self, period):
        """What perf script would print of a record every `period` taken branches. Each says
        two cycles for every instruction, and that branches back were mispredicted."""
        sections = run("readelf", "-lW", self.program).stdout
        load = next(line.split() for line in sections.splitlines() if " R E " in line)
        offset, address, size = (int(load[i], 16) for i in (1, 2, 4))
        build_id = re.search(r"Build ID: (\w+)", run("readelf", "-nW", self.program).stdout)[1]
        lines = [
            "# arch : x86_64", "# cpudesc : Intel(R) Xeon(R)",
            f"# event : name = br_inst_retired.near_taken, , type = 4, size = 128, "
            f"config = 0x20c4, {{ sample_period, sample_freq }} = {period}, "
            f"sample_type = IP|TID|TIME|PERIOD|BRANCH_STACK, branch_sample_type = ANY",
            "walked 7/7 1.000000: PERF_RECORD_COMM exec: walked:7/7",
            f"walked 7/7 1.000001: PERF_RECORD_MMAP2 7/7: [{address:#x}({size:#x}) @ {offset:#x} "
            f"<{build_id}>]: r-xp {self.program}"]
        samples = 0
        for end in range(self.DEPTH, len(self.branches) + 1, period):
            samples += 1
            self.recorded = self.branches[:end]
            record = " ".join(
                f"{source:#x}/{target:#x}/{'M' if target < source else 'P'}/-/-/{2 * since}"
                for source, target, since in reversed(self.branches[end - self.DEPTH:end]))
            lines.append(f"walked 7/7 1.{samples + 10:06}: {period} br_inst_retired.near_taken: "
                         f"{self.branches[end - 1][0]:x} x ({self.program}) {record}")
        (self.folder / "script.txt").write_text("\n".join(lines) + "\n")
        self.culprit("import", "-q", "-o", "walked.culprit", "script.txt")
        return self.folder / "walked.culprit"

    def executions(self, profile, *arguments):
        return self.report(profile, "--columns", "executions", *arguments)

    def values(self, report, event, key="address"):
        return {row[key]: row["values"][event]["value"] for row in report["rows"]
                if row["values"].get(event, {}).get("value")}

    def test_records_that_meet_give_the_true_counts(self):
        profile = self.write_records(self.DEPTH - 1)
        report = self.executions(profile, "--by", "instruction")
        found = self.values(report, "lbr:instructions")
        truth = collections.Counter(self.steps)
        self.assertGreater(len(self.steps), 100_000)
        for at, count in truth.items():
            # What ran before the first branch and behind the last record is not known.
            self.assertAlmostEqual(found.get(hex(at), 0), count, delta=self.DEPTH, msg=hex(at))
        for key in ("branch_runs_impossible", "branch_runs_without_code", "branch_runs_crossing"):
            self.assertEqual(report["ledger"].get(key, 0), 0, key)
        # Two cycles for every instruction.
        for row in report["rows"]:
            if row["values"]["lbr:instructions"]["value"] > 100:
                self.assertAlmostEqual(row["derived"]["cycles_per_instruction"]["value"], 2,
                                       delta=0.05, msg=row)

    def test_calls_and_instructions_per_call(self):
        profile = self.write_records(self.DEPTH - 1)
        report = self.executions(profile, "--by", "function")
        rows = {row["function"]: row for row in report["rows"]}
        calls = collections.Counter(
            self.function[target] for source, target, _ in self.branches
            if target == self.entry[self.function[target]]
            and (source in self.calls or self.function[source] != self.function[target]))
        self.assertGreater(calls["next"], 1000)
        self.assertGreater(calls["deep"], 90)   # calls itself
        executed = collections.Counter(self.function[at] for at in self.steps)
        for name, count in calls.items():
            values, derived = rows[name]["values"], rows[name]["derived"]
            self.assertAlmostEqual(values["lbr:calls"]["value"] / count, 1, delta=0.1, msg=name)
            self.assertAlmostEqual(derived["instructions_per_call"]["value"],
                                   executed[name] / count, delta=0.1 * executed[name] / count)
        self.assertIsNone(rows["_start"]["derived"]["instructions_per_call"])
        indirect = sum(self.calls.get(source, False) for source, _, _ in self.branches)
        total = next(event for event in report["events"]
                     if event["name"] == "lbr:indirect-calls")["total"]
        self.assertAlmostEqual(total / indirect, 1, delta=0.1)

    def test_blocks_of_sparse_records_are_within_their_errors(self):
        profile = self.write_records(97)
        report = self.executions(profile, "--by", "block")
        truth = collections.Counter(self.steps)
        entered = self.values(report, "lbr:blocks")
        self.assertGreater(len(entered), 20)
        for row in report["rows"]:
            value = row["values"]["lbr:blocks"]
            if value["value"]:
                self.assertLess(abs(value["value"] - truth[int(row["address"], 16)]),
                                5 * value["error"], row)

    def test_mispredictions_are_of_the_branches_that_say_so(self):
        profile = self.write_records(self.DEPTH - 1)
        report = self.executions(profile, "--by", "instruction")
        backward = {hex(source) for source, target, _ in self.recorded if target < source}
        forward = {hex(source) for source, target, _ in self.recorded if target > source}
        for row in report["rows"]:
            rate = row["derived"]["mispredicted"]
            if row["address"] in backward - forward:
                self.assertEqual(rate and rate["value"], 1, row)
            elif row["address"] in forward - backward:
                self.assertEqual(rate and rate["value"], 0, row)

    def test_the_working_set_is_the_lines_that_ran(self):
        profile = self.write_records(self.DEPTH - 1)
        parts = {part["percent"]: part for part in
                 self.executions(profile, "--by", "function")["working_set"]}
        lines = collections.Counter(at // 64 for at in self.steps)
        held, needed = 0, 0
        for _, count in lines.most_common():
            if held >= 0.9 * len(self.steps):
                break
            held, needed = held + count, needed + 1
        self.assertAlmostEqual(parts[90]["lines"], needed, delta=1)
        self.assertEqual(parts[90]["size_bytes"], 64 * parts[90]["lines"])
        self.assertLessEqual(parts[100]["lines"], len(lines))

    def test_text_and_csv_say_the_same(self):
        profile = self.write_records(self.DEPTH - 1)
        text = self.culprit("report", profile, "--columns", "executions").stdout
        self.assertRegex(text, r"~executed +~share .*~calls .*~instr/call .*~mispred .*function")
        self.assertIn("taken branches", text)
        self.assertIn("hot code: 90 %", text)
        rows = list(csv.DictReader(io.StringIO(self.culprit(
            "report", profile, "--columns", "executions", "--format", "csv").stdout)))
        named = {row["function"]: row for row in rows}
        report = self.executions(profile)
        for row in report["rows"]:
            for column, value in row["derived"].items():
                cell = named[row["function"]][column]
                self.assertEqual(cell, "" if value is None else cell)
                if value is not None:
                    self.assertAlmostEqual(float(cell), value["value"])

    def test_trees_are_refused_with_what_to_do(self):
        profile = self.write_records(self.DEPTH - 1)
        done = self.culprit("report", profile, "--columns", "executions", "--tree", "callers",
                            status=1)
        self.assertIn("--to dot", done.stderr)
