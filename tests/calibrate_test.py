"""culprit calibrate, and --machine host with what it has measured."""
import os
import re
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

    @runs_alone("measures the machine; 20 s, since each figure is the median of rounds, and checked")
    def test_this_machine(self):
        self.need("qemu-x86_64")
        text = self.culprit("calibrate", "--rounds", "3", env=self.env, timeout=240).stdout
        self.assertRegex(text, r"clock \d\.\d\d GHz; 3 rounds in \d+ s")
        # On any CPU of the last twenty years; its interval, and what a machine file says.
        l1d = re.search(r"(?m)^ +(\d+) +[\d.]+ to [\d.]+ +\d+  a load that hits L1D", text)
        self.assertIn(int(l1d[1]), range(2, 8))
        walks = {int(size): float(cycles) for cycles, size in re.findall(
            r"(?m)^ +([\d.e+]+) +[\d.e+]+ to [\d.e+]+ +loads over (\d+) KiB", text)}
        self.assertGreater(walks[max(walks)], 10 * walks[min(walks)])
        self.assertRegex(text, r"\d+ kernels: median error [\d.]+ % with the figures kept, "
                               r"[\d.]+ % without")
        self.assertIn(str(self.kept), text)
        kept = self.kept.read_text()
        found = tomllib.loads(kept)
        self.assertEqual("host", found["name"])
        self.assertRegex(found["calibrated_date"], r"^20\d\d-\d\d-\d\d$")
        # Each figure that was measured is used, or it is said why not.
        figures = sum(len(section) for section in found.values() if isinstance(section, dict))
        dropped = len(re.findall(r"(?m)^# [\w.]+ = .*\): \S", kept))
        self.assertEqual(text.count("not used: "), dropped)
        self.assertGreater(figures + dropped, 5)

    def test_a_file_of_another_cpu_is_refused(self):
        made = self.folder / "made.toml"
        made.write_text('calibrated_cpu = "AnotherCPU-1-2-3"\n[l1d]\nlatency_cycles = 5\n')
        done = self.culprit("record", "-q", "--engine", "simulate", "--machine", made, "true",
                            status=None)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("measured on another CPU (AnotherCPU-1-2-3", done.stderr)

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
