// The tables of the paper, with its own variant of the Ivy Bridge template.
// Source: A. Nowak, D. Levinthal, W. Zwaenepoel, Hierarchical Cycle Accounting, ISPASS 2015.

#include <gtest/gtest.h>
#include <map>

#include "accounting/consistency.h"
#include "accounting/cost_tree.h"
#include "accounting/test_template.h"
#include "base/test_folders.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

using Counts = std::vector<std::pair<std::string, double>>;

class Paper : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Template> cpu =
        read_template(source_folder() + "/data/templates/ivy-bridge-ep-paper.toml");
    ASSERT_TRUE(cpu) << cpu.error().message;
    cpu_ = *std::move(cpu);
  }
  CostTree tree(const Counts& counts) { return make_cost_tree(cpu_, made_amounts(cpu_, counts)); }
  /// A share is in percent of the unhalted cycles.
  static double share(const CostTree& tree, CostBranch branch) {
    const CostNode* node = tree.find(branch);
    return node->cycles ? 100 * node->cycles->value / tree.unhalted.cycles->value : -1;
  }
  static double share(const CostTree& tree, CostBranch branch, const std::string& label) {
    const std::vector<CostNode>* parts = &tree.find(branch)->parts;
    for (const CostNode& part : *parts) {
      for (const CostNode& row : part.parts) {
        if (row.label == label) return 100 * row.cycles->value / tree.unhalted.cycles->value;
      }
      if (part.label == label) return 100 * part.cycles->value / tree.unhalted.cycles->value;
    }
    return -1;
  }
  const TemplateRow* row(const std::string& event) {
    for (const TemplateRow& one : cpu_.rows) {
      if (one.event == event) return &one;
    }
    return nullptr;
  }
  Template cpu_;
};

