#!/usr/bin/env python3
"""Programs before and after a repair that `culprit locality` advises: what it says, and what it was
worth.

    bench/locality_advice.py CULPRIT [--machine host] [--runs 15] [--only PAIR] [--no-model]

Each file of bench/locality_pairs is a program before and (-DAFTER) after a repair, says in its first
lines which kind of advice names it, and marks the lines to touch ("// here"). Printed are:

  expected, first    the kind that the file says; that of the first piece of advice ("kind": agree)
  lines              the piece of the expected kind that saves most touches a marked line
  promised, measured what that piece saves at most, of measured time; 1 - after/before of CPU time of the
                     same command, natively (medians of runs that take turns); "gain": they differ by at
                     most 10 points or 30 %

Commands repeat their work until they take 0.1 s, so that start-up is a small part of them.
"""
import argparse
import json
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).parent / "locality_pairs"
SIDES = ("before", "after")
LEAST_SECONDS = 0.1  # of a run, before the repair


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def read_pair(source):
    text = source.read_text()
    fields = dict(re.findall(r"^// (pair|advice|repair|options): (.+)$", text, re.M))
    marked = {f"{source.name}:{number}" for number, line in enumerate(text.splitlines(), 1)
              if re.search(r"// (here|allocated)$", line)}
    return {"name": fields["pair"], "kinds": fields["advice"].split("|"), "source": source,
            "lines": marked, "options": fields.get("options", "").split()}


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(pair, folder, runs):
    """Medians of seconds before, and of what the repair saves; how often the work is repeated."""
    seconds, outputs = {side: [] for side in SIDES}, set()
    repeats = 1

    def run(side):
        begin = cpu_seconds()
        output = output_of(folder / f"{pair['name']}.{side}", repeats)
        return cpu_seconds() - begin, output

    while run("before")[0] < LEAST_SECONDS:
        repeats *= 2
    for _ in range(runs):
        for side in SIDES:
            taken, output = run(side)
            seconds[side].append(taken)
            outputs.add(output)
    if len(outputs) != 1:
        raise ValueError(f"{pair['name']}: the repair changes the result: {outputs}")
    before, after = (statistics.median(seconds[side]) for side in SIDES)
    return before, 1 - after / before, repeats


def ask(culprit, machine, pair, repeats, folder):
    profile = folder / f"{pair['name']}.culprit"
    output_of(culprit, "record", "-q", "--locality", "all", "--machine", machine,
              *pair["options"], "-o", profile, "--", folder / f"{pair['name']}.before", repeats)
    return json.loads(output_of(culprit, "locality", "--format", "json", profile))["advice"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--machine", default="host")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-model", action="store_true")
    arguments = parser.parse_args()
    print(f"{'pair':15} {'expected':26} {'first':14} {'lines':6} {'before':>8} {'promised':>9} "
          f"{'measured':>9}")
    totals = {"kind": 0, "lines": 0, "gain": 0, "pairs": 0}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for source in sorted(FOLDER.glob("*.c")):
            pair = read_pair(source)
            if arguments.only not in pair["name"]:
                continue
            for side in SIDES:
                output_of("gcc", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread",
                          f"-D{side.upper()}", "-o", folder / f"{pair['name']}.{side}", source)
            seconds, gain, repeats = measure(pair, folder, arguments.runs)
            advice = ([] if arguments.no_model else
                      ask(arguments.culprit, arguments.machine, pair, repeats, folder))
            fitting = [piece for piece in advice if piece["kind"] in pair["kinds"]]
            promised = fitting[0]["share"] if fitting else 0
            has_lines = bool(fitting) and not pair["lines"].isdisjoint(fitting[0]["lines"])
            is_first = bool(advice) and advice[0]["kind"] in pair["kinds"]
            is_gain = bool(fitting) and abs(promised - gain) <= max(0.10, 0.30 * gain)
            for key, holds in (("kind", is_first), ("lines", has_lines), ("gain", is_gain), ("pairs", True)):
                totals[key] += holds
            print(f"{pair['name']:15} {'|'.join(pair['kinds']):26} "
                  f"{advice[0]['kind'] if advice else 'none':14} {'yes' if has_lines else 'no':6} "
                  f"{1000 * seconds:5.0f} ms {100 * promised:7.0f} % {100 * gain:7.0f} %"
                  f"{'' if is_gain else '  !'}", flush=True)
    print(f"of {totals['pairs']} pairs: first advice of the kind {totals['kind']}, lines {totals['lines']}, "
          f"gain within 10 points or 30 % {totals['gain']}")


if __name__ == "__main__":
    main()
