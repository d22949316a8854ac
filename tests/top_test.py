"""`culprit top`: its text for scripts, and its screens in a terminal that a program emulates (pyte)."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import harness

try:
    import pyte
except ImportError:
    pyte = None

# Three quarters of the time in one function, a quarter in the other.
BURN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static volatile double sink;
__attribute__((noinline)) void burn_most(double until) {
  double x = 1;
  do { for (int i = 0; i < 100000; ++i) x = x * 1.0000001 + 0.5; } while (now() < until);
  sink = x;
}
__attribute__((noinline)) void burn_rest(double until) {
  double x = 1;
  do { for (int i = 0; i < 100000; ++i) x = x * 1.0000001 + 0.5; } while (now() < until);
  sink = x;
}
int main(int argc, char** argv) {
  const double end = argc > 1 ? atof(argv[1]) : 1;
  double at = 0;
  while (at < end) {
    burn_most(at += 0.03);
    burn_rest(at += 0.01);
  }
  puts("burnt");
  return 0;
}
"""

ROW = re.compile(r"^ *(?P<rate>[\d.]+) +(?P<low>[\d.]+) - +(?P<high>[\d.]+) +(?P<share>[\d.]+) % +"
                 r"(?P<samples>[\d,]+)  (?P<name>.*)$")


def rows_of(text):
    """The rows of a table: {name: (rate, low, high, share, samples)}."""
    rows = {}
    for line in text.splitlines():
        found = ROW.match(line.rstrip())
        if found:
            rows[found["name"].strip()] = (
                float(found["rate"]), float(found["low"]), float(found["high"]),
                float(found["share"]), int(found["samples"].replace(",", "")))
    return rows


class Screen:
    """A program in a terminal of its own."""

    def __init__(self, command, columns=100, lines=24, term="linux"):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.start = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM=term, COLUMNS="", LINES="")
            del os.environ["COLUMNS"], os.environ["LINES"]
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execv(str(command[0]), [str(word) for word in command])
        self.raw = b""
        self.status = None

    def read(self, seconds):
        """Takes what it writes for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.terminal], [], [], left)[0]:
                break
            try:
                data = os.read(self.terminal, 65536)
            except OSError:     # it has ended
                self.wait()
                return
            self.raw += data
            self.stream.feed(data)

    def wait_for(self, words, seconds=20):
        """Until the screen has them; what the screen is then."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            if all(re.search(word, self.text()) for word in words):
                return self.text()
            if self.status is not None:
                break
        raise AssertionError(f"no {words} on the screen:\n{self.text()}")

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def press(self, keys):
        os.write(self.terminal, keys)

    def wait(self):
        if self.status is None:
            self.status = os.waitpid(self.pid, 0)[1]
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()
        os.close(self.terminal)


