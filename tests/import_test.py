"""culprit import on files that others recorded, on many machines, against what perf says of
them. The files are not part of this project: tests use them in place, and are skipped by name
where they are not there."""
import collections
import contextlib
import csv
import gzip
import json
import re
import sqlite3
import struct

from harness import SOURCE, CulpritTest, have, is_sanitized, run
from swap_perf_data import Unknown, swap

SHARED = SOURCE.parent / "shared/perfdata"
FILES = SHARED / "files"
MALFORMED = FILES / "malformed"
PIPED = "pdc__perf.data.piped.header_feautres_group_desc-6.8"
ORACLE = SHARED / "oracle"

csv.field_size_limit(1 << 30)


class CountsInText(CulpritTest):
    """What perf stat -x, printed. It scales what shared its counter."""

    def setUp(self):
        super().setUp()
        (self.folder / "stat.txt").write_text(
            "777,,my_own:event,10000000000,25.00,,\n20000007,,cycles,3333000,33.33,,\n"
            "5,,page-faults,10000000,100.00,,\n")
        self.culprit("import", "-q", "-o", "stat.culprit", "stat.txt")

    def test_values_come_back_exactly(self):
        text = self.culprit("report", "stat.culprit").stdout
        self.assertRegex(text, r"(?m)^ +777  my_own:event .* counted 25\.0 % of the time, error unknown: one reading$")
        self.assertRegex(text, r"(?m)^ +20,000,007  cycles ")
        rows = {row[2]: row for row in csv.reader(
            self.culprit("report", "stat.culprit", "--format", "csv").stdout.splitlines())}
        self.assertEqual(rows["my_own:event"][:4], ["777", "events", "my_own:event", "25.00"])
        self.assertEqual(rows["cycles"][0], "20000007")
        totals = {event["name"]: event["total"] for event in self.report("stat.culprit")["events"]}
        self.assertAlmostEqual(totals["my_own:event"], 777, delta=1e-9)

    def test_counts_have_no_columns_by_code(self):
        done = self.culprit("report", "stat.culprit", "--columns", "hca", status=1)
        self.assertIn("counts of whole runs have no rows by code", done.stderr)
        self.assertIn("culprit why", done.stderr)
        self.culprit("report", "stat.culprit", "--columns", "frequency", status=1)


def recorded_files():
    """The files whose samples perf can read."""
    if not FILES.exists():
        return []
    return sorted(path for path in FILES.iterdir()
                  if path.is_file() and (ORACLE / f"{path.name}.events.tsv").exists())


def read_table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def events_of(name):
    """Event: (samples, sum of periods), as perf report has them. `perf report --stats` names an
    event with its modifiers as recorded (cycles:uH), perf report without those that its kind of
    CPU implies: rows without a count in perf report's columns are such second names."""
    return {row["event"]: (int(row["samples_report"]), int(row["period_sum_report"]))
            for row in read_table(ORACLE / f"{name}.events.tsv") if row["samples_report"]
            and row["period_sum_report"]}


SCRIPT_LINE = re.compile(
    r"^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+\d+\.\d+:\s+(\d+)\s+\S+:\s+(?:([0-9a-f]+)\b)?")


def script_samples(name):
    """(comm, pid, tid, period, address) of each sample, as perf script has them."""
    with gzip.open(ORACLE / f"{name}.script.txt.gz", "rt", errors="replace") as lines:
        for match in filter(None, map(SCRIPT_LINE.match, lines)):
            yield (match[1], int(match[2]), int(match[3]), int(match[4]),
                   int(match[5] or "0", 16))


def samples_of_tasks(name):
    """tid: {comm: samples}, of all but idle tasks."""
    tasks = collections.defaultdict(collections.Counter)
    if (ORACLE / f"{name}.script.txt.gz").exists():
        for comm, _, tid, _, _ in script_samples(name):
            if tid > 0:
                tasks[tid][comm] += 1
    return tasks


