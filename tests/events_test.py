"""`culprit events`: what event lists stand for, against perf itself and by hand; lists.

perf prints the perf_event_attr that it asks the kernel for (`perf stat -vv`), whether or
not this machine can count the event. Fields that are 0 it leaves out.
"""
import json
import re
import unittest

import jsonschema

from harness import CulpritTest, SOURCE, have, run

GENERIC = """cycles cpu-cycles instructions cache-references cache-misses branches
branch-instructions branch-misses bus-cycles ref-cycles stalled-cycles-frontend
idle-cycles-frontend stalled-cycles-backend idle-cycles-backend""".split()
SOFTWARE = """cpu-clock task-clock page-faults faults minor-faults major-faults context-switches
cs cpu-migrations migrations alignment-faults emulation-faults dummy bpf-output
cgroup-switches""".split()
CACHES = """L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-dcache-store-misses
L1-dcache-prefetches L1-dcache-prefetch-misses L1-icache-loads L1-icache-load-misses
L1-icache-prefetches L1-icache-prefetch-misses LLC-loads LLC-load-misses LLC-stores
LLC-store-misses LLC-prefetches LLC-prefetch-misses dTLB-loads dTLB-load-misses dTLB-stores
dTLB-store-misses dTLB-prefetches dTLB-prefetch-misses iTLB-loads iTLB-load-misses
branch-loads branch-load-misses node-loads node-load-misses node-stores node-store-misses
node-prefetches node-prefetch-misses L1-dcache-misses L1-dcache-loads-refs
LLC-misses-loads""".split()
RAW = ["r1", "r1c0", "r01c2", "rffffffff", "r1000000c1", "r18001c2:u"]
KERNEL_PMUS = ["msr/tsc/", "msr/tsc/u", "msr/event=0x4/", "msr/event=4,name=smi/"]
BREAKPOINTS = ["mem:0x1000", "mem:0x1000/8:rw", "mem:0x1000/1:r", "mem:0x2000:w:u",
               "mem:0x1000:x", "mem:4096/2:w"]
MODIFIERS = ["u", "k", "h", "uk", "uh", "kh", "ukh", "ku", "G", "H", "GH", "uG", "kH", "I", "uI",
             "p", "pp", "ppp", "up", "upp", "kppp", "Gp", "pG", "Hpp", "D", "e", "uD", "ue",
             "uDe", "S", "uS", "Gu", "GHk"]
# Two groups whose members this machine's kernel can open, so that perf gets to the second.
GROUPS = ["{cpu-clock,task-clock}:u", "{cpu-clock:k,task-clock}:u", "{cpu-clock,page-faults:u}:k",
          "{task-clock:u,page-faults:k}", "{cpu-clock,task-clock}:D", "{cpu-clock:u,faults}:Ie",
          "{cpu-clock:u,task-clock}:G", "{cpu-clock:k,task-clock}:p"]

SCHEMA = jsonschema.Draft7Validator(
    json.loads((SOURCE / "schema/events.schema.json").read_text()))

# perf's word for a field, and ours.
FIELDS = {"type": "type", "config": "config", "config1": "config1", "config2": "config2",
          "bp_type": "breakpoint_type", "exclude_user": "exclude_user",
          "exclude_kernel": "exclude_kernel", "exclude_hv": "exclude_hypervisor",
          "exclude_host": "exclude_host", "exclude_guest": "exclude_guest",
          "exclude_idle": "exclude_idle", "precise_ip": "precise_level", "pinned": "pinned",
          "exclusive": "exclusive"}
# perf calls these by what they are for breakpoints.
SAME = {"{ bp_addr, config1 }": "config1", "{ bp_len, config2 }": "config2",
        "bp_addr": "config1", "bp_len": "config2"}


def attributes_by_perf(spec, events, is_last):
    """The attributes that `perf stat` asks for, as {our field: number}; None: perf refuses.

    `is_last`: what it asks for after the kernel refused what it asked for first.
    """
    done = run("perf", "stat", "-vv", "-e", spec, "true", status=None)
    found = []
    for block in re.findall(r"^perf_event_attr:\n(.*?)^-{20,}$", done.stderr, re.M | re.S):
        fields = dict.fromkeys(FIELDS.values(), 0)
        for line in block.splitlines():
            match = re.match(r"\s+(\S.*?)\s{2,}(\S+)$", line)
            if not match:
                continue
            name = SAME.get(match[1], match[1])
            if name in FIELDS:
                fields[FIELDS[name]] = int(match[2], 0)
        found.append(fields)
    return (found[-1:] if is_last else found[:events]) or None


