#!/usr/bin/env python3
"""What a recording does under a load that is too much for it: the whole system, sampled with
stacks 20,000 times a second on each CPU, beside six busy programs. Deadline and flushing must
hold, and no more may be lost than perf record loses on the same load.

    bench/overload.py build/release/culprit [SECONDS] [OTHER_CULPRIT...]

Needs root. Prints, for each program, how long it ran, its samples, and those lost."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

BUSY = "import zlib, re\nwhile True:\n  x = zlib.compress(repr(list(range(3000))).encode()); re.findall(r'(\\d)+1', x.hex())\n"


def run(words, folder):
    start = time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    return time.monotonic() - start, done


def measure_culprit(culprit, seconds, folder):
    file = folder / "load.culprit"
    elapsed, done = run([culprit, "record", "-a", "-F", "20000", "-g", "--duration", f"{seconds}s",
                         "--no-symbols", "-o", file], folder)
    shown = subprocess.run([culprit, "report", "--format", "json", file], capture_output=True, text=True)
    if shown.returncode != 0:
        return f"{culprit}: {elapsed:.1f} s, failed: {done.stderr}{shown.stderr}"
    report = json.loads(shown.stdout)
    samples = sum(event["samples"] for event in report["events"])
    ran = report["runs"][0]["duration_ns"] / 1e9
    amounts = report["ledger"]["amounts"] if "amounts" in report["ledger"] else report["ledger"]
    lost = next((amount["amount"] for amount in amounts if amount.get("key") == "lost_samples"), 0) \
        if isinstance(amounts, list) else amounts.get("lost_samples", 0)
    return f"{culprit}: {elapsed:.1f} s ({ran:.1f} s sampled), {samples:,} samples, {lost:,} lost"


def measure_perf(seconds, folder):
    elapsed, done = run(["perf", "record", "-a", "-F", "20000", "-g", "-e", "cpu-clock", "-o",
                         "load.perf", "--", "sleep", str(seconds)], folder)
    stats = subprocess.run(["perf", "report", "--stats", "-i", "load.perf"], cwd=folder,
                           capture_output=True, text=True).stdout
    find = lambda name: sum(map(int, re.findall(rf"{name} events:\s+(\d+)", stats)[:1]))
    return (f"perf record: {elapsed:.1f} s, {find('SAMPLE'):,} samples, {find('LOST'):,} LOST records, "
            f"{find('LOST_SAMPLES'):,} LOST_SAMPLES")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("seconds", type=int, nargs="?", default=20)
    parser.add_argument("others", type=pathlib.Path, nargs="*")
    asked = parser.parse_args()
    culprits = [one.resolve() for one in [asked.culprit, *asked.others]]
    seconds = asked.seconds
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(6)]
    try:
        with tempfile.TemporaryDirectory() as name:
            for culprit in culprits:
                print(measure_culprit(culprit, seconds, pathlib.Path(name)), flush=True)
            print(measure_perf(seconds, pathlib.Path(name)), flush=True)
    finally:
        for program in busy:
            program.kill()
            program.wait()


if __name__ == "__main__":
    main()
