// Types of programs compiled here: layouts worked out by hand from the System V ABI.

#include "binary/debug_types.h"

#include <gtest/gtest.h>
#include <random>
#include <sstream>

#include "base/file.h"
#include "binary/test_programs.h"

namespace culprit {
namespace {

using test::has_tool;
using test::run;

constexpr const char* kSource =
    R"(template <class T, unsigned long N> struct array { T held[N]; };  // as that of std
struct Point { double x, y; int id; };
struct Edge { long from; struct { short weight; char kind; } how; Point ends[2]; };
template <class T> [[gnu::always_inline]] inline void fill(T value) {
  volatile T filled[30]; for (int i = 0; i < 30; ++i) filled[i] = value;
}
[[gnu::always_inline]] inline void mark(int n) {
  volatile Edge marked[8]; for (int i = 0; i < 8; ++i) marked[i].from = n;
}
extern "C" [[gnu::noipa]] void first(int n) {
  volatile Point cloud[50]; for (int i = 0; i < 50; ++i) cloud[i].id = n;
  volatile Edge edge; edge.how.kind = 1;
  { volatile long each[9][4]; for (int i = 0; i < 9; ++i) each[i][i % 4] = n; }
  mark(n);
  mark(n + 1);
  fill(1.0);
  fill('x');
}
extern "C" [[gnu::noipa]] void second(int n) {
  volatile array<array<Point, 4>, 5> cloud; for (int i = 0; i < 5; ++i) cloud.held[i].held[n].id = n;
  struct Other { short a; long b; };
  volatile Other edge[7]; for (int i = 0; i < 7; ++i) edge[i].b = n;
}
int main(int n, char**) { first(n); second(n); }
)";

/// "Point 24: 0 x double 8, 8 y double 8, 16 id int 4, 20 - 4"
std::string describe(const std::optional<TypeLayout>& layout) {
  if (!layout) return "none";
  std::ostringstream text;
  text << layout->name << " " << layout->size_bytes;
  const char* before = ": ";
  for (const TypeMember& member : layout->members) {
    text << before << member.offset << " ";
    if (member.name.empty()) {
      text << "- " << member.size_bytes;
    } else {
      text << member.name << " " << member.type << " " << member.size_bytes;
    }
    before = ", ";
  }
  return text.str();
}

class StackTypes : public testing::Test {
 protected:
  void SetUp() override { test::write_text(program() + ".cc", kSource); }
  std::string program() const { return folder_.path() + "/types"; }
  void build(const std::string& compiler) {
    run(compiler + " -w -std=c++17 -g " + program() + ".cc -o " + program());
    bytes_ = *read_file(program());
  }
  LinkAddress find_function(const std::string& name) const {
    return LinkAddress(
        std::strtoull(run("nm " + program() + " | awk '$3 == \"" + name + "\" {print $1}'").c_str(),
                      nullptr, 16));
  }
  static std::optional<FoundTypes> read(const std::string& bytes, const WantedTypes& wanted) {
    const Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(bytes)));
    if (!elf) return std::nullopt;
    Result<DebugTypes> types = DebugTypes::open(*elf, nullptr);
    if (!types) return std::nullopt;
    return types->read(wanted);
  }

  TemporaryFolder folder_ = *TemporaryFolder::make();
  std::string bytes_;
};

constexpr const char* kPoint = "Point 24: 0 x double 8, 8 y double 8, 16 id int 4, 20 - 4";
constexpr const char* kEdge =
    "Edge 64: 0 from long int 8, 8 how.weight short int 2, 10 how.kind char 1, 11 - 5, "
    "16 ends[].x double 8, 24 ends[].y double 8, 32 ends[].id int 4, 36 - 4, "
    "40 ends[].x double 8, 48 ends[].y double 8, 56 ends[].id int 4, 60 - 4";

/// clang says "long" and "short" where gcc says "long int" and "short int".
std::string with_short_names(std::string text) {
  for (const std::string word : {"long int", "short int"}) {
    for (size_t at = 0; (at = text.find(word)) != std::string::npos;)
      text.erase(at + word.size() - 4, 4);
  }
  return text;
}

TEST_F(StackTypes, AreFoundByFunctionNameAndLine) {
  for (const char* const compiler : {"g++ -O0", "g++ -O2 -gdwarf-4", "clang++-19 -O2"}) {
    SCOPED_TRACE(compiler);
    if (!has_tool(std::string(compiler).substr(0, std::string(compiler).find(' ')))) continue;
    build(compiler);
    const LinkAddress first = find_function("first");
    const LinkAddress second = find_function("second");
    WantedTypes wanted;
    std::vector<std::string> expected;
    std::vector<std::pair<LinkAddress, std::pair<WantedTypes::StackVariable, std::string>>> cases;
    const auto want = [&](LinkAddress function, const char* name, uint32_t line,
                          const std::string& layout) {
      cases.emplace_back(function,
                         std::pair(WantedTypes::StackVariable{function, name, line}, layout));
    };
    want(first, "cloud", 11, kPoint);
    want(first, "edge", 12, kEdge);
    want(first, "each", 13, "long int 8");
    want(first, "marked", 8, kEdge);   // of two inlined calls
    want(first, "filled", 5, "none");  // of two types
    want(first, "cloud", 12, "none");  // no such line
    want(first, "absent", 11, "none");
    want(second, "cloud", 20, kPoint);  // an array of arrays
    want(second, "edge", 22, "Other 16: 0 a short int 2, 2 - 6, 8 b long int 8");
    want(LinkAddress(1), "cloud", 11, "none");  // no such function
    std::stable_sort(cases.begin(), cases.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& one : cases) {
      wanted.stack_variables.push_back(one.second.first);
      expected.push_back(one.second.second);
    }
    const std::optional<FoundTypes> found = read(bytes_, wanted);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->stack_variables.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(with_short_names(describe(found->stack_variables[i])),
                with_short_names(expected[i]))
          << wanted.stack_variables[i].name << ":" << wanted.stack_variables[i].line;
    }
  }
}

TEST_F(StackTypes, DamagedFilesTellLessAndNothingWorse) {
  build("g++ -O2");
  WantedTypes wanted;
  for (const auto& [name, line] : {std::pair("cloud", 11U), {"edge", 12U}, {"marked", 8U}}) {
    wanted.stack_variables.push_back({find_function("first"), name, line});
  }
  std::mt19937 random(20);  // NOLINT: the same bytes each time
  for (int round = 0; round < 50; ++round) {
    std::string damaged = bytes_;
    const size_t cut = round % 3 == 0 ? random() % damaged.size() : damaged.size();
    damaged.resize(cut);
    for (int i = 0; i < 60 && cut > 64; ++i) {
      damaged[64 + random() % (cut - 64)] = static_cast<char>(random());
    }
    const std::optional<FoundTypes> found = read(damaged, wanted);
    if (!found) continue;
    EXPECT_EQ(found->stack_variables.size(), 3U);
    for (const std::optional<TypeLayout>& layout : found->stack_variables) {
      uint64_t end = 0;
      for (size_t i = 0; layout && i < layout->members.size(); ++i) {
        EXPECT_EQ(layout->members[i].offset, i == 0 ? layout->members[0].offset : end);
        end = layout->members[i].offset + layout->members[i].size_bytes;
        EXPECT_LE(end, layout->size_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace culprit
