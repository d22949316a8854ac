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

    def test_the_call_graph_has_every_call(self):
        self.need("dot")
        profile = self.write_records(self.DEPTH - 1)
        text = self.culprit("export", profile, "--to", "dot").stdout
        names = dict(re.findall(r'^  (f\d+) \[label="(\w+)', text, re.M))
        edges = {(names[caller], names[callee]): number(count) for caller, callee, count in
                 re.findall(r'(f\d+) -> (f\d+) \[label="([^"]+)"', text)}
        # Tail calls too: jumps to the first instruction of another function.
        truth = collections.Counter(
            (self.function[source], self.function[target]) for source, target, _ in self.recorded
            if source in self.calls or (source in self.always
                                        and target == self.entry[self.function[target]]
                                        and self.function[source] != self.function[target]))
        self.assertEqual(set(edges), set(truth))
        for ends, count in truth.items():
            # One branch of every 15 is in two records.
            self.assertAlmostEqual(edges[ends], count, delta=0.08 * count + 8, msg=ends)
        self.assertIn("<svg", run("dot", "-Tsvg", input=text).stdout)

    def test_trees_are_refused_with_what_to_do(self):
        profile = self.write_records(self.DEPTH - 1)
        done = self.culprit("report", profile, "--columns", "executions", "--tree", "callers",
                            status=1)
        self.assertIn("--to dot", done.stderr)


def number(text):
    """3.68 k → 3680"""
    value, _, unit = text.partition(" ")
    return float(value) * {"": 1, "k": 1e3, "M": 1e6}[unit]


