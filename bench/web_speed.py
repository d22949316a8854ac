#!/usr/bin/env python3
"""How fast the web page is, over a generated profile of 100,000 functions (500,000 addresses with
counts, 8 million instructions of code) and over a function of 1,000 blocks.

    bench/web_speed.py [BUILD_FOLDER [FUNCTIONS]]

Build `culprit` and `report_speed_profile` there first. Chromium, node and npm as for tests/web_test.py.
"""
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TIMES = 20

# Tests in a loop: two blocks for each, some of them never executed.
BLOCKS = 1000
SWITCH = "\n".join(
    ["#include <stdio.h>", "volatile int out;", "__attribute__((noinline)) int many(int n) {", " int s = 0;",
     " for (int i = 0; i < n; ++i) {"] +
    [f"  if ((i ^ {i * 7919}) & {1 << i % 5}) s += out;" for i in range(BLOCKS // 2)] +
    [" }", " return s;", "}", "int main(void) { out = 1; printf(\"%d\\n\", many(50)); return 0; }"])


def make_packages(folder):
    """The packages that drive Chromium, by the lock file."""
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_bytes((SOURCE / "web" / name).read_bytes())
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)


@contextlib.contextmanager
def serving(culprit, profile):
    server = subprocess.Popen([culprit, "serve", "--no-browser", profile], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def do_steps(folder, address, *steps):
    done = subprocess.run(["node", SOURCE / "web/test/steps.mjs", folder, address], input=json.dumps(steps), text=True,
                          stdout=subprocess.PIPE, check=True, env={**os.environ, "HOME": str(folder)})
    return json.loads(done.stdout)["found"]


def show(what, spans, bar):
    print(f"{what:44} {statistics.median(spans):8.0f} {max(spans):8.0f} {bar:8}")


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build/release")
    functions = sys.argv[2] if len(sys.argv) > 2 else "100000"
    culprit = build / "culprit"
    verdict = "section[aria-label=verdict]"
    rows = "[aria-label=functions] .row:not(.head)"
    with_costs = f".stack[aria-busy=false] {rows}"
    head = "[aria-label=functions] .row.head [role=columnheader]:nth-child({}) button"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_packages(folder)
        profile = folder / "speed.culprit"
        subprocess.run([build / "report_speed_profile", profile, functions, "simulated"], check=True)
        (folder / "many.c").write_text(SWITCH)
        subprocess.run(["cc", "-O1", "-g", "-o", folder / "many", folder / "many.c"], check=True)
        subprocess.run([culprit, "record", "-q", "--engine", "simulate", "--machine", "none", "-o", folder / "many.culprit",
                        folder / "many"], check=True, stdout=subprocess.DEVNULL)
        print(f"{functions} functions, load {os.getloadavg()[0]:.1f}\n")
        with serving(culprit, profile) as address:
            found = do_steps(
                folder, address,
                ["time", "#1/0/overview", verdict],  # makes the documents
                ["time", "#1/0/overview", verdict],
                ["time", "#1/0/functions", rows],  # which are being made meanwhile
                ["time", "#1/0/functions", with_costs], ["time", "#1/0/functions", rows], ["wait", with_costs],
                ["clicks", [head.format(2), head.format(4)], TIMES], ["clicks", [head.format(1)], TIMES],
                ["inputs", "input[type=search]", ["step_7", "step_77", "Worker<int>::step_1", ""], TIMES],
                ["keys", "[aria-label='functions: rows']", ["ArrowDown", "PageDown", "End", "Home"], TIMES],
                ["clicks", ["[aria-label='unit'] button:nth-child(2)", "[aria-label='unit'] button:nth-child(1)"], TIMES],
                ["clicks", ["[aria-label='processes and modules'] .row:not(.head)"], TIMES],
                ["focus", "[aria-label='functions: rows']"], ["press", "Home"], ["press", "ArrowDown"], ["press", "Enter"], ["hash"])
            code = "[aria-label=assembly] .row:not(.head)"
            again = do_steps(folder, address, ["time", found[-1], code], ["time", found[-1], code],
                             ["keys", "[aria-label='assembly: rows']", ["ArrowDown", "PageDown", "End", "Home"], TIMES])
        first, second, table, costs, again_table = found[:5]
        print(f"{'ms':44} {'median':>8} {'largest':>8} {'bar':>8}")
        for what, one in ("overview, documents made", first), ("overview", second), ("functions just after it", table), \
                ("functions with costs", costs), ("functions", again_table):
            show(f"{what}: loaded", [one["loaded"]], 3000)
            show(f"{what}: drawn after that", [one["drawn"] - one["loaded"]], 1000)
        for what, spans in zip(("sort by a number", "sort by name", "search", "keys in the table", "unit", "restrict to a module"),
                               found[6:12]):
            show(what, spans, 100)
        for what, one in ("the first function", again[0]), ("a function", again[1]):
            show(f"{what}: loaded", [one["loaded"]], 3000)
            show(f"{what}: drawn after that", [one["drawn"] - one["loaded"]], 1000)
        show("keys in the assembly", again[2], 100)
        with serving(culprit, folder / "many.culprit") as address:
            every = "/: [0-9]{4,} blocks$/.test(document.querySelector('.frame svg')?.getAttribute('aria-label'))"
            few = "/: [0-9]{1,3} blocks$/.test(document.querySelector('.frame svg')?.getAttribute('aria-label'))"
            cold = ".blocks label input[type=checkbox]"
            found = do_steps(
                folder, address, ["open", "#1/0/functions?q=%5Emany%24", rows], ["focus", "[aria-label='functions: rows']"],
                ["press", "ArrowDown"], ["press", "Enter"], ["wait", "svg .block"],
                *[["until", cold, every], ["until", cold, few]] * TIMES)
        drawn = found[5::2]
        show("a graph of 1,000 blocks, laid out and drawn", [one[0] for one in drawn], 500)
        show("without a frame meanwhile", [one[1] for one in drawn], 100)


if __name__ == "__main__":
    main()
