#!/usr/bin/env python3
"""What instructions cost: by LLVM's model, as Culprit models them, and measured on this machine.

    bench/instruction_costs.py CULPRIT [--machine host] [--cpu znver4] [--binaries FILE...]
                               [--only REGEX] [--least 20] [--all] [--classes]

The forms (a mnemonic and kinds of operands) are those that occur in binaries: the C, mathematical
and C++ libraries, python3, sqlite3, a compiler, libcrypto, or --binaries; and some that only a
hand can write. Of each form two loops are made: a chain, in which each instruction needs the one
before, and one of instructions that do not. Both run here and, as one program, under `culprit
record --engine simulate`: cycles per instruction. Measured: the least of nine runs by CPU time,
with the clock of a chain of additions. LLVM's latency and reciprocal throughput are llvm-mca's.
What this CPU lacks is left out, and what QEMU lacks has no model (AVX-512).

Printed are forms of which LLVM's model makes more than four uops or a latency above 12, which it
does not know, and (*) those of which model and measurement differ by more than half a cycle and a
third; --all prints all.

--classes: the classes of a machine file's [instructions] instead, by the loops of
code/instruction_class.cc (instruction_classes beside CULPRIT prints them). Moves between the
files of registers are told apart by the 7 cycles that AMD's guides give a vector's load, and a
latency is of the class alone: without an L1 hit's 4 cycles, and what else its chain has.
"""
import argparse
import collections
import dataclasses
import glob
import json
import pathlib
import re
import subprocess
import tempfile

BINARIES = ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6",
            "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/python3", "/usr/bin/sqlite3",
            "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
            *glob.glob("/usr/lib/gcc/x86_64-linux-gnu/*/cc1")]
LOOPS = pathlib.Path(__file__).parent / "instruction_loops.c"
UNROLLED = 32
L1_CYCLES, VECTOR_LOAD_CYCLES = 4, 3  # of a load; of a vector's beside
CLOCK_ADDITIONS = 8  # of each instruction of the first loop, by which time becomes cycles
ITERATIONS = 2000
MODELLED_ITERATIONS = 500
IN_MEMORY = "zeros"  # of the loops of classes: what is loaded is an index, too

# Of each kind of operand: the one that makes a chain, and eight that do not. The loop counts in
# %rsi, %rdi is an address.
GENERAL = {8: "%bl %cl %r8b %r9b %r10b %r11b %r12b %r13b %r14b",
           16: "%bx %cx %r8w %r9w %r10w %r11w %r12w %r13w %r14w",
           32: "%ebx %ecx %r8d %r9d %r10d %r11d %r12d %r13d %r14d",
           64: "%rbx %rcx %r8 %r9 %r10 %r11 %r12 %r13 %r14"}
REGISTERS = {f"r{bits}": names.split() for bits, names in GENERAL.items()}
REGISTERS |= {kind: [f"%{kind}{i}" for i in range(9)] for kind in ("xmm", "ymm", "zmm", "mm")}
REGISTERS["k"] = [f"%k{1 + i % 7}" for i in range(9)]

# Control flow, system instructions, those with more of a meaning than their operands say.
SKIPPED = re.compile(
    r"j|ljmp|l?call|l?ret|leave|enter|loop|push|pop|sys|int|iret|hlt|ud|nop|lea$|lock|rep|bnd|rex|"
    r"notrack|data16|[cdefgs]s$|x(begin|end|abort|rstor|save|lat)|fx|f(?!e)|emms|cld|std|cli|sti|"
    r"[cs]tac|monitor|mwait|v?ldmxcsr|wr|rd[fg]s|in[bwl]?$|out|lods|stos|scas|(mov|cmp)s[bwlq]?$|"
    r"i?div|swap|vp?(gather|scatter|maskmov)|maskmov|endbr|enq|tile|cldemote|cpuid|.*\(bad\)")
# Which ends a chain between the files of registers, by where the result is.
WAY_BACK = {"r": "movq %rbx, %xmm0", "xmm": "movq %xmm0, %rbx"}

