"""Real programs with a repair that anybody can make: a flag, a setting, an unlocked call.

`pairs(folder)` makes their inputs in an empty folder. Each takes some tenths of a second natively.
"""
import dataclasses
import random
import subprocess

KEEP_HEAP = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824"
GETC = """
#include <stdio.h>
int main(int count, char** names) {
  long lines = 0;
  for (int i = 1; i < count; ++i) {
    FILE* file = fopen(names[i], "r");
    for (int c; (c = GETC(file)) != EOF;) lines += c == '\\n';
    fclose(file);
  }
  printf("%ld\\n", lines);
}
"""
PRODUCT = """
program product
  implicit none
  integer, parameter :: n = 384
  real(8) :: a(n, n), b(n, n), c(n, n)
  integer :: i, j, k
  a = 1
  b = 2
  c = 0
LOOPS  print *, sum(c)
end program
"""
LOOPS = """  do i = 1, n
    do j = 1, n
      do k = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
"""
SHAPES = """
#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  double size = 1;
};
struct Square : Shape { double area() const override { return size * size; } };
struct Circle : Shape { double area() const override { return 3.14 * size * size; } };
struct Triangle : Shape { double area() const override { return 0.5 * size * size; } };
struct Line : Shape { double area() const override { return 0; } };
__attribute__((noinline)) double sum_areas(const std::vector<Shape*>& shapes) {
  double sum = 0;
  for (const Shape* one : shapes) sum += one->area();
  return sum;
}
int main() {
  Square square;
  Circle circle;
  Triangle triangle;
  Line line;
  Shape* const kinds[] = {&square, &circle, &triangle, &line};
  std::mt19937 random(1);
  std::vector<Shape*> shapes;
  for (int i = 0; i < 4000; ++i) shapes.push_back(kinds[random() % 4]);
  if (SORTED) std::sort(shapes.begin(), shapes.end());
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += sum_areas(shapes);
  std::printf("%g\\n", sum);
}
"""


@dataclasses.dataclass
class Pair:
    """A program as it is and repaired; what a right verdict names, and where (parts of names of
    functions; () where the program has no names)."""
    name: str
    command: list
    repaired: list
    kinds: set
    places: tuple
    environment: dict = dataclasses.field(default_factory=dict)
    repaired_environment: dict = dataclasses.field(default_factory=dict)


def make_text(path, lines):
    numbers = random.Random(1)
    with open(path, "w") as out:
        for line in range(lines):
            out.write(f"{numbers.randrange(1 << 24)} word{numbers.randrange(1024)} line {line} "
                      f"{'abc' * numbers.randrange(8)}\n")


def build(compiler, source, program, *flags):
    if subprocess.run([compiler, *flags, "-g", "-o", program, source]).returncode != 0:
        raise ValueError(f"{compiler} does not compile {source}")
    return str(program)


