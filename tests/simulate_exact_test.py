"""The software PMU counts whatever processes do: what is known to have been executed is there, in
any tree of forks, vforks, execs, spawns, threads and violent ends."""
import os
import pathlib
import signal
import subprocess
import time

import process_trees
from harness import CULPRIT, SYSTEM_PATH, CulpritTest, run

ENVIRONMENT = {"PATH": SYSTEM_PATH, "LC_ALL": "C", "PYTHONHASHSEED": "0", "HOME": "/nonexistent"}

# 2,000,001 instructions in spin(), as often as it executes itself and once more.
CHAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void spin(void);
__asm__("spin: mov $1000000, %edi\\n1: dec %edi\\n jnz 1b\\n ret\\n.size spin, . - spin\\n"
        ".type spin, @function\\n.globl spin\\n");
int main(int argc, char** argv) {
  const int left = argc > 1 ? atoi(argv[1]) : 0;
  char text[16];
  spin();
  if (left == 0) return 0;
  sprintf(text, "%d", left - 1);
  execl("/proc/self/exe", argv[0], text, (char*)0);
  return 9;
}
"""
OF_A_SPIN = 1 + 2 * 1_000_000 + 1


class Exact(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64", "cc")

    def simulate(self, *command, options=("--detail", "events"), engine="simulate", **more):
        """Instructions in spin(), and the ledger."""
        more.setdefault("env", ENVIRONMENT)
        profile, _ = self.record("-q", "--engine", engine, *options, "--", *command, **more)
        report = self.report(profile, "--limit", "0")
        spins = [row for row in report["rows"] if row["function"] == "spin"]
        return sum(row["values"]["instructions"]["value"] for row in spins), report["ledger"]

    def check(self, spins, *command, **more):
        counted, ledger = self.simulate(*command, **more)
        self.assertEqual(counted, spins * OF_A_SPIN)
        for lost in ("missing_instructions", "uncounted_processes", "damaged_records"):
            self.assertNotIn(lost, ledger)

    def chain(self):
        return self.compile_text(CHAIN, "chain.c", "chain", "-O1")


class Execs(Exact):
    def test_each_of_a_chain_is_counted(self):
        chain = self.chain()
        for execs in (1, 2, 5):
            with self.subTest(execs=execs):
                self.check(execs + 1, chain, execs)

    def test_with_a_model_in_turns_and_with_time(self):
        chain = self.chain()
        self.check(4, chain, 3, options=("--deterministic",))
        self.check(4, chain, 3, options=("--locality", "l1"))
        self.check(4, chain, 3, engine="timer+simulate", options=("--windows", "all"))

    def test_through_other_programs(self):
        chain = self.chain()
        script = self.folder / "wrapper"
        script.write_text(f"#!/bin/sh\nexec env env env env '{chain}' 1\n")
        script.chmod(0o755)
        self.check(2, script)

    def test_one_that_fails_is_no_end(self):
        """Nor is a program that is executed in vain one that ran uncounted."""
        chain = self.chain()
        (self.folder / "text").write_text("exit 0\n")
        (self.folder / "text").chmod(0o755)
        program = self.compile_text("""
            #include <unistd.h>
            int main(int argc, char** argv) {
              (void)argc;
              execl("./text", "text", (char*)0);
              execl("./nowhere", "nowhere", (char*)0);
              execl(argv[1], argv[1], "1", (char*)0);
              return 9;
            }
        """, "tries.c", "tries")
        counted, ledger = self.simulate(program, chain)
        self.assertEqual(counted, 2 * OF_A_SPIN)
        self.assertNotIn("not_simulated_programs", ledger)

    def test_in_another_pid_namespace(self):
        """There process ids are others, and the same ones again."""
        self.need("unshare", "sh")
        command = ("unshare", "--pid", "--fork")
        if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no namespaces for process ids here")
        chain = self.chain()
        inside = f"'{chain}' 1 & '{chain}' 1; wait; exec '{chain}' 1"
        both = " ".join(f"{' '.join(command)} sh -c \"{inside}\" &" for _ in range(2))
        self.check(12, "sh", "-c", both + " wait")

    def test_where_the_counts_cannot_be_written_the_program_runs_and_the_ledger_says_so(self):
        self.need("setpriv", "sh")
        if os.geteuid() != 0:
            self.skipTest("only root becomes another user")
        chain = self.chain()
        self.folder.chmod(0o755)
        other = ("setpriv", "--reuid", "65534", "--clear-groups")
        counted, ledger = self.simulate("sh", "-c", f"{' '.join(other)} '{chain}' 1; '{chain}'")
        self.assertEqual(counted, OF_A_SPIN)
        self.assertEqual(ledger["not_simulated_programs"], 1)


class Trees(Exact):
    def test_some(self):
        """process_trees.py tries as many as one likes."""
        program = process_trees.build(self.folder)
        for seed, options in ((1, ()), (7, ()), (15, ("--deterministic",)), (18, ())):
            with self.subTest(seed=seed):
                tree = process_trees.simulate(program, self.folder, seed, "--detail", "events",
                                              *options)
                self.assertEqual(tree.faults(), [])


class Ends(Exact):
    def running(self, word):
        """Processes with the word on their command line."""
        found = []
        for process in pathlib.Path("/proc").iterdir():
            try:
                if word.encode() in (process / "cmdline").read_bytes():
                    found.append(process.name)
            except OSError:
                continue   # it is no process, or no more
        return found

    def test_kill_9_of_culprit_ends_what_it_simulates(self):
        """Children, those in sessions of their own and those that have executed another program
        among them; and what was in memory goes."""
        self.need("setsid", "sh")
        program = self.compile_text("int main(void) { for (;;) __asm__ volatile(\"\"); }",
                                    f"forever-{os.getpid()}.c", f"forever-{os.getpid()}")
        command = f"'{program}' & (setsid sh -c 'exec \"{program}\"' &) ; exec '{program}'"
        culprit = subprocess.Popen([CULPRIT, "record", "-q", "--engine", "simulate", "--detail",
                                    "events", "-o", self.folder / "p.culprit", "--", "sh", "-c",
                                    command], env=ENVIRONMENT, start_new_session=True)
        self.addCleanup(culprit.kill)
        until = time.monotonic() + 60

        def programs():
            found = []
            for pid in self.running("folder="):
                try:
                    words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
                except OSError:
                    continue
                found += [pid] * (str(program) in words)
            return found
        while len(programs()) < 3 and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(len(programs()), 3)
        words = pathlib.Path(f"/proc/{programs()[0]}/cmdline").read_text()
        folder = pathlib.Path(words.split("folder=")[1].split("\0")[0].split(",")[0])
        self.assertTrue(folder.exists())
        os.killpg(culprit.pid, signal.SIGKILL)
        culprit.wait()
        until = time.monotonic() + 60
        while (self.running(f"folder={folder}") or folder.exists()) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(self.running(f"folder={folder}"), [])
        self.assertFalse(folder.exists())
