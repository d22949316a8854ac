"""Real programs under the software PMU, cycles and all: they run to their end and say the same as
natively. (Crashed and killed ones are in simulate_test.py.)"""
from harness import CULPRIT, SYSTEM_PATH, CulpritTest, run

ENVIRONMENT = {"PATH": SYSTEM_PATH, "LC_ALL": "C", "PYTHONHASHSEED": "0", "HOME": "/nonexistent"}


class RealPrograms(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("qemu-x86_64")

    def check(self, *command, least=100_000, options=()):
        """The same output and status as natively; at least so many instructions counted."""
        natively = run(*command, status=None, env=ENVIRONMENT, cwd=self.folder)
        path, done = self.record("-q", "--engine", "simulate", *options, "--", *command,
                                 env=ENVIRONMENT, timeout=280, status=natively.returncode)
        self.assertEqual(natively.stdout, done.stdout)
        self.assertEqual(natively.stderr, done.stderr)
        report = self.report(path, "--by", "process")
        totals = {event["name"]: event["total"] for event in report["events"]}
        self.assertGreater(totals["instructions"], least)
        if "events" not in options:
            self.assertGreater(totals["sim:cycles"], totals["instructions"] / 8)
        return {row["process"] for row in report["rows"]}

    def test_gzip(self):
        self.check("gzip", "-n", "-c", self.text())

    def test_xz(self):
        self.need("xz")
        self.check("xz", "-1", "-T1", "-c", self.text())

    def test_sqlite(self):
        self.need("sqlite3")
        self.check("sqlite3", ":memory:", "create table t(a, b); with recursive n(x) as (select 1 "
                   "union all select x + 1 from n where x < 2000) insert into t select x, x * 7 % "
                   "1000 from n; create index i on t(b); select count(*), sum(a) from t where b < 500;")

    def test_python_with_threads(self):
        script = self.folder / "threads.py"
        script.write_text("import threading\n"
                          "sums = [0] * 4\n"
                          "def add(i):\n"
                          "    for k in range(2000): sums[i] += k * i\n"
                          "threads = [threading.Thread(target=add, args=(i,)) for i in range(4)]\n"
                          "for one in threads: one.start()\n"
                          "for one in threads: one.join()\n"
                          "print(sums)\n")
        self.check("/usr/bin/python3", "-I", "-S", script)

    def test_perl(self):
        self.need("perl")
        self.check("perl", "-e", "my %seen; $seen{$_ % 97} .= chr(65 + $_ % 26) for 1 .. 5000; "
                   "print map { \"$_ $seen{$_}\\n\" } sort keys %seen")

    def test_compiler(self):
        source = self.folder / "source.cc"
        source.write_text("template <int N> struct Sum { static const int value = N + Sum<N - 1>::value; };\n"
                          "template <> struct Sum<0> { static const int value = 0; };\n"
                          "int sum(int n) { int s = 0; for (int i = 0; i < n; ++i) s += Sum<50>::value ^ i; return s; }\n")
        compiler = run("g++", "-print-prog-name=cc1plus").stdout.strip()
        self.check(compiler, "-quiet", "-O1", source, "-o", "-", least=10_000_000,
                   options=("--detail", "events"))

    def test_node(self):
        self.need("node")
        self.check("node", "-e", "let s = 0; for (let i = 0; i < 2e5; ++i) s += i % 7; console.log(s)",
                   least=10_000_000, options=("--detail", "events"))

    def test_openssl(self):
        self.need("openssl")
        self.check("openssl", "dgst", "-sha256", self.text())

    def test_ignored_signals_stay_ignored(self):
        """As a shell starts what runs in the background: gzip then sets no handler for them."""
        program = self.compile_text("""
            #include <signal.h>
            #include <stdio.h>
            int main(void) {
              struct sigaction now;
              for (int number = 1; number < 32; ++number)
                if (sigaction(number, 0, &now) == 0 && now.sa_handler == SIG_IGN)
                  printf("%d ", number);
            }""", "ignored.c", "ignored", "-O1")
        for engine in ("timer", "posix-timer", "simulate"):
            words = ["record", "-q", "--engine", engine, "-o", self.folder / "p.culprit", "--"]
            said = run("sh", "-c", "trap '' HUP INT QUIT; exec \"$@\"", "sh", CULPRIT, *words,
                       program, cwd=self.folder).stdout
            self.assertEqual("1 2 3 ", said, engine)

    def test_openmp(self):
        program = self.compile_text(r"""
            #include <stdio.h>
            int main(void) {
              static double values[20000];
              double sum = 0;
            #pragma omp parallel for num_threads(2)
              for (int i = 0; i < 20000; ++i) values[i] = i * 0.5;
            #pragma omp parallel for num_threads(2) reduction(+ : sum)
              for (int i = 0; i < 20000; ++i) sum += values[i];
              printf("%g\n", sum);
            }""", "openmp.c", "openmp", "-O2", "-fopenmp")
        self.check(program)

    def test_shell_that_forks_and_executes(self):
        processes = self.check("/bin/sh", "-c", "for i in 1 2 3; do echo $i | sed s/2/two/; done; exit 3")
        self.assertTrue(any("sed" in one for one in processes), processes)
