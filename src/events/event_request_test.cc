// Expected numbers: linux/perf_event.h (types and ids of generic events), the format files
// of test_sysfs.h worked out by hand, and perf's meaning of modifiers (tests/events_test.py
// compares those with perf itself).

#include "events/event_request.h"

#include <gtest/gtest.h>

#include "events/test_sysfs.h"

namespace culprit {
namespace {

Result<std::vector<EventGroup>> parse(const std::string& spec, const PmuCatalog& catalog) {
  return parse_events(std::span(&spec, 1), catalog);
}

/// The only event that `spec` stands for.
EventRequest one(const std::string& spec, const PmuCatalog& catalog) {
  const auto groups = parse(spec, catalog);
  EXPECT_TRUE(groups) << groups.error().message;
  if (!groups || groups->size() != 1 || (*groups)[0].members.size() != 1) {
    ADD_FAILURE() << spec << " is not one event";
    return {};
  }
  return (*groups)[0].members[0];
}

class EventRequests : public ::testing::Test {
 protected:
  [[nodiscard]] EventRequest one(const std::string& spec) const {
    return culprit::one(spec, server_);
  }
  PmuCatalog server_ = MadeSysfs::server();
};

struct Known {
  const char* name;
  uint32_t type;
  uint64_t config;
};

TEST_F(EventRequests, GenericNamesHaveTheKernelsNumbers) {
  constexpr Known kKnown[] = {
      {"cycles", 0, 0},
      {"cpu-cycles", 0, 0},
      {"instructions", 0, 1},
      {"cache-references", 0, 2},
      {"branches", 0, 4},
      {"branch-instructions", 0, 4},
      {"ref-cycles", 0, 9},
      {"idle-cycles-backend", 0, 8},
      {"task-clock", 1, 1},
      {"faults", 1, 2},
      {"cs", 1, 3},
      {"cgroup-switches", 1, 11},
      // cache | operation << 8 | outcome << 16
      {"L1-dcache-loads", 3, 0x00000},
      {"L1-dcache-load-misses", 3, 0x10000},
      {"l1d-misses-store", 3, 0x10100},
      {"LLC-prefetches", 3, 0x00202},
      {"dTLB-store-misses", 3, 0x10103},
      {"iTLB-loads", 3, 0x00004},
      {"branch-load-misses", 3, 0x10005},
      {"node-prefetch-misses", 3, 0x10206},
      {"L1-icache-speculative-load", 3, 0x00201},
  };
  for (const Known& known : kKnown) {
    const EventRequest event = one(known.name);
    EXPECT_EQ(event.type, known.type) << known.name;
    EXPECT_EQ(event.config, known.config) << known.name;
    EXPECT_EQ(event.name, known.name);
    EXPECT_TRUE(event.exclude_guest) << known.name;
    EXPECT_FALSE(event.exclude_kernel) << known.name;
  }
  EXPECT_EQ(one("task-clock").unit, "ns");
  EXPECT_EQ(one("cycles").pmu, "cpu");
}

TEST_F(EventRequests, CachesThatTheKernelHasNoNumberForAreUnknown) {
  for (const char* name : {"L1-icache-stores", "iTLB-prefetches", "branch-stores", "L1-dcache-",
                           "L1-dcache-loads-loads", "LLC-misses-refs"}) {
    EXPECT_FALSE(parse(name, server_)) << name;
  }
}

TEST_F(EventRequests, TermsGoWhereFormatFilesSay) {
  const EventRequest event = one("cpu/event=0xc2,umask=0x02,cmask=10,inv,edge=1/u");
  EXPECT_EQ(event.type, 4u);
  EXPECT_EQ(event.config, 0x0a8402c2u);  // 10 << 24 | inv 1 << 23 | edge 1 << 18 | 02 | c2
  EXPECT_TRUE(event.exclude_kernel);
  const EventRequest latency = one("cpu/mem-loads,ldlat=30/pp");
  EXPECT_EQ(latency.config, 0x1cdu);
  EXPECT_EQ(latency.config1, 30u);  // replaces the 3 of events/mem-loads
  EXPECT_EQ(latency.precise_level, 2u);
  EXPECT_EQ(one("cpu/config=0x1c2,config1=7,config2=9/").config2, 9u);
  EXPECT_EQ(one("cpu/r1a2/").config, 0x1a2u);
  EXPECT_EQ(one("r1a2").config, 0x1a2u);
  EXPECT_EQ(one("r0x1a2:k").type, 4u);
}

TEST_F(EventRequests, NameAndPeriodComeFromTerms) {
  const EventRequest event = one("cpu/event=0xc0,name=insts,period=1000/p");
  EXPECT_EQ(event.name, "insts");
  EXPECT_EQ(event.period, 1000u);
  EXPECT_EQ(one("cycles/freq=99/u").frequency_hz, 99u);
}

TEST(EventRequest, SplitFieldsTakeLowBitsFirst) {
  MadeSysfs made;
  made.add_pmu("cpu", 4);
  made.add_format("cpu", "event", "config:0-7,32-35");
  made.add_format("cpu", "umask", "config:8-15");
  const PmuCatalog amd = made.read();
  // Zen 4's RETIRED_UCODE_INSTRUCTIONS is event 0x1c1.
  EXPECT_EQ(one("cpu/event=0x1c1/", amd).config, 0x1000000c1u);
  EXPECT_FALSE(parse("cpu/event=0x1000/", amd));
}

TEST_F(EventRequests, NamedEventsCarryUnitScaleAndCpus) {
  const EventRequest energy = one("power/energy-pkg/");
  EXPECT_EQ(energy.config, 2u);
  EXPECT_EQ(energy.unit, "Joules");
  EXPECT_DOUBLE_EQ(energy.scale, 2.3283064365386962890625e-10);
  EXPECT_FALSE(energy.exclude_guest);  // the kernel's power driver refuses any exclusion
  EXPECT_TRUE(energy.is_per_cpu_only);
  EXPECT_EQ(energy.cpus, std::vector<int>{0});
  EXPECT_EQ(one("energy-pkg").pmu, "power");  // without its PMU
}

TEST_F(EventRequests, OneNameForAllBoxesGivesOneEventEach) {
  for (const char* spec : {"uncore_imc/cas_count_read/", "imc/cas_count_read/",
                           "uncore_imc_*/cas_count_read/", "cas_count_read"}) {
    const auto groups = parse(spec, server_);
    ASSERT_TRUE(groups) << groups.error().message;
    ASSERT_EQ(groups->size(), 2u) << spec;
    EXPECT_EQ((*groups)[0].members[0].type, 20u);
    EXPECT_EQ((*groups)[1].members[0].type, 21u);
    EXPECT_EQ((*groups)[1].members[0].config, 0x304u);
  }
  EXPECT_EQ(one("uncore_imc_1/event=4/").type, 21u);
}

TEST(EventRequest, HybridCpusGetTheirPmusType) {
  const PmuCatalog hybrid = MadeSysfs::hybrid();
  const auto cycles = parse("cycles:u", hybrid);
  ASSERT_TRUE(cycles);
  ASSERT_EQ(cycles->size(), 2u);
  EXPECT_EQ((*cycles)[0].members[0].pmu, "cpu_atom");
  EXPECT_EQ((*cycles)[0].members[0].config, 10ull << 32);
  EXPECT_EQ((*cycles)[0].members[0].type, 0u);
  EXPECT_EQ((*cycles)[0].members[0].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ((*cycles)[1].members[0].config, 4ull << 32);
  // Raw codes and "cpu/…/" have no generic type: they go to each PMU's own.
  for (const char* spec : {"r1c2", "cpu/event=0xc2,umask=1/"}) {
    const auto raw = parse(spec, hybrid);
    ASSERT_TRUE(raw) << spec;
    ASSERT_EQ(raw->size(), 2u) << spec;
    EXPECT_EQ((*raw)[0].members[0].type, 10u) << spec;
    EXPECT_EQ((*raw)[0].members[0].config, 0x1c2u) << spec;
  }
  EXPECT_EQ(one("cpu_core/r3/", hybrid).type, 4u);
}

// The Arm machine of the tests lists inst_retired, 0x08, only: 0x10 (BR_MIS_PRED) is then not in
// its PMCEID0_EL0. Numbers from 0x40 on are the maker's, of which nothing is known.
TEST(EventRequest, ArmEventsThatTheCpuDoesNotImplementAreKnown) {
  const PmuCatalog arm = MadeSysfs::arm();
  EXPECT_FALSE(one("r08", arm).is_absent);
  EXPECT_FALSE(one("inst_retired", arm).is_absent);
  EXPECT_TRUE(one("r10", arm).is_absent);
  EXPECT_TRUE(one("armv8_pmuv3_0/event=0x10/u", arm).is_absent);
  EXPECT_FALSE(one("r40", arm).is_absent);
  EXPECT_FALSE(one("branch-misses", arm).is_absent);  // number 5 of another list: the kernel says
  EXPECT_FALSE(one("r10", MadeSysfs::server()).is_absent);
}

// A laptop's perf 5.15 recorded `-e cycles:ppp` into hybrid_topology of the files that perf.data
// is tested on; its attributes are printed by
//   perf report --header-only -i pdc__perf.data.hybrid_topology | grep '^# event'
// cpu_core has type 4 there and cpu_atom type 7.
TEST(EventRequest, HybridCyclesAreWhatPerfSentOnSuchAMachine) {
  MadeSysfs made;
  made.write("devices/system/cpu/online", "0-11\n");
  made.add_kernel_pmus();
  made.add_intel_core("cpu_core", 4);
  made.add_cpus("cpu_core", "cpus", "0-3");
  made.add_intel_core("cpu_atom", 7);
  made.add_cpus("cpu_atom", "cpus", "4-11");
  const auto groups = parse("cycles:ppp", made.read());
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 2u);
  const EventRequest& atom = (*groups)[0].members[0];
  const EventRequest& core = (*groups)[1].members[0];
  EXPECT_EQ(core.config, 0x400000000u);
  EXPECT_EQ(atom.config, 0x700000000u);
  EXPECT_EQ(core.cpus.size(), 4u);  // as many identifiers as that event has in the file
  EXPECT_EQ(atom.cpus.size(), 8u);
  for (const EventRequest& event : {atom, core}) {
    EXPECT_EQ(event.type, 0u);
    EXPECT_EQ(event.precise_level, 3);
    EXPECT_TRUE(event.exclude_guest);
    EXPECT_FALSE(event.exclude_host);
  }
}

TEST(EventRequest, GroupsOverSeveralPmusAreSplitByPmu) {
  const PmuCatalog hybrid = MadeSysfs::hybrid();
  const auto groups = parse("{cycles,task-clock,instructions}:u", hybrid);
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 2u);
  ASSERT_EQ((*groups)[0].members.size(), 3u);  // the kernel's own go with the first
  ASSERT_EQ((*groups)[1].members.size(), 2u);
  EXPECT_EQ((*groups)[1].members[0].pmu, (*groups)[1].members[1].pmu);
  const auto mixed = parse("{cpu_core/r1/,cpu_atom/r2/}", hybrid);
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().message.find("mixes cpu_core and cpu_atom"), std::string::npos);
}

