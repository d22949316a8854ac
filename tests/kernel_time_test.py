"""Time in the kernel: what `why` says of programs that do one thing there, and how much."""
import json
import unittest

from harness import CulpritTest

CALLS = 400_000
BLOCK = 512
MEGABYTES, ROUNDS = 64, 12
PAGES = MEGABYTES * 256 * ROUNDS
SHARE_DELTA = 0.08   # the scheduler's account of user and kernel time is by ticks on some kernels


class KernelTime(CulpritTest):
    @classmethod
    def setUpClass(cls):
        cls.recordings = {}

    def record(self, *arguments):
        program = self.compile("kernel_work.c", "kernel_work", "-O2", "-g")
        profile = self.folder / "profile.culprit"
        done = self.culprit("record", "-o", profile, "--engine", "timer", "-F", "4000", "--", program,
                            *arguments, status=None)
        if done.returncode == 125:
            self.skipTest("the kernel does not permit its events: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return profile, json.loads(done.stdout)

    def why(self, *arguments):
        return json.loads(self.culprit("why", *arguments, "--format", "json").stdout)

    def check_kernel(self, why, truth):
        kernel = why["kernel"]
        if not kernel["by_stacks"]:
            self.skipTest("no call stacks of the kernel here")
        self.assertAlmostEqual(kernel["share"]["value"],
                               truth["kernel"] / (truth["user"] + truth["kernel"]),
                               delta=SHARE_DELTA)
        self.assertAlmostEqual(sum(part["share"]["value"] for part in kernel["parts"]),
                               kernel["share"]["value"], delta=1e-9)
        if all(part["kind"] == "other" for part in kernel["parts"]):
            self.skipTest("the kernel's functions have no names here")
        return {part["kind"]: part for part in kernel["parts"]}

    def test_small_reads_are_named_counted_and_placed(self):
        data = self.folder / "data"
        data.write_bytes(bytes(64 * BLOCK))
        profile, truth = self.record("read", data, CALLS)
        why = self.why(profile)
        run = why["runs"][0]
        self.assertGreaterEqual(run["read_calls"], CALLS)
        self.assertLess(run["read_calls"], CALLS + 100)
        self.assertGreaterEqual(run["read_bytes"], CALLS * BLOCK)
        self.assertAlmostEqual(run["system_time_ns"] * 1e-9, truth["kernel"], delta=0.05)
        parts = self.check_kernel(why, truth)
        files = parts["files"]
        self.assertEqual(files["calls"][0]["name"], "pread64")
        # libc's wrapper has no frame pointer, nor has the program: unwind tables tell who calls.
        self.assertEqual(files["function"], "read_blocks")
        self.assertRegex(files["line"], r"^kernel_work\.c:\d+$")
        self.assertGreater(files["place_share"], 0.9)
        self.assertEqual(why["verdict"]["kernel"], max(parts.values(), key=lambda one:
                         one["share"]["value"] if one["kind"] != "interrupts" else 0)["kind"])
        advice = next(one for one in why["advice"] if one["kernel"] == "files")
        self.assertRegex(advice["problem"], r"400,\d{3} reads of 51[0-5] B on average")
        text = self.culprit("why", profile).stdout
        self.assertRegex(text, r"(?m)^ *[\d.]+ [MG] +[\d.]+ % +[\d.]+ +~ +reads and writes of files")
        self.assertNotRegex(text, "load latency")      # of branches that time cannot tell: no rows
        self.assertRegex(text.splitlines()[0] + text.splitlines()[1], r"CPU \(.* user, .* kernel\)")

        part = self.why("--in", "read_blocks", profile)["kernel"]
        self.assertGreater(part["share"]["value"], 0.9 * files["share"]["value"])
        self.assertIn("asked for by it", self.culprit("why", "--in", "read_blocks", profile).stdout)
        # What stacks of the kernel tell is no call tree of the program.
        self.assertIn("no call stacks", self.culprit("report", "--tree", "callees", profile,
                                                     status=1).stderr)

    def test_fresh_memory_is_told_from_what_is_given_back(self):
        profile, truth = self.record("memory", MEGABYTES, ROUNDS)
        why = self.why(profile)
        self.assertGreaterEqual(why["runs"][0]["minor_faults"], PAGES)
        self.assertLess(why["runs"][0]["minor_faults"], PAGES + 2000)
        parts = self.check_kernel(why, truth)
        fresh = parts["fresh_memory"]
        self.assertEqual(fresh["function"], "touch_pages")
        self.assertEqual(parts["memory_returned"]["function"], "use_fresh_memory")
        self.assertEqual(why["verdict"]["kernel"], "fresh_memory")
        # Firm where no more than that is unknown: user code, of which time alone says nothing.
        in_user = 1 - why["kernel"]["share"]["value"]
        self.assertEqual(why["verdict"]["certainty"],
                         "firm" if fresh["share"]["value"] >= in_user else "candidate")
        self.assertIsNone(why["verdict"]["branch"])
        gains = [one["gain"]["expected"] if one["gain"] else one["at_most"]
                 for one in why["advice"]]
        self.assertEqual(gains, sorted(gains, reverse=True))
        self.assertIn("huge pages", why["advice"][0]["advice"])


if __name__ == "__main__":
    unittest.main()
