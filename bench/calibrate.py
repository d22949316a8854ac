#!/usr/bin/env python3
"""Whether `culprit calibrate` can be trusted: idle, and beside busy neighbours.

    bench/calibrate.py CULPRIT [--runs 5] [--neighbours 0,1,2] [--only PART] [--native-runs 5]

Calibrates --runs times beside each number of neighbours, which read 64 MB again and again. Prints

- each run's figures that are used, and how many were measured and dropped;
- figures outside their intervals: the reference is the median of what all runs without a neighbour
  measured; a 95 % interval may miss it once in twenty times;
- errors of the model of bench/kernels (of memory and of branches; none of them is calibrate's own)
  with the shipped machine and with each calibrated one: the median and the 90th percentile, over
  all and over those kept out of tuning (bench/simulated_time.py). The kernels are measured once,
  without neighbours. A calibrated file that is worse by more than two points fails the script.
"""
import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import simulated_time

NEIGHBOUR = r"""
#include <stdlib.h>
#include <string.h>
int main(void) {
  enum { kBytes = 64 << 20 };
  volatile char* bytes = malloc(kBytes);
  memset((char*)bytes, 1, kBytes);
  for (;;)
    for (long i = 0; i < kBytes; i += 64) bytes[i];
}
"""
MOST_WORSE = 0.02


class Calibration:
    """One run: its file, and its figures by name: (value, low, high, whether it is used)."""

    def __init__(self, culprit, folder, neighbours):
        self.neighbours = neighbours
        self.home = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.file = self.home / "culprit/machine.toml"
        done = subprocess.run([culprit, "calibrate"], env=environment(self.home), text=True,
                              capture_output=True)
        if done.returncode != 0:
            sys.exit(f"calibrate: {done.stderr}")
        text = self.file.read_text()
        self.figures = {}
        number = r"([\d.e+-]+)"
        section = ""
        for line in text.splitlines():
            if found := re.fullmatch(r"\[(\w+)\]", line):
                section = found[1]
            elif found := re.fullmatch(rf"(\w+) = {number}  # .*; {number} to {number}", line):
                self.figures[f"{section}.{found[1]}"] = (*map(float, found.groups()[1:]), True)
            elif found := re.match(rf"# ([\w.]+) = {number} \({number} to {number}\)", line):
                self.figures[found[1]] = (*map(float, found.groups()[1:]), False)

    def used(self):
        """What --machine host has from it."""
        return {name: figure[0] for name, figure in self.figures.items() if figure[3]}


def environment(home):
    return {**os.environ, "XDG_CONFIG_HOME": str(home)}


def start_neighbours(program, count):
    return [subprocess.Popen([program]) for _ in range(count)]


def calibrate(options, folder):
    source = folder / "neighbour.c"
    source.write_text(NEIGHBOUR)
    subprocess.run(["gcc", "-O1", "-o", folder / "neighbour", source], check=True)
    all_runs = []
    for count in map(int, options.neighbours.split(",")):
        for number in range(options.runs):
            neighbours = start_neighbours(folder / "neighbour", count)
            try:
                run = Calibration(options.culprit, folder, count)
            finally:
                for neighbour in neighbours:
                    neighbour.kill()
                    neighbour.wait()
            all_runs.append(run)
            used = ", ".join(f"{name} {value:g}" for name, value in run.used().items())
            print(f"{count} neighbours, run {number + 1}: load {os.getloadavg()[0]:.1f}; used: "
                  f"{used or 'nothing'}; {len(run.figures) - len(run.used())} dropped", flush=True)
    return all_runs


