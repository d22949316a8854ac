#include "events/pmu_catalog.h"

#include <gtest/gtest.h>

#include "events/test_sysfs.h"

namespace culprit {
namespace {

TEST(PmuCatalog, ReadsTypesFormatsAndEvents) {
  const PmuCatalog catalog = MadeSysfs::server();
  const Pmu* cpu = catalog.find("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->type, 4u);
  EXPECT_TRUE(cpu->is_core);
  EXPECT_FALSE(cpu->is_per_cpu_only);
  EXPECT_TRUE(cpu->cpus.empty());
  EXPECT_EQ(cpu->formats.at("ldlat").config, 1u);
  EXPECT_EQ(cpu->formats.at("umask").max_value(), 0xffu);
  EXPECT_EQ(cpu->formats.at("offcore_rsp").max_value(), UINT64_MAX);
  EXPECT_EQ(cpu->events.at("mem-loads").terms, "event=0xcd,umask=0x1,ldlat=3");
}

TEST(PmuCatalog, ReadsScalesUnitsAndCpusOfPackages) {
  const PmuCatalog catalog = MadeSysfs::server();
  const Pmu* power = catalog.find("power");
  ASSERT_NE(power, nullptr);
  EXPECT_EQ(power->events.size(), 1u);  // .scale and .unit are no events
  EXPECT_EQ(power->events.at("energy-pkg").unit, "Joules");
  EXPECT_DOUBLE_EQ(power->events.at("energy-pkg").scale, 2.3283064365386962890625e-10);
  EXPECT_TRUE(power->is_per_cpu_only);
  EXPECT_EQ(catalog.find("uncore_imc_1")->cpus, (std::vector<int>{0, 2}));
}

TEST(PmuCatalog, KnowsWhichCpusAKindOfCoreHas) {
  const PmuCatalog hybrid = MadeSysfs::hybrid();
  ASSERT_EQ(hybrid.core_pmus().size(), 2u);
  EXPECT_EQ(hybrid.find("cpu_atom")->cpus, (std::vector<int>{2, 3}));
  // All that are online: no list.
  const PmuCatalog arm = MadeSysfs::arm();
  EXPECT_TRUE(arm.find("armv8_pmuv3_0")->is_core);
  EXPECT_TRUE(arm.find("armv8_pmuv3_0")->cpus.empty());
}

TEST(PmuCatalog, SplitFieldsKeepTheirRangesInOrder) {
  MadeSysfs made;
  made.add_pmu("cpu", 4);
  made.add_format("cpu", "event", "config:0-7,32-35");  // AMD's
  const PmuCatalog catalog = made.read();
  const TermFormat& event = catalog.find("cpu")->formats.at("event");
  ASSERT_EQ(event.ranges.size(), 2u);
  EXPECT_EQ(event.ranges[1].first, 32u);
  EXPECT_EQ(event.max_value(), 0xfffu);
}

TEST(PmuCatalog, LeavesOutWhatIsOdd) {
  MadeSysfs made;
  made.add_pmu("good", 7);
  for (const char* text : {"config:5-3", "config:0-64", "config4:0", "config:", "config:a", "",
                           "config:99999999999999999999", "config:0-7,"}) {
    made.add_format("good", "x", text);
    EXPECT_TRUE(made.read().find("good")->formats.empty()) << text;
  }
  made.write("bus/event_source/devices/no_type/format/event", "config:0-7");
  made.write("bus/event_source/devices/bad_type/type", "minus one\n");
  made.write("bus/event_source/devices/huge_type/type", "99999999999\n");
  made.add_cpus("good", "cpumask", "0-999999999");
  const PmuCatalog catalog = made.read();
  ASSERT_EQ(catalog.pmus.size(), 1u);
  EXPECT_TRUE(catalog.pmus[0].cpus.empty());
}

TEST(PmuCatalog, AsksTracefsOnlyWhenATracepointIsNamed) {
  const PmuCatalog catalog = MadeSysfs::server();
  EXPECT_EQ(catalog.list_tracepoints().size(), 0u);  // its folder is gone by now
  MadeSysfs made;
  made.add_kernel_pmus();
  const PmuCatalog living = made.read();
  EXPECT_EQ(*living.tracepoint_id("sched", "sched_switch"), 314u);
  EXPECT_FALSE(living.tracepoint_id("sched", "../sched/sched_switch"));
  EXPECT_FALSE(living.tracepoint_id("sched", "absent"));
  EXPECT_EQ(living.list_tracepoints(),
            (std::vector<std::string>{"sched:sched_switch", "sched:sched_wakeup"}));
}

TEST(PmuCatalog, SaysThatThereIsNoSysfs) {
  const auto catalog = read_pmu_catalog("/nonexistent");
  ASSERT_FALSE(catalog);
  EXPECT_NE(catalog.error().message.find("/nonexistent/bus/event_source/devices"),
            std::string::npos);
}

}  // namespace
}  // namespace culprit
