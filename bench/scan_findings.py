#!/usr/bin/env python3
"""What the paper on parametric evaluation found, on the kernels of examples/scan.

    bench/scan_findings.py [FOLDER]     puts a plot of each finding into FOLDER, too (SVG)

Scans the kernels that a finding needs with two compilers and prints a sentence for each, with its
figures; of the two case studies (how an expression is written; symmetric storage by an index table)
the gain in time as well: CPU time of both programs, 9 rounds, interleaved, median and range.
"""
import csv
import io
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"
KERNELS = SOURCE / "examples/scan"
PROGRAMS = ["vecadd", "vecadd_template", "chain_lazy", "chain_steps", "chain_grouped",
            "symmetric_branch", "symmetric_index", "affine_product", "affine_inverse_product"]
SIZES = [2, 4, 5, 8]
FLAGS = {"gcc_O2": ("g++-12", "-O2"), "gcc_O3": ("g++-12", "-O3"),
         "clang_O2": ("clang++-19", "-O2")}


class Scan:
    def __init__(self, folder):
        self.folder = folder
        programs = ", ".join(f'"{KERNELS}/{name}.cc"' for name in PROGRAMS)
        setups = "\n".join(f'{name} = {{ cc = "{cc}", flags = "{flags}" }}'
                           for name, (cc, flags) in FLAGS.items())
        (folder / "scan.toml").write_text(f"""[scan]
program = [{programs}]
build = "{{cc}} {{flags}} -g -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
DIM = {SIZES}
[setup]
{setups}
""")
        self.run("run", "--quiet")

    def run(self, *arguments):
        return subprocess.run([CULPRIT, "scan", *arguments], cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def values(self, expression):
        """{(program, setup, size): value}"""
        rows = csv.DictReader(io.StringIO(self.run("table", expression, "--format", "csv")))
        return {(row["panel"], row["setup"], int(row["DIM"])): float(row["value"]) for row in rows
                if row["value"]}

    def plot(self, folder, name, expression, pattern, *options):
        if folder is not None:
            (folder / f"{name}.svg").write_text(
                self.run("plot", expression, "--program", pattern, "--form", "svg", *options))


def cpu_s(program, runs):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, str(runs)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))


def gain(folder, before, after, size, flags=("g++-12", "-O2")):
    """Times of `before` / `after`: median, least and most of 9 rounds."""
    for name in (before, after):
        subprocess.run([*flags, f"-DDIM={size}", KERNELS / f"{name}.cc", "-o", folder / name],
                       check=True)
    runs = 100
    while cpu_s(folder / after, runs) < 0.03:
        runs *= 2
    ratios = []
    for _ in range(9):
        small, large = runs // 8, runs
        times = [cpu_s(folder / name, large) - cpu_s(folder / name, small)
                 for name in (before, after)]
        ratios.append(times[0] / times[1])
    return (f"{statistics.median(ratios):.2f} times the time "
            f"({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    plots = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if plots is not None:
        plots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        scan = Scan(folder)
        instructions, flops = scan.values("instructions"), scan.values("flops")
        branches, packed = scan.values("branches"), scan.values("packed_ratio")
        print("Rolled and unrolled: g++ -O2 executes "
              f"{branches['vecadd', 'gcc_O2', 4]:g} branches for 4 elements and "
              f"{branches['vecadd', 'gcc_O2', 5]:g} for 5; -O3 "
              f"{branches['vecadd', 'gcc_O3', 4]:g} and {branches['vecadd', 'gcc_O3', 5]:g}.")
        print("Packed ratio: of the additions of 5 elements " + ", ".join(
            f"{name} packs {100 * packed['vecadd', name, 5]:.0f} %" for name in FLAGS) + ".")
        print("Expression templates: 8 elements take " + ", ".join(
            f"{instructions['vecadd_template', name, 8]:g} instructions with {name} "
            f"({instructions['vecadd', name, 8]:g} by hand)" for name in FLAGS) + ".")
        print("Inverse products: an inverse affine product takes "
              f"{flops['affine_inverse_product', 'gcc_O2', 4]:g} operations, a product "
              f"{flops['affine_product', 'gcc_O2', 4]:g}.")
        print("Case 2.53, A B A B A B at 4: the lazy expression takes "
              f"{flops['chain_lazy', 'gcc_O2', 4]:g} operations, from left to right "
              f"{flops['chain_steps', 'gcc_O2', 4]:g}, grouped "
              f"{flops['chain_grouped', 'gcc_O2', 4]:g}: "
              f"{gain(folder, 'chain_lazy', 'chain_steps', 4)} and "
              f"{gain(folder, 'chain_lazy', 'chain_grouped', 4)}.")
        print("Case 2.54, symmetric storage at 5 with g++ -O2: comparing row and column takes "
              f"{branches['symmetric_branch', 'gcc_O2', 5]:g} branches and "
              f"{instructions['symmetric_branch', 'gcc_O2', 5]:g} instructions, the index table "
              f"{branches['symmetric_index', 'gcc_O2', 5]:g} and "
              f"{instructions['symmetric_index', 'gcc_O2', 5]:g}: "
              f"{gain(folder, 'symmetric_branch', 'symmetric_index', 5)}.")
        scan.plot(plots, "rolled", "branches", "vecadd")
        scan.plot(plots, "packed_ratio", "packed_ratio", "vecadd")
        scan.plot(plots, "templates", "instructions", "vecadd*")
        scan.plot(plots, "inverse_products", "flops", "affine*", "--by", "program")
        scan.plot(plots, "expressions", "flops", "chain*", "--by", "program", "--log-y")
        scan.plot(plots, "symmetric", "instructions", "symmetric*", "--by", "program")


if __name__ == "__main__":
    main()
