#include "simulate/frames/dwarf_frames.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "base/file.h"

namespace culprit {
namespace {

using objects::FrameVariable;

std::string run(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char piece[4096];
  while (const size_t got = std::fread(piece, 1, sizeof piece, pipe)) output.append(piece, got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

bool has_tool(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

// The program says itself where its variables are: the compiler gives it the frame's end.
constexpr const char* kProgram = R"(
#include <stdio.h>
struct pair { long left, right; };
#define WHERE(x) (long)((char*)&x - (char*)__builtin_dwarf_cfa())
__attribute__((noinline)) static int parse(int n) {
  long words[300];
  struct pair one = {n, n};
  int number = n;
  printf("words %ld one %ld", WHERE(words), WHERE(one));
  for (int i = 0; i < n; ++i) {
    char line[64];
    snprintf(line, sizeof line, "%d %p", number, (void*)&one);
    printf(" line %ld", WHERE(line));
  }
  return (int)words[n];
}
int main(int count, char** words) { (void)words; return parse(count) == 77; }
)";

void check(const std::string& compiler) {
  SCOPED_TRACE(compiler);
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string program = folder->path() + "/program";
  std::ofstream(program + ".c") << kProgram;
  run(compiler + " -w -g " + program + ".c -o " + program);
  std::map<std::string, int64_t> expected;
  std::istringstream said(run(program));
  std::string name;
  for (int64_t offset = 0; said >> name >> offset;) expected[name] = offset;
  ASSERT_EQ(expected.size(), 3U);
  const std::string address = run("nm " + program + " | awk '$3 == \"parse\" {print $1}'");
  const std::unique_ptr<DwarfFrames> frames = DwarfFrames::open(program);
  ASSERT_NE(frames, nullptr);
  const std::map<std::string, uint64_t> sizes{{"words", 2400}, {"one", 16}, {"line", 64}};
  const std::map<std::string, std::string> lines{{"words", "6"}, {"one", "7"}, {"line", "11"}};
  const std::vector<FrameVariable> found =
      frames->find_variables(std::strtoull(address.c_str(), nullptr, 16));
  EXPECT_EQ(found.size(), 3U);  // and not the numbers
  for (const FrameVariable& one : found) {
    ASSERT_TRUE(expected.contains(one.name)) << one.name;
    EXPECT_EQ(one.begin, expected[one.name]) << one.name;
    EXPECT_EQ(one.size_bytes, sizes.at(one.name)) << one.name;
    EXPECT_EQ(one.place, "program.c:" + lines.at(one.name));
  }
  EXPECT_TRUE(frames->find_variables(1).empty());
}

TEST(DwarfFrames, VariablesAreWhereTheProgramSaysThatTheyAre) {
  if (!has_tool("gcc") || !has_tool("nm")) GTEST_SKIP() << "no gcc, or no nm";
  check("gcc -O0");
  check("gcc -O2 -fno-stack-protector");
  if (!has_tool("clang-19")) GTEST_SKIP() << "no clang-19";
  check("clang-19 -O0");  // by the frame pointer
  check("clang-19 -O2");  // by the stack pointer
  check("clang-19 -O2 -fno-omit-frame-pointer -gdwarf-4");
}

TEST(DwarfFrames, FilesWithoutDebugInformationTellNothing) {
  EXPECT_EQ(DwarfFrames::open("/dev/null"), nullptr);
  EXPECT_EQ(DwarfFrames::open("/nonexistent"), nullptr);
}

TEST(DwarfFrames, VariablesThatShareAPlaceAreOne) {
  using Variables = std::vector<FrameVariable>;
  const FrameVariable low{"low", "a.c:1", -64, 16};
  const FrameVariable left{"left", "a.c:2", -48, 16};
  const FrameVariable right{"right", "a.c:3", -40, 24};
  const FrameVariable last{"last", "a.c:4", -16, 8};
  EXPECT_EQ(join_overlapping({last, left, right, low}),
            (Variables{low, {"left or right", "a.c:2", -48, 32}, last}));
  const Variables many{{"a", "", -8, 8}, {"b", "", -8, 8}, {"c", "", -8, 8},
                       {"a", "", -8, 8}, {"d", "", -8, 8}, {"e", "", -8, 8}};
  EXPECT_EQ(join_overlapping(many), (Variables{{"a or b or c or others", "", -8, 8}}));
}

TEST(DwarfFrames, OneNameIsOfOneTypeFromOnePlaceOn) {
  using Variables = std::vector<FrameVariable>;
  const FrameVariable first{"each", "a.c:1", -64, 16, 70};
  const FrameVariable longer{"each", "a.c:2", -64, 32, 70};
  const FrameVariable other_type{"each", "a.c:3", -64, 32, 71};
  const FrameVariable inside{"each", "a.c:4", -56, 16, 70};
  EXPECT_EQ(join_overlapping({first, longer}), (Variables{{"each", "a.c:1", -64, 32, 70}}));
  const Variables two{{"each or another", "a.c:1", -64, 32, 70}};
  EXPECT_EQ(join_overlapping({first, other_type, other_type}), two);
  const Variables apart{{"each or another", "a.c:1", -64, 24, 70}};
  EXPECT_EQ(join_overlapping({first, inside}), apart);
}

}  // namespace
}  // namespace culprit
