"""record --regions under the software PMU: what each OpenMP construct counts of each thread.

The program reads doubles, so many in each construct as its source says: nothing else in it loads
any, nor does an OpenMP runtime.
"""
import json
import os
import unittest

import jsonschema

from harness import PROGRAMS, SOURCE, CulpritTest, run

COUNTED = PROGRAMS / "openmp/counted.c"
NATIVE = f"qemu-{os.uname().machine}"
THREADS = 4
SCHEMA = json.loads((SOURCE / "schema/regions.schema.json").read_text())


def line_of(text):
    return next(number for number, line in enumerate(COUNTED.read_text().splitlines(), 1)
                if text in line)


class SimulatedRegions(CulpritTest):
    maxDiff = None

    def program(self, compiler="gcc", *flags):
        self.need(compiler, NATIVE)
        try:
            return self.compile(COUNTED, "counted", "-g", "-O2", "-fopenmp", "-Wl,-z,now",
                                *flags,
                                compiler=compiler)
        except AssertionError as error:
            if "lomp" in str(error) or "omp.h" in str(error):
                self.skipTest(f"{compiler} has no OpenMP here (libomp-19-dev)")
            raise

    def profile(self, program, *options, arguments=(str(THREADS),)):
        profile, done = self.record("--regions", "--engine", "simulate", "--machine", "none",
                                    *options, "--", program, *arguments)
        self.assertEqual(done.stdout, "done\n")
        return profile

    def regions(self, profile, *options):
        report = json.loads(self.culprit("regions", profile, "--format", "json",
                                         *options).stdout)
        jsonschema.validate(report, SCHEMA)
        return report

    def loads(self, report, kind, name=None):
        """(sum, by thread) of the doubles that the first such construct loaded."""
        found = [one for one in report["constructs"]
                 if one["kind"] == kind and name in (None, one["name"])]
        self.assertTrue(found, f"no {kind} {name}")
        of = lambda one: one["counts"]["fp-loads"]["inside"]
        return of(found[0]["sum"]), [of(one) for one in found[0]["threads"]]

    def check_counts(self, report, sections=("sections",)):
        self.assertFalse(report["has_times"])
        self.assertEqual(len(report["threads"]), THREADS)
        parallel = next(one for one in report["constructs"] if one["kind"] == "parallel")
        self.assertEqual(parallel["first_line"], line_of("#pragma omp parallel"))
        whole, threads = self.loads(report, "parallel")
        self.assertEqual(whole, 4 * 115 + 7)
        self.assertEqual(sorted(threads), [115, 115, 115, 115 + 7])   # one runs the single
        self.assertEqual(self.loads(report, "single")[0], 7)
        self.assertEqual(self.loads(report, "critical"), (40, [10] * THREADS))
        self.assertEqual(self.loads(report, "loop", "dynamic")[0], 1000)
        self.assertEqual(self.loads(report, "loop", "guided")[0], 600)
        # LLVM's compiler makes a loop of sections.
        self.assertEqual(self.loads(report, *sections)[0], 41)
        self.assertEqual(self.loads(report, "lock"), (16, [4] * THREADS))
        self.assertEqual(self.loads(report, "task")[0], 20 * 6)

    def executions(self, report, kind):
        return sum(one["sum"]["executions"] for one in report["constructs"] if one["kind"] == kind)


class OfGcc(SimulatedRegions):
    def test_counts_of_each_construct(self):
        report = self.regions(self.profile(self.program()), "--counter", "fp-loads")
        self.check_counts(report)
        self.assertEqual(self.executions(report, "critical"), 4)
        self.assertEqual(self.executions(report, "task"), 20)
        self.assertEqual(self.executions(report, "parallel"), 16)

    def test_statically_linked(self):
        report = self.regions(self.profile(self.program("gcc", "-static")), "--counter", "fp-loads")
        self.check_counts(report)


