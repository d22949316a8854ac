"""Simulated profiles tell threads apart: who ran what how often."""
from harness import BUILD, CulpritTest

TIMES = 1000
FOUR = {"first": TIMES, "second": 2 * TIMES, "third": 3 * TIMES, "fourth": 4 * TIMES}
STORES = "L1-dcache-stores"


class ByThread(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not (BUILD / "libculprit_qemu.so").exists():
            self.skipTest("built without the software PMU")

    def simulate(self, how, times=TIMES, options=("--machine", "none")):
        program = self.compile("threaded.c", "threaded", "-O1", "-g", "-pthread")
        profile, _ = self.record("-q", "--engine", "simulate", *options, "--", program, how,
                                 str(times))
        return profile

    def stores(self, profile, *others):
        """By (process, thread, function): stores, of the functions that are known."""
        rows = self.report(profile, "--by", "process,thread,function", "--limit", "0")["rows"]
        known = (*FOUR, "in_child", "in_thread_of_child")
        return {(row["process_id"], row.get("thread_id"), row["function"]):
                row["values"][STORES]["value"] for row in rows
                if row["function"] in known and STORES in row["values"]}

    def threads(self, profile, *options):
        return self.report(profile, "--by", "thread", "--limit", "0", *options)["rows"]

    def check_four(self, profile):
        stores = self.stores(profile)
        self.assertEqual(FOUR, {function: count for (_, _, function), count in stores.items()})
        self.assertEqual(4, len({thread for (_, thread, _) in stores}))
        self.assertEqual(1, len({process for (process, _, _) in stores}))
        for process, thread, _ in stores:
            self.assertNotEqual(process, thread)

    def test_four_at_once(self):
        profile = self.simulate("four")
        self.check_four(profile)
        # The first one of the process, and they; together what the program did.
        rows = self.threads(profile)
        self.assertEqual(5, len(rows))
        self.assertEqual({"threaded"}, {row["thread"] for row in rows})
        for event in ("instructions", STORES):
            whole = self.report(profile)
            total = next(one["total"] for one in whole["events"] if one["name"] == event)
            self.assertEqual(total, sum(row["values"][event]["value"] for row in rows))
        self.assertIn("5 threads", self.culprit("report", profile).stdout)

    def test_with_a_machine(self):
        self.check_four(self.simulate("four", options=("--machine", "golden-cove")))

    def test_in_turn(self):
        self.check_four(self.simulate("four", options=("--machine", "golden-cove",
                                                       "--deterministic")))

    def test_one_after_the_other(self):
        self.check_four(self.simulate("after"))

    def test_locality_of_those_one_after_the_other(self):
        self.check_four(self.simulate("after", options=("--machine", "golden-cove", "--locality",
                                                        "all")))

    def test_more_than_are_told_apart(self):
        count = 300
        profile = self.simulate("many", count)
        rows = self.report(profile, "--by", "thread,function", "--limit", "0")["rows"]
        stores = {row.get("thread_id"): row["values"][STORES]["value"] for row in rows
                  if row["function"] == "first"}
        # The process's first thread makes none: 254 have a row of their own.
        others = stores.pop(None)
        self.assertEqual(list(range(1, 255)), sorted(stores.values()))
        self.assertEqual(sum(range(255, count + 1)), others)
        self.assertIn("other threads", {row["thread"] for row in rows})
        self.assertEqual(count + 1 - 255, self.report(profile)["ledger"]["folded_threads"])

    def test_names(self):
        profile = self.simulate("names")
        rows = self.report(profile, "--by", "thread,function", "--limit", "0")["rows"]
        names = {row["function"]: row["thread"] for row in rows}
        self.assertEqual(["one", "two", "three", "threaded", "zero"],
                         [names[one] for one in ("first", "second", "third", "fourth", "main")])

    def test_fork(self):
        stores = self.stores(self.simulate("fork"))
        by_function = {function: (process, thread, count)
                       for (process, thread, function), count in stores.items()}
        self.assertEqual({"second": 2 * TIMES, "in_child": 5 * TIMES,
                          "in_thread_of_child": 6 * TIMES},
                         {name: count for name, (_, _, count) in by_function.items()})
        parent, forker, _ = by_function["second"]
        child, first, _ = by_function["in_child"]
        self.assertNotEqual(parent, forker)
        self.assertEqual(child, first)
        self.assertNotEqual(parent, child)
        self.assertEqual(child, by_function["in_thread_of_child"][0])
        self.assertNotEqual(child, by_function["in_thread_of_child"][1])

    def test_exec(self):
        stores = self.stores(self.simulate("exec"))
        self.assertEqual(5, len(stores))
        self.assertEqual(1, len({process for (process, _, _) in stores}))
        seconds = sorted(count for (_, _, function), count in stores.items()
                         if function == "second")
        self.assertEqual([2 * TIMES] * 2, seconds)
