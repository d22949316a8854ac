#!/usr/bin/env python3
"""Does `culprit diff` find a difference where there is none?

    bench/diff_splits.py CULPRIT [--runs 10] [--splits 100]

Ten runs each of three programs (gzip, sort, sqlite3), sampled by turns, are split five and five in 100
ways drawn at random (the same in each run of this script): a function or the total that `diff` calls
significant (+ or -) is a false alarm. Bar: none in at least 90 of 100 splits, for each program.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SQL = """create table t(a, b);
insert into t select value, value * 7919 % 10007 from generate_series(1, 60000);
create index i on t(b);
select sum(x.a * y.a % 17) from t x join t y on x.b = y.b;
"""


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout


def make_programs(folder):
    text = folder / "text"
    text.write_text("".join(f"{i * i % 9973} line {i}\n" for i in range(400_000)))
    sql = folder / "join.sql"
    sql.write_text(SQL)
    return {"gzip": ["gzip", "-9", "-c", text], "sort": ["sort", "-n", text],
            "sqlite3": ["sqlite3", "-batch", "-init", sql, ":memory:", ".exit"]}


def count_alarms(culprit, base, new):
    told = json.loads(run(culprit, "diff", "--format", "json", "--limit", 0, "--base", *base, "--new", *new))
    return sum(row["verdict"] in ("more", "less", "+", "-") for row in told["rows"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--splits", type=int, default=100)
    asked = parser.parse_args()
    drawn = random.Random(1)
    held = []
    with tempfile.TemporaryDirectory(prefix="diff-splits-") as name:
        folder = pathlib.Path(name)
        programs = make_programs(folder)
        runs = {program: [] for program in programs}
        for number in range(asked.runs):
            for program, command in programs.items():
                runs[program].append(folder / f"{program}-{number}.culprit")
                run(asked.culprit, "record", "-q", "-o", runs[program][-1], "--", *command)
        for program, profiles in runs.items():
            quiet = 0
            for _ in range(asked.splits):
                order = drawn.sample(profiles, len(profiles))
                half = len(order) // 2
                quiet += count_alarms(asked.culprit, order[:half], order[half:]) == 0
            held.append(quiet >= 0.9 * asked.splits)
            print(f"{program:10} nothing significant in {quiet} of {asked.splits} splits"
                  f"{'' if held[-1] else '  MISSED'}", flush=True)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