class Recordings(CulpritTest):
    """Real recordings: every branch that perf script prints is counted at its two ends."""

    def check(self, name):
        self.need("perf")
        recording = RECORDINGS / name
        if not recording.exists():
            self.skipTest(f"no {name} here (../shared/perfdata)")
        self.culprit("import", "-q", "--no-symbols", "-o", "ours.culprit", recording)
        report = self.report("ours.culprit", "--columns", "executions",
                             "--by", "module", "--by", "instruction")
        theirs = self.theirs(recording)
        self.assertGreater(sum(theirs["sources"].values()), 100)
        events = {"lbr:branches-taken": "sources", "lbr:branch-targets": "targets",
                  "lbr:branch-misses": "misses"}
        totals = {event["name"]: event["samples"] for event in report["events"]}
        for event, kind in events.items():
            ours = collections.defaultdict(dict)
            for row in report["rows"]:
                records = row["values"].get(event, {}).get("samples", 0)
                if records:
                    ours[pathlib.Path(row["module"]).name][int(row.get("address", "0"), 16)] = records
            with self.subTest(recording=name, kind=kind):
                self.assertEqual(totals.get(event, 0), sum(theirs[kind].values()))
                self.compare(ours, theirs[kind])
        # Between the branches of a record code ran straight on, or the ledger says why not.
        runs = totals["lbr:runs"] + report["ledger"].get("branches_apart", 0)
        runs += report["ledger"].get("branch_runs_impossible", 0)
        self.assertEqual(runs, sum(theirs["sources"].values()) - theirs["gaps"])
        return report, theirs

    def compare(self, ours, theirs):
        """User code by module and offset. What perf and we call the kernel's places differs,
        and what no mapping holds has one row: there all counts, and their sum."""
        by_module = collections.defaultdict(dict)
        for (module, offset), count in theirs.items():
            by_module[module][offset] = count
        beyond = [by_module.pop("[kernel]", {}), by_module.pop("[unknown]", {})]
        unknown = ours.pop("[unknown]", {})
        # perf has no file of another machine's vdso to say where in it something is.
        self.assertEqual(sum(ours.pop("[vdso]", {}).values()),
                         sum(by_module.pop("[vdso]", {}).values()))
        kernel = [ours.pop(module) for module in list(ours)
                  if module.startswith("[")]
        differing = {(module, at): (mine.get(at), others.get(at))
                     for module in {*ours, *by_module}
                     for mine, others in [(ours.get(module, {}), by_module.get(module, {}))]
                     for at in {*mine, *others} if mine.get(at) != others.get(at)}
        self.assertEqual(differing, {}, "(ours, perf's)")
        self.assertEqual(sum(sum(counts.values()) for counts in beyond),
                         sum(sum(counts.values()) for counts in [unknown, *kernel]))
        ours_of_kernel = collections.Counter(n for counts in kernel for n in counts.values())
        self.assertLessEqual(ours_of_kernel, collections.Counter(beyond[0].values()))

    def theirs(self, recording):
        """{kind: {(module, offset): records}} by perf script."""
        def entries(fields):
            done = run("perf", "script", "-f", "-i", recording, "-F", fields, cwd=self.folder)
            for line in done.stdout.splitlines():
                words = re.split(r"\s+(?=0x)", line.strip())
                yield from ((words[0], entry) for entry in words if entry.startswith("0x"))
        sums = {kind: collections.Counter() for kind in ("sources", "targets", "misses")}
        mappings = self.mappings(recording)
        placed = list(entries("pid,brstack,dso"))
        offsets = list(entries("pid,brstackoff"))
        self.assertEqual(len(placed), len(offsets))
        sums["gaps"] = self.count_gaps(recording)
        for (pid, place), (_, offset) in zip(placed, offsets):
            ends = re.match(r"(0x[0-9a-f]+)(?: ?\((.*?)\))?/(0x[0-9a-f]+)(?: ?\((.*?)\))?/(\S)",
                            place)
            source, target = (int(ends[i], 16) for i in (1, 3))
            if source == 0 or target == 0:
                continue   # an entry of the record that was not filled
            there = [int(word, 16) for word in offset.split("/")[:2]]
            where = [self.place(address, dso, at, mappings[pid]) for address, dso, at in
                     zip((source, target), (ends[2], ends[4]), there)]
            sums["sources"][where[0]] += 1
            sums["targets"][where[1]] += 1
            if ends[5] == "M":
                sums["misses"][where[0]] += 1
        return sums

    def count_gaps(self, recording):
        """Branches of records that none follows in theirs: the latest, and those before an
        entry that has no source."""
        done = run("perf", "script", "-f", "-i", recording, "-F", "brstack", cwd=self.folder)
        gaps = 0
        for line in done.stdout.splitlines():
            has_next = False   # from the latest to the earliest
            for source, target in re.findall(r"(0x[0-9a-f]+)/(0x[0-9a-f]+)/", line):
                if source != "0x0" and target != "0x0" and not has_next:
                    gaps += 1
                has_next = source != "0x0"
        return gaps

    def mappings(self, recording):
        """{pid: [(start, end, file offset, path)]} of executable mappings, the latest first."""
        done = run("perf", "script", "-f", "-i", recording, "--show-mmap-events", cwd=self.folder)
        found = collections.defaultdict(list)
        pattern = r"PERF_RECORD_MMAP2? (\d+)/\d+: \[(\w+)\((\w+)\) @ (\w+)[^\]]*\]: (\S+) (.*)"
        for pid, start, size, offset, rights, path in re.findall(pattern, done.stdout):
            if "x" in rights:
                begin = int(start, 16)
                found[pid].insert(0, (begin, begin + int(size, 16), int(offset, 16), path))
        return found

    @staticmethod
    def place(address, dso, offset, mappings):
        """Where perf says it is. For user code in a sample of the kernel it does not look, or
        takes it for the kernel's: then by the mappings."""
        if address >= 1 << 63:
            return "[kernel]", address
        if dso is None or dso == "[unknown]" or dso.startswith("[kernel"):
            for start, end, file_offset, path in mappings:
                if start <= address < end:
                    return pathlib.Path(path).name, address - start + file_offset
            return "[unknown]", address
        return pathlib.Path(dso).name, offset

    def test_of_autofdo(self):
        self.check("autofdo__test.lbr")

    def test_of_propeller(self):
        self.check("autofdo__propeller_sample_1.perfdata1")

    def test_of_linux_3_4(self):
        self.check("pdc__perf.data.branch-3.4")

    def test_of_linux_3_8_with_call_chains(self):
        self.check("pdc__perf.data.callgraph_and_branch-3.8")

    def test_of_taken_branches_is_scaled(self):
        report, theirs = self.check("pdc__perf.data.branch_stack_spec")
        # AMD's event 0xc4 is retired taken branches: 8 samples, one in 50.
        taken = next(event for event in report["events"] if event["name"] == "lbr:branches-taken")
        self.assertAlmostEqual(taken["total"], 8 * 50)
        self.assertEqual(taken["samples"], sum(theirs["sources"].values()))
