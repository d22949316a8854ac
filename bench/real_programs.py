#!/usr/bin/env python3
"""How long real programs take under `culprit record --engine timer+simulate --windows auto`, beside
valgrind's tools.

    bench/real_programs.py CULPRIT [--only NAME] [--size 1] [--tools callgrind,cachegrind,...]
                           [--windows auto] [--machine host]

Runs each program natively, under culprit (both of its runs, and what it does to the profile at the
end), under `valgrind --tool=callgrind --cacheuse=yes` and under `--tool=cachegrind --cache-sim=yes`,
one after the other, and prints CPU time [s], and against native. The tool `qemu` is QEMU's user mode
alone, which counts nothing: what none of culprit's simulations can be faster than. Then what culprit
says: its modelled cycles with half of their 95 % interval, instructions without an estimate, and the
verdict. Programs are Debian's; those that are not installed are left out, and named. --size makes them
longer: at 1 they take a second or some natively, and all of it takes about an hour.

    bench/real_programs.py CULPRIT --repairs [--only NAME] [--runs 7] [--keep FOLDER] [--windows auto]
                           [--machine host]

Programs of which it is known what a repair that anybody can make saves (a flag, a pragma, a setting, an
unlocked call; bench/real_repairs.py has them). Each runs as it is and repaired, in turns; printed are

  measured           1 - repaired/as it is, of CPU time: the median of the pairs and their range
  verdict, certainty what `culprit why` names, of the program as it is
  place              whether the function or the caller known to be at fault is in advice on the verdict
  promised           the gain of that advice, with its interval; where there is no forecast, the share that
                     is saved at most, from 0.7 of it to its upper end
  judgement          right: verdict, place and gain (the interval holds the median, or its range of pairs
                     meets the interval); gain: only the gain is not; silent: the verdict is "none" or a
                     candidate, and not right; wrong: a firm verdict of something else, or of another place

With --keep the profiles and the texts of `culprit why` stay in FOLDER.
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

import real_repairs

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent"}
SOLVER = """
program solver
  implicit none
  integer, parameter :: n = 1000
  real(8) :: a(n, n), b(n, n)
  integer :: i, j, step, steps
  character(16) :: word
  call get_command_argument(1, word)
  read (word, *) steps
  a = 0
  a(1, :) = 1
  b = a
  do step = 1, steps
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
    a(2:n-1, 2:n-1) = b(2:n-1, 2:n-1)
  end do
  print *, sum(a)
end program
"""


def make_text(folder, size):
    path = folder / "text"
    state = 1
    with open(path, "w") as out:
        for i in range(120000 * size):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            out.write(f"{state >> 40} word{state >> 33 & 1023} line {i} {'abc' * (state >> 20 & 7)}\n")
    return str(path)


def make_source(folder, size):
    path = folder / "source.c"
    with open(path, "w") as out:
        for i in range(700 * size):
            out.write(f"""
