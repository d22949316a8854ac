// Files by identity and facts by demand, on programs compiled here.

#include "snapshot/snapshot.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <gtest/gtest.h>
#include <set>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "binary/elf_file.h"
#include "binary/symbols.h"
#include "binary/test_programs.h"
#include "snapshot/elf_facts.h"
#include "snapshot/find_files.h"
#include "snapshot/kernel_symbols.h"

namespace culprit {
namespace {

using test::has_tool;
using test::ProgramFolder;
using test::run;

struct Identity {
  std::string build_id;
  std::map<std::string, FileOffset> functions;  // first byte, by mangled name
};

Identity identify(const std::string& path) {
  const std::string content = *read_file(path);
  const ElfFile elf = *ElfFile::open(std::as_bytes(std::span(content)));
  const Symbols symbols = Symbols::read(elf, nullptr);
  Identity identity{elf.build_id(), {}};
  for (const Symbol& s : symbols.all())
    if (const auto offset = elf.to_file_offset(s.begin))
      identity.functions.emplace(std::string(s.name), *offset);
  return identity;
}

/// A profile of one image with counts at the given offsets.
Profile make_profile(ImageKind kind, const std::string& path, const std::string& build_id,
                     std::vector<FileOffset> offsets) {
  Profile profile;
  Image image;
  image.kind = kind;
  image.path = profile.strings.intern(path);
  image.build_id = build_id;
  profile.images.push_back(image);
  std::sort(offsets.begin(), offsets.end());
  profile.histograms.push_back({ContextId(0u), ImageId(0u), std::move(offsets), {}});
  return profile;
}

void name_running_kernel(Machine& machine) {
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  machine.kernel_release = system.release;
  machine.architecture = system.machine;
}

struct Outcome {
  std::vector<ImageFacts> facts;
  Ledger ledger;
  const ImageFacts& only() const { return facts.at(0); }
};

Outcome make(const Profile& profile, const SnapshotOptions& options = {},
             const std::map<ImageId, Fd>& held = {}) {
  Outcome outcome;
  const Result<void> done = make_facts(
      profile, collect_demand(profile), held, options,
      [&](ImageId, const ImageFacts& facts) -> Result<void> {
        outcome.facts.push_back(facts);
        return {};
      },
      nullptr, outcome.ledger);
  EXPECT_TRUE(done.has_value());
  return outcome;
}

const FunctionFact* find_function(const ImageFacts& facts, const std::string& name) {
  for (const FunctionFact& f : facts.functions)
    if (facts.strings.text(f.name) == name) return &f;
  return nullptr;
}

/// A program of user 12345 whose debug information says that its code came from `source`.
std::string build_with_source(const ProgramFolder& folder, const std::string& source) {
  test::write_text(folder.path("claims.c"),
                   "#line 1 \"" + source + "\"\nint main(void) { return 0; }\n");
  run("gcc -g -O0 -o " + folder.path("claims") + " " + folder.path("claims.c"));
  EXPECT_EQ(::chown(folder.path("claims").c_str(), 12345, 12345), 0);
  return folder.path("claims");
}

TEST(MakeFacts, SourcesAreReadWithTheRightsOfTheProgramsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, who may read everything";
  const ProgramFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const std::string secret = folder.path("secret.txt");
  test::write_text(secret, "the secret\n");
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  const std::string program = build_with_source(folder, secret);
  const Identity id = identify(program);
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("main")});

  const Outcome refused = make(profile);
  EXPECT_TRUE(refused.only().has_lines);
  EXPECT_EQ(refused.only().strings.text(refused.only().functions.at(0).file), secret);
  EXPECT_TRUE(refused.only().sources.empty());
  EXPECT_EQ(refused.ledger.amount(ledger::kSourcesRefused), 1u);