# (form, chain, an independent one with a place for its register)
BY_HAND = [
    ("endbr64", None, "endbr64"),
    ("nop", None, "nop"),
    ("div r32", "mov $7, %ebx; xor %edx, %edx; div %ebx; or $1000, %eax", None),
    ("div r64", "mov $7, %ebx; xor %edx, %edx; div %rbx; or $1000, %rax", None),
    ("div r64 wide", "movabs $0x7fffffffffffff, %rax; add %rbx, %rax; xor %edx, %edx; "
                     "mov $7, %ebx; div %rbx; mov %rax, %rbx; and $7, %ebx", None),
    ("idiv r32", "mov $7, %ebx; cltd; idiv %ebx; or $1000, %eax", None),
    ("idiv r64", "mov $7, %ebx; cqto; idiv %rbx; or $1000, %rax", None),
    ("lea (r,r)", "lea (%rbx,%r8), %rbx", "lea (%r15,%rbp), {}"),
    ("lea 1(r,r)", "lea 1(%rbx,%r8), %rbx", "lea 1(%r15,%rbp), {}"),
    ("lea (r,r,8)", "lea (%r8,%rbx,8), %rbx", "lea (%r15,%rbp,8), {}"),
    ("lea 1(r,r,8)", "lea 1(%r8,%rbx,8), %rbx", "lea 1(%r15,%rbp,8), {}"),
    ("lock add", "lock addq $1, (%rdi)", None),
    ("lock xadd", "lock xadd %rbx, (%rdi)", None),
    ("lock cmpxchg", "lock cmpxchg %rbx, (%rdi)", None),
    ("xchg mem", "xchg %rbx, (%rdi)", None),
    ("mfence", "mfence", None),
    ("lfence", "lfence", None),
    ("push pop", "push %rbx; pop %rbx", "push %rbx; pop %r8"),
    ("store load", "mov %rbx, (%rdi); mov (%rdi), %rbx", None),
    ("addq mem", "addq $1, (%rdi)", None),
    ("fadd st", "fadd %st(1), %st", None),
    ("fmul st", "fmul %st(1), %st", None),
    ("fdiv st", "fdiv %st(1), %st", None),
    ("fsqrt", "fsqrt", None),
    ("fld fstp m80", "fldt (%rdi); fstpt (%rdi)", None),
    ("fld fstp m64", "fldl (%rdi); fstpl (%rdi)", None),
    ("fxch", "fxch %st(1)", None),
    ("vgatherdps ymm", None, "vpcmpeqd %ymm15, %ymm15, %ymm15; vpxor %xmm14, %xmm14, %xmm14; "
                             "vgatherdps %ymm15, (%rdi,%ymm14,4), %ymm13"),
    ("vmaskmovps load", None, "vmaskmovps (%rdi), %ymm15, %ymm14"),
]


def kind_of(operand):
    if operand.startswith("$"):
        return "i"
    if "(" in operand or re.match(r"(%\ws:)?-?0x", operand):
        return "m"
    name = operand.lstrip("%")
    if match := re.fullmatch(r"([xyz]mm|mm|k)\d+", name):
        return match[1]
    if re.fullmatch(r"r(\d+|[a-d]x|[sd]i|[sb]p)", name):
        return "r64"
    if re.fullmatch(r"r\d+d|e([a-d]x|[sd]i|[sb]p)", name):
        return "r32"
    if re.fullmatch(r"r\d+w|[a-d]x|[sd]i|[sb]p", name):
        return "r16"
    return "r8" if re.fullmatch(r"r\d+b|[a-d][lh]|[sd]il|[sb]pl", name) else None


def split_operands(text):
    return [part for part in re.split(r",(?![^(]*\))", text) if part] if text else []


@dataclasses.dataclass
class Form:
    name: str
    count: int
    chain: str = None
    independent: list = None  # eight

    def text(self):
        """One instruction, for llvm-mca; None: it is several."""
        text = self.chain or self.independent[0]
        return None if ";" in text else text


CLOCK = Form("clock", 0, "; ".join(["addq %rbx, %rbx"] * CLOCK_ADDITIONS))