class Together(SimulatedRegions):
    def totals(self, program, *options):
        profile, _ = self.record("--engine", "simulate", "--machine", "zen4", "--deterministic",
                                 *options, "--", program, str(THREADS), output="one.culprit")
        report = self.report(profile, "--by", "process")
        self.assertNotIn("missing_instructions", report["ledger"])
        return {event["name"]: event["total"] for event in report["events"]}, profile

    def check_equal(self, totals, others):
        names = sorted(set(totals) | set(others))
        self.assertEqual({name: (totals.get(name), others.get(name)) for name in names
                          if totals.get(name) != others.get(name)}, {})

    def test_regions_add_up_to_what_is_counted_without_them(self):
        program = self.program()
        without, _ = self.totals(program)
        regions, profile = self.totals(program, "--regions")
        self.check_equal(regions, without)
        counts = self.regions(profile, "--counter", "instructions")["constructs"]
        again, profile = self.totals(program, "--regions")
        self.check_equal(again, regions)
        self.assertEqual(self.regions(profile, "--counter", "instructions")["constructs"], counts)

    def test_loads_of_a_matrix_by_construct_and_thread(self):
        """The paper's tables, at n = 400: 400 x 400 / 4 = 40,000 loads of each thread."""
        self.need("gcc", NATIVE)
        program = self.compile("openmp/matvec.c", "matvec", "-g", "-O2", "-fno-tree-vectorize",
                               "-fopenmp", "-Wl,-z,now")
        profile, _ = self.record("--regions", "--range", "matrix=a", "--engine", "simulate",
                                 "--machine", "none", "--", program)
        rows = self.report(profile, "--by", "region,object,thread")["rows"]
        loads = [(row["region"], row["values"]["fp-loads"]["value"]) for row in rows
                 if row["object"] == "matrix" and "fp-loads" in row["values"]]
        self.assertEqual([value for _, value in loads], [40_000] * 4)
        self.assertEqual({region.split()[0] for region, _ in loads}, {"parallel"})
        # The same by construct, without the loads of own and x beside them; nobody stores to it.
        report = self.regions(profile, "--object", "matrix")
        self.assertEqual(report["object"], "matrix")
        parallel = next(one for one in report["constructs"] if one["kind"] == "parallel")
        self.assertEqual([thread["counts"]["L1-dcache-loads"]["inside"] for thread in parallel["threads"]],
                         [40_000] * 4)
        self.assertEqual(report["counts"]["L1-dcache-loads"], 160_000)
        self.assertEqual(report["counts"]["L1-dcache-stores"], 0)
        critical = next(one for one in report["constructs"] if one["kind"] == "critical")
        self.assertEqual(critical["sum"]["counts"]["L1-dcache-loads"]["inside"], 0)
        everything = self.regions(profile, "--counter", "L1-dcache-loads")
        of_all = next(one for one in everything["constructs"] if one["kind"] == "parallel")
        self.assertIsNone(everything["object"])
        self.assertGreaterEqual(of_all["sum"]["counts"]["L1-dcache-loads"]["inside"], 2 * 160_000)
        text = self.culprit("regions", "-i", profile, "--object", "matrix").stdout
        self.assertIn("accesses to matrix: 1,280,000 bytes from 0x", " ".join(text.split()))
        # All objects together have every load.
        together = self.regions(profile, "--object", "*")
        self.assertIn("data objects match '*'", together["remarks"][-1])
        self.assertEqual(together["counts"]["L1-dcache-loads"], everything["counts"]["L1-dcache-loads"])
        refused = self.culprit("regions", "-i", profile, "--object", "matrx", status=1)
        self.assertIn("did you mean matrix?", refused.stderr)

    def test_answers_by_region(self):
        profile = self.profile(self.program())
        rows = self.report(profile, "--by", "region,function")["rows"]
        loads = {(row["region"], row["function"]): row["values"]["fp-loads"]["value"]
                 for row in rows if "fp-loads" in row["values"]}
        line = line_of("#pragma omp critical")
        self.assertEqual(loads[f"critical counted.c:{line}", "read_values"], 40)
        self.assertNotIn("GOMP_critical_start", [function for region, function in loads
                                                 if region.startswith("critical")])


class OfClang(SimulatedRegions):
    def test_counts_of_each_construct(self):
        report = self.regions(self.profile(self.program("clang-19")), "--counter", "fp-loads")
        self.check_counts(report, ("loop", "static"))


class OfAarch64(SimulatedRegions):
    def test_dynamic_and_static(self):
        self.need("qemu-aarch64")
        for flags in ((), ("-static",)):
            program = self.program("aarch64-linux-gnu-gcc", *flags)
            report = self.regions(self.profile(program), "--counter", "fp-loads")
            self.check_counts(report)


if __name__ == "__main__":
    unittest.main()
