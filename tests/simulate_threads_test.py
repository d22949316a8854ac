"""--deterministic: threads of a simulated program take turns by simulated time."""
import json
import os

from harness import SYSTEM_PATH, CulpritTest, is_sanitized, run, runs_alone

RUNS = 3
ENVIRONMENT = {"PATH": SYSTEM_PATH, "LC_ALL": "C", "PYTHONHASHSEED": "0",
               "HOME": "/nonexistent", "OMP_NUM_THREADS": "4"}
MACHINE = ("--machine", "golden-cove")

TEAM = """
#include <stdio.h>
static double a[4096], b[4096];
int main(void) {
  double sum = 0;
  for (int i = 0; i < 4096; ++i) b[i] = i;
#pragma omp parallel
  for (int round = 0; round < 4; ++round) {
#pragma omp for
    for (int i = 0; i < 4096; ++i) a[i] = b[(i * 7) & 4095] * 0.5 + i;
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 4096; ++i) sum += a[i];
  }
  printf("%.0f\\n", sum);
  return 0;
}
"""


WAITING = """
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all;
static void* work(void* argument) {
  for (volatile int i = 0; i < 3000; ++i) {}
  pthread_barrier_wait(&all);
  return argument;
}
int main(int count, char** words) {
  const int threads = atoi(words[count - 1]);
  pthread_t one;
  pthread_barrier_init(&all, 0, threads);
  for (int i = 1; i < threads; ++i) pthread_create(&one, 0, work, 0);
  work(0);
  return 0;
}
"""


