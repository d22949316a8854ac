#!/usr/bin/env python3
"""culprit scan against known costs, and what a scan costs.

    bench/scan.py --wide [N [FOLDER]]
                               all kernels of examples/scan with the first N setups (40; there are 85
                               where all compilers are installed), at five sizes: time, size of the
                               file, what failed; then tables and plots of the file, in seconds.
                               Compilers that are not here are named. Over an hour; what was done in
                               FOLDER (made if it is missing; else thrown away) is gone on with, and
                               its times are added up
    bench/scan.py --answers [N] tables and plots of a scan of N cells (2,000), in seconds
    bench/scan.py --resume [N] a scan of N cells (500) killed twice by SIGKILL and gone on with, beside
                               one that was not: exits 1 if a table differs
    bench/scan.py --cost       all kernels with four setups, at one size: CPU time of culprit itself,
                               its workers with it, beside that of what they build and run
                               (compilers, linkers, kernels under the software PMU), by samples of
                               everything; and of the 32 cells below, by how much -j 2 is faster than
                               -j 1, beside what two scans at once gain: medians of three, in turns
    bench/scan.py [FOLDER]     prints the whole table of 32 cells (vector addition, four setups, eight
                               sizes) beside the figures measured apart (../shared/facts/scan.md,
                               section 2), the time and the size of the file; exits 1 if one differs
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")).resolve() / "culprit"
DIMS = [1, 2, 3, 4, 5, 8, 9, 16]
# By setup: instructions, then loads / stores; g++ 12.2, clang 19.
FACTS = {
    "gcc12_O2": ([6, 8, 9, 9, 41, 33, 69, 62],
                 ["2/1", "4/1", "4/2", "4/2", "10/5", "8/4", "18/9", "16/8"]),
    "gcc12_O3": ([6, 8, 13, 17, 12, 15, 18, 27],
                 ["2/1", "4/1", "8/2", "12/2", "6/3", "8/4", "10/5", "16/8"]),
    "clang19_O2": ([5, 5, 9, 8, 13, 14, 21, 26],
                   ["2/1", "2/1", "4/2", "4/2", "6/3", "8/4", "10/5", "16/8"]),
    "gcc12_O3_avx2": ([6, 8, 13, 14, 9, 9, 12, 15], None),
}
PLAN = f"""[scan]
program = ["{SOURCE}/examples/scan/vecadd.cc"]
build = "{{cc}} {{flags}} -g -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
runs = [100, 300, 700]
DIM = {DIMS}
[setup]
gcc12_O2 = {{ cc = "g++-12", flags = "-O2" }}
gcc12_O3 = {{ cc = "g++-12", flags = "-O3" }}
gcc12_O3_avx2 = {{ cc = "g++-12", flags = "-O3 -mavx2" }}
clang19_O2 = {{ cc = "clang++-19", flags = "-O2" }}
"""


def culprit(folder, *arguments):
    return subprocess.run([CULPRIT, "scan", *arguments], cwd=folder, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def table(folder, expression):
    document = json.loads(culprit(folder, "table", expression, "--format", "json"))
    return {series["name"]: [mark.get("value") for mark in series["marks"]]
            for panel in document["panels"] for series in panel["series"]}


KERNELS = SOURCE / "examples/scan"
COMPILERS = ["g++-11", "g++-12", "clang++-13", "clang++-14", "clang++-15", "clang++-16",
             "clang++-19", "aarch64-linux-gnu-g++"]
FLAGS = {"O1": "-O1", "O2": "-O2", "O3": "-O3", "Os": "-Os", "O2_avx2": "-O2 -march=x86-64-v3",
         "avx2": "-O3 -march=x86-64-v3", "fast": "-O3 -ffast-math",
         "fast_avx2": "-O3 -ffast-math -march=x86-64-v3", "unroll": "-O3 -funroll-loops",
         "novec": "-O3 -fno-tree-vectorize", "noinline": "-O2 -fno-inline"}
SUBJECTS = """[scan]
program = ["{kernels}/*.cc"]
build = "{{cc}} {{flags}} -g -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
DIM = {sizes}
[setup]
{setups}
"""


def write_plan(folder, setups, sizes):
    there = [compiler for compiler in COMPILERS if shutil.which(compiler)]
    missing = [compiler for compiler in COMPILERS if compiler not in there]
    if missing:
        print("not here, left out: " + ", ".join(missing))
    lines = [f'{compiler.replace("++-", "").replace("-linux-gnu-g++", "")}_{name} = '
             f'{{ cc = "{compiler}", flags = "{flags}" }}'
             for name, flags in FLAGS.items() for compiler in there
             if "x86" not in flags or "aarch64" not in compiler][:setups]
    (folder / "scan.toml").write_text(
        SUBJECTS.format(kernels=KERNELS, sizes=sizes, setups="\n".join(lines)))
    return len(lines)


@contextlib.contextmanager
def kept_or_temporary(folder):
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            yield pathlib.Path(temporary)
    else:
        path = pathlib.Path(folder).resolve()
        path.mkdir(parents=True, exist_ok=True)
        yield path


def wide(setups, kept=None):
    with kept_or_temporary(kept) as folder:
        used = write_plan(folder, setups, [1, 3, 5, 8, 16])
        times = folder / "seconds.txt"  # of each part
        start = time.monotonic()
        subprocess.run([CULPRIT, "scan", "run", "--quiet"], cwd=folder, check=False)
        with times.open("a") as parts:
            print(f"{time.monotonic() - start:.0f}", file=parts)
        print(culprit(folder, "status", "--limit", "20"))
        seconds = sum(map(int, times.read_text().split()))
        cells = used * len(list(KERNELS.glob("*.cc"))) * 5
        size = (folder / "scan.culprit").stat().st_size
        print(f"{cells} cells of {used} setups: {seconds:.0f} s, {size / 1e6:.1f} MB, "
              f"{seconds / cells:.2f} s and {size / 1000 / cells:.1f} kB a cell")
        time_answers(folder)


def time_answers(folder):
    for words in (["table"], ["plot"], ["plot", "--form", "svg"], ["best"], ["status"]):
        start = time.monotonic()
        culprit(folder, *words)
        print(f"{time.monotonic() - start:.2f} s: scan {' '.join(words)}")


def answers(cells):
    """Cells of one kernel, with ten setups."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_small_plan(folder, 10, cells)
        start = time.monotonic()
        subprocess.run([CULPRIT, "scan", "run", "--quiet"], cwd=folder, check=False)
        size = (folder / "scan.culprit").stat().st_size
        print(f"{cells} cells in {time.monotonic() - start:.0f} s, {size / 1e6:.1f} MB")
        time_answers(folder)