def count_forms(binary):
    """How often each (mnemonic, kinds of operands) occurs."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], capture_output=True,
                             text=True).stdout
    forms = collections.Counter()
    for line in re.findall(r"^ +\w+:\t(.*)", listing, re.MULTILINE):
        mnemonic, _, rest = re.split("[#<]", line)[0].strip().partition(" ")
        if not mnemonic or SKIPPED.match(mnemonic) or "{" in rest:
            continue
        operands = split_operands(rest.replace(" ", ""))
        kinds = [kind_of(operand) for operand in operands]
        if len(kinds) > 1 and operands[0] == "%cl" and re.match("(sh|sa|ro|rc)[lr]", mnemonic):
            kinds[0] = "cl"
        if None not in kinds:
            forms[mnemonic, tuple(kinds)] += 1
    return forms


def write(mnemonic, kinds, result, others):
    """With those of REGISTERS that have these numbers."""
    constant = {"i": "$1", "m": "(%rdi)", "cl": "%cl"}
    operands = [constant.get(kind) or REGISTERS[kind][result if place == len(kinds) - 1 else others]
                for place, kind in enumerate(kinds)]
    return f"{mnemonic} {', '.join(operands)}".strip()


def file_of(kind):
    return "xmm" if kind.endswith("mm") and kind != "mm" else kind.rstrip("0123456789")


def make_form(mnemonic, kinds, count):
    form = Form(f"{mnemonic} {', '.join(kinds)}".strip(), count)
    form.independent = [write(mnemonic, kinds, 1 + i, 0) for i in range(8)]
    read = [kind for kind in kinds[:-1] if kind not in ("m", "i", "cl")]
    is_load = not read and "m" in kinds[:-1]
    if not kinds or kinds[-1] in ("m", "i") or is_load:
        return form
    form.chain = write(mnemonic, kinds, 0, 0)
    result = file_of(kinds[-1])
    if read and result in WAY_BACK and result not in map(file_of, read):
        form.chain += "; " + WAY_BACK[result]
    return form


def make_form_by_hand(name, chain, independent):
    if independent is None:
        return Form(name, 0, chain)
    return Form(name, 0, chain, [independent.format(register) for register in REGISTERS["r64"][1:]])


@dataclasses.dataclass
class ClassLoops:
    """A line that instruction_classes prints."""
    name: str
    chain: str
    independent: str
    count: int
    beside: float
    hits_l1d: int
    also: str

    @classmethod
    def parse(cls, line):
        name, chain, independent, count, beside, hits_l1d, also = line.split("\t")
        return cls(name, chain, independent, int(count), float(beside), int(hits_l1d), also)

    def form(self):
        return Form(self.name, 0, self.chain or None, [self.independent] * 8)


def read_classes(culprit):
    """Those of the build that has this culprit."""
    printed = subprocess.run([culprit.parent / "instruction_classes"], check=True,
                             capture_output=True, text=True).stdout
    return [ClassLoops.parse(line) for line in printed.splitlines()]


def find_timings(classes, cycles):
    """{name: (latency, reciprocal throughput)}, each None if it is not known; `cycles`: by loop."""
    chains = {one.name: cycles.get(2 * i) for i, one in enumerate(classes, 1)}
    known = {}
    if chains["load_vector"] and chains["move_to_vector"]:
        known["move_from_vector"] = chains["load_vector"] - L1_CYCLES - VECTOR_LOAD_CYCLES
        known["move_to_vector"] = chains["move_to_vector"] - known["move_from_vector"]
    timings = {}
    for i, one in enumerate(classes, 1):
        latency = known.get(one.name)
        if latency is None and chains[one.name] is not None and (not one.also or one.also in known):
            latency = (chains[one.name] - one.beside - L1_CYCLES * one.hits_l1d
                       - known.get(one.also, 0))
        among = cycles.get(2 * i + 1)
        timings[one.name] = latency, None if among is None else among / one.count
    return timings


def choose_forms(options):
    """The clock's first; with them how many instructions of the binaries there are."""
    counted = collections.Counter()
    for binary in filter(lambda path: pathlib.Path(path).exists(), options.binaries):
        counted.update(count_forms(binary))
    found = [make_form(mnemonic, kinds, count)
             for (mnemonic, kinds), count in counted.most_common() if count >= options.least]
    by_hand = [make_form_by_hand(*one) for one in BY_HAND]
    return ([CLOCK] + [form for form in found + by_hand if re.search(options.only, form.name)],
            sum(counted.values()))