  // Copies in a folder that root names.
  SnapshotOptions with_copies;
  with_copies.symbol_folders = {folder.path("copies")};
  run("mkdir -p " + folder.path("copies") + "/" + folder.path() + " && cp " + secret + " " +
      folder.path("copies") + "/" + folder.path());
  const Outcome copied = make(profile, with_copies);
  ASSERT_EQ(copied.only().sources.size(), 1u);
  EXPECT_EQ(copied.ledger.amount(ledger::kSourcesRefused), 0u);

  ASSERT_EQ(::chown(secret.c_str(), 12345, 12345), 0);  // his own: no secret
  EXPECT_EQ(make(profile).only().sources.at(0).lines.at(0), "the secret");
  ASSERT_EQ(::chown(secret.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(program.c_str(), 0, 0), 0);  // root's own program is believed
  EXPECT_EQ(make(profile).only().sources.at(0).lines.at(0), "the secret");
}

TEST(MakeFacts, DebugFilesAreOpenedWithTheRightsOfTheProgramsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, who may read everything";
  const ProgramFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  run("cd " + folder.path() + " && objcopy --only-keep-debug program program.debug && " +
      "objcopy --strip-debug --add-gnu-debuglink=program.debug program");
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("_ZL6hiddeni")});
  ASSERT_EQ(::chmod(folder.path("program.debug").c_str(), 0600), 0);
  EXPECT_TRUE(make(profile).only().has_lines);
  ASSERT_EQ(::chown(program.c_str(), 12345, 12345), 0);
  EXPECT_FALSE(make(profile).only().has_lines);
  ASSERT_EQ(::chmod(folder.path("program.debug").c_str(), 0644), 0);
  EXPECT_TRUE(make(profile).only().has_lines);
}

TEST(MakeFacts, SplitUnitsAreOpenedWithTheRightsOfTheProgramsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, who may read everything";
  const ProgramFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const std::string program = folder.build("program", "g++", "-g -gsplit-dwarf");
  const Identity id = identify(program);
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("_ZL6hiddeni")});
  EXPECT_EQ(make(profile).only().missing, "");
  run("chmod 0600 " + folder.path() + "/*.dwo");
  EXPECT_EQ(make(profile).only().missing, "");
  ASSERT_EQ(::chown(program.c_str(), 12345, 12345), 0);
  EXPECT_NE(make(profile).only().missing.find("1 .dwo files were not found"), std::string::npos);
}

TEST(MakeFacts, SurvivesAFileThatIsCutWhileItIsRead) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Result<OpenedElf> opened = open_elf(program, {});
  ASSERT_TRUE(opened);
  const std::vector<FileOffset> offsets = {identify(program).functions.at("_ZL6hiddeni")};
  ASSERT_EQ(::truncate(program.c_str(), 100), 0);
  // Pages behind the end would end us with SIGBUS; they read as zeros.
  const ImageFacts facts = make_elf_facts({opened->elf, program}, offsets, 1);
  EXPECT_TRUE(facts.functions.size() <= 1);
  EXPECT_TRUE(opened->bytes.has_changed());
}

TEST(CollectDemand, JoinsHistogramsAndStacksWithoutDuplicates) {
  Profile profile = make_profile(ImageKind::library, "/lib/x", "", {FileOffset(8), FileOffset(16)});
  profile.images.push_back({});
  profile.stacks.push_back({StackId(), {ImageId(0u), FileOffset(4)}});
  profile.stacks.push_back({StackId(0u), {ImageId(0u), FileOffset(16)}});
  const auto demand = collect_demand(profile);
  ASSERT_EQ(demand.size(), 1u);  // nothing is wanted of the second image
  EXPECT_EQ(demand[0].offsets,
            (std::vector<FileOffset>{FileOffset(4), FileOffset(8), FileOffset(16)}));
}

