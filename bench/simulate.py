#!/usr/bin/env python3
"""How much slower programs run under the software PMU, beside valgrind's tools.

    bench/simulate.py CULPRIT [--runs 3] [--only NAME] [--group integer] [--tools COLUMN,...]

Runs each program natively, under QEMU by itself, under QEMU with callbacks that do nothing
(what one for each block and each access costs by itself), under the simplest plugin that models
the data caches of one thread (simplest_plugin.cc), under `culprit record --engine simulate`
(without a machine; with cachegrind's kind, L1 and LLC; with locality; a sixteenth of its sets; a
sixteenth with locality and data objects, after a million accesses in all sets; with cycles, but all of
it skipped; with cycles; with both cycles and locality), and under
`valgrind --tool=cachegrind --cache-sim=yes` and `--tool=callgrind --cacheuse=yes`, interleaved, and
prints CPU time against native: medians ("-": the simplest plugin is not for several threads, and its
mean is that of the others). Programs are Debian's, or compiled here. Some minutes a run. The last
integer program is mostly start-up: code that runs a few times, or once. Strings are copies and
fills by the C library, of 1 GiB (bench/strings.py has more of them).
"""
import argparse
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(SOURCE / "tests"))
from valgrind_counts import plain_caches, plain_machine  # noqa: E402

