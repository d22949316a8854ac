// Tables of jumps beside what the compilers' own assembler text says they hold: labels are made
// symbols of the file, whose addresses nm then prints.

#include "snapshot/jump_facts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "binary/test_programs.h"
#include "snapshot/elf_facts.h"

namespace culprit {
namespace {

using test::has_tool;
using test::run;
using test::split_lines;
using test::write_text;

/// A dense switch, one in a loop (whose table's address the compilers keep in a register), one
/// over many values, computed goto; functions that do not come back, by name and by their code.
constexpr const char* kProgram = R"(
void abort(void) __attribute__((noreturn));
void exit(int) __attribute__((noreturn));
int printf(const char *, ...);
int puts(const char *);
int dense(int x, int *p) {
  switch (x) {
    case 0: *p += 3;
    case 1: return p[1] * 7;
    case 2: p[2] = 4; break;
    case 3: return p[8];
    case 4: p[4]++; break;
    case 5: return -3;
    case 6: p[1] = 8; return 5;
    case 9: abort();
  }
  return p[3];
}
long loop(const unsigned char *c, long n) {
  long a = 1;
  for (;;) {
    switch (*c++) {
      case 'a': a += n; break;
      case 'b': a *= 3; break;
      case 'c': a ^= a >> 3; break;
      case 'd': a -= 9; break;
      case 'e': a = ~a; break;
      case 'f': printf("%ld", a); break;
      case 'g': a <<= 2;
      case 'h': a += 4; break;
      case 0: return a;
      default: exit(3);
    }
  }
}
#define C(k) case k: p[k % 5] += k * 7; p[k % 3] ^= p[(k + 1) % 5] << (k % 11); break;
long wide(unsigned x, long *p) {
  switch (x) {
    C(0) C(1) C(2) C(3) C(4) C(5) C(6) C(7) C(8) C(9) C(10) C(11) C(12) C(13) C(14) C(15) C(16)
    C(17) C(18) C(19) C(20) C(21) C(22) C(23) C(24) C(25) C(26) C(27) C(28) C(29) C(30) C(31)
    C(32) C(33) C(34) C(35) C(36) C(37) C(38) C(39) C(40) C(41) C(42) C(43) C(44) C(45) C(46)
  }
  return p[1];
}
long computed(const unsigned char *c, long a) {
  static const void *const next[] = {&&A, &&B, &&C, &&D};
  goto *next[*c++ & 3];
A:
  a += 3;
  goto *next[*c++ & 3];
B:
  a *= 5;
  goto *next[*c++ & 3];
C:
  a ^= 9;
  goto *next[*c++ & 3];
D:
  return a;
}
__attribute__((noreturn, noinline)) void fatal(const char *s) {
  puts(s);
  exit(2);
}
int stops(int x) {
  if (x > 3) fatal("x");
  if (x < -3) fatal("y");
  return x * 3;
}
int main(int n, char **v) {
  int p[20] = {0};
  long q[9] = {0};
  return dense(n, p) + (int)loop((unsigned char *)v[0], n) + stops(n) +
         (int)computed((void *)v[0], n) + (int)wide((unsigned)n, q);
}
)";

using Addresses = std::map<std::string, uint64_t>;

Addresses read_names(const std::string& nm, const std::string& program) {
  Addresses names;
  for (const std::string& line : split_lines(run(nm + " " + program))) {
    std::istringstream in(line);
    std::string address, kind, name;
    if (in >> address >> kind >> name) names[name] = std::stoull(address, nullptr, 16);
  }
  return names;
}

/// Sets of targets, a set for each run of ".long LL7-LL4", ".byte (LL7-LLrtx4)/4", ".quad LL7".
std::set<std::set<uint64_t>> read_tables(const std::string& assembler, const Addresses& names) {
  std::set<std::set<uint64_t>> tables;
  std::set<uint64_t> table;
  for (const std::string& line : split_lines(assembler)) {
    const size_t label = line.find("LL");
    const bool is_entry = line.starts_with("\t.") && label != line.npos &&
                          (line.starts_with("\t.long") || line.starts_with("\t.byte") ||
                           line.starts_with("\t.hword") || line.starts_with("\t.2byte") ||
                           line.starts_with("\t.word") || line.starts_with("\t.quad") ||
                           line.starts_with("\t.xword"));
    if (!is_entry) {
      if (table.size() > 1) tables.insert(table);
      table.clear();
      continue;
    }
    const size_t end = line.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", label);
    const auto found = names.find(line.substr(label, end - label));
    if (found != names.end()) table.insert(found->second);
  }
  return tables;
}

struct Case {
  const char* name;
  std::string compiler;  // to assembler text
  std::string linker;    // what makes a file of it
  std::string nm = "nm";
};
void PrintTo(const Case& how, std::ostream* out) {
  *out << how.compiler;
}

class JumpTables : public testing::TestWithParam<Case> {};

TEST_P(JumpTables, AreThoseOfTheAssemblerText) {
  const Case& how = GetParam();
  for (const std::string& tool : {how.compiler, how.linker}) {
    if (!has_tool(tool.substr(0, tool.find(' ')))) GTEST_SKIP() << "no " << tool;
  }
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::string base = folder.path() + "/";
  write_text(base + "a.c", kProgram);
  run(how.compiler + " -S -fno-asynchronous-unwind-tables " + base + "a.c -o " + base + "raw.s");
  run("sed -e 's/\\.L/LL/g' -e '/addrsig/d' " + base + "raw.s > " + base + "a.s");
  run(how.linker + " " + base + "a.s -o " + base + "a.out 2>&1");
  const Addresses names = read_names(how.nm, base + "a.out");
  const std::set<std::set<uint64_t>> want = read_tables(*read_file(base + "a.s"), names);
  ASSERT_GE(want.size(), 2u);

  const std::string content = *read_file(base + "a.out");
  const ElfFile elf = *ElfFile::open(std::as_bytes(std::span(content)));
  std::vector<FileOffset> offsets;
  for (const char* name : {"dense", "loop", "wide", "computed", "stops", "main"}) {
    offsets.push_back(*elf.to_file_offset(LinkAddress(names.at(name))));
  }
  std::sort(offsets.begin(), offsets.end());
  const ImageFacts facts = make_elf_facts({elf, base + "a.out"}, offsets, 1);

  std::map<uint64_t, std::set<uint64_t>> jumps;
  std::set<uint64_t> last_calls;
  for (const JumpFact& jump : facts.jumps) {
    const uint64_t from = to_link_address(facts, jump.from).value;
    if (jump.kind == JumpKind::never_returns) {
      last_calls.insert(from);
    } else {
      EXPECT_EQ(jump.kind, JumpKind::complete);
      jumps[from].insert(to_link_address(facts, jump.to).value);
    }
    const auto is_block = [&](const BlockFact& block) { return block.begin == jump.to; };
    const auto is_in = [&](const FunctionFact& f) { return jump.to >= f.begin && jump.to < f.end; };
    if (std::any_of(facts.functions.begin(), facts.functions.end(), is_in)) {
      EXPECT_TRUE(std::any_of(facts.blocks.begin(), facts.blocks.end(), is_block));
    }
  }
  std::set<std::set<uint64_t>> got;
  for (const auto& [from, to] : jumps) got.insert(to);
  EXPECT_EQ(got, want);
  // fatal() twice and abort() or exit() once each, but where the compiler joins equal calls or
  // the linker has no names for stubs.
  EXPECT_GE(last_calls.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Compilers, JumpTables,
    testing::Values(
        Case{"gcc_O0", "gcc -O0", "gcc"}, Case{"gcc_O2", "gcc -O2", "gcc"},
        Case{"gcc_fixed", "gcc -O2 -fno-pic", "gcc -no-pie"},
        Case{"gcc_cet", "gcc -O2 -fcf-protection", "gcc"}, Case{"gcc_Os", "gcc -Os", "gcc"},
        Case{"clang_O0", "clang-19 -O0", "gcc"}, Case{"clang_O2", "clang-19 -O2", "gcc"},
        Case{"clang_fixed", "clang-19 -O2 -fno-pic", "gcc -no-pie"},
        Case{"gcc_arm_O0", "aarch64-linux-gnu-gcc -O0",
             "aarch64-linux-gnu-gcc -nostdlib -static -Wl,-e,main,--unresolved-symbols=ignore-all",
             "aarch64-linux-gnu-nm"},
        Case{"gcc_arm_O2", "aarch64-linux-gnu-gcc -O2",
             "aarch64-linux-gnu-gcc -nostdlib -static -Wl,-e,main,--unresolved-symbols=ignore-all",
             "aarch64-linux-gnu-nm"},
        Case{"clang_arm_O2", "clang-19 --target=aarch64-linux-gnu -O2",
             "aarch64-linux-gnu-gcc -nostdlib -static -Wl,-e,main,--unresolved-symbols=ignore-all",
             "aarch64-linux-gnu-nm"},
        Case{"clang_arm_pic", "clang-19 --target=aarch64-linux-gnu -O1 -fPIC",
             "aarch64-linux-gnu-gcc -nostdlib -shared", "aarch64-linux-gnu-nm"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace culprit