TEST(EventRequest, ArmPmusAreCoresToo) {
  const PmuCatalog arm = MadeSysfs::arm();
  EXPECT_EQ(one("cycles", arm).pmu, "armv8_pmuv3_0");
  EXPECT_EQ(one("cycles", arm).config, 0u);
  EXPECT_EQ(one("inst_retired:u", arm).type, 8u);
  EXPECT_EQ(one("inst_retired:u", arm).config, 8u);
  EXPECT_EQ(one("armv8_pmuv3_0/event=0x11,long/", arm).config1, 1u);
  EXPECT_EQ(one("r11", arm).type, 4u);  // PERF_TYPE_RAW reaches the only core PMU
}

TEST_F(EventRequests, BreakpointsAndTracepoints) {
  const EventRequest watch = one("mem:0x1000/8:w:u");
  EXPECT_EQ(watch.type, 5u);
  EXPECT_EQ(watch.breakpoint_type, 2u);  // HW_BREAKPOINT_W
  EXPECT_EQ(watch.config1, 0x1000u);
  EXPECT_EQ(watch.config2, 8u);
  EXPECT_TRUE(watch.exclude_kernel);
  EXPECT_EQ(one("mem:4096").breakpoint_type, 3u);
  EXPECT_EQ(one("mem:0x1000:x").config2, sizeof(long));
  EXPECT_TRUE(one("mem:0x1000:u").exclude_kernel);
  for (const char* spec :
       {"mem:", "mem:x", "mem:0x1000/0", "mem:0x1000/9", "mem:0x1000:rr", "mem:0x1000:rw:u:k"}) {
    EXPECT_FALSE(parse(spec, server_)) << spec;
  }
  MadeSysfs made;
  made.add_kernel_pmus();
  const PmuCatalog living = made.read();
  const EventRequest tracepoint = culprit::one("sched:sched_switch:k", living);
  EXPECT_EQ(tracepoint.type, 2u);
  EXPECT_EQ(tracepoint.config, 314u);
  EXPECT_TRUE(tracepoint.exclude_user);
}

TEST_F(EventRequests, RawBitsThatNoFormatHasAreNoted) {
  EXPECT_EQ(one("r1c2").note, "");
  EXPECT_EQ(one("r101c2").note,
            "bits 0x10000 of config are in no format of PMU cpu: the kernel may refuse them");
}

}  // namespace
}  // namespace culprit
