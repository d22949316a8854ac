#include "simulate/find_machine.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/program_files.h"

namespace culprit {
namespace {

std::string core_of(const std::string& cpuid) {
  return find_core(find_machines(), cpuid).value().core_of;
}

// Families, models and their cores: AMD's Processor Programming References, Intel's list of
// signatures (Documentation/arch/x86/cpuinfo, intel-family.h).
TEST(FindCore, KnowsCpusByTheirNames) {
  EXPECT_EQ(core_of("AuthenticAMD-25-11-1"), "zen4");         // EPYC 9004
  EXPECT_EQ(core_of("AuthenticAMD-25-61-2"), "zen4");         // Ryzen 7000
  EXPECT_EQ(core_of("AuthenticAMD-26-2-1"), "zen5");          // EPYC 9005
  EXPECT_EQ(core_of("AuthenticAMD-26-44-0"), "zen5");         // Ryzen 9000
  EXPECT_EQ(core_of("GenuineIntel-6-8F-8"), "golden-cove");   // Sapphire Rapids
  EXPECT_EQ(core_of("GenuineIntel-6-AD-1"), "redwood-cove");  // Granite Rapids
  EXPECT_EQ(core_of("GenuineIntel-6-3E-4"), "ivy-bridge-ep");
}

TEST(FindCore, SaysThatACoreIsOnlyTheNearest) {
  EXPECT_EQ(core_of("AuthenticAMD-25-1-1"), "zen4, the nearest known");  // Zen 3
  EXPECT_EQ(core_of("AuthenticAMD-23-31-0"), "zen4, the nearest known");
  EXPECT_EQ(core_of("GenuineIntel-6-55-7"), "golden-cove, the nearest known");
  EXPECT_EQ(core_of("GenuineIntel-6-2D-7"), "ivy-bridge-ep, the nearest known");
}

TEST(FindCore, HasACommonOneForAllOthers) {
  const simulate::MachineModel machine = find_core(find_machines(), "HygonGenuine-24-0-1").value();
  EXPECT_EQ(machine.core_of, "none that is known");
  EXPECT_EQ(machine.name, simulate::MachineModel().name);
  EXPECT_EQ(core_of(""), "none that is known");
}

TEST(FindCore, SaysWhichFileCannotBeRead) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  std::ofstream(folder.path() + "/broken.toml") << "[machine\n";
  const Result<simulate::MachineModel> machine = find_core(folder.path(), "AuthenticAMD-25-11-1");
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message.find("broken.toml"), std::string::npos);
}

// Firecracker's guests, for one, have no folder for caches.
TEST(FindHost, HasTheCachesOfItsKinWhereNoneAreDescribed) {
  const TemporaryFolder sysfs = *TemporaryFolder::make();
  const simulate::MachineModel kin = find_machine("zen5", find_machines()).value();
  const Result<simulate::MachineModel> host =
      find_host(sysfs.path(), find_machines(), "AuthenticAMD-26-2-1");
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->name, "host");
  EXPECT_EQ(host->caches_of, "zen5");
  EXPECT_EQ(host->l1d.size_bytes, kin.l1d.size_bytes);
  EXPECT_EQ(host->l2.size_bytes, kin.l2.size_bytes);
  EXPECT_EQ(host->l3.size_bytes, kin.l3.size_bytes);
  EXPECT_FALSE(find_host(sysfs.path(), find_machines(), "HygonGenuine-24-0-1"));
}

TEST(FindHost, HasItsOwnCachesWhereTheyAre) {
  const TemporaryFolder sysfs = *TemporaryFolder::make();
  const std::string caches = sysfs.path() + "/devices/system/cpu/cpu0/cache/index";
  const auto add = [&](int index, const char* level, const char* type, const char* size) {
    const std::string folder = caches + std::to_string(index);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/level") << level << '\n';
    std::ofstream(folder + "/type") << type << '\n';
    std::ofstream(folder + "/size") << size << '\n';
    std::ofstream(folder + "/ways_of_associativity") << "8\n";
    std::ofstream(folder + "/coherency_line_size") << "64\n";
  };
  add(0, "1", "Data", "32K");
  add(1, "1", "Instruction", "32K");
  add(2, "2", "Unified", "512K");
  const Result<simulate::MachineModel> host =
      find_host(sysfs.path(), find_machines(), "AuthenticAMD-26-2-1");
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->caches_of, "");
  EXPECT_EQ(host->core_of, "zen5");
  EXPECT_EQ(host->l2.size_bytes, 512u << 10);
}

}  // namespace
}  // namespace culprit
