"""Programs as they are found in the world: with and without debug information, in
other languages, with many children and threads, in containers."""
import json
import os
import pathlib

from harness import CulpritTest, NOBODY, have, run, runs_alone

CXX = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>
namespace shop {
template <class Key, class Value> class Shelf {
 public:
  __attribute__((noinline)) void put(const Key& key, Value value) { items_[key].push_back(value); }
  __attribute__((noinline)) double total() const {
    double sum = 0;
    for (const auto& [key, values] : items_) for (const Value v : values) sum += v;
    return sum;
  }
 private:
  std::map<Key, std::vector<Value>> items_;
};
}
int main() {
  std::mt19937_64 random(1);
  shop::Shelf<std::string, double> shelf;
  for (int i = 0; i < 1500000; ++i) shelf.put("key" + std::to_string(random() % 5000), 1.0);
  std::printf("%f\\n", shelf.total());
}
"""

FORTRAN = """
program heat
  implicit none
  integer, parameter :: n = 600
  real(8) :: a(n, n), b(n, n)
  integer :: t
  a = 0; a(1, :) = 1; b = a
  do t = 1, 1500
    call relax(a, b, n)
    a = b
  end do
  print *, sum(a)
contains
  subroutine relax(x, y, m)
    integer, intent(in) :: m
    real(8), intent(in) :: x(m, m)
    real(8), intent(out) :: y(m, m)
    integer :: i, j
    y = x
    do j = 2, m - 1
      do i = 2, m - 1
        y(i, j) = 0.25d0 * (x(i-1, j) + x(i+1, j) + x(i, j-1) + x(i, j+1))
      end do
    end do
  end subroutine
end program
"""

RUST = """
#[inline(never)]
fn sieve(n: usize) -> usize {
    let mut composite = vec![false; n];
    let mut count = 0;
    for i in 2..n {
        if !composite[i] { count += 1; let mut j = i * i; while j < n { composite[j] = true; j += i; } }
    }
    count
}
mod deep { pub mod inner { #[inline(never)] pub fn again(n: usize) -> usize { super::super::sieve(n) } } }
fn main() { let mut total = 0; for _ in 0..12 { total += deep::inner::again(5_000_000); } println!("{}", total); }
"""

# Forks argv[1] children that work for half a millisecond or so, then works as long itself.
# Prints the CPU time of both, which each process reads around its work.
SPINNER = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { TURNS = 300000 };
static volatile unsigned long sink;
static long now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1000000000 + t.tv_nsec; }
__attribute__((noinline)) void short_work(void) { for (int i = 0; i < TURNS; ++i) sink = sink + 1; }
__attribute__((noinline)) void parent_work(void) { for (int i = 0; i < TURNS; ++i) sink = sink + 1; }
int main(int argc, char** argv) {
  const int children = atoi(argv[1]);
  long* of_children = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < children; ++i) {
    if (fork() == 0) {
      now();   /* a child's first look at a page costs a fault each */
      sink = 0;
      const long start = now();
      short_work();
      __atomic_fetch_add(of_children, now() - start, __ATOMIC_RELAXED);
      _exit(0);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
  }
  while (waitpid(-1, NULL, 0) > 0) {}
  const long start = now();
  for (int i = 0; i < children; ++i) parent_work();
  printf("{\\"short_work\\": %ld, \\"parent_work\\": %ld}\\n", *of_children, now() - start);
  return 0;
}
"""

SECCOMP = """
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Like a container's filter: perf_event_open is refused with EPERM; then runs argv[1]... */
int main(int argc, char** argv) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  execvp(argv[1], argv + 1);
  return 98;
}
"""


class RealPrograms(CulpritTest):
    def share_of(self, profile, function):
        """Share of rows whose function contains the text."""
        return sum(share for name, share in self.shares(self.report(profile)).items()
                   if function in name)

