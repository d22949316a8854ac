"""culprit import on files that others recorded, on many machines, against what perf says of
them. The files are not part of this project: tests use them in place, and are skipped by name
where they are not there."""
import collections
import contextlib
import csv
import json
import sqlite3

from harness import SOURCE, CulpritTest, have, is_sanitized, run
from swap_perf_data import Unknown, swap

SHARED = SOURCE.parent / "shared/perfdata"
FILES = SHARED / "files"
MALFORMED = FILES / "malformed"
PIPED = "pdc__perf.data.piped.header_feautres_group_desc-6.8"
ORACLE = SHARED / "oracle"

csv.field_size_limit(1 << 30)


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


class Import(CulpritTest):
    def setUp(self):
        super().setUp()
        if not recorded_files():
            self.skipTest("the recorded files (../shared/perfdata) are not here")

    def report(self, path, *by):
        self.culprit("import", "-q", "--no-symbols", "-o", "imported.culprit", path)
        words = [word for level in by for word in ("--by", level)]
        return json.loads(self.culprit("report", *words, "--format", "json", "imported.culprit")
                          .stdout)

    def test_samples_and_periods_of_each_event_are_perfs(self):
        for path in recorded_files():
            with self.subTest(path.name):
                report = self.report(path, "module")
                self.assertEqual({event["name"]: (event["samples"], int(event["total"]))
                                  for event in report["events"]}, events_of(path.name))

    def test_the_hottest_addresses_are_perfs(self):
        """perf prints addresses in files as offsets and kernel addresses as they were, from which
        ours, counted from the kernel's start, must differ by the same amount throughout."""
        checked = 0
        for path in recorded_files():
            with self.subTest(path.name):
                checked += self.check_top_rows(path)
        print(f"{checked} rows agree")
        self.assertGreater(checked, 500)

    def check_top_rows(self, path):
        ours = collections.defaultdict(list)
        for row in self.report(path, "thread", "module", "instruction")["rows"]:
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
        report = self.report(MALFORMED / name, "module")
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
