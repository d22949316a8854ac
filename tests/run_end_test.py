"""How a run ends, whoever collects: with its processes, with its time, and when somebody insists."""
import json
import os
import signal
import subprocess
import time

from harness import CULPRIT, CulpritTest, run

NO_PIDFDS = """
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Like a kernel before 5.3, or a container's filter: there is no pidfd_open. Runs argv[1]... */
int main(int argc, char** argv) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  execvp(argv[1], argv + 1);
  return 98;
}
"""


class EndOfProcesses(CulpritTest):
    """Of a process that is not ours, on a machine that has no descriptors of processes."""

    def ends_with_its_process(self, *command):
        jail = self.compile_text(NO_PIDFDS, "jail.c", "jail", "-O1")
        if run(jail, "true", status=None).returncode == 99:
            self.skipTest("no seccomp filters here")
        with subprocess.Popen(["sleep", "1"]) as target:   # a zombie from its end to ours
            run(jail, CULPRIT, *command, "-p", target.pid, cwd=self.folder, timeout=30)

    def test_of_stat(self):
        self.ends_with_its_process("stat", "-e", "page-faults")

    def test_of_stat_with_long_intervals(self):
        self.ends_with_its_process("stat", "-I", "100000", "-e", "page-faults")

    def test_of_record(self):
        self.ends_with_its_process("record", "--no-symbols")


class SecondInterrupt(CulpritTest):
    """The first one is the command's, which ignores it; with the second nobody waits for it any
    longer. What it will return is not known then, and no profile may say that it was 0."""

    def interrupted(self, *options):
        """The run's row in the profile."""
        started = self.folder / "started"
        with subprocess.Popen([CULPRIT, *options, "-o", "p.culprit", "--", "sh", "-c",
                               "trap '' INT TERM; echo $$ > started.new; mv started.new started; "
                               "while true; do sleep 0.1; done"],
                              cwd=self.folder, stderr=subprocess.DEVNULL,
                              start_new_session=True) as culprit:
            try:
                while not started.exists() and culprit.poll() is None:
                    time.sleep(0.02)
                time.sleep(0.3)
                culprit.send_signal(signal.SIGTERM)
                time.sleep(0.3)
                self.assertIsNone(culprit.poll(), "it did not wait for its command")
                culprit.send_signal(signal.SIGTERM)
                culprit.wait(timeout=60)
            finally:
                os.killpg(culprit.pid, signal.SIGKILL)
        self.assertEqual(culprit.returncode, -signal.SIGINT)
        profile = json.loads(self.culprit("report", "p.culprit", "--format", "json").stdout)
        return profile["runs"][0]

    def assert_unknown(self, run_row):
        self.assertIsNone(run_row["wait_status"])

    def test_of_a_recording(self):
        self.assert_unknown(self.interrupted("record", "--no-symbols"))

    def test_of_timers_inside_the_program(self):
        self.assert_unknown(self.interrupted("record", "--no-symbols", "--engine", "posix-timer"))

    def test_of_counts(self):
        self.assert_unknown(self.interrupted("stat", "-e", "page-faults"))

    def test_of_a_simulation(self):
        self.need("qemu-x86_64" if os.uname().machine == "x86_64" else "qemu-aarch64")
        self.assert_unknown(self.interrupted("record", "--no-symbols", "--engine", "simulate",
                                             "--machine", "none"))


class EndOfTime(CulpritTest):
    """A command that outlives --duration: the run is as long as what was collected."""

    def duration_s(self, *options):
        self.culprit(*options, "--duration", "0.3s", "-o", "p.culprit", "--", "sleep", "1.5")
        profile = json.loads(self.culprit("report", "p.culprit", "--format", "json").stdout)
        self.assertEqual(profile["runs"][0]["wait_status"], 0)
        return profile["runs"][0]["duration_ns"] / 1e9

    def test_of_a_recording(self):
        self.assertLess(self.duration_s("record", "--no-symbols"), 1.2)

    def test_of_timers_inside_the_program(self):
        self.assertLess(self.duration_s("record", "--no-symbols", "--engine", "posix-timer"), 1.2)

    def test_of_counts(self):
        self.assertLess(self.duration_s("stat", "-e", "page-faults"), 1.2)

    def test_cpus_in_use_are_those_of_the_time_that_was_counted(self):
        """Of the whole system all CPUs are in use for task-clock: perf stat -a says so, too."""
        done = self.culprit("stat", "-a", "-e", "task-clock", "--duration", "0.3s", "--format", "csv",
                            "--", "sleep", "1.5")
        used = float(done.stderr.split(",")[6])
        self.assertAlmostEqual(used, os.cpu_count(), delta=0.25 * os.cpu_count())


class Delay(CulpritTest):
    def test_intervals_begin_after_it(self):
        """As those of perf stat -I -D do: none is of the time before."""
        done = self.culprit("stat", "-a", "-I", "100", "--delay", "0.5s", "--duration", "1s", "-e",
                            "task-clock", "--format", "csv")
        lines = [line.split(",") for line in done.stderr.splitlines() if ",task-clock," in line]
        self.assertGreaterEqual(len(lines), 4, done.stderr)
        self.assertLessEqual(len(lines), 6, done.stderr)