    def test_cxx_with_templates_in_every_build(self):
        """With debug information names come from anywhere; stripped they cannot."""
        variants = {
            "debug": ["-O2", "-g"], "no debug": ["-O2"], "no-pie": ["-O2", "-g", "-no-pie"],
            "static": ["-O2", "-g", "-static"], "static-pie": ["-O2", "-g", "-static-pie"],
            "debug types": ["-O2", "-g", "-fdebug-types-section"],
            "compressed": ["-O2", "-g", "-gz"], "split": ["-O2", "-g", "-gsplit-dwarf"],
        }
        for name, flags in variants.items():
            with self.subTest(build=name):
                program = self.compile_text(CXX, "shelf.cc", "shelf", *flags, compiler="g++")
                profile, _ = self.record("--", program)
                names = self.shares(self.report(profile, "--by", "module,function"),
                                    module=str(program))
                self.assertTrue(any("shop::Shelf<" in function for function in names), names)
                self.assertGreater(sum(names.values()), 0.2)
                # What the linker makes (PLT entries for IFUNCs) has no name.
                nameless = sum(share for function, share in names.items() if "+0x" in function)
                self.assertLess(nameless, 0.05)
                by_line = self.report(profile, "--by", "line")
                lines = sum(1 for row in by_line["rows"] if (row.get("file") or "").endswith("shelf.cc"))
                self.assertEqual(lines > 0, name != "no debug")

    def test_stripped_program_has_a_row_per_function(self):
        """Names are gone, but unwind tables still tell where functions begin and end."""
        program = self.compile_text(CXX, "shelf.cc", "shelf", "-O2", "-s", compiler="g++")
        profile, _ = self.record("--", program)
        names = self.shares(self.report(profile, "--by", "module,function"), module=str(program))
        unnamed = {name: share for name, share in names.items() if name.startswith("sub_")}
        self.assertGreater(sum(unnamed.values()), 0.9 * sum(names.values()))
        self.assertLess(len(unnamed), 30)
        modules = self.module_shares(profile)
        self.assertGreater(modules["shelf"], 0.2)

    def test_separate_debug_file(self):
        program = self.compile_text(CXX, "shelf.cc", "shelf", "-O2", "-g", compiler="g++")
        run("objcopy", "--only-keep-debug", "shelf", "shelf.debug", cwd=self.folder)
        run("objcopy", "--strip-all", "--add-gnu-debuglink=shelf.debug", "shelf", cwd=self.folder)
        profile, _ = self.record("--", program)
        names = self.shares(self.report(profile))
        self.assertTrue(any("shop::Shelf<" in function for function in names), names)

    def test_fortran(self):
        self.need("gfortran")
        program = self.compile_text(FORTRAN, "heat.f90", "heat", "-O2", "-g", compiler="gfortran")
        profile, _ = self.record("--", program)
        self.assertGreater(self.share_of(profile, "relax"), 0.3)

    def test_rust(self):
        self.need("rustc")
        source = self.folder / "sieve.rs"
        source.write_text(RUST)
        run("rustc", "-O", "-g", source, "-o", self.folder / "sieve", cwd=self.folder)
        profile, _ = self.record("--", self.folder / "sieve")
        names = self.shares(self.report(profile))
        self.assertGreater(names.get("sieve::sieve", 0), 0.3, names)