TEST_F(Paper, Table1Penalties) {
  const std::pair<const char*, double> kPenalties[] = {
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_NONE", 52},
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_HIT", 75},
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_MISS", 75},
      {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_HITM", 85},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 200},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 400},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_FWD", 325},
      {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_HITM", 400},
      {"DTLB_LOAD_MISSES:DEMAND_LD_WALK_COMPLETED", 7},
      {"DTLB_LOAD_MISSES:DEMAND_LD_WALK_DURATION", 1}};
  for (const auto& [event, penalty] : kPenalties) {
    ASSERT_NE(row(event), nullptr) << event;
    EXPECT_EQ(row(event)->penalty.value, penalty) << event;
    EXPECT_EQ(row(event)->role, Role::sum) << event;
    EXPECT_EQ(row(event)->branch, CostBranch::load_latency) << event;
  }
  // "L2 cache hits and second level TLB hits are not used."
  EXPECT_NE(row("MEM_LOAD_UOPS_RETIRED:L2_HIT")->role, Role::sum);
  EXPECT_NE(row("DTLB_LOAD_MISSES:STLB_HIT")->role, Role::sum);
}

TEST_F(Paper, Tables7And8Metrics) {
  const CostTree all = tree({{"UNHALTED_CORE_CYCLES", 100000},
                             {"UOPS_RETIRED:STALL_CYCLES", 60000},
                             {"UOPS_RETIRED:ANY:c=1", 40000},
                             {"UOPS_DISPATCHED_PORT:PORT_0", 7000},
                             {"UOPS_DISPATCHED_PORT:PORT_1", 9000},
                             {"UOPS_DISPATCHED_PORT:PORT_5", 8000},
                             {"BR_INST_RETIRED:NEAR_CALL", 500},
                             {"IDQ:MS_UOPS_CYCLES", 600},
                             {"OFFCORE_REQUESTS_OUTSTANDING:ALL_DATA_RD:c=6", 700},
                             {"RS_EVENTS:EMPTY_CYCLES", 800},
                             {"ARITH:FPU_DIV_ACTIVE", 900},
                             {"RESOURCE_STALLS:SB", 1000},
                             {"BACLEARS:ANY", 10},
                             {"BR_MISP_RETIRED:ALL_BRANCHES", 20},
                             {"UOPS_ISSUED:ANY", 9000},
                             {"UOPS_RETIRED:RETIRE_SLOTS", 6000},
                             {"UOPS_ISSUED:ANY:c=1", 3000}});
  const auto cycles = [&](CostBranch branch) { return all.find(branch)->cycles->value; };
  EXPECT_EQ(cycles(CostBranch::stalled), 60000);
  EXPECT_EQ(cycles(CostBranch::unstalled), 40000);
  EXPECT_EQ(cycles(CostBranch::port_saturation), 9000);
  EXPECT_EQ(cycles(CostBranch::function_call_overhead), 3 * 500);
  EXPECT_EQ(cycles(CostBranch::microcode_exceptions), 600);
  EXPECT_EQ(cycles(CostBranch::bandwidth_saturation), 700);
  EXPECT_EQ(cycles(CostBranch::instruction_starvation), 800);
  EXPECT_EQ(cycles(CostBranch::instruction_latency), 900);
  EXPECT_EQ(cycles(CostBranch::store_resource_saturation), 1000);
  // Issued and not retired, at 3 a cycle.
  EXPECT_EQ(cycles(CostBranch::branch_misprediction), 6 * (10 + 20) + (9000 - 6000) / 3);
  EXPECT_EQ(all.find(CostBranch::instruction_serialization)->state, NodeState::not_covered);
  EXPECT_EQ(all.find(CostBranch::multithread_collisions)->state, NodeState::not_covered);
}

/// The walker kernel. Counts that are the printed shares of 100 M cycles: 4 % in L3 at 52 cycles
/// a load, 26 % in local DRAM at 200, 53 % in remote DRAM at 400; the rest of its 87 % is pages.
TEST_F(Paper, Table2Walker) {
  const CostTree walker = tree({{"UNHALTED_CORE_CYCLES", 100e6},
                                {"OFFCORE_REQUESTS_OUTSTANDING:ALL_DATA_RD:c=6", 13e6},
                                {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_NONE", 76923},
                                {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 130000},
                                {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 132500},
                                {"DTLB_LOAD_MISSES:DEMAND_LD_WALK_COMPLETED", 100000},
                                {"DTLB_LOAD_MISSES:DEMAND_LD_WALK_DURATION", 3300000}});
  EXPECT_NEAR(share(walker, CostBranch::bandwidth_saturation), 13, 0.01);
  EXPECT_NEAR(share(walker, CostBranch::load_latency), 87, 0.01);
  EXPECT_NEAR(share(walker, CostBranch::load_latency, "L3"), 4, 0.01);
  EXPECT_NEAR(share(walker, CostBranch::load_latency, "local DRAM"), 26, 0.01);
  EXPECT_NEAR(share(walker, CostBranch::load_latency, "remote DRAM"), 53, 0.01);
  EXPECT_NEAR(share(walker, CostBranch::load_latency, "DTLB"), 4, 0.01);
}

/// OmnetPP: its branches exceed what is stalled, and the overlap is shown.
TEST_F(Paper, Table3Omnetpp) {
  const CostTree omnetpp = tree({{"UNHALTED_CORE_CYCLES", 100e6},
                                 {"UOPS_RETIRED:STALL_CYCLES", 80e6},
                                 {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 235000},
                                 {"RS_EVENTS:EMPTY_CYCLES", 9e6},
                                 {"OFFCORE_REQUESTS_OUTSTANDING:ALL_DATA_RD:c=6", 19e6},
                                 {"RESOURCE_STALLS:SB", 15e6},
                                 {"BR_MISP_RETIRED:ALL_BRANCHES", 1e6},
                                 {"BACLEARS:ANY", 0},
                                 {"UOPS_ISSUED:ANY", 0},
                                 {"UOPS_RETIRED:RETIRE_SLOTS", 0}});
  EXPECT_NEAR(share(omnetpp, CostBranch::load_latency), 47, 0.01);
  EXPECT_NEAR(share(omnetpp, CostBranch::instruction_starvation), 9, 0.01);
  EXPECT_NEAR(share(omnetpp, CostBranch::bandwidth_saturation), 19, 0.01);
  EXPECT_NEAR(share(omnetpp, CostBranch::store_resource_saturation), 15, 0.01);
  EXPECT_NEAR(share(omnetpp, CostBranch::branch_misprediction), 6, 0.01);
  EXPECT_NEAR(omnetpp.overlap->value, 16e6, 1);  // 96 % in branches, 80 % stalled
}

/// The physics simulation: an empty scheduler is 15 %, nothing delivered would say 40 %; what
/// code reads took informs, and is no part of the branch.
TEST_F(Paper, Tables4And5Simulation) {
  const CostTree simulation = tree({{"UNHALTED_CORE_CYCLES", 100e6},
                                    {"RS_EVENTS:EMPTY_CYCLES", 15e6},
                                    {"IDQ_UOPS_NOT_DELIVERED:CORE:c=4", 40e6},
                                    {"L2_RQSTS:CODE_RD_MISS", 242424},  // x 33: 8 %
                                    {"L2_RQSTS:CODE_RD_HIT", 1687500},  // x 8: 13.5 %
                                    {"MEM_LOAD_LLC_HIT_RETIRED:XSNP_NONE", 268000},
                                    {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 200},
                                    {"BR_MISP_RETIRED:ALL_BRANCHES", 2e6}});
  EXPECT_NEAR(share(simulation, CostBranch::instruction_starvation), 15, 0.01);
  EXPECT_NEAR(share(simulation, CostBranch::load_latency), 14, 0.03);
  EXPECT_NEAR(share(simulation, CostBranch::branch_misprediction), 12, 0.01);
  EXPECT_NEAR(share(simulation, CostBranch::load_latency, "local DRAM"), 0.04, 0.001);
  for (const CostNode& part : simulation.find(CostBranch::instruction_starvation)->parts) {
    if (part.label == "code reads") {
      EXPECT_FALSE(part.in_sum);
    }
    if (part.row != nullptr && part.row->event == "IDQ_UOPS_NOT_DELIVERED:CORE:c=4") {
      EXPECT_FALSE(part.in_sum);
      EXPECT_NEAR(part.cycles->value, 40e6, 1);
    }
  }
}

/// Hyper-Threading on: most of the loads from local DRAM leak to the other thread's counter.
TEST_F(Paper, Table6LeakBreaksARule) {
  const auto check = [&](double local_dram) {
    const RowAmounts amounts =
        made_amounts(cpu_, {{"MEM_LOAD_UOPS_RETIRED:L3_MISS", 33.8e6},
                            {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", local_dram},
                            {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0},
                            {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_HITM", 0},
                            {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_FWD", 0}});
    std::vector<RuleResult> results = check_rules(cpu_, amounts);
    EXPECT_EQ(results.size(), 1u);
    return results.at(0);
  };
  EXPECT_FALSE(check(33.8e6).is_broken);  // off
  const RuleResult on = check(5.1e6);
  EXPECT_TRUE(on.is_broken);
  EXPECT_NE(on.rule->meaning.find("BT243"), std::string::npos);
}

}  // namespace
}  // namespace culprit
