#!/usr/bin/env python3
"""What `culprit daemon` costs, and what it leaves unknown, beside what else users would pick.

    bench/always_on.py build/release/culprit [--part unknown,cost,own,epoch,day,top,phase] [--seconds S]
                       [--pairs N] [--works loop,compiles] [--ways cycles,ring] [--beside OTHER]

  unknown   a mixed load (compiles, python, code made at run time, deleted programs, programs on
            an overlay in a mount namespace of their own) for S seconds under the daemon, then
            at most 300 under `culprit record -a` and `perf record -a`: samples without an image, by
            reason; what the daemon counted, skipped and lost; its time and memory per sample
  cost      tables after DCPI's 2 to 5: fixed work (a loop; storm: processes that end at once;
            compiles; python, xz, sqlite where they are) in interleaved rounds, each set-up once a
            round in a new order: bare, floor (the same interrupts, for which nothing is recorded), the
            daemon with time alone (cycles), with page faults (default), with sets of events that take
            turns (mux), with call stacks (stacks), ring (record -a), perf record -a, bpftrace's
            profile (if it is there). Slowdown against the bare run of its round: median, and a 95 %
            interval from order statistics; what a sample costs, how the table does, memory and disk,
            by workload
  own       the daemon's own time: each workload again and again for S seconds, --pairs times, in turns
            with the culprit --beside, if there is one; from ten seconds after it began, so that what
            a start takes is apart. CPU time by sample, in the daemon and in the kernel for it, and by
            drained entry; samples by entry
  day       144 epochs of ten minutes with 30,000 entries each, made by day_of_epochs: bytes, and
            wall and CPU seconds of each question (the first one makes the symbols, too)
  top       `culprit top`: from the start to the first rows; CPU time of a redraw every second,
            beside what sampling alone (record -a) takes
  phase     a program that works in step with the clock, 0.3 of each millisecond in one function and
            the rest in another, --pairs times for ten seconds: how often the share of time that
            the program measures itself lies within the report's 95 % interval, and chi squared
  epoch     bytes of the epochs that `unknown` left, and how long a report of them takes

All at 999 Hz on every CPU. Needs root. Run it on a machine that does nothing else.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from daemon_soak import STORM

RATE = 999
SPIN = r"""
#include <stdio.h>
#include <time.h>
int main(void) {
  double x = 1;
  for (long i = 0; i < ITERATIONS; ++i) x = x * 1.0000001 + 0.5;
  printf("%f\n", x);
  return 0;
}
"""
JIT = r"""
/* Code made at run time, without names: a loop in anonymous memory. */
#include <string.h>
#include <sys/mman.h>
int main(void) {
  /* mov ecx, edi; dec ecx; jnz -4; ret */
  static const unsigned char code[] = {0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
  void* at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(at, code, sizeof code);
  for (int i = 0; i < 60; ++i) ((void (*)(int))at)(20000000);
  return 0;
}
"""
SOURCE = """#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> f%d() { return {{"a", {1, 2}}, {"b", {3}}}; }
"""
SQL = ("with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) "
       "select sum(i * i % 7) from n;")
PYTHON = "sum(len(str(i)) for i in range(3_000_000)); import sqlite3; sqlite3.connect(':memory:')"


def run(*words, **options):
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in words], **options)
# The interrupts of sampling, without a ring or a program that would take the samples.
FLOOR = r"""
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 1000000000 / (argc > 1 ? atoi(argv[1]) : 1000);
  attr.sample_type = PERF_SAMPLE_IP;
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    if (syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0) < 0) return 1;
  }
  puts("begun");
  fflush(stdout);
  pause();
  return 0;
}
"""


# In step with a clock of 1,000 Hz. Both halves take equally long for a round, and are counted.
PHASES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) void in_first(volatile double* x) {
  for (int i = 0; i < 1000; ++i) *x = *x * 1.0000001 + 0.5;
}
__attribute__((noinline)) void in_second(volatile double* x) {
  for (int i = 0; i < 1000; ++i) *x = *x * 1.0000001 + 0.25;
}
int main(int argc, char** argv) {
  volatile double x = 1;
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  long spent[2] = {0, 0};  // a round of one takes longer where the machine interrupts it more often
  struct timespec before;
  clock_gettime(CLOCK_MONOTONIC, &before);
  while (clock() < seconds * CLOCKS_PER_SEC) {
    const int second = before.tv_nsec % 1000000 >= 300000;
    (second ? in_second : in_first)(&x);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    spent[second] += (now.tv_sec - before.tv_sec) * 1000000000L + now.tv_nsec - before.tv_nsec;
    before = now;
  }
  printf("%.6f\n", (double)spent[0] / (spent[0] + spent[1]));
  return 0;
}
"""


