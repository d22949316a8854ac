// Functions, lines and inline stacks of programs in all the forms compilers and
// distributions give debug information, against llvm-symbolizer.

#include "binary/debug_info.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>

#include "base/file.h"
#include "binary/demangle.h"
#include "binary/symbols.h"
#include "binary/test_programs.h"

namespace culprit {
namespace {

using test::has_tool;
using test::ProgramFolder;
using test::run;

struct MappedElf {
  MappedFile bytes;
  ElfFile elf;
};

MappedElf open_mapped(const std::string& path) {
  Fd fd = *open_readable(path);
  MappedFile bytes = *MappedFile::map(fd.get(), path);
  ElfFile elf = *ElfFile::open(bytes.bytes());
  return {std::move(bytes), std::move(elf)};
}

/// "function\nfile:line" per frame, innermost first.
using Frames = std::vector<std::string>;

std::string frame(const std::string& function, const std::string& file, uint32_t line) {
  return function + "\n" + file + ":" + std::to_string(line);
}

class Symbolizer {
 public:
  Symbolizer(const std::string& image, const std::string& debug, const std::string& alt)
      : image_(open_mapped(image)) {
    if (!debug.empty()) debug_ = std::make_unique<MappedElf>(open_mapped(debug));
    if (!alt.empty()) alt_ = std::make_unique<MappedElf>(open_mapped(alt));
    symbols_ =
        std::make_unique<Symbols>(Symbols::read(image_.elf, debug_ ? &debug_->elf : nullptr));
    reader_ = std::make_unique<DebugInfo>(
        *DebugInfo::open(image_.elf, debug_ ? debug_->elf : image_.elf, alt_ ? &alt_->elf : nullptr,
                         debug.empty() ? image : debug));
  }

  /// Addresses inside the functions of the program's own sources.
  std::vector<LinkAddress> own_addresses() const {
    std::vector<LinkAddress> addresses;
    for (const Symbol& s : symbols_->all()) {
      const std::string name(s.name);
      const bool is_own = name == "main" || name.find("hidden") != std::string::npos ||
                          name.find("heavy") != std::string::npos ||
                          name.find("inner") != std::string::npos ||
                          name.find("local_class") != std::string::npos ||
                          name.find("checked") != std::string::npos ||
                          name.find("rusty") != std::string::npos || name == "_Z5otheri";
      for (LinkAddress a = s.begin; is_own && a < s.end; a = a + 1) addresses.push_back(a);
    }
    return addresses;
  }

  std::vector<Frames> symbolize(const std::vector<LinkAddress>& addresses, uint32_t shares = 1) {
    std::vector<AddressRange> wanted;
    for (const Symbol& s : symbols_->all())
      if (std::any_of(addresses.begin(), addresses.end(),
                      [&](LinkAddress a) { return a >= s.begin && a < s.end; }))
        wanted.push_back({s.begin, s.end});
    std::vector<DebugFacts> parts;
    for (uint32_t i = 0; i < shares; ++i) parts.push_back(reader_->read(wanted, {i, shares}));
    const DebugFacts facts = merge_debug_facts(std::move(parts));
    missing_split_units = facts.missing_split_units;
    std::vector<Frames> answers;
    for (const LinkAddress a : addresses) answers.push_back(answer(a, wanted, facts));
    return answers;
  }

  uint32_t missing_split_units = 0;

 private:
  Frames answer(LinkAddress at, const std::vector<AddressRange>& wanted, const DebugFacts& facts) {
    const Symbol* symbol = symbols_->find(at);
    size_t index = 0;
    while (wanted[index].end <= at) ++index;
    const RangeFacts& range = facts.ranges[index];
    uint32_t file = 0;
    uint32_t line = 0;
    for (const DebugLine& row : range.lines) {
      if (row.address > at) break;
      file = row.file;
      line = row.line;
    }
    Frames frames;
    for (auto call = range.inlines.rbegin(); call != range.inlines.rend(); ++call) {
      if (at < call->begin || at >= call->end) continue;
      frames.push_back(frame(demangle(facts.strings[call->name]), facts.strings[file], line));
      file = call->call_file;
      line = call->call_line;
    }
    frames.push_back(frame(demangle(symbol->name), facts.strings[file], line));
    return frames;
  }

