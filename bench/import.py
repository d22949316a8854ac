#!/usr/bin/env python3
"""culprit import and report against perf report, on the same perf.data files.

    bench/import.py CULPRIT [--samples 1000000] [--runs 5] [--srcline-samples 2000]

Records the whole system while several programs work (cpu-clock, one sample per 40 us and
CPU), once for so many samples and once for a tenth of them, and runs, interleaved:

    perf report --stdio                  culprit import + culprit report
    cat FILE > /dev/null                 culprit import --no-symbols

Prints medians of the wall times [s], peak memory [MB], ratios, and how memory grows when
the file does. The programs are Debian's, without debug information: a libc6-dbg, and what perf
keeps in ~/.debug, are hidden from both, where this user may (unshare); how many images had
some nevertheless is printed. Then the same with a program that has debug information (the
PROGRAM of --debug, another build of culprit with -g; by default this CULPRIT, whose release has
none) and whatever debug packages are installed, and by source line, where perf is given few
samples, because it asks addr2line for each address.
"""
import argparse
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PERIOD_NS = 40_000
CPUS = os.cpu_count()


# Run by a root of its own file systems: nothing else is changed.
HIDING = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /usr/lib/debug && exec "$@"', "sh"]


def find_hiding():
    """What to put before a command so that it sees no debug files; [] if that cannot be done."""
    if not os.path.isdir("/usr/lib/debug") or not os.listdir("/usr/lib/debug"):
        return []
    if shutil.which("unshare") is None:
        return []
    done = subprocess.run([*HIDING, "true"], capture_output=True, check=False)
    return HIDING if done.returncode == 0 else []


def count_images_with_lines(path):
    database = sqlite3.connect(path)
    with_lines = database.execute("SELECT count(*) FROM image_facts WHERE has_lines").fetchone()[0]
    images = database.execute("SELECT count(*) FROM image_facts").fetchone()[0]
    return with_lines, images


