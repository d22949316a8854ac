#!/usr/bin/env python3
"""How the daemon's table of samples would do, were it made otherwise: DCPI's trace-driven study
(section 5.4 of the paper) for today's loads.

    bench/sample_table.py [--seconds 20] [--rate 4999]

Samples the whole machine (`perf record -a`: every sample, by CPU) while it compiles, runs Python, starts
short programs by the hundred, or does all of what bench/always_on.py calls a mixed load; then counts
the samples of each load in tables of other associativity, replacement, size, hash and keys
(bench/sample_table.cc, which checks itself against src/daemon/sample_table.h). Tables are read every
four seconds, as the daemon does. Samples of idle CPUs are left out: the daemon counts them apart.

Prints, per table and load: hits [% of samples], evictions [per 1,000 samples], and how many entries
were in use when it was read [mean of CPUs and reads]. Needs root and perf. The loads are this
machine's, with whatever else it does.
"""
import argparse
import bisect
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

from always_on import PYTHON, Loads, run

SOURCE = pathlib.Path(__file__).parents[1]
DRAIN_SECONDS = 4
KERNEL_HALF = 1 << 63
LINE = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+\[(?P<cpu>\d+)\]\s+"
                  r"(?P<time>\d+\.\d+):\s+(?P<rest>.*)$")
MMAP = re.compile(r"PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ "
                  r"(?:0x)?([0-9a-f]+)[^\]]*\]: (\S+) (.*)$")
FORK = re.compile(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")


class Spaces:
    """What is mapped where, by process, as perf's records tell it."""

    def __init__(self):
        self.maps = {}  # pid -> sorted [(start, end, offset, path)]
        self.images = {}

    def map(self, pid, start, length, offset, path):
        kept = [one for one in self.maps.get(pid, ())
                if one[1] <= start or one[0] >= start + length]
        bisect.insort(kept, (start, start + length, offset, path))
        self.maps[pid] = kept

    def place(self, pid, address):
        """A number for the image, and the offset in it; memory without a file is the process's own."""
        if address >= KERNEL_HALF:
            return 0, address & ((1 << 56) - 1)
        own = self.maps.get(pid, ())
        at = bisect.bisect_right(own, (address, KERNEL_HALF, 0, "")) - 1
        if at >= 0 and address < own[at][1] and own[at][3].startswith("/"):
            start, _, offset, path = own[at]
            return self.images.setdefault(path, len(self.images) + 3), address - start + offset
        return self.images.setdefault(f"process {pid}", len(self.images) + 3), address


def read_samples(recording):
    spaces, whos, samples = Spaces(), {}, bytearray()
    script = subprocess.Popen(["perf", "script", "-i", recording, "--show-mmap-events",
                               "--show-task-events", "-F", "comm,pid,tid,cpu,time,ip"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in script.stdout:
        found = LINE.match(line)
        if not found:
            continue
        rest = found["rest"]
        if mapped := MMAP.match(rest):
            pid, start, length, offset = int(mapped[1]), *(int(mapped[i], 16) for i in (2, 3, 4))
            spaces.map(pid, start, length, offset, mapped[6])
        elif forked := FORK.match(rest):
            child, parent = int(forked[1]), int(forked[2])
            if child != parent:
                spaces.maps[child] = list(spaces.maps.get(parent, ()))
        elif not rest.startswith("PERF_RECORD") and int(found["pid"]) > 0:
            pid, address = int(found["pid"]), int(rest.split()[0], 16)
            image, offset = spaces.place(pid, address)
            who = whos.setdefault(found["comm"], len(whos) + 1)
            samples += struct.pack("<IIQIIQ", int(found["cpu"]),
                                   int(float(found["time"])) // DRAIN_SECONDS,
                                   image << 38 | offset & ((1 << 38) - 1) if image
                                   else 1 << 58 | offset, who, pid, address)
    return bytes(samples), script.wait()


def list_loads(loads):
    def storm():
        for _ in range(100):
            run("/bin/true")
    return {"compile": loads.compile_once, "python": lambda: run(sys.executable, "-c", PYTHON),
            "storm": storm, "mixed": lambda: loads.mixed(1)}


def record(folder, rate, seconds, load):
    """Two streams of the load, as long as it is sampled."""
    path = folder / "perf.data"
    perf = subprocess.Popen(["perf", "record", "-q", "-B", "-a", "-F", str(rate), "-e", "cpu-clock",
                             "-o", path, "--", "sleep", str(seconds)], stderr=subprocess.DEVNULL)
    end = time.monotonic() + seconds

    def work():
        while time.monotonic() < end:
            load()
    streams = [threading.Thread(target=work) for _ in range(2)]
    for stream in streams:
        stream.start()
    perf.wait()
    for stream in streams:
        stream.join()
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=4999)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("needs root: it samples the whole system")
    if not shutil.which("perf"):
        sys.exit("needs perf, which has each sample by itself")
    rows = {}
    with tempfile.TemporaryDirectory(prefix="sample-table-") as name:
        folder = pathlib.Path(name)
        replay = folder / "replay"
        subprocess.run(["g++", "-std=c++20", "-O2", "-I", SOURCE / "src", SOURCE / "bench/sample_table.cc",
                        "-o", replay], check=True)
        loads = list_loads(Loads(folder))
        for load, work in loads.items():
            samples, status = read_samples(record(folder, options.rate, options.seconds, work))
            if status != 0 or not samples:
                sys.exit(f"{load}: perf recorded nothing that perf script reads")
            said = subprocess.run([replay], input=samples, stdout=subprocess.PIPE, check=True).stdout
            reads = len({samples[i:i + 8] for i in range(0, len(samples), 32)})
            print(f"{load}: {len(samples) // 32:,} samples, {reads} reads of tables", flush=True)
            for line in said.decode().splitlines():
                table, *values = line.split("\t")
                count, hits, evicted, used = map(int, values)
                rows.setdefault(table, []).append(
                    f"{100 * hits / count:8.1f}{1000 * evicted / count:7.1f}{used / reads:7.0f}")
    print(f"\n{'hits %, evicted / 1,000, entries used':50}" + "".join(f"{load:>22}" for load in loads))
    for table, cells in rows.items():
        print(f"{table:50}" + "".join(cells))


if __name__ == "__main__":
    main()
