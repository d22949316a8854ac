"""Programs, files and signals of people who mean no good, or of nobody in particular: what culprit
must not do for them, and what it must keep."""
import os
import pathlib
import re
import signal
import sqlite3
import stat
import subprocess
import time
import unittest

from harness import CULPRIT, CulpritTest, NOBODY, run

SPIN = """
#include <time.h>
static volatile unsigned long n;
__attribute__((noinline)) static void spin(double seconds) {
  struct timespec t;
  do { for (int i = 0; i < 100000; ++i) n = n + 1; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); }
  while (t.tv_sec + t.tv_nsec * 1e-9 < seconds);
}
"""
TRACED = SPIN + """
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>
static void ignore(int number) { (void)number; }
int main(int argc, char** argv) {
  if (argc > 1) { spin(0.4); return 7; }
  signal(SIGUSR1, ignore);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) return 1;
  raise(SIGUSR1);                                  /* a stop, for a tracer */
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) return 2;
  execl("/proc/self/exe", argv[0], "spin", (char*)0); /* another */
  return 3;
}
"""
STRICT = SPIN + """
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <unistd.h>
int main(void) {
  spin(0.3);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) return 1;
  for (unsigned long i = 0; i < 600000000; ++i) n = n + 1;
  syscall(SYS_exit, 0);
}
"""
needs_root = unittest.skipIf(os.geteuid() != 0, "needs root to be two users")


def varint(number):
    encoded = b""
    while number > 0x7f:
        encoded += bytes([number & 0x7f | 0x80])
        number >>= 7
    return encoded + bytes([number])


def constant_columns(**columns):
    """The packed columns of docs/format.md, each of one number for all rows."""
    packed = varint(len(columns))
    for name, number in columns.items():
        payload = varint(number)
        packed += varint(len(name)) + name.encode() + bytes([0, 0]) + varint(len(payload)) + payload
    return packed


