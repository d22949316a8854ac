// The whole way: a program compiled here, QEMU, plugin, counts and tenures, Profile.

#include "simulate/simulate.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

#include "base/file.h"
#include "base/test_folders.h"

namespace culprit {
namespace {

// Two passes over 1 MiB, 8 bytes of each line of 64.
constexpr const char* kWalk = R"(
static char area[1 << 20] __attribute__((aligned(4096)));
__attribute__((noinline)) long walk(void) {
  long sum = 0;
  for (long i = 0; i < (long)sizeof area; i += 64) sum += *(volatile long*)(area + i);
  return sum;
}
int main(void) { return (int)(walk() + walk()); }
)";
constexpr uint64_t kLines = 2 * (1 << 20) / 64;

class Walk : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    // A QEMU that can load a plugin with sanitizers in it.
    ASSERT_EQ(setenv("PATH", (binary_folder() + "/qemu:/usr/bin:/bin").c_str(), 1), 0);
#endif
#endif
    if (std::system("command -v qemu-x86_64 cc > /dev/null") != 0) {
      GTEST_SKIP() << "no qemu-x86_64 or C compiler on this machine";
    }
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made.has_value());
    folder_.emplace(*std::move(made));
    std::ofstream(folder_->path() + "/walk.c") << kWalk;
    const std::string program = folder_->path() + "/walk";
    ASSERT_EQ(std::system(("cc -O1 -o " + program + " " + program + ".c").c_str()), 0);
    options_.command = {program};
    options_.plugin_path = binary_folder() + "/libculprit_qemu.so";
    // L1D of 32 KiB, 8 ways, true LRU; nothing fetched ahead.
    options_.machine.emplace();
    options_.machine->prefetch.stream = false;
    options_.machine->prefetch.stride = false;
  }

  /// The event's largest value at one instruction, and where that is.
  static std::pair<uint64_t, Location> find_largest(const Profile& profile, std::string_view name) {
    std::pair<uint64_t, Location> largest;
    for (const Histogram& histogram : profile.histograms) {
      for (const EventColumn& column : histogram.columns) {
        if (profile.strings.text(profile.events[column.event.value].name) != name) continue;
        for (size_t row = 0; row < column.value.size(); ++row) {
          if (column.value[row] <= largest.first) continue;
          largest = {column.value[row], {histogram.image, histogram.offsets[row]}};
        }
      }
    }
    return largest;
  }

  std::optional<TemporaryFolder> folder_;
  SimulateOptions options_;
};

TEST_F(Walk, MissesOncePerLineAndPass) {
  const Result<Simulation> simulation = run_simulated(options_, nullptr);
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  const Profile& profile = simulation->recording.profile;
  EXPECT_EQ(find_largest(profile, "L1-dcache-load-misses").first, kLines);
  EXPECT_EQ(find_largest(profile, "load-bytes").first, 8 * kLines);
  EXPECT_TRUE(profile.tenures.empty());
}

TEST_F(Walk, UsesAnEighthOfEachLineAndEvictsItsOwn) {
  options_.locality = simulate::Locality::l1;
  const Result<Simulation> simulation = run_simulated(options_, nullptr);
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  const Profile& profile = simulation->recording.profile;
  const Location load = find_largest(profile, "L1-dcache-load-misses").second;
  const Tenure* found = nullptr;
  for (const Tenure& tenure : profile.tenures) {
    if (tenure.location == load && tenure.level == CacheLevel::l1d) found = &tenure;
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->lines, kLines);
  EXPECT_EQ(found->bytes_touched, 8 * kLines);  // 12.5 % of 64
  EXPECT_EQ(found->bytes_accessed, 8 * kLines);
  EXPECT_EQ(found->touches, kLines);
  EXPECT_EQ(found->kind, AccessKind::integer_load);
  EXPECT_EQ(found->lines_prefetched + found->lines_never_used, 0u);
  EXPECT_LE(found->lines_at_end, 512u);  // 32 KiB hold no more

  uint64_t evictions = 0;
  uint64_t by_conflict = 0;
  for (const Edge& edge : profile.edges) {
    if (edge.from != load || edge.to != load || edge.level != CacheLevel::l1d) continue;
    EXPECT_NE(edge.kind, EdgeKind::reuse);
    if (edge.kind != EdgeKind::eviction_conflict && edge.kind != EdgeKind::eviction_capacity)
      continue;
    evictions += edge.count;
    if (edge.kind == EdgeKind::eviction_conflict) by_conflict += edge.count;
  }
  // All but the lines of the last round are evicted, few of them by other instructions.
  EXPECT_GE(evictions, kLines - 512 - 512);
  EXPECT_LE(evictions, kLines);
  EXPECT_LT(by_conflict, kLines / 100);
}

