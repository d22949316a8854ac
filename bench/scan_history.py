#!/usr/bin/env python3
"""A history of 30 builds of one kernel, in which three changes of about 2 % in counts are planted.

    bench/scan_history.py

Each build is measured under a label of its own (`scan run --label`). All builds differ in their
text; three of them execute more, each in another function. `scan diff` of each build with the one
before must find these three and no other, name the function, and `scan trend` must date them.
Exits with 1 if not.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"

BUILDS = 30
# Build: the function that executes more from then on.
PLANTED = {7: "filter", 16: "scale", 25: "fold"}
FUNCTIONS = ["filter", "scale", "fold"]
EACH = 50  # instructions of a function, to which a change adds 3: of some 160 in all

PLAN = f"""[scan]
program = "kernel.cc"
build = "{{cc}} {{flags}} -g -I{SOURCE}/examples/scan {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
DIM = 1
[setup]
gcc = {{ cc = "g++-12", flags = "-O2" }}
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


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "scan.toml").write_text(PLAN)

        def culprit(*arguments):
            return subprocess.run([CULPRIT, "scan", *arguments], cwd=folder, text=True, check=False,
                                  stdout=subprocess.PIPE).stdout

        for build in range(BUILDS):
            (folder / "kernel.cc").write_text(kernel(build))
            culprit("run", "--quiet", "--label", f"build={build:02}")
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
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