TEST(MakeFacts, DescribesOnlyFunctionsThatHaveCounts) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  const FileOffset hidden = id.functions.at("_ZL6hiddeni");
  const Outcome outcome =
      make(make_profile(ImageKind::program, program, id.build_id, {hidden, hidden + 3}));
  const ImageFacts& facts = outcome.only();
  ASSERT_EQ(facts.functions.size(), 1u);
  const FunctionFact& function = facts.functions[0];
  EXPECT_EQ(facts.strings.text(function.name), "hidden(int)");
  EXPECT_EQ(facts.strings.text(function.linkage_name), "_ZL6hiddeni");
  EXPECT_EQ(facts.strings.text(function.file), folder.path("main.cc"));
  EXPECT_EQ(function.line, 4u);  // in the source in test_programs.h
  EXPECT_EQ(facts.symbol_source, SymbolSource::symtab);
  EXPECT_TRUE(facts.has_lines);
  EXPECT_EQ(facts.missing, "");
  EXPECT_EQ(facts.architecture + "\n", run("uname -m"));

  // The code is that of the file, byte for byte, and of the function alone.
  ASSERT_EQ(facts.code.size(), 1u);
  const std::string content = *read_file(program);
  EXPECT_EQ(facts.code[0].begin, function.begin);
  EXPECT_EQ(facts.code[0].bytes,
            content.substr(function.begin.value, function.end - function.begin));
  // Rows and calls lie inside; the last row closes the function.
  for (const InlineFact& call : facts.inlines) {
    EXPECT_GE(call.begin, function.begin);
    EXPECT_LE(call.end, function.end);
  }
  ASSERT_FALSE(facts.lines.empty());
  EXPECT_EQ(facts.lines.front().offset, function.begin);
  EXPECT_EQ(facts.lines.back(), (LineFact{function.end, StringId(0u), 0, 0, 0}));
  // Two levels of inlining: twice, and square inside it.
  constexpr uint32_t kSquareLine = 3;  // in the source in test_programs.h
  EXPECT_TRUE(std::any_of(facts.inlines.begin(), facts.inlines.end(), [&](const InlineFact& call) {
    return call.depth == 1 && facts.strings.text(call.name) == "shapes::square(int)" &&
           call.call_line == 10 && facts.strings.text(call.linkage_name) == "_ZN6shapes6squareEi" &&
           call.line == kSquareLine;
  }));
}

TEST(MakeFacts, HasTheDiscriminatorsThatDwarfdumpPrints) {
  if (!has_tool("clang++-19") || !has_tool("llvm-dwarfdump-19")) {
    GTEST_SKIP() << "clang++-19 or llvm-dwarfdump-19 is not installed";
  }
  const ProgramFolder folder;
  const std::string program =
      folder.build("program", "clang++-19", "-g -fdebug-info-for-profiling");
  const Identity id = identify(program);
  const FileOffset heavy = id.functions.at("_ZN6shapes5heavyIiEET_S1_");
  const Outcome outcome = make(make_profile(ImageKind::program, program, id.build_id, {heavy}));
  const ImageFacts& facts = outcome.only();
  // "0x1234  line  column  file  ISA  discriminator ..."
  std::set<std::pair<uint64_t, uint64_t>> expected;
  for (const std::string& row :
       test::split_lines(run("llvm-dwarfdump-19 --debug-line " + program))) {
    uint64_t address = 0;
    uint64_t discriminator = 0;
    if (std::sscanf(row.c_str(), "0x%" SCNx64 " %*u %*u %*u %*u %" SCNu64, &address,
                    &discriminator) == 2) {
      expected.emplace(address, discriminator);
    }
  }
  size_t found = 0;
  for (const LineFact& row : facts.lines) {
    if (row.discriminator == 0) continue;
    const uint64_t address = to_link_address(facts, row.offset).value;
    EXPECT_TRUE(expected.contains({address, row.discriminator})) << std::hex << address;
    ++found;
  }
  EXPECT_GT(found, 0u);
}

