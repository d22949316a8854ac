"""What can be recorded, and how a recording begins and ends."""
import ctypes
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

from harness import CULPRIT, CulpritTest, run, runs_alone

SPIN = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void spin_here(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  const double end = t.tv_sec + t.tv_nsec * 1e-9 + seconds;
  do {
    for (int i = 0; i < 100000; ++i) sink = sink + 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  } while (t.tv_sec + t.tv_nsec * 1e-9 < end);
}
int main(int argc, char** argv) {
  spin_here(atof(argv[1]));
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


# A debuginfod that sends 1 kB a second of a file that has no end.
DRIP = """
import socket, threading, time
def drip(connection):
    connection.recv(4096)
    piece = b"HTTP/1.1 200 OK\\r\\nContent-Length: 100000000\\r\\n\\r\\n"
    while True:
        connection.sendall(piece)
        piece = b"x" * 200
        time.sleep(0.2)
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()
    print("asked", flush=True)
"""


class Targets(CulpritTest):
    def setUp(self):
        super().setUp()
        self.spin = self.compile_text(SPIN, "spin.c", "spin", "-O1", "-g")

    def start(self, *arguments):
        process = subprocess.Popen([str(word) for word in arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def seconds_of_children(self, process):
        """CPU time of what the process has started, by the kernel: not all of the time that passes
        is theirs where other tests run beside them."""
        ticks = 0
        for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            fields = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def seconds_of(self, profile, **having):
        report = self.report(profile)
        return sum(share for share in self.shares(report, **having).values()) * report["events"][0]["total"] / 1e9

    def assert_all_time_found(self, *options):
        """The kernel's account of a spinning process and ours agree, however busy the machine."""
        target = self.start(self.spin, 30)
        used = pathlib.Path(f"/proc/{target.pid}/schedstat")
        before, started = int(used.read_text().split()[0]), time.monotonic()
        profile, _ = self.record(*options, "-p", target.pid, "--duration", "1s")
        # The account is for the whole command, the recording for a second of it.
        outside = time.monotonic() - started - 1
        cpu_time = (int(used.read_text().split()[0]) - before) / 1e9
        self.assertIsNone(target.poll())
        found = self.seconds_of(profile, function="spin_here")
        self.assertLess(found, 1.02 * cpu_time + 0.02)
        self.assertGreater(found, 0.98 * cpu_time - outside - 0.02)

    def test_a_running_process(self):
        self.assert_all_time_found()

    def test_a_running_process_by_events_of_its_own(self):
        self.assert_all_time_found("--per-task")

    def start_family(self):
        """A shell whose child runs already, and the child of that; both spin."""
        script = self.folder / "family.sh"
        script.write_text(f"{self.spin} 30 & sh -c '{self.spin} 30 & echo ready; wait' & wait\n")
        shell = self.start("sh", script)
        # What stands in a process group of its own ends with it, whatever becomes of the test.
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in self.list_spinning(shell)])
        self.assertEqual("ready\n", shell.stdout.readline())
        # The shell has forked it by now; it may not have become the program yet.
        deadline = time.monotonic() + 20
        while len(self.list_spinning(shell)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(2, len(self.list_spinning(shell)))
        return shell

    def list_spinning(self, shell):
        pids, found = [shell.pid], []
        for pid in pids:
            try:
                text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
                pids += [int(child) for child in text.split()]
                if pathlib.Path(f"/proc/{pid}/comm").read_text() == "spin\n":
                    found.append(pid)
            except OSError:
                pass
        return found

    def test_children_that_run_already_are_followed(self):
        shell = self.start_family()
        spinning = set(self.list_spinning(shell))
        for option in ([], ["--per-task"]):
            profile, _ = self.record("-q", *option, "-p", shell.pid, "--duration", "1s")
            rows = self.report(profile, "--by", "process")["rows"]
            self.assertLessEqual(spinning, {row["process_id"] for row in rows})
            functions = self.shares(self.report(profile), "function")
            self.assertGreater(functions.get("spin_here", 0), 0.8)

    def test_stat_counts_children_that_run_already(self):
        shell = self.start_family()
        log = self.folder / "counts.json"

        def count(*options):
            self.culprit("stat", *options, "-e", "task-clock", "-p", shell.pid, "--duration", "1s",
                         "--format", "json", "--force", "--log", log)
            return json.loads(log.read_text())["counts"][0]["value"] or 0
        self.assertGreater(count(), 1e8)   # ns; the shell itself waits
        self.assertLess(count("--no-inherit"), 1e8)

    def test_a_process_that_ends_ends_the_recording(self):
        target = self.start(self.spin, 0.7)
        started = time.monotonic()
        self.record("-p", target.pid, status=0)
        self.assertLess(time.monotonic() - started, 5)

    def test_a_cgroup(self):
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        root = next((mount[1] for mount in mounts if mount[2] == "cgroup2"), None)
        if root is None or os.geteuid() != 0:
            self.skipTest("no cgroup2 mount, or not root")
        group = pathlib.Path(root) / f"culprit-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"cannot make a cgroup: {error}")
        self.addCleanup(group.rmdir)
        inside = self.start(self.spin, 30)
        outside = self.start(self.spin, 30)
        (group / "cgroup.procs").write_text(str(inside.pid))
        profile, _ = self.record("--cgroup", group.name, "--duration", "1s")
        pids = {row["process_id"] for row in self.report(profile, "--by", "process")["rows"]}
        self.assertIn(inside.pid, pids)
        self.assertNotIn(outside.pid, pids)
        inside.kill()
        inside.wait()

    @runs_alone("what other programs take")
    def test_the_whole_system(self):
        first, second = self.start(self.spin, 30), self.start(self.spin, 30)
        profile, _ = self.record("-a", "--duration", "1s")
        rows = self.report(profile, "--by", "process")["rows"]
        found = {row["process_id"] for row in rows}
        self.assertLessEqual({first.pid, second.pid}, found)

    def test_halted_is_the_idle_time_of_all_cpus(self):
        # Every CPU has something to do: whatever else runs, none is idle.
        for _ in range(os.cpu_count()):
            self.start(self.spin, 30)
        profile, _ = self.record("-a", "--duration", "1s")
        done = self.culprit("why", profile, "--format", "json")
        halted = json.loads(done.stdout)["halted"]
        self.assertEqual(halted["measured_by"], "idle_time")
        self.assertLess(halted["ratio"], 0.2)
        self.assertAlmostEqual(halted["capacity_seconds"], os.cpu_count(), delta=0.5)

    def test_of_one_program_nothing_is_halted(self):
        # Others may have run while it slept: wall time less its CPU time tells nothing.
        profile, _ = self.record("sleep", "0.3")
        done = self.culprit("why", profile, "--format", "json")
        self.assertIsNone(json.loads(done.stdout)["halted"])

    @runs_alone("how long it takes")
    def test_duration_and_delay(self):
        profile, _ = self.record("--delay", "0.5s", "--", self.spin, 1.5)
        self.assertAlmostEqual(self.seconds_of(profile, function="spin_here"), 1.0, delta=0.25)
        target_seconds = 30
        started = time.monotonic()
        self.record("--duration", "0.5s", "-a", output="b.culprit")
        self.assertLess(time.monotonic() - started, target_seconds / 2)

    def test_status_and_output_pass_through(self):
        profile, done = self.record("--", self.spin, 0.05, 42, status=42)
        profile, done = self.record("--", "sh", "-c", "echo out; echo err >&2; exit 3", status=3)
        self.assertEqual(done.stdout, "out\n")
        self.assertIn("err\n", done.stderr)

    def test_death_by_a_signal_passes_through(self):
        _, done = self.record("--", "sh", "-c", "kill -SEGV $$", status=-signal.SIGSEGV)

    def test_interrupt_ends_the_recording_properly(self):
        culprit = self.start(CULPRIT, "record", "-o", "c.culprit", "--", self.spin, 60)
        time.sleep(1.5)
        ran = self.seconds_of_children(culprit)
        culprit.send_signal(signal.SIGINT)
        culprit.wait(timeout=10)
        self.assertEqual(culprit.returncode, -signal.SIGINT)
        self.assertGreater(ran, 0.1)
        self.assertAlmostEqual(self.seconds_of(self.folder / "c.culprit", function="spin_here"),
                               ran, delta=0.3)
        ledger = self.report(self.folder / "c.culprit")["ledger"]
        self.assertNotIn("interrupted", json.dumps(ledger))

    def test_a_signal_ends_the_waiting_for_debuginfod(self):
        try:
            ctypes.CDLL("libdebuginfod.so.1")
        except OSError:
            self.skipTest("no libdebuginfod")
        stripped = self.compile_text(SPIN, "spin.c", "stripped", "-O1", "-s", "-Wl,--build-id")
        for ending in (signal.SIGINT, signal.SIGTERM):
            server = self.start(sys.executable, "-c", DRIP)
            environment = {**os.environ, "DEBUGINFOD_CACHE_PATH": str(self.folder / ending.name),
                           "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.stdout.readline().strip()}"}
            recorder = subprocess.Popen([CULPRIT, "record", stripped, "0.2"], cwd=self.folder,
                                        env=environment, stderr=subprocess.PIPE, text=True)
            self.addCleanup(recorder.wait)
            self.addCleanup(recorder.kill)
            self.assertTrue(select.select([server.stdout], [], [], 60)[0])
            started = time.monotonic()
            recorder.send_signal(ending)
            message = recorder.communicate(timeout=60)[1]
            self.assertLess(time.monotonic() - started, 10)   # of 30 s; a second where nothing else runs
            self.assertIn("culprit symbolize", message)
            self.assertEqual(0, recorder.returncode)

    def test_killed_recording_keeps_what_was_flushed(self):
        culprit = self.start(CULPRIT, "record", "-o", "k.culprit", "--", self.spin, 8)
        time.sleep(2)
        ran = self.seconds_of_children(culprit)  # flushed about a second later
        time.sleep(2)
        culprit.kill()
        culprit.wait()
        self.assertGreater(ran, 0.1)
        report = self.report(self.folder / "k.culprit", "--by", "module")
        self.assertGreater(report["events"][0]["total"] / 1e9, 0.9 * ran)
        self.assertIn("interrupted", json.dumps(report["ledger"]))
        self.culprit("symbolize", "k.culprit")
        self.assertGreater(self.seconds_of(self.folder / "k.culprit", function="spin_here"),
                           0.9 * ran)

    def test_an_old_profile_is_kept(self):
        profile, _ = self.record("--", self.spin, 0.1)
        first = profile.read_bytes()
        self.record("--", self.spin, 0.1)
        self.assertEqual((self.folder / "profile.culprit.old").read_bytes(), first)

    def test_program_alone_means_record_and_report(self):
        done = self.culprit(self.spin, 0.5)
        self.assertIn("spin_here", done.stdout)
        self.assertTrue((self.folder / "profile.culprit").exists())

    def test_stacks_have_callers(self):
        program = self.compile_text(
            "static volatile unsigned long sink;\n"
            "__attribute__((noinline)) void leaf(void) { for (long i = 0; i < 300000000; ++i) sink = i; }\n"
            "__attribute__((noinline)) void middle(void) { leaf(); sink = 1; }\n"
            "int main(void) { middle(); sink = 2; return 0; }\n",
            "stacks.c", "stacks", "-O0", "-g")
        profile, _ = self.record("-g", "--", program)
        folded = self.culprit("export", profile, "--to", "collapsed").stdout
        lines = [line for line in folded.splitlines() if ";main;middle;leaf " in line]
        total = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
        self.assertGreater(sum(int(line.rsplit(" ", 1)[1]) for line in lines) / total, 0.95)
        callees = self.culprit("report", profile, "--tree", "callees").stdout
        self.assertLess(callees.index("middle"), callees.index("leaf"))
        callers = self.culprit("report", profile, "--tree", "callers").stdout
        self.assertLess(callers.index("leaf"), callers.index("middle"))