class Loads:
    """Programs to watch, in a folder of their own."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in (("spin", SPIN), ("jit", JIT)):
            (folder / f"{name}.c").write_text(text)
        run("gcc", "-O1", "-DITERATIONS=600000000L", folder / "spin.c", "-o", folder / "spin", check=True)
        run("gcc", "-O1", "-DITERATIONS=100000000L", folder / "spin.c", "-o", folder / "short", check=True)
        run("gcc", "-O1", folder / "jit.c", "-o", folder / "jit", check=True)
        for name, text in (("floor", FLOOR), ("storm", STORM), ("phases", PHASES)):
            (folder / f"{name}.c").write_text(text)
            run("gcc", "-O1", folder / f"{name}.c", "-o", folder / name, check=True)
        for i in range(6):
            (folder / f"source{i}.cc").write_text(SOURCE % i)
        self.text = folder / "text"
        self.text.write_text("".join(f"{i} line {i * i % 9973}\n" for i in range(450_000)))
        self.overlay = folder / "overlay"
        for part in ("lower", "upper", "work", "merged"):
            (self.overlay / part).mkdir(parents=True)
        shutil.copy(folder / "short", self.overlay / "lower/inside")

    def compile_once(self):
        for i in range(6):
            run("g++", "-O1", "-c", self.folder / f"source{i}.cc", "-o", self.folder / "o.o")

    def deleted(self):
        program = self.folder / f"deleted{random.random()}"
        shutil.copy(self.folder / "short", program)
        process = subprocess.Popen([program], stdout=subprocess.DEVNULL)
        time.sleep(0.05)
        program.unlink()
        process.wait()

    def replaced(self):
        program = self.folder / "upgraded"
        shutil.copy(self.folder / "short", self.folder / "new")
        os.replace(self.folder / "new", program)
        run(program)

    def in_overlay(self):
        o = self.overlay
        run("unshare", "-m", "sh", "-c",
            f"mount -t overlay none -o lowerdir={o}/lower,upperdir={o}/upper,workdir={o}/work "
            f"{o}/merged && cp {o}/merged/inside {o}/merged/copied && {o}/merged/inside && "
            f"{o}/merged/copied")

    def mixed(self, seconds):
        """Two streams of work, so that both of two CPUs are busy."""
        end = time.monotonic() + seconds
        other = None
        while time.monotonic() < end:
            if other is None or other.poll() is not None:
                other = subprocess.Popen([sys.executable, "-c", PYTHON])
            self.compile_once()
            self.deleted()
            self.replaced()
            self.in_overlay()
            run(self.folder / "jit")
            for _ in range(50):
                run("/bin/true")
        if other is not None:
            other.wait()


class Tools:
    def __init__(self, culprit, folder, name="this"):
        self.culprit, self.folder, self.name = culprit, folder, name

    def daemon(self, *options):
        database = self.folder / "db"
        process = subprocess.Popen([self.culprit, "daemon", "--db", database, "--rate", str(RATE), *options],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while "sampling the whole system" not in process.stderr.readline():
            if process.poll() is not None:
                sys.exit("the daemon does not start")
        return process

    def floor(self):
        process = subprocess.Popen([self.folder / "floor", str(RATE)], stdout=subprocess.PIPE, text=True)
        if not process.stdout.readline():
            sys.exit("time cannot be sampled on all CPUs here")
        return process

    def ring(self):
        return subprocess.Popen([self.culprit, "record", "-a", "-F", str(RATE), "-q", "-o",
                                 self.folder / "ring.culprit"], stdout=subprocess.DEVNULL)

    def perf(self):
        return subprocess.Popen(["perf", "record", "-B", "-q", "-a", "-e", "cpu-clock", "-F", str(RATE), "-o",
                                 self.folder / "perf.data"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def bpftrace(self):
        return subprocess.Popen(["bpftrace", "-e", f"profile:hz:{RATE} {{ @[pid, ustack(1)] = count(); }}"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def status(self):
        text = subprocess.check_output([self.culprit, "daemon", "status", "--db", self.folder / "db",
                                        "--format", "json"])
        return json.loads(text)

    @staticmethod
    def stop(process):
        process.send_signal(signal.SIGINT)
        process.wait()


def modules_of(culprit, *what):
    text = subprocess.check_output([culprit, "report", *map(str, what), "--by", "module", "--format", "json"])
    report = json.loads(text)
    event = report["events"][0]["name"]
    rows = {row["module"]: row["values"][event]["samples"] for row in report["rows"]}
    return rows, sum(rows.values())


def print_unknown(name, rows, total):
    unknown = {module: samples for module, samples in rows.items() if module.startswith("[unknown")}
    nameless = rows.get("[anonymous]", 0)
    print(f"\n{name}: {total:,} samples; without an image {sum(unknown.values())}"
          f" ({100 * sum(unknown.values()) / max(total, 1):.3f} %)"
          f", code without a file or name {nameless} ({100 * nameless / max(total, 1):.2f} %)")
    for module, samples in unknown.items():
        print(f"  {samples:8,}  {module}")


def measure_unknown(tools, loads, seconds):
    daemon = tools.daemon()
    loads.mixed(seconds)
    status = tools.status()
    totals = status["in_all"]
    tools.stop(daemon)
    counted = totals["table_hits"] + totals["table_misses"]
    expected = totals["clock_ns"] / (1e9 / status["rate_hz"])
    print_unknown("daemon", *modules_of(tools.culprit, "--db", tools.folder / "db"))
    print(f"  conservation: handled {totals['handled']:,} + skipped {totals['skipped']:,} of about "
          f"{expected:,.0f} periods; handled = idle {totals['idle']:,} + counted {counted:,}; lost "
          f"{totals['lost']}")
    print(f"  names refused {totals['names_refused']}; searches refused {totals['range_refusals']}"
          f" of {totals['range_searches']:,} ({totals['unknown_locked']} of them never resolved)")
    print(f"  table: {100 * totals['table_hits'] / counted:.1f} % hits, "
          f"{100 * totals['table_evictions'] / counted:.2f} % evictions, "
          f"{counted / max(totals['entries'], 1):.2f} samples an entry; ranges known "
          f"{100 * totals['range_hits'] / max(totals['range_hits'] + totals['range_searches'], 1):.1f} %")
    print(f"  handler {totals['handler_ns'] / max(totals['handler_timed'], 1):.0f} ns a sample; daemon "
          f"{status['cpu_ns'] / totals['handled']:.0f} ns a sample; resident "
          f"{status['resident_bytes'] / 1e6:.1f} MB (peak {status['peak_bytes'] / 1e6:.1f}), kernel "
          f"{status['kernel_bytes'] / 1e6:.1f} MB")
    ring = tools.ring()
    time.sleep(1)
    loads.mixed(min(seconds, 300))
    tools.stop(ring)
    print_unknown("record -a", *modules_of(tools.culprit, tools.folder / "ring.culprit"))
    if shutil.which("perf"):
        perf = tools.perf()
        time.sleep(1)
        loads.mixed(min(seconds, 300))
        tools.stop(perf)
        text = subprocess.run(["perf", "script", "-i", tools.folder / "perf.data", "-F", "ip,dso"],
                              capture_output=True, text=True, check=False).stdout
        lines = [line for line in text.splitlines() if line.strip()]
        unknown = sum("([unknown])" in line for line in lines)
        nameless = sum("//anon" in line or "(/tmp/perf-" in line for line in lines)
        print(f"\nperf record -a: {len(lines):,} samples; without an image {unknown} "
              f"({100 * unknown / max(len(lines), 1):.3f} %), code without a file or name {nameless} "
              f"({100 * nameless / max(len(lines), 1):.2f} %)")


def measure_epochs(tools):
    files = sorted((tools.folder / "db/epochs").glob("*.culprit"))
    facts = sorted((tools.folder / "db/facts").glob("*.culprit"))
    print(f"\nepochs: {[path.stat().st_size for path in files]} bytes; facts of {len(facts)} images: "
          f"{sum(path.stat().st_size for path in facts):,} bytes")
    began = time.monotonic()
    modules_of(tools.culprit, "--db", tools.folder / "db", "--since", "24h")
    print(f"report --since 24h: {time.monotonic() - began:.2f} s")


def timed(*words):
    """Wall and CPU seconds of a command and its children."""
    before, began = os.times(), time.monotonic()
    done = run(*words)
    after = os.times()
    cpu = (after.children_user + after.children_system
           - before.children_user - before.children_system)
    return time.monotonic() - began, cpu, done.returncode


def measure_day(tools, maker):
    database = tools.folder / "day"
    libraries = [path for path in ("/usr/bin/python3.11", "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                   "/usr/bin/git", "/usr/bin/perl", "/usr/bin/gdb")
                 if os.path.exists(path)]
    run(maker, database, 144, 30000, *libraries, check=True)
    size = sum(path.stat().st_size for path in (database / "epochs").iterdir())
    print(f"\na day: 144 epochs, {size / 1e6:.1f} MB without facts")
    span = ["--db", database, "--since", "24h"]
    for name, words in (("report, first", ["report", *span]), ("report", ["report", *span]),
                        ("report --by comm", ["report", *span, "--by", "comm"]),
                        ("annotate main", ["annotate", "main", *span]), ("why", ["why", *span]),
                        ("top-instructions", ["top-instructions", "libc.so.6", *span]),
                        ("export collapsed", ["export", "--to", "collapsed", *span]),
                        ("diff by comm", ["diff", *span, "--to", "12h", "--by", "comm"]),
                        ("variance by comm", ["variance", *span, "--by", "comm"])):
        wall, cpu, status = timed(tools.culprit, *words)
        print(f"  {name:18} {wall:6.2f} s wall {cpu:6.2f} s CPU" + (f"  FAILED {status}" if status else ""))


def measure_top(tools):
    import pty
    import select
    first = []
    for _ in range(5):
        began = time.monotonic()
        child, terminal = pty.fork()
        if child == 0:
            os.environ["TERM"] = "linux"
            os.execv(tools.culprit, [str(tools.culprit), "top"])
        seen = b""
        while b"CPU %" not in seen and time.monotonic() < began + 20:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 65536)
        first.append(time.monotonic() - began)
        # The terminal is read, or the program waits for us.
        settled = time.monotonic() + 5
        while time.monotonic() < settled:
            if select.select([terminal], [], [], 0.1)[0]:
                os.read(terminal, 65536)
        stat = pathlib.Path(f"/proc/{child}/stat")
        before = sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13]))
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                os.read(terminal, 65536)
        after = sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13]))
        percent = (after - before) / os.sysconf("SC_CLK_TCK") / 10 * 100
        os.write(terminal, b"q")
        os.waitpid(child, 0)
        os.close(terminal)
        print(f"  first rows after {first[-1]:.2f} s; then {percent:.1f} % of a CPU")
    _, cpu, _ = timed("timeout", "-s", "INT", "10", tools.culprit, "record", "-a", "-q", "--no-symbols",
                      "--force", "-o", tools.folder / "beside.culprit")
    print(f"top: first rows {statistics.median(first):.2f} s (median of 5); record -a alone: "
          f"{cpu * 10:.1f} % of a CPU")


def measure_phase(tools, loads, times):
    print("\nin step with the clock: share of time by the program, share reported with its 95 % interval")
    within, chi_squared = 0, 0
    for _ in range(times):
        shutil.rmtree(tools.folder / "db", ignore_errors=True)
        daemon = tools.daemon("--no-symbols")
        share = float(subprocess.check_output([loads.folder / "phases", "10"]))
        tools.stop(daemon)
        text = subprocess.check_output([tools.culprit, "report", "--db", tools.folder / "db", "--by", "function",
                                        "--module", "phases", "--format", "json"])
        rows = {row["function"]: row["values"]["cpu-clock"] for row in json.loads(text)["rows"]}
        first, second = rows["in_first"], rows["in_second"]
        both = first["value"] + second["value"]
        reported = first["value"] / both
        error = ((second["value"] * first["error"]) ** 2 + (first["value"] * second["error"]) ** 2) ** 0.5 / both ** 2
        within += abs(reported - share) < 1.96 * error
        chi_squared += ((reported - share) / error) ** 2
        print(f"  {share:.4f}  {reported:.4f} +- {1.96 * error:.4f}")
    print(f"  within the interval: {within} of {times}; chi squared {chi_squared:.1f} with {times} degrees of freedom")


def interval(values):
    """The median, and an interval that holds it in 95 of 100 cases, by ranks (n >= 6)."""
    ordered = sorted(values)
    n = len(ordered)
    low = max(int(n / 2 - 0.98 * n ** 0.5), 0)
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


class DaemonTotals:
    """What the daemon said of itself at the end of each round of one workload in one set-up."""

    def __init__(self):
        self.statuses, self.disk, self.resident = [], [], []

    def note(self, tools):
        self.statuses.append(tools.status())

    def watch(self, pid, is_over):
        """Resident bytes of the daemon, ten times a second."""
        while not is_over.wait(0.1):
            pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
            self.resident.append(pages * os.sysconf("SC_PAGESIZE"))

    def note_database(self, folder):
        self.disk.append(sum(path.stat().st_size for path in (folder / "db/epochs").glob("*")))

    def sum(self, field):
        return sum(status["in_all"][field] for status in self.statuses)

    def handler_parts(self):
        """Nanoseconds of a handler that found its entry, had a new one, searched the list of mappings."""
        misses, searches = self.sum("handler_timed_misses"), self.sum("handler_timed_searches")
        misses_ns, searches_ns = self.sum("handler_misses_ns"), self.sum("handler_searches_ns")
        hits = self.sum("handler_timed") - misses - searches
        hits_ns = self.sum("handler_ns") - misses_ns - searches_ns
        return (f"{hits_ns / max(hits, 1):6.0f} {misses_ns / max(misses, 1):6.0f} "
                f"{searches_ns / max(searches, 1):6.0f} {100 * searches / max(self.sum('handler_timed'), 1):5.1f}")

    def cost_row(self):
        counted = max(self.sum("table_hits") + self.sum("table_misses"), 1)
        handled = max(self.sum("handled"), 1)
        return (f"{100 * self.sum('table_hits') / counted:7.1f} {100 * self.sum('table_evictions') / counted:7.2f} "
                f"{self.sum('handler_ns') / max(self.sum('handler_timed'), 1):9.0f} {self.handler_parts()} "
                f"{sum(status['cpu_ns'] for status in self.statuses) / handled:9.0f} "
                f"{self.sum('handled'):10,}")

    def memory_row(self):
        mean = statistics.mean
        return (f"{mean(self.resident) / 1e6:9.1f} "
                f"{max(s['peak_bytes'] for s in self.statuses) / 1e6:7.1f} "
                f"{self.statuses[0]['kernel_bytes'] / 1e6:7.1f} {mean(self.disk) / 1e3:9.0f}")


def list_works(loads):
    """Name, what it is, and how to run it once."""
    works = {"loop": ("one loop of additions", lambda: run(loads.folder / "spin")),
             "storm": ("1,000 processes that end at once", lambda: run(loads.folder / "storm", 1000)),
             "compiles": ("six files by g++: short processes", loads.compile_once),
             "python": ("conversions to text, in one process",
                        lambda: run(sys.executable, "-c", PYTHON))}
    if shutil.which("xz"):
        works["xz"] = ("a text of 8 MB", lambda: run("xz", "-1", "-k", "-c", loads.text))
    if shutil.which("sqlite3"):
        works["sqlite"] = ("sums over a million rows", lambda: run("sqlite3", ":memory:", SQL))
    return works


def measure_cost(tools, loads, pairs, only, only_ways):
    """DCPI's Tables 2 to 5. Each workload once in each set-up, in a new order every round."""
    quick = "--no-symbols"   # nobody asks for a report
    ways = {"bare": None, "floor": tools.floor, "cycles": lambda: tools.daemon(quick),
            "default": lambda: tools.daemon(quick, "-e", "page-faults"),
            "mux": lambda: tools.daemon(quick, "-e", "page-faults,{context-switches},{major-faults}"),
            "stacks": lambda: tools.daemon(quick, "--stacks", "19"),
            "ring": tools.ring}
    if shutil.which("perf"):
        ways["perf"] = tools.perf
    if shutil.which("bpftrace"):
        ways["bpftrace"] = tools.bpftrace
    ways = {way: tool for way, tool in ways.items() if way == "bare" or not only_ways or way in only_ways}
    daemons = [way for way in ("cycles", "default", "mux", "stacks") if way in ways]
    works = {name: work for name, work in list_works(loads).items() if not only or name in only}
    base, slowdown, totals = {}, {}, {}
    for name, (_, work) in works.items():
        base[name] = []
        for way in ways:
            slowdown[name, way] = []
            totals[name, way] = DaemonTotals()
        for _ in range(pairs):
            took = {}
            order = list(ways)
            random.shuffle(order)
            for way in order:
                tool = ways[way]() if ways[way] else None
                time.sleep(1.5)   # compiling, start-up
                is_over = threading.Event()
                watcher = threading.Thread(target=totals[name, way].watch,
                                           args=(tool.pid if way in daemons else 0, is_over))
                if way in daemons:
                    watcher.start()
                began = time.monotonic()
                work()
                took[way] = time.monotonic() - began
                if way in daemons:
                    is_over.set()
                    watcher.join()
                    totals[name, way].note(tools)
                if tool:
                    tools.stop(tool)
                if way in daemons:
                    totals[name, way].note_database(tools.folder)
                shutil.rmtree(tools.folder / "db", ignore_errors=True)
            base[name].append(took["bare"])
            for way in ways:
                slowdown[name, way].append(100 * (took[way] / took["bare"] - 1))
    print(f"\nworkloads, {pairs} rounds: wall seconds without any profiler, median and 95 %")
    for name, (what, _) in works.items():
        print("  {:9} {:7.2f}  {:6.2f} to {:6.2f}  {}".format(name, *interval(base[name]), what))
    print("\nslowdown [%] against the bare run of its round, median and 95 %: interrupts alone (floor), the daemon "
          "with\ntime alone (cycles), page faults (default), sets that take turns (mux), 19 stacks a second (stacks);"
          " others\nfor comparison")
    for name in works:
        for way in list(ways)[1:]:
            print("  {:9} {:9} {:6.2f}  {:6.2f} to {:6.2f}".format(name, way, *interval(slowdown[name, way])))
    print("\nper sample: hits and evictions of the table [%], handler [ns]: all, entry found, entry new, list of "
          "mappings\nsearched, and how many did [%]; daemon [ns]; samples handled")
    for name in works:
        for way in daemons:
            print(f"  {name:9} {way:9} {totals[name, way].cost_row()}")
    print("\ndaemon: resident, mean and peak [MB], tables in the kernel [MB]; a round's epochs [kB]")
    for name in works:
        for way in daemons:
            print(f"  {name:9} {way:9} {totals[name, way].memory_row()}")