/// The first bytes of the basic blocks in the listing of a function by `objdump -d`: its own,
/// what follows a jump or an end, and what is jumped to.
std::set<uint64_t> read_leaders(const std::string& listing) {
  std::set<uint64_t> addresses;
  std::set<uint64_t> leaders;
  bool is_next = true;
  for (const std::string& line : test::split_lines(listing)) {
    uint64_t address = 0;
    uint64_t target = 0;
    char mnemonic[32] = "";
    const int fields =
        std::sscanf(line.c_str(), " %" SCNx64 ": %31s %" SCNx64, &address, mnemonic, &target);
    if (fields < 2) continue;
    addresses.insert(address);
    if (is_next) leaders.insert(address);
    const std::string name = mnemonic;
    const bool jumps = name.starts_with("j") || name.starts_with("b.") || name == "b" ||
                       name.starts_with("cb") || name.starts_with("tb");
    const size_t comma = line.rfind(',');  // "cbz x0, 1008"
    if (jumps && comma != std::string::npos) target = std::strtoull(&line[comma + 1], nullptr, 16);
    if (jumps) leaders.insert(target);
    is_next = jumps || name.starts_with("ret") || name == "ud2" || name == "hlt";
  }
  std::erase_if(leaders, [&](uint64_t leader) { return !addresses.contains(leader); });
  return leaders;
}

TEST(MakeFacts, StoresTheBlocksThatObjdumpShows) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  for (const std::string name : {"_ZL6hiddeni", "_ZN6shapes5heavyIiEET_S1_", "main"}) {
    SCOPED_TRACE(name);
    const Outcome outcome =
        make(make_profile(ImageKind::program, program, id.build_id, {id.functions.at(name)}));
    const ImageFacts& facts = outcome.only();
    ASSERT_EQ(facts.functions.size(), 1u);
    const FunctionFact& function = facts.functions[0];
    const std::set<uint64_t> leaders =
        read_leaders(run("objdump -d --no-show-raw-insn --disassemble=" + name + " " + program));
    ASSERT_GE(leaders.size(), 1u);
    std::set<uint64_t> blocks;
    FileOffset next = function.begin;
    for (const BlockFact& block : facts.blocks) {
      EXPECT_EQ(block.begin, next) << "each begins where the one before ends";
      blocks.insert(to_link_address(facts, block.begin).value);
      next = block.begin + block.size_bytes;
    }
    EXPECT_EQ(next, function.end);
    EXPECT_EQ(blocks, leaders);
  }
}

TEST(MakeFacts, LooksForSplitUnitsInSymbolFolders) {
  if (!has_tool("llvm-dwp-19")) GTEST_SKIP() << "llvm-dwp-19 is not installed";
  for (const char* dwarf : {"-gdwarf-4", "-gdwarf-5"}) {
    SCOPED_TRACE(dwarf);
    const ProgramFolder folder;
    const std::string program =
        folder.build("program", "g++", std::string("-g -gsplit-dwarf ") + dwarf);
    const Identity id = identify(program);
    const Profile profile =
        make_profile(ImageKind::program, program, id.build_id, {id.functions.at("_ZL6hiddeni")});
    const auto inlined = [&](const std::vector<std::string>& folders) {
      SnapshotOptions options;
      options.symbol_folders = folders;
      return make(profile, options).only().inlines.size();
    };
    // hidden() inlines twice(), and that square() in both turns of its loop or in one.
    const size_t in_place = inlined({});
    ASSERT_GE(in_place, 2u);

    const std::string flat = folder.path("flat");
    const std::string root = folder.path("root");
    const std::string package = folder.path("package");
    run("cd " + folder.path() + " && llvm-dwp-19 -e program -o program.dwp && mkdir -p flat " +
        "package root/$PWD && mv program.dwp package && cp *.dwo root/$PWD && mv *.dwo flat");
    EXPECT_EQ(inlined({}), 0u);
    const ImageFacts without = make(profile).only();
    EXPECT_NE(without.missing.find("1 .dwo files were not found"), std::string::npos)
        << without.missing;
    EXPECT_EQ(inlined({flat}), in_place);
    EXPECT_EQ(inlined({root}), in_place);
    EXPECT_EQ(inlined({package}), in_place);
    EXPECT_EQ(inlined({folder.path("inc"), package}), in_place) << "any of several folders";

    // Files of another program under the same names do not match by their identity.
    run("cd " + folder.path() + " && mkdir other && cp *.cc other && cp -r inc other && cd other " +
        "&& sed -i 's/+ 7/+ 8/' main.cc && for unit in main other; do g++ -O2 -Iinc -g " +
        "-gsplit-dwarf " + dwarf + " -c $unit.cc -o program_$unit.o; done");
    EXPECT_EQ(inlined({folder.path("other")}), 0u);
  }
}

