"""Data objects of samples with data addresses: page faults of a program whose memory is known, against
what it does and what perf says; samples drawn of an exact profile, against that."""
import collections
import os
import random
import re
import struct
import subprocess

from harness import SOURCE, CulpritTest, run

PAGE = 4096
SHARED = SOURCE.parent / "shared/perfdata"

# Each page of each object is touched for the first time by one write; the file's are read.
TOUCHING = r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define PAGE 4096
#define TOUCH(p, pages) for (int i = 0; i < (pages); i++) (p)[(long)i * PAGE] = 1
__attribute__((aligned(PAGE))) char in_bss[64 * PAGE];
__attribute__((aligned(PAGE))) char in_data[32 * PAGE] = {1};
__attribute__((noinline)) static void* use_stack(void* nothing) {
  volatile char own[50 * PAGE];
  TOUCH(own, 50);
  return nothing;
}
int main(int argc, char** argv) {
  TOUCH((volatile char*)in_bss, 64);
  TOUCH((volatile char*)in_data, 32);
  int fd = open(argv[argc - 1], O_RDONLY);
  volatile char* file = mmap(0, 40 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
  for (int i = 0; i < 40; i++) (void)file[i * PAGE];
  volatile char* block = malloc(25 * PAGE);
  TOUCH(block, 25);
  volatile char* memory = mmap(0, 70 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TOUCH(memory, 70);
  use_stack(0);
  pthread_t thread;
  pthread_create(&thread, 0, use_stack, 0);
  pthread_join(thread, 0);
  return 0;
}
"""


class PageFaults(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("gcc")
        if os.sysconf("SC_PAGE_SIZE") != PAGE:
            self.skipTest("pages have another size here")
        self.program = self.compile_text(TOUCHING, "touch.c", "touch", "-O1", "-g", "-pthread")
        (self.folder / "points.bin").write_bytes(bytes(40 * PAGE))

    def record_faults(self, *options):
        profile, done = self.record("-q", *options, "-e", "page-faults:u", "-c", "1", "--",
                                    self.program, "points.bin", status=None)
        if done.returncode != 0 or "posix-timer" in done.stderr:
            self.skipTest(f"page faults cannot be recorded here: {done.stderr.strip()[-200:]}")
        return profile

    def samples(self, profile, *arguments, key="object"):
        found = collections.Counter()
        for row in self.report(profile, "--by", "object,thread", *arguments)["rows"]:
            found[row[key]] += row["values"]["page-faults:u"]["samples"]
        return found

    def test_objects_whose_pages_fault(self):
        profile = self.record_faults("--data")
        found = self.samples(profile)
        self.assertEqual((found["in_bss"], found["in_data"]), (64, 32), found)
        # The beginning of each was touched by others before, or shares a page with something.
        for name, pages in {"[heap]": 25, "[anonymous]": 70, "[stack]": 2 * 50}.items():
            self.assertTrue(pages - 2 <= found[name] <= pages + 40, (name, found))
        mapped = f"[mapped {(self.folder / 'points.bin').resolve()}]"
        self.assertGreater(found[mapped], 0, found)  # the kernel maps pages around
        self.assertEqual(found["[unknown]"], 0, found)
        report = self.report(profile, "--by", "object")
        self.assertEqual(sum(found.values()), report["events"][0]["samples"])

    def test_each_fault_is_in_and_has_no_error(self):
        profile = self.record_faults("--data")
        report = self.report(profile, "--by", "object")
        self.assertEqual(report["events"][0]["provenance"], "counted")
        self.assertEqual({row["values"]["page-faults:u"]["error"] for row in report["rows"]}, {0})
        text = self.culprit("report", profile, "--by", "object").stdout
        self.assertRegex(text, r"(?m)^page-faults:u: [0-9.k ]+ counted$")
        self.assertNotIn("+-", text)
        self.assertNotIn("~", text)

    def test_report_of_one_object_and_data_without_latencies(self):
        profile = self.record_faults("--data")
        report = self.report(profile, "--by", "object,function", "--object", "in_bss")
        self.assertEqual({(row["object"], row["function"]) for row in report["rows"]},
                         {("in_bss", "main")})
        text = self.culprit("data", profile).stdout
        self.assertRegex(text, r"in_bss")
        text = self.culprit("data", "in_data", profile).stdout
        self.assertRegex(text, r"touch\.c:\d+")
        done = self.culprit("report", "--columns", "latency,source", profile, status=1)
        self.assertIn("no accesses to memory were recorded", done.stderr)

    def test_without_data_nothing_is_said_of_objects(self):
        profile = self.record_faults()
        done = self.culprit("data", profile, status=1)
        self.assertIn("record --data", done.stderr)

    def record_with_perf(self, *options):
        self.need("perf")
        done = run("perf", "record", "-q", *options, "-e", "page-faults:u", "-c", "1", "-o", "perf.data", "--",
                   self.program, "points.bin", status=None, cwd=self.folder)
        if done.returncode != 0:
            self.skipTest(f"perf record: {done.stderr.strip()[-200:]}")
        self.culprit("import", "-q", "-o", "imported.culprit", "perf.data")
        return self.folder / "imported.culprit"

    def test_imported_objects_are_those_of_perf(self):
        profile = self.record_with_perf("-d")
        found = self.samples(profile)
        text = run("perf", "mem", "report", "-i", "perf.data", "--stdio", "--sort=symbol_daddr,dso_daddr",
                   cwd=self.folder).stdout
        perf = collections.Counter()
        for line in text.splitlines():
            row = re.match(r"\s*[\d.]+%\s+(\d+)\s+\[.\] (\S+?)(\+0x[0-9a-f]+)?\s+(\S+)", line)
            if not row:
                continue
            perf[row[2]] += int(row[1])
            perf["dso " + row[4]] += int(row[1])
        self.assertEqual(found["in_data"], perf["in_data"], text)
        self.assertEqual(found["in_data"], 32)
        mapped = f"[mapped {(self.folder / 'points.bin').resolve()}]"
        self.assertEqual(found[mapped], perf["dso points.bin"], text)
        self.assertEqual(found["in_bss"], 64)  # perf has no name for it: no file holds it

    def test_imported_without_mappings_of_data(self):
        profile = self.record_with_perf()
        # Without -d, perf asks for no addresses: nothing to place.
        done = self.culprit("data", profile, status=1)
        self.assertIn("perf mem record", done.stderr)


LOADING = r"""
enum { N = 6000 };
double a[N], b[8], c[64], d[N];
int place[N];
__attribute__((noinline)) double run(void) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    sum += a[i] * c[place[i]];
    for (int k = 0; k < i % 7; k++) sum += b[k];
    if (i % 3 == 0) sum += d[i];
  }
  return sum;
}
int main(void) { return run() > 1; }
"""
N = 6000


def list_loads():
    """(array, byte) of each load of run(), in their order."""
    for i in range(N):
        yield "place", 4 * i
        yield "a", 8 * i
        yield "c", 0
        for k in range(i % 7):
            yield "b", 8 * k
        if i % 3 == 0:
            yield "d", 8 * i


IP, TID, TIME, ADDR, WEIGHT, DATA_SRC = 1, 2, 4, 8, 1 << 14, 1 << 15
FROM_L1 = 2 | 1 << 33  # op: load; level: number 1


def make_record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    text = text.encode() + b"\0"
    return text + bytes(-len(text) % 8)


class MemoryRecording:
    """A perf.data file in the form of pipes, with one event of a PMU."""

    def __init__(self):
        attr = struct.pack("<IIQQQQQIIQ", 4, 112, 0x1cd, 1, IP | TID | TIME | ADDR | WEIGHT | DATA_SRC, 0,
                           1 << 18, 0, 0, 0)
        self.parts = [b"PERFILE2", struct.pack("<Q", 16), make_record(64, 0, attr.ljust(112, b"\0"))]
        self.time = 1000

    def tick(self):
        self.time += 1
        return self.time

    def map(self, pid, start, size, offset, path, protection):
        inode = os.stat(path).st_ino if os.path.exists(path) else 0
        body = struct.pack("<IIQQQIIQQII", pid, pid, start, size, offset, 0, 0, inode, 0, protection, 2)
        self.parts.append(make_record(10, 2, body + padded(path) + struct.pack("<IIQ", pid, pid, self.tick())))

    def access(self, pid, ip, address, cycles=4):
        self.parts.append(make_record(9, 2, struct.pack("<QIIQQQQ", ip, pid, pid, self.tick(), address,
                                                        cycles, FROM_L1)))

    def write(self, path):
        path.write_bytes(b"".join(self.parts))


class ThinnedSamples(CulpritTest):
    """As PEBS and SPE sample: one access of about so many, at distances that vary at random. Each draw
    is a process of one recording."""
    DRAWS = 40
    MEAN_PERIOD = 40

    def setUp(self):
        super().setUp()
        self.need("gcc", "nm", "readelf")
        self.program = self.compile_text(LOADING, "loads.c", "loads", "-O1", "-g", "-no-pie", "-static")
        self.symbols = {line.split()[2]: int(line.split()[0], 16)
                        for line in run("nm", self.program).stdout.splitlines() if len(line.split()) == 3}

    def map_program(self, recording, pid):
        for line in run("readelf", "-lW", self.program).stdout.splitlines():
            words = line.split()
            if words[:1] != ["LOAD"]:
                continue
            offset, address, in_file, in_memory = (int(words[at], 16) for at in (1, 2, 4, 5))
            end = (address + in_memory + PAGE - 1) // PAGE * PAGE
            start = address // PAGE * PAGE
            protection = 5 if "E" in words[6:-1] else 3
            recording.map(pid, start, end - start, offset // PAGE * PAGE, str(self.program), protection)
            file_end = (address + in_file + PAGE - 1) // PAGE * PAGE
            if file_end < end:
                recording.map(pid, file_end, end - file_end, 0, "//anon", 3)

    def draw(self, recording, pid):
        chance = random.Random(pid)
        self.map_program(recording, pid)
        left = chance.randrange(self.MEAN_PERIOD)
        for array, byte in list_loads():
            if left == 0:
                recording.access(pid, self.symbols["run"] + 1, self.symbols[array] + byte)
                left = chance.randrange(self.MEAN_PERIOD // 2, self.MEAN_PERIOD * 3 // 2)
            left -= 1

    def test_shares_of_draws_are_within_their_intervals_of_the_exact_ones(self):
        recording = MemoryRecording()
        for pid in range(1, self.DRAWS + 1):
            self.draw(recording, pid)
        recording.write(self.folder / "perf.data")
        self.culprit("import", "-q", "-o", "thinned.culprit", "perf.data")
        report = self.report(self.folder / "thinned.culprit", "--by", "process,object")
        event = report["events"][0]["name"]
        draws = collections.defaultdict(dict)
        for row in report["rows"]:
            draws[row["process_id"]][row["object"]] = row["values"][event]
        exact = collections.Counter(array for array, _ in list_loads())
        within = 0
        for draw in draws.values():
            self.assertEqual(set(draw), set(exact))
            total = sum(value["value"] for value in draw.values())
            for name, value in draw.items():
                distance = abs(value["value"] / total - exact[name] / sum(exact.values()))
                within += distance <= 1.96 * value["error"] / total
        self.assertEqual(len(draws), self.DRAWS)
        self.assertGreaterEqual(within, 0.9 * self.DRAWS * len(exact))

    def test_the_exact_profile_is_the_simulated_one(self):
        self.need("qemu-x86_64")
        profile, _ = self.record("-q", "--engine", "simulate", "--objects", "site", "--machine", "none",
                                 "--", self.program, timeout=280)
        report = self.report(profile, "--by", "object", "--function", "run")
        loads = {row["object"]: row["values"]["L1-dcache-loads"]["value"] for row in report["rows"]}
        for name, count in collections.Counter(array for array, _ in list_loads()).items():
            self.assertEqual(loads[name], count, loads)


class RecordedElsewhere(CulpritTest):
    """A recording of perf mem, of a machine whose programs are not here."""
    NAME = "pdc__perf.data.weight_struct"

    def setUp(self):
        super().setUp()
        if not (SHARED / "files" / self.NAME).exists():
            self.skipTest("the recorded files (../shared/perfdata) are not here")
        self.need("perf")
        self.culprit("import", "-q", "--no-symbols", "-o", "imported.culprit", SHARED / "files" / self.NAME)

    def test_latency_and_objects_are_what_perf_prints(self):
        done = run("perf", "script", "-i", SHARED / "files" / self.NAME, "-F", "addr,weight")
        samples = [line.split() for line in done.stdout.splitlines() if line.strip()]
        report = self.report(self.folder / "imported.culprit", "--by", "object", "--columns", "latency")
        total = report["events"][0]
        self.assertEqual(total["total"], sum(int(weight) for _, weight in samples))
        self.assertEqual(sum(row["values"]["latency"]["value"] for row in report["rows"]), total["total"])
        kernel = sum(int(weight) for address, weight in samples if int(address, 16) >= 1 << 63)
        rows = {row["object"]: row["values"]["latency"]["value"] for row in report["rows"]}
        self.assertEqual(rows["[kernel]"], kernel)
        # perf mem report --sort=symbol_daddr,dso_daddr: four addresses in "anon", one in "borglet", and
        # one of user code that it does not look up, as the kernel accessed it.
        self.assertEqual(rows["[anonymous]"], 240 + 168 + 117 + 70)
        self.assertEqual(rows["[data of borglet]"], 92)
        self.assertEqual(len(rows), 4, rows)

    def test_data_lists_objects_by_latency(self):
        rows = [line.split() for line in self.culprit("data", "imported.culprit").stdout.splitlines()]
        values = [row[0] for row in rows if row and row[-1].endswith("]") and row[0].isdigit()]
        self.assertEqual(values, ["813", "595", "225", "92"])

    def test_an_object_that_is_not_there(self):
        done = self.culprit("data", "absent", "imported.culprit", status=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no data object here is 'absent'", done.stderr)
