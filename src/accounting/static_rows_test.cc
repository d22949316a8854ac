#include "accounting/static_rows.h"

#include <gtest/gtest.h>

#include "accounting/cost_tree.h"
#include "accounting/event_match.h"
#include "accounting/test_template.h"
#include "base/test_folders.h"
#include "model/engine.h"
#include "model/static_events.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

/// A profile of these events, each counted somewhere: names and engines.
Profile profile_of(const std::vector<std::string>& names) {
  Profile profile;
  for (const std::string& name : names) {
    Event event;
    event.name = profile.strings.intern(name);
    const bool is_static = name.starts_with("static:");
    event.engine = profile.strings.intern(word_of(is_static ? Engine::static_model : Engine::pmu));
    event.encoding = profile.strings.intern("");
    event.provenance = is_static ? Provenance::modelled : Provenance::sampled;
    profile.events.push_back(event);
  }
  profile.histograms.resize(1);
  return profile;
}

Template shipped(const std::string& name) {
  Result<Template> cpu = find_template(name, source_folder() + "/data/templates");
  EXPECT_TRUE(cpu);
  return cpu ? *std::move(cpu) : Template();
}

CostTree tree_of(const Template& cpu, const Profile& profile, const std::vector<double>& values) {
  std::vector<Estimate> estimates;
  for (const double value : values) estimates.push_back({value, 0});
  return make_cost_tree(cpu, match_events(profile, cpu).amounts(estimates));
}

const std::vector<std::string> kStatic{"cycles",        "instructions",        "static:busy-A",
                                       "static:busy-B", "static:chain-cycles", "static:calls"};

// Zen 4 has no event of ports and none of chains: the busiest of both, and the chains.
TEST(StaticRows, StandInForMissingEvents) {
  const Profile profile = profile_of(kStatic);
  const Template bare = shipped("zen4");
  EXPECT_TRUE(needs_static_model(bare, profile));
  const Template cpu = with_static_rows(bare, profile, {0.97, 0.5});
  const CostTree tree = tree_of(cpu, profile, {1000, 2000, 300, 400, 120, 7});
  const CostNode& ports = *tree.find(CostBranch::port_saturation);
  EXPECT_EQ(ports.cycles->value, 400);
  EXPECT_EQ(ports.provenance, Provenance::modelled);
  EXPECT_EQ(ports.state, NodeState::partly_measured);
  EXPECT_NE(ports.reason.find("97 % of the executed instructions"), std::string::npos);
  const CostNode& chains = *tree.find(CostBranch::instruction_serialization);
  EXPECT_EQ(chains.cycles->value, 120);
  EXPECT_EQ(chains.provenance, Provenance::modelled);
  EXPECT_NE(chains.reason.find("50 %"), std::string::npos);
  EXPECT_FALSE(tree_of(bare, profile, {1000, 2000, 300, 400, 120, 7})
                   .find(CostBranch::port_saturation)
                   ->cycles);
}

// Ports that were counted need no model; chains do, as no event is of them.
TEST(StaticRows, LeaveCountedPortsAlone) {
  const Profile profile =
      profile_of({"cycles", "UOPS_DISPATCHED:PORT_0", "static:busy-A", "static:chain-cycles"});
  const Template cpu = with_static_rows(shipped("skylake-sp"), profile, {1, 1});
  const CostTree tree = tree_of(cpu, profile, {1000, 200, 900, 120});
  EXPECT_EQ(tree.find(CostBranch::port_saturation)->cycles->value, 200);
  EXPECT_EQ(tree.find(CostBranch::instruction_serialization)->cycles->value, 120);
}

// The simulated core tells all of it itself, and IBM's ports are nobody's model.
TEST(StaticRows, AreForWhoNeedsThem) {
  EXPECT_FALSE(needs_static_model(shipped("simulated-core"), profile_of(kStatic)));
  EXPECT_FALSE(needs_static_model(shipped("power9"), profile_of(kStatic)));
  Profile counts = profile_of(kStatic);
  counts.histograms.clear();
  EXPECT_FALSE(needs_static_model(shipped("zen4"), counts));
}

// Table 8's 3 cycles per call, where no event counts calls.
TEST(StaticRows, CallsByTheCode) {
  Template cpu = shipped("zen4");
  TemplateFormula calls;
  calls.formula = Formula::call_overhead;
  calls.branch = CostBranch::function_call_overhead;
  calls.label = "calls";
  calls.role = Role::sum;
  cpu.formulas = {calls};
  cpu.rows = {cpu.rows.front()};
  const Profile profile = profile_of(kStatic);
  const CostTree tree =
      tree_of(with_static_rows(cpu, profile, {1, 1}), profile, {1000, 2000, 300, 400, 120, 7});
  EXPECT_EQ(tree.find(CostBranch::function_call_overhead)->cycles->value, 21);
}

// No event of the model is listed as one that the user added.
TEST(StaticRows, AreNotBesideTheTree) {
  const Profile profile = profile_of(kStatic);
  EXPECT_TRUE(match_events(profile, shipped("skylake-sp")).others().empty());
}

}  // namespace
}  // namespace culprit