TEST(MakeFacts, BringsTheSourceTextOfTheLinesItMentions) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("_ZL6hiddeni")});
  const Outcome with = make(profile);
  const ImageFacts& facts = with.only();
  const auto text_at = [&](const std::string& file, uint32_t line) -> std::string {
    for (const SourceFact& s : facts.sources)
      if (facts.strings.text(s.file) == file && line >= s.first_line &&
          line - s.first_line < s.lines.size())
        return s.lines[line - s.first_line];
    return "-";
  };
  for (const LineFact& row : facts.lines) {
    if (row.line == 0) continue;
    const std::string& file = facts.strings.text(row.file);
    // sed -n LINEp FILE
    EXPECT_EQ(text_at(file, row.line) + "\n",
              run("sed -n " + std::to_string(row.line) + "p " + file));
  }
  EXPECT_EQ(text_at(folder.path("main.cc"), 5), "  return shapes::twice(x) + 7;");

  SnapshotOptions options;
  options.with_source = false;
  EXPECT_TRUE(make(profile, options).only().sources.empty());
}

TEST(MakeFacts, DoesNotUseAFileWithAnotherBuildId) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("main")});
  const Fd held = *open_readable(program);
  run("rm " + program + " && cp /bin/true " + program);

  const Outcome replaced = make(profile);
  EXPECT_TRUE(replaced.only().functions.empty());
  EXPECT_EQ(replaced.only().missing,
            "the file at " + program + " has another build-id (it was replaced)");
  EXPECT_EQ(replaced.ledger.amount(ledger::kImagesReplaced), 1u);
  EXPECT_EQ(replaced.ledger.amount(ledger::kImagesWithoutFacts), 1u);

  // The recording had it open: the old file still speaks.
  std::map<ImageId, Fd> files;
  files.emplace(ImageId(0u), Fd(::dup(held.get())));
  const Outcome saved = make(profile, {}, files);
  EXPECT_NE(find_function(saved.only(), "main"), nullptr);
  EXPECT_EQ(saved.ledger.amount(ledger::kImagesReplaced), 0u);
}

TEST(MakeFacts, SaysThatAFileWasDeleted) {
  const Outcome outcome =
      make(make_profile(ImageKind::program, "/nowhere/at/all", "0011223344", {FileOffset(0x1000)}));
  EXPECT_EQ(outcome.only().missing,
            "there is no file at /nowhere/at/all any more (it was deleted)");
  EXPECT_EQ(outcome.ledger.amount(ledger::kImagesReplaced), 1u);
}

TEST(MakeFacts, KnowsAFileWithoutBuildIdByItsDate) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g -Wl,--build-id=none");
  Profile profile =
      make_profile(ImageKind::program, program, "", {identify(program).functions.at("main")});
  struct stat status{};
  ASSERT_EQ(::stat(program.c_str(), &status), 0);
  EXPECT_NE(make(profile).only().missing.find("nothing tells"), std::string::npos);
  profile.images[0].size_bytes = static_cast<uint64_t>(status.st_size);
  profile.images[0].mtime_ns =
      status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
  EXPECT_EQ(make(profile).only().missing, "");
  run("touch -d 2001-01-01 " + program);
  const Outcome touched = make(profile);
  EXPECT_TRUE(touched.only().functions.empty());
  EXPECT_EQ(touched.ledger.amount(ledger::kImagesReplaced), 1u);
}

/// Everything that makes a place for a file in a symbol folder, after the file left its own.
struct Place {
  const char* name;
  const char* move;  // shell: $P the program, $D the folder, $B build-id as xx/yyyy
};
class SymbolFolders : public testing::TestWithParam<Place> {};

