#!/usr/bin/env python3
"""What `record --regions` costs for each OpenMP construct, and `--region` for each call of a
function, in ns, beside no tool: one thread, the least of nine rounds, with and without in turns. And
what that is of a construct of 20 us; and both with `--region-events page-faults,task-clock`.

    bench/regions.py [BUILD]     GCC's libgomp, and LLVM's runtime where clang-19 has one
"""
import pathlib
import subprocess
import sys
import tempfile

if "--help" in sys.argv:
    sys.exit(print(__doc__))
SOURCE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE.parent / "build/release")
TURNS = 5
CONSTRUCT_NS = 20_000   # for constructs of that and more the cost is to be below 5 %


def measure(*command, **options):
    """{construct: ns}"""
    text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, **options).stdout
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def least(runs):
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for compiler in ("gcc", "clang-19"):
            program = pathlib.Path(folder) / compiler
            built = subprocess.run([compiler, "-O2", "-g", "-fopenmp",
                                    SOURCE / "regions_constructs.c", "-o", program],
                                   stderr=subprocess.DEVNULL)
            if built.returncode != 0:
                print(f"{compiler}: no OpenMP here")
                continue
            record = [BUILD / "culprit", "record", "-q", "--no-symbols", "-F", "1", "-o",
                      pathlib.Path(folder) / "profile.culprit", "--region", "called"]
            events = ["--region-events", "page-faults,task-clock"]
            without, inside, counted = [], [], []
            for _ in range(TURNS):
                without.append(measure(program))
                inside.append(measure(*record, "--", program))
                counted.append(measure(*record, *events, "--", program))
            without, inside, counted = least(without), least(inside), least(counted)
            print(f"{compiler:<18}{'no tool':>9}{'--regions':>11}{'more':>8}  ns"
                  f"{'of 20 us':>10}{'with events':>13}{'of 20 us':>10}")
            for name, plain in without.items():
                more = inside[name] - plain
                print(f"{name:<18}{plain:>9.1f}{inside[name]:>11.1f}{more:>8.1f}    "
                      f"{more / CONSTRUCT_NS:>9.2%}{counted[name]:>13.1f}"
                      f"{(counted[name] - plain) / CONSTRUCT_NS:>10.2%}")


if __name__ == "__main__":
    main()
