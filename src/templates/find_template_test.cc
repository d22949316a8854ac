#include "templates/find_template.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/cpuid.h"
#include "base/file.h"
#include "templates/test_templates.h"

namespace culprit {
namespace {

// Spellings: perf's tools/perf/pmu-events/arch/*/mapfile.csv for the right side, `perf report
// --header-only` ("# cpuid : ") of recordings for the left.
TEST(Cpuid, RecordingsAreRewrittenAsPerfsTablesWriteThem) {
  EXPECT_EQ(normalize_cpuid("GenuineIntel,6,85,4"), "GenuineIntel-6-55-4");
  EXPECT_EQ(normalize_cpuid("GenuineIntel,6,62,4"), "GenuineIntel-6-3E-4");
  EXPECT_EQ(normalize_cpuid("AuthenticAMD,25,97,2"), "AuthenticAMD-25-61-2");
  EXPECT_EQ(normalize_cpuid("0x00000000413fd0c1"), "0x00000000410fd0c0");  // N1 r3p1
  EXPECT_EQ(normalize_cpuid("78,515"), "004e0203");
  EXPECT_EQ(normalize_cpuid("GenuineIntel-6-3E-4\n"), "GenuineIntel-6-3E-4");
  EXPECT_EQ(normalize_cpuid("0xzz"), "0xzz");
  EXPECT_EQ(normalize_cpuid(""), "");
  EXPECT_EQ(normalize_cpuid("a,b,c,d"), "a,b,c,d");
}

struct Known {
  const char* cpuid;
  const char* name;
};

class MatchTemplate : public testing::TestWithParam<Known> {};

TEST_P(MatchTemplate, TakesTheOneOfTheCpu) {
  const Result<Template> found = match_template(kShipped, normalize_cpuid(GetParam().cpuid));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->name, GetParam().name);
}

// Families and models by perf's mapfile.csv (skylakex: 55-[01234], cascadelakex: 55-[56789ABCDEF],
// amdzen3: 25-([245][[:xdigit:]]|[[:xdigit:]]), amdzen4: the other ones of family 25).
INSTANTIATE_TEST_SUITE_P(
    Cpus, MatchTemplate,
    testing::Values(
        Known{"GenuineIntel,6,44,2", "westmere-ep"}, Known{"GenuineIntel,6,42,7", "sandy-bridge"},
        Known{"GenuineIntel,6,45,7", "sandy-bridge-ep"}, Known{"GenuineIntel,6,58,9", "ivy-bridge"},
        Known{"GenuineIntel,6,62,4", "ivy-bridge-ep"}, Known{"GenuineIntel,6,63,2", "haswell-ep"},
        Known{"GenuineIntel-6-3C-3", "haswell-ep"}, Known{"GenuineIntel-6-55-4", "skylake-sp"},
        Known{"GenuineIntel-6-55-7", "skylake-sp"}, Known{"GenuineIntel,6,106,6", "ice-lake-sp"},
        Known{"GenuineIntel,6,143,8", "sapphire-rapids"}, Known{"AuthenticAMD,25,1,1", "zen3"},
        Known{"AuthenticAMD,25,33,0", "zen3"}, Known{"AuthenticAMD-25-61-2", "zen4"},
        Known{"AuthenticAMD,25,17,1", "zen4"}, Known{"0x00000000413fd0c1", "neoverse-n1"},
        Known{"0x00000000411fd401", "neoverse-v1"},
        Known{"0x00000000410fd034", "armv8"},  // Cortex-A53
        Known{"004e1203", "power9"}),
    [](const auto& known) {
      std::string name = known.param.cpuid;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

TEST(MatchTemplate, OtherCpusHaveNone) {
  for (const char* cpuid :
       {"GenuineIntel-6-A7-1", "AuthenticAMD-23-31-0", "GenuineIntel-6-5", ""}) {
    EXPECT_FALSE(match_template(kShipped, cpuid)) << cpuid;
  }
}

TEST(ReadCpuid, IsReadFromWhatTheKernelSays) {
  Result<TemporaryFolder> root = TemporaryFolder::make();
  ASSERT_TRUE(root);
  std::filesystem::create_directories(root->path() + "/proc");
  const auto cpuinfo = [&](const std::string& text) {
    std::ofstream(root->path() + "/proc/cpuinfo") << text;
    const Result<std::string> name = read_cpuid(root->path());
    return name ? *name : "none";
  };
  EXPECT_EQ(cpuinfo("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                    "model name\t: Intel(R) Xeon(R) Gold 6148\nstepping\t: 4\n"),
            "GenuineIntel-6-55-4");
  EXPECT_EQ(cpuinfo("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"
                    "revision\t: 2.3 (pvr 004e 1203)\n"),
            "004e1203");
  EXPECT_EQ(cpuinfo("vendor_id : GenuineIntel\ncpu family : six\n"), "none");
  EXPECT_EQ(cpuinfo(""), "none");
  const std::string registers = root->path() + "/sys/devices/system/cpu/cpu0/regs/identification";
  std::filesystem::create_directories(registers);
  std::ofstream(registers + "/midr_el1") << "0x00000000413fd0c1\n";
  EXPECT_EQ(cpuinfo("processor : 0\n"), "0x00000000410fd0c0");
}

TEST(FindTemplate, NamesWhatThereIs) {
  EXPECT_TRUE(find_template("zen4", kShipped));
  EXPECT_TRUE(find_template(kShipped + "/zen4.toml", "/nowhere"));
  const Result<Template> mistyped = find_template("zen7", kShipped);
  ASSERT_FALSE(mistyped);
  EXPECT_NE(mistyped.error().message.find("did you mean zen"), std::string::npos)
      << mistyped.error().message;
  EXPECT_FALSE(find_template("zen4", "/nowhere"));
  EXPECT_FALSE(find_template("../templates/zen4", kShipped + "/nowhere"));
}

TEST(FindTemplate, AVariantOfAVariantEnds) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::ofstream(folder->path() + "/a.toml") << "base = \"b\"\n";
  std::ofstream(folder->path() + "/b.toml") << "base = \"a\"\n";
  EXPECT_FALSE(read_template(folder->path() + "/a.toml"));
}

}  // namespace
}  // namespace culprit
