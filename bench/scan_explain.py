#!/usr/bin/env python3
"""culprit scan explain on causes that nobody tuned it on.

    bench/scan_explain.py [PAIR...]

Pairs of builds in C, C++ and Fortran, by GCC and clang, whose one difference is planted. The cause
that each must have was written down before `explain` was run on any of them, and they are kept out of
the tests. Each cell is timed, too: a pair counts if the slower build loses at least 3 % here by it.
Ten pairs more have no difference that code shows. Prints for each pair how much time it loses, the
cause that was planted, whether the first cause that is named is right, whether its place is the line
that is marked, and all causes that were named. No pair may be used to change `explain`: if one is, it
moves to tests/scan_explain_test.py, and another takes its place here.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"
KERNELS = SOURCE / "bench/scan_explain"
LEAST_LOSS = 0.03

# Name: source, compiler, kernel, what A is built with, what B is built with, what A pays for.
PAIRS = {
    "maximum_keeps_order": ("kernel.cc", "g++-12", "MAXIMUM", "-O3", "-O3 -ffast-math", "scalar"),
    "unknown_divisor": ("kernel.cc", "g++-12", "BINS", "-O2", "-O2 -DPOWER", "divisions"),
    "table_size": ("kernel.cc", "clang++-19", "HASH", "-O2", "-O2 -DMASK", "divisions"),
    "library_function": ("kernel.cc", "g++-12", "HYPOT", "-O2", "-O2 -DBY_HAND", "calls"),
    "rounding_function": ("kernel.cc", "g++-12", "FLOOR", "-O2 -fno-fp-int-builtin-inexact",
                          "-O2 -msse4.1", "calls"),
    "checked_elements": ("kernel.cc", "clang++-19", "ELEMENTS",
                         "-O2 -fno-vectorize -fno-unroll-loops",
                         "-O2 -fno-vectorize -fno-unroll-loops -DUNCHECKED", "checks"),
    "struct_by_value": ("kernel.cc", "g++-12", "BY_VALUE", "-O2 -DPASSED=Wide",
                        "-O2 '-DPASSED=const Wide&'", "reloads"),
    "half_the_width": ("kernel.c", "clang-19", "BLEND",
                       "-O3 -mavx2 -mfma -mprefer-vector-width=128", "-O3 -mavx2 -mfma", "narrow"),
    "root_sets_errno": ("kernel.c", "gcc-12", "ROOT", "-O2", "-O2 -fno-math-errno", "checks"),
    "recurrence": ("kernel.c", "clang-19", "RECURRENCE", "-O2 -mfma -ffp-contract=off",
                   "-O2 -mfma -ffp-contract=fast", "unfused"),
    "traps_on_overflow": ("kernel.c", "clang-19", "OVERFLOW",
                          "-O2 -fno-vectorize -fno-slp-vectorize "
                          "-fsanitize=signed-integer-overflow -fsanitize-trap=all",
                          "-O2 -fno-vectorize -fno-slp-vectorize", "checks"),
    "bits_by_library": ("kernel.c", "gcc-12", "BITS", "-O2", "-O2 -mpopcnt", "calls"),
    "helper": ("kernel.c", "gcc-12", "HELPER", "-O2 -fno-inline", "-O2", "calls"),
    "by_pointer_to_function": ("kernel.c", "gcc-12", "COMPARE", "-O2", "-O2 -DDIRECT", "calls"),
    "registers_taken": ("kernel.c", "gcc-12", "MIXING",
                        "-O2 -ffixed-r12 -ffixed-r13 -ffixed-r14 -ffixed-r15 -ffixed-rbx "
                        "-ffixed-r11 -ffixed-r10 -ffixed-r9", "-O2", "spills"),
    "chain_not_unrolled": ("kernel.c", "clang-19", "CHAIN", "-O2 -fno-unroll-loops", "-O2",
                           "rolled"),
    "integers_one_by_one": ("kernel.c", "clang-19", "LIMITS",
                            "-O2 -fno-vectorize -fno-slp-vectorize", "-O2", "scalar"),
    "floats_one_by_one": ("kernel.c", "clang-19", "SAXPY",
                          "-O2 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops",
                          "-O2 -fno-unroll-loops", "scalar"),
    "bounds_of_arrays": ("kernel.f90", "gfortran-12", "GATHER", "-O2 -fcheck=bounds", "-O2",
                         "checks"),
    "division_in_loop": ("kernel.f90", "gfortran-12", "SCALED", "-O2", "-O2 -DINVERSE",
                         "divisions"),
    "loop_not_vectorised": ("kernel.f90", "gfortran-12", "UPDATE",
                            "-O3 -fno-tree-loop-vectorize -fno-tree-slp-vectorize", "-O3",
                            "scalar"),
    "single_and_double": ("kernel.f90", "gfortran-12", "MIXED", "-O2", "-O2 -DONE_KIND",
                          "conversions"),
}
# Source, compiler, kernel, and what both, A and B are built with: nothing that code shows differs.
SAME = {
    "c_standard": ("kernel.c", "gcc-12", "CHAIN", "-O2", "-std=gnu11", "-std=gnu17"),
    "debug_information": ("kernel.c", "gcc-12", "MIXING", "-O2", "-g1", "-g3"),
    "section_names": ("kernel.c", "clang-19", "LIMITS", "-O2", "", "-ffunction-sections"),
    "plt": ("kernel.c", "clang-19", "STEPS", "-O2", "", "-fno-plt"),
    "common": ("kernel.c", "gcc-12", "THROUGH", "-O2", "-fcommon", "-fno-common"),
    "rtti": ("kernel.cc", "g++-12", "BINS", "-O2", "", "-fno-rtti"),
    "cxx_standard": ("kernel.cc", "g++-12", "FUSED", "-O3", "-std=c++17", "-std=c++20"),
    "stack_position": ("kernel.cc", "g++-12", "MAXIMUM", "-O3", "", "-DPADDING=4096"),
    "fortran_lines": ("kernel.f90", "gfortran-12", "UPDATE", "-O3", "", "-ffree-line-length-none"),
    "fortran_warnings": ("kernel.f90", "gfortran-12", "GATHER", "-O2", "", "-Wall"),
}


def setups_of(source):
    lines = []
    for name, (file, compiler, kernel, a, b, _) in PAIRS.items():
        if file == source:
            for side, flags in (("a", a), ("b", b)):
                lines.append(f'{name}_{side} = {{ cc = "{compiler}", flags = "-D{kernel} {flags}" }}')
    for name, (file, compiler, kernel, both, a, b) in SAME.items():
        if file == source:
            for side, flags in (("a", a), ("b", b)):
                lines.append(f'{name}_{side} = {{ cc = "{compiler}", '
                             f'flags = "-D{kernel} {both} {flags}" }}')
    return "\n".join(lines)


class Language:
    """One scan: all pairs of a source file."""

    def __init__(self, folder, source):
        self.source = source
        self.folder = folder / source
        self.folder.mkdir()
        text = (KERNELS / source).read_text()
        (self.folder / source).write_text(text)
        self.marked = {line.split("HERE: ")[1].split()[0]: number
                       for number, line in enumerate(text.splitlines(), 1) if "HERE: " in line}
        cpp = "-cpp -fno-inline -J$(dirname {out}) " if source.endswith("f90") else ""
        libraries = " -lm" if source.endswith(".c") else ""
        (self.folder / "scan.toml").write_text(f"""[scan]
