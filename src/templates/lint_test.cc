#include "templates/lint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/file.h"
#include "events/pfm_events.h"
#include "templates/find_template.h"
#include "templates/test_templates.h"

namespace culprit {
namespace {

std::vector<std::string> lint(const std::string& text) {
  const TemplateFile file = parse_template_file(text, "small.toml");
  if (file.mistake) return {file.mistake->error().message};
  std::vector<std::string> messages;
  for (const LintFinding& finding : lint_template(file.value)) {
    EXPECT_EQ(finding.file, "small.toml");
    EXPECT_GT(finding.line, 0U);
    messages.push_back(finding.message);
  }
  return messages;
}

using Messages = std::vector<std::string>;

class Lint : public testing::Test {
 protected:
  void SetUp() override {
    if (!encode_pfm_event("ivb_ep::UNHALTED_CORE_CYCLES")) {
      GTEST_SKIP() << "this libpfm4 has no x86 tables";
    }
  }
};

TEST_F(Lint, WhatIsRightHasNoFindings) {
  EXPECT_EQ(lint(small_template()), Messages{});
}

TEST_F(Lint, EveryShippedTemplateIsRight) {
  const std::vector<std::string> names = list_templates(kShipped);
  EXPECT_EQ(names.size(), 18U);
  for (const std::string& name : names) {
    for (const LintFinding& finding : lint_template_file(template_path(kShipped, name))) {
      ADD_FAILURE() << finding.file << ":" << finding.line << ": " << finding.message;
    }
  }
}

// What Culprit is said to have validated has a table of `culprit validate`, by hardware, without a
// wrong event, for this template.
TEST_F(Lint, ValidatedByUsTakesATable) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::filesystem::create_directories(folder->path() + "/templates");
  std::filesystem::create_directories(folder->path() + "/validation");
  const std::string path = folder->path() + "/templates/small.toml";
  std::string text = small_template();
  text.replace(text.find("\"us\""), 4, "\"Culprit\"");
  std::ofstream(path) << text;
  const auto find = [&](const std::string& table) {
    if (!table.empty()) std::ofstream(folder->path() + "/validation/small.json") << table;
    const std::vector<LintFinding> findings = lint_template_file(path);
    return findings.empty() ? std::string() : findings.front().message;
  };
  const auto table = [](const char* name, const char* engine, const char* is_right) {
    return std::string(R"({"schema": "culprit-validate-1", "template": ")") + name +
           R"(", "engine": ")" + engine + R"(", "is_right": )" + is_right + "}";
  };
  EXPECT_NE(find("").find("it is not there"), std::string::npos);
  EXPECT_NE(find("[1, 2]").find("culprit validate did not write it"), std::string::npos);
  EXPECT_NE(find(table("other", "pmu", "true")).find("of another template"), std::string::npos);
  EXPECT_NE(find(table("small", "simulate", "true")).find("no hardware"), std::string::npos);
  EXPECT_NE(find(table("small", "pmu", "false")).find("are wrong"), std::string::npos);
  EXPECT_NE(find(table("small", "pmu", "[]")).find("are wrong"), std::string::npos);
  EXPECT_EQ(find(table("small", "pmu", "true")), "");
}

// 0x5104c5 less the kernel's bits would be BR_MISP_RETIRED:ALL_BRANCHES_PEBS: libpfm4 4.13,
// `showevtinfo`: ivb_ep BR_MISP_RETIRED:ALL_BRANCHES is 0xc5.
TEST_F(Lint, CodesAreThoseOfTheNames) {
  EXPECT_EQ(
      lint(small_template(row_text("BR_MISP_RETIRED:ALL_BRANCHES", "0x4c5", "general", "info"))),
      Messages{"BR_MISP_RETIRED:ALL_BRANCHES: its code is 0x4c5, and libpfm4 (as corrected) "
               "encodes it as 0xc5"});
}

TEST_F(Lint, BitsOfTheKernelAreNoneOfTheCodes) {
  EXPECT_EQ(lint(small_template(row_text("INSTRUCTION_RETIRED", "0x5100c0", "general", "info"))),
            Messages{"INSTRUCTION_RETIRED: its code 0x5100c0 has bits that no counter of this CPU "
                     "has: 0x510000"});
}

