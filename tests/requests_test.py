"""What culprit asks the kernel for, beside what perf asks for, request by request.

A preloaded library (programs/log_perf_events.c) writes down every perf_event_open of both as it
is sent, whether or not this machine then grants it: that is the whole of the attribute, whose
task and on which CPUs. Where the two differ on purpose, the test says how.
"""
import os
import pathlib
import platform
import struct
import subprocess

from harness import CULPRIT, CulpritTest, run

# struct perf_event_attr of linux/perf_event.h, its first 96 bytes.
LAYOUT = struct.Struct("<IIQQQQQIIQQQQIi")
NAMES = ("type size config period sample_type read_format flags wakeup bp_type config1 config2 "
         "branch_sample_type user_registers user_stack_bytes clock").split()
FLAGS = {"disabled": 0, "inherit": 1, "pinned": 2, "exclusive": 3, "exclude_user": 4,
         "exclude_kernel": 5, "exclude_hv": 6, "freq": 10, "enable_on_exec": 12,
         "precise_low": 15, "precise_high": 16, "exclude_host": 19, "exclude_guest": 20,
         "exclude_callchain_user": 22}
SAMPLE = {"IP": 0, "TID": 1, "TIME": 2, "ADDR": 3, "READ": 4, "CALLCHAIN": 5, "ID": 6, "CPU": 7,
          "PERIOD": 8, "BRANCH_STACK": 11, "REGS_USER": 12, "STACK_USER": 13, "WEIGHT": 14,
          "DATA_SRC": 15, "IDENTIFIER": 16, "WEIGHT_STRUCT": 24}
CGROUP = 4   # PERF_FLAG_PID_CGROUP


class Request:
    def __init__(self, line):
        pid, cpu, group, flags, self.answer, attr = line.split()
        pid, self.cpu, flags = int(pid), int(cpu), int(flags)
        self.whose = "cgroup" if flags & CGROUP else "all" if pid == -1 else "task"
        self.pid = pid
        self.in_group = int(group) >= 0
        fields = dict(zip(NAMES, LAYOUT.unpack(bytes.fromhex(attr).ljust(LAYOUT.size, b"\0")[:LAYOUT.size])))
        bits = fields.pop("flags")
        self.fields = {**fields, **{name: bits >> bit & 1 for name, bit in FLAGS.items()}}
        self.sample = {name for name, bit in SAMPLE.items() if fields["sample_type"] >> bit & 1}


