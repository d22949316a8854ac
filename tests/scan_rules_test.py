"""culprit scan: rules of kernels that are broken on purpose, each told; what breaks none; and what
cannot be checked."""
import json
import platform

from harness import CulpritTest

# One kernel for each KIND. What is told of it stands behind it: HERE is its own line.
KERNEL = r"""#include <cstdio>
#include <cstdlib>
double a[DIM], b[DIM], zero = 0, first = 1.5;
float halves[2];
int main(int, char** argv) {
  const long runs = std::strtol(argv[1], nullptr, 10);
  for (int i = 0; i < DIM; ++i) a[i] = 1.5 + i, b[i] = 0.25 + i;
  double sum = 1.5;
  if (KIND == 3) first = 1e3;
  if (KIND == 5) b[0] = 2e-310;
  if (KIND == 8) sum = __builtin_nan("");
  for (long n = 0; n < runs; ++n) {
    asm volatile("" : "+m"(a), "+m"(b), "+m"(zero), "+m"(first), "+m"(halves));
    if (KIND == 1) for (int i = 0; i < DIM; ++i) a[i] += b[i] * 0.5;
    if (KIND == 3) sum *= first;    // overflow, first at HERE [values]
    if (KIND == 4) sum *= b[0];     // underflow, first at HERE [values]
    if (KIND == 5) a[0] = b[0] + first;  // denormal operand, first at HERE [values]
    if (KIND == 6) a[0] = first / zero;  // division by zero, first at HERE [values]
    if (KIND == 7) a[0] = zero / zero;   // invalid operation, first at HERE [values]
    if (KIND == 8) a[0] += b[0];    // prints nan [values]
    if (KIND == 9) a[0] += b[0];    // prints nothing but zeros: are its operands? [values]
    if (KIND == 10) {
      halves[0] = static_cast<float>(n);
      halves[1] = 2.5f;
      asm volatile("" : "+m"(halves));
      sum += *reinterpret_cast<volatile double*>(halves);  // a load at HERE waits
    }
  }
  if (KIND == 8) std::printf("%g\n", sum);
  if (KIND == 9) std::printf("%g\n", zero);
  asm volatile("" : : "m"(a), "m"(halves), "x"(sum));
}
"""
REMOVED = "an iteration is its loop's count and branch and nothing else: it was optimised away " \
          "[removed]"


def expected_of(kind):
    if kind == 2:
        return REMOVED
    for number, line in enumerate(KERNEL.splitlines(), 1):
        if "//" in line and (f"KIND == {kind})" in line or kind == 10 and "volatile double" in line):
            return line.split("// ")[1].replace("HERE", f"kernel.cc:{number}")
    return None


class Rules(CulpritTest):
    def write(self, kinds, more):
        (self.folder / "kernel.cc").write_text(KERNEL)
        setups = "\n".join(f'kind{kind} = {{ kind = "{kind}" }}' for kind in kinds)
        (self.folder / "scan.toml").write_text(f"""[scan]
program = "kernel.cc"
build = "g++ -O1 -g -DKIND={{kind}} -DDIM={{DIM}} {{program}} -o {{out}}"
run = "{{out}} {{runs}}"
{more}
[setup]
{setups}
""")

    def need_x86(self):
        if platform.machine() != "x86_64":
            self.skipTest("exceptional operations are known on x86-64 only")

    def test_each_that_is_broken_is_told(self):
        self.need_x86()
        self.write(range(1, 11), 'machine = "zen4"\nDIM = 4')
        self.culprit("scan", "run", status=1)
        document = json.loads(self.culprit("scan", "status", "--format", "json").stdout)
        self.assertEqual(document["undecided"], [])
        told = {}
        for problem in document["problems"]:
            self.assertEqual(problem["state"], "not as expected")
            # Kernels that are to print something odd print what the first does not.
            if "prints something else than with kind1" in problem["message"]:
                continue
            for cell in problem["cells"]:
                told.setdefault(int(cell.split(" ")[1][len("kind"):]), []).append(problem["message"])
        self.assertNotIn(1, told)
        for kind in range(2, 11):
            # 1.5 / 4^n is denormal before it is 0.
            messages = [one for one in told.get(kind, [])
                        if not (kind == 4 and "denormal" in one)]
            self.assertEqual(len(messages), 1, (kind, told))
            self.assertTrue(messages[0].startswith(expected_of(kind)), (kind, messages))

    def test_a_breach_that_is_meant_is_not_told(self):
        self.write([2], 'accept = ["removed kern*"]\nDIM = 4')
        self.culprit("scan", "run")
        self.assertRegex(self.culprit("scan", "status").stdout, r"1 done, .* 0 missing\n")
        self.write([2], 'accept = ["remove"]\nDIM = 4')
        self.assertRegex(self.culprit("scan", "run", status=1).stderr,
                         r"scan\.toml, line 5: no rule of kernels is called 'remove': they are ")

    def test_what_was_not_checked_is_told(self):
        self.write([1], "DIM = 4")
        self.culprit("scan", "run")
        status = " ".join(self.culprit("scan", "status").stdout.split())
        self.assertIn("Unknown forwarding: without a machine model", status)

    def test_of_one_program(self):
        self.need_x86()
        self.compile_text(KERNEL, "kernel.cc", "kernel", "-O1", "-g", "-DDIM=4", "-DKIND=3",
                          compiler="g++")
        text = self.culprit("scan", "one", "--", "./kernel", "{runs}").stdout
        self.assertIn("Rule    " + expected_of(3), text)
        document = json.loads(self.culprit("scan", "one", "--format", "json", "--", "./kernel",
                                           "{runs}").stdout)
        self.assertEqual(document["broken_rules"], [expected_of(3)])
