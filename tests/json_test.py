"""What the commands print as JSON, held against the schemas in schema/."""
import json
import os

import jsonschema

from harness import CulpritTest, SOURCE


class Schemas(CulpritTest):
    def check(self, schema, text):
        description = json.loads((SOURCE / "schema" / schema).read_text())
        jsonschema.Draft7Validator.check_schema(description)
        value = json.loads(text)
        jsonschema.validate(value, description)
        return value

    def profile(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        return self.record("-g", "--", program, 0.5, 2)[0]

    def test_report(self):
        profile = self.profile()
        for level in ("process", "thread", "module", "function", "line", "block", "instruction",
                      "process,thread,module,function,line,instruction"):
            with self.subTest(by=level):
                value = self.check("report.schema.json", self.culprit(
                    "report", profile, "--by", level, "--format", "json").stdout)
                self.assertTrue(value["rows"])
        for tree in ("callers", "callees"):
            self.check("report.schema.json", self.culprit(
                "report", profile, "--tree", tree, "--format", "json").stdout)

    def test_annotate(self):
        self.check("annotate.schema.json", self.culprit(
            "annotate", "alpha", self.profile(), "--format", "json").stdout)

    def test_export(self):
        self.check("report.schema.json", self.culprit("export", self.profile(), "--to", "json").stdout)

    def test_doctor(self):
        value = self.check("doctor.schema.json", self.culprit("doctor", "--format", "json").stdout)
        names = [row["name"] for row in value["capabilities"]]
        self.assertIn("hardware counters", names)
        self.assertIn("timer sampling", names)

    def test_counts(self):
        self.culprit("stat", "-r", "2", "--format", "json", "--log", "counts.json", "true")
        value = self.check("stat.schema.json", (self.folder / "counts.json").read_text())
        self.assertIn("page-faults", [count["event"] for count in value["counts"]])

    def test_counts_of_intervals(self):
        self.culprit("stat", "-I", "20", "--format", "json", "--log", "counts.json", "sleep", "0.1")
        *intervals, total = (self.folder / "counts.json").read_text().splitlines()
        self.assertGreaterEqual(len(intervals), 4)
        for line in intervals:
            self.check("stat_interval.schema.json", line)
        self.check("stat.schema.json", total)

    def test_every_schema_has_a_test(self):
        # Some have theirs in compare_test.py, daemon_test.py, events_test.py, locality_test.py,
        # never_test.py, regions_test.py, scan_curves_test.py, scan_search_test.py, scan_test.py, stalls_test.py,
        # templates_test.py, time_test.py, validate_test.py, web_screens_test.py, web_test.py and why_test.py.
        tested = {f"{name}.schema.json" for name in (
            "annotate", "daemon_status", "data", "diff", "doctor", "events", "locality", "never", "regions",
            "report", "scan_best", "scan_curves", "scan_diff", "scan_executed", "scan_explain", "scan_find",
            "scan_one", "scan_search", "scan_status", "scan_table", "scan_trend", "scan_verify", "stalls", "stat", "stat_interval", "templates", "timeline",
            "validate",
            "variance", "web_calls", "web_function", "web_index", "web_profiles", "web_scan", "web_scan_values", "web_source", "web_table", "why",
            "why_both")}
        self.assertEqual(set(os.listdir(SOURCE / "schema")) - {"README.md"}, tested)