    def test_go(self):
        self.need("go")
        source = self.folder / "main.go"
        source.write_text("package main\nimport \"fmt\"\n//go:noinline\nfunc Collatz(n int) int {\n"
                          " c := 0\n for n != 1 { if n%2 == 0 { n /= 2 } else { n = 3*n + 1 }; c++ }\n return c }\n"
                          "func main() { s := 0; for i := 1; i < 3000000; i++ { s += Collatz(i) }; fmt.Println(s) }\n")
        environment = {**os.environ, "HOME": str(self.folder), "GOCACHE": str(self.folder / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        run("go", "build", "-o", self.folder / "collatz", source, cwd=self.folder, env=environment)
        profile, _ = self.record("--", self.folder / "collatz")
        self.assertGreater(self.share_of(profile, "main.Collatz"), 0.5)

    def test_python(self):
        profile, done = self.record("--", "/usr/bin/python3", "-c",
                                    "print(sum(i * i % 7 for i in range(6000000)))")
        modules = self.module_shares(profile)
        self.assertGreater(sum(share for name, share in modules.items() if "python" in name), 0.8)

    def test_node_with_a_perf_map(self):
        self.need("node")
        (self.folder / "hot.js").write_text(
            "function hotLoop(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }\n"
            "let t = 0; for (let k = 0; k < 60; k++) t += hotLoop(3000000); console.log(t);\n")
        profile, _ = self.record("--", "node", "--perf-basic-prof", "hot.js")
        rows = self.report(profile, "--by", "module,function")
        self.assertGreater(sum(share for name, share in self.shares(rows, module="[jit]").items()
                               if "hotLoop" in name), 0.4)

    def test_node_with_a_jitdump(self):
        self.need("node")
        (self.folder / "hot.js").write_text(
            "function hotLoop(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }\n"
            "let t = 0; for (let k = 0; k < 60; k++) t += hotLoop(3000000); console.log(t);\n")
        profile, _ = self.record("--", "node", "--perf-prof", "hot.js")
        self.assertGreater(self.share_of(profile, "hotLoop"), 0.4)
        self.assertIn("%", self.culprit("annotate", "*hotLoop*", profile).stdout)

    @runs_alone("shares of time among processes")
    def test_thousands_of_short_children(self):
        """The time of work in children of half a millisecond, and in their parent."""
        if os.geteuid() != 0:
            self.skipTest("needs root: events of tasks do not see short children")
        program = self.compile_text(SPINNER, "short.c", "short", "-O1", "-g")
        profile, done = self.record("-g", "-F", "4999", "--", program, 3000)
        truth = json.loads(done.stdout)
        incl = {row["function"]: row["inclusive"]["cpu-clock"]["value"]
                for row in self.report(profile, "--limit", "0")["rows"] if row["function"] in truth}
        for name, ns in truth.items():
            self.assertAlmostEqual(incl[name] / ns, 1.0, delta=0.12, msg=name)

    @runs_alone("shares of time among threads")
    def test_two_hundred_threads(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        profile, _ = self.record("--", program, 0.02, 200)
        # What was sampled while a thread ended has no number.
        threads = {row["thread_id"] for row in self.report(profile, "--by", "thread")["rows"]
                   if row["thread"] != "[exiting]"}
        self.assertGreater(len(threads), 190)
        self.assertAlmostEqual(self.share_of(profile, "alpha"), 0.5, delta=0.05)

    def outsider(self):
        """A folder that nobody may write, with a culprit that nobody may run."""
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        self.folder.chmod(0o777)
        return {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": self.folder,
                "env": {**os.environ, "HOME": "/nonexistent"}}, self.culprit_for_anybody()

    def test_ordinary_user(self):
        who, culprit = self.outsider()
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        done = run(culprit, "record", "-o", "p.culprit", "--", program, 1, 2, **who)
        report = self.report(self.folder / "p.culprit")
        self.assertAlmostEqual(self.shares(report)["alpha"], 0.5, delta=0.05)
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        if paranoid >= 2:
            self.assertIn("kernel", self.culprit("report", "p.culprit").stdout)   # says it is missing

    @runs_alone("timers see threads at ticks: shares of time")
    def test_container_like_seccomp_filter_as_an_ordinary_user(self):
        who, culprit = self.outsider()
        jail = self.compile_text(SECCOMP, "jail.c", "jail", "-O1")
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        done = run(jail, culprit, "record", "-o", "p.culprit", "--", program, 2, 2, "child", **who)
        report = self.report(self.folder / "p.culprit")
        self.assertEqual(report["events"][0]["name"], "cpu-time")
        shares = self.shares(report)
        self.assertAlmostEqual(shares["alpha"], 0.5, delta=0.06)
        self.assertAlmostEqual(shares["gamma_outline"], 0.2, delta=0.06)
        text = self.culprit("report", "p.culprit").stdout
        self.assertIn("kernel", text)
        self.assertIn("perf_event_open", done.stderr)

    @runs_alone("timers see threads at ticks: shares of time")
    def test_container_like_filter_and_a_static_program(self):
        who, culprit = self.outsider()
        jail = self.compile_text(SECCOMP, "jail.c", "jail", "-O1")
        program = self.compile_text(SPINNER, "short.c", "short", "-O1", "-static")
        done = run(jail, culprit, "record", "-o", "p.culprit", "--", program, 10, status=125, **who)
        self.assertIn("static", done.stderr)

    def test_other_mount_namespace(self):
        """The binary is seen only in the profiled program's own mount namespace."""
        if os.geteuid() != 0 or not have("unshare"):
            self.skipTest("needs root and unshare")
        probe = run("unshare", "-m", "true", status=None)
        if probe.returncode != 0:
            self.skipTest(f"no mount namespaces here: {probe.stderr.strip()}")
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        inside = self.folder / "inside"
        inside.mkdir()
        profile, _ = self.record("--", "unshare", "-m", "sh", "-c",
                                 f"mount -t tmpfs none {inside} && cp {program} {inside}/hidden && "
                                 f"rm {program} && exec {inside}/hidden 1 1")
        self.assertGreater(self.share_of(profile, "alpha"), 0.3)

    def test_kernel_functions_have_names(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to sample the kernel")
        profile, _ = self.record("--", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=300000")
        rows = self.report(profile, "--by", "module,function")
        kernel = self.shares(rows, module="[kernel]")
        self.assertGreater(sum(kernel.values()), 0.5)
        self.assertGreater(sum(share for name, share in kernel.items() if "clear" in name or "zero" in name), 0.1)


class WhoDidIt(CulpritTest):
    """--where of a file: a shell whose children have names."""

    def setUp(self):
        super().setUp()
        spin = self.compile_text(SPINNER, "spin.c", "spin_short", "-O1")
        long = self.folder / "spin_long"
        long.write_bytes(spin.read_bytes())
        long.chmod(0o755)
        self.profile, _ = self.record("-g", "--", "sh", "-c", f"{spin} 100; {long} 300; {spin} 100")

    def total(self, *arguments):
        return self.report(self.profile, *arguments)["events"][0]["total"]

    def test_parts_add_up(self):
        by_comm = self.report(self.profile, "--by", "comm")
        whole = by_comm["events"][0]
        rows = {row["process"]: row["values"][whole["name"]]["value"] for row in by_comm["rows"]}
        self.assertGreater(rows["spin_long"], rows["spin_short"])
        for comm, value in rows.items():
            self.assertEqual(self.total("--where", f"comm={comm}"), value, comm)
        self.assertEqual(self.total("--where", "comm=spin_*"), rows["spin_short"] + rows["spin_long"])
        callees = self.report(self.profile, "--where", "comm=spin_long", "--tree", "callees")
        self.assertEqual(callees["events"][0]["total"], rows["spin_long"])

    def test_every_question_knows_it(self):
        where = ("--where", "comm=spin_long")
        text = self.culprit("report", self.profile, *where).stdout
        self.assertIn("only what --where lets through", " ".join(text.split()))
        self.assertIn(f"--where comm=spin_long {self.profile}", " ".join(text.split()))  # what is next
        self.culprit("annotate", "short_work", "-i", self.profile, *where)
        self.culprit("export", "--to", "collapsed", "-i", self.profile, *where, "-o", "out.txt")
        stacks = (self.folder / "out.txt").read_text().splitlines()
        self.assertTrue(stacks)
        self.assertTrue(all(stack.startswith("spin_long;") for stack in stacks), stacks)
        part, whole = (json.loads(self.culprit("why", self.profile, *words, "--format", "json").stdout)
                       ["tree"]["cycles"]["value"] for words in (where, ()))
        self.assertAlmostEqual(part / whole, self.total(*where) / self.total(), 3)
        same = self.culprit("diff", self.profile, self.profile, *where).stdout
        self.assertNotIn("spin_short", same)

    def test_nobody(self):
        done = self.culprit("report", self.profile, "--where", "comm=nobody", status=1)
        self.assertIn("nothing was counted for --where comm=nobody", done.stderr)
        self.assertIn("spin_long, spin_short", done.stderr)
        done = self.culprit("why", self.profile, "--where", "cgroup=/a", status=1)
        self.assertIn("no count of this profile has a control group", " ".join(done.stderr.split()))
        self.culprit("report", self.profile, "--where", "pid=3", status=2)
        done = self.culprit("diff", self.profile, self.profile, "--where", "comm=nobody", status=1)
        self.assertIn("nothing was counted for --where comm=nobody in any of the runs", done.stderr)