def pairs(folder):
    text, part, little = (str(folder / name) for name in ("text", "part", "little"))
    make_text(text, 120000)
    make_text(part, 30000)
    make_text(little, 3000)
    database = str(folder / "rows.db")
    subprocess.run(["sqlite3", database,
                    "create table a as with recursive n(i) as (select 1 union all select i + 1 from n "
                    "where i < 200000) select i * 7919 % 65536 x, 'row' || (i * 31 % 99991) y from n"],
                   check=True)
    query = ("pragma cache_size=100; {} select count(*) from "
             "(select x, y from a order by y, x limit -1 offset 1)")
    (folder / "getc.c").write_text(GETC)
    (folder / "shapes.cc").write_text(SHAPES)
    (folder / "loops.f90").write_text(PRODUCT.replace("LOOPS", LOOPS))
    (folder / "library.f90").write_text(PRODUCT.replace("LOOPS", "  c = matmul(a, b)\n"))
    locked = build("gcc", folder / "getc.c", folder / "locked", "-O2", "-DGETC=getc")
    unlocked = build("gcc", folder / "getc.c", folder / "unlocked", "-O2", "-DGETC=getc_unlocked")
    mixed = build("g++", folder / "shapes.cc", folder / "mixed", "-O2", "-DSORTED=false")
    by_kind = build("g++", folder / "shapes.cc", folder / "by_kind", "-O2", "-DSORTED=true")
    loops = build("gfortran", folder / "loops.f90", folder / "loops", "-O2")
    library = build("gfortran", folder / "library.f90", folder / "library", "-O2")
    locales = folder / "locales"
    locales.mkdir()
    subprocess.run(["localedef", "-i", "en_US", "-f", "UTF-8", locales / "en_US.UTF-8"], check=True)
    english = {"LC_ALL": "en_US.UTF-8", "LOCPATH": str(locales)}
    read_file = "f = open('{}', 'rb'{})\nwhile f.read(4): pass"
    print_lines = '$| = {}; print "$_\\n" for 1 .. 300000'
    count_letters = "{n += length(toupper($0)); if (match($0, /[a-c]+$/)) m++} END {print n, m}"
    blocks = "for i in range(10): len(bytearray(40 << 20))"
    python = ["/usr/bin/python3", "-s", "-S", "-c"]

    yield Pair("dd", ["dd", f"if={text}", "of=/dev/null", "bs=1", "count=500000", "status=none"],
               ["dd", f"if={text}", "of=/dev/null", "bs=65536", "iflag=count_bytes", "count=500000",
                "status=none"], {"files"}, ())
    yield Pair("getc", [locked, *[text] * 6], [unlocked, *[text] * 6], {"stream_characters"},
               ("getc", "main"))
    yield Pair("sort", ["sort", "--parallel=1", "-k2", part, part],
               ["sort", "--parallel=1", "-k2", part, part], {"locale_order"}, ("strcoll",), english)
    yield Pair("gawk", ["gawk", count_letters, text], ["gawk", count_letters, text],
               {"locale_characters"}, ("wcrtomb", "mbrtowc", "gconv", "tow", "isw"),
               {"LC_ALL": "C.UTF-8"})
    localtime = ["perl", "-e", "for (1 .. 200000) { @a = localtime($_) }"]
    yield Pair("perl-time", localtime, localtime, {"file_names", "time_zones"}, ("localtime",), {},
               {"TZ": ":/etc/localtime"})
    yield Pair("sqlite", ["sqlite3", database, query.format("")],
               ["sqlite3", database, query.format("pragma temp_store=memory;")], {"files"}, ())
    yield Pair("python-read", [*python, read_file.format(part, ", buffering=0")],
               [*python, read_file.format(part, "")], {"files"}, ("read",))
    yield Pair("perl-print", ["perl", "-e", print_lines.format(1)],
               ["perl", "-e", print_lines.format(0)], {"files", "pipes"}, ("write",))
    yield Pair("bash-read", ["bash", "-c", f"cat {little} | while read a b; do :; done"],
               ["bash", "-c", f"while read a b; do :; done < {little}"], {"pipes"}, ("read",))
    yield Pair("sh-expr", ["sh", "-c", "i=0; while [ $i -lt 60 ]; do i=$(expr $i + 1); done"],
               ["sh", "-c", "i=0; while [ $i -lt 60 ]; do i=$((i + 1)); done"], {"processes"}, ())
    yield Pair("python-blocks", [*python, blocks], [*python, blocks],
               {"fresh_memory", "memory_returned"}, (), {}, {"GLIBC_TUNABLES": KEEP_HEAP})
    yield Pair("shapes", [mixed], [by_kind], {"branch_misprediction"}, ("sum_areas",))
    yield Pair("fortran", [loops], [library], {"load_latency", "bandwidth_saturation"},
               ("MAIN", "product"))
    pages = ["zstd", "-q", "-16", "--single-thread", "-c", part]
    yield Pair("zstd", pages, pages, {"load_latency"}, ("ZSTD",), {},
               {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"})
