#!/usr/bin/env python3
"""Loops of known cost, and what `culprit why --stalls` says of them.

    bench/known_cycles.py CULPRIT [--profile FILE] [--keep FILE] [--windows auto]

The loops (bench/known_cycles.c) are timed on this machine, by CPU time, the least of nine runs;
the clock is that of a chain of additions. Then one profile is made of all of them (timer+simulate:
measured time, counted executions), or --profile is one. Printed, a loop a row: cycles an
instruction as timed, as analysed with its 95 % interval, and the causes that are not ruled out
with more than 5 % of the cycles; what the analysis holds for the code's own cost is in capitals.

Bars: CPI within 3 % or the interval; where a row says which causes it is made of, at least one of
these has the largest bound or is the largest part of the best case; and what must be ruled out has
less than 5 %. Exit status 1 where a bar is missed.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parent / "known_cycles.c"
DATA = {"load_l2", "load_l3", "load_memory", "load_other_core", "bandwidth"}
MEMORY = DATA | {"translation", "store_buffer"}
NOT_OF_REGISTERS = MEMORY | {"misprediction", "forwarding", "serializing", "microcode", "code_fetch"}
LEAST_SHARE = 0.05


@dataclasses.dataclass
class Loop:
    name: str
    causes: set[str]     # right: any of these
    ruled_out: set[str]  # must not be there


CHAIN = {"chain"}
LOOPS = [
    *[Loop(name, CHAIN, NOT_OF_REGISTERS | {"divider"})
      for name in ("add_chain", "imul_chain", "lea_chain", "cmov_chain", "popcnt_chain",
                   "crc32_chain", "mul_chain", "addsd_chain", "mulsd_chain", "paddd_chain",
                   "cvt_chain")],
    *[Loop(name, {"divider", "chain"}, NOT_OF_REGISTERS)
      for name in ("div_chain", "divsd_chain", "sqrtsd_chain", "sqrt_among", "divsd_among")],
    Loop("load_chain", CHAIN, MEMORY | {"misprediction", "divider", "serializing"}),
    Loop("indexed_chain", CHAIN, MEMORY | {"misprediction", "divider", "serializing"}),
    Loop("lock_add", {"serializing"}, MEMORY | {"divider", "misprediction"}),
    Loop("lock_among", {"serializing"}, MEMORY | {"divider", "misprediction"}),
    Loop("four_adds", set(), NOT_OF_REGISTERS | {"divider"}),
    Loop("nops", set(), NOT_OF_REGISTERS - {"code_fetch"} | {"divider"}),
    Loop("three_loads", set(), MEMORY | {"divider", "misprediction"}),
    Loop("two_stores", {"port"}, MEMORY | {"divider", "misprediction"}),
    Loop("four_addsd", {"chain", "port"}, NOT_OF_REGISTERS | {"divider"}),
    Loop("ttnn", set(), MEMORY | {"misprediction", "divider"}),
    Loop("always_taken", set(), MEMORY | {"misprediction", "divider"}),
    Loop("l2_chase", {"load_l2"}, {"store_buffer", "misprediction", "divider", "code_fetch"}),
    Loop("dram_chase", {"load_memory", "load_l3", "translation"},
         {"store_buffer", "misprediction", "divider", "code_fetch"}),
    Loop("copy", {"load_memory", "load_l3", "store_buffer", "bandwidth", "translation"},
         {"misprediction", "divider", "code_fetch", "serializing"}),
    Loop("stream", {"load_memory", "load_l3", "load_l2", "bandwidth"},
         {"misprediction", "divider", "code_fetch", "serializing", "store_buffer"}),
]
# Instructions of a round.
INSTRUCTIONS = {name: 22 for name in
                ("add_chain imul_chain lea_chain popcnt_chain crc32_chain mul_chain addsd_chain "
                 "mulsd_chain divsd_chain sqrtsd_chain paddd_chain load_chain indexed_chain "
                 "lock_add two_stores four_addsd").split()} | {
    "cmov_chain": 42, "cvt_chain": 42, "four_adds": 42, "nops": 62, "div_chain": 32,
    "three_loads": 32, "sqrt_among": 11, "divsd_among": 11, "lock_among": 11, "ttnn": 5.5,
    "always_taken": 5, "l2_chase": 7, "dram_chase": 7, "copy": 12, "stream": 4}


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def known_cpi(program):
    ns = {name: float(value) for name, value in
          (line.split() for line in run(program, "time").splitlines())}
    cycle_ns = ns["add_chain"] / 20  # one cycle an addition
    return {name: ns[name] / cycle_ns / INSTRUCTIONS[name] for name in ns}, 1 / cycle_ns


def analyse(culprit, profile, name):
    told = json.loads(run(culprit, "why", "--stalls", "--in", name, "--format", "json", profile))
    # Its loop: what the function does before costs next to nothing.
    return told["tallied"]


def find_shares(told):
    """What has a twentieth of the cycles: causes by their largest bound; in capitals what the code
    itself costs. {cause: share}"""
    shares = {kind.removesuffix("_cycles").upper(): cycles / told["cycles"]
              for kind, cycles in told["best_case"].items() if kind != "execution_cycles"}
    shares |= {one["cause"]: one["high_cycles"] / told["cycles"] for one in told["causes"]}
    return {cause: share for cause, share in shares.items() if share >= LEAST_SHARE}


def is_first(shares, causes):
    """Whether the largest is one of these causes; of several alike, what the analysis puts first."""
    own = {"serializing": "other", "microcode": "other"}  # in the best case
    return max(shares, key=lambda cause: round(shares[cause], 3), default="").lower() in causes | {
        own[cause] for cause in causes if cause in own}


def print_row(loop, known, told):
    """Whether the bars hold."""
    executed = told.get("instructions", 0)
    if not executed or not told["samples"] or "best_case" not in told:
        print(f"{loop.name:<14} {known:>7.3f}   nothing was sampled or counted")
        return False
    cpi = told["cycles"] / executed
    half = 1.96 * cpi / math.sqrt(told["samples"])
    is_exact = abs(cpi - known) <= max(0.03 * known, half)
    best = sum(told["best_case"].values()) / told["cycles"]
    shown = find_shares(told)
    wrong = sorted(loop.ruled_out & shown.keys())
    is_named = not loop.causes or is_first(shown, loop.causes)
    words = ", ".join(f"{cause} {100 * share:.0f} %"
                      for cause, share in sorted(shown.items(), key=lambda one: -one[1]))
    verdict = " ".join([*([] if is_exact else ["CPI"]), *([] if is_named else ["first"]),
                        *(f"not-{cause}" for cause in wrong)])
    print(f"{loop.name:<14} {known:>7.3f} {cpi:>8.3f} +-{half:<6.3f} "
          f"{best:>4.0%} {told['unexplained_cycles'] / told['cycles']:>5.0%}  "
          f"{'ok' if not verdict else 'MISSED ' + verdict:<22} {words}")
    return not verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--profile", type=pathlib.Path, help="of 'known_cycles run', made before")
    parser.add_argument("--keep", type=pathlib.Path, help="write the profile there")
    parser.add_argument("--windows", default="all", help="as of record")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "known_cycles"
        run("gcc", "-O2", "-g", SOURCE, "-o", program)
        known, clock = known_cpi(program)
        profile = asked.profile or asked.keep or pathlib.Path(folder) / "known.culprit"
        if not asked.profile:
            run(asked.culprit, "record", "--engine", "timer+simulate", "-o", profile,
                "--windows", asked.windows, "--", program, "run")
        print(f"clock {clock:.3f} GHz")
        print(f"{'loop':<14} {'timed':>7} {'analysed CPI':>18} best unexp  verdict")
        held = [print_row(loop, known[loop.name], analyse(asked.culprit, profile, loop.name))
                for loop in LOOPS]
    print(f"{sum(held)} of {len(held)} loops hold all bars")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