def split_ms(pid):
    """CPU time of a process in itself and in the kernel [ms]."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    tick_ms = 1000 / os.sysconf("SC_CLK_TCK")
    return int(fields[11]) * tick_ms, int(fields[12]) * tick_ms


def work_for(work, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        work()


def measure_own(tools, loads, seconds, pairs, only):
    print("\ndaemon's own time: of its first ten seconds [ms]; then by sample [ns]: all, in itself, in the kernel; "
          "by\nentry [ns]; samples by entry; load")
    for name, (_, work) in list_works(loads).items():
        if only and name not in only:
            continue
        for _ in range(pairs):
            for tool in tools:
                daemon = tool.daemon("--no-symbols")
                work_for(work, 10)
                first, first_ms = tool.status(), split_ms(daemon.pid)
                work_for(work, seconds)
                last, last_ms = tool.status(), split_ms(daemon.pid)
                tool.stop(daemon)
                shutil.rmtree(tool.folder / "db", ignore_errors=True)
                passed = {field: last["in_all"][field] - first["in_all"][field] for field in ("handled", "entries")}
                handled, entries = max(passed["handled"], 1), max(passed["entries"], 1)
                cpu_ns = last["cpu_ns"] - first["cpu_ns"]
                own, kernel = (1e6 * (b - a) / handled for a, b in zip(first_ms, last_ms))
                print(f"  {name:9} {tool.name:7} {first['cpu_ns'] / 1e6:6.0f} {cpu_ns / handled:8.0f} {own:6.0f} "
                      f"{kernel:6.0f} {cpu_ns / entries:8.0f} {handled / entries:7.1f} {os.getloadavg()[0]:6.1f}",
                      flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--part", default="unknown,epoch,cost")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--beside", type=pathlib.Path, help="of own: another culprit, in turns with it")
    parser.add_argument("--works", default="", help="of cost and own: only these workloads")
    parser.add_argument("--ways", default="", help="of cost: only these set-ups, beside bare")
    arguments = parser.parse_args()
    # A shell starts what it does not wait for with it ignored, which what we start would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.geteuid() != 0:
        sys.exit("needs root: it samples the whole system")
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} CPUs, load {load:.1f} before we begin"
          + ("; this machine is busy: compare, do not quote" if load > 0.5 else ""))
    with tempfile.TemporaryDirectory(prefix="always-on-") as name:
        folder = pathlib.Path(name)
        loads = Loads(folder)
        tools = Tools(arguments.culprit.resolve(), folder)
        parts = arguments.part.split(",")
        if "unknown" in parts:
            measure_unknown(tools, loads, arguments.seconds)
        if "epoch" in parts:
            measure_epochs(tools)
        if "day" in parts:
            measure_day(tools, arguments.culprit.resolve().parent / "day_of_epochs")
        if "top" in parts:
            measure_top(tools)
        if "own" in parts:
            others = [Tools(arguments.beside.resolve(), folder, "beside")] if arguments.beside else []
            measure_own([*others, tools], loads, arguments.seconds, arguments.pairs,
                        [word for word in arguments.works.split(",") if word])
        if "phase" in parts:
            measure_phase(tools, loads, arguments.pairs)
        if "cost" in parts:
            shutil.rmtree(folder / "db", ignore_errors=True)
            measure_cost(tools, loads, arguments.pairs, *([word for word in text.split(",") if word]
                                                          for text in (arguments.works, arguments.ways)))


if __name__ == "__main__":
    main()
