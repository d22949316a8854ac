#!/usr/bin/env python3
"""A soak of `culprit daemon`: storms of short processes (a thousand a second, if the machine can), a hog
that takes a fifth of a CPU, programs that load and unload libraries, copies of programs that are
deleted, for S seconds. Fails if samples do not add up or memory grows.

    bench/daemon_soak.py build/release/culprit [--seconds 1800] [--epoch 60s]

Prints a line every minute: resident memory, names known, samples skipped and lost. At the end:
handled = idle + counted, each period handled or skipped, the sum over all epochs' files = what was
counted, and resident memory within 5 % (and 1 MB) of that after a sixth of the time. Needs root.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DLOPEN = r"""
#include <dlfcn.h>
int main(void) {
  for (int i = 0; i < 3000; ++i) {
    void* library = dlopen("libz.so.1", RTLD_NOW);
    if (library) dlclose(library);
  }
  return 0;
}
"""
# Starts so many processes, a thousand a second at most; the time between them goes into a loop.
STORM = r"""
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char** argv) {
  char* const words[] = {"true", 0};
  const double start = now();
  const int processes = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < processes; ++i) {
    pid_t pid;
    if (posix_spawn(&pid, "/bin/true", 0, 0, words, 0) == 0) waitpid(pid, 0, 0);
    const double ahead = start + i * 1e-3 - now();
    struct timespec rest = {0, (long)(ahead * 1e9)};
    if (ahead > 0) nanosleep(&rest, 0);
  }
  return 0;
}
"""
HOG = """
import time
while True:
    busy_until = time.monotonic() + 0.02
    while time.monotonic() < busy_until:
        pass
    time.sleep(0.08)
"""


def ask(culprit, database, *request):
    text = subprocess.run([culprit, "daemon", "--db", database, *request, "--format", "json"],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(text) if request[0] == "status" else text


PROCESSES = 500   # of a storm


def storm(folder, seconds):
    """Short processes, some of them of programs that are gone a moment later. Returns how many."""
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        copy = folder / f"copy{number}"
        shutil.copy("/bin/true", copy)
        subprocess.run([copy], check=False)
        copy.unlink()
        subprocess.run([folder / "storm", str(PROCESSES)], check=False)
        if number % 5 == 0:
            subprocess.run([folder / "loads"], check=False)
    return number * (PROCESSES + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--epoch", default="60s")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("needs root: it samples the whole system")
    culprit = arguments.culprit.resolve()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = pathlib.Path(name)
        (folder / "loads.c").write_text(DLOPEN)
        (folder / "storm.c").write_text(STORM)
        for program in ("loads", "storm"):
            subprocess.run(["gcc", "-O1", folder / f"{program}.c", "-o", folder / program], check=True)
        database = folder / "db"
        daemon = subprocess.Popen([culprit, "daemon", "--db", database, "--rate", "999", "--epoch",
                                   arguments.epoch], stderr=subprocess.PIPE, text=True)
        while "sampling the whole system" not in daemon.stderr.readline():
            if daemon.poll() is not None:
                sys.exit("the daemon does not start")
        hog = subprocess.Popen([sys.executable, "-c", HOG])
        began = time.monotonic()
        early = None
        storms = 0
        while time.monotonic() - began < arguments.seconds:
            storms += storm(folder, min(60, arguments.seconds / 10))
            status = ask(culprit, database, "status")
            totals = status["in_all"]
            passed = time.monotonic() - began
            print(f"{passed:6.0f} s  {status['resident_bytes'] / 1e6:6.2f} MB  {totals['handled']:,} samples, "
                  f"{totals['skipped']} skipped, {totals['lost']} lost, {totals['names_refused']} names "
                  f"refused, {storms:,} processes", flush=True)
            if early is None and passed > arguments.seconds / 6:
                early = status["resident_bytes"]
        hog.kill()
        hog.wait()
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
        report = json.loads(subprocess.run([culprit, "report", "--db", database, "--by", "module", "--format",
                                            "json"], capture_output=True, text=True, check=True).stdout)
        event = report["events"][0]["name"]
        in_files = sum(row["values"][event]["samples"] for row in report["rows"])
        counted = totals["table_hits"] + totals["table_misses"]
        grown = status["resident_bytes"] - early
        print(f"memory after a sixth {early / 1e6:.2f} MB, at the end {grown / 1e6:+.2f} MB; counted "
              f"{counted:,} before the end, {in_files:,} in the files")
        failures = []
        if totals["handled"] != totals["idle"] + counted:
            failures.append("handled samples are not idle + counted")
        if in_files < counted - totals["lost"]:
            failures.append("the files hold fewer samples than were counted")
        if grown > max(0.05 * early, 1e6):
            failures.append("memory grew")
        sys.exit("; ".join(failures))


if __name__ == "__main__":
    main()
