#!/usr/bin/env python3
"""Programs before and after a known repair: what the software PMU blames, and what it promises.

    bench/simulated_decisions.py CULPRIT [--machine host] [--runs 7] [--only PAIR] [--kept-out]
                                 [--folder DIR] [--old] [--no-model]

Each file of bench/decisions/pairs is a program before and (-DAFTER) after a repair, and says in its
first lines which branch of the tree of cycles has the bottleneck, and in which function. With
--kept-out those of bench/decisions/kept_out follow, which nobody may tune by; --folder names others
instead. Printed are:

  expected, named    the branch that the file says; the branch of the verdict, or of the first
                     piece of advice where there is no verdict ("first": they agree)
  place              the function is that of one of the first two pieces of advice
  promised, measured what advice about the expected branch is expected to save, added up (its ceiling
                     where there is no forecast); 1 - after/before of user CPU time (medians of runs
                     that take turns); "gain": they differ by at most 10 points or 30 % of the
                     measured one
  upper              the same by the upper ends of the ceilings; "!" where the measured gain exceeds it

Pairs whose repair saves less than 5 % on this machine are printed and not judged: that cost is not
there. --no-model only measures. --old is the pairs of kernels of decisions.c: for each the branch that has
most of the kernel before the repair, its share, and the gain modelled and measured.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).parent / "decisions"
OLD_PROGRAM = FOLDER / "decisions.c"
SIDES = ("before", "after")
LEAST_GAIN = 0.05
COMPILERS = {".c": ("gcc",), ".cc": ("g++", "-std=c++20")}
CLONE_SUFFIX = re.compile(r"(\.(constprop|isra|part|cold|lto_priv)\b|@).*$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@dataclasses.dataclass
class Pair:
    name: str
    branches: list
    places: list
    source: pathlib.Path


@dataclasses.dataclass
class Answer:
    """What culprit why says about a program before its repair."""
    branch: str
    certainty: str
    functions: list
    promised: float
    upper_end: float


def read_pair(source):
    """The first lines are `// key: value`; alternatives of a value are separated by |."""
    fields = dict(re.findall(r"^// (pair|branch|place|repair): (.+)$", source.read_text(), re.M))
    if fields["pair"] != source.stem:
        raise ValueError(f"{source}: is pair {fields['pair']}")
    return Pair(fields["pair"], fields["branch"].split("|"), fields["place"].split("|"), source)


def find_pairs(folder, only):
    sources = sorted(path for path in folder.iterdir() if path.suffix in COMPILERS)
    return [read_pair(path) for path in sources if not only or only in path.stem]


def build(pair, folder):
    for side in SIDES:
        output_of(*COMPILERS[pair.source.suffix], "-O2", "-g", "-Wall", "-Wextra", "-Werror",
                  "-pthread", f"-D{side.upper()}", "-o", folder / f"{pair.name}.{side}",
                  pair.source, "-lm")


def user_seconds_of(program):
    """User CPU time of a run, and what it prints."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output = output_of(program)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin, output


def measure(pair, folder, runs):
    """Median user CPU time in seconds before and after."""
    seconds = {side: [] for side in SIDES}
    outputs = set()
    for _ in range(runs):
        for side in SIDES:
            took, output = user_seconds_of(folder / f"{pair.name}.{side}")
            seconds[side].append(took)
            outputs.add(output)
    if len(outputs) != 1:
        raise ValueError(f"{pair.name}: the repair changes the result")
    return [statistics.median(seconds[side]) for side in SIDES]


def base_name(function):
    """`a::b<int>(char) const [clone .isra.0]` is `b`; so is `int a::b<int>(char)`, a template."""
    name = CLONE_SUFFIX.sub("", re.sub(r"\s*\[clone .*$", "", function))
    name = name.replace("(anonymous namespace)", "anonymous")
    plain, depth = "", 0
    for letter in name:
        if letter == "(" and depth == 0:
            break
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter != ">":
            plain += letter
    return (plain.split("::")[-1].split() or [function])[-1]


def sum_of(advice, branches, value):
    return min(1.0, sum(value(piece) for piece in advice if piece["branch"] in branches))


def promise_of(piece):
    return piece["gain"]["expected"] if piece["gain"] else piece["at_most"]


def answer_of(why, branches):
    advice, verdict = why["advice"], why["verdict"]
    first = verdict["branch"] or (advice[0]["branch"] if advice else "none")
    return Answer(first, verdict["certainty"],
                  [base_name(piece["function"]) for piece in advice[:2]],
                  sum_of(advice, branches, promise_of),
                  sum_of(advice, branches, lambda piece: piece["upper_end"]))


def ask(culprit, machine, pair, folder):
    profile = folder / f"{pair.name}.culprit"
    output_of(culprit, "record", "-q", "-F", "4999", "--engine", "timer+simulate", "--windows", "all",
              "--machine", machine, "-o", profile, folder / f"{pair.name}.before")
    return answer_of(json.loads(output_of(culprit, "why", "--format", "json", profile)),
                     pair.branches)


def judge(pair, answer, gain):
    is_first = answer.branch in pair.branches
    is_placed = any(function in pair.places for function in answer.functions)
    is_gain = abs(answer.promised - gain) <= max(0.10, 0.30 * gain)
    return {"branch first": is_first, "place": is_placed, "gain": is_gain,
            "all three": is_first and is_placed and is_gain,
            "confidently wrong": answer.certainty == "firm" and not is_first,
            "upper end exceeded": gain > answer.upper_end}


