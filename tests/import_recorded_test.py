"""culprit import on what perf records here and now, against perf's own report of the same file:
samples and sums of periods by event, command and module, and whole stacks."""
import collections
import json
import re
import struct
import subprocess

from harness import CulpritTest, have, is_sanitized, run
from swap_perf_data import swap

# Processes that come and go, threads with names of their own, files mapped late, faults.
EXITING = 2**32 - 1  # perf's number of a thread that had left when it was sampled; ours has none
BUSY = r"""
import ctypes, mmap, os, threading
def spin(rounds):
    total = 0
    for number in range(rounds):
        total += number * number
    return total
def thread():
    open("/proc/self/task/%d/comm" % threading.get_native_id(), "w").write("worker")
    spin(800000)
threads = [threading.Thread(target=thread) for _ in range(3)]
for one in threads: one.start()
memory = mmap.mmap(-1, 8 << 20)
for at in range(0, len(memory), 4096): memory[at] = 1
for _ in range(4):
    child = os.fork()
    if child == 0:
        spin(300000)
        os.execvp("sh", ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
    os.waitpid(child, 0)
for one in threads: one.join()
spin(800000)
"""

# One loop at the end of five stacks of different depth: on some machines nearly all samples of a
# loop are at one of its instructions.
SPINNING = """
static volatile long sink;
__attribute__((noinline)) void spin(void) { for (long i = 0; i < 30000000; i++) sink += i; }
__attribute__((noinline)) void odd(int depth);
__attribute__((noinline)) void even(int depth) {
  if (depth > 0) odd(depth - 1);
  else spin();
  sink++;
}
void odd(int depth) { even(depth - 1); sink++; }
int main(void) {
  for (int depth = 0; depth < 10; depth += 2) even(depth);
  return 0;
}
"""


