#!/usr/bin/env python3
"""OpenMP constructs whose bodies sleep (tests/programs/openmp/constructs.c and .f90), by every
compiler that is here, at -O0 and -O2: what `culprit regions` says of each construct's parts against
what the program measured itself (2 % or 1 ms), counts, parts against the whole, and whether its line is
that of the pragma, said to be the function's, or wrong. Threads that get no CPU are late by that, so of
three runs the best counts.

    bench/region_constructs.py CULPRIT
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = SOURCE / "tests/programs/openmp"
COMPILERS = {"gcc": "c", "clang-19": "c", "gfortran": "f90", "flang-new-19": "f90"}
LEVELS = ("-O0", "-O2")
TRIES = 3
ABSOLUTE_S, RELATIVE = 0.001, 0.02

# case: (kind, its pragma's words, {part: what the program calls it}, each thread's times or their sum,
#        executions, pieces)
EACH, SUM = True, False
CASES = {
    "critical": ("critical", "omp critical", {"enter": "enter", "body": "critical"}, EACH, 4, None),
    "loop": ("loop", ("omp for", "omp do"), {"body": "loop"}, EACH, 4, 8),
    "guided": ("loop", ("omp parallel for", "omp parallel do"), {"body": "loop"}, SUM, 4, None),
    "static": ("loop", ("omp for", "omp do"), {"body": "loop"}, EACH, 4, None),
    "sections": ("sections", "omp sections", {"body": "sections"}, EACH, 4, 2),
    "single": ("single", "omp single", {"body": "single"}, EACH, 4, 1),
    "barrier": ("barrier", "omp barrier", {"wait": "wait"}, EACH, 4, None),
    "ordered": ("ordered", "omp ordered", {"enter": "enter", "body": "ordered"}, EACH, 4, None),
    "tasks": ("task", "omp task", {"body": "task"}, SUM, 8, 8),
    "often": ("parallel", "omp parallel", {"body": "parallel"}, EACH, 20, None),
    "named": ("critical", "omp critical(first)", {"body": "first"}, SUM, 4, None),
    "lock": ("lock", "omp_set_lock", {"enter": "enter", "body": "lock"}, EACH, 4, None),
    "taskloop": ("task", "omp taskloop", {"body": "task"}, SUM, 8, None),
    "master": ("master", "omp master", {"body": "master"}, SUM, 1, None),
    "nested": ("parallel", "omp parallel num_threads(2)", {"body": "nested"}, SUM, 4, None),
}
C_ONLY = ("named", "lock", "taskloop", "master", "nested")
FUNCTIONS = {"static": ("static_loop", "in_static_loop"), "loop": ("loop", "in_dynamic_loop"),
             "guided": ("guided", "in_parallel_loop"), "barrier": ("barrier", "at_barrier"),
             "often": ("often", "in_regions"), "tasks": ("tasks", "in_tasks")}


def why_not_seen(compiler, case):
    """What cannot be seen of a compiler's code, as the manual says; "" if it can."""
    if compiler in ("gcc", "gfortran") and case == "master":
        return "compiled into the program"
    if compiler == "clang-19" and case == "nested":
        return "one construct with the region around at -O2"
    if compiler == "flang-new-19" and case == "sections":
        return "a static loop to its runtime"
    if compiler == "flang-new-19" and case == "barrier":
        return "at -O0 it has the line of a statement, as an implicit one"
    return ""


def is_of_gcc(compiler):
    return compiler in ("gcc", "gfortran")


def pragma_line(source, case, words):
    """Of the last such pragma, nested ones; else the first, in the case's function."""
    language = 0 if source.suffix == ".c" else 1
    function = FUNCTIONS.get(case, (case, f"in_{case}"))[language]
    begin = ("static void %s(void)" if language == 0 else "subroutine %s()") % function
    lines = source.read_text().splitlines()
    first = next(index for index, line in enumerate(lines) if begin in line)
    words = (words,) if isinstance(words, str) else words
    found = [index + 1 for index in range(first, len(lines))
             if any(word in lines[index] for word in words)]
    return found[1] if case == "nested" else found[0]


