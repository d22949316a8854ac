#include "cli/template_events.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "base/test_folders.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

Pmu made_pmu() {
  Pmu pmu;
  pmu.name = "cpu";
  pmu.type = 4;
  pmu.is_core = true;
  pmu.cpus = {0, 1};
  return pmu;
}

std::map<std::string, EventRequest> list(const std::string& name, bool for_sampling) {
  const Result<Template> cpu = read_template(source_folder() + "/data/templates/" + name + ".toml");
  EXPECT_TRUE(cpu) << (cpu ? "" : cpu.error().message);
  std::map<std::string, EventRequest> requests;
  if (!cpu) return requests;
  for (const EventGroup& group : list_template_events(*cpu, made_pmu(), for_sampling)) {
    EXPECT_EQ(group.members.size(), 1u);
    for (const EventRequest& request : group.members) {
      EXPECT_TRUE(requests.emplace(request.name, request).second) << request.name;
    }
  }
  return requests;
}

/// Codes, periods and levels as Gooda's scripts have them (hsw_ep_cyc_account.txt).
TEST(TemplateEvents, SampleWithPeriodsAndPreciseLevels) {
  const auto events = list("haswell-ep", true);
  const EventRequest& dram = events.at("MEM_LOAD_UOPS_L3_MISS_RETIRED:LOCAL_DRAM");
  EXPECT_EQ(dram.type, 4u);
  EXPECT_EQ(dram.config, 0x1d3u);
  EXPECT_EQ(dram.period, 10007u);
  EXPECT_EQ(dram.precise_level, 2);
  EXPECT_EQ(dram.cpus, (std::vector<int>{0, 1}));
  const EventRequest& stalls = events.at("UOPS_RETIRED:STALL_CYCLES");
  EXPECT_EQ(stalls.config, 0x18001c2u);  // cmask 1, inverted
  EXPECT_EQ(stalls.period, 2000003u);
  EXPECT_EQ(stalls.precise_level, 0);
}

TEST(TemplateEvents, CountWhatIsNotSampled) {
  const auto sampled = list("haswell-ep", true);
  const auto counted = list("haswell-ep", false);
  EXPECT_GT(counted.size(), sampled.size());
  for (const auto& [name, request] : counted) {
    EXPECT_FALSE(request.period) << name;
    EXPECT_EQ(request.precise_level, 0) << name;
  }
}

TEST(TemplateEvents, SecondWordsOfCodesAreKept) {
  // FRONTEND_RETIRED:L2_MISS of Skylake-SP: 0x1c6, and 0x13 in config1.
  EXPECT_EQ(list("skylake-sp", false).at("FRONTEND_RETIRED:L2_MISS").config1, 0x13u);
}

}  // namespace
}  // namespace culprit
