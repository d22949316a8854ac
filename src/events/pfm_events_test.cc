// Encodings of CPUs that are not here. Where each expected code is from stands beside it.

#include "events/pfm_events.h"

#include <gtest/gtest.h>

#ifdef CULPRIT_HAS_PFM
#include <perfmon/pfmlib_perf_event.h>
#endif

#include "events/cpu_tables.h"
#include "events/event_list.h"
#include "events/event_request.h"
#include "events/pfm_corrections.h"

namespace culprit {
namespace {

struct Expected {
  const char* cpu;
  const char* event;
  uint64_t config;
  uint64_t config1;
};

void expect_codes(std::span<const Expected> rows) {
  for (const Expected& row : rows) {
    const Result<EventRequest> event = encode_for(row.cpu, row.event);
    ASSERT_TRUE(event) << row.cpu << " " << row.event << ": " << event.error().message;
    EXPECT_EQ(event->config, row.config) << row.cpu << " " << row.event;
    EXPECT_EQ(event->config1, row.config1) << row.cpu << " " << row.event;
    EXPECT_EQ(event->type, 4u) << row.cpu << " " << row.event;  // PERF_TYPE_RAW
  }
}

class PfmEvents : public ::testing::Test {
 protected:
  void SetUp() override {
    if (list_pfm_pmus().empty()) GTEST_SKIP() << "built without libpfm4";
    if (!encode_for("icx", "INST_RETIRED:ANY_P")) GTEST_SKIP() << "this libpfm4 has no x86 tables";
  }
};

// Intel SDM volume 3, chapter 20 (architectural events), and AMD's PPR for family 19h.
TEST_F(PfmEvents, EncodesWhatTheManualsSay) {
  constexpr Expected kRows[] = {
      {"icx", "INST_RETIRED:ANY_P", 0xc0, 0},
      {"icx", "inst_retired.any_p", 0xc0, 0},
      {"skx", "BR_MISP_RETIRED:ALL_BRANCHES", 0xc5, 0},
      {"hsw_ep", "UNHALTED_CORE_CYCLES", 0x3c, 0},
      {"hsw_ep", "uops_retired:any:c=1:i=1", 0x18001c2, 0},
      {"spr", "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30", 0x1cd, 30},
      {"icx", "FRONTEND_RETIRED:L2_MISS", 0x1c6, 0x13},
      {"amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", 0xc0, 0},
      {"amd64_fam19h_zen4", "RETIRED_UCODE_INSTRUCTIONS", 0x1000000c1, 0},
  };
  expect_codes(kRows);
}

// The makers' own lists, as the rows of pfm_corrections.cc name them; codes by hand.
TEST_F(PfmEvents, CorrectsWhatLibpfmHasWrong) {
  constexpr Expected kRows[] = {
      {"skx", "UOPS_RETIRED:STALL_CYCLES", 0x018002c2, 0},
      {"skx", "UOPS_RETIRED:TOTAL_CYCLES", 0x108002c2, 0},
      {"icx", "MEM_LOAD_MISC_RETIRED:UC", 0x4d4, 0},
      {"spr", "TOPDOWN:BACKEND_BOUND_SLOTS", 0x2a4, 0},
      {"spr", "TOPDOWN.BR_MISPREDICT_SLOTS", 0x8a4, 0},
      {"spr", "ARITH:IDIV_ACTIVE", 0x010008b0, 0},
      {"spr", "INT_MISC:UNKNOWN_BRANCH_CYCLES", 0x40ad, 0x7},
      {"spr", "UOPS_RETIRED:MS", 0x4c2, 0x8},
      {"spr", "INST_RETIRED:ANY", 0x100, 0},
      {"spr", "OFFCORE_REQUESTS_OUTSTANDING:L3_MISS_DEMAND_DATA_RD", 0x1020, 0},
      {"spr", "OFFCORE_REQUESTS_OUTSTANDING:L3_MISS_DEMAND_DATA_RD:c=6:e", 0x06041020, 0},
      {"ivb_ep", "MOVE_ELIMINATION:INT_ELIMINATED", 0x158, 0},
      {"ivb_ep", "MOVE_ELIMINATION:INT_NOT_ELIMINATED", 0x458, 0},
      {"ivb_ep", "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 0x3d3, 0},
      {"hsw_ep", "L2_RQSTS:CODE_RD_HIT", 0xc424, 0},
      {"hsw_ep", "UOPS_RETIRED:TOTAL_CYCLES", 0x108001c2, 0},
  };
  expect_codes(kRows);
}

TEST_F(PfmEvents, EveryCorrectionIsMadeAndNamesItsSource) {
  for (const PfmCorrection& row : pfm_corrections()) {
    const std::string name = std::string(row.event) + ":" + std::string(row.mask);
    const Result<EventRequest> event = encode_for(std::string(row.pmu), name);
    ASSERT_TRUE(event) << row.pmu << " " << name;
    EXPECT_EQ(event->config, row.right) << row.pmu << " " << name;
    EXPECT_NE(event->note.find(row.source), std::string::npos) << event->note;
  }
}

#ifdef CULPRIT_HAS_PFM
/// What libpfm4 itself says; nothing if it does not know the name.
std::optional<uint64_t> config_by_libpfm(const std::string& name) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  pfm_perf_encode_arg_t argument{};
  argument.size = sizeof argument;
  argument.attr = &attr;
  const int status = ::pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3,
                                                 PFM_OS_PERF_EVENT_EXT, &argument);
  return status == PFM_SUCCESS ? std::optional(attr.config) : std::nullopt;
}

TEST_F(PfmEvents, EveryCorrectionIsOfAnErrorThatLibpfmStillHas) {
  for (const PfmCorrection& row : pfm_corrections()) {
    const std::string name =
        std::string(row.pmu) + "::" + std::string(row.event) + ":" + std::string(row.mask);
    EXPECT_EQ(config_by_libpfm(name), row.wrong) << name;
  }
}
#endif

TEST_F(PfmEvents, WhatTheUserSetsStaysInCorrectedEvents) {
  EXPECT_EQ(encode_for("spr", "TOPDOWN:BACKEND_BOUND_SLOTS:c=3")->config, 0x030002a4u);
  EXPECT_EQ(encode_for("icx", "TOPDOWN:BACKEND_BOUND_SLOTS:c=1:e:u")->config, 0x010402a4u);
  EXPECT_TRUE(encode_for("icx", "TOPDOWN:BACKEND_BOUND_SLOTS:c=1:e:u")->exclude_kernel);
}

TEST_F(PfmEvents, TakesModifiersOfPerfAfterItsOwn) {
  const Result<EventRequest> event = encode_for("icx", "BR_MISP_RETIRED:ALL_BRANCHES:upp");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->precise_level, 2);
  EXPECT_TRUE(event->exclude_kernel);
  EXPECT_TRUE(event->exclude_hypervisor);
  EXPECT_EQ(encode_for("icx", "UOPS_RETIRED:SLOTS:c=2:k")->config, 0x020002c2u);
  EXPECT_TRUE(encode_for("icx", "UOPS_RETIRED:SLOTS:c=2:k")->exclude_user);
  // 'e' alone is libpfm4's edge, not perf's exclusive.
  EXPECT_FALSE(encode_for("icx", "UOPS_RETIRED:SLOTS:c=1:e")->exclusive);
  EXPECT_FALSE(encode_for("icx", "UOPS_RETIRED:SLOTS:e"));  // libpfm4: not without c=
}