class Import(CulpritTest):
    def setUp(self):
        super().setUp()
        if not recorded_files():
            self.skipTest("the recorded files (../shared/perfdata) are not here")

    def imported(self, path):
        self.culprit("import", "-q", "--no-symbols", "--force", "-o", "imported.culprit", path)
        return self.folder / "imported.culprit"

    def rows(self, profile, *by):
        words = [word for level in by for word in ("--by", level)]
        return self.report(profile, *words, "--limit", "100000")

    def test_each_file_is_what_perf_says(self):
        """Events in their order, tasks by name, the hottest addresses: of one import of each file."""
        tasks = addresses = 0
        for path in recorded_files():
            with self.subTest(path.name):
                profile = self.imported(path)
                self.check_events(path, profile)
                tasks += self.check_tasks(path, profile)
                addresses += self.check_top_rows(path, profile)
        print(f"{tasks} tasks and {addresses} addresses agree")
        self.assertGreater(tasks, 100)
        self.assertGreater(addresses, 500)

    def check_events(self, path, profile):
        """Samples and periods of each, in the order of the file."""
        self.assertEqual([(event["name"], (event["samples"], int(event["total"])))
                          for event in self.rows(profile, "module")["events"]],
                         list(events_of(path.name).items()))

    def check_tasks(self, path, profile):
        """perf script -F comm,pid,tid,time,period,event,ip names the task of each sample."""
        printed = samples_of_tasks(path.name)
        ours = collections.defaultdict(collections.Counter)
        for row in self.rows(profile, "process", "thread")["rows"]:
            samples = sum(value["samples"] for value in row["values"].values())
            ours[row.get("thread_id", 0)][row["thread"]] += samples
        # perf forgets what a task without a name did when it gets one; we do not.
        named = {tid: names for tid, names in printed.items()
                 if not any(name.startswith(":") for name in names)}
        for tid, names in named.items():
            self.assertEqual(ours[tid], names, f"thread {tid}")
        return len(named)

    def test_a_value_that_cannot_be_costs_its_record_alone(self):
        """Two periods of 2^63: their sum has no place in a profile."""
        path = FILES / "perfparser__vector_static_gcc_perf.data"
        data = bytearray(path.read_bytes())
        damaged = 0
        for comm, pid, tid, period, ip in list(script_samples(path.name))[:2]:
            start = data.index(struct.pack("<QII", ip, pid, tid))
            at = data.index(struct.pack("<Q", period), start + 16, start + 80)
            data[at:at + 8] = struct.pack("<Q", 1 << 63)
            damaged += 1
        broken = self.folder / "broken.data"
        broken.write_bytes(data)
        whole = self.rows(self.imported(path), "module")["events"][0]["samples"]
        report = self.rows(self.imported(broken), "module")
        self.assertEqual(report["events"][0]["samples"], whole - damaged)
        self.assertIn("damaged_records", json.dumps(report["ledger"]))

    def check_top_rows(self, path, profile):
        """perf prints addresses in files as offsets and kernel addresses as they were, from which
        ours, counted from the kernel's start, must differ by the same amount throughout."""
        ours = collections.defaultdict(list)
        for row in self.rows(profile, "thread", "module", "instruction")["rows"]:
            module = row["module"].rsplit("/", 1)[-1]
            for event, value in row["values"].items():
                ours[event, module].append((row["thread"], int(row["address"], 16),
                                            value["samples"], int(value["value"])))
        def sums_at(event, module, comm, address):
            # perf cuts some names of commands, too.
            found = [one for one in ours[event, module]
                     if one[1] == address and one[0].startswith(comm)]
            return sum(one[2] for one in found), sum(one[3] for one in found)

        rows = [row for row in read_table(ORACLE / f"{path.name}.top.tsv") if row["kind"] == "sym"]
        for row in rows:
            row["address"] = int(row["sym"].split()[-1], 16)
            row["want"] = (int(row["samples"]), int(row["period"]))
        kernel_rows = [row for row in rows if row["dso"].startswith("[kernel")]
        bases = collections.Counter(
            row["address"] - one[1] for row in kernel_rows for one in ours[row["event"], "[kernel]"]
            if one[2:] == row["want"])
        base = bases.most_common(1)[0][0] if kernel_rows else 0
        for row in rows:
            is_kernel = row["dso"].startswith("[kernel")
            got = sums_at(row["event"], "[kernel]" if is_kernel else row["dso"], row["comm"],
                          row["address"] - (base if is_kernel else 0))
            self.assertEqual(got, row["want"], f"{path.name}, kernel at {base:#x}: {row}")
        return len(rows)

    def test_a_big_endian_machine_would_have_made_the_same_profile(self):
        """Whole profiles, table by table: a swapped file has the same numbers in it."""
        compared = 0
        for path in recorded_files():
            try:
                turned = swap(path.read_bytes())
            except Unknown as problem:
                print(f"{path.name} is not compared: {problem}")
                continue
            with self.subTest(path.name):
                (self.folder / "big.data").write_bytes(turned)
                self.assertEqual(self.tables(self.folder / "big.data"), self.tables(path))
                compared += 1
        self.assertGreaterEqual(compared, 25)

    def tables(self, path):
        """The profile of a recording as SQL."""
        self.culprit("import", "-q", "--no-symbols", "-o", "tables.culprit", path)
        with contextlib.closing(sqlite3.connect(self.folder / "tables.culprit")) as database:
            return list(database.iterdump())

    def test_latencies_by_where_the_data_came_from(self):
        """What `perf mem report --stdio` says of the file: weight, and "Memory access"."""
        path = FILES / "pdc__perf.data.weight_struct"
        self.culprit("import", "-q", "--no-symbols", "-o", "mem.culprit", path)
        report = json.loads(self.culprit("report", "--columns", "latency", "--by", "module",
                                         "--format", "json", "mem.culprit").stdout)
        self.assertEqual({event["name"]: (event["samples"], event["total"])
                          for event in report["events"] if event["samples"]},
                         {"latency": (14, 1725), "latency-l1": (4, 412),
                          "latency-fill-buffer": (5, 729), "latency-l2": (1, 77),
                          "latency-l3": (4, 507), "latency-page-walk": (1, 240)})
        row = next(row for row in report["rows"] if row["module"].endswith("/borglet"))
        self.assertEqual(row["values"]["latency"]["value"], 117 + 92)

    def test_perf_reads_the_swapped_files_as_it_reads_the_originals(self):
        """What says that swap_perf_data.py itself is right."""
        if not have("perf"):
            self.skipTest("no perf on this machine")
        for name, fields in (("pdc__perf.data.branch-3.4", "pid,tid,time,ip,period,brstack"),
                             ("simpleperf__generated_by_linux_perf.data", "comm,tid,time,ip"),
                             ("pdc__perf.data.weight_struct", "tid,time,addr,ip,weight,data_src"),
                             (PIPED, "event,tid,time,ip,period")):
            with self.subTest(name):
                turned, original = self.folder / "big.data", self.folder / "little.data"
                turned.write_bytes(swap((FILES / name).read_bytes()))
                original.write_bytes((FILES / name).read_bytes())
                of_original, of_turned = (
                    run("perf", "script", "-i", path, "--symfs", self.folder, "-F", fields).stdout
                    for path in (original, turned))
                self.assertGreater(len(of_original.splitlines()), 10)
                self.assertEqual(of_turned, of_original)

    def test_a_stray_byte_at_the_end_costs_nothing_else(self):
        name = "pdc__perf.data.piped.extrabyte-3.4"
        report = self.rows(self.imported(MALFORMED / name), "module")
        self.assertEqual({event["name"]: (event["samples"], int(event["total"]))
                          for event in report["events"]}, events_of(name))


class DamagedFiles(CulpritTest):
    """Files that broke other readers, or that nothing can be made of."""
    SECONDS = 10
    BYTES = 300 << 20

    def setUp(self):
        super().setUp()
        if not MALFORMED.exists():
            self.skipTest("the damaged files (../shared/perfdata) are not here")

    def test_each_is_read_or_refused_with_a_reason(self):
        for path in sorted(MALFORMED.iterdir()):
            with self.subTest(path.name):
                done, peak_bytes = self.culprit_measured(
                    "import", "--no-symbols", "-o", "made.culprit", path, seconds=self.SECONDS)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertTrue(done.stderr.startswith("culprit: "), done.stderr)
                self.assertNotIn("bug at", done.stderr)
                if not is_sanitized():
                    self.assertLess(peak_bytes, self.BYTES)
                if done.returncode == 1:
                    self.assertIn(path.name, done.stderr)
                    self.assertFalse((self.folder / "made.culprit").exists(), "a half profile")
                    continue
                self.culprit("report", "made.culprit")
                (self.folder / "made.culprit").unlink()
