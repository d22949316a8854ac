#!/usr/bin/env python3
"""culprit scan explain on causes that nobody tuned it on.

    bench/scan_explain.py

Eight pairs of builds whose one difference is planted, written down with the cause that each must
have before `explain` was run on any of them, and kept out of the tests. Prints for each pair the
cause that was planted, the causes that were named, whether the first of them is right, and whether
the costliest line is the one that is marked. No pair may be used to change `explain`: if one is, it
moves to tests/scan_explain_test.py, and another takes its place here.
"""
import json
import os
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CULPRIT = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev")) / "culprit"

KERNELS = r"""
#include <cmath>
#include <cstdint>
#include <vector>
#include "culprit_kernel.h"
constexpr int kSize = 96;
float u[kSize], v[kSize];
double p[kSize], q[kSize];
int32_t small[kSize], others[kSize];
struct Shape { virtual ~Shape() = default; virtual double area(double x) const = 0; };
struct Square final : Shape { double area(double x) const override { return x * x; } };
#ifdef RESTRICTED
#define ALONE __restrict
#else
#define ALONE
#endif
#ifdef BLUR
__attribute__((noipa)) void blur(float* ALONE to, float* ALONE from) {
  for (int i = 1; i + 1 < kSize; ++i) to[i] = from[i - 1] * 0.25f + from[i + 1] * 0.75f;  // HERE
}
#endif
int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  for (int i = 0; i < kSize; ++i) {
    u[i] = v[i] = 1.5f + i;
    p[i] = q[i] = 2.25 + i;
    small[i] = others[i] = 12345 * i + 77;
  }
  double total = 1.5;
  int64_t whole = 5;
  int stride = 1, bins = 12;
  Square square;
  const Shape* shape = &square;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(u);
    CULPRIT_CHANGED(v);
    CULPRIT_CHANGED(p);
    CULPRIT_CHANGED(q);
    CULPRIT_CHANGED(small);
    CULPRIT_CHANGED(others);
#ifdef MAXIMUM
    float most = u[0];
    for (int i = 1; i < kSize; ++i) most = u[i] > most ? u[i] : most;  // HERE
    total += most;
#endif
#ifdef STRIDE
#ifndef KNOWN
    CULPRIT_CHANGED_VALUE(stride);
#endif
    for (int i = 0; i < kSize / 2; ++i) p[i * stride] = q[i * stride] + 1.5;  // HERE
#endif
#ifdef VIRTUAL
#ifndef DIRECT
    CULPRIT_CHANGED_VALUE(shape);
#endif
    for (int i = 0; i < 24; ++i) total += shape->area(p[i]);  // HERE
#endif
#ifdef BINS
#ifdef POWER
    bins = 16;
#else
    CULPRIT_CHANGED_VALUE(bins);
#endif
    for (int i = 0; i < 24; ++i) whole += small[i] % bins;  // HERE
#endif
#ifdef HYPOT
    for (int i = 0; i < 24; ++i) {
#ifdef BY_HAND
      p[i] = q[i] * q[i] + p[i] * p[i];
#else
      p[i] = std::pow(q[i], 3.0) + p[i];  // HERE
#endif
    }
#endif
#ifdef FUSED
    for (int i = 0; i < kSize; ++i) u[i] = u[i] * v[i] + 0.5f;  // HERE
#endif
#ifdef BYTES
    for (int i = 0; i < kSize; ++i) small[i] = small[i] + others[i];  // HERE
#endif
#ifdef VECTOR
    std::vector<double> values(p, p + 32);
    for (int i = 0; i < 32; ++i) {
#ifdef AT
      total += values.at(static_cast<unsigned>(i + stride - 1));  // HERE
#else
      total += values[static_cast<unsigned>(i + stride - 1)];
#endif
    }
#endif
#ifdef BLUR
    blur(u, v);
#endif
  }
  CULPRIT_CHANGED(total);
  CULPRIT_CHANGED(whole);
  return culprit_use(&total, sizeof total) + culprit_use(&whole, sizeof whole) +
         culprit_use(p, sizeof p) + culprit_use(u, sizeof u) + culprit_use(small, sizeof small);
}
"""

# Name: kernel, what A is built with, what B is built with, what A pays for.
PAIRS = {
    "maximum_keeps_order": ("MAXIMUM", "-O3", "-O3 -ffast-math", "scalar"),
    "unknown_stride": ("STRIDE", "-O3", "-O3 -DKNOWN", "scalar"),
    "virtual_call": ("VIRTUAL", "-O2", "-O2 -DDIRECT", "calls"),
    "unknown_divisor": ("BINS", "-O2", "-O2 -DPOWER", "divisions"),
    "library_function": ("HYPOT", "-O2", "-O2 -DBY_HAND", "calls"),
    "contraction_off": ("FUSED", "-O3 -mfma -mavx2 -ffp-contract=off", "-O3 -mfma -mavx2",
                        "unfused"),
    "vectors_of_128_bits": ("BYTES", "-O3 -mavx2 -mprefer-vector-width=128", "-O3 -mavx2",
                            "narrow"),
    "may_overlap": ("BLUR", "-O3", "-O3 -DRESTRICTED", "checks"),
}


def main():
    right = by_place = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "kernel.cc").write_text(KERNELS)
        setups = "".join(f'{name}_{side} = {{ cc = "g++-12", flags = "-D{pair[0]} {pair[number]}" }}\n'
                         for name, pair in PAIRS.items() for number, side in ((1, "a"), (2, "b")))
        (folder / "scan.toml").write_text(f"""[scan]
program = "kernel.cc"
build = "{{cc}} {{flags}} {{remarks}} -g -I{SOURCE}/examples/scan {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
DIM = 1
[setup]
{setups}""")
        subprocess.run([CULPRIT, "scan", "run", "--quiet"], cwd=folder, check=True)
        marked = [number for number, line in enumerate(KERNELS.splitlines(), 1) if "// HERE" in line]
        for name, (_, _, _, planted) in PAIRS.items():
            done = subprocess.run(
                [CULPRIT, "scan", "explain", f"kernel {name}_a 1", f"kernel {name}_b 1", "--format",
                 "json"], cwd=folder, check=True, stdout=subprocess.PIPE)
            found = json.loads(done.stdout)
            causes = [cause["name"] for cause in found["causes"]]
            lines = [int(one["line"].rsplit(":")[1]) for one in found["code"][:2]
                     if one["line"].startswith("kernel.cc:")]
            here = any(abs(line - mark) <= 3 for line in lines for mark in marked)
            right += causes[:1] == [planted]
            by_place += here
            print(f"{name:20} {planted:10} {'right' if causes[:1] == [planted] else 'WRONG':6} "
                  f"{'here' if here else 'ELSEWHERE':10} {', '.join(causes)}")
    print(f"{right} of {len(PAIRS)} causes, {by_place} of {len(PAIRS)} places")


if __name__ == "__main__":
    main()
