#include "simulate/machine/machine.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/test_folders.h"
#include "simulate/machine/hierarchy.h"

namespace culprit::simulate {
namespace {

std::string error_of(const std::string& toml) {
  const Result<MachineModel> machine = parse_machine(toml, "m.toml");
  return machine ? "none" : machine.error().message;
}

TEST(MachineModel, ShippedFilesDescribeMachinesThatCanBeSimulated) {
  for (const char* name : {"zen4", "ivy-bridge-ep", "small-core"}) {
    const Result<MachineModel> machine =
        read_machine(source_folder() + "/data/uarch/" + name + ".toml");
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->name, name);
    EXPECT_TRUE(Hierarchy::make(*machine));
  }
}

// Intel's manual 248966, table 2-19, and AMD's 57647: sets = size / ways / line.
TEST(MachineModel, FilesGiveTheSetsOfTheRealMachines) {
  const Result<MachineModel> ivy = read_machine(source_folder() + "/data/uarch/ivy-bridge-ep.toml");
  ASSERT_TRUE(ivy);
  EXPECT_EQ(compute_sets(ivy->l1d, 64), 64U);
  EXPECT_EQ(compute_sets(ivy->l2, 64), 512U);
  EXPECT_EQ(compute_sets(ivy->l3, 64), 12U * 2048);  // 2048 in each of 12 slices
  EXPECT_EQ(ivy->l3.inclusion, Inclusion::inclusive);
  const Result<MachineModel> zen = read_machine(source_folder() + "/data/uarch/zen4.toml");
  ASSERT_TRUE(zen);
  EXPECT_EQ(compute_sets(zen->l2, 64), 2048U);
  EXPECT_EQ(zen->l3.inclusion, Inclusion::victim);
}

TEST(MachineModel, KeysThatAreNotThereKeepTheirDefaults) {
  const Result<MachineModel> machine = parse_machine("[l1d]\nsize_kib = 48\nways = 12\n", "m.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->l1d.size_bytes, 48U << 10);
  EXPECT_EQ(machine->l1d.ways, 12U);
  EXPECT_EQ(machine->l2.size_bytes, MachineModel().l2.size_bytes);
}

TEST(MachineModel, ClassesOfInstructionsHaveTimings) {
  std::string text = "[instructions]\n";
  double next = 0.5;
  for (const InstructionLoop& loop : instruction_loops()) {
    text += std::string(loop.name) + " = { latency_cycles = " + std::to_string(next) +
            ", cycles = " + std::to_string(next + 0.25) + " }\n";
    next += 0.5;
  }
  const Result<MachineModel> machine = parse_machine(text, "m.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(instruction_loops().size(), kInstructionClasses - 1);
  for (size_t i = 1; i < kInstructionClasses; ++i) {
    const InstructionTiming& timing = machine->core.instructions[static_cast<InstructionClass>(i)];
    EXPECT_DOUBLE_EQ(timing.latency_cycles, 0.5 * static_cast<double>(i));
    EXPECT_DOUBLE_EQ(timing.cycles, 0.5 * static_cast<double>(i) + 0.25);
  }
  EXPECT_EQ(MachineModel().core.instructions[InstructionClass::fp_add].latency_cycles, 0);
  EXPECT_NE(error_of("[instructions]\nfp_ad = { cycles = 1 }\n").find("line 2"), std::string::npos);
}

TEST(MachineModel, MistakesNameTheirLineAndWhatIsAllowed) {
  EXPECT_EQ(error_of("name = \"x\"\n[l1d]\nsize_kib = \"32\"\n"),
            "m.toml, line 3: l1d.size_kib is a whole number from 0 to 4194304");
  EXPECT_EQ(error_of("[l2]\n\nreplacement = \"fifo\"\n"),
            "m.toml, line 3: l2.replacement is one of \"lru\", \"plru\", \"random\"");
  EXPECT_EQ(error_of("[prefetch]\nstreams = true\n"),
            "m.toml, line 2: there is no key prefetch.streams here; there are stream, "
            "stream_lines, stream_crosses_pages, stride, stride_steps, code_lines");
  EXPECT_EQ(error_of("l1d = 3\n"), "m.toml, line 1: l1d is a section");
  EXPECT_EQ(error_of("[core]\ndispatch_width = 0\n"),
            "m.toml, line 2: core.dispatch_width is a whole number from 1 to 16");
  EXPECT_EQ(error_of("[prefetch]\nstream = 1\n"),
            "m.toml, line 2: prefetch.stream is true or false");
  EXPECT_EQ(error_of("[memory]\nbytes_per_cycle = nan\n"),
            "m.toml, line 2: memory.bytes_per_cycle is a number from 0.01 to 10000");
  EXPECT_EQ(error_of("[l1d]\nsize_kib = 32\nways = 7\n"),
            "m.toml: cache l1d cannot be simulated: 32768 bytes are no multiple of 7 ways x 64 "
            "bytes a line");
  EXPECT_EQ(error_of("[l1d]\nsize_kib = 48\nways = 12\nreplacement = \"plru\"\n"),
            "m.toml: cache l1d cannot be simulated: plru needs a power of two of ways, not 12");
  EXPECT_NE(error_of("[l1d\n").find("m.toml, line 1: "), std::string::npos);
  EXPECT_NE(error_of("[l1d]\ninclusion = \"victim\"\n"), "none");
  EXPECT_NE(error_of("line_bytes = 48\n"), "none");
  EXPECT_NE(error_of("[l2]\nsize_kib = 0\n[l3]\ninclusion = \"victim\"\n"), "none");
}

TEST(MachineModel, HostileTextIsAnError) {
  EXPECT_NE(error_of(std::string(100000, '[')), "none");
  EXPECT_NE(error_of("a = " + std::string(100000, '[')), "none");
  EXPECT_NE(error_of(std::string("\0\xff\xfe", 3)), "none");
  EXPECT_EQ(error_of("\n\x1b[31m = 1\n"), "m.toml, line 2: a character that is not ASCII text");
  EXPECT_EQ(error_of("[l1d]\nsize_kib = 9223372036854775807\n"),
            "m.toml, line 2: l1d.size_kib is a whole number from 0 to 4194304");
  EXPECT_EQ(error_of("[l1d]\nways = -1\n"),
            "m.toml, line 2: l1d.ways is a whole number from 1 to 64");
  EXPECT_FALSE(read_machine("/does/not/exist.toml"));
}

/// A made sysfs.
class HostMachine : public testing::Test {
 protected:
  void add(int index, const std::string& level, const std::string& type, const std::string& size,
           const std::string& ways, const std::string& line = "64") {
    const std::string folder =
        root_.path() + "/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/level") << level << '\n';
    std::ofstream(folder + "/type") << type << '\n';
    std::ofstream(folder + "/size") << size << '\n';
    std::ofstream(folder + "/ways_of_associativity") << ways << '\n';
    std::ofstream(folder + "/coherency_line_size") << line << '\n';
  }
  TemporaryFolder root_ = *TemporaryFolder::make();
};

TEST_F(HostMachine, IsReadFromSysfs) {
  add(0, "1", "Data", "48K", "12");
  add(1, "1", "Instruction", "32K", "8");
  add(2, "2", "Unified", "2048K", "16");
  add(3, "3", "Unified", "30M", "20");
  const Result<MachineModel> machine = read_host_machine(root_.path());
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->l1d.size_bytes, 48U << 10);
  EXPECT_EQ(machine->l1d.ways, 12U);
  EXPECT_EQ(machine->l1i.size_bytes, 32U << 10);
  EXPECT_EQ(machine->l2.ways, 16U);
  EXPECT_EQ(compute_sets(machine->l3, machine->line_bytes), 24576U);
}

TEST_F(HostMachine, LevelsThatAreNotThereAreNotSimulated) {
  add(0, "1", "Data", "32K", "4", "128");
  add(1, "1", "Instruction", "32K", "4", "128");
  const Result<MachineModel> machine = read_host_machine(root_.path());
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_FALSE(machine->l2.present());
  EXPECT_FALSE(machine->l3.present());
  EXPECT_EQ(machine->line_bytes, 128U);
}

TEST_F(HostMachine, NothingOrNonsenseIsAnError) {
  EXPECT_FALSE(read_host_machine(root_.path()));
  add(0, "1", "Data", "many", "8");
  EXPECT_FALSE(read_host_machine(root_.path()));
  add(0, "1", "Data", "1001", "8");
  EXPECT_FALSE(read_host_machine(root_.path()));
}

TEST(HostMachineItself, CanBeSimulatedIfItSaysWhatItIs) {
  const Result<MachineModel> machine = read_host_machine("/sys");
  if (!machine) GTEST_SKIP() << machine.error().message;
  EXPECT_TRUE(Hierarchy::make(*machine));
}

}  // namespace
}  // namespace culprit::simulate
