"""Calls and branches of simulated programs: who called whom how often, against callgrind and known
counts, and what exports and reports show of it."""
import collections
import os
import re
import signal
import subprocess
import time

import harness
import valgrind_counts
from harness import run
from simulate_test import ENVIRONMENT, Simulated as Base


def read_calls(path):
    """({(object, caller, callee): calls}, {(object, address, target): calls}) of a file in
    callgrind's format, whose names and positions may be compressed."""
    names = collections.defaultdict(dict)
    by_name, by_address = collections.Counter(), collections.Counter()
    now, address, calls = {}, 0, None

    def name(kind, text):
        match = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        if not match:
            return text
        if match.group(2) is not None:
            names[kind][match.group(1)] = match.group(2)
        return names[kind][match.group(1)]

    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        key, _, value = line.partition("=")
        if key in ("ob", "fn"):
            now[key] = name(key, value)
        elif key in ("cob", "cfn"):
            now[key] = name(key[1:], value)
        elif key == "calls":
            count, target, *_ = value.split()
            calls = int(count), int(target, 16)
        elif re.match(r"0x[0-9a-f]+ ", line):
            address = int(line.split()[0], 16)
            if calls is None:
                continue
            by_name[now["ob"], now["fn"], now["cfn"]] += calls[0]
            if now.get("cob", now["ob"]) == now["ob"]:
                by_address[now["ob"], address, calls[1]] += calls[0]
            calls = None
            now.pop("cob", None)
    return by_name, by_address


def plain(name):
    """Without parameters, and without the number that callgrind gives recursive calls."""
    return re.sub(r"\(.*|'\d+$", "", name)


class Calls(Base):
    def build(self, *flags):
        return self.compile("calls.cc", "calls", "-O1", "-g", "-fno-optimize-sibling-calls", *flags,
                            compiler="g++")

    def by_callgrind(self, *command):
        valgrind_counts.run_callgrind(self.folder, command, ENVIRONMENT)
        return read_calls(self.folder / "callgrind.out")

    def exported(self, profile, format, *options):
        path = self.folder / f"out.{format}"
        self.culprit("export", profile, "--to", format, "-o", path, "--force", *options)
        return path

    def check_branches(self, program, *arguments):
        """Each call within the program's own code, by the addresses of its ends, is as often among
        our branches as callgrind has it."""
        self.need("valgrind")
        profile, _ = self.simulate(program, *arguments,
                                   env=valgrind_counts.seen_environment(ENVIRONMENT))
        name = os.path.basename(os.path.realpath(program))
        ours = {}
        for line in self.exported(profile, "bolt", "--image", name).read_text().splitlines():
            kind, start, end, count, *_ = line.split()
            if kind == "B" and not (start + end).count("X"):
                ours[int(start, 16), int(end, 16)] = int(count)
        _, calls = self.by_callgrind(program, *arguments)
        theirs = {key[1:]: count for key, count in calls.items()
                  if os.path.realpath(key[0]) == os.path.realpath(program)}
        bias = next(bias for bias in valgrind_counts.BIASES
                    if any((start - bias, end - bias) in ours for start, end in theirs))
        theirs = {(start - bias, end - bias): count for (start, end), count in theirs.items()}
        different = {(hex(start), hex(end)): (ours.get((start, end), 0), count)
                     for (start, end), count in theirs.items()
                     if ours.get((start, end), 0) != count}
        self.assertEqual([], sorted(different.items())[:12], f"{len(different)} of {len(theirs)}")
        return len(theirs), sum(theirs.values())

    def test_calls_are_as_written(self):
        profile, _ = self.simulate(self.build())
        calls, _ = read_calls(self.exported(profile, "callgrind"))
        known = {("dispatch", "even"): 2000, ("dispatch", "odd"): 1000,
                 ("draw", "Square::area"): 400, ("draw", "Circle::area"): 100,
                 ("fib", "fib"): 21890, ("main", "fib"): 1, ("main", "outside"): 11,
                 ("jump", "fail"): 100, ("fail", "fail"): 300, ("jump", "even"): 100,
                 ("unwind", "throw_deep"): 50, ("throw_deep", "throw_deep"): 100,
                 ("unwind", "odd"): 50, ("other", "work"): 70, ("switch_stacks", "work"): 70}
        found = collections.Counter()
        for (_, caller, callee), count in calls.items():
            found[plain(caller), plain(callee)] += count
        self.assertEqual(known, {pair: found[pair] for pair in known})

    def test_calls_are_callgrinds(self):
        pairs, calls = self.check_branches(self.build())
        self.assertGreater(pairs, 15)
        self.assertGreater(calls, 25000)

    def test_real_programs_call_as_in_callgrind(self):
        text = self.text()
        for program, *arguments in (("/bin/gzip", "-c", text), ("/usr/bin/sort", "-k2", text)):
            with self.subTest(program=program):
                pairs, _ = self.check_branches(program, *arguments)
                self.assertGreater(pairs, 50)

    def test_executions_by_runs_are_those_counted(self):
        """The straight runs between branches, gone over instruction by instruction, are the
        executions counted."""
        profile, _ = self.simulate(self.build())
        counted = self.counts(profile, "module", "function", event="instructions")
        done = self.report(profile, "--columns", "executions", "--by", "module", "--by", "function")
        runs = {(row["module"], row.get("function")): row["values"]["lbr:instructions"]
                for row in done["rows"] if "lbr:instructions" in row["values"]}
        names = [key for key in counted if key[0].endswith("/calls") and key[1]]
        self.assertGreater(len(names), 10)
        for key in names:
            with self.subTest(function=key[1]):
                self.assertEqual(counted[key], int(runs[key]["value"]))
        self.assertEqual("counted", runs[names[0]].get("provenance", "counted"))

    def test_region_holds_whatever_its_calls_jump_over(self):
        """longjmp, exceptions and other stacks: what is called from the region is counted, what
        comes after its return is not."""
        profile, _ = self.simulate(self.build(), options=["--roi", "region"])
        calls, _ = read_calls(self.exported(profile, "callgrind"))
        found = collections.Counter()
        for (_, caller, callee), count in calls.items():
            found[plain(caller), plain(callee)] += count
        self.assertEqual(100, found["jump", "even"])
        self.assertEqual(50, found["unwind", "odd"])
        self.assertEqual(70, found["switch_stacks", "work"])
        self.assertEqual(70, found["other", "work"])
        self.assertEqual(0, found["main", "outside"] + found["outside", "even"] + found["fib", "fib"])

    def test_call_graph_shows_counts(self):
        profile, _ = self.simulate(self.build())
        dot = self.exported(profile, "dot").read_text()
        node = {match.group(2): match.group(1)
                for match in re.finditer(r'(f\d+) \[label="([\w:]+)', dot)}
        self.assertIn('label="calls counted: ', dot)
        self.assertRegex(dot, rf'{node["dispatch"]} -> {node["even"]} \[label="2.00? k"')