class Strangers(CulpritTest):
    @needs_root
    def test_profiles_are_for_their_owners(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        profile, _ = self.record("--", "true")
        self.culprit("stat", "-o", "counts.culprit", "true")
        for path in (profile, self.folder / "counts.culprit"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
        done = self.culprit("report", profile, status=1, user=NOBODY, group=NOBODY)
        self.assertIn("chown", done.stderr)

    @needs_root
    def test_source_that_the_programs_owner_may_not_read_is_not_in_the_profile(self):
        secret = self.folder / "secret.txt"
        secret.write_text("the secret of root\n" * 40)
        secret.chmod(0o600)
        claims = f'#line 1 "{secret}"\n' + SPIN + "int main(void) { spin(0.3); return 0; }\n"
        program = self.compile_text(claims, "claims.c", "claims", "-g", "-O1")
        os.chown(program, NOBODY, NOBODY)
        profile, _ = self.record("--", program)
        self.assertNotIn("secret of root", self.culprit("annotate", "spin", profile).stdout)
        report = self.report(profile)
        self.assertEqual(report["ledger"]["sources_refused"], 1)
        os.chown(program, 0, 0)    # root's own program may name what root may read
        profile, _ = self.record("--", program)
        self.assertNotIn("sources_refused", self.report(profile)["ledger"])

    @needs_root
    def test_a_jit_map_of_somebody_else_is_not_believed(self):
        program = self.compile("shares.c", "shares", "-O2", "-pthread", "-ldl")
        child = subprocess.Popen([program, "2", "1", "jit"], stdout=subprocess.DEVNULL)
        path = pathlib.Path(f"/tmp/perf-{child.pid}.map")
        self.addCleanup(path.unlink, missing_ok=True)
        deadline = time.monotonic() + 10
        while not (path.exists() and path.read_text().endswith("\n")):
            self.assertLess(time.monotonic(), deadline, "the program wrote no map")
            time.sleep(0.01)
        os.chown(path, NOBODY, NOBODY)
        profile, _ = self.record("-p", child.pid)
        child.wait()
        report = self.report(profile)
        self.assertGreaterEqual(report["ledger"].get("jit_files_refused", 0), 1)
        self.assertFalse([row for row in report["rows"] if row.get("module", "").startswith("[jit]")])

    def test_perfs_words_run_no_programs(self):
        (self.folder / "FILE").write_text("a profile")
        marker = self.folder / "bin"
        marker.mkdir()
        for word in ("script", "sched", "evlist", "lock", "monitor"):
            fake = marker / word
            fake.write_text("#!/bin/sh\necho overwritten > FILE\n")
            fake.chmod(0o755)
            environment = {**os.environ, "PATH": f"{marker}:{os.environ['PATH']}"}
            done = self.culprit(word, "FILE", status=2, env=environment)
            self.assertIn(f"culprit -- {word} FILE", done.stderr)
            self.assertEqual((self.folder / "FILE").read_text(), "a profile")
        self.culprit("--", "script", "FILE", env=environment)
        self.assertEqual((self.folder / "FILE").read_text(), "overwritten\n")

    def test_a_stop_under_ptrace_is_not_the_end(self):
        program = self.compile_text(TRACED, "traced.c", "traced", "-O1")
        self.assertEqual(subprocess.run([program, "spin"]).returncode, 7)
        for engine in ("timer", "posix-timer"):
            with self.subTest(engine=engine):
                profile, _ = self.record("--engine", engine, "--", program, status=7,
                                         output=f"{engine}.culprit")
                self.assertGreater(self.shares(self.report(profile)).get("spin", 0), 0.5)
        self.culprit("stat", "-e", "task-clock", "--", program, status=7)

    def test_strict_seccomp_survives_the_timer_shim(self):
        program = self.compile_text(STRICT, "strict.c", "strict", "-O1")
        profile, _ = self.record("--engine", "posix-timer", "--", program)
        done = self.culprit("report", profile)
        self.assertIn("1 threads entered seccomp's strict mode", done.stdout)
        self.assertGreater(self.shares(self.report(profile)).get("spin", 0), 0.5)

    def test_a_small_profile_does_not_unfold_to_millions_of_rows(self):
        profile, _ = self.record("--no-symbols", "--", "true")
        self.need("zstd")
        all_ones = 0xffffffff
        kinds = {"stacks": dict(parent=all_ones, image=0, offset=16),
                 "sampled_accesses": dict(context=0, event=0, image=0, offset=16, source=1)}
        for kind, columns in kinds.items():
            raw = constant_columns(**columns)
            data = subprocess.run(["zstd", "-q", "-c", f"--stream-size={len(raw)}"], input=raw,
                                  stdout=subprocess.PIPE, check=True).stdout
            copy = self.folder / f"{kind}.culprit"
            copy.write_bytes(profile.read_bytes())
            database = sqlite3.connect(copy)
            for _ in range(7):
                database.execute("INSERT INTO segments(kind, rows, raw_bytes, data) VALUES(?,?,?,?)",
                                 (kind, 1_000_000, len(raw), data))
            database.commit()
            database.close()
            self.assertLess(copy.stat().st_size, 60_000)
            done, peak = self.culprit_measured("export", copy, "--to", "collapsed",
                                               cwd=self.folder)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("claims more than it can hold", done.stderr)
            self.assertLess(peak, 300 << 20)

    def test_a_closed_terminal_keeps_the_recording(self):
        program = self.compile_text(SPIN + "int main(void) { spin(30); return 0; }", "long.c",
                                    "long", "-O1")
        for number in (signal.SIGHUP, signal.SIGQUIT):
            for engine in ("timer", "posix-timer"):
                with self.subTest(signal=number, engine=engine):
                    profile = self.folder / f"{number}{engine}.culprit"
                    child = subprocess.Popen([CULPRIT, "record", "--engine", engine, "-o", profile,
                                              "--", program], cwd=self.folder,
                                             stderr=subprocess.PIPE)
                    time.sleep(1.5)
                    child.send_signal(number)
                    child.communicate(timeout=60)
                    self.assertEqual(child.returncode, -number)   # as the program ended
                    self.assertGreater(self.shares(self.report(profile)).get("spin", 0), 0.5)

    def test_a_hangup_is_ignored_where_it_was(self):
        program = self.compile_text(SPIN + "int main(void) { spin(1); return 0; }", "short.c",
                                    "short", "-O1")
        child = subprocess.Popen(["nohup", CULPRIT, "record", "--", program], cwd=self.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 stdin=subprocess.DEVNULL)
        time.sleep(0.5)
        child.send_signal(signal.SIGHUP)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)


class Advice(CulpritTest):
    """What is advised is not what is so already."""

    def setUp(self):
        super().setUp()
        self.level = pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text().strip()
        if os.geteuid() != 0:
            self.skipTest("only root can become nobody")
        self.folder.chmod(0o777)

    def refusal(self, *arguments):
        return self.culprit("record", *arguments, status=125, user=NOBODY, group=NOBODY).stderr

    def test_another_users_process(self):
        text = self.refusal("-p", "1", "--duration", "1s")
        self.assertNotIn(f"perf_event_paranoid={self.level}", text)
        self.assertIn("->", text)

    def test_the_whole_system(self):
        if int(self.level) < 1:
            self.skipTest("everybody may record everything here")
        text = self.refusal("-a", "--duration", "1s")
        self.assertIn("perf_event_paranoid=0", text)
        self.assertIn("->", text)

    def test_a_missing_cgroup(self):
        for name in ("no/such", "/no/such", "/sys/fs/cgroup/no/such"):
            done = self.culprit("record", "--cgroup", name, "--duration", "1s", status=125)
            self.assertIn("no/such'", done.stderr)
            self.assertIsNone(re.search("//|/sys/fs/[^']*/sys/fs/", done.stderr), done.stderr)
