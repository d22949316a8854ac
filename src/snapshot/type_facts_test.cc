#include "snapshot/type_facts.h"

#include <gtest/gtest.h>
#include <map>

#include "binary/test_programs.h"
#include "snapshot/find_files.h"

namespace culprit {
namespace {

constexpr const char* kSource = R"(
struct point { double x, y; int id; };
struct edge { long from, to; };
__attribute__((noinline)) void work(long n) {
  volatile struct point cloud[50]; for (int i = 0; i < 50; ++i) cloud[i].id = n;
  volatile struct edge edges[70]; for (int i = 0; i < 70; ++i) edges[i].to = n;
}
int main(int n, char** words) { (void)words; work(n); return 0; }
)";

TEST(TypeFacts, VariablesOfOneFunctionAreToldApartByTheirNames) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::string program = folder.path() + "/program";
  test::write_text(program + ".c", kSource);
  test::run("gcc -w -g -O1 " + program + ".c -o " + program);
  const Result<OpenedElf> opened = open_elf(program, {});
  ASSERT_TRUE(opened);
  const auto place_of = [&](const std::string& name) {
    const std::string address =
        test::run("nm " + program + " | awk '$3 == \"" + name + "\" {print $1}'");
    return *opened->elf.to_file_offset(LinkAddress(std::strtoull(address.c_str(), nullptr, 16)));
  };
  const FileOffset work = place_of("work");
  WantedData wanted;
  for (const char* const name :
       {"cloud\tprogram.c:5", "edges\tprogram.c:6", "cloud or edges\tprogram.c:5", "cloud",
        "cloud\t", "cloud\tprogram.c:", "cloud\tprogram.c:0", "cloud\tprogram.c:4294967301",
        "cloud\tprogram.c:-5", ":5\tcloud", "\tprogram.c:5", "edges\tprogram.c:5", ""}) {
    wanted.stack_variables.push_back({work, name});
  }
  const ElfSources sources{opened->elf, program};
  ImageFacts facts = make_elf_facts(sources, {work}, 1);
  add_type_facts(facts, sources, wanted);
  std::map<std::string, std::string> found;  // members and their offsets, by variable
  for (const FieldFact& field : facts.fields) {
    EXPECT_EQ(field.place, work);
    EXPECT_FALSE(field.is_call);
    std::string& text = found[facts.strings.text(field.variable)];
    if (text.empty()) text = facts.strings.text(field.type) + ":";
    text += " " + facts.strings.text(field.name) + " " + std::to_string(field.offset);
  }
  const std::map<std::string, std::string> expected{
      {"cloud\tprogram.c:5", "point: x 0 y 8 id 16  20"},
      {"edges\tprogram.c:6", "edge: from 0 to 8"}};
  EXPECT_EQ(found, expected);

  // Another function has no such variable.
  const FileOffset main = place_of("main");
  ImageFacts others = make_elf_facts(sources, {main}, 1);
  add_type_facts(others, sources, {.stack_variables = {{main, "cloud\tprogram.c:5"}}});
  EXPECT_TRUE(others.fields.empty());
}

}  // namespace
}  // namespace culprit