TEST_P(SymbolFolders, FindTheBinary) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  const std::string symbols = folder.path("symbols");
  run("mkdir -p " + symbols + " && cd " + symbols + " && P=" + program + " D=" + symbols +
      " B=" + id.build_id.substr(0, 2) + "/" + id.build_id.substr(2) + " && " + GetParam().move +
      " && rm " + program);
  SnapshotOptions options;
  options.symbol_folders = {symbols};
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("main")});
  const Outcome outcome = make(profile, options);
  const FunctionFact* found = find_function(outcome.only(), "main");
  ASSERT_NE(found, nullptr) << outcome.only().missing;
  EXPECT_TRUE(outcome.only().has_lines);
}

INSTANTIATE_TEST_SUITE_P(
    Places, SymbolFolders,
    testing::Values(Place{"sysroot", "mkdir -p $D$(dirname $P) && cp $P $D$P"},
                    Place{"flat", "cp $P $D"},
                    Place{"build_id", "mkdir -p .build-id/${B%/*} && cp $P .build-id/$B"},
                    Place{"perf_archive", "mkdir -p .build-id/$B && cp $P .build-id/$B/elf"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

/// Where the debug file of a stripped program may be. $F is the program's folder.
class DebugFiles : public testing::TestWithParam<Place> {};

TEST_P(DebugFiles, AreFound) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  const std::string symbols = folder.path("symbols");
  run("mkdir -p " + symbols + " && cd " + folder.path() +
      " && objcopy --only-keep-debug program program.debug && strip program"
      " && objcopy --add-gnu-debuglink=program.debug program && mv program.debug away");
  SnapshotOptions options;
  options.symbol_folders = {symbols};
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("_ZL6hiddeni")});
  EXPECT_EQ(find_function(make(profile, options).only(), "hidden(int)"), nullptr);
  run("cd " + folder.path() + " && P=" + program + " D=" + symbols +
      " B=" + id.build_id.substr(0, 2) + "/" + id.build_id.substr(2) + " && " + GetParam().move);
  const Outcome outcome = make(profile, options);
  ASSERT_NE(find_function(outcome.only(), "hidden(int)"), nullptr) << outcome.only().missing;
  EXPECT_TRUE(outcome.only().has_lines);
  EXPECT_NE(outcome.only().debug_file, "");
  EXPECT_FALSE(outcome.only().code.empty()) << "code is in the stripped file";
}