/// Sums of an event's ticks over the profile, and whether they are what `parts` sum to at each
/// instruction.
struct TicksByEvent {
  explicit TicksByEvent(const Profile& profile) {
    for (const Histogram& histogram : profile.histograms) {
      for (const EventColumn& column : histogram.columns) {
        const std::string name(profile.strings.text(profile.events[column.event.value].name));
        for (size_t row = 0; row < column.value.size(); ++row) {
          const Location place{histogram.image, histogram.offsets[row]};
          by_place[{histogram.context, place}][name] += column.value[row];
          totals[name] += column.value[row];
        }
      }
    }
  }
  std::map<std::pair<ContextId, Location>, std::map<std::string, uint64_t>> by_place;
  std::map<std::string, uint64_t> totals;
};

constexpr const char* kStalled[] = {
    "sim:load-l2-cycles",
    "sim:load-l3-cycles",
    "sim:load-other-core-clean-cycles",
    "sim:load-other-core-modified-cycles",
    "sim:load-memory-cycles",
    "sim:load-translation-cycles",
    "sim:forward-refused-cycles",
    "sim:alias-cycles",
    "sim:bandwidth-cycles",
    "sim:starvation-cycles",
    "sim:divider-cycles",
    "sim:store-cycles",
    "sim:misprediction-cycles",
};
constexpr const char* kUnstalled[] = {"sim:port-cycles", "sim:call-cycles",
                                      "sim:serialization-cycles", "sim:microcode-cycles",
                                      "sim:base-cycles"};

void expect_closed_accounts(const Simulation& simulation) {
  TicksByEvent ticks(simulation.recording.profile);
  EXPECT_GT(simulation.clock_ticks, 0U);
  EXPECT_EQ(ticks.totals["sim:cycles"], simulation.clock_ticks);
  for (auto& [place, values] : ticks.by_place) {
    uint64_t stalled = 0;
    uint64_t unstalled = 0;
    for (const char* const name : kStalled) stalled += values[name];
    for (const char* const name : kUnstalled) unstalled += values[name];
    EXPECT_EQ(values["sim:stalled-cycles"], stalled);
    EXPECT_EQ(values["sim:unstalled-cycles"], unstalled);
    EXPECT_EQ(values["sim:cycles"], stalled + unstalled);
  }
}

TEST_F(Walk, CyclesCloseOnRealPrograms) {
  const std::string input = folder_->path() + "/walk";
  const std::vector<std::vector<std::string>> commands = {
      {input},
      {"gzip", "-c", input},
      {"sh", "-c", "gzip -c $0 | gzip -d | sort -u > /dev/null & wc -c $0; wait", input}};
  for (const std::vector<std::string>& command : commands) {
    options_.command = command;
    const Result<Simulation> simulation = run_simulated(options_, nullptr);
    ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
    expect_closed_accounts(*simulation);
  }
}

TEST_F(Walk, CyclesComeFirstAndOnlyIfTheyAreWanted) {
  for (const bool cycles : {true, false}) {
    options_.cycles = cycles;
    const Result<Simulation> simulation = run_simulated(options_, nullptr);
    ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
    const Profile& profile = simulation->recording.profile;
    EXPECT_EQ(profile.strings.text(profile.events[0].name), cycles ? "sim:cycles" : "instructions");
    EXPECT_EQ(profile.events[0].provenance, cycles ? Provenance::modelled : Provenance::counted);
    EXPECT_DOUBLE_EQ(profile.events[0].scale, cycles ? 1.0 / 840 : 1);
    EXPECT_EQ(find_largest(profile, "L1-dcache-load-misses").first, kLines);
    EXPECT_EQ(simulation->clock_ticks != 0, cycles);
  }
}

TEST_F(Walk, UnknownCpuIsAnError) {
  options_.machine->llvm_cpu = "zen99";
  const Result<Simulation> simulation = run_simulated(options_, nullptr);
  EXPECT_FALSE(simulation.has_value());
}

TEST_F(Walk, SaysWhatIsMissing) {
  options_.plugin_path = "/nonexistent/plugin.so";
  const Result<Simulation> simulation = run_simulated(options_, nullptr);
  ASSERT_FALSE(simulation.has_value());
  EXPECT_NE(simulation.error().message.find("plugin"), std::string::npos);
}

}  // namespace
}  // namespace culprit