program = "{source}"
build = "{{cc}} {{flags}} {{remarks}} {cpp}-g -I{SOURCE}/examples/scan {{program}} -o {{out}}{libraries}"
run = "{{out}} {{runs}}"
time_percent = 2
accept = ["values", "removed"]
DIM = 1
[setup]
{setups_of(source)}
""")
        self.culprit("run", "--quiet")
        table = self.document("table", "time_ns", "--over", "setup", "--by", "program")
        self.times = {mark["x"]: mark.get("value") for mark in table["panels"][0]["series"][0]["marks"]}

    def culprit(self, *arguments):
        return subprocess.run([CULPRIT, "scan", *arguments], cwd=self.folder, check=True,
                              stdout=subprocess.PIPE).stdout

    def document(self, *arguments):
        return json.loads(self.culprit(*arguments, "--format", "json"))

    def explain(self, name):
        return self.document("explain", f"kernel {name}_a 1", f"kernel {name}_b 1")

    def loss(self, name):
        return self.times[name + "_a"] / self.times[name + "_b"] - 1

    def is_here(self, place, kernel):
        """Whether a place is the marked line of a kernel, or within two of it."""
        file, _, line = place.rpartition(":")
        return file == self.source and line.isdigit() and abs(int(line) - self.marked[kernel]) <= 2


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    for name in set(sys.argv[1:]) - set(PAIRS):
        sys.exit(f"there is no pair '{name}'")
    if len(sys.argv) > 1:  # these alone
        for name in set(PAIRS) - set(sys.argv[1:]):
            del PAIRS[name]
        SAME.clear()
    counted = right = by_place = invented = 0
    with tempfile.TemporaryDirectory() as temporary:
        languages = {}
        for name, (source, _, kernel, _, _, planted) in PAIRS.items():
            if source not in languages:
                languages[source] = Language(pathlib.Path(temporary), source)
            language = languages[source]
            found = language.explain(name)["causes"]
            causes = [cause["name"] for cause in found]
            loss = language.loss(name)
            counts = loss >= LEAST_LOSS
            is_right = causes[:1] == [planted]
            here = bool(found) and language.is_here(found[0]["place"], kernel)
            counted += counts
            right += counts and is_right
            by_place += counts and here
            print(f"{name:22} {100 * loss:+6.0f} %{' ' if counts else '!'} {planted:11} "
                  f"{'right' if is_right else 'WRONG'} {'here' if here else 'ELSEWHERE':9} "
                  f"{', '.join(causes)}", flush=True)
        for name, (source, *_) in SAME.items():
            causes = [cause["name"] for cause in languages[source].explain(name)["causes"]]
            invented += bool(causes)
            print(f"{name:22} {100 * languages[source].loss(name):+6.0f} %  no difference  "
                  f"{', '.join(causes) or '-'}", flush=True)
    print(f"! loses less than {100 * LEAST_LOSS:.0f} % here: does not count")
    print(f"{right} of {counted} causes, {by_place} of {counted} places; "
          f"{invented} of {len(SAME)} invented")


if __name__ == "__main__":
    main()