INSTANTIATE_TEST_SUITE_P(
    Places, DebugFiles,
    testing::Values(Place{"debuglink_beside", "mv away program.debug"},
                    Place{"debuglink_dot_debug", "mkdir .debug && mv away .debug/program.debug"},
                    Place{"folder_build_id",
                          "mkdir -p $D/.build-id/${B%/*} && mv away $D/.build-id/$B.debug"},
                    Place{"folder_usr_lib_debug",
                          "mkdir -p $D/usr/lib/debug/.build-id/${B%/*} && mv away "
                          "$D/usr/lib/debug/.build-id/$B.debug"},
                    Place{"folder_flat", "mv away $D/program.debug"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(MakeFacts, ReadsTheFileThatDwzSharedOut) {
  if (!has_tool("dwz")) GTEST_SKIP() << "dwz is not installed";
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  const Profile profile =
      make_profile(ImageKind::program, program, id.build_id, {id.functions.at("_ZL6hiddeni")});
  const Outcome plain = make(profile);
  run("cd " + folder.path() + " && cp program second && dwz -m shared program second");
  const Outcome moved = make(profile);
  EXPECT_EQ(moved.only().missing, "");
  EXPECT_EQ(moved.only().inlines.size(), plain.only().inlines.size());
  run("mv " + folder.path("shared") + " " + folder.path("away"));
  EXPECT_NE(make(profile).only().missing.find(".gnu_debugaltlink"), std::string::npos);
}

TEST(MakeFacts, GivesAddressesOutsideFunctionsAStretchOfCode) {
  const ProgramFolder folder;
  test::write_text(folder.path("bare.s"),
                   ".text\n.globl _start\n.type _start,@function\n_start: nop\n.size _start, 1\n"
                   ".fill 300, 1, 0x90\n.section .note.GNU-stack,\"\",@progbits\n");
  run("cd " + folder.path() + " && gcc -nostdlib -static -Wl,--build-id bare.s -o bare");
  const Identity id = identify(folder.path("bare"));
  const FileOffset start = id.functions.at("_start");
  const Outcome outcome =
      make(make_profile(ImageKind::program, folder.path("bare"), id.build_id, {start + 100}));
  EXPECT_TRUE(outcome.only().functions.empty());
  ASSERT_EQ(outcome.only().code.size(), 1u);
  // 64 bytes on each side
  EXPECT_EQ(outcome.only().code[0].begin, start + 36);
  EXPECT_EQ(outcome.only().code[0].bytes, std::string(128, '\x90'));
}

TEST(MakeFacts, ReadsTheVdsoOfThisKernel) {
  if (::getauxval(AT_SYSINFO_EHDR) == 0) GTEST_SKIP() << "no vdso here";
  std::vector<FileOffset> offsets;
  for (uint64_t at = 0; at < 8192; at += 4) offsets.emplace_back(at);
  Profile profile = make_profile(ImageKind::vdso, "[vdso]", "", offsets);
  name_running_kernel(profile.machine);
  const Outcome outcome = make(profile);
  // vdso(7)
  EXPECT_NE(find_function(outcome.only(), "clock_gettime"), nullptr);
  EXPECT_FALSE(outcome.only().code.empty());
}

TEST(MakeFacts, GivesNoNamesOfThisKernelToAnother) {
  for (const ImageKind kind : {ImageKind::kernel, ImageKind::module, ImageKind::vdso}) {
    Profile profile = make_profile(kind, "[name]", "", {FileOffset(0), FileOffset(0x2000)});
    for (const std::string release : {"", "5.4.0-of-another-machine"}) {
      name_running_kernel(profile.machine);
      profile.machine.kernel_release = release;
      const Outcome outcome = make(profile);
      EXPECT_TRUE(outcome.only().functions.empty());
      EXPECT_NE(outcome.only().missing.find("another kernel"), std::string::npos);
      EXPECT_NE(outcome.only().missing.find(release), std::string::npos);
    }
    name_running_kernel(profile.machine);
    profile.machine.architecture = "of another machine";
    EXPECT_TRUE(make(profile).only().functions.empty());
  }
}

TEST(MakeFacts, IsTheSameWhateverIsDoneFirst) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-g");
  const Identity id = identify(program);
  std::vector<FileOffset> offsets;
  for (const auto& [name, offset] : id.functions) offsets.push_back(offset);
  const Profile profile = make_profile(ImageKind::program, program, id.build_id, offsets);
  const Outcome first = make(profile);
  for (int round = 0; round < 3; ++round) {
    const Outcome again = make(profile);
    EXPECT_EQ(again.only().functions, first.only().functions);
    EXPECT_EQ(again.only().lines, first.only().lines);
    EXPECT_EQ(again.only().inlines, first.only().inlines);
    EXPECT_EQ(again.only().sources, first.only().sources);
  }
}

TEST(MakeFacts, FindsFunctionsOfStrippedFilesByTheirUnwindTables) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "");
  const Identity id = identify(program);
  const FileOffset hidden = id.functions.at("_ZL6hiddeni");
  const FileOffset checked = id.functions.at("_Z7checkedi");
  // readelf -sW program: the size that the symbol had
  const uint64_t size_bytes =
      std::stoull(run("readelf -sW " + program + " | awk '$8 == \"_ZL6hiddeni\" {print $3}'"));
  run("strip " + program);
  const Outcome outcome = make(make_profile(ImageKind::program, program, id.build_id,
                                            {hidden, hidden + 1, hidden + 3, checked + 1}));
  const ImageFacts& facts = outcome.only();
  ASSERT_EQ(facts.functions.size(), 2u);
  const FunctionFact& first = facts.functions[hidden < checked ? 0 : 1];
  EXPECT_EQ(first.begin, hidden);
  EXPECT_EQ(first.end - first.begin, size_bytes);
  // In this program link addresses and offsets of the code are the same (readelf -lW).
  char name[32];
  std::snprintf(name, sizeof name, "sub_%llx", static_cast<unsigned long long>(hidden.value));
  EXPECT_EQ(facts.strings.text(first.name), name);
  EXPECT_EQ(facts.symbol_source, SymbolSource::none);
}

