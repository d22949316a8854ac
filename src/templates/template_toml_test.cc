#include "templates/template_toml.h"

#include <gtest/gtest.h>

#include "templates/find_template.h"
#include "templates/test_templates.h"

namespace culprit {
namespace {

std::string error_of(const std::string& text) {
  const Result<Template> whole = parse_template(text, "t.toml");
  return whole ? "none" : whole.error().message;
}

std::string without_line(const std::string& message) {
  const size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

const TemplateRow* find(const Template& whole, const std::string& event) {
  for (const TemplateRow& row : whole.rows) {
    if (row.event == event) return &row;
  }
  return nullptr;
}

// By hand, from Gooda's table of this CPU (../shared/facts/hca-templates/gooda_ivb_ep.md) and
// Intel's list where libpfm4 is wrong.
TEST(TemplateToml, RowsSayWhatTheFileSays) {
  const Result<Template> ivy = read_template(kShipped + "/ivy-bridge-ep.toml");
  ASSERT_TRUE(ivy) << ivy.error().message;
  EXPECT_EQ(ivy->name, "ivy-bridge-ep");
  EXPECT_EQ(ivy->validated_by, "Gooda");  // its authors, not us
  EXPECT_NE(ivy->validated_on.find("ISPASS 2015"), std::string::npos);
  EXPECT_EQ(ivy->dispatch_width, 4);
  EXPECT_EQ(ivy->libpfm, std::vector<std::string>{"ivb_ep"});
  const TemplateRow* dram = find(*ivy, "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM");
  ASSERT_NE(dram, nullptr);
  EXPECT_EQ(dram->branch, CostBranch::load_latency);
  EXPECT_EQ(dram->role, Role::sum);
  EXPECT_EQ(dram->penalty.value, 225);
  EXPECT_EQ(dram->penalty.unit, PenaltyUnit::cycles);
  EXPECT_EQ(dram->period, 10007U);
  EXPECT_EQ(dram->precise, 2);
  EXPECT_EQ(dram->code, 0x3d3U);  // Intel's list: libpfm4 4.13 has unit mask 1
  EXPECT_EQ(dram->name_state, NameState::wrong);
  const auto& none = ivy->coverage[static_cast<size_t>(CostBranch::multithread_collisions)];
  EXPECT_EQ(none.coverage, Coverage::none);
  EXPECT_FALSE(none.reason.empty());
}

// Hierarchical Cycle Accounting, tables 1, 7 and 8.
TEST(TemplateToml, AVariantReplacesWhatItSaysAndKeepsTheRest) {
  const Result<Template> base = read_template(kShipped + "/ivy-bridge-ep.toml");
  const Result<Template> paper = read_template(kShipped + "/ivy-bridge-ep-paper.toml");
  ASSERT_TRUE(base && paper);
  EXPECT_EQ(paper->base, "ivy-bridge-ep");
  EXPECT_TRUE(paper->cpuid.empty());  // no machine takes it by itself
  const std::pair<const char*, double> table1[] = {
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_NONE", 52},
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_HIT", 75},
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_MISS", 75},
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_HITM", 85},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 200},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 400},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_FWD", 325},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_HITM", 400},
      {"DTLB_LOAD_MISSES:DEMAND_LD_WALK_COMPLETED", 7},
      {"DTLB_LOAD_MISSES:DEMAND_LD_WALK_DURATION", 1},
      {"BR_MISP_RETIRED:ALL_BRANCHES", 6},  // table 8
      {"BACLEARS:ANY", 6},
  };
  for (const auto& [event, penalty] : table1) {
    const TemplateRow* row = find(*paper, event);
    ASSERT_NE(row, nullptr) << event;
    EXPECT_EQ(row->role, Role::sum) << event;
    EXPECT_EQ(row->penalty.value, penalty) << event;
  }
  // Section 3.2: hits of L2 and of the second TLB are left out on purpose.
  EXPECT_EQ(find(*paper, "MEM_LOAD_UOPS_RETIRED:L2_HIT")->role, Role::info);
  EXPECT_EQ(find(*paper, "DTLB_LOAD_MISSES:STLB_HIT")->role, Role::info);
  EXPECT_EQ(paper->rows.size(), base->rows.size() + 1);  // UOPS_RETIRED:ANY:c=1, of table 7
  EXPECT_EQ(paper->formulas.size(), base->formulas.size());
}

TEST(TemplateToml, AVariantOfNothingIsAMistake) {
  EXPECT_NE(
      error_of("base = \"nothing\"\n" + small_template()).find("there is no template nothing"),
      std::string::npos);
}

TEST(TemplateToml, ADamagedLineIsNamed) {
  ASSERT_EQ(error_of(small_template()), "none");
  const std::string with_row = small_template("[[row]]\n");
  const auto line = std::count(with_row.begin(), with_row.end(), '\n');
  EXPECT_EQ(error_of(with_row),
            "t.toml, line " + std::to_string(line) + ": there is no row.event here");
}

struct Fault {
  const char* from;
  const char* to;
  const char* message;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.to;
}

class TemplateFault : public testing::TestWithParam<Fault> {};

TEST_P(TemplateFault, IsToldWithWhatIsAllowed) {
  std::string text = small_template();
  const size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string_view(GetParam().from).size(), GetParam().to);
  const std::string message = error_of(text);
  EXPECT_TRUE(message.starts_with("t.toml, line ")) << message;
  EXPECT_TRUE(without_line(message).starts_with(GetParam().message)) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TemplateFault,
    testing::Values(
        Fault{"name = \"small\"\n", "", "there is no name here"},
        Fault{"description = \"A CPU\"", "description = \"\"", "description is empty"},
        Fault{"validated_by = \"us\"\n", "validated_by = true\n", "validated_by is"},
        Fault{"label = \"UNHALTED_CORE_CYCLES\"",
              "label = \"UNHALTED_CORE_CYCLES\"\nquantity = \"cycle\"", "quantity"},
        Fault{"validated_on = \"a bench\"\n", "", "there is no validated_on here"},
        Fault{"libpfm = [\"ivb_ep\"]\n", "", "there is no libpfm here"},
        Fault{"dispatch_width = 4", "dispatch_width = 0", "dispatch_width is a number from 1"},
        Fault{"[coverage.port_saturation]\ncoverage = \"none\"\nreason = \"No event.\"\n", "",
              "there is no coverage.port_saturation here"},
        Fault{"[coverage.port_saturation]", "[coverage.port_satiation]",
              "there is no branch port_satiation"},
        Fault{"reason = \"No event.\"", "reason = \"\"", "coverage.load_latency.reason is empty"},
        Fault{"coverage = \"full\"", "coverage = \"whole\"",
              "coverage.instruction_latency.coverage is one of \"full\", \"partial\", \"none\""},
        Fault{"code = 0x3c", "code = \"0x3c\"", "row.code is a whole number"},
        Fault{"code = 0x3c", "code = -1", "row.code is a whole number"},
        Fault{"code = 0x3c\n", "", "there is no row.code here"},
        Fault{"branch = \"unhalted\"", "branch = \"halted\"", "row.branch is one of"},
        Fault{"role = \"sum\"", "role = \"product\"",
              "row.role is one of \"sum\", \"info\", \"bound\", \"derive\""},
        Fault{"penalty = 1\n", "", "there is no row.penalty here"},
        Fault{"penalty = 1\n", "penalty = nan\n", "row.penalty is a number from 0"},
        Fault{"penalty = 1\n", "penalty = -5\n", "row.penalty is a number from 0"},
        Fault{"unit = \"cycles\"\n", "", "there is no row.unit here"},
        Fault{"source = \"counts cycles\"\n", "", "there is no row.source here"},
        Fault{"period = 2000003\n", "", "there is no row.period here"},
        Fault{"period = 2000003\n", "period = 0\n", "row.period is a whole number from 1"},
        Fault{"period = 2000003\n", "period = 3\ncounting_only = true\n",
              "a row with counting_only = true has no period"},
        Fault{"period = 2000003\n", "period = 3\nprecise = 4\n",
              "row.precise is a whole number from 0 to 3"},
        Fault{"problem = \"Something.\"\n", "", "there is no row.problem here"},
        Fault{"advice = \"Something else.\"\n", "advice = \"\"\n", "row.advice is empty"},
        Fault{"role = \"sum\"\n", "role = \"sum\"\nrolle = 1\n",
              "there is no key row.rolle here"}));

TEST(TemplateToml, HostileTextIsAnError) {
  EXPECT_NE(error_of(""), "none");
  EXPECT_NE(error_of("row = 3\n"), "none");
  EXPECT_NE(error_of("row = [1, 2]\n"), "none");
  EXPECT_NE(error_of("coverage = []\n" + small_template()), "none");
  EXPECT_NE(error_of(std::string(100000, '[')), "none");
  EXPECT_NE(error_of("[[row]]\n" + std::string(1000, 'x')), "none");
  std::string many = small_template();
  for (int i = 0; i < 2000; ++i) many += row_text("E" + std::to_string(i), "1", "general", "info");
  EXPECT_EQ(without_line(error_of(many)), "more than 999 rows");
  EXPECT_FALSE(read_template("/does/not/exist.toml"));
}

}  // namespace
}  // namespace culprit