class Threads(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")
        if not os.path.exists("/proc/self/syscall"):
            self.skipTest("this kernel does not show what threads do")

    def build(self):
        return self.compile("interleaved.c", "interleaved", "-O1", "-g", "-pthread")

    def simulate(self, *command, options=(), **more):
        more.setdefault("env", ENVIRONMENT)
        machine = () if "--machine" in options else MACHINE
        return self.record("-q", "--engine", "simulate", "--deterministic", *machine, *options,
                           "--", *command, timeout=280, **more)

    def counts(self, profile):
        """Every event of every instruction, as text."""
        return self.culprit("report", profile, "--by", "instruction", "--format", "csv",
                            "--limit", "0").stdout


class Repeat(Threads):
    def check(self, *command):
        natively = run(*command, env=ENVIRONMENT, cwd=self.folder).stdout
        for options in (("--detail", "events"), ()):
            with self.subTest(options=options):
                counts = set()
                for _ in range(RUNS):
                    profile, done = self.simulate(*command, options=options)
                    self.assertEqual(natively, done.stdout)
                    counts.add(self.counts(profile))
                self.assertEqual(1, len(counts))
                self.assertGreater(len(counts.pop().splitlines()), 1000)
                ledger = self.culprit("report", profile).stdout
                self.assertIn("took turns by simulated time", " ".join(ledger.split()))

    def test_queue(self):
        self.check(self.build(), "queue", "200")

    def test_false_sharing(self):
        self.check(self.build(), "sharing", "8", "5000")

    def test_openmp(self):
        self.check(self.compile_text(TEAM, "team.c", "team", "-O1", "-g", "-fopenmp"))

    def test_short_threads(self):
        self.check(self.build(), "short", "24")

    def test_program_for_aarch64(self):
        self.need("qemu-aarch64", "aarch64-linux-gnu-gcc")
        program = self.compile("interleaved.c", "interleaved-arm", "-O1", "-g", "-pthread",
                               compiler="aarch64-linux-gnu-gcc")
        counts = set()
        for _ in range(RUNS):
            profile, done = self.simulate(program, "queue", "50", options=("--detail", "events"))
            self.assertEqual(f"{sum(range(50))}\n", done.stdout)
            counts.add(self.counts(profile))
        self.assertEqual(1, len(counts))


ATOMICS = """
#include <pthread.h>
static long counter;
#define LOOP(name, operation) \\
  __attribute__((noinline)) static void name(void) { \\
    long a = 1; \\
    for (long i = 0; i < 20000; ++i) \\
      __asm__ volatile(operation : "+r"(a), "+m"(counter) : : "memory", "rax"); \\
  }
LOOP(adds, "lock addq $1, %1")
LOOP(exchanges, "xchg %0, %1")
LOOP(compares, "lock cmpxchg %0, %1")
LOOP(plain, "addq $1, %1")
static void* work(void* nothing) {
  adds(); exchanges(); compares(); plain();
  return nothing;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  return pthread_join(thread, 0);
}
"""


class Atomics(Threads):
    def test_operations_load_and_store(self):
        """By hand: each of 20,000 loads and stores once, in whichever thread and whoever else runs."""
        program = self.compile_text(ATOMICS, "atomics.c", "atomics", "-O1", "-pthread")
        for options in ((), ("--deterministic",)):
            profile, _ = self.record("-q", "--engine", "simulate", "--machine", "zen5", *options, program)
            rows = {row["function"]: {event: value["value"] for event, value in row["values"].items()}
                    for row in self.report(profile, "--by", "function", "--columns",
                                           "events:L1-dcache-loads,L1-dcache-stores,sim:cycles")["rows"]}
            for name in ("adds", "exchanges", "compares", "plain"):
                self.assertAlmostEqual(rows[name]["L1-dcache-loads"], 20000, delta=8, msg=(name, options))
                self.assertAlmostEqual(rows[name]["L1-dcache-stores"], 20000, delta=8, msg=(name, options))
            # What a locked instruction takes is in the machine file: 20 cycles.
            self.assertAlmostEqual(rows["adds"]["sim:cycles"] / 20000, 20, delta=1.5)


@runs_alone("what threads that run as they come take from each other")
class Sharing(Threads):
    def tree(self, bytes_apart, rounds):
        profile, _ = self.simulate(self.build(), "sharing", bytes_apart, rounds)
        tree = json.loads(self.culprit("why", "--in", "count_up", "--format", "json",
                                       profile).stdout)["tree"]
        branches = {node["branch"]: node["cycles"]["value"] for level in tree["parts"]
                    for node in level.get("parts", ()) if node["kind"] == "branch" and node["cycles"]}
        rows = self.report(profile, "--by", "function")["rows"]
        counts = next(row["values"] for row in rows if row["function"] == "count_up")
        return tree["cycles"]["value"], branches, counts

    def test_costs_several_times_what_two_lines_do(self):
        rounds = 40_000
        shared, branches, counts = self.tree("8", rounds)
        apart, branches_apart, counts_apart = self.tree("128", rounds)
        self.assertEqual(counts_apart["instructions"]["value"], counts["instructions"]["value"])
        self.assertGreater(shared, 2 * apart)
        self.assertEqual("load_latency", max(branches, key=branches.get))
        self.assertGreater(branches["load_latency"], shared / 2)
        self.assertLess(branches_apart["load_latency"], apart / 50)
        # A line passes from core to core in 190 cycles (golden-cove.toml); while one waits for it
        # the other works with it, for as long at most.
        waited = counts["sim:load-other-core-modified-cycles"]["value"]
        transfers = waited / (190 - 5)   # beyond an L1 hit's time
        self.assertGreater(shared / transfers, 190)
        self.assertLess(shared / transfers, 2 * 190)

    def test_line_that_nobody_else_has_is_not_taken(self):
        _, _, counts = self.tree("128", 10_000)
        cell = counts.get("sim:load-other-core-modified-cycles")
        self.assertLess(cell["value"] if cell else 0, 20 * 190)


class Unharmed(Threads):
    """What could make threads that wait for their turn wait forever."""
    def check(self, *command, options=("--detail", "events")):
        natively = run(*command, status=None, env=ENVIRONMENT, cwd=self.folder)
        _, done = self.simulate(*command, options=options, status=natively.returncode)
        self.assertEqual(natively.stdout, done.stdout)

    def check_all(self, *hows):
        program = self.build()
        for how in hows:
            with self.subTest(how=how):
                self.check(program, *how.split())

    def test_many_short_threads(self):
        self.check_all("short 200")

    def test_sleepers(self):
        self.check_all("pipe", "sleep")

    def test_signals(self):
        self.check_all("signals", "alarm")

    def test_atomic_operations_that_stop_all_threads(self):
        self.check_all("wide", "across")

    def test_forks_among_threads(self):
        self.check_all("fork")

    def test_ends_among_threads(self):
        self.check_all("exec", "exit", "abort", "crash")

    def test_limit(self):
        self.check(self.build(), "queue", "200", options=("--max-instructions", "150000"))

    def test_sample_of_sets_and_region_and_locality(self):
        program = self.build()
        for options in (("--sets", "1/16"), ("--roi", "consume"), ("--locality", "all"),
                        ("--machine", "none"), ("--skip", "100000")):
            with self.subTest(options=options):
                self.check(program, "queue", "100", options=options)

    def test_python_with_threads(self):
        script = self.folder / "threads.py"
        script.write_text("import queue, subprocess, threading\n"
                          "todo, sums = queue.Queue(), [0] * 4\n"
                          "def add(i):\n"
                          "    while (k := todo.get()) is not None: sums[i] += k; done.put(k)\n"
                          "done = queue.Queue()\n"
                          "threads = [threading.Thread(target=add, args=(i,)) for i in range(4)]\n"
                          "for one in threads: one.start()\n"
                          "for k in range(200): todo.put(k)\n"
                          "total = sum(done.get() for k in range(200))\n"
                          "for one in threads: todo.put(None)\n"
                          "for one in threads: one.join()\n"
                          "print(total, sum(sums), open('/dev/null').fileno())\n"
                          "print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\n")
        self.check("/usr/bin/python3", "-I", "-S", script)

    def test_threads_that_wait_take_little_memory(self):
        """A thread has of caches and predictors what it uses of them; of a forecast nothing, once it
        is done; and no table over all of the program's instructions."""
        if is_sanitized():
            self.skipTest("sanitizers keep memory")
        program = self.compile_text(WAITING, "waiting.c", "waiting", "-O1", "-pthread")
        peaks = []
        for threads in (10, 110):
            done, peak = self.culprit_measured(
                "record", "-q", "--engine", "simulate", *MACHINE, "-o", "waiting.culprit", "--",
                program, threads)
            self.assertEqual(0, done.returncode, done.stderr)
            peaks.append(peak)
        self.assertLess((peaks[1] - peaks[0]) / 100, 1.3e6)

    def test_is_refused_without_simulation(self):
        done = self.culprit("record", "--engine", "timer", "--deterministic", "--", "true",
                            status=None)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("--deterministic is for --engine simulate", done.stderr)

    def test_without_it_the_ledger_says_so(self):
        profile, _ = self.record("-q", "--engine", "simulate", "--detail", "events", "--",
                                 self.build(), "queue", "10", env=ENVIRONMENT)
        ledger = " ".join(self.culprit("report", profile).stdout.split())
        self.assertIn("threads ran as they came, in 1 process", ledger)
        self.assertIn("(--deterministic)", ledger)
