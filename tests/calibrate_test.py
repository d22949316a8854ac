"""culprit calibrate, and --machine host with what it has measured."""
import os
import signal
import subprocess
import time
import tomllib

from harness import CULPRIT, CulpritTest, runs_alone


class Calibrate(CulpritTest):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "config"
        self.kept = self.config / "culprit/machine.toml"
        self.env = {"XDG_CONFIG_HOME": str(self.config)}

    @runs_alone("measures the machine; 15 s, since each figure is the median of nine rounds")
    def test_this_machine(self):
        text = self.culprit("calibrate", env=self.env, timeout=240).stdout
        self.assertRegex(text, r"clock \d\.\d\d GHz; 9 rounds in \d+ s")
        self.assertRegex(text, r"(?m)^ +\d+ +[\d.]+ to [\d.]+ +\d+  a load that hits L1D")
        self.assertIn(str(self.kept), text)
        found = tomllib.loads(self.kept.read_text())
        self.assertEqual("host", found["name"])
        # On any CPU of the last twenty years.
        self.assertIn(found["l1d"]["latency_cycles"], range(2, 8))
        self.assertGreater(found["memory"]["latency_cycles"], found["l1d"]["latency_cycles"] * 10)
        self.assertRegex(found["calibrated_date"], r"^20\d\d-\d\d-\d\d$")

    def test_where_it_cannot_be_kept(self):
        self.env = {"PATH": os.environ["PATH"]}
        done = subprocess.run([CULPRIT, "calibrate"], env=self.env, capture_output=True, text=True)
        self.assertEqual(1, done.returncode)
        self.assertIn("name a file (-o)", done.stderr)

    def test_interrupted_it_keeps_nothing(self):
        process = subprocess.Popen([CULPRIT, "calibrate", "-o", self.folder / "made.toml"],
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
        self.assertEqual(1, process.returncode)
        self.assertIn("interrupted: nothing was kept", message)
        self.assertFalse((self.folder / "made.toml").exists())

    def test_host_is_as_calibrated_on_this_cpu_alone(self):
        self.need("qemu-x86_64")
        self.kept.parent.mkdir(parents=True)
        misses = {}
        cpu = self.report_cpu()
        program = self.compile_text(self.WALK, "walk.c", "walk", "-O1")
        for whose in (cpu, "AnotherCPU-1-2-3"):
            self.kept.write_text(f'calibrated_cpu = "{whose}"\n[l1d]\nsize_kib = 4\nways = 8\n'
                                 "[prefetch]\nstride = false\nstream = false\n")
            self.culprit("record", "-q", "--engine", "simulate", "--detail", "events",
                         "--no-symbols", program, env=self.env, timeout=120)
            events = self.report("profile.culprit", "--by", "module")["events"]
            misses[whose] = {event["name"]: event["total"]
                             for event in events}["L1-dcache-load-misses"]
        # 16 KiB again and again: each of 100 x 256 lines misses where L1D has 4 KiB, and none else.
        self.assertGreaterEqual(misses[cpu], 100 * 256)
        self.assertLess(misses["AnotherCPU-1-2-3"], 10_000)

    def report_cpu(self):
        """This CPU's name, as profiles have it."""
        self.culprit("record", "-q", "--no-symbols", "true")
        return self.report("profile.culprit")["machine"]["cpu_id"]

    WALK = """
static volatile char bytes[16384];
int main(void) {
  for (int round = 0; round < 100; ++round)
    for (int i = 0; i < 16384; i += 64) bytes[i];
}
"""