class RecordedHere(CulpritTest):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.need("perf")
        (self.folder / "busy.py").write_text(BUSY)
        # A fast machine must not make an empty recording.
        self.record_with("-e", "cpu-clock")
        if len(self.perf_samples("comm")) < 50:
            self.skipTest("perf records no samples here")

    def record_with(self, *options, command=("python3", "busy.py")):
        """Records it into perf.data; skips where this perf or kernel cannot do so."""
        often = () if "-c" in options or "-F" in options else ("-F", "2000")
        done = run("perf", "record", "-q", "-o", "perf.data", *often, *options, "--", *command,
                   status=None, cwd=self.folder)
        if done.returncode != 0:
            self.skipTest(f"perf record {' '.join(options)}: {done.stderr.strip()[-200:]}")
        return self.folder / "perf.data"

    def perf_samples(self, fields, *options):
        """One line a sample, as perf script prints these fields."""
        done = run("perf", "script", "-i", "perf.data", "-F", fields, *options, cwd=self.folder)
        return [line for line in done.stdout.splitlines() if line.strip()]

    def perf_sums(self):
        """{(event, thread, file of the module): [samples, sum of periods]} and {(thread, name)},
        by perf script. The thread of one that is being released is -1."""
        sums = collections.defaultdict(lambda: [0, 0])
        names = set()
        pattern = re.compile(r"^\s*(.*?)\s+(-?\d+)\s+(\d+)\s+(\S+?):\s+([0-9a-f]+)\s+\((.*)\)$")
        for line in self.perf_samples("comm,tid,period,event,ip,dso", "-G"):
            comm, tid, period, event, _, module = pattern.match(line).groups()
            thread = int(tid) % 2**32
            if thread != EXITING:
                names.add((thread, comm))
            entry = sums[event, thread, module_name(module)]
            entry[0] += 1
            entry[1] += int(period)
        return {key: tuple(value) for key, value in sums.items()}, names

    def our_report(self, *by, path="perf.data", standard_input=None):
        source = "-" if standard_input is not None else path
        self.culprit("import", "-q", "--no-symbols", "-o", "ours.culprit", source,
                     stdin=standard_input)
        words = [word for level in by for word in ("--by", level)]
        return json.loads(self.culprit("report", *words, "--format", "json", "ours.culprit").stdout)

    def our_sums(self, report):
        sums = collections.defaultdict(lambda: [0, 0])
        names = set()
        for row in report["rows"]:
            thread = row.get("thread_id", EXITING if row["thread"] == "[exiting]" else 0)
            names.add((thread, row["thread"]))
            for event, value in row["values"].items():
                if value["samples"] == 0:
                    continue
                entry = sums[event, thread, module_name(row["module"])]
                entry[0] += value["samples"]
                entry[1] += int(value["value"])
        return {key: tuple(value) for key, value in sums.items()}, names

    def assert_same_sums(self, **source):
        theirs, their_names = self.perf_sums()
        self.assertGreater(sum(samples for samples, _ in theirs.values()), 50)
        ours, our_names = self.our_sums(self.our_report("thread", "module", **source))
        differing = {key: (ours.get(key), theirs.get(key)) for key in {*ours, *theirs}
                     if ours.get(key) != theirs.get(key)}
        self.assertEqual(differing, {}, "(ours, perf's) by event, thread and module")
        # Where no record named a thread, perf prints its number: we have its process's name.
        self.assertLessEqual({row for row in their_names if not row[1].startswith(":")}, our_names)

    def assert_same_when_swapped(self):
        by = ("process", "thread", "module", "instruction")
        original = self.our_report(*by)
        (self.folder / "big.data").write_bytes(swap((self.folder / "perf.data").read_bytes()))
        self.assertEqual(self.our_report(*by, path="big.data"), original)

    def test_one_event(self):
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_call_stacks(self):
        self.record_with("-e", "cpu-clock", "-g")
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_compressed(self):
        self.record_with("-e", "cpu-clock", "-g", "-z")
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_pipe(self):
        with open(self.folder / "perf.data", "wb") as file:
            subprocess.run(["perf", "record", "-q", "-F", "2000", "-e", "cpu-clock", "-o", "-", "--",
                            "python3", "busy.py"], stdout=file, stderr=subprocess.PIPE,
                           check=True, cwd=self.folder)
        with open(self.folder / "perf.data", "rb") as file:
            self.assert_same_sums(standard_input=file)
        self.assert_same_when_swapped()

    def test_whole_machine(self):
        self.record_with("-e", "cpu-clock", "-a", "--switch-events", "--namespaces",
                         "--all-cgroups")
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_two_events_of_a_group(self):
        self.record_with("-e", "{cpu-clock,task-clock}:S")
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_two_events(self):
        self.record_with("-e", "cpu-clock,page-faults")
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_addresses(self):
        self.record_with("-e", "page-faults", "-c", "1", "-d")
        self.assert_same_sums()
        self.assert_same_when_swapped()

    def test_deleted_program(self):
        program = self.compile_text(SPINNING, "gone.c", "gone")
        self.record_with("-e", "cpu-clock", command=(program,))
        program.unlink()
        self.assert_same_sums()

    def test_stacks_frame_by_frame(self):
        program = self.compile_text(SPINNING, "calls.c", "calls", "-O1", "-fno-omit-frame-pointer",
                                    "-fno-optimize-sibling-calls")
        self.record_with("-e", "cpu-clock:u", "-g", command=(program,))
        theirs = collections.Counter()
        stack = []
        for line in run("perf", "script", "-i", "perf.data", "-F", "period,ip,dso", "--no-inline",
                        cwd=self.folder).stdout.splitlines() + [""]:
            frame = re.fullmatch(r"\s*([0-9a-f]+) \((.*)\)", line)
            if frame and int(frame[1], 16) == 0:
                pass    # where a chain of frame pointers ends: no place
            elif frame:
                # The sampled address itself, then return addresses, of which ours are one less.
                address = int(frame[1], 16) - (1 if stack else 0)
                module = module_name(frame[2])
                stack.append(module if module == "[unknown]" else f"{module}+{address:#x}")
            elif line.strip():
                period = int(line)
            elif stack:
                theirs[";".join(["calls", *reversed(stack)])] += period
                stack = []
        self.culprit("import", "-q", "--no-symbols", "-o", "ours.culprit", "perf.data")
        ours = collections.Counter()
        for line in self.culprit("export", "--to", "collapsed", "ours.culprit").stdout.splitlines():
            words, value = line.rsplit(" ", 1)
            ours[words] += int(value)
        # Of five depths, two frames apart. The innermost may have no frame of its own.
        self.assertGreaterEqual(len({words.count(";") for words in theirs}), 5, theirs)
        self.assertGreaterEqual(max(words.count(";") for words in theirs), 10)
        self.assertEqual(ours, theirs)

    def test_memory_does_not_grow_with_samples(self):
        """Ten times the rounds of the same recording, each later than the last."""
        if is_sanitized():
            self.skipTest("sanitizers keep freed memory")
        self.record_with("-e", "cpu-clock", "-F", "20000", "-g")
        once, ten_times = self.folder / "once.data", self.folder / "ten.data"
        repeat(self.folder / "perf.data", once, 20)
        repeat(self.folder / "perf.data", ten_times, 200)
        peaks, samples = [], []
        for path in (once, ten_times):
            done, peak_bytes = self.culprit_measured("import", "--no-symbols", "-q", "-o",
                                                     "ours.culprit", path, seconds=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            peaks.append(peak_bytes)
            report = json.loads(self.culprit("report", "--by", "module", "--format", "json",
                                             "ours.culprit").stdout)
            samples.append(report["events"][0]["samples"])
        print(f"{once.stat().st_size >> 20} MB and {ten_times.stat().st_size >> 20} MB: "
              f"{samples[0]} and {samples[1]} samples in {peaks[0] >> 10} and {peaks[1] >> 10} kB")
        self.assertEqual(samples[1], 10 * samples[0])
        self.assertLess(peaks[1], 1.2 * peaks[0])


class CountsOfRuns(CulpritTest):
    """perf stat record has no samples: its counts are what `perf stat report` and, of intervals,
    perf's own lines say."""

    SPIN = ("python3", "-c", "sum(range(6000000))")

    def record_stat(self, *options):
        self.need("perf")
        done = run("perf", "stat", "record", "-o", "stat.data", "-e", "task-clock,page-faults",
                   *options, status=None, cwd=self.folder)
        if done.returncode != 0:
            self.skipTest(f"perf stat record: {done.stderr.strip()[-200:]}")
        return done

    def ours(self):
        said = self.culprit("import", "-o", "stat.culprit", "stat.data").stderr
        self.assertIn("counts of 2 events", said)
        report = json.loads(self.culprit("report", "--format", "json", "stat.culprit").stdout)
        self.assertEqual([], [note for note in report["ledger"] if "no samples" in str(note)])
        return report

    def test_counts_are_perfs(self):
        self.record_stat("--", *self.SPIN)
        # "139.86 msec task-clock", "9,410 page-faults", "0.302786589 seconds time elapsed"
        printed = run("perf", "stat", "report", "-i", "stat.data", cwd=self.folder).stderr
        perfs = {event: float(value.replace(",", "")) for value, event in re.findall(
            r"([\d.,]+) +(?:msec )? *(task-clock|page-faults|seconds time elapsed)", printed)}
        report = self.ours()
        ours = {row["name"]: row["total"] for row in report["events"]}
        self.assertEqual(ours["page-faults"], perfs["page-faults"])
        self.assertAlmostEqual(ours["task-clock"] / 1e6, perfs["task-clock"], delta=0.006)
        self.assertAlmostEqual(report["runs"][0]["duration_ns"] / 1e9,
                               perfs["seconds time elapsed"], delta=1e-6)

    def test_intervals_are_added_up(self):
        """perf's last line of an interval has what the counters had reached, less the one before:
        all together are the whole."""
        self.record_stat("-I", "50", "--", *self.SPIN)
        text = run("perf", "stat", "report", "-i", "stat.data", cwd=self.folder).stderr
        lines = re.findall(r"^ +[\d.]+ +([\d.,]+) +(?:msec )? *(task-clock|page-faults)", text,
                           re.MULTILINE)
        self.assertGreater(len(lines), 4, text)
        faults = sum(int(value.replace(",", "")) for value, event in lines if event == "page-faults")
        ours = {row["name"]: row["total"] for row in self.ours()["events"]}
        self.assertEqual(ours["page-faults"], faults)

    def test_cpus_are_added_up(self):
        self.record_stat("-a", "-A", "--", "sleep", "0.2")
        printed = run("perf", "stat", "report", "-i", "stat.data", cwd=self.folder).stderr
        of_cpus = re.findall(r"^CPU\d+ +([\d,]+) +page-faults", printed, re.MULTILINE)
        self.assertGreaterEqual(len(of_cpus), 1, printed)
        ours = {row["name"]: row["total"] for row in self.ours()["events"]}
        self.assertEqual(ours["page-faults"],
                         sum(int(value.replace(",", "")) for value in of_cpus))


class CallsInBranchRecords(CulpritTest):
    """perf record --call-graph lbr takes a CPU that few machines have: a file laid out by hand, and
    what perf script makes of it. perf begins with where the latest call went, we with where the
    sample was, which is in the same function."""

    def test_stacks_are_perfs(self):
        if not have("perf"):
            self.skipTest("no perf on this machine")
        user, kernel = (1 << 64) - 512, (1 << 64) - 128
        samples = [
            # ip, CPU mode (2: user, 1: kernel), callchain, [(from, to)] latest call first
            (0x401305, 2, [user, 0x401305, 0x401999],
             [(0x401210, 0x401300), (0x401110, 0x401200)]),
            (0xffffffff81000050, 1, [kernel, 0xffffffff81000050, 0xffffffff81000041, user, 0x401308],
             [(0x401220, 0x401300)]),
        ]
        (self.folder / "lbr.data").write_bytes(calls_file(samples))
        self.culprit("import", "-q", "--no-symbols", "-o", "lbr.culprit", "lbr.data")
        ours = collections.Counter()
        for line in self.culprit("export", "--to", "collapsed", "lbr.culprit").stdout.splitlines():
            stack, count = line.rsplit(" ", 1)
            ours[tuple(frame.rsplit("+0x")[-1] for frame in stack.split(";")[1:])] += int(count)
        printed = run("perf", "script", "-i", self.folder / "lbr.data", "-F", "ip").stdout
        perfs = collections.Counter()
        stacks = [[int(word, 16) for word in block.split()] for block in printed.split("\n\n")]
        for (ip, mode, chain, calls), stack in zip(samples, stacks):
            stack[stack.index(calls[0][1] - 0x400000)] = (chain[-1] if mode == 1 else ip) - 0x400000
            perfs[tuple("[unknown]" if at >> 63 else f"{at:x}" for at in reversed(stack))] += 1
        self.assertEqual(len(perfs), len(samples))
        self.assertEqual(ours, perfs)


def calls_file(samples):
    """A perf.data file with one process at 0x400000 and these samples of --call-graph lbr."""
    ip_tid_time_chain_branches = 0x1 | 0x2 | 0x4 | 0x20 | 0x800
    user_call_stack = 0x1 | 0x800
    flags = 1 << 18     # sample_id_all
    attr = struct.pack("<IIQQQQQIIQQQ", 0, 112, 0, 1, ip_tid_time_chain_branches, 0, flags,
                       0, 0, 0, 0, user_call_stack).ljust(112, b"\0")

    def record(kind, misc, body):
        return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    task_and_time = struct.pack("<IIQ", 5, 5, 1)
    name = struct.pack("<II", 5, 5) + b"prog\0\0\0\0"
    program = struct.pack("<IIQQQ", 5, 5, 0x400000, 0x2000, 0) + b"/no/prog".ljust(16, b"\0")
    records = record(3, 0, name + task_and_time) + record(1, 2, program + task_and_time)
    for number, (ip, mode, chain, calls) in enumerate(samples):
        body = struct.pack("<QIIQ", ip, 5, 5, number + 2)
        body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        body += struct.pack("<Q", len(calls))
        body += b"".join(struct.pack("<QQQ", *call, 0) for call in calls)
        records += record(9, mode, body)
    head = struct.pack("<8s8Q", b"PERFILE2", 104, 128, 104, 128, 232, len(records), 0, 0).ljust(104, b"\0")
    return head + attr + struct.pack("<QQ", 0, 0) + records


def module_name(path):
    """The file's name without folders, as both call it."""
    name = path.replace(" (deleted)", "").rsplit("/", 1)[-1]
    if re.fullmatch(r"perf-\d+\.map", name):    # perf's name of memory without a file
        return "[anonymous]"
    return "[kernel]" if name.startswith("[kernel") else name


def repeat(path, target, times):
    """Writes a file whose records, in the order of time, come `times` times, each round later than the
    one before and marked as perf marks its rounds; without features. For one event whose records
    end with their time or, samples, have it after ip and tid."""
    data = path.read_bytes()
    _, attrs_at, _, data_at, data_bytes = struct.unpack_from("<5Q", data, 16)
    sample_type, = struct.unpack_from("<Q", data, attrs_at + 24)
    if sample_type & ~0x127:    # IP, TID, TIME, CALLCHAIN, PERIOD
        raise AssertionError(f"the sample type is {sample_type:#x}")
    records, times_ns = [], []
    at = data_at
    while at < data_at + data_bytes:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind < 64:
            # ip, pid, tid, time; pid, tid, time at the end.
            place = 8 + 16 if kind == 9 else size - 8
            records.append((kind, bytearray(data[at:at + size]), place))
            times_ns.append(struct.unpack_from("<Q", records[-1][1], place)[0])
        at += size
    length = max(times_ns) - min(one for one in times_ns if one) + 1
    order = sorted(range(len(records)), key=lambda index: times_ns[index])
    round_end = struct.pack("<IHH", 68, 0, 8)
    with open(target, "wb") as file:
        file.write(data[:data_at])
        for turn in range(times):
            for index in order:
                kind, record, place = records[index]
                if turn and kind != 9:
                    continue    # tasks and mappings come once
                if times_ns[index]:
                    struct.pack_into("<Q", record, place, times_ns[index] + turn * length)
                file.write(record)
            file.write(round_end)
        end = file.tell()
        file.seek(48)
        file.write(struct.pack("<Q", end - data_at))
        file.seek(72)
        file.write(bytes(32))    # no features
