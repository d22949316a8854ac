"""What instructions access by their code (find_accesses()), against what QEMU shows of them while
real programs run: the same, of every instruction that is known. And what is counted of operands in
memory, known or as QEMU shows it, against their sizes by objdump: of all forms of x86 without
AVX-512, which QEMU has not."""
import itertools
import re

from harness import BUILD, PROGRAMS, CulpritTest, run

CHECKER = BUILD / "check_accesses.so"  # programs/check_accesses.cc

# Opcodes that are several instructions, by a part of ModRM.
GROUPS = {(): [*range(0x80, 0x84), 0x8f, 0xc0, 0xc1, 0xc6, 0xc7, *range(0xd0, 0xd4),
               *range(0xd8, 0xe0), 0xf6, 0xf7, 0xfe, 0xff],
          (0x0f,): [0x00, 0x01, 0x0d, 0x18, 0xae, 0xba, 0xc7]}
PREFIXES = [0x26, 0x2e, 0x36, 0x3e, *range(0x40, 0x50), *range(0x64, 0x68), 0xf0, 0xf2, 0xf3]
ESCAPES = {(): [0x0f, 0x62, 0xc4, 0xc5, 0xd5, *PREFIXES], (0x0f,): [0x38, 0x3a, 0x0f],
           (0x0f, 0x38): [], (0x0f, 0x3a): []}
SLOT = 16  # bytes for each

SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "FWORD": 6, "TBYTE": 10, "XMMWORD": 16,
         "OWORD": 16, "YMMWORD": 32}
# They access nothing, or nothing with these masks, or what cannot be followed: control flow, state
# that later instructions need.
NOT_RUN = re.compile("prefetch|nop|clflush|clwb|cldemote|rex|vp?maskmov|j|call|l?call|ldmxcsr|vldmxcsr|fldcw|l[sfg]s|ud[01]|(bnd |rep)|"
                     "data16|.* [c-gs]s")
# QEMU 7.2 takes movbe with both prefixes for one of 16 bits.
QEMU_IS_WRONG = re.compile("66480f38f[01]")


def forms():
    """Each opcode with an operand at (%rdi)."""
    for escape, not_opcodes in ESCAPES.items():
        for byte, prefix, rex in itertools.product(range(256), ([], [0x66], [0xf3], [0xf2]),
                                                   ([], [0x48])):
            extensions = range(8) if byte in GROUPS.get(escape, []) else [0]
            if byte not in not_opcodes:
                for extension in extensions:
                    yield bytes([*prefix, *rex, *escape, byte, 7 | extension << 3, 1, 0, 0, 0])
    for escape, byte, last in itertools.product((1, 2, 3), range(256), range(256)):
        if last & 0x78 in (0x70, 0x78):  # a register, or none
            yield bytes([0xc4, 0xe0 | escape, last, byte, 7, 1])
    for extension in range(8):
        yield bytes([0xc4, 0xe2, 0x70, 0xf3, 7 | extension << 3])


class Operands(CulpritTest):
    def forms_with_sizes(self):
        """One of each mnemonic and size that objdump knows: (code, text, bytes)."""
        file = self.folder / "forms"
        file.write_bytes(b"".join(code.ljust(SLOT, b"\x90") for code in forms()))
        listing = run("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "-w",
                      file).stdout
        found = {}
        for at, code, text in re.findall(r"^ +(\w+):\t((?:\w\w )+)\s*\t(.*)", listing, re.MULTILINE):
            operand = re.search(r"(\w+) PTR \[rdi\]", text)
            if int(at, 16) % SLOT != 0 or operand is None or "(bad)" in text:
                continue
            kind = (text.split()[0], operand[0], len(code), text.find("mm"), text.find("ymm"))
            found.setdefault(kind, (bytes.fromhex(code), text, SIZES[operand[1]]))
        return [form for form in found.values() if not NOT_RUN.match(form[1])]

    def test_have_their_sizes(self):
        self.need("qemu-x86_64", "objdump")
        all_forms = self.forms_with_sizes()
        self.assertGreater(len(all_forms), 1400)
        code = "".join(f".p2align 4\nrun{i}: push %rbp; push %rbx; mov %rsp, %rbp; sub $256, %rsp\n"
                       f"form{i}: .byte {','.join(map(str, form[0]))}\n"
                       "mov %rbp, %rsp; cld; fninit; pop %rbx; pop %rbp; ret\n"
                       for i, form in enumerate(all_forms))
        tables = "".join(f"{name}: {''.join(f'.quad {label}{i};' for i in range(len(all_forms)))}"
                         ".quad 0\n" for name, label in (("runs", "run"), ("forms", "form")))
        (self.folder / "forms.s").write_text(
            f".globl runs, forms\n.text\n{code}.data\n{tables}.section .note.GNU-stack\n")
        run("gcc", "-O1", "-static", "-no-pie", PROGRAMS / "operands.c", self.folder / "forms.s",
            "-o", self.folder / "operands")
        counted = self.counted_bytes()
        wrong = []
        ran = 0
        for line in run("qemu-x86_64", "-cpu", "max", self.folder / "operands").stdout.splitlines():
            index, address, signal = line.split()
            form = all_forms[int(index)]
            if signal != "0" or QEMU_IS_WRONG.match(form[0].hex()):
                continue  # not for user mode, or not for this QEMU
            ran += 1
            loads, stores = counted[int(address, 16)]
            if loads not in (0, form[2]) or stores not in (0, form[2]) or loads + stores == 0:
                wrong.append((form[1], form[0].hex(), loads, stores))
        self.assertEqual(wrong, [], "\n".join(map(str, wrong)))
        self.assertGreater(ran, 1200)

    def counted_bytes(self):
        """Bytes loaded and stored by each instruction that ran once, by address."""
        report = self.folder / "each"
        run("qemu-x86_64", "-cpu", "max", "-plugin", f"{CHECKER},each={report}",
            self.folder / "operands")
        lines = [line.split() for line in report.read_text().splitlines()]
        return {int(at, 16): (int(loads), int(stores))
                for at, executions, loads, stores in lines if executions == "1"}


class Accesses(CulpritTest):
    def check(self, qemu, *command, least_known=0.98):
        self.need(qemu)
        report = self.folder / "report"
        cpu = ["-cpu", "max"] if qemu == "qemu-x86_64" else ["-L", "/usr/aarch64-linux-gnu"]
        run(qemu, *cpu, "-plugin", f"{CHECKER},report={report}", *command, cwd=self.folder)
        *differing, summary = report.read_text().splitlines()
        self.assertEqual(differing, [])
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