ROUNDS = r"""
#include <fcntl.h>
#include <unistd.h>
/* Writes how many thousand rounds are done, each time to the start of the file. */
__attribute__((noinline)) static unsigned long work(unsigned long x) {
  for (int i = 0; i < 1000; ++i) __asm__ volatile("add $1, %0" : "+r"(x));
  return x;
}
int main(int argc, char** argv) {
  const int file = open(argv[argc - 1], O_WRONLY | O_CREAT, 0600);
  unsigned long x = 0;
  for (unsigned rounds = 1;; ++rounds) {
    for (int i = 0; i < 100; ++i) x = work(x);
    pwrite(file, &rounds, sizeof rounds, 0);
  }
}
"""


class Killed(Base):
    """kill -9: of culprit, which cannot do anything about it; of the program."""

    def start(self, *options):
        program = self.compile_text(ROUNDS, "rounds.c", "rounds", "-O1", "-g")
        self.done = self.folder / "done"
        self.profile = self.folder / "profile.culprit"
        culprit = subprocess.Popen(
            [harness.CULPRIT, "record", "-o", self.profile, "--engine", "simulate", *options,
             "--", program, self.done], cwd=self.folder, env=ENVIRONMENT,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, culprit)
        return culprit

    def end(self, culprit):
        """With all that it has started."""
        try:
            os.killpg(culprit.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        culprit.wait()
        culprit.stderr.close()

    def rounds(self):
        """Of 100 calls, as the program says."""
        data = self.done.read_bytes() if self.done.exists() else b""
        return int.from_bytes(data[:4], "little")

    def wait_for(self, condition, what):
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.05)

    def is_at_rest(self):
        """Whether nobody is in the middle of saving it."""
        size = self.profile.stat().st_size
        time.sleep(0.3)
        return self.profile.stat().st_size == size

    def counted_rounds(self):
        """By the calls of work() that are in the profile; and its ledger, notes included."""
        report = self.report(self.profile, "--columns", "executions", "--by", "function")
        work = next(row for row in report["rows"] if row.get("function") == "work")
        return int(work["values"]["lbr:calls"]["value"]) / 100, report

    # Takes some seconds: what is saved is saved every two seconds at most.
    def test_counts_survive_their_recorder(self):
        culprit = self.start("--locality", "l1")
        self.wait_for(self.rounds, "the program runs")
        size = self.profile.stat().st_size
        self.wait_for(lambda: self.profile.stat().st_size > size and self.is_at_rest(),
                      "something is saved")
        saved = self.rounds()
        culprit.kill()
        culprit.wait()
        self.culprit("symbolize", self.profile)
        counted, report = self.counted_rounds()
        self.assertGreater(counted, saved / 5)
        self.assertLess(counted, saved + 1)
        self.assertEqual(1, report["ledger"]["interrupted"])
        self.assertIn("locality is lost", str(report))

    def test_counts_survive_the_program(self):
        culprit = self.start()
        self.wait_for(self.rounds, "the program runs")
        simulated = int(run("pgrep", "-f", "-P", culprit.pid, "qemu-").stdout.split()[0])
        before = self.rounds()
        os.kill(simulated, signal.SIGKILL)
        self.assertEqual(-signal.SIGKILL, culprit.wait(60))
        counted, report = self.counted_rounds()
        self.assertGreaterEqual(counted, before)
        self.assertLessEqual(counted, self.rounds() + 1)
        self.assertNotIn("interrupted", report["ledger"])