TEST(MakeFacts, StopsWhenTold) {
  const Profile profile = make_profile(ImageKind::program, "/bin/true", "", {FileOffset(0x2000)});
  Ledger ledger;
  size_t delivered = 0;
  const Result<void> done = make_facts(
      profile, collect_demand(profile), {}, {},
      [&](ImageId, const ImageFacts&) -> Result<void> {
        ++delivered;
        return {};
      },
      [](size_t, size_t) { return false; }, ledger);
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(delivered, 0u);
}

TEST(Demand, MergesByImageAndOffset) {
  std::vector<ImageDemand> demand = {{ImageId(1u), {FileOffset(16), FileOffset(32)}},
                                     {ImageId(4u), {FileOffset(1)}}};
  merge_demand({{ImageId(0u), {FileOffset(7)}},
                {ImageId(1u), {FileOffset(8), FileOffset(32), FileOffset(48)}},
                {ImageId(9u), {FileOffset(2)}}},
               demand);
  ASSERT_EQ(demand.size(), 4u);
  EXPECT_EQ(demand[0].image, ImageId(0u));
  EXPECT_EQ(demand[1].offsets, (std::vector<FileOffset>{FileOffset(8), FileOffset(16),
                                                        FileOffset(32), FileOffset(48)}));
  EXPECT_EQ(demand[2].offsets, std::vector<FileOffset>{FileOffset(1)});
  EXPECT_EQ(demand[3].image, ImageId(9u));
}

TEST(KernelSymbols, CountFromTextAndFromTheModulesStart) {
  const std::string kallsyms =
      "ffffffff81000000 T _text\n"
      "ffffffff81000000 T startup_64\n"
      "ffffffff81000040 t __helper\n"
      "ffffffff81000040 T helper\n"
      "ffffffff81000100 T _etext\n"
      "ffffffff82000000 D some_data\n"
      "ffffffffc0001010 t ext4_open\t[ext4]\n"
      "ffffffffc0001030 t ext4_close\t[ext4]\n";
  const std::string modules = "ext4 4096 1 - Live 0xffffffffc0001000\n";
  const KernelSymbols symbols = parse_kernel_symbols(kallsyms, modules);
  EXPECT_FALSE(symbols.is_hidden);
  ASSERT_EQ(symbols.kernel.size(), 2u);
  EXPECT_EQ(symbols.kernel[0].name, "startup_64");
  EXPECT_EQ(symbols.kernel[0].end, FileOffset(0x40));
  EXPECT_EQ(symbols.kernel[1].name, "helper");
  EXPECT_EQ(symbols.kernel[1].end, FileOffset(0x100));
  const auto& ext4 = symbols.modules.at("ext4");
  ASSERT_EQ(ext4.size(), 2u);
  EXPECT_EQ(ext4[0].begin, FileOffset(0x10));
  EXPECT_EQ(ext4[1].end, FileOffset(0x1000));  // 4096 bytes
}

TEST(KernelSymbols, SayWhenTheyAreHidden) {
  EXPECT_TRUE(
      parse_kernel_symbols("0000000000000000 T _text\n0000000000000000 T x\n", "").is_hidden);
  EXPECT_EQ(module_name("/lib/modules/6.1/kernel/sound/snd-hda.ko.xz"), "snd_hda");
  EXPECT_EQ(module_name("[ext4]"), "ext4");
}

}  // namespace
}  // namespace culprit