def print_intervals(runs):
    """How often a figure's interval misses what it is without neighbours."""
    idle = [run for run in runs if run.neighbours == 0]
    if not idle:
        return
    names = sorted({name for run in idle for name in run.figures})
    reference = {name: statistics.median(run.figures[name][0] for run in idle
                                         if name in run.figures) for name in names}
    print(f"\n{'outside their intervals':36}{'used':>12}{'all':>12}")
    for count in sorted({run.neighbours for run in runs}):
        tried, missed = [0, 0], [0, 0]
        wrong = []
        for run in (run for run in runs if run.neighbours == count):
            for name, (value, low, high, is_used) in run.figures.items():
                if name not in reference:
                    continue
                misses = not low <= reference[name] <= high
                tried[1] += 1
                missed[1] += misses
                tried[0] += is_used
                missed[0] += misses and is_used
                if misses and is_used:
                    wrong.append(f"{name} {value:g} ({low:g} to {high:g}) of {reference[name]:g}")
        print(f"{count} neighbours".ljust(36) + f"{missed[0]} of {tried[0]}".rjust(12)
              + f"{missed[1]} of {tried[1]}".rjust(12))
        for text in wrong:
            print("    " + text)


def errors(kernels, only_kept_out):
    found = sorted(abs(modelled / measured - 1) for name, (modelled, measured) in kernels.items()
                   if not only_kept_out or simulated_time.is_kept_out(name))
    return statistics.median(found), found[math.ceil(0.9 * len(found)) - 1]


def measure_kernels(options, folder):
    program = simulated_time.build(folder)
    names = subprocess.run([program], capture_output=True, text=True).stdout.split()
    texts = [(simulated_time.KERNELS / name).read_text() for name in ("memory.c", "branches.c")]
    chosen = [name for name in names if any(f'{{"{name}",' in text for text in texts)
              and (not options.only or options.only in name)]
    clock = simulated_time.CLOCK
    times = {name: [] for name in [*chosen, clock]}
    for _ in range(options.native_runs):
        for name in times:
            times[name].append(simulated_time.measure_ns(program, name))
    cycle_ns = statistics.median(times[clock]) / 4
    return program, {name: statistics.median(times[name]) / cycle_ns for name in chosen}


def model_kernels(options, program, measured, folder, home):
    os.environ["XDG_CONFIG_HOME"] = str(home)
    return {name: (simulated_time.model_cycles(options.culprit, "host", program, name, folder), value)
            for name, value in measured.items()}


def print_kernels(options, runs, folder):
    """False: some file makes the model worse."""
    program, measured = measure_kernels(options, folder)
    empty = pathlib.Path(tempfile.mkdtemp(dir=folder))
    shipped = model_kernels(options, program, measured, folder, empty)
    modelled = {}  # by figures used
    print(f"\n{'errors of ' + str(len(measured)) + ' kernels, %':36}{'median':>8}{'90 %':>8}"
          f"{'kept out: median':>18}{'90 %':>8}")

    def show(name, kernels):
        values = [*errors(kernels, False), *errors(kernels, True)]
        print(f"{name:36}{100 * values[0]:8.1f}{100 * values[1]:8.1f}{100 * values[2]:18.1f}"
              f"{100 * values[3]:8.1f}", flush=True)
        return values

    before = show("shipped", shipped)
    is_good = True
    for run in runs:
        key = tuple(sorted(run.used().items()))
        if not key:
            modelled[key] = shipped
        elif key not in modelled:
            modelled[key] = model_kernels(options, program, measured, folder, run.home)
        after = show(f"{run.neighbours} neighbours, {len(key)} figures", modelled[key])
        if any(new > old + MOST_WORSE for old, new in zip(before, after)):
            is_good = False
            worst = sorted(measured, key=lambda name: abs(math.log(
                modelled[key][name][0] / shipped[name][0])), reverse=True)[:3]
            print("    worse; changed most: " + ", ".join(
                f"{name} {shipped[name][0] / measured[name]:.2f} to "
                f"{modelled[key][name][0] / measured[name]:.2f}" for name in worst))
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--neighbours", default="0,1,2")
    parser.add_argument("--only", help="kernels whose names have this in them")
    parser.add_argument("--native-runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        runs = calibrate(options, folder)
        print_intervals(runs)
        if not print_kernels(options, runs, folder):
            sys.exit(1)


if __name__ == "__main__":
    main()
