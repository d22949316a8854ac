#include "binary/symbols.h"

#include <gtest/gtest.h>
#include <map>

#include "base/file.h"
#include "binary/test_programs.h"

namespace culprit {
namespace {

using test::has_tool;
using test::ProgramFolder;
using test::run;

/// Symbols of a file, with the bytes they point into.
struct Loaded {
  std::string content;
  std::unique_ptr<ElfFile> elf;
  std::unique_ptr<Symbols> symbols;
};

Loaded load(const std::string& path) {
  Loaded loaded;
  loaded.content = *read_file(path);
  loaded.elf = std::make_unique<ElfFile>(*ElfFile::open(std::as_bytes(std::span(loaded.content))));
  loaded.symbols = std::make_unique<Symbols>(Symbols::read(*loaded.elf, nullptr));
  return loaded;
}

const Symbol* find_named(const Symbols& symbols, std::string_view name) {
  for (const Symbol& s : symbols.all())
    if (s.name == name) return &s;
  return nullptr;
}

std::string assemble(const ProgramFolder& folder, const std::string& text) {
  test::write_text(folder.path("code.s"), text + ".section .note.GNU-stack,\"\",@progbits\n");
  run("cd " + folder.path() + " && gcc -nostdlib -static code.s -o code");
  return folder.path("code");
}

TEST(Symbols, AgreeWithNm) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "");
  const Loaded loaded = load(program);
  EXPECT_EQ(loaded.symbols->kind(), SymbolTableKind::symtab);
  // nm -S: "address size type name"; t, T, W with a size are functions.
  size_t checked = 0;
  for (const std::string& line : test::split_lines(run("nm -S " + program))) {
    unsigned long long address = 0;
    unsigned long long size = 0;
    char type = 0;
    char name[256] = "";
    if (std::sscanf(line.c_str(), "%llx %llx %c %255s", &address, &size, &type, name) != 4)
      continue;
    if (std::string("tTW").find(type) == std::string::npos) continue;
    const Symbol* symbol = loaded.symbols->find(LinkAddress(address));
    ASSERT_NE(symbol, nullptr) << line;
    EXPECT_EQ(symbol->name, name);
    EXPECT_EQ(symbol->end - symbol->begin, size) << line;
    ++checked;
  }
  EXPECT_GE(checked, 7u);  // main, hidden, local_class, checked, other, inner, heavy...
}

TEST(Symbols, NeverOverlap) {
  for (const char* path : {"/bin/ls", "/lib/x86_64-linux-gnu/libc.so.6"}) {
    if (!file_exists(path)) continue;
    const Loaded loaded = load(path);
    LinkAddress end(0);
    for (const Symbol& s : loaded.symbols->all()) {
      EXPECT_LE(end, s.begin) << s.name;
      EXPECT_LT(s.begin, s.end) << s.name;
      end = s.end;
    }
  }
}

TEST(Symbols, ChooseOneOfSeveralNames) {
  const ProgramFolder folder;
  const Loaded loaded = load(assemble(folder, R"(.text
.globl _start, __reserved, plain, longer_name
.weak a_weak
.type _start,@function
.type __reserved,@function
.type plain,@function
.type longer_name,@function
.type a_weak,@function
.type a_local,@function
_start: ret
.size _start, .-_start
a_local:
a_weak:
__reserved:
longer_name:
plain: nop
 ret
.size a_local, 2
.size a_weak, 2
.size __reserved, 2
.size longer_name, 2
.size plain, 2
)"));
  ASSERT_EQ(loaded.symbols->all().size(), 2u);
  EXPECT_EQ(loaded.symbols->all()[1].name, "plain");
}

TEST(Symbols, GiveUnsizedOnesTheRoomUpToTheNext) {
  const ProgramFolder folder;
  const Loaded loaded = load(assemble(folder, R"(.text
.globl _start
_start: nop
 nop
 nop
second: nop
.type sized,@function
sized: nop
label_inside: nop
 nop
.size sized, 3
last: nop
 nop
)"));
  std::map<std::string, uint64_t, std::less<>> sizes;
  for (const Symbol& s : loaded.symbols->all()) sizes[std::string(s.name)] = s.end - s.begin;
  EXPECT_EQ(sizes, (std::map<std::string, uint64_t, std::less<>>{
                       {"_start", 3}, {"second", 1}, {"sized", 3}, {"last", 2}}));
}

TEST(Symbols, LetTheInnerOfNestedFunctionsWin) {
  const ProgramFolder folder;
  const Loaded loaded = load(assemble(folder, R"(.text
.globl _start
.type _start,@function
.type inner,@function
_start: nop
 nop
inner: nop
 .size inner, 1
 nop
 nop
 .size _start, 5
)"));
  // 2 bytes _start, 1 byte inner, 2 bytes _start again
  const auto& all = loaded.symbols->all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "_start");
  EXPECT_EQ(all[0].end - all[0].begin, 2u);
  EXPECT_EQ(all[1].name, "inner");
  EXPECT_EQ(all[2].name, "_start");
  EXPECT_EQ(all[2].end - all[2].begin, 2u);
}

TEST(Symbols, NamePltStubs) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-Wl,-z,lazy");
  // objdump -d: "0000000000001030 <abort@plt>:"
  const std::string line = run("objdump -d " + program + " | grep '<abort@plt>:'");
  const uint64_t address = std::strtoull(line.c_str(), nullptr, 16);
  ASSERT_NE(address, 0u);
  const Loaded loaded = load(program);
  const Symbol* stub = loaded.symbols->find(LinkAddress(address));
  ASSERT_NE(stub, nullptr);
  EXPECT_EQ(stub->name, "abort@plt");
}

TEST(Symbols, ComeFromDynsymAndMinidebugWhereThereIsNoSymtab) {
  if (!has_tool("xz")) GTEST_SKIP() << "xz is not installed";
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-rdynamic");
  const auto hidden = [](const Symbols& s) { return find_named(s, "_ZL6hiddeni"); };
  ASSERT_NE(hidden(*load(program).symbols), nullptr);
  // gdb's manual describes it so: the local functions are in a section of their own.
  run("cd " + folder.path() +
      " && nm program --format=posix --defined-only | awk '$2 ~ /[tT]/ {print $1}' > keep"
      " && objcopy --only-keep-debug program full"
      " && objcopy -S --remove-section .gdb_index --remove-section .comment"
      " --keep-symbols=keep full mini && xz -k mini && strip program");
  const Loaded stripped = load(program);
  EXPECT_EQ(stripped.symbols->kind(), SymbolTableKind::dynsym);
  EXPECT_EQ(hidden(*stripped.symbols), nullptr);
  EXPECT_NE(find_named(*stripped.symbols, "_Z5otheri"), nullptr);

  run("cd " + folder.path() + " && objcopy --add-section .gnu_debugdata=mini.xz program");
  const Loaded mini = load(program);
  EXPECT_EQ(mini.symbols->kind(), SymbolTableKind::minidebug);
  EXPECT_NE(hidden(*mini.symbols), nullptr);
}

}  // namespace
}  // namespace culprit