def measure(culprit, program, case, profile):
    """(the report, {name: [seconds by thread]} as the program has it)"""
    done = subprocess.run([culprit, "record", "-q", "-o", profile, "--regions", "--", program, case],
                          check=True, capture_output=True, text=True)
    own = {}
    for line in done.stdout.splitlines():
        name, _, seconds = line.split()
        own.setdefault(name, []).append(float(seconds))
    text = subprocess.run([culprit, "regions", profile, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text), own


def worst_time(construct, parts, by_thread, own):
    """(how far the part that is farthest off is, s; whether all are near enough)"""
    worst, is_near = 0, True
    for part, name in parts.items():
        seen = [one[part + "_ns"] / 1e9 for one in construct["threads"]]
        expected = own[name]
        if not by_thread:
            seen, expected = [sum(seen)], [sum(expected)]
        for one, other in zip(seen, expected):
            worst = max(worst, abs(one - other))
            is_near = is_near and abs(one - other) <= max(ABSOLUTE_S, RELATIVE * other)
    return worst, is_near


def adds_up(report):
    """Each construct's parts are its whole."""
    parts = ("enter", "body", "exit", "exit_barrier", "wait")
    for construct in report["constructs"]:
        for one in [construct["sum"], *construct["threads"]]:
            if abs(one["whole_ns"] - sum(one[part + "_ns"] for part in parts)) > 1:
                return False
    return True


def check(culprit, program, compiler, source, case, profile):
    """(verdict of times, of counts and sums, of the line); the time off [s]"""
    kind, words, parts, by_thread, executions, pieces = CASES[case]
    if is_of_gcc(compiler) and case == "static":   # its loop is compiled into the region
        kind, words, pieces = "parallel", "omp parallel", None
    if is_of_gcc(compiler) and case == "taskloop":
        kind = "taskloop"
    report, own = measure(culprit, program, case, profile)
    line = pragma_line(source, case, words)
    found = [one for one in report["constructs"] if one["kind"] == kind]
    found.sort(key=lambda one: abs(one["first_line"] - line))
    if not found:
        return False, False, "missing", 0
    construct = found[0]
    off_s, is_near = worst_time(construct, parts, by_thread, own)
    sum_up = construct["sum"]
    counts = sum_up["executions"] == executions and pieces in (None, sum_up["pieces"])
    if construct["lines_are"] != "construct":
        verdict = "function's"
    else:   # of a combined loop it is that of the loop, of a task that of its body
        verdict = "right" if line <= construct["first_line"] <= line + 1 else "WRONG"
        if verdict == "WRONG":
            verdict += f" ({construct['first_line']}, not {line})"
    return is_near, counts and adds_up(report), verdict, off_s


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    culprit = parser.parse_args().culprit.resolve()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        for compiler, suffix in COMPILERS.items():
            for level in LEVELS:
                source = PROGRAMS / f"constructs.{suffix}"
                program = folder / f"{compiler}{level}"
                try:
                    subprocess.run([compiler, level, "-g", "-fopenmp", source, "-o", program],
                                   check=True, cwd=folder, capture_output=True)
                except (OSError, subprocess.CalledProcessError):
                    print(f"{compiler} {level}: not here, or without OpenMP")
                    continue
                print(f"{compiler} {level:<12} {'off ms':>7}  times  counts  line")
                for case in CASES:
                    if suffix == "f90" and case in C_ONLY:
                        continue
                    if reason := why_not_seen(compiler, case):
                        print(f"  {case:<18} not compared: {reason}")
                        continue
                    tries = []
                    for _ in range(TRIES):
                        tries.append(check(culprit, program, compiler, source, case,
                                           folder / "profile.culprit"))
                        if all(tries[-1][:2]):
                            break
                    near, counts, line, off_s = min(tries, key=lambda one: (not one[0], one[3]))
                    failures += not near or not counts or line.startswith(("WRONG", "missing"))
                    print(f"  {case:<18} {1000 * off_s:>7.3f}  {'right' if near else 'WRONG':<6}"
                          f" {'right' if counts else 'WRONG':<7} {line}", flush=True)
    print(f"{failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
