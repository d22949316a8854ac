// Functions of a program that the system's compiler makes, by the names that people write.

#include "simulate/region_places.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

#include "base/file.h"

namespace culprit {
namespace {

class RegionPlacesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const Result<TemporaryFolder> folder = TemporaryFolder::make();
    if (!folder) return;
    program_ = folder->path() + "/program";
    std::ofstream(program_ + ".cc") << R"(
namespace {
__attribute__((noinline)) int hidden(int x) { asm volatile(""); return x + 1; }
}  // namespace
namespace ns {
__attribute__((noinline)) int shown(int x) { asm volatile(""); return x + 2; }
__attribute__((noinline)) int shown(long x) { asm volatile(""); return (int)x + 3; }
}  // namespace ns
extern "C" {
static int plain(int x) { return x + 4; }
static int (*choose())(int) { return plain; }
int chosen(int x) __attribute__((ifunc("choose")));
}
int main(int argc, char**) {
  return hidden(argc) + ns::shown(argc) + ns::shown((long)argc) + chosen(argc);
}
)";
    const std::string command = "c++ -O1 -o " + program_ + " " + program_ + ".cc";
    if (std::system(command.c_str()) != 0) program_.clear();
  }
  void SetUp() override { ASSERT_FALSE(program_.empty()) << "the compiler failed"; }

  /// How many places a name has; the message, if it has none.
  static std::string find(const std::string& name) {
    const Result<counting::RegionPlaces> places = find_region(name, program_);
    return places ? std::to_string(places->offsets.size()) : places.error().message;
  }

  static std::string program_;
};
std::string RegionPlacesTest::program_;

TEST_F(RegionPlacesTest, AreThoseOfTheNameAsItIsLinkedOrWritten) {
  EXPECT_EQ(find("main"), "1");
  EXPECT_EQ(find("_ZN2ns5shownEi"), "1");
  EXPECT_EQ(find("ns::shown(long)"), "1");
  EXPECT_EQ(find("ns::shown"), "2");
  EXPECT_EQ(find(program_ + ":ns::shown"), "2");
}

// Its name begins with a parenthesis that is not that of parameters.
TEST_F(RegionPlacesTest, AreThoseOfAnUnnamedNamespaceToo) {
  EXPECT_EQ(find("(anonymous namespace)::hidden"), "1");
  EXPECT_EQ(find("(anonymous namespace)::hidden(int)"), "1");
}

// Only the dynamic linker calls what the name stands at.
TEST_F(RegionPlacesTest, AreNotThoseOfFunctionsThatChooseAnother) {
  EXPECT_NE(find("chosen").find("is not what is called"), std::string::npos) << find("chosen");
}

TEST_F(RegionPlacesTest, SuggestTheNearestNames) {
  EXPECT_NE(find("ns::shawn").find("did you mean ns::shown"), std::string::npos)
      << find("ns::shawn");
  EXPECT_NE(find("").find("there is no function"), std::string::npos) << find("");
}

}  // namespace
}  // namespace culprit