  MappedElf image_;
  std::unique_ptr<MappedElf> debug_;
  std::unique_ptr<MappedElf> alt_;
  std::unique_ptr<Symbols> symbols_;
  std::unique_ptr<DebugInfo> reader_;
};

/// "/a/./b.h:12:3" -> "/a/b.h:12"
std::string tidy_place(const std::string& place) {
  const std::string text = place.substr(0, place.rfind(':'));
  const size_t colon = text.rfind(':');
  return normalize_path(text.substr(0, colon)) + text.substr(colon);
}

std::string write_addresses(const ProgramFolder& folder,
                            const std::vector<LinkAddress>& addresses) {
  std::string text;
  for (const LinkAddress a : addresses) {
    char line[32];
    std::snprintf(line, sizeof line, "0x%llx\n", static_cast<unsigned long long>(a.value));
    text += line;
  }
  test::write_text(folder.path("addresses"), text);
  return folder.path("addresses");
}

/// llvm-symbolizer-19 --obj=PROGRAM < ADDRESSES
std::vector<Frames> ask_llvm(const ProgramFolder& folder, const std::string& program,
                             const std::vector<LinkAddress>& addresses) {
  const std::string output = run("cd " + folder.path() + " && llvm-symbolizer-19 --obj=" + program +
                                 " < " + write_addresses(folder, addresses));
  std::vector<Frames> answers(1);
  const std::vector<std::string> lines = test::split_lines(output);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      answers.emplace_back();
    } else {
      answers.back().push_back(lines[i] + "\n" + tidy_place(lines[i + 1]));
      ++i;
    }
  }
  answers.resize(addresses.size());
  return answers;
}

/// Where the oracle has no line (0, ?) nothing is claimed; everything else must be equal.
void expect_same(const std::vector<LinkAddress>& addresses, const std::vector<Frames>& ours,
                 const std::vector<Frames>& theirs) {
  ASSERT_GT(addresses.size(), 300u);  // the program has some 600 bytes of code
  ASSERT_EQ(ours.size(), theirs.size());
  size_t differing = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!theirs[i].empty() && theirs[i][0].ends_with(":0")) continue;
    if (ours[i] == theirs[i]) continue;
    if (++differing > 3) continue;
    EXPECT_EQ(ours[i], theirs[i]) << "at 0x" << std::hex << addresses[i].value;
  }
  EXPECT_EQ(differing, 0u) << "of " << ours.size();
}

struct Variant {
  const char* name;
  const char* compiler;
  const char* flags;
};

class DebugInfoVariants : public testing::TestWithParam<Variant> {};

TEST_P(DebugInfoVariants, AgreesWithLlvmSymbolizerAtEveryByte) {
  const Variant& variant = GetParam();
  if (!has_tool(variant.compiler)) GTEST_SKIP() << variant.compiler << " is not installed";
  if (!has_tool("llvm-symbolizer-19")) GTEST_SKIP() << "llvm-symbolizer-19 is not installed";
  const ProgramFolder folder;
  const std::string program = folder.build("program", variant.compiler, variant.flags);
  Symbolizer symbolizer(program, "", "");
  const auto addresses = symbolizer.own_addresses();
  const auto ours = symbolizer.symbolize(addresses);
  expect_same(addresses, ours, ask_llvm(folder, program, addresses));
  EXPECT_EQ(symbolizer.missing_split_units, 0u);
  EXPECT_EQ(ours, symbolizer.symbolize(addresses, 2)) << "shared between two";
}