def timed(command, folder, patience_seconds=3600, may_fail=False):
    """(wall seconds, peak MB, CPU seconds) of a command; None if it `may_fail` and does."""
    with open(folder / "errors", "w") as errors:
        start = time.monotonic()
        child = subprocess.Popen(command, shell=isinstance(command, str), cwd=folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=errors, start_new_session=True)
        # Not Popen's own wait, which knows nothing of memory. The pid is ours until then.
        impatience = threading.Timer(patience_seconds, os.killpg, (child.pid, 9))
        impatience.start()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        impatience.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0 and may_fail:
        return None
    if child.returncode != 0:
        sys.exit(f"{command} failed:\n{(folder / 'errors').read_text()[-2000:]}")
    return seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def record(path, seconds, work, folder):
    """perf record of everything while `work`, a shell command, repeats itself."""
    loop = subprocess.Popen(["sh", "-c", f"while :; do {work}; done"], cwd=folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True)
    try:
        subprocess.run(["perf", "record", "-q", "-N", "-a", "-e", "cpu-clock", "-c",
                        str(PERIOD_NS), "-o", path, "--", "sleep", str(seconds)], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        os.killpg(loop.pid, 9)
        loop.wait()


def record_alone(path, seconds, work, folder):
    """The same of `work` alone."""
    subprocess.run(["perf", "record", "-q", "-N", "-e", "cpu-clock", "-c", str(PERIOD_NS), "-o", path,
                    "--", "timeout", str(seconds), "sh", "-c", f"while :; do {work}; done"],
                   cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def count_samples(path, folder):
    text = subprocess.run(["perf", "report", "--stats", "-i", path], cwd=folder, check=True,
                          capture_output=True, text=True).stdout
    return next(int(line.split()[2]) for line in text.splitlines() if "SAMPLE events:" in line)


def compare(title, rivals, runs, folder):
    """Runs each command of {name: command} in turn, `runs` times; prints and returns medians."""
    load = os.getloadavg()[0]
    results = {name: [] for name in rivals}
    for _ in range(runs):
        for name, command in rivals.items():
            results[name].append(timed(command, folder))
    print(f"\n{title} (median of {runs}; load before {load:.1f})")
    medians = {}
    for name, pairs in results.items():
        medians[name] = (statistics.median(p[0] for p in pairs), max(p[1] for p in pairs),
                         statistics.median(p[2] for p in pairs))
        low, high = min(p[0] for p in pairs), max(p[0] for p in pairs)
        print(f"  {name:34} {medians[name][0]:8.3f} s ({low:.3f} to {high:.3f})"
              f" {medians[name][2]:8.3f} s of CPU {medians[name][1]:7.1f} MB")
    return medians


def both(culprit, path):
    return (f"'{culprit}' import -q -o p.culprit {path} && "
            f"'{culprit}' report --limit 0 p.culprit")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--srcline-samples", type=int, default=2000)
    parser.add_argument("--debug", type=pathlib.Path)
    options = parser.parse_args()
    culprit = options.culprit.resolve()
    debug = (options.debug or culprit).resolve()
    if shutil.which("perf") is None:
        sys.exit("no perf on this machine: install linux-perf")

    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        rate = CPUS * 1e9 / PERIOD_NS
        os.environ["HOME"] = name  # without a ~/.debug
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
        (folder / "data").write_bytes(os.urandom(1 << 20) + b"many words of text " * (1 << 18))
        work = ("gzip -k -c data & xz -1 -k -c data & sort -R data | sha256sum & "
                f"{python} -c 'print(sum(hash(str(i)) for i in range(400000)))' & "
                "awk '{n += length($0)} END {print n}' data & wait")
        for path, seconds in (("big", options.samples * 1.8 / rate),
                              ("small", options.samples * 0.18 / rate)):
            record(path, seconds, work, folder)
        samples = count_samples("big", folder)
        size = (folder / "big").stat().st_size
        print(f"{samples} samples, {size / 1e6:.1f} MB, {CPUS} CPUs")
        if samples < options.samples:
            sys.exit("too few samples: is the machine very busy?")

        hiding = find_hiding()
        found = compare("Without debug information",
                        {"perf report --stdio": [*hiding, "perf", "report", "--stdio", "-i", "big"],
                         "culprit import + report": [*hiding, "sh", "-c", both(culprit, "big")],
                         "culprit import --no-symbols":
                             [culprit, "import", "-q", "--no-symbols", "-o", "n.culprit", "big"],
                         "cat": ["cat", "big"]}, options.runs, folder)
        with_lines, images = count_images_with_lines(folder / "p.culprit")
        print(f"  {with_lines} of {images} images had debug information all the same")
        ours, perfs = found["culprit import + report"], found["perf report --stdio"]
        reading = found["culprit import --no-symbols"]
        print(f"  time: {perfs[0] / ours[0]:.2f} times as fast as perf (CPU time "
              f"{perfs[2] / ours[2]:.2f}); memory: "
              f"{ours[1] / perfs[1]:.2f} of perf's; reading {size / 1e6 / reading[0]:.0f} MB/s, "
              f"cat {size / 1e6 / found['cat'][0]:.0f} MB/s")
        few = compare("A tenth of it",
                      {"culprit import + report": [*hiding, "sh", "-c", both(culprit, "small")]},
                      options.runs, folder)["culprit import + report"]
        print(f"  memory at ten times the samples: {ours[1] / few[1]:.2f} times")

        # A program with debug information: this one, at work on the big file.
        debug_work = f"'{debug}' import -q -o d.culprit big; '{debug}' report d.culprit"
        record("debug", options.samples * 0.2 / rate, debug_work, folder)
        found = compare(f"With debug information ({debug.name}), "
                        f"{count_samples('debug', folder)} samples",
                        {"perf report --stdio": "perf report --stdio -i debug",
                         "culprit import": [culprit, "import", "-q", "-o", "p.culprit", "debug"],
                         "culprit import + report": both(culprit, "debug")},
                        options.runs, folder)
        with_lines, images = count_images_with_lines(folder / "p.culprit")
        perfs, ours = found["perf report --stdio"], found["culprit import"]
        print(f"  {with_lines} of {images} images had line tables; import takes "
              f"{ours[0] / perfs[0]:.2f} of perf report's time ({ours[2] / perfs[2]:.2f} of its CPU "
              f"time), with a report {found['culprit import + report'][0] / perfs[0]:.2f}")
        if not with_lines:
            print("  no debug information was there: --debug PROGRAM names one that has some")

        # The program alone: perf's addr2line stops at names that are no files, as the memfd has
        # that some container was started from.
        record_alone("lines", max(0.1, options.srcline_samples * PERIOD_NS / 1e9), debug_work, folder)
        lines = count_samples("lines", folder)
        by_line = "perf report --stdio -s srcline -i lines"
        perf = timed(by_line, folder, 600, may_fail=True)
        if perf is None:
            print(f"\n{by_line} failed: no comparison\n{(folder / 'errors').read_text()[-500:]}")
            return
        perf_lines = perf[0]
        our_lines = timed(f"'{culprit}' import -q -o p.culprit debug && '{culprit}' report "
                          "--by line --limit 0 p.culprit", folder)[0]
        all_samples = count_samples("debug", folder)
        version = subprocess.run(["addr2line", "--version"], capture_output=True, text=True,
                                 check=False).stdout.splitlines()[:1]
        print(f"\nBy source line: perf {perf_lines:.2f} s for {lines} samples (its addr2line: "
              f"{version[0] if version else 'none'}), culprit {our_lines:.2f} s for {all_samples}\n"
              f"  {perf_lines / lines / (our_lines / all_samples):.0f} times as fast, by sample")


if __name__ == "__main__":
    main()
