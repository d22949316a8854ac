#!/usr/bin/env python3
"""What counted executions are worth as a compiler's profile: the gain of programs that are rebuilt
with AutoFDO and BOLT profiles of one simulated run, beside the gain of instrumented FDO.

    bench/fdo.py CULPRIT [--only NAME] [--runs 15] [--rounds 1]

Each program of bench/fdo/ is built by clang at -O2 and

    instrumented   -fprofile-generate, a run, llvm-profdata, -fprofile-use
    counted        culprit record --engine simulate, export --to autofdo, -fprofile-sample-use
    time           culprit record, export --to autofdo: refused where there are no branch records
    bolt           culprit record --engine simulate, export --to bolt, perf2bolt --pa, llvm-bolt
    counted+bolt   the two one after the other

All train with the same short run. Measured is the CPU time of a longer run, by turns: the ratio to
the plain build's is the median over turns, with its 95 % interval (of order statistics); the gain is
1 - ratio. The last line has the geometric means, and which part of the instrumented gain counted
executions reach. Every build must print what the plain one does.

Needs clang-19, llvm-profdata-19, llvm-bolt-19 (package bolt-19); what is missing is said and left out.
Absolute times depend on the machine and on what runs beside it; ratios less so.
"""
import argparse
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = {"interpreter": (20, 700), "tokens": (20, 1500), "tree": (200, 6000)}  # rounds
FLAGS = ["-O2", "-g", "-fdebug-info-for-profiling", "-Wl,--emit-relocs", "-Wl,--build-id"]
BOLT = ["-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions",
        "-split-all-cold", "-dyno-stats"]
PERF2BOLT = pathlib.Path("/usr/lib/llvm-19/bin/perf2bolt")


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in words)}: {done.stderr[-2000:]}")
    return done.stdout


def cpu_seconds(program, rounds):
    """Of one run, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = run(program, rounds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, text


class Builds:
    def __init__(self, culprit, source, folder, training):
        self.culprit, self.source, self.folder, self.training = culprit, source, folder, training

    def clang(self, name, *flags):
        made = self.folder / name
        run("clang-19", *FLAGS, *flags, self.source, "-o", made)
        return made

    def plain(self):
        return self.clang("plain")

    def instrumented(self):
        teacher = self.clang("teacher", f"-fprofile-generate={self.folder}/raw")
        run(teacher, self.training)
        run("llvm-profdata-19", "merge", "-o", self.folder / "instrumented.profdata",
            *sorted((self.folder / "raw").glob("*.profraw")))
        return self.clang("instrumented", f"-fprofile-use={self.folder}/instrumented.profdata")

    def export(self, program, format):
        profile = self.folder / f"{program.name}.culprit"
        if not profile.exists():
            run(self.culprit, "record", "-q", "--engine", "simulate", "--machine", "none", "-o",
                profile, "--", program, self.training)
        target = self.folder / f"{program.name}.{format}"
        run(self.culprit, "export", "--to", format, "--image", program.name, "-o", target, profile)
        return target

    def counted(self):
        profile = self.export(self.folder / "plain", "autofdo")
        return self.clang("counted", f"-fprofile-sample-use={profile}")

    def bolted(self, program):
        events = self.export(program, "bolt")
        data, made = self.folder / f"{program.name}.fdata", self.folder / f"{program.name}-bolt"
        run(PERF2BOLT, "-p", events, "--pa", "-o", data, program)
        run("llvm-bolt-19", program, "-o", made, f"-data={data}", *BOLT)
        return made

    def all(self):
        made = {"plain": self.plain()}
        made["instrumented"] = self.instrumented()
        made["counted"] = self.counted()
        if PERF2BOLT.exists() and shutil.which("llvm-bolt-19"):
            made["bolt"] = self.bolted(made["plain"])
            made["counted+bolt"] = self.bolted(made["counted"])
        else:
            print("llvm-bolt-19 is missing (package bolt-19): left out")
        return made

    def time_alone(self):
        """What the export says of a profile of time."""
        profile = self.folder / "time.culprit"
        run(self.culprit, "record", "-q", "-o", profile, "--", self.folder / "plain", self.training)
        done = subprocess.run([self.culprit, "export", "--to", "autofdo", "-o",
                               self.folder / "time.autofdo", profile], capture_output=True, text=True)
        return " ".join(done.stderr.split()) if done.returncode else "exported"


def median_interval(values):
    """The median, and order statistics around it that hold the true one in 95 % of cases."""
    values = sorted(values)
    n = len(values)
    below, k = 0.0, 0
    while k < n // 2 and below + math.comb(n, k) / 2 ** n <= 0.025:
        below += math.comb(n, k) / 2 ** n
        k += 1
    low = max(k - 1, 0)
    return statistics.median(values), values[low], values[n - 1 - low]


def measure(builds, rounds, runs):
    """{name: ratios to the plain build of the same turn}"""
    ratios = {name: [] for name in builds if name != "plain"}
    expected = None
    for turn in range(runs):
        seconds = {}
        for name in sorted(builds, key=lambda one: hash((turn, one))):
            seconds[name], text = cpu_seconds(builds[name], rounds)
            expected = expected or text
            if text != expected:
                sys.exit(f"{name} prints {text!r}, not {expected!r}")
        for name, of_all in ratios.items():
            of_all.append(seconds[name] / seconds["plain"])
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--only", choices=sorted(PROGRAMS))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--rounds", type=float, default=1, help="times as long runs")
    asked = parser.parse_args()
    culprit = asked.culprit.resolve()
    sources = pathlib.Path(__file__).resolve().parent / "fdo"
    gains = {}
    print(f"{'program':12} {'build':13} {'ratio':>6}  {'95 %':>13} {'gain':>7}")
    for name, (training, rounds) in PROGRAMS.items():
        if asked.only and name != asked.only:
            continue
        with tempfile.TemporaryDirectory(prefix="culprit-fdo-") as folder:
            builds = Builds(culprit, sources / f"{name}.c", pathlib.Path(folder), training)
            made = builds.all()
            measured = measure(made, int(rounds * asked.rounds), asked.runs)
            for build, ratios in measured.items():
                middle, low, high = median_interval(ratios)
                gains.setdefault(build, []).append(middle)
                print(f"{name:12} {build:13} {middle:6.3f}  {low:.3f}-{high:.3f} "
                      f"{100 * (1 - middle):+6.1f} %", flush=True)
            print(f"{name:12} {'time':13} {builds.time_alone()}", flush=True)
    means = {build: math.exp(statistics.fmean(map(math.log, of_all)))
             for build, of_all in gains.items()}
    for build, mean in means.items():
        print(f"{'all':12} {build:13} {mean:6.3f}  {'':13} {100 * (1 - mean):+6.1f} %")
    whole = 1 - means["instrumented"]
    if whole > 0:
        print(f"counted executions reach {100 * (1 - means['counted']) / whole:.0f} % of the gain of "
              "instrumented FDO")


if __name__ == "__main__":
    main()
