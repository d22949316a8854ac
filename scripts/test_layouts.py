#!/usr/bin/env python3
"""The whole-program tests under conditions that must not matter: environments of several sizes, a
folder with a long name, one CPU, busy CPUs, half the CPU time, an ordinary user.

    test_layouts.py [--only LAYOUT]... [--list] [SCRIPT...]

SCRIPT: names in tests/ without _test.py [those of the software PMU]. Prints what failed; a test
that fails under a layout and passes as usual changes its mind, and must be repaired: layout and
speed are part of a program's input, so it has to fix them or to allow for them. CULPRIT_BUILD names
the build folder [build/dev]. Exit status: 1 if a test failed.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
HARNESS = SOURCE / "tests/harness.py"
SIMULATED = ["accesses", "locality", "objects", "simulate", "simulate_analytic", "simulate_calls",
             "simulate_exact", "simulate_programs", "simulate_strings", "simulate_threads",
             "simulate_windows", "simulated_by_thread", "simulated_regions",
             "timer_simulate", "why"]
PASSED, SKIPPED = 0, 77
NOBODY = 65534


@dataclasses.dataclass
class Layout:
    """How a test runs: words before its command, its environment, what goes on beside it."""
    name: str
    words: tuple = ()
    padding_bytes: int = 0
    folder: str = ""          # below the temporary one, for all that the test makes
    beside: object = contextlib.nullcontext


@contextlib.contextmanager
def busy_cpus():
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


@contextlib.contextmanager
def half_the_time():
    """A cgroup that may use half of one CPU for each CPU; this process, and what it starts, is in
    it. Raises OSError where it cannot be made."""
    version_1 = pathlib.Path("/sys/fs/cgroup/cpu")
    group = (version_1 if version_1.is_dir() else pathlib.Path("/sys/fs/cgroup")) / "culprit_layouts"
    period_us = 20_000
    quota_us = period_us * os.cpu_count() // 2
    group.mkdir(exist_ok=True)
    try:
        if version_1.is_dir():
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {period_us}")
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


LAYOUTS = [
    *(Layout(f"environment of {kilobytes} kB more", padding_bytes=1024 * kilobytes)
      for kilobytes in range(4)),
    Layout("folder with a long name", folder="/".join(["a_folder_with_a_long_name" * 4] * 3)),
    Layout("one CPU", words=("taskset", "--cpu-list", "0")),
    Layout("busy CPUs", beside=busy_cpus),
    Layout("half the CPU time", beside=half_the_time),
    Layout("ordinary user", words=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                   "--clear-groups")),
]


def run_test(layout, script, test, folder):
    environment = {**os.environ, "TMPDIR": folder, "HOME": folder,
                   "CULPRIT_BUILD": os.environ.get("CULPRIT_BUILD", str(SOURCE / "build/dev")),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    if layout.padding_bytes:
        environment["CULPRIT_PADDING"] = "x" * layout.padding_bytes
    try:
        done = subprocess.run([*layout.words, sys.executable, HARNESS, script, test],
                              env=environment, timeout=900, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return 1, "no end in 900 s"
    return done.returncode, done.stdout


def list_tests(scripts):
    """(script, test, whether it runs alone)"""
    for name in scripts:
        script = SOURCE / f"tests/{name}_test.py"
        listed = subprocess.run([sys.executable, HARNESS, "--list", script], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        for line in listed.splitlines():
            test, _, alone = line.partition(" ")
            yield script, test, alone == "alone"


def run_layout(layout, tests):
    """The names of tests that failed, with the end of what they said, and how many were skipped."""
    with tempfile.TemporaryDirectory() as temporary, layout.beside():
        folder = pathlib.Path(temporary) / layout.folder
        folder.mkdir(parents=True, exist_ok=True)
        for made in (pathlib.Path(temporary), *folder.parents, folder):
            if made.is_relative_to(temporary):
                made.chmod(0o777)
        together = [one for one in tests if not one[2]]
        results = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results += pool.map(lambda one: run_test(layout, one[0], one[1], str(folder)), together)
        alone = [one for one in tests if one[2]]
        results += [run_test(layout, one[0], one[1], str(folder)) for one in alone]
    failed = [(script.stem, test, text[-1500:])
              for (script, test, _), (status, text) in zip(together + alone, results)
              if status not in (PASSED, SKIPPED)]
    return failed, sum(status == SKIPPED for status, _ in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="LAYOUT", help="part of a layout's name")
    parser.add_argument("--list", action="store_true", help="print the layouts")
    parser.add_argument("script", nargs="*", default=SIMULATED)
    asked = parser.parse_args()
    layouts = [one for one in LAYOUTS
               if not asked.only or any(word in one.name for word in asked.only)]
    if asked.list:
        print("\n".join(one.name for one in layouts))
        return 0
    tests = list(list_tests(asked.script))
    any_failed = False
    for layout in layouts:
        begin = time.monotonic()
        try:
            failed, skipped = run_layout(layout, tests)
        except OSError as error:
            print(f"{layout.name}: not tried: {error}", flush=True)
            continue
        any_failed |= bool(failed)
        print(f"{layout.name}: {len(tests) - len(failed) - skipped} passed, {skipped} skipped, "
              f"{len(failed)} failed ({time.monotonic() - begin:.0f} s)", flush=True)
        for script, test, text in failed:
            print(f"  {script} {test}\n    " + text.replace("\n", "\n    "), flush=True)
    return 1 if any_failed else 0


if __name__ == "__main__":
    sys.exit(main())