class Requests(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("perf")
        if platform.machine() != "x86_64":
            self.skipTest("the preloaded library knows x86_64's system calls only")
        self.log = self.compile("log_perf_events.c", "log.so", "-O1", "-shared", "-fPIC")

    def sent(self, *command, having):
        """The requests of a command with these fields, in order."""
        log = self.folder / "log.txt"
        log.unlink(missing_ok=True)
        environment = dict(os.environ, LD_PRELOAD=str(self.log), PERF_EVENTS_LOG=str(log))
        run(*command, status=None, cwd=self.folder, env=environment)
        requests = [Request(line) for line in log.read_text().splitlines()]
        return [one for one in requests
                if all(one.fields[name] == value for name, value in having.items())]

    def recorded(self, event, options, having, ours=(), target=("true",)):
        """What both send for `record`: (perf's, culprit's)."""
        perf = self.sent("perf", "record", "-o", "perf.data", "-e", event, *options, *target,
                         having=having)
        own = self.sent(CULPRIT, "record", "-q", "--no-symbols", "-o", "own.culprit", "-e", event,
                        *options, *ours, *target, having=having)
        self.assertTrue(perf, "perf sent nothing of the kind")
        self.assertTrue(own, "culprit sent nothing of the kind")
        return perf, own

    def assert_same(self, theirs, ours, but=(), without=(), more=()):
        """The same attribute, but for what culprit does otherwise on purpose:
        read_format (its times enabled and running say what was shared, and lost samples), its
        clock (that of jitdumps), its watermark, and the sample's period, which it wants unless
        that makes the kernel ignore the period asked for (each page fault is sampled then)."""
        different = {"size", "read_format", "wakeup", "clock", "sample_type", *but}
        for name, value in theirs.fields.items():
            if name not in different:
                self.assertEqual(ours.fields[name], value, name)
        self.assertEqual(ours.sample - {"PERIOD", "IDENTIFIER", *more},
                         theirs.sample - {"PERIOD", "IDENTIFIER", "ID", "CPU", *without})
        is_software = ours.fields["type"] == self.FAULTS["type"]
        self.assertEqual("PERIOD" in ours.sample, not is_software)

    CYCLES = {"type": 0, "config": 0}
    FAULTS = {"type": 1, "config": 2}

    def test_precise_events(self):
        for level in ("p", "pp", "ppp", "upp", "kp"):
            with self.subTest(level):
                having = {**self.CYCLES, "period": 100003}
                theirs, ours = self.recorded(f"cycles:{level}", ["-c", "100003"], having,
                                             ["--per-task"])
                self.assert_same(theirs[0], ours[0], but=["enable_on_exec"])
                self.assertEqual(2 * ours[0].fields["precise_high"] + ours[0].fields["precise_low"],
                                 level.count("p"))

    def test_precision_falls_by_steps(self):
        """Not said by perf's attribute: it gives up where culprit tries less and says so."""
        _, ours = self.recorded("cycles:ppp", ["-c", "100003"], {**self.CYCLES, "period": 100003},
                                ["--per-task"])
        levels = [2 * one.fields["precise_high"] + one.fields["precise_low"] for one in ours]
        self.assertEqual(levels, sorted(levels, reverse=True))
        self.assertEqual(levels[0], 3)

    def test_branches_stacks_and_memory(self):
        having = {**self.CYCLES, "period": 100003}
        for perf, own in ((["-b"], ["-b"]), (["-g"], ["-g"]),
                          (["--call-graph", "dwarf,4096"], ["--call-graph", "dwarf,4096"]),
                          (["-d", "-W"], ["--data"]), (["-b", "-g"], ["-b", "-g"])):
            with self.subTest(perf):
                theirs = self.sent("perf", "record", "-o", "p", "-e", "cycles:u", "-c", "100003",
                                   *perf, "true", having=having)
                ours = self.sent(CULPRIT, "record", "-q", "--no-symbols", "-o", "o", "-e",
                                 "cycles:u", "-c", "100003", "--per-task", *own, "true",
                                 having=having)
                # perf asks for all user registers (and so for those that unwinding does not need).
                # With copies of stacks it always asks for data addresses, too. The stack pointer
                # tells culprit which data is on the stack.
                copies = ours[0].fields["user_stack_bytes"] != 0
                self.assert_same(theirs[0], ours[0], but=["enable_on_exec", "user_registers"],
                                 without=["ADDR", "DATA_SRC"] if copies else [],
                                 more=["REGS_USER"] if "--data" in own else [])

    def test_periods_and_frequencies(self):
        theirs, ours = self.recorded("instructions:u", ["-F", "777"], {"type": 0, "config": 1},
                                     ["--per-task"])
        theirs = [one for one in theirs if one.fields["freq"]]
        ours = [one for one in ours if one.fields["freq"]]
        self.assert_same(theirs[0], ours[0], but=["enable_on_exec"])
        self.assertEqual(ours[0].fields["period"], 777)

    def places(self, requests):
        return [(one.whose, one.cpu) for one in requests]

    def test_whole_cpus(self):
        theirs, ours = self.recorded("page-faults", ["-a", "-c", "1000"],
                                     {**self.FAULTS, "period": 1000})
        self.assertEqual(self.places(ours), self.places(theirs))
        self.assertEqual(self.places(ours), [("all", cpu) for cpu in sorted(os.sched_getaffinity(0))])
        # Of whole CPUs there is nothing to inherit, and our sampling starts when all are open.
        self.assert_same(theirs[0], ours[0], but=["inherit", "disabled"])
        theirs, ours = self.recorded("page-faults", ["-C", "1", "-c", "1000"],
                                     {**self.FAULTS, "period": 1000}, ["-a"])
        self.assertEqual((self.places(theirs), self.places(ours)), ([("all", 1)], [("all", 1)]))

    def test_tasks_and_their_children(self):
        theirs, ours = self.recorded("page-faults", ["-c", "1000"],
                                     {**self.FAULTS, "period": 1000}, ["--per-task"])
        self.assertEqual(self.places(ours), self.places(theirs))
        self.assertEqual(ours[0].fields["inherit"], 1)
        # The program is let go after sampling has started: no need to wait for its exec.
        self.assert_same(theirs[0], ours[0], but=["enable_on_exec"])

    def test_running_processes(self):
        with subprocess.Popen(["sleep", "60"]) as sleeper:
            try:
                having = {**self.FAULTS, "period": 1000}
                theirs = self.sent("timeout", "-s", "INT", "1", "perf", "record", "-o", "p", "-e",
                                   "page-faults", "-c", "1000", "-p", sleeper.pid, having=having)
                ours = self.sent(CULPRIT, "record", "-q", "--no-symbols", "-o", "o", "-e",
                                 "page-faults", "-c", "1000", "--per-task", "-p", sleeper.pid,
                                 "--duration", "0.3s", having=having)
            finally:
                sleeper.kill()
        self.assertEqual({one.pid for one in ours}, {sleeper.pid})
        self.assertEqual(self.places(ours), self.places(theirs))
        self.assert_same(theirs[0], ours[0])

    def cgroup(self):
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        root = next((mount[1] for mount in mounts if mount[2] == "cgroup2"), None)
        if root is None or os.geteuid() != 0:
            self.skipTest("no cgroup2 mount, or not root")
        group = pathlib.Path(root) / f"culprit-requests-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"cannot make a cgroup: {error}")
        self.addCleanup(group.rmdir)
        return group

    def test_cgroups(self):
        name = self.cgroup().name
        having = {**self.FAULTS, "period": 1000}
        theirs = self.sent("perf", "record", "-o", "p", "-a", "-e", "page-faults", "-G", name, "-c",
                           "1000", "true", having=having)
        ours = self.sent(CULPRIT, "record", "-q", "--no-symbols", "-o", "o", "-e", "page-faults",
                         "-c", "1000", "--cgroup", name, "true", having=having)
        self.assertEqual(self.places(ours), self.places(theirs))
        self.assertEqual({one.whose for one in ours}, {"cgroup"})
        self.assert_same(theirs[0], ours[0], but=["inherit", "disabled"])

    def test_groups(self):
        perf = self.sent("perf", "stat", "-e", "{page-faults,context-switches}:u", "true",
                         having={"type": 1})
        ours = self.sent(CULPRIT, "stat", "-e", "{page-faults,context-switches}:u", "true",
                         having={"type": 1, "sample_type": 0, "exclude_kernel": 1})
        pairs = [one for one in ours if one.fields["config"] in (2, 3)][-2:]
        self.assertEqual([one.in_group for one in pairs], [False, True])
        theirs = [one for one in perf if one.fields["exclude_kernel"]][-2:]
        for their, own in zip(theirs, pairs):
            # perf reads a group at once, and tells its events apart by their identifiers.
            for name in ("type", "config", "disabled", "inherit", "exclude_kernel",
                         "enable_on_exec", "exclude_guest", "pinned"):
                self.assertEqual(own.fields[name], their.fields[name], name)
            self.assertEqual(own.in_group, their.in_group)
