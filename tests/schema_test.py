"""The golden JSON files follow the schemas, and the schemas refuse what they should.

report_test and annotate_test compare the golden files with what the program prints, so what holds
for them holds for it.
"""

import copy
import json
import pathlib
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[1]
REPORTS = ROOT / "src" / "report" / "golden"
ANNOTATIONS = ROOT / "src" / "annotate" / "golden"
TIMELINES = ROOT / "src" / "timeline" / "golden"


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def validator(command):
    schema = load(ROOT / "schema" / f"{command}.schema.json")
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


class SchemaTest(unittest.TestCase):
    def check(self, command, paths):
        for path in paths:
            with self.subTest(file=path.name):
                errors = list(validator(command).iter_errors(load(path)))
                self.assertEqual(errors, [])

    def test_reports_follow_the_schema(self):
        self.check("report", [REPORTS / name for name in (
            "report_every_level.json", "tree_callees.json", "executions_function.json")])

    def test_annotations_follow_the_schema(self):
        self.check("annotate", [ANNOTATIONS / "annotate.json"])

    def test_timelines_follow_the_schema(self):
        self.check("timeline", [TIMELINES / "time_thread.json"])

    def test_schemas_refuse_missing_and_unknown_fields(self):
        for command, path in (("report", REPORTS / "tree_callees.json"),
                              ("annotate", ANNOTATIONS / "annotate.json"),
                              ("timeline", TIMELINES / "time_thread.json")):
            document = load(path)
            check = validator(command)
            for field in document:
                damaged = copy.deepcopy(document)
                del damaged[field]
                self.assertFalse(check.is_valid(damaged), f"{command} without {field}")
            damaged = dict(document, surprise=1)
            self.assertFalse(check.is_valid(damaged))


if __name__ == "__main__":
    unittest.main()
