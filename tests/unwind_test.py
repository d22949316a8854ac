"""Call stacks by unwind tables, against programs whose every chain is known
(tests/programs/chains.cc), against frame pointers and against perf's own unwinding."""
import collections
import os
import re

import harness
from harness import CulpritTest, run

# By whom each leaf of chains.cc is called, from its outermost own function on.
CHAINS = {leaf: chain.split() for leaf, chain in {
    "leaf_recursion": "main scene_recursion dive dive dive dive dive dive",
    "leaf_library": "main scene_library library_enter library_inner",
    "leaf_linkage": "main scene_linkage",
    "leaf_plugin": "main scene_plugin plugin_enter plugin_inner",
    "leaf_signal": "main scene_signal trapping __restore_rt on_trap",
    "leaf_short": "main scene_short",
    "leaf_cleanup": "main scene_exceptions guarded Guard::~Guard()",
    "leaf_catch": "main scene_exceptions",
    "leaf_variable": "main scene_variable with_alignment with_alloca with_array",
    "leaf_thread": "clone3 start_thread thread_begin",
}.items()}
OUTERMOST = ["main", "clone3"]      # what is above main is the C library's matter
WITHOUT_POINTERS = ("-O2", "-fomit-frame-pointer")
WITH_POINTERS = ("-O2", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")
# Where frame pointers do not tell the whole chain: most samples of the short ones are before
# their own frame is linked, which hides the caller; so it does at the trap; and glibc's
# part of a thread has none.
POINTERS_FALL_SHORT = ("leaf_linkage", "leaf_short", "leaf_signal", "leaf_thread")
MILLIONS = 200                # rounds: about 0.2 s of CPU time for each leaf


class CallChains(CulpritTest):
    def build(self, *flags):
        self.need("g++")
        if os.uname().machine != "x86_64":
            self.skipTest("chains.cc knows how to trap on x86_64 only")
        for part in ("library", "plugin"):
            self.compile("chains_part.cc", f"lib{part}.so", "-g", "-shared", "-fPIC",
                         f"-DPART={part}", *flags, compiler="g++")
        program = self.compile("chains.cc", "chains", "-g", "-std=c++20", "-pthread", "-Wl,-z,lazy,--no-as-needed",
                               f"-Wl,-rpath,{self.folder}", *flags, self.folder / "liblibrary.so",
                               "-ldl", compiler="g++")
        return [program, self.folder / "libplugin.so", MILLIONS]

    def stacks(self, profile):
        """{leaf: {chain down to it: value}} of the samples in or below a leaf."""
        leaves = collections.defaultdict(collections.Counter)
        for line in self.culprit("export", profile, "--to", "collapsed").stdout.splitlines():
            path, value = line.rsplit(" ", 1)
            names = [re.sub(r"(\.cold|@plt)$", "", name) for name in path.split(";")[1:]]
            at = next((i for i, name in enumerate(names) if name in CHAINS), None)
            if at is None:
                continue
            begin = next((i for i, name in enumerate(names) if name in OUTERMOST), 0)
            leaves[names[at]][tuple(names[begin:at])] += int(value)
        self.assertEqual(set(leaves), set(CHAINS), "every leaf has samples")
        return leaves

    def known_percent(self, leaves, chains):
        right = sum(leaves[leaf][tuple(chain)] for leaf, chain in chains.items())
        whole = sum(sum(counter.values()) for counter in leaves.values())
        return 100 * right / whole

    def record_stacks(self, method, *flags):
        profile, _ = self.record("-F", "1999", "--call-graph", method, "--", *self.build(*flags))
        return profile, self.stacks(profile)

    def test_unwind_tables_give_the_known_chains(self):
        profile, leaves = self.record_stacks("dwarf", *WITHOUT_POINTERS)
        percent = self.known_percent(leaves, CHAINS)
        print(f"of the time in leaves, {percent:.2f} % has the known chain")
        self.assertGreater(percent, 99)
        for leaf, chain in CHAINS.items():
            with self.subTest(leaf=leaf):
                share = leaves[leaf][tuple(chain)] / sum(leaves[leaf].values())
                self.assertGreater(share, 0.97)
        ledger = self.report(profile).get("ledger", {})
        self.assertEqual([key for key in ledger if "damaged" in key or "unsupported" in key], [])

    def test_frame_pointers_agree(self):
        _, tables = self.record_stacks("dwarf", *WITH_POINTERS)
        _, pointers = self.record_stacks("fp", *WITH_POINTERS)
        by_pointers = {leaf: max(counter, key=counter.get) for leaf, counter in pointers.items()}
        for leaf, chain in by_pointers.items():
            by_tables = max(tables[leaf], key=tables[leaf].get)
            with self.subTest(leaf=leaf):
                if leaf not in POINTERS_FALL_SHORT:
                    self.assertEqual(by_tables, chain)
        expected = {leaf: CHAINS[leaf] if leaf in POINTERS_FALL_SHORT else chain
                    for leaf, chain in by_pointers.items()}
        percent = self.known_percent(tables, expected)
        print(f"by unwind tables {percent:.2f} % of the time has the chain of frame pointers; by "
              f"frame pointers {self.known_percent(pointers, by_pointers):.2f} % has its usual one")
        self.assertGreater(percent, 99)

    def test_perf_unwinds_the_same_samples_alike(self):
        self.need("perf")
        driver = harness.BUILD / "unwind_perf_data"
        if not driver.exists():
            self.skipTest("unwind_perf_data was not built")
        program = self.build(*WITHOUT_POINTERS)
        data = self.folder / "perf.data"
        recorded = run("perf", "record", "-q", "-B", "-N", "-e", "cpu-clock", "-F", "999",
                       "--call-graph", "dwarf", "-o", data, *program, status=None, cwd=self.folder)
        if recorded.returncode != 0:
            self.skipTest("perf cannot record here: " + recorded.stderr[-200:])
        walked = run(driver, data, status=None)
        if "build-id of" in walked.stderr:
            self.skipTest("another recording with build-ids runs, and the kernel puts its flag "
                          "into perf's records")
        self.assertEqual(walked.returncode, 0, walked.stderr)
        ours = {}
        for line in walked.stdout.splitlines():
            time_ns, thread, *frames = line.split()
            ours[int(time_ns), int(thread)] = [int(frame, 16) for frame in frames]
        perfs = parse_script(run("perf", "script", "--no-inline", "--ns", "-i", data,
                                 "-F", "tid,time,ip", "--max-stack", "1024").stdout)
        self.assertGreater(len(perfs), 1000)
        self.assertEqual(set(ours), set(perfs))
        # A handler returns to the trampoline's first byte, before which perf believes it to be.
        trampoline = self.signal_trampoline(program[0])
        for key, frames in perfs.items():
            perfs[key] = [frame + (frame + 1 == trampoline) for frame in frames]
        equal = sum(ours[key] == perfs[key] for key in perfs)
        for key in [key for key in perfs if ours[key] != perfs[key]][:5]:
            print("differ: ours", [hex(a) for a in ours[key]], "perf", [hex(a) for a in perfs[key]])
        print(f"{100 * equal / len(perfs):.2f} % of {len(perfs)} samples have perf's frames")
        self.assertGreater(equal / len(perfs), 0.99)

    def signal_trampoline(self, program):
        """Offset of `mov $15, %rax; syscall` (rt_sigreturn) in the C library."""
        library = re.search(r"libc\.so\.6 => (\S+)", run("ldd", program).stdout)[1]
        with open(library, "rb") as file:
            return file.read().find(bytes.fromhex("48c7c00f0000000f05"))

    def test_what_was_not_copied_is_told(self):
        profile, _ = self.record("-F", "1999", "--call-graph", "dwarf,64", "--",
                                 *self.build(*WITHOUT_POINTERS))
        text = self.culprit("report", profile).stdout
        self.assertRegex(text, r"stacks cut: longer than the part that was copied")
        leaves = self.stacks(profile)
        # 333 bytes of alloca are between: only the innermost part can be there.
        for chain in leaves["leaf_variable"]:
            self.assertNotIn("main", chain)


def parse_script(text):
    """{(time in ns, thread): [user addresses]} of `perf script -F tid,time,ip --ns`."""
    samples, frames = {}, None
    for line in text.splitlines():
        head = re.match(r"\s*(\d+)\s+(\d+)\.(\d{9}):", line)
        if head:
            frames = samples[int(head[2]) * 10**9 + int(head[3]), int(head[1])] = []
        elif line.strip() and frames is not None:
            address = int(line.split()[0], 16)
            if address < 1 << 63:
                frames.append(address)
    return samples


class CallGraphOption(CulpritTest):
    def refusal(self, *arguments):
        done = self.culprit("record", *arguments, "--", "true", status=None)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_sizes_that_the_kernel_would_refuse(self):
        for size in ("65536", "100", "0", "-8", "x", ""):
            with self.subTest(size=size):
                self.assertIn("multiple of 8 from 8 to 65528",
                              self.refusal("--call-graph", f"dwarf,{size}"))
        self.assertIn("fp, dwarf, dwarf,BYTES or none", self.refusal("--call-graph", "lbr"))

    def test_the_shim_names_its_alternative(self):
        self.assertIn("--call-graph fp",
                      self.refusal("--engine", "posix-timer", "--call-graph", "dwarf"))