INSTANTIATE_TEST_SUITE_P(
    All, DebugInfoVariants,
    testing::Values(Variant{"gcc2", "g++", "-g -gdwarf-2"}, Variant{"gcc3", "g++", "-g -gdwarf-3"},
                    Variant{"gcc4", "g++", "-g -gdwarf-4"}, Variant{"gcc5", "g++", "-g -gdwarf-5"},
                    Variant{"gcc_compressed", "g++", "-g -gz"},
                    Variant{"gcc_zdebug", "g++", "-g -gdwarf-4 -gz=zlib-gnu"},
                    Variant{"gcc_types", "g++", "-g -fdebug-types-section"},
                    Variant{"gcc_split4", "g++", "-g -gdwarf-4 -gsplit-dwarf"},
                    Variant{"gcc_split5", "g++", "-g -gdwarf-5 -gsplit-dwarf"},
                    Variant{"gcc_no_pie", "g++", "-g -no-pie"},
                    Variant{"gcc_static", "g++", "-g -static"},
                    Variant{"gcc_lto", "g++", "-g -flto=1"},
                    Variant{"gcc_sections", "g++", "-g -ffunction-sections -Wl,--gc-sections"},
                    Variant{"clang4", "clang++-19", "-g -gdwarf-4"},
                    Variant{"clang5", "clang++-19", "-g -gdwarf-5"},
                    Variant{"clang_split4", "clang++-19", "-g -gdwarf-4 -gsplit-dwarf"},
                    Variant{"clang_split5", "clang++-19", "-g -gdwarf-5 -gsplit-dwarf"},
                    Variant{"clang_line_tables", "clang++-19", "-gline-tables-only"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(DebugInfo, ReadsSplitUnitsFromAPackage) {
  if (!has_tool("llvm-dwp-19")) GTEST_SKIP() << "llvm-dwp-19 is not installed";
  for (const char* dwarf : {"-gdwarf-4", "-gdwarf-5"}) {
    const ProgramFolder folder;
    const std::string program =
        folder.build("program", "g++", std::string("-g -gsplit-dwarf ") + dwarf);
    Symbolizer loose(program, "", "");
    const auto addresses = loose.own_addresses();
    const auto with_dwo = loose.symbolize(addresses);
    run("cd " + folder.path() + " && llvm-dwp-19 -e program -o program.dwp && rm *.dwo");
    Symbolizer packed(program, "", "");
    EXPECT_EQ(packed.symbolize(addresses), with_dwo) << dwarf;
    EXPECT_EQ(packed.missing_split_units, 0u);
    run("rm " + folder.path("program.dwp"));
    Symbolizer without(program, "", "");
    without.symbolize(addresses);
    EXPECT_EQ(without.missing_split_units, 2u) << "both units, counted";
  }
}

TEST(DebugInfo, ReadsWhatDwzMovedIntoASharedFile) {
  if (!has_tool("dwz")) GTEST_SKIP() << "dwz is not installed";
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  Symbolizer plain(program, "", "");
  const auto addresses = plain.own_addresses();
  const auto expected = plain.symbolize(addresses);
  expect_same(addresses, expected, ask_llvm(folder, program, addresses));
  run("cd " + folder.path() + " && cp program second && dwz -m shared program second");
  ASSERT_TRUE(open_mapped(program).elf.alt_link().has_value());
  Symbolizer moved(program, "", folder.path("shared"));
  EXPECT_EQ(moved.symbolize(addresses), expected);
}

TEST(DebugInfo, ReadsASeparateDebugFile) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  Symbolizer plain(program, "", "");
  const auto addresses = plain.own_addresses();
  const auto expected = plain.symbolize(addresses);
  run("cd " + folder.path() +
      " && objcopy --only-keep-debug --compress-debug-sections program program.debug"
      " && strip program && objcopy --add-gnu-debuglink=program.debug program");
  Symbolizer stripped(program, folder.path("program.debug"), "");
  EXPECT_EQ(stripped.symbolize(addresses), expected);
}

TEST(DebugInfo, FindsFortranProceduresInsideOthers) {
  if (!has_tool("gfortran")) GTEST_SKIP() << "gfortran is not installed";
  const ProgramFolder folder;
  test::write_text(folder.path("nested.f90"), R"(program outer
  integer :: n
  n = command_argument_count()
  call inner(n)
  print *, n
contains
  subroutine inner(k)
    integer, intent(inout) :: k
    integer :: i
    do i = 1, 10
      k = ieor(k, i * k)
    end do
  end subroutine
end program
)");
  run("cd " + folder.path() + " && gfortran -g -O1 -fno-inline nested.f90 -o nested");
  const MappedElf nested = open_mapped(folder.path("nested"));
  const Symbols symbols = Symbols::read(nested.elf, nullptr);
  const auto inner = std::find_if(symbols.all().begin(), symbols.all().end(), [](const Symbol& s) {
    return s.name.find("inner") != std::string_view::npos;
  });
  ASSERT_NE(inner, symbols.all().end());
  DebugInfo reader = *DebugInfo::open(nested.elf, nested.elf, nullptr, "");
  const DebugFacts facts = reader.read({{inner->begin, inner->end}});
  ASSERT_TRUE(facts.ranges[0].function.has_value());
  EXPECT_EQ(facts.strings[facts.ranges[0].function->name], "inner");
  EXPECT_EQ(facts.ranges[0].function->line, 7u);
  EXPECT_EQ(facts.strings[facts.ranges[0].function->file], folder.path("nested.f90"));
}

TEST(DebugInfo, ReadsRust) {
  if (!has_tool("rustc")) GTEST_SKIP() << "rustc is not installed";
  if (!has_tool("llvm-symbolizer-19")) GTEST_SKIP() << "llvm-symbolizer-19 is not installed";
  const ProgramFolder folder;
  test::write_text(folder.path("rusty.rs"), R"(use std::collections::BTreeMap;
#[inline(never)]
fn rusty_fill(n: u64) -> BTreeMap<u64, String> {
    (0..n).map(|i| (i * 7 % n, format!("{i}"))).collect()
}
#[inline(never)]
fn rusty_sum(map: &BTreeMap<u64, String>) -> usize {
    map.iter().filter(|(k, _)| *k % 3 == 0).map(|(_, v)| v.len()).sum()
}
fn main() {
    let map = rusty_fill(std::env::args().count() as u64 + 10);
    println!("{}", rusty_sum(&map));
}
)");
  run("cd " + folder.path() + " && rustc -g -O -C symbol-mangling-version=v0 rusty.rs -o rusty");
  const std::string program = folder.path("rusty");
  Symbolizer symbolizer(program, "", "");
  const auto addresses = symbolizer.own_addresses();
  expect_same(addresses, symbolizer.symbolize(addresses), ask_llvm(folder, program, addresses));
}

TEST(DebugInfo, SurvivesDamage) {
  const ProgramFolder folder;
  for (const char* flags : {"-g -gdwarf-4", "-g -gdwarf-5", "-g -gz"}) {
    const std::string program = folder.build("program", "g++", flags);
    const std::string good = *read_file(program);
    std::mt19937 random(42);
    for (int round = 0; round < 100; ++round) {
      std::string bad = good;
      // Most of the file is code and padding: aim at its debug information, too.
      const size_t from = round % 2 == 0 ? 0 : good.size() / 3;
      for (int i = 0; i < 1 + round % 20; ++i)
        bad[from + random() % (bad.size() - from)] = static_cast<char>(random());
      if (round % 10 == 0) bad.resize(random() % bad.size());
      const auto bytes = std::as_bytes(std::span(bad));
      const Result<ElfFile> elf = ElfFile::open(bytes);
      if (!elf) continue;
      const Symbols symbols = Symbols::read(*elf, nullptr);
      Result<DebugInfo> reader = DebugInfo::open(*elf, *elf, nullptr, "");
      if (!reader) continue;
      std::vector<AddressRange> wanted;
      for (const Symbol& s : symbols.all()) wanted.push_back({s.begin, s.end});
      const DebugFacts facts = reader->read(wanted);
      EXPECT_EQ(facts.ranges.size(), wanted.size());
    }
  }
}

}  // namespace
}  // namespace culprit
