"""Samples know their region: culprit record --regions, report --by region, --region, why.

In the programs each region has a function of its own, so addresses say what the regions must be.
"""
import csv
import io
import json
import unittest

import jsonschema

from harness import PROGRAMS, SOURCE, CulpritTest

ALTERNATE = PROGRAMS / "openmp/alternate.c"
KINDS = PROGRAMS / "openmp/waiting.c"
NOT_KNOWN = "[not known]"


def line_of(source, text):
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1)
                if text in line)


class RegionSamples(CulpritTest):
    def openmp(self, source, compiler):
        self.need(compiler)
        try:
            return self.compile(source, f"{source.stem}-{compiler}", "-g", "-O2", "-fopenmp",
                                compiler=compiler)
        except AssertionError as error:
            if "omp.h" in str(error) or "lomp" in str(error):
                self.skipTest(f"{compiler} has no OpenMP here (libomp-19-dev)")
            raise

    def samples(self, profile, *arguments):
        """{function: {region: samples}}"""
        text = self.culprit("report", profile, "--by", "region,function", "--format", "csv",
                            "--limit", "0", *arguments).stdout
        rows = csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#"))
        column = next(name for name in rows.fieldnames if name.endswith(" samples"))
        found = {}
        for row in rows:
            by_region = found.setdefault(row["function"].split(".")[0], {})
            by_region[row["region"]] = by_region.get(row["region"], 0) + int(row[column])
        return found

    def check_alternation(self, engine, compiler, length_ns, threads):
        """Every sample in a function is in its region. Between a change and what is told of it
        lie some ns: one sample in 50 may be late."""
        expected = {name: f"parallel alternate.c:{line_of(ALTERNATE, name + '(omp') - 1}"
                    for name in ("in_first", "in_second")}
        expected["outside"] = "[outside regions]"
        program = self.openmp(ALTERNATE, compiler)
        profile, _ = self.record("-F", "1999", "--engine", engine, "--regions", program,
                                 length_ns, "0.6", threads)
        found = self.samples(profile)
        seen = wrong = unknown = 0
        for function, region in expected.items():
            regions = found.get(function, {})
            seen += sum(regions.values())
            unknown += regions.get(NOT_KNOWN, 0)
            wrong += sum(count for name, count in regions.items()
                         if name not in (region, NOT_KNOWN))
        self.assertGreater(seen, 0, found)
        self.assertLessEqual(wrong, max(1, seen / 50), found)
        self.assertLessEqual(unknown, seen / 10, found)

    def test_perf_event_1_ms(self):
        for compiler in ("gcc", "clang-19"):
            self.check_alternation("timer", compiler, "1000000", "1")

    def test_perf_event_20_us_of_two_threads(self):
        for compiler in ("gcc", "clang-19"):
            self.check_alternation("timer", compiler, "20000", "2")

    def test_posix_timer(self):
        for length_ns, threads in (("1000000", "2"), ("20000", "1")):
            self.check_alternation("posix-timer", "gcc", length_ns, threads)

    def test_filter_takes_what_is_inside(self):
        program = self.openmp(ALTERNATE, "gcc")
        profile, _ = self.record("--engine", "posix-timer", "--regions", program, "100000", "0.4",
                                 "1")
        whole = self.samples(profile)
        first = line_of(ALTERNATE, "in_first(omp") - 1
        name = f"parallel alternate.c:{first}"
        only = self.samples(profile, "--region", name)
        regions = {region for by_region in only.values() for region in by_region}
        self.assertLessEqual(regions, {name, "waiting: " + name})
        self.assertEqual(only["in_first"], {name: whole["in_first"][name]})
        # By the place alone, too; and the time of all regions is that of the whole.
        self.assertEqual(self.samples(profile, "--region", f"alternate.c:{first}"), only)
        totals = [sum(count for by_region in rows.values() for count in by_region.values())
                  for rows in (whole, self.samples(profile, "--region", "*"))]
        self.assertEqual(totals[0], totals[1])

    def test_json_is_of_its_schema(self):
        program = self.openmp(ALTERNATE, "gcc")
        profile, _ = self.record("--engine", "posix-timer", "--regions", program, "100000", "0.5",
                                 "1")
        report = self.report(profile, "--by", "region,line", "--region", "*",
                             "--limit", "0")
        schema = json.loads((SOURCE / "schema/report.schema.json").read_text())
        jsonschema.validate(report, schema)
        self.assertIn("[outside regions]", {row["region"] for row in report["rows"]})

    def test_no_regions_without_the_option(self):
        program = self.openmp(ALTERNATE, "gcc")
        profile, _ = self.record("--engine", "posix-timer", program, "100000", "0.2", "1")
        regions = {region for by_region in self.samples(profile).values() for region in by_region}
        self.assertEqual(regions, {"[outside regions]"})

    def test_waiting_for_a_critical_section_is_apart(self):
        """Two threads: one holds the section and works, the other spins for it or sleeps."""
        program = self.openmp(KINDS, "gcc")
        profile, _ = self.record("--engine", "posix-timer", "--regions", program,
                                 env={"OMP_WAIT_POLICY": "active", "PATH": "/usr/bin:/bin"})
        critical = f"critical waiting.c:{line_of(KINDS, 'omp critical')}"
        found = self.samples(profile)
        self.assertEqual(set(found["in_critical"]), {critical}, found)
        spinning = sum(by_region.get("waiting: " + critical, 0) for by_region in found.values())
        self.assertGreater(spinning, 0, found)
        self.assertNotIn("waiting: " + critical, found["in_critical"])

    def test_why_in_a_region_that_there_is_not(self):
        program = self.openmp(ALTERNATE, "gcc")
        profile, _ = self.record("--engine", "posix-timer", "--regions", program, "100000", "0.1",
                                 "1")
        done = self.culprit("why", profile, "--in-region", "nowhere", status=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no region here is 'nowhere'", done.stderr)


if __name__ == "__main__":
    unittest.main()