// Intel's list has unit mask 3 (src/events/pfm_corrections.cc), libpfm4 has 1.
TEST_F(Lint, NameStatesTellTheTruthBothWays) {
  const std::string event = "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM";
  const std::string sourced = "name_source = \"Intel's list\"\n";
  EXPECT_EQ(lint(small_template(row_text(event, "0x3d3", "general", "info"))),
            Messages{event + ": name_state is \"known\", and should be \"wrong\""});
  EXPECT_EQ(lint(small_template(
                row_text(event, "0x3d3", "general", "info", "name_state = \"wrong\"\n" + sourced))),
            Messages{});
  EXPECT_EQ(
      lint(small_template(row_text(event, "0x3d3", "general", "info", "name_state = \"wrong\"\n"))),
      Messages{event + ": name_state is \"wrong\" without a name_source: who has the right "
                       "code?"});
  EXPECT_EQ(lint(small_template(row_text("INSTRUCTION_RETIRED", "0xc0", "general", "info",
                                         "name_state = \"wrong\"\n" + sourced))),
            Messages{"INSTRUCTION_RETIRED: name_state is \"wrong\", and should be \"known\""});
}

TEST_F(Lint, NamesThatNobodyKnowsSaySo) {
  const Messages messages =
      lint(small_template(row_text("NO_SUCH:EVENT", "0x1", "general", "info")));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_TRUE(messages[0].starts_with(
      "NO_SUCH:EVENT: name_state is \"known\", and should be \"unknown\": "))
      << messages[0];
}

TEST_F(Lint, NothingIsCountedTwice) {
  const std::string formula =
      "[[formula]]\nformula = \"call_overhead\"\nbranch = \"instruction_latency\"\nlabel = \"f\"\n"
      "role = \"sum\"\noperands = [\"ARITH:FPU_DIV_ACTIVE\"]\nconstant = 3\nsource = \"s\"\n"
      "problem = \"p\"\nadvice = \"a\"\n";
  Messages messages = lint(small_template(formula));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_TRUE(
      messages[0].starts_with("f: counted twice: its operand ARITH:FPU_DIV_ACTIVE is summed"))
      << messages[0];
  // The counter may have another name.
  messages = lint(
      small_template(row_text("ARITH:FPU_DIV_ACTIVE:i=0", "0x114", "instruction_latency", "sum")));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0],
            "ARITH:FPU_DIV_ACTIVE:i=0: counted twice: ARITH:FPU_DIV_ACTIVE has the same code, and "
            "both are summed");
  // A part beside its whole, also through a row between them.
  messages = lint(small_template(row_text("RESOURCE_STALLS:ANY", "0x1a2", "instruction_latency",
                                          "info", "part_of = \"ARITH:FPU_DIV_ACTIVE\"\n") +
                                 row_text("RESOURCE_STALLS:SB", "0x8a2", "instruction_latency",
                                          "sum", "part_of = \"RESOURCE_STALLS:ANY\"\n")));
  EXPECT_EQ(messages, Messages{"RESOURCE_STALLS:SB: counted twice: it is part of "
                               "ARITH:FPU_DIV_ACTIVE, which is summed, too"});
}

TEST_F(Lint, PartsEnd) {
  const Messages messages =
      lint(small_template(row_text("RESOURCE_STALLS:ANY", "0x1a2", "general", "info",
                                   "part_of = \"RESOURCE_STALLS:SB\"\n") +
                          row_text("RESOURCE_STALLS:SB", "0x8a2", "general", "info",
                                   "part_of = \"RESOURCE_STALLS:ANY\"\n")));
  EXPECT_EQ(messages, (Messages{"RESOURCE_STALLS:ANY: part_of goes round in a circle",
                                "RESOURCE_STALLS:SB: part_of goes round in a circle"}));
}

TEST(LintOfArm, IsByOurOwnTableAndSaysSo) {
  for (const auto& [name, codes] : {std::pair{"neoverse-n1", 26U}, {"power9", 41U}}) {
    const Result<Template> whole = read_template(template_path(kShipped, name));
    ASSERT_TRUE(whole);
    const NameChecks checks = count_name_checks(*whole);
    EXPECT_EQ(checks.by_libpfm, 0U);
    EXPECT_EQ(checks.by_table, whole->rows.size());
    EXPECT_EQ(describe(checks),
              std::to_string(codes) + " codes by our own table, as libpfm4 does not know this CPU");
  }
}

TEST(LintOfFiles, WhatCannotBeReadIsTheOnlyFinding) {
  const std::vector<LintFinding> findings = lint_template_file("/does/not/exist.toml");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace culprit