def print_totals(title, judged):
    if judged:
        counts = (f"{name} {sum(marks[name] for marks in judged)}" for name in judged[0])
        print(f"{title}: of {len(judged)}: {', '.join(counts)}\n", flush=True)


def run_folder(title, options, place):
    print(f"{title}: machine {options.machine}, {options.runs} runs; gains in %")
    print(f"{'':18}{'expected':36}{'named':28}{'certainty':11}{'first':6}{'place':6}"
          f"{'promised':>9}{'upper':>7}{'measured':>9} {'gain':5}{'all':4}{'ms':>10}")
    judged = []
    for pair in find_pairs(place, options.only):
        with tempfile.TemporaryDirectory() as folder_name:
            folder = pathlib.Path(folder_name)
            build(pair, folder)
            before, after = measure(pair, folder, options.runs)
            gain = 1 - after / before
            times = f"{1000 * before:6.0f} {1000 * after:.0f}"
            expected = "|".join(pair.branches)
            if options.no_model:
                print(f"{pair.name:18}{expected:36}{100 * gain:5.0f} {times}", flush=True)
                continue
            answer = ask(options.culprit, options.machine, pair, folder)
        marks = judge(pair, answer, gain)
        if gain >= LEAST_GAIN:
            judged.append(marks)
        words = {name: "yes" if is_so else "no" for name, is_so in marks.items()}
        exceeded = "!" if marks["upper end exceeded"] else ""
        print(f"{pair.name:18}{expected:36}{answer.branch:28}{answer.certainty:11}"
              f"{words['branch first']:6}{words['place']:6}{100 * answer.promised:9.0f}"
              f"{f'{100 * answer.upper_end:.0f}{exceeded}':>7}{100 * gain:9.0f} {words['gain']:5}"
              f"{words['all three']:4}{times:>10}  {', '.join(answer.functions)}", flush=True)
    print_totals(title, judged)


def run_pairs(options):
    if options.folder:
        run_folder(options.folder.name, options, options.folder)
        return
    run_folder("pairs", options, FOLDER / "pairs")
    if options.kept_out:
        run_folder("kept out", options, FOLDER / "kept_out")


def branches_of(culprit, machine, program, pair, side, folder):
    """{branch: cycles} of the kernel, and its cycles."""
    profile = folder / "pair.culprit"
    output_of(culprit, "record", "-q", "--engine", "simulate", "--deterministic", "--machine",
              machine, "-o", profile, "--", program, pair, side)
    tree = json.loads(output_of(culprit, "why", "--in", f"kernel_{pair.replace('-', '_')}*",
                                "--format", "json", profile))["tree"]
    levels = {node["branch"]: node for node in tree["parts"] if node["kind"] == "level"}
    return {node["branch"]: node["cycles"]["value"]
            for level in levels.values() for node in level["parts"]
            if node["kind"] == "branch" and node["cycles"]}, tree["cycles"]["value"]


def quartiles(values):
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return ordered[quarter], ordered[-1 - quarter]


def run_old(options):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = folder / "decisions"
        output_of("gcc", "-O2", "-g", "-static", "-pthread", "-o", program, OLD_PROGRAM)
        expected = dict(line.split() for line in output_of(program).splitlines())
        pairs = [pair for pair in expected if not options.only or options.only in pair]
        times = {(pair, side): [] for pair in pairs for side in SIDES}
        for _ in range(options.runs):
            for pair, side in times:
                times[pair, side].append(int(output_of(program, pair, side)))
        print(f"machine {options.machine}, {options.runs} runs; gains in % of the time before")
        print(f"{'':14}{'blamed first':30}{'share':>7}{'modelled gain':>15}{'measured':>10}"
              f"{'middle half':>16}")
        right = 0
        errors = []
        for pair in pairs:
            branches, before = branches_of(options.culprit, options.machine, program, pair,
                                           "before", folder)
            _, after = branches_of(options.culprit, options.machine, program, pair, "after", folder)
            first = max(branches, key=branches.get)
            is_right = first in expected[pair].split("|")
            right += is_right
            gains = [100 * (1 - b / a) for a, b in zip(times[pair, "before"], times[pair, "after"])]
            measured = statistics.median(gains)
            low, high = quartiles(gains)
            modelled = 100 * (1 - after / before)
            errors.append(abs(modelled - measured))
            wrong = "" if is_right else f"  expected {expected[pair]}"
            print(f"{pair:14}{first:30}{100 * branches[first] / before:7.1f}{modelled:15.1f}"
                  f"{measured:10.1f}{low:9.1f} - {high:4.1f}{wrong}", flush=True)
        print(f"{right} of {len(pairs)} blamed as expected; the gains differ by "
              f"{statistics.median(errors):.0f} points (median), {max(errors):.0f} at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--machine", default="host")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only")
    parser.add_argument("--kept-out", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--old", action="store_true")
    parser.add_argument("--no-model", action="store_true")
    options = parser.parse_args()
    (run_old if options.old else run_pairs)(options)


if __name__ == "__main__":
    main()