static int table{i}[64];
int work{i}(int n, int *to) {{
  int sum = {i};
  for (int i = 0; i < n; ++i) {{
    switch (to[i] & 7) {{
      case 0: sum += table{i}[i & 63]; break;
      case 1: sum ^= to[i] * {i + 3}; break;
      case 2: table{i}[sum & 63] = i; break;
      default: to[i] = sum >> (i & 3);
    }}
  }}
  return sum;
}}
""")
    return str(path)


def programs(folder, size):
    """name, command, whether it works on floating-point values"""
    text = make_text(folder, size)
    source = make_source(folder, size)
    solver = folder / "solver"
    (folder / "solver.f90").write_text(SOLVER)
    if shutil.which("gfortran"):
        subprocess.run(["gfortran", "-O2", "-g", "-o", solver, folder / "solver.f90"], check=True)
    sql = ("create table a(x integer, y text); create table b(x integer, z integer);"
           "with recursive n(i) as (select 1 union all select i + 1 from n where i < "
           f"{250000 * size}) insert into a select i * 7919 % 65536, 'row' || i from n;"
           "insert into b select x * 31 % 65536, length(y) from a; create index ix on b(x);"
           "select count(*), sum(z) from a join b on a.x = b.x; select y from a order by y limit 3;")
    yield "xz", ["xz", "-6", "-T1", "-c", text], False
    yield "zstd", ["zstd", "-q", "-16", "--single-thread", "-c", text], False
    yield "gzip", ["gzip", "-n", "-9", "-c", text, text, text, text], False
    yield "sqlite3", ["sqlite3", ":memory:", sql], False
    compiler = "cc1"  # not the driver: valgrind and QEMU leave what it starts alone
    if shutil.which("gcc"):
        compiler = subprocess.run(["gcc", f"-print-prog-name={compiler}"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.strip()
    yield "gcc", [compiler, "-quiet", "-O2", source, "-o", str(folder / "gcc.s")], False
    yield "clang", ["clang", "-O2", "-c", source, "-o", str(folder / "clang.o")], False
    yield "python3", ["/usr/bin/python3", "-s", "-S", "-c",
                      f"print(sum(len(str(i * i)) for i in range({4000000 * size})))"], False
    yield "perl", ["perl", "-e", f"my %n; $n{{$_ * 7919 % 100000}} .= $_ for 1 .. {2500000 * size};"
                   "print scalar grep { /7$/ } sort values %n"], False
    yield "openssl", ["openssl", "dgst", "-md5", *[text] * 60], False
    yield "sort", ["sort", "--parallel=1", "-k2", *[text] * 6], False
    yield "convert", ["convert", "-size", f"{1400 * size}x1000", "plasma:red-blue", "-blur", "0x4",
                      "-resize", "50%", str(folder / "out.png")], True
    yield "solver", [str(solver), str(700 * size)], True


def cpu_of(*command, folder, status=0, environment=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=folder,
                          env=environment or ENVIRONMENT, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != status:
        sys.exit(f"{command}: {done.stderr[-1000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def answers(culprit, profile, folder):
    def ask(*words):
        return subprocess.run([culprit, *words, profile], cwd=folder, env=ENVIRONMENT, text=True,
                              check=True, stdout=subprocess.PIPE).stdout
    report = json.loads(ask("report", "--by", "module", "--format", "json"))
    cycles = next(event for event in report["events"] if event["name"] == "sim:cycles")
    error = sum(row["values"].get("sim:cycles", {}).get("error", 0) ** 2 for row in report["rows"]) ** 0.5
    uncovered = next((note.split("(")[1].split(")")[0] for note in report["ledger"].get("notes", [])
                      if "no window met" in note), "0 %")
    why = ask("why")
    verdict = " ".join(why.partition("Verdict")[2].split("\n\n")[0].partition("\nBasis")[0].split())
    return f"+-{196 * error / cycles['total']:.1f} %, {uncovered} not covered; {verdict}"


def measure_gain(pair, runs, folder):
    """What the repair saves of the CPU time, pair by pair of runs: the median, the least, the most."""
    gains = []
    for _ in range(runs):
        as_it_is = cpu_of(*pair.command, folder=folder, environment=ENVIRONMENT | pair.environment)
        repaired = cpu_of(*pair.repaired, folder=folder,
                          environment=ENVIRONMENT | pair.repaired_environment)
        gains.append(1 - repaired / as_it_is)
    return statistics.median(gains), min(gains), max(gains)


def kind_of(piece):
    return piece["kernel"] or piece["library"] or piece["branch"]


def judge(pair, why, gain):
    """The kind of the verdict or of the first advice, its places, what it promises, and how right
    that is."""
    verdict = why["verdict"]
    named = verdict["kernel"] or verdict["library"] or verdict["branch"] or "none"
    pieces = [piece for piece in why["advice"] if kind_of(piece) in pair.kinds]
    names = [name for piece in pieces
             for name in (piece["function"], *(caller["function"] for caller in piece["callers"]))]
    is_kind = named in pair.kinds
    is_placed = not pair.places or any(part in name for part in pair.places for name in names)
    low = sum((piece["gain"] or {}).get("low", 0.7 * piece["at_most"]) for piece in pieces)
    high = min(1.0, sum((piece["gain"] or {}).get("high", piece["upper_end"]) for piece in pieces))
    expected = sum((piece["gain"] or {}).get("expected", piece["at_most"]) for piece in pieces)
    median, least, most = gain
    is_gain = low <= most and least <= high
    certainty = verdict["certainty"]
    if certainty == "firm" and not (is_kind and is_placed):
        judgement = "wrong"
    elif not is_kind or not is_placed or certainty == "none":
        judgement = "silent"
    else:
        judgement = "right" if is_gain else "gain"
    if judgement == "right" and certainty != "firm":
        judgement = "right, candidate"
    promise = f"{100 * expected:.0f} ({100 * low:.0f} to {100 * high:.0f})"
    return named, certainty, names[0] if names else "-", promise, judgement


def compare_repairs(options):
    print(f"gains in % of CPU time, {options.runs} pairs of runs\n"
          f"{'':14}{'measured':18}{'verdict':22}{'certainty':11}{'promised':18}{'judgement':18}place")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kept = pathlib.Path(options.keep).resolve() if options.keep else folder / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        for pair in real_repairs.pairs(folder):
            if options.only and pair.name not in options.only:
                continue
            if not shutil.which(pair.command[0], path=ENVIRONMENT["PATH"]):
                print(f"{pair.name:14}not installed")
                continue
            gain = measure_gain(pair, options.runs, folder)
            measured = f"{100 * gain[0]:.0f} ({100 * gain[1]:.0f} to {100 * gain[2]:.0f})"
            profile = kept / f"{pair.name}.culprit"
            environment = ENVIRONMENT | pair.environment
            cpu_of(options.culprit, "record", "-q", "--force", "--engine", "timer+simulate",
                   "--machine", options.machine, "--windows", options.windows, "-o", profile, "--",
                   *pair.command, folder=folder, environment=environment)

            def ask(*words):
                return subprocess.run([options.culprit, "why", *words, profile], env=environment,
                                      text=True, check=True, stdout=subprocess.PIPE).stdout
            named, certainty, place, promise, judgement = judge(
                pair, json.loads(ask("--format", "json")), gain)
            (kept / f"{pair.name}.txt").write_text(ask())
            print(f"{pair.name:14}{measured:18}{named:22}{certainty:11}{promise:18}{judgement:18}"
                  f"{place}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=os.path.realpath)
    parser.add_argument("--only", action="append")
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--tools", default="culprit,callgrind,cachegrind")
    parser.add_argument("--windows", default="auto")
    parser.add_argument("--machine", default="host")
    parser.add_argument("--repairs", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--keep")
    options = parser.parse_args()
    if options.repairs:
        compare_repairs(options)
        return
    tools = options.tools.split(",")
    print(f"{'':10}{'native s':>9}" + "".join(f"{tool + ' s':>13}{'x':>7}" for tool in tools))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = folder / "profile"
        commands = {
            "culprit": [options.culprit, "record", "-q", "--force", "--engine", "timer+simulate",
                        "--machine", options.machine, "--windows", options.windows, "-o", profile,
                        "--"],
            "qemu": [f"qemu-{platform.machine()}"],
            "callgrind": ["valgrind", "-q", "--tool=callgrind", "--cacheuse=yes",
                          f"--callgrind-out-file={folder / 'callgrind'}"],
            "cachegrind": ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes",
                           f"--cachegrind-out-file={folder / 'cachegrind'}"]}
        for program, command, is_float in programs(folder, options.size):
            if options.only and program not in options.only:
                continue
            command[0] = shutil.which(command[0], path=ENVIRONMENT["PATH"])  # QEMU does not look
            if not command[0]:
                print(f"{program:10}not installed")
                continue
            native = cpu_of(*command, folder=folder)
            cells = f"{program:10}{native:9.2f}"
            for tool in tools:
                seconds = cpu_of(*commands[tool], *command, folder=folder)
                cells += f"{seconds:13.1f}{seconds / native:7.1f}"
            print(cells + ("  floating point" if is_float else ""), flush=True)
            if "culprit" in tools:
                print(f"{'':10}{answers(options.culprit, profile, folder)}", flush=True)


main()