def keep_those_that_assemble(forms, folder):
    """Without those that need other operands than the rule gives."""
    source = folder / "try.s"
    source.write_text("".join(f"{form.chain or ''}\n{'; '.join(form.independent or [])}\n"
                              for form in forms))
    log = subprocess.run(["as", source, "-o", folder / "try.o"], capture_output=True,
                         text=True).stderr
    bad = {int(number) - 1 for number in re.findall(r"try\.s:(\d+): ", log)}
    for i, form in enumerate(forms):
        form.chain = None if 2 * i in bad else form.chain
        form.independent = None if 2 * i + 1 in bad else form.independent
    return [form for form in forms if form.chain or form.independent]


def build(forms, folder):
    """A program whose loop 2 i is the chain of form i, and the next one its independent ones."""
    bodies = []
    for form in forms:
        bodies += [[form.chain] * UNROLLED if form.chain else [],
                   (form.independent or []) * (UNROLLED // 8)]
    code = [".text"]
    for i, body in enumerate(bodies):
        code += [f".globl loop{i}", f".type loop{i}, @function", f"loop{i}:", ".p2align 5", "1:",
                 *body, "dec %rsi", "jnz 1b", "ret", f".size loop{i}, . - loop{i}"]
    code += [".data", ".globl loops, loop_count", f"loop_count: .quad {len(bodies)}", "loops:",
             *(f".quad {f'loop{i}' if body else 0}" for i, body in enumerate(bodies)),
             '.section .note.GNU-stack,"",@progbits']
    (folder / "loops.s").write_text("\n".join(code) + "\n")
    program = folder / "loops"
    subprocess.run(["gcc", "-O2", "-static", "-no-pie", "-o", program, LOOPS, folder / "loops.s"],
                   check=True)
    return program


def measure(program, *options):
    """Cycles per instruction, by number of loop."""
    times = collections.defaultdict(list)
    out = subprocess.run([program, "9", str(ITERATIONS), *options], check=True, capture_output=True,
                         text=True).stdout
    for line in out.splitlines():
        number, ns = line.split()
        times[int(number)].append(float(ns))
    least = {number: min(values) for number, values in times.items()}
    cycle_ns = least[0] / (ITERATIONS * UNROLLED * CLOCK_ADDITIONS)
    return {number: ns / cycle_ns / (ITERATIONS * UNROLLED) for number, ns in least.items()}


def model(culprit, machine, program, folder, *options):
    """The same."""
    profile = folder / "loops.culprit"
    out = subprocess.run([culprit, "record", "-q", "--engine", "simulate", "--machine", machine,
                          "-o", profile, "--", program, "1", str(MODELLED_ITERATIONS), *options],
                         check=True, capture_output=True, text=True).stdout
    ran = {int(line.split()[0]) for line in out.splitlines()}  # AVX-512 does not
    report = json.loads(subprocess.run(
        [culprit, "report", "--format", "json", "--limit", "0", "--columns", "events:sim:cycles",
         profile], check=True, capture_output=True, text=True).stdout)
    cycles = {}
    for row in report["rows"]:
        if match := re.fullmatch(r"loop(\d+)", row["function"]):
            cycles[int(match[1])] = row["values"]["sim:cycles"]["value"]
    return {number: value / (MODELLED_ITERATIONS * UNROLLED) for number, value in cycles.items()
            if number in ran}


def llvm_costs(texts, cpu, folder):
    """(uops, latency, reciprocal throughput) by llvm-mca; None: it does not know it, or does not
    end. Those that fail are found by halves."""
    source = folder / "llvm.s"
    source.write_text("\n".join(texts) + "\n")
    try:
        out = subprocess.run(["llvm-mca-19", f"-mcpu={cpu}", "-iterations=1", "-instruction-info",
                              "-resource-pressure=false", "-summary-view=false", source],
                             capture_output=True, text=True, timeout=3).stdout
    except subprocess.TimeoutExpired:
        out = ""
    rows = re.findall(r"^ (\d+) +(\d+) +(\d+\.\d+)", out, re.MULTILINE)
    if len(rows) == len(texts):
        return [(int(uops), int(latency), float(cycles)) for uops, latency, cycles in rows]
    if len(texts) == 1:
        return [None]
    half = len(texts) // 2
    return llvm_costs(texts[:half], cpu, folder) + llvm_costs(texts[half:], cpu, folder)


def find_llvm_costs(forms, cpu, folder):
    texts = [form.text() for form in forms]
    known = [i for i, text in enumerate(texts) if text is not None]
    costs = []
    for start in range(0, len(known), 64):
        costs += llvm_costs([texts[i] for i in known[start:start + 64]], cpu, folder)
    return dict(zip(known, costs))


def differ(modelled, measured):
    return (modelled is not None and measured is not None and abs(modelled - measured) > 0.5
            and not 0.75 < modelled / measured < 4 / 3)


def show(value, width, digits=2):
    return f"{'-' if value is None else f'{value:.{digits}f}':>{width}}"


def print_form(form, llvm, latency, throughput, is_wrong):
    """`latency`, `throughput`: (modelled, measured)."""
    uops, llvm_latency, llvm_throughput = llvm or (None, None, None)
    print(f"{form.name:28}{form.count:8}{show(uops, 6, 0)}{show(llvm_latency, 5, 0)}"
          f"{show(llvm_throughput, 7)}{show(latency[0], 12)}{show(latency[1], 10)}"
          f"{show(throughput[0], 14)}{show(throughput[1], 10)}{'  *' if is_wrong else ''}")


def compare_classes(options):
    classes = read_classes(options.culprit)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = build([CLOCK, *(one.form() for one in classes)], folder)
        modelled, measured = (
            find_timings(classes, cycles) for cycles in (
                model(options.culprit, options.machine, program, folder, IN_MEMORY),
                measure(program, IN_MEMORY)))
    print(f"{'':24}{'latency':>22}{'reciprocal throughput':>24}\n"
          f"{'class':24}{'modelled':>12}{'measured':>10}{'modelled':>14}{'measured':>10}")
    for name in (one.name for one in classes if re.search(options.only, one.name)):
        latency, among = zip(modelled[name], measured[name])
        print(f"{name:24}{show(latency[0], 12)}{show(latency[1], 10)}{show(among[0], 14)}"
              f"{show(among[1], 10)}{'  *' if differ(*latency) or differ(*among) else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("culprit", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--machine", default="host")
    parser.add_argument("--cpu", default="znver4", help="whose model llvm-mca prints")
    parser.add_argument("--binaries", nargs="+", default=BINARIES)
    parser.add_argument("--least", type=int, default=20, help="occurrences of a form")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--classes", action="store_true")
    options = parser.parse_args()
    if options.classes:
        return compare_classes(options)
    forms, instructions = choose_forms(options)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        forms = keep_those_that_assemble(forms, folder)
        program = build(forms, folder)
        measured = measure(program)
        modelled = model(options.culprit, options.machine, program, folder)
        llvm = find_llvm_costs(forms, options.cpu, folder)
    print(f"{'':53}{'latency':>23}{'reciprocal throughput':>24}\n"
          f"{'form':28}{'count':>8}{'uops':>6}{'lat':>5}{'rthr':>7}{'modelled':>12}{'measured':>10}"
          f"{'modelled':>14}{'measured':>10}")
    compared = collections.Counter()
    differing = collections.Counter()
    for i, form in enumerate(forms[1:], 1):
        pairs = [(modelled.get(loop), measured.get(loop)) for loop in (2 * i, 2 * i + 1)]
        is_wrong = any(differ(*pair) for pair in pairs)
        if any(None not in pair for pair in pairs):
            compared.update(forms=1, count=form.count)
            differing.update(forms=is_wrong, count=form.count * is_wrong)
        costs = llvm.get(i)
        if options.all or is_wrong or costs is None or costs[0] > 4 or costs[1] > 12:
            print_form(form, costs, *pairs, is_wrong)
    print(f"{compared['forms']} forms, {100 * compared['count'] / max(instructions, 1):.1f} % of "
          f"the instructions of the binaries that were counted; {differing['forms']} differ, "
          f"{100 * differing['count'] / max(compared['count'], 1):.1f} % of the instructions")


if __name__ == "__main__":
    main()
