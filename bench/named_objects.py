#!/usr/bin/env python3
"""How many L1D misses of real programs are of data objects that have a name.

    bench/named_objects.py CULPRIT [--only NAME] [--show 6] [--sources FOLDER] [--objects site]

A named object is a variable, memory that a function outside allocators asked for (an interpreter's
and a database's own are allocators), a stack, a mapped file (`culprit data`, "named"). Programs are
C++, Fortran and Rust of bench/named_data, compiled here with -g, and, as far as they are there,
python3, sqlite3 and gzip with debug information: python3 the first of PYTHONS that has it; sqlite3 and
gzip built from the sources of the distribution, which --sources says where to find or to put
(`apt-get source`). What is not there is said. Then the same programs stripped: how many places of
allocation are told apart.
"""
import argparse
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PYTHONS = ["/usr/bin/python3-dbg", *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1*/bin/python3"))),
           "/usr/local/bin/python3"]
SQL = ("create table t(a integer primary key, b text, c real); "
       "with recursive n(i) as (select 1 union all select i + 1 from n limit 20000) "
       "insert into t select i, 'row number ' || (i * 7919 % 20011), i * 0.5 from n; "
       "create index t_b on t(b); select b, sum(c) from t group by substr(b, 1, 13) order by 2 limit 3;")
PYTHON = ("rows = {str(i * 7919 % 20011): [i, i * 0.5, {'a': i}] for i in range(20000)}\n"
          "print(sum(v[0] + len(v[2]) for k, v in sorted(rows.items())))")


def has_debug_information(program):
    # readelf may warn about what it does not know: only its output counts.
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True).stdout
    return ".debug_info" in sections


def built(command, program, folder):
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    return str(program) if done.returncode == 0 and program.exists() else None


def find_or_get_sources(name, folder):
    """The source tree of a distribution's package; None: there is none."""
    found = sorted(path for path in folder.glob(f"{name}-[0-9]*") if path.is_dir())
    if not found and shutil.which("apt-get"):
        subprocess.run(["apt-get", "source", "-q", name], cwd=folder, capture_output=True)
        found = sorted(path for path in folder.glob(f"{name}-[0-9]*") if path.is_dir())
    return found[0] if found else None


def programs(folder, sources):
    """{name: (command or None, why not)}"""
    def compiled(name, compiler, flags, source):
        if shutil.which(compiler) is None:
            return None, f"no {compiler} here"
        done = subprocess.run([compiler, *flags, "-o", folder / name, HERE / "named_data" / source])
        return ([str(folder / name)], "") if done.returncode == 0 else (None, f"{compiler} failed")
    yield "C++ containers", *compiled("containers", "g++", ["-O2", "-g"], "containers.cc")
    yield "Fortran", *compiled("heat", "gfortran", ["-O2", "-g"], "heat.f90")
    yield "Rust", *compiled("words", "rustc", ["-O", "-g"], "words.rs")
    python = next((p for p in PYTHONS if os.path.exists(p) and has_debug_information(p)), None)
    yield "python3", [python, "-S", "-c", PYTHON] if python else None, "none with debug information"
    tree = find_or_get_sources("sqlite3", sources)
    sqlite = tree and built(
        "test -f sqlite3.c || (./configure --disable-tcl --disable-readline && make sqlite3.c shell.c) && "
        f"gcc -O2 -g -o {folder}/sqlite3 shell.c sqlite3.c -lpthread -ldl -lm", folder / "sqlite3", tree)
    yield "sqlite3", [sqlite, ":memory:", SQL] if sqlite else None, "no sources (apt-get source sqlite3)"
    tree = find_or_get_sources("gzip", sources)
    gzip = tree and built("test -f Makefile || ./configure CFLAGS='-O2 -g'; make -j2", tree / "gzip", tree)
    text = folder / "text"
    text.write_text("".join(f"{i} {i * i} {i ^ 0x55aa}\n" for i in range(30000)))
    yield "gzip", [gzip, "-kc", str(text)] if gzip else None, "no sources (apt-get source gzip)"


def ask(culprit, command, folder, objects):
    profile = folder / "profile.culprit"
    subprocess.run([culprit, "record", "-q", "-o", profile, "--engine", "simulate", "--objects", objects,
                    "--", *command], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return json.loads(subprocess.run([culprit, "data", profile, "--limit", "0", "--format", "json"],
                                     check=True, capture_output=True, text=True).stdout)


def share(use, of):
    return 100 * use["misses"]["L1D"] / max(1, of["misses"]["L1D"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", type=int, default=0, help="rows of the objects that miss most")
    parser.add_argument("--sources", type=pathlib.Path)
    parser.add_argument("--objects", default="site")
    options = parser.parse_args()
    culprit = options.culprit.resolve()
    too_few = []
    with tempfile.TemporaryDirectory(prefix="culprit-bench-") as name:
        folder = pathlib.Path(name)
        print(f"{'':16}{'L1D misses':>12}{'named':>9}{'objects':>9}{'stripped: named':>17}{'objects':>9}")
        for program, command, why in programs(folder, options.sources or folder):
            if options.only not in program:
                continue
            if command is None:
                print(f"{program:16}not measured: {why}")
                too_few.append(program)
                continue
            data = ask(culprit, command, folder, options.objects)
            named = share(data["named"], data["totals"])
            bare = folder / "stripped"
            subprocess.run(["strip", "-o", bare, command[0]], check=True)
            without = ask(culprit, [str(bare), *command[1:]], folder, options.objects)
            heap = [sum(row["kind"] == "heap" for row in one["rows"]) for one in (data, without)]
            print(f"{program:16}{data['totals']['misses']['L1D']:12,}{named:8.1f}%{heap[0]:9}"
                  f"{share(without['named'], without['totals']):16.1f}%{heap[1]:9}", flush=True)
            by_misses = sorted(data["rows"], key=lambda row: -row["use"]["misses"]["L1D"])
            for row in by_misses[:options.show]:
                print(f"    {share(row['use'], data['totals']):6.1f}% {'' if row['named'] else 'NOT NAMED '}"
                      f"{row['kind']} {row['name']}")
            if named < 95:
                too_few.append(program)
    print("at least 95 % named:", "all" if not too_few else "all but " + ", ".join(too_few))
    return 1 if too_few else 0


if __name__ == "__main__":
    sys.exit(main())
