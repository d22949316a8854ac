#!/usr/bin/env python3
"""A history of 30 builds of one kernel, in which three changes of about 2 % in counts are planted,
or one of 5 % in time.

    bench/scan_history.py            counts
    bench/scan_history.py --time [N] N builds (30) of the same counts, each timed within 1 %: one
                                     has slower instructions from then on; some seconds a build

Each build is measured under a label of its own (`scan run --label`). All builds differ in their
text. Of counts, `scan diff` of each build with the one before must find what is planted, with the
function, and nothing else. Of time, whose intervals hold 95 %, at most so many of the diffs of equal
builds may be significant as chance makes in one of 100 histories. `scan trend` must date what is
planted and nothing else. Exits with 1 if not.
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")).resolve() / "culprit"

BUILDS = 30
# Build: the function that executes more from then on.
PLANTED = {7: "filter", 16: "scale", 25: "fold"}
FUNCTIONS = ["filter", "scale", "fold"]
EACH = 50  # instructions of a function, to which a change adds 3: of some 160 in all

PLAN = f"""[scan]
program = "kernel.cc"
build = "{{{{cc}}}} {{{{flags}}}} -g -I{SOURCE}/examples/scan {{{{program}}}} -o {{{{out}}}}"
run = "{{{{out}}}} {{{{runs}}}}"
DIM = 1
{{more}}
[setup]
gcc = {{{{ cc = "g++-12", flags = "-O2" }}}}
"""


def kernel(build):
    functions = ""
    for name in FUNCTIONS:
        more = sum(3 for at, function in PLANTED.items() if function == name and at <= build)
        functions += (f"__attribute__((noipa)) static void {name}() {{\n"
                      f'  __asm__ volatile(".rept {EACH + more}\\n\\tnop\\n\\t.endr");\n}}\n')
    calls = "".join(f"    {name}();\n" for name in FUNCTIONS)
    return (f"// Build {build}.\n" + "\n" * (build % 4) +
            '#include "culprit_kernel.h"\n' + functions +
            "int main(int argc, char** argv) {\n  const long runs = culprit_runs(argc, argv);\n"
            f"  for (long n = 0; n < runs; ++n) {{\n{calls}  }}\n  return 0;\n}}\n")


def timed_kernel(build, slower_from):
    """A chain of 200 instructions: 160 products of three cycles and 40 additions of one, of which 13
    are products, too, from a build on: 26 of 520 cycles more. Additions come first in every build."""
    products = 173 if build >= slower_from else 160
    return (f"// Build {build}.\n" + "\n" * (build % 4) +
            '#include "culprit_kernel.h"\n'
            "int main(int argc, char** argv) {\n  const long runs = culprit_runs(argc, argv);\n"
            f"  long a = {build};\n  for (long n = 0; n < runs; ++n)\n"
            f'    __asm__ volatile(".rept {200 - products}\\n\\tadd $3, %0\\n\\t.endr\\n\\t"\n'
            f'                     ".rept {products}\\n\\timul $3, %0, %0\\n\\t.endr" : "+r"(a));\n'
            "  return a == 0;\n}\n")


def scan_builds(folder, plan_more, kernel_of, builds):
    """A label for each build; the command that asks of them."""
    (folder / "scan.toml").write_text(PLAN.format(more=plan_more))

    def culprit(*arguments):
        return subprocess.run([CULPRIT, "scan", *arguments], cwd=folder, text=True, check=False,
                              stdout=subprocess.PIPE).stdout

    for build in range(builds):
        (folder / "kernel.cc").write_text(kernel_of(build))
        culprit("run", "--quiet", "--label", f"build={build:02}")
    return culprit


def chance_finds(diffs):
    """How many of so many diffs are significant by chance, at 5 % each, but in one of 100 histories."""
    chances = [math.comb(diffs, k) * 0.05**k * 0.95**(diffs - k) for k in range(diffs + 1)]
    return next(k for k in range(diffs + 1) if sum(chances[:k + 1]) >= 0.99)


def time_history(folder, builds):
    """How many answers are wrong."""
    slower_from = builds * 2 // 3
    false = 0
    culprit = scan_builds(folder, "time_percent = 1", lambda build: timed_kernel(build, slower_from), builds)
    for build in range(1, builds):
        labels = f"build={build - 1:02}", f"build={build:02}"
        changes = json.loads(culprit("diff", *labels, "--of", "time_ns", "--format", "json"))["changes"]
        for one in changes:
            print(f"build {build:02}: {100 * (one['b'] / one['a'] - 1):+.2f} % of time")
        false += bool(changes) and build != slower_from
    at_most = chance_finds(builds - 2)
    wrong = max(0, false - at_most)
    dated = [int(build) for build in re.findall(r"(?m)^build=(\d+) .*changed since", culprit("trend", "time_ns"))]
    wrong += dated != [slower_from]
    print(f"{builds} builds, slower by 5 % from {slower_from} on; dated {dated}; {false} diffs of equal "
          f"builds significant (at most {at_most}); {wrong} answers wrong")
    return wrong


def count_history(folder):
    """How many answers are wrong."""
    culprit = scan_builds(folder, "", kernel, BUILDS)
    wrong = 0
    for build in range(1, BUILDS):
        document = json.loads(culprit("diff", f"build={build - 1:02}", f"build={build:02}",
                                      "--format", "json"))
        found = [(one["function"].removesuffix("()"), one["b"] / one["a"] - 1)
                 for one in document["changes"]]
        expected = [PLANTED[build]] if build in PLANTED else []
        wrong += [name for name, _ in found] != expected
        for name, growth in found:
            print(f"build {build:02}: {100 * growth:+.2f} % in {name}")
    dated = re.findall(r"(?m)^build=(\d+) .*changed since", culprit("trend"))
    wrong += [int(build) for build in dated] != sorted(PLANTED)
    print(f"{BUILDS} builds, {len(PLANTED)} planted changes, {wrong} answers wrong; "
          f"{(folder / 'scan.culprit').stat().st_size / 1000:.0f} kB")
    return wrong


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    is_timed = sys.argv[1:2] == ["--time"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        wrong = time_history(folder, int((sys.argv[2:] or [BUILDS])[0])) if is_timed else count_history(folder)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
