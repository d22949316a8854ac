#!/usr/bin/env python3
"""What locked instructions and fences take on this CPU, as machine files (data/uarch) say it.

    bench/locked.py [ROUNDS]

Loops of 4 million rounds in turns with one of eight additions that wait for each other, a cycle each
on every CPU of the last decades: so the clock drops out. Median of the rounds and its quartiles, in
cycles. x86-64 only.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile

LOOPS = {"lock add": "lock addq $1, (%2)\\n",
         "lock add, two lines in turns": "lock addq $1, (%2)\\n lock addq $1, (%3)\\n",
         "lock xadd": "mov $1, %%eax\\n lock xadd %%rax, (%2)\\n",
         "xchg": "xchg %%rax, (%2)\\n",
         "load and lock cmpxchg": "mov (%2), %%rax\\n mov $3, %%ecx\\n lock cmpxchg %%rcx, (%2)\\n",
         "mfence": "mfence\\n"}
PROGRAM = """
#include <stdio.h>
#include <time.h>
static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
static long lines[64] __attribute__((aligned(64)));
#define LOOP(name, code)                                                                    \\
  static double name(void) {                                                                \\
    const double start = now();                                                             \\
    long rounds = 4000000, sum = 1, *one = lines, *two = lines + 8;                         \\
    __asm__ volatile("1: " code " dec %0\\n jnz 1b"                                          \\
                     : "+r"(rounds), "+r"(sum), "+r"(one), "+r"(two)::"memory", "rax", "rcx"); \\
    return now() - start;                                                                   \\
  }
#define ADD "add %1, %1\\n"
LOOP(eight_cycles, ADD ADD ADD ADD ADD ADD ADD ADD)
"""


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    text = PROGRAM
    calls = ""
    for i, code in enumerate(LOOPS.values()):
        text += f'LOOP(loop{i}, "{code}")\n'
        calls += f'  cycle = eight_cycles() / 8; printf("%.4f ", loop{i}() / cycle);\n'
    text += "int main(void) {\n  double cycle;\n" + calls + "  return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "locked"
        subprocess.run(["gcc", "-O2", "-xc", "-", "-o", program], input=text, text=True, check=True)
        runs = [[float(word) for word in subprocess.run([program], capture_output=True, text=True,
                                                        check=True).stdout.split()] for _ in range(rounds)]
    for name, values in zip(LOOPS, zip(*runs), strict=True):
        low, median, high = statistics.quantiles(values, n=4)
        print(f"{name:30}{median:8.2f} cycles ({low:.2f} to {high:.2f})")


main()
