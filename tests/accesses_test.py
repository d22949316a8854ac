"""What instructions access by their code (find_accesses()), against what QEMU shows of them while
real programs run: the same, of every instruction that is known."""
import re

from harness import PROGRAMS, SOURCE, CulpritTest, run

# A trap of QEMU (7.2 to 11.1): it loads 16 bytes for these, whose operands are of 4 or 8 (Intel
# SDM). VEX, map 0f38, opcodes 99, 9b, 9d, 9f and the same of a9 and b9; QEMU may be built without
# names.
SCALAR_FUSED = re.compile(r"differs: .*stores 0, not 0; c4 \w2 \w\w [9ab][9bdf]")


class Accesses(CulpritTest):
    def check(self, qemu, *command, least_known=0.98):
        self.need(qemu)
        checker = self.folder / "checker.so"
        sources = [SOURCE / "src/simulate" / name for name in
                   ("counting/code_facts.cc", "counting/known_accesses.cc",
                    "counting/x86_opcode.cc", "qemu/qemu_events.cc")]
        run("g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-I", SOURCE / "src",
            PROGRAMS / "check_accesses.cc", *sources, "-o", checker)
        report = self.folder / "report"
        cpu = ["-cpu", "max"] if qemu == "qemu-x86_64" else ["-L", "/usr/aarch64-linux-gnu"]
        run(qemu, *cpu, "-plugin", f"{checker},report={report}", *command, cwd=self.folder)
        *differing, summary = report.read_text().splitlines()
        self.assertEqual([line for line in differing if not SCALAR_FUSED.match(line)], [])
        count, known, known_bytes, all_bytes = map(int, re.findall(r"\d+", summary))
        self.assertGreater(count, 1000)
        self.assertGreater(known / count, 0.95)
        self.assertGreater(known_bytes / all_bytes, least_known)

    def test_gzip(self):
        self.check("qemu-x86_64", "/usr/bin/gzip", "-c", self.text())

    def test_xz(self):
        self.need("xz")
        self.check("qemu-x86_64", "/usr/bin/xz", "-1", "-T1", "-c", self.text())

    def test_sqlite(self):
        self.need("sqlite3")
        self.check("qemu-x86_64", "/usr/bin/sqlite3", ":memory:",
                   "create table t(a, b); with recursive n(x) as (select 1 union all select x + 1 "
                   "from n where x < 1000) insert into t select x, x * 0.7 from n; "
                   "select sum(a), avg(b) from t where b < 500;")

    def test_python(self):
        self.check("qemu-x86_64", "/usr/bin/python3", "-I", "-S", "-c",
                   "import math; print(sum(math.sin(i) * math.exp(-i) for i in range(500)))")

    def test_perl(self):
        self.need("perl")
        self.check("qemu-x86_64", "/usr/bin/perl", "-e",
                   "print join q(,), map { sqrt($_) * 3.7 } sort { $a <=> $b } map { $_ * 7919 % 1007 } 1 .. 500")

    def test_openssl(self):
        self.need("openssl")
        self.check("qemu-x86_64", "/usr/bin/openssl", "dgst", "-sha512", self.text())

    def test_program_for_aarch64(self):
        self.need("aarch64-linux-gnu-gcc")
        program = self.compile("analytic.c", "analytic", "-pthread", compiler="aarch64-linux-gnu-gcc")
        self.check("qemu-aarch64", program, "product", "30", "column", least_known=0.9)