class Top(harness.CulpritTest):
    def burner(self):
        return self.compile_text(BURN, "burn.c", "burn", "-O1", "-g")

    def start_burner(self, seconds=60):
        running = subprocess.Popen([self.burner(), str(seconds)], stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        return running

    def screen(self, *arguments, **options):
        if pyte is None:
            self.skipTest("no python3-pyte on this machine")
        screen = Screen([harness.CULPRIT, "top", *arguments], **options)
        self.addCleanup(screen.close)
        return screen


class Batch(Top):
    def test_shares_of_a_program_are_within_their_intervals(self):
        done = self.culprit("top", "--batch", "--by", "function", "-w", "0", "-d", "30s", "--",
                            self.burner(), 2)
        rows = rows_of(done.stdout)
        most = next(rows[name] for name in rows if name.startswith("burn_most"))
        rest = next(rows[name] for name in rows if name.startswith("burn_rest"))
        share = most[4] / (most[4] + rest[4])
        # 2,000 samples: one standard error is 1 %; four of them.
        self.assertAlmostEqual(share, 0.75, delta=0.04)
        for rate, low, high, _, samples in (most, rest):
            self.assertLess(low, rate)
            self.assertLess(rate, high)
            # Poisson: 95 % are about +-1.96 / sqrt(samples).
            self.assertAlmostEqual((high - low) / rate, 2 * 1.96 / samples ** 0.5, delta=0.03)
        self.assertIn("ENDED", done.stdout)
        self.assertIn("burnt", done.stdout)   # the program's own

    def test_one_process_by_number(self):
        running = self.start_burner()
        done = self.culprit("top", "-b", "-n", "2", "-d", "500ms", "-p", running.pid)
        self.assertEqual(len(re.findall("^culprit top", done.stdout, re.M)), 2)
        self.assertEqual(list(rows_of(done.stdout)), [f"burn ({running.pid})"])
        self.assertIsNone(running.poll())   # it runs on

    def test_the_whole_system(self):
        if os.geteuid() != 0:
            self.skipTest("the whole system needs root")
        running = self.start_burner()
        done = self.culprit("top", "-b", "-n", "1", "-d", "2s", "--limit", 0)
        rows = rows_of(done.stdout)
        self.assertIn(f"burn ({running.pid})", rows)
        self.assertIn("whole system", done.stdout)
        # All of it: the shares add up, but for what each is rounded by.
        self.assertAlmostEqual(sum(row[3] for row in rows.values()), 100, delta=0.05 * len(rows) + 0.1)

    def test_anybody_may_watch_their_own_processes(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be somebody else")
        running = subprocess.Popen([self.burner(), "60"], stdout=subprocess.DEVNULL,
                                   user=harness.NOBODY)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        done = self.culprit("top", "-b", "-n", "1", "-d", "2s", user=harness.NOBODY,
                            status=None)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"burn ({running.pid})", rows_of(done.stdout))
        if "whole system" not in done.stdout:
            self.assertIn("processes of yours", done.stdout)

    def test_wrong_words(self):
        for words, said in ((["-n", "3"], "for --batch"), (["-b", "-w", "2m"], "at most 60s"),
                            (["-b", "-d", "1ms"], "200ms"), (["-b", "--by", "line"], "not one of"),
                            (["-b", "-p", "1", "-a"], "only one of them")):
            with self.subTest(words=words):
                done = self.culprit("top", *words, status=2)
                self.assertIn(said, done.stderr)
        for words, said in ((["-b", "-p", "999999999"], "no such process"),
                            (["-b", "--", "/no/such/program"], "no/such/program"),
                            ([], "no terminal")):
            with self.subTest(words=words):
                done = self.culprit("top", *words, status=None)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


class Terminal(Top):
    def test_keys_lead_from_processes_to_instructions_and_back(self):
        running = self.start_burner()
        screen = self.screen("-p", running.pid)
        screen.wait_for([rf"burn \({running.pid}\)", "CPU %", "q: quit"])
        screen.press(b"\r")
        screen.wait_for([rf"of burn \({running.pid}\)", "burn_most", "burn_rest"])
        screen.press(b"\r")
        text = screen.wait_for(["burn_most in burn", "instruction", "burn.c:", "mulsd|fmul"])
        rows = rows_of(text)
        self.assertGreater(sum(row[3] for row in rows.values()), 50)
        screen.press(b"\x1b")
        screen.wait_for(["burn_rest"])
        screen.press(b"\x7f")
        screen.wait_for(["^processes|\nprocesses"])
        screen.press(b"q")
        self.assertEqual(os.waitstatus_to_exitcode(screen.wait()), 0)

    def test_help_pause_sort_and_window(self):
        running = self.start_burner()
        screen = self.screen("-p", running.pid, "--by", "function")
        screen.wait_for(["burn_most"])
        screen.press(b"h")
        screen.wait_for(["pgup", "any key"])
        screen.press(b"x")
        screen.wait_for(["CPU %"])
        screen.press(b"w")
        screen.press(b"w")
        screen.wait_for(["since the start"])
        screen.press(b" ")
        before = screen.wait_for(["PAUSED"])
        screen.read(1.5)
        self.assertEqual(screen.text(), before)
        screen.press(b" s")
        text = screen.wait_for([r"function\n.*(burn_|\[kernel|main|now)"])
        names = [row.split("  ")[0] for row in rows_of(text)]  # without modules: two may have one
        self.assertEqual(names, sorted(names))
        self.assertNotIn("PAUSED", text)

    def test_terminal_is_given_back(self):
        screen = self.screen("--", self.burner(), 60, term="xterm")
        screen.wait_for(["burn"])
        screen.press(b"q")
        self.assertEqual(os.waitstatus_to_exitcode(screen.wait()), 0)
        self.assertIn(b"\x1b[?1049h", screen.raw)   # the other screen of an xterm
        screen.read(1)
        self.assertIn(b"\x1b[?1049l", screen.raw)
        mode = termios.tcgetattr(screen.terminal)
        self.assertTrue(mode[3] & termios.ECHO and mode[3] & termios.ICANON)

    def test_a_programs_output_comes_at_the_end(self):
        screen = self.screen("--", self.burner(), 1)
        screen.wait_for(["ENDED"])
        self.assertNotIn("burnt", screen.text())
        screen.press(b"q")
        screen.wait_for(["burnt"])
        self.assertEqual(os.waitstatus_to_exitcode(screen.wait()), 0)

    def test_signals_end_it_as_a_key_does(self):
        running = self.start_burner()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.subTest(signal=number):
                screen = self.screen("-p", running.pid, term="xterm")
                screen.wait_for(["CPU %"])
                os.kill(screen.pid, number)
                screen.read(3)
                self.assertEqual(os.waitstatus_to_exitcode(screen.wait()), 0)
                self.assertIn(b"\x1b[?1049l", screen.raw)

    def test_size_of_the_terminal_may_change(self):
        running = self.start_burner()
        screen = self.screen("-p", running.pid)
        screen.wait_for(["q: quit"])
        for columns, lines in ((40, 10), (3, 2), (120, 40)):
            screen.screen.resize(lines, columns)
            fcntl.ioctl(screen.terminal, termios.TIOCSWINSZ,
                        struct.pack("HHHH", lines, columns, 0, 0))
            os.kill(screen.pid, signal.SIGWINCH)
            screen.read(0.4)
        screen.wait_for([rf"burn \({running.pid}\)", "q: quit"])

    def test_unknown_terminals_are_refused(self):
        screen = self.screen("-p", str(os.getpid()), term="no-such-terminal")
        screen.read(5)
        self.assertEqual(os.waitstatus_to_exitcode(screen.wait()), 1)
        self.assertIn("TERM=no-such-terminal", re.sub(r"\s+", " ", screen.text()))


if __name__ == "__main__":
    unittest.main()