TEST_F(PfmEvents, UnknownNamesGetTheNearest) {
  const auto says = [](const char* cpu, const char* event, const char* words) {
    const Result<EventRequest> found = encode_for(cpu, event);
    ASSERT_FALSE(found) << cpu << " " << event;
    EXPECT_NE(found.error().message.find(words), std::string::npos) << found.error().message;
  };
  says("icx", "UOPS_RETIRD:STALL_CYCLES", "did you mean UOPS_RETIRED:STALL_CYCLES");
  says("icx", "UOPS_RETIRED:STALL_CYCLE", "UOPS_RETIRED:STALL_CYCLES");
  says("icz", "UOPS_RETIRED:SLOTS", "there is no CPU 'icz'");
  says("icx", "{UOPS_RETIRED:SLOTS}", "is not one event");
  says("spr", "OFFCORE_REQUESTS_OUTSTANDING:L3_MISS_DEMAND_DATA_RD:c=256", "invalid");
  says("skx_unc_imc0", "UNC_M_CAS_COUNT:RD", "on its machine only");
}

TEST_F(PfmEvents, ListsEventsOfAnyCpuWithTheirCodes) {
  const Result<EventList> skx = list_events_of("SKX");
  ASSERT_TRUE(skx);
  size_t found = 0;
  for (const ListedEvent& event : skx->events) {
    if (event.name != "UOPS_RETIRED:STALL_CYCLES") continue;
    ++found;
    EXPECT_EQ(event.codes, std::vector<uint64_t>{0x018002c2});
    EXPECT_FALSE(event.description.empty());
  }
  EXPECT_EQ(found, 1u);
  // Packages have codes, too, though no type here: CAS_COUNT.RD is event 4, mask 3.
  const Result<EventList> imc = list_events_of("skx_unc_imc0");
  ASSERT_TRUE(imc);
  for (const ListedEvent& event : imc->events) {
    if (event.name != "UNC_M_CAS_COUNT:RD") continue;
    EXPECT_EQ(event.codes, std::vector<uint64_t>{0x304});
  }
}

// Arm Neoverse N1 TRM and the POWER9 PMU user's guide.
TEST(CpuTables, EncodeWithoutLibpfm) {
  constexpr Expected kRows[] = {
      {"arm_n1", "CPU_CYCLES", 0x11, 0},
      {"ARM_N1", "stall_backend", 0x24, 0},
      {"arm_v1", "STALL_SLOT", 0x3f, 0},
      {"power9", "PM_RUN_CYC", 0x200f4, 0},
  };
  expect_codes(kRows);
  EXPECT_TRUE(encode_for("arm_n1", "CPU_CYCLES:u")->exclude_kernel);
  const Result<EventRequest> wrong = encode_for("arm_n1", "STALL_FRONTED");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("STALL_FRONTEND"), std::string::npos);
}

}  // namespace
}  // namespace culprit
