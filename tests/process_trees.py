#!/usr/bin/env python3
"""Exact counts of random trees of processes: what tests/programs/process_tree.c says it has executed
against what the software PMU has counted of it.

    process_trees.py [--first SEED] [--trees N] [CULPRIT OPTION...]

Prints the trees that do not agree, and how many there were; the same seed is the same tree.
simulate_exact_test.py tries a few.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"


def build(folder):
    program = pathlib.Path(folder) / "process_tree"
    subprocess.run(["cc", "-O1", "-pthread", "-o", program,
                    SOURCE / "tests/programs/process_tree.c"], check=True)
    return program


@dataclasses.dataclass
class Tree:
    begun: int      # instructions in spin() that may have run, by the program's own sums
    finished: int   # that have
    processes: int  # as the program has it
    kills: int
    counted: int    # by the simulation, as all from here on
    reported: int
    ledger: dict

    def faults(self):
        found = []
        if not self.finished <= self.counted <= self.begun:
            found.append(f"{self.counted} instructions of {self.finished} to {self.begun}")
        if self.kills == 0 and self.begun != self.finished:
            found.append("nobody was killed, and yet not all was executed")
        if not self.processes <= self.reported <= self.processes + self.kills:
            found.append(f"{self.reported} processes of {self.processes}")
        found += [f"{key}: {self.ledger[key]}" for key in
                  ("missing_instructions", "uncounted_processes", "damaged_records",
                   "not_simulated_programs", "uncounted_blocks") if self.ledger.get(key)]
        return found


def simulate(program, folder, seed, *options, words=("0",)):
    """Of the tree with this seed; it has ended when nobody writes to the pipe any more."""
    folder = pathlib.Path(folder)
    log = folder / f"log-{seed}"
    profile = folder / f"tree-{seed}.culprit"
    log.unlink(missing_ok=True)
    command = f"'{program}' '{log}' {seed} {' '.join(words)} | cat"
    done = subprocess.run([CULPRIT, "record", "-q", "-o", profile, "--engine", "simulate", *options,
                           "--", "/bin/sh", "-c", command], cwd=folder, timeout=250, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise AssertionError(f"seed {seed}: {done.returncode} {done.stderr}")
    begun, finished, started, kills = struct.unpack("<4Q", log.read_bytes())
    counted = sum(int(row["values"]["instructions"]["value"])
                  for row in report(profile, "function")["rows"] if row.get("function") == "spin")
    processes = report(profile, "process")
    of_tree = {row["process_id"] for row in processes["rows"] if row["process"] == "process_tree"}
    return Tree(begun, finished, started, kills, counted, len(of_tree), processes["ledger"])


def report(profile, by):
    done = subprocess.run([CULPRIT, "report", profile, "--format", "json", "--limit", "0",
                           "--by", by], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--trees", type=int, default=100)
    arguments, options = parser.parse_known_args()
    wrong = processes = kills = instructions = 0
    with tempfile.TemporaryDirectory(prefix="process-trees-") as folder:
        program = build(folder)
        for seed in range(arguments.first, arguments.first + arguments.trees):
            tree = simulate(program, folder, seed, "--detail", "events", *options)
            processes += tree.processes
            kills += tree.kills
            instructions += tree.counted
            for fault in tree.faults():
                print(f"seed {seed}: {fault}", flush=True)
            wrong += bool(tree.faults())
            for left in pathlib.Path(folder).glob("*-*"):
                left.unlink()
    print(f"{arguments.trees} trees, {processes} processes, {kills} killed at a place of chance, "
          f"{instructions} instructions in spin(): {wrong} trees are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
