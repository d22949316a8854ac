"""`culprit daemon` as a whole: what it collects, what a kill costs, who may ask it what.

What samples the whole system needs root; what counts in the kernel needs BPF. Both are skipped,
with the reason, where they are refused.
"""
import collections
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import jsonschema

import harness

SPIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) double burn_for(double seconds) {
  struct timespec now;
  double x = 1, end = 0;
  do {
    for (int i = 0; i < 100000; ++i) x = x * 1.0000001 + 0.5;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    end = now.tv_sec + now.tv_nsec * 1e-9;
  } while (end < seconds);
  return x;
}
int main(int argc, char** argv) { printf("%f\\n", burn_for(argc > 1 ? atof(argv[1]) : 1)); return 0; }
"""


class Daemon(harness.CulpritTest):
    """Each test has a database, and daemons that end with it."""

    def setUp(self):
        super().setUp()
        self.database = self.folder / "db"

    def start(self, *options, settle=1.2):
        """A daemon that samples; skips the test where nothing may."""
        log = open(self.folder / "log", "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen([harness.CULPRIT, "daemon", "--db", self.database, *options],
                                   stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            said = (self.folder / "log").read_text()
            if "sampling the whole system" in said:
                break
            if process.poll() is not None:
                if "nothing may sample" in said:
                    self.skipTest(said.strip())
                self.fail(said)
            time.sleep(0.05)
        else:
            self.fail("the daemon does not begin:\n" + (self.folder / "log").read_text())
        time.sleep(settle)
        return process

    def start_in_kernel(self, *options, **settings):
        process = self.start(*options, **settings)
        if self.status()["collector"] != "eBPF":
            self.skipTest("no BPF here: " + self.status()["fallback"])
        return process

    def ask(self, *request, **options):
        return self.culprit("daemon", "--db", self.database, *request, **options)

    def status(self):
        return json.loads(self.ask("status", "--format", "json").stdout)

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        # Symbols of what else the machine runs are found first.
        self.assertEqual(process.wait(200), 0, (self.folder / "log").read_text())

    def spin(self, seconds=1.0, name="spin"):
        program = self.compile_text(SPIN, "spin.c", name, "-O1", "-g")
        harness.run(program, seconds)
        return program

    def files(self):
        return sorted((self.database / "epochs").glob("*.culprit"))

    def cells(self, *options):
        """{function: samples} of the database."""
        report = json.loads(self.culprit("report", "--db", self.database, "--format", "json",
                                         "--by", "function", *options).stdout)
        event = report["events"][0]["name"]
        cells = collections.Counter()
        for row in report["rows"]:   # several programs may have a function of one name
            cells[row["function"]] += row["values"][event]["samples"]
        return cells

    # ---- what it collects ----

    def test_samples_are_conserved_and_placed(self):
        process = self.start_in_kernel("--rate", "999")
        self.spin(2.0, name="conserved")   # other tests spin, too, and all are seen
        status = self.status()
        totals = status["in_all"]
        counted = totals["table_hits"] + totals["table_misses"]
        self.assertEqual(totals["handled"], totals["idle"] + counted)
        # Periods are random within 1/16: their mean over some seconds and CPUs is not far off.
        expected = totals["clock_ns"] / (1e9 / status["rate_hz"])
        self.assertAlmostEqual(totals["handled"] + totals["skipped"], expected,
                               delta=2 * status["cpus"] + 0.05 * expected)
        asked = time.monotonic()
        self.stop(process)
        after_ns = (time.monotonic() - asked) * 1e9 * status["cpus"]
        # All of the clocks' time is there, idle time apart: skipped periods are shared by the
        # samples beside them.
        report = json.loads(self.culprit("report", "--db", self.database, "--format", "json",
                                         "--by", "module").stdout)
        busy_ns = totals["clock_ns"] * counted / totals["handled"]
        self.assertGreater(report["events"][0]["total"], 0.99 * busy_ns)
        self.assertLess(report["events"][0]["total"], busy_ns + after_ns + 1e7)
        burning = self.cells("--module", "conserved").get("burn_for", 0)
        self.assertGreater(burning, 1000)   # of 2000, by a busy machine's clock
        self.assertLess(burning, 2200)
        cells = self.cells()
        # What is in the file is what was counted, less what was lost; the end adds a last drain.
        self.assertGreaterEqual(sum(cells.values()), counted - totals["lost"])

    def test_status_follows_its_schema(self):
        self.start("--no-bpf")
        schema = json.loads((harness.SOURCE / "schema/daemon_status.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.validate(self.status(), schema)
        text = self.ask("status").stdout
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()
                            if str(self.database) not in line), text)

    def test_deleted_programs_have_their_names(self):
        process = self.start_in_kernel("--rate", "999", settle=0.2)
        program = self.compile_text(SPIN, "spin.c", "spin", "-O1", "-g")
        running = subprocess.Popen([program, "1.5"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        program.unlink()
        running.wait()
        self.stop(process)
        self.assertGreater(self.cells("--module", "spin").get("burn_for", 0), 100)

    def test_rings_do_where_bpf_is_not(self):
        process = self.start("--no-bpf", "--rate", "499")
        self.spin(1.0)
        self.assertEqual(self.status()["collector"], "perf rings")
        self.stop(process)
        self.assertGreater(self.cells().get("burn_for", 0), 200)

    def test_annotate_why_and_export_read_the_database(self):
        process = self.start("--rate", "499")
        self.spin(1.0)
        self.stop(process)
        choice = ("--db", self.database, "--since", "1h")
        self.assertIn("burn_for", self.culprit("annotate", "burn_for", *choice).stdout)
        self.assertIn("burn_for", self.culprit("export", "--to", "collapsed", *choice).stdout)
        self.culprit("why", *choice)
        only = self.culprit("report", *choice, "--where", "comm=spin", "--by", "process").stdout
        self.assertIn("spin", only)
        self.assertNotIn("python", only)
        # The next command that it names opens the same.
        self.assertIn("--since 1h", only)

    # ---- epochs ----

    def test_epochs_begin_when_asked_and_hold_each_sample_once(self):
        process = self.start("--rate", "499")
        for request in (("epoch",), ("rate", "250"), ("label", "build=17")):
            self.ask(*request)
            time.sleep(0.3)
        self.assertAlmostEqual(self.status()["rate_hz"], 250, delta=1)
        self.stop(process)
        self.assertEqual(len(self.files()), 4)
        each = [sum(self.cells("--epoch", path.name).values()) for path in self.files()]
        self.assertEqual(sum(self.cells().values()), sum(each))
        self.assertEqual(list((self.database / "current").iterdir()), [])

    def test_a_growing_epoch_can_be_asked(self):
        self.start("--rate", "499", "--flush", "1h")
        self.spin(0.5)
        self.assertEqual(self.files(), [])
        self.assertGreater(self.cells("--since", "1h").get("burn_for", 0), 50)

    def test_kill_costs_one_flush_at_most(self):
        process = self.start("--rate", "499", "--flush", "1h")
        self.spin(0.5)
        self.ask("flush")
        before = sum(self.cells().values())
        self.spin(0.2)
        process.kill()
        process.wait()
        self.stop(self.start(settle=0))
        said = (self.folder / "log").read_text()
        self.assertIn("recovered the epoch", said)
        self.assertGreaterEqual(sum(self.cells("--epoch", self.files()[0].name).values()), before)

    def test_names_of_strangers_stay_on_their_line(self):
        process = self.start_in_kernel("--rate", "999", settle=0.2)
        self.spin(0.6, name="a\x1b[2J\nb c'd")
        self.stop(process)
        text = self.culprit("report", "--db", self.database, "--by", "comm,module").stdout
        self.assertNotIn("\x1b", text)
        self.assertRegex(text, r"a\?\[2J\?b c'd")

    def test_paused_daemons_count_nothing(self):
        self.start("--rate", "499")
        self.ask("pause")
        before = self.status()["in_all"]["handled"]
        time.sleep(1)
        status = self.status()
        self.assertTrue(status["paused"])
        self.assertLessEqual(status["in_all"]["handled"] - before, status["cpus"])
        self.ask("resume")
        time.sleep(1)
        self.assertGreater(self.status()["in_all"]["handled"], before)

    # ---- what is refused, and how ----

    def test_rights_that_it_needs(self):
        self.need("setpriv")
        if os.geteuid() != 0:
            self.skipTest("needs root, to become somebody with some of its rights")
        program = self.culprit_for_anybody()
        self.folder.chmod(0o777)
        self.start_in_kernel(settle=0)
        for rights, expected in (("+bpf,+perfmon,+syslog", "by eBPF"), ("+perfmon", "by perf rings"),
                                 ("+bpf", "nothing may sample")):
            log = self.folder / "rights"
            with open(log, "w") as output:
                process = subprocess.Popen(
                    ["setpriv", "--reuid", str(harness.NOBODY), "--regid", str(harness.NOBODY),
                     "--clear-groups", "--inh-caps", "-all," + rights, "--ambient-caps",
                     "-all," + rights, program, "daemon", "--rate", "99", "--db",
                     self.folder / ("db" + rights)], stdout=output, stderr=output)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and "sampl" not in log.read_text():
                time.sleep(0.05)
            self.assertIn(expected, log.read_text(), rights)

    def test_second_daemon_is_refused(self):
        self.start("--no-bpf")
        done = self.ask(status=1)
        self.assertIn("is in use", done.stderr)

    def test_databases_of_later_versions_are_refused(self):
        self.database.mkdir()
        (self.database / "epochs").mkdir()
        (self.database / "version").write_text("culprit epochs 99\n")
        self.assertIn("version", self.ask(status=1).stderr)
        self.assertIn("version", self.culprit("report", "--db", self.database, status=1).stderr)

    def test_wrong_words_are_refused(self):
        for words, status, expected in (
                (("--rate", "0"), 2, "a rate is"), (("--rate", "x"), 2, "no rate"),
                (("--epoch", "10"), 2, "no length of time"), (("stopp",), 2, "nothing that can be"),
                (("rate", "1e9"), 2, "a rate is"), (("status",), 1, "cannot open the database")):
            done = self.ask(*words, status=status)
            self.assertIn(expected, done.stderr, words)
        self.database.mkdir()
        (self.database / "letter").write_text("Dear Sir")
        self.assertIn("no database of epochs", self.ask(status=1).stderr)

    def test_times_without_epochs_are_named(self):
        process = self.start("--no-bpf", settle=0.3)
        self.stop(process)
        done = self.culprit("report", "--db", self.database, "--from", "2020-01-01", "--to",
                            "2020-01-02", status=1)
        self.assertIn("no epoch of that time", done.stderr)
        done = self.culprit("report", "--db", self.database, "--since", "soonish", status=1)
        self.assertIn("no moment", done.stderr)
        done = self.culprit("report", "--since", "2h", "--db", self.folder / "nowhere", status=1)
        self.assertIn("cannot open the database", done.stderr)


if __name__ == "__main__":
    unittest.main()