MATMUL = r"""
#include <stdlib.h>
#include <stdio.h>
int main(int argc, char** argv) {
  const int n = atoi(argv[1]);
  const int by_column = argc > 2;
  double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * n);
  double *c = calloc(n * n, sizeof(double));
  for (int i = 0; i < n * n; ++i) a[i] = i % 7, b[i] = i % 5;
  if (by_column) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
  } else {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
  printf("%g\n", c[n + 1]);
}
"""
HASH = r"""
#include <unordered_map>
#include <cstdio>
int main() {
  std::unordered_map<unsigned, unsigned> map;
  unsigned x = 1, hits = 0;
  for (int i = 0; i < 300000; ++i) { x = x * 1664525 + 1013904223; map[x >> 14] += i; }
  for (int i = 0; i < 600000; ++i) { x = x * 1664525 + 1013904223; hits += map.count(x >> 14); }
  std::printf("%u\n", hits);
}
"""
NBODY = r"""
#include <math.h>
#include <stdio.h>
enum { kBodies = 5 };
static double at[kBodies][3], speed[kBodies][3], mass[kBodies];
int main(void) {
  for (int i = 0; i < kBodies; ++i) {
    mass[i] = 1.0 / (1 + i);
    for (int k = 0; k < 3; ++k) at[i][k] = 3 * i + k, speed[i][k] = 0.01 * (i - k);
  }
  for (int step = 0; step < 250000; ++step) {
    for (int i = 0; i < kBodies; ++i) {
      for (int j = i + 1; j < kBodies; ++j) {
        double way[3], square = 0;
        for (int k = 0; k < 3; ++k) way[k] = at[i][k] - at[j][k], square += way[k] * way[k];
        const double pull = 0.001 / (square * sqrt(square));
        for (int k = 0; k < 3; ++k) {
          speed[i][k] -= way[k] * mass[j] * pull;
          speed[j][k] += way[k] * mass[i] * pull;
        }
      }
    }
    for (int i = 0; i < kBodies; ++i)
      for (int k = 0; k < 3; ++k) at[i][k] += 0.001 * speed[i][k];
  }
  printf("%.9f\n", at[0][0]);
}
"""
THREADS = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
enum { kBytes = 1 << 20, kRounds = 24 };
static uint8_t text[2][kBytes];
static uint32_t pairs[2][1 << 12];
static void* run(void* number) {
  const intptr_t own = (intptr_t)number;
  uint8_t* const bytes = text[own];
  for (int i = 0; i < kBytes; ++i) bytes[i] = (i * 2654435761u) >> 24;
  for (int round = 0; round < kRounds; ++round)
    for (int i = 1; i < kBytes; ++i) ++pairs[own][(bytes[i - 1] & 63) << 6 | (bytes[i] & 63)];
  return NULL;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, (void*)1);
  run((void*)0);
  pthread_join(thread, NULL);
  printf("%u\n", pairs[0][7] + pairs[1][9]);
}
"""
# A callback for each block that runs and each access, as ours has.
NOTHING = r"""
#include "simulate/qemu/qemu_events.h"
static void block_runs(unsigned, void*) {}
static void accessed(unsigned, qemu_plugin_meminfo_t, uint64_t, void*) {}
static void translated(qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_cb(block, block_runs, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i)
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, nullptr);
}
extern "C" {
int qemu_plugin_version = culprit::find_qemu_interface();
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int, char**) {
  culprit::tell_qemu_events(id, *info, {.block_is_translated = translated});
  return 0;
}
}
"""
GROUPS = ("integer", "FP", "strings")
LAST_LEVEL_KIB = 8192
MACHINE = plain_machine(LAST_LEVEL_KIB)
CACHES = plain_caches(LAST_LEVEL_KIB)


def cpu_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], cwd=folder, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def build(folder, name, text, compiler, *flags):
    source = folder / name
    source.write_text(text)
    program = folder / source.stem
    subprocess.run([compiler, "-O2", source, *flags, "-o", program], check=True)
    return program


def programs(folder):
    """[(name, group, command)]"""
    data = folder / "data"
    data.write_bytes(pathlib.Path("/usr/bin/python3").resolve().read_bytes()[:1_000_000])
    matmul = build(folder, "matmul.c", MATMUL, "gcc")
    sql = ("create table t(a,b);with recursive r(i) as (select 1 union all select i+1 from r "
           "where i<10000) insert into t select i, (i*7919)%10007 from r;"
           "select sum(x.b) from t x join t y on x.a=y.b;")
    python = f"import sqlite3;c=sqlite3.connect(':memory:');c.executescript({sql!r})"
    yield "gzip", "integer", ["gzip", "-c", data]
    yield "xz -1", "integer", ["xz", "-1", "-T1", "-c", data]
    yield "sqlite3", "integer", ["sqlite3", ":memory:", sql.replace("10000)", "30000)")]
    yield "unordered_map", "integer", [build(folder, "hash.cc", HASH, "g++")]
    yield "two threads", "integer", [build(folder, "threads.c", THREADS, "gcc", "-pthread")]
    yield "sqlite in python", "integer", ["/usr/bin/python3", "-I", "-c", python]
    wide = build(folder, "matmul_avx2.c", MATMUL, "gcc", "-O3", "-mavx2", "-mfma")
    yield "matmul row", "FP", [matmul, "350"]
    yield "matmul column", "FP", [matmul, "350", "column"]
    yield "matmul row AVX2", "FP", [wide, "400"]
    yield "nbody", "FP", [build(folder, "nbody.c", NBODY, "gcc", "-lm")]
    strings = (SOURCE / "bench/strings/strings.c").read_text()
    strings = build(folder, "strings.c", strings, "gcc", "-static")
    for kind in ("memcpy", "memset"):
        for size, unit in ((2 << 10, "2 KiB"), (64 << 20, "64 MiB")):
            yield f"{kind} {unit}", "strings", [strings, kind, str(size), str((1 << 30) // size)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--group", choices=GROUPS)
    parser.add_argument("--tools", type=lambda text: text.split(","))
    options = parser.parse_args()
    culprit = [options.culprit, "record", "-q", "--no-symbols", "--engine", "simulate"]
    qemu = ["qemu-x86_64", "-cpu", "max"]
    tools = {
        "native": [],
        "qemu": qemu,
        "callbacks": [*qemu, "-plugin", "./nothing"],
        "simplest": [*qemu, "-plugin", "./simplest"],
        "counts": [*culprit, "--machine", "none", "--"],
        "caches": [*culprit, "--machine", "machine.toml", "--detail", "events", "--"],
        "locality": [*culprit, "--machine", "machine.toml", "--detail", "events",
                     "--locality", "all", "--objects", "none", "--"],
        "sets": [*culprit, "--machine", "machine.toml", "--detail", "events",
                 "--sets", "1/16", "--"],
        "sample": [*culprit, "--machine", "machine.toml", "--detail", "events", "--locality", "all",
                   "--objects", "site", "--sets", "1/16,1,1000000", "--"],
        "outside": [*culprit, "--machine", "machine.toml", "--skip", str(10 ** 15), "--"],
        "cycles": [*culprit, "--machine", "machine.toml", "--"],
        "both": [*culprit, "--machine", "machine.toml", "--locality", "all", "--objects", "none", "--"],
        "cachegrind": ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *CACHES,
                       "--cachegrind-out-file=/dev/null"],
        "callgrind": ["valgrind", "--tool=callgrind", "--cacheuse=yes", *CACHES,
                      "--callgrind-out-file=/dev/null"],
    }
    if options.tools is not None:
        for name in set(options.tools) - set(tools):
            parser.error(f"--tools: {name} is not one of {', '.join(tools)}")
        tools = {name: words for name, words in tools.items()
                 if name == "native" or name in options.tools}
    ratios = {name: {group: [] for group in GROUPS} for name in tools}
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "machine.toml").write_text(MACHINE)
        simplest = (SOURCE / "bench/simplest_plugin.cc").read_text()
        for tool, name, text in (("callbacks", "nothing.cc", NOTHING),
                                 ("simplest", "simplest.cc", simplest)):
            if tool not in tools:
                continue
            build(folder, name, text, "g++", "-std=c++20", "-shared", "-fPIC",
                  "-I", SOURCE / "src", SOURCE / "src/simulate/qemu/qemu_events.cc")
        print(f"{'CPU time / native':20}" + "".join(f"{name:>12}" for name in tools))
        for name, group, command in programs(folder):
            if options.only and options.only not in name or options.group not in (None, group):
                continue
            program = shutil.which(command[0])  # QEMU does not look for it
            if program is None:
                sys.exit(f"simulate.py: {command[0]} is not installed")
            used = {tool: words for tool, words in tools.items()
                    if (tool, name) != ("simplest", "two threads")}
            seconds = {tool: [] for tool in used}
            for _ in range(options.runs):
                for tool, words in used.items():
                    seconds[tool].append(cpu_seconds([*words, program, *command[1:]], folder))
            medians = {tool: statistics.median(values) for tool, values in seconds.items()}
            line = f"{name:20}{medians['native'] * 1000:9.0f} ms"
            for tool in list(tools)[1:]:
                if tool not in used:
                    line += f"{'-':>12}"
                    continue
                ratio = medians[tool] / medians["native"]
                ratios[tool][group].append(ratio)
                line += f"{ratio:12.1f}"
            print(line, flush=True)
        for group in GROUPS:
            line = f"{'geomean ' + group:20}{'':12}"
            for tool in list(tools)[1:]:
                values = ratios[tool][group]
                mean = math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
                line += f"{mean:12.1f}"
            print(line)


if __name__ == "__main__":
    main()