def write_small_plan(folder, setups, cells):
    """One kernel, at sizes from 1 on."""
    write_plan(folder, setups, f'"1..{cells // setups}"')
    plan = (folder / "scan.toml").read_text().replace("/*.cc", "/vecadd.cc")
    (folder / "scan.toml").write_text(plan)


def resume(cells):
    """Cells of one kernel at sizes from 1 on, with five setups."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_small_plan(folder, 5, cells)
        start = time.monotonic()
        for part in (3, 3 / 2):
            running = subprocess.Popen([CULPRIT, "scan", "run", "--quiet"], cwd=folder)
            while running.poll() is None:
                time.sleep(2)
                done = subprocess.run([CULPRIT, "scan", "status", "--limit", "1"], cwd=folder,
                                      text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      check=False).stdout.split(" done")[0].split(" ")[-1]
                if done.isdigit() and int(done) > cells / part:
                    running.send_signal(signal.SIGKILL)
                    running.wait()
                    print(f"killed after {done} cells", flush=True)
        culprit(folder, "run", "--quiet")
        middle = time.monotonic()
        culprit(folder, "run", "--quiet", "-o", "whole.culprit")
        end = time.monotonic()
        for name, seconds in (("scan.culprit", middle - start), ("whole.culprit", end - middle)):
            size = (folder / name).stat().st_size
            print(f"{name}: {seconds:.0f} s, {size / 1e6:.2f} MB, {size / 1000 / cells:.1f} kB a cell")
        differ = [name for name in ("instructions", "loads", "stores", "branches", "moves", "flops")
                  if culprit(folder, "table", name, "--format", "csv") !=
                  culprit(folder, "table", name, "--format", "csv", "-i", "whole.culprit")]
        print(culprit(folder, "verify"))
        print(f"{cells} cells, killed twice: " + ("tables differ: " + ", ".join(differ) if differ else
                                                  "all tables as without interruption"))
        return 1 if differ else 0


def run_scan(folder, *options, before=()):
    """Seconds."""
    (folder / "scan.culprit").unlink(missing_ok=True)
    start = time.monotonic()
    subprocess.run([*before, CULPRIT, "scan", "run", "--quiet", *options], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def find_own_shares(folder):
    """CPU time of culprit, by that of what it builds and runs: all, and without what any run under
    the software PMU takes to be started and read."""
    recorded = folder / "recorded.culprit"
    run_scan(folder, before=[CULPRIT, "record", "--quiet", "--force", "--call-graph", "dwarf,24000",
                             "-o", recorded, "--"])
    stacks = subprocess.run([CULPRIT, "export", "--to", "collapsed", recorded], text=True,
                            check=True, stdout=subprocess.PIPE).stdout
    ours = of_runs = others = 0
    for line in stacks.splitlines():
        stack, value = line.rsplit(" ", 1)
        if stack.startswith(("culprit;", "simulation-end;")):
            ours += float(value)
            of_runs += float(value) if "culprit::run_simulated" in stack else 0
        else:
            others += float(value)
    return ours / others, (ours - of_runs) / others


def cost():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        folders = [pathlib.Path(one), pathlib.Path(other)]
        write_plan(folders[0], 4, [5])
        share, own_share = find_own_shares(folders[0])
        for folder in folders:
            (folder / "scan.toml").write_text(PLAN)
        gains, possible = [], []
        for _ in range(3):
            alone = run_scan(folders[0], "-j", "1")
            both = run_scan(folders[0], "-j", "2")
            start = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor() as pool:
                list(pool.map(lambda folder: run_scan(folder, "-j", "1"), folders))
            gains.append(alone / both)
            possible.append(2 * alone / (time.monotonic() - start))
        gain, most = statistics.median(gains), statistics.median(possible)
        print(f"culprit itself: {share:.1%} of the CPU time of what it builds and runs; {own_share:.1%} "
              "without starting and reading the runs under the software PMU")
        print(f"-j 2: {gain:.2f} times as fast; two scans at once: {most:.2f}; {gain / most:.2f} of that")
        return 1 if own_share > 0.1 or gain < 0.9 * most else 0


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    actions = {"--cost": (cost, []), "--wide": (wide, [40]), "--resume": (resume, [500]),
               "--answers": (answers, [2000])}
    if len(sys.argv) > 1 and sys.argv[1] in actions:
        action, usual = actions[sys.argv[1]]
        sys.exit(action(*([int(number) for number in sys.argv[2:3]] or usual), *sys.argv[3:]))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        (folder / "scan.toml").write_text(PLAN)
        start = time.monotonic()
        culprit(folder, "run")
        seconds = time.monotonic() - start
        instructions, loads, stores = (table(folder, name)
                                       for name in ("instructions", "loads", "stores"))
        wrong = 0
        for setup, (expected, memory) in FACTS.items():
            found = [f"{a:g}/{b:g}" for a, b in zip(loads[setup], stores[setup])]
            good = instructions[setup] == expected and memory in (None, found)
            wrong += not good
            print(f"{setup:14} {'as in the facts' if good else 'DIFFERS'}")
            print("  instructions ", *(f"{value:>5g}" for value in instructions[setup]))
            print("  loads/stores ", *(f"{value:>5}" for value in found))
        size = (folder / "scan.culprit").stat().st_size
        print(f"{len(FACTS) * len(DIMS)} cells, 3 runs each: {seconds:.1f} s, "
              f"{size / 1000:.0f} kB, {size / 1000 / len(FACTS) / len(DIMS):.1f} kB a cell")
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
