"""record --off-cpu: waits of known length, by function and by what was waited for."""

import json
import unittest

import jsonschema

from harness import SOURCE, CulpritTest, runs_alone

SCHEMA = json.loads((SOURCE / "schema/why.schema.json").read_text())
KINDS = {"wait_for_sleep": "sleep", "wait_for_lock": "lock", "wait_for_pipe": "pipe"}
LEAST_SHARE = 0.02   # of the time of the program's first thread: the bound of all figures here


class OffCpu(CulpritTest):
    def record_waits(self):
        program = self.compile("waits.c", "waits", "-O1", "-g", "-fno-omit-frame-pointer",
                               "-fno-optimize-sibling-calls", "-pthread")
        done = self.culprit("record", "-o", self.folder / "profile.culprit", "--off-cpu",
                            "--call-graph", "dwarf", "--", program, status=None)
        if done.returncode == 125:
            self.assertIn("perf_event", done.stderr)
            self.skipTest("the kernel does not permit its events: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "profile.culprit", json.loads(done.stdout)

    @runs_alone("waits are held against the program's own clock")
    def test_waits_are_where_and_as_long_as_they_were(self):
        profile, truth = self.record_waits()
        whole = truth["whole"]["wall"]
        rows = self.report(profile, "--by", "function", "--sort", "inclusive")["rows"]
        off = {name: 0.0 for name in (*KINDS, "work")}
        for row in rows:
            if row["function"] not in off:
                continue
            for event in ("off-cpu", "preempted"):
                off[row["function"]] += row["inclusive"][event]["value"] * 1e-9
        for name in off:
            with self.subTest(function=name):
                expected = truth[name]["wall"] - truth[name]["cpu"]
                self.assertAlmostEqual(off[name] / whole, expected / whole, delta=LEAST_SHARE)

        why = json.loads(self.culprit("why", profile, "--format", "json").stdout)["waiting"]
        self.assertAlmostEqual(sum(kind["ns"] for kind in why["kinds"]), why["waiting_ns"],
                               delta=1 + 1e-9 * why["waiting_ns"])
        if all(kind["kind"] == "other" for kind in why["kinds"]):
            self.skipTest("neither the kernel nor libc has symbols here")
        found = {kind["kind"]: kind for kind in why["kinds"]}
        self.assertEqual(found["pipe"]["function"], "wait_for_pipe")
        # The second thread sleeps, too, half a second; the first one waits for its end by a futex.
        self.assertGreater(found["sleep"]["ns"] * 1e-9, 0.9)
        self.assertAlmostEqual(found["pipe"]["ns"] * 1e-9,
                               truth["wait_for_pipe"]["wall"], delta=LEAST_SHARE * whole)

    @runs_alone("shares of time are held against the scheduler's")
    def test_threads_time_agrees_with_the_schedulers(self):
        profile, truth = self.record_waits()
        rows = self.report(profile, "--by", "thread")["rows"]
        # The first thread's: it works; the other one hardly does.
        first = max(rows, key=lambda row: row["values"]["cpu-clock"]["value"])
        whole = truth["whole"]
        away = sum(first["values"][event]["value"] for event in ("off-cpu", "preempted")) * 1e-9
        self.assertAlmostEqual(away / whole["wall"], 1 - whole["cpu"] / whole["wall"],
                               delta=LEAST_SHARE)

    def test_a_program_that_sleeps_has_that_as_its_verdict(self):
        profile = self.folder / "sleeps.culprit"
        done = self.culprit("record", "-q", "-o", profile, "--off-cpu", "--", "sleep", "0.5",
                            status=None)
        if done.returncode == 125:
            self.skipTest("the kernel does not permit its events: " + done.stderr.strip())
        why = json.loads(self.culprit("why", profile, "--format", "json").stdout)
        jsonschema.validate(why, SCHEMA)
        if all(kind["kind"] == "other" for kind in why["waiting"]["kinds"]):
            self.skipTest("neither the kernel nor libc has symbols here")
        self.assertEqual(why["verdict"]["waiting"]["kind"], "sleep")
        self.assertIn("no thread runs", why["verdict"]["waiting"]["words"])
        text = " ".join(self.culprit("why", profile).stdout.split())
        self.assertRegex(text, "Verdict it waits: for [0-9]+ % of the wall time no thread runs: sleep")
        self.assertIn("culprit report --off-cpu", text.split("Next")[1])

    def test_what_cannot_see_waits_says_so(self):
        done = self.culprit("record", "--off-cpu", "--engine", "posix-timer", "true", status=125)
        self.assertIn("does not see it wait", done.stderr)
        done = self.culprit("record", "--off-cpu", "--engine", "simulate", "true", status=2)
        self.assertIn("--off-cpu", done.stderr)


if __name__ == "__main__":
    unittest.main()
