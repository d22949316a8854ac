#!/usr/bin/env python3
"""Do cycles that the analysis of stalls cannot explain lie where an event happened of which it knew nothing?

    bench/stall_correlation.py CULPRIT [--profile FILE ...] [--least-samples 50]

After DCPI's section 6.4, which correlates each cause's cycles with an event that its analysis does not
use. Here the analysis uses all events of the software PMU. So for each class of causes its events are
withheld (renamed in a copy of the profile), and `culprit why --stalls` is asked again: what a function
has more of unexplained stalls than before is what the class is needed for. Measured time decides how
much that is, simulated counts how often the events were: nothing ties the two but what really happened.
Printed for each class, over functions with so many samples: how many of them had the events, Pearson's
correlation of these cycles with the events, and Spearman's (of ranks); with 95 % intervals by resampling
functions. A class that hardly anything had is not judged.

Profiles are of `record --engine timer+simulate`; without any, of programs that are there: the loops of
bench/known_cycles.c, gzip, sort, sqlite3, python3 on small inputs.
"""
import argparse
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parent / "known_cycles.c"
CLASSES = {
    "data from L2": ["L1-dcache-load-misses"],
    "data from beyond L2": ["LLC-loads", "LLC-load-misses"],
    "translation": ["dTLB-load-misses", "dTLB-store-misses", "second-TLB-load-hits", "second-TLB-store-hits"],
    "misprediction": ["branch-misses", "sim:misprediction-cycles"],
    "code fetch": ["L1-icache-load-misses", "LLC-code-misses", "iTLB-load-misses", "second-TLB-code-hits",
                   "late-branch-targets", "sim:starvation-cycles"],
    "store buffer": ["L1-dcache-store-misses", "LLC-stores"],
    "chain": ["sim:serialization-cycles"],
    "divider": ["sim:divider-cycles"],
}
LEAST_FUNCTIONS = 4   # with the events
ROUNDS = 2000         # of resampling


def ask(culprit, *words):
    text = subprocess.run([str(word) for word in (culprit, *words)], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return json.loads(text)


def unexplained(culprit, profile):
    """{(module, function): [cycles, samples]}"""
    functions = {}
    for place in ask(culprit, "why", "--stalls", "--format", "json", profile)["places"]:
        of = functions.setdefault((place["module"], place["function"]), [0, 0])
        of[0] += place["unexplained_cycles"]
        of[1] += place["samples"]
    return functions


def count_events(culprit, profile):
    """{(module, function): {event: how often}}"""
    report = ask(culprit, "report", "--by", "module,function", "--limit", 0, "--format", "json", profile)
    return {(row["module"], row["function"]): {name: value["value"] for name, value in row["values"].items()}
            for row in report["rows"]}


def withhold(profile, copy, events):
    shutil.copy(profile, copy)
    with sqlite3.connect(copy) as store:
        for event in events:
            store.execute("update strings set text = ? where text = ?", ("withheld:" + event, event))
    store.close()


def collect(culprit, profile, folder, least_samples):
    """{class: [(events, cycles)] over functions}"""
    before = unexplained(culprit, profile)
    counts = count_events(culprit, profile)
    points = {}
    for name, events in CLASSES.items():
        copy = folder / "withheld.culprit"
        withhold(profile, copy, events)
        after = unexplained(culprit, copy)
        points[name] = [(counts.get(key, {}).get(events[0], 0), cycles - before.get(key, [0])[0])
                        for key, (cycles, samples) in after.items() if samples >= least_samples]
    return points


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for at in order[first:last + 1]:
            result[at] = (first + last) / 2
        first = last + 1
    return result


def pearson(points):
    n = len(points)
    mean_x, mean_y = (sum(point[i] for point in points) / n for i in (0, 1))
    xx = sum((x - mean_x) ** 2 for x, _ in points)
    yy = sum((y - mean_y) ** 2 for _, y in points)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return xy / (xx * yy) ** 0.5 if xx > 0 and yy > 0 else None


def spearman(points):
    return pearson(list(zip(ranks([x for x, _ in points]), ranks([y for _, y in points]))))


def with_interval(measure, points):
    value = measure(points)
    if value is None:
        return f"{'-':>20}"
    drawn = random.Random(1)
    others = sorted(filter(lambda one: one is not None, (
        measure([drawn.choice(points) for _ in points]) for _ in range(ROUNDS))))
    return f"{value:6.2f} {others[len(others) // 40]:6.2f} to {others[-1 - len(others) // 40]:5.2f}"


def make_profiles(culprit, folder):
    text = folder / "text"
    text.write_text("".join(f"{i * i % 9973} line {i}\n" for i in range(60_000)))
    program = folder / "known_cycles"
    subprocess.run(["gcc", "-O2", "-g", SOURCE, "-o", program], check=True)
    sums = "create table t(a, b); insert into t select value, value * 7919 % 10007 from generate_series(1, 40000);" \
           "create index i on t(b); select sum(x.a) from t x join t y on x.b = y.b;"
    commands = {"loops": [program, "run"], "gzip": ["gzip", "-9", "-k", "-c", text],
                "sort": ["sort", "-n", text], "sqlite": ["sqlite3", ":memory:", sums],
                "python": ["python3", "-c", "d = {str(i): i * i for i in range(200000)}; print(sum(sorted(d.values())))"]}
    for name, command in commands.items():
        if not shutil.which(command[0]):
            print(f"{name}: not installed", file=sys.stderr)
            continue
        profile = folder / f"{name}.culprit"
        subprocess.run([culprit, "record", "-q", "--engine", "timer+simulate", "--windows", "all", "-F", "4999",
                        "-o", profile, "--", *command], check=True, stdout=subprocess.DEVNULL)
        yield profile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--profile", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--least-samples", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stall-correlation-") as name:
        folder = pathlib.Path(name)
        points = {cause: [] for cause in CLASSES}
        for profile in asked.profile or make_profiles(asked.culprit.resolve(), folder):
            found = collect(asked.culprit.resolve(), profile, folder, asked.least_samples)
            print(f"{profile.name}: {len(next(iter(found.values())))} functions")
            for cause, some in found.items():
                points[cause] += some
    print(f"\n{'withheld':20} {'functions':>9} {'with it':>8}   {'Pearson, 95 %':21} {'Spearman, 95 %':21}")
    for cause, of_functions in points.items():
        having = sum(events > 0 and cycles > 0 for events, cycles in of_functions)
        row = f"{cause:20} {len(of_functions):9} {having:8}   "
        if having < LEAST_FUNCTIONS:
            print(row + "not judged: too few functions had it")
        else:
            print(row + f"{with_interval(pearson, of_functions)}  {with_interval(spearman, of_functions)}")


if __name__ == "__main__":
    main()