class Encodings(CulpritTest):
    def members(self, *specs):
        """All requests of our own for `specs`."""
        words = [word for spec in specs for word in ("-e", spec)]
        done = self.culprit("events", *words, "--format", "json")
        groups = json.loads(done.stdout)["groups"]
        return [member for group in groups for member in group["members"]]

    def ours(self, spec):
        return [{field: int(str(member[field]), 0) if isinstance(member[field], str)
                 else int(member[field]) for field in FIELDS.values()}
                for member in self.members(spec)]

    def same_as_perf(self, specs, events=1, is_last=False):
        if not have("perf"):
            self.skipTest("perf is not installed (Debian: linux-perf)")
        for spec in specs:
            with self.subTest(event=spec):
                theirs = attributes_by_perf(spec, events, is_last)
                self.assertIsNotNone(theirs, f"perf refuses {spec}")
                self.assertEqual(len(theirs), events)
                self.assertEqual(self.ours(spec), theirs)

    def test_generic_names_are_perfs(self):
        self.same_as_perf(GENERIC)

    def test_software_names_are_perfs(self):
        self.same_as_perf(SOFTWARE)

    def test_cache_names_are_perfs(self):
        self.same_as_perf(CACHES)

    def test_raw_codes_and_pmu_terms_are_perfs(self):
        self.same_as_perf(RAW)
        if self.has_pmu("msr"):
            # Takes no exclusion: perf tries without when the kernel has refused exclude_guest.
            self.same_as_perf(KERNEL_PMUS, is_last=True)

    def test_breakpoints_are_perfs(self):
        self.same_as_perf(BREAKPOINTS)

    def test_modifiers_are_perfs(self):
        self.same_as_perf([f"cycles:{letters}" for letters in MODIFIERS])
        self.same_as_perf(["r1c0:kp", "L1-dcache-loads:uG", "task-clock:k"])

    def test_groups_are_perfs(self):
        self.same_as_perf(GROUPS, events=2)

    def test_tracepoints_are_perfs(self):
        done = self.culprit("events", "sched:sched_switch", status=None)
        if done.returncode != 0:
            self.skipTest("tracefs is not mounted here, or may not be read")
        self.same_as_perf(["sched:sched_switch", "sched:sched_switch:u", "sched:sched_wakeup:k"])

    def has_pmu(self, name):
        done = self.culprit("events", "-e", f"{name}/config=0/", status=None)
        return done.returncode == 0


class Lists(CulpritTest):
    def events(self, *arguments, **options):
        done = self.culprit("events", *arguments, "--format", "json", **options)
        document = json.loads(done.stdout)
        SCHEMA.validate(document)
        return document

    def by_name(self, document):
        return {event["name"]: event for pmu in document["pmus"] for event in pmu["events"]}

    def test_every_form_follows_the_schema(self):
        self.events()
        self.events("cache")
        self.events("--cpu", "icx")
        self.events("--cpu", "*")
        self.events("-e", "{cycles,task-clock}:u,mem:0x1000:w,cycles/period=1000/")
        for damage in ({}, {"schema": "culprit-events-1"},
                       {"schema": "culprit-events-1", "pmus": [], "cpus": []},
                       {"schema": "culprit-events-1", "pmus": [{"name": "x"}]}):
            self.assertFalse(SCHEMA.is_valid(damage), damage)

    def test_what_is_said_to_count_does(self):
        """perf, too, counts what is listed as usable, and does not count what is not."""
        if not have("perf"):
            self.skipTest("perf is not installed (Debian: linux-perf)")
        known = self.by_name(self.events())
        for name in (*SOFTWARE, "cycles", "instructions", "LLC-load-misses"):
            if name not in known:
                continue   # an alias
            with self.subTest(event=name):
                counted = run("perf", "stat", "-x,", "-e", name, "true", status=None)
                usable = counted.returncode == 0 and "<not supported>" not in counted.stderr
                self.assertEqual(known[name]["usable"], usable, counted.stderr)
                self.assertEqual(known[name]["reason"] == "", usable)

    def test_machines_without_a_pmu_say_so(self):
        cycles = self.by_name(self.events("cycles"))["cycles"]
        if cycles["usable"]:
            self.skipTest("this machine has a hardware PMU")
        self.assertIn("no hardware PMU", cycles["reason"])
        self.assertIn("no hardware PMU", self.culprit("events").stdout)

    def test_other_cpus(self):
        known = self.by_name(self.events("--cpu", "skx", "UOPS_RETIRED:*"))
        # Intel's own list; libpfm4 4.13 has unit mask 1 (src/events/pfm_corrections.cc).
        self.assertEqual(known["UOPS_RETIRED:STALL_CYCLES"]["codes"], ["0x18002c2"])
        self.assertIsNone(known["UOPS_RETIRED:STALL_CYCLES"]["usable"])
        cpus = {cpu["name"] for cpu in self.events("--cpu", "*")["cpus"]}
        self.assertLessEqual({"skx", "amd64_fam19h_zen4", "power9", "arm_n1"}, cpus)

    def test_groups_are_printed_as_such(self):
        text = self.culprit("events", "-e", "{task-clock,page-faults}:u").stdout.splitlines()
        self.assertEqual(text, [
            "group:",
            "  task-clock:u: pmu=software type=1 config=0x1 exclude=kernel,hypervisor,guest",
            "  page-faults:u: pmu=software type=1 config=0x2 exclude=kernel,hypervisor,guest"])


class Errors(CulpritTest):
    def says(self, arguments, *words, status=1):
        done = self.culprit("events", *arguments, status=status)
        self.assertTrue(done.stderr.startswith("culprit: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_messages_name_what_is_near(self):
        self.says(["-e", "cycels"], "there is no such event", "did you mean cycles")
        self.says(["-e", "cycles:x"], "there is no modifier 'x'")
        self.says(["-e", "{cycles"], "this brace is not closed")
        self.says(["-e", "nopmu/event=1/"], "this machine has no PMU 'nopmu'", "software")
        self.says(["--cpu", "skz"], "there is no CPU 'skz'", "skx")
        self.says(["--cpu", "skx", "-e", "UOPS_RETIRED:STALL_CYCLE"], "UOPS_RETIRED:STALL_CYCLES")
        self.says(["-e", "amd64_k7::RETIRED_UOPS"], "is not the CPU of this machine")
        self.says(["zzzzzz"], "no event is like 'zzzzzz'")
        self.says(["--format", "csv"], "'csv' is not one of text, json", status=2)


if __name__ == "__main__":
    unittest.main()
