"""culprit import on files that others recorded, on many machines, against what perf says of
them. The files are not part of this project: tests use them in place, and are skipped by name
where they are not there."""
import collections
import csv
import gzip
import json
import os
import re

from harness import SOURCE, CulpritTest, run

SHARED = SOURCE.parent / "shared/perfdata"
FILES = SHARED / "files"
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
