#pragma once

// For tests: a written trace through the counting code and the reader of its file, to a Profile,
// without QEMU.

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "simulate/counting/trace_player.h"
#include "simulate/counts/machine_file.h"
#include "simulate/counts_reader.h"
#include "simulate/simulated_profile.h"

namespace culprit {

using counting::CountingOptions;
using counting::TracePlayer;

/// A profile made of a trace, whose file is mapped at 0x400000.
class Trace : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made.has_value());
    folder_.emplace(*std::move(made));
    options_.folder = folder_->path();
  }

  /// L1D of 4 KiB in 8 ways, no L2, L3 of 64 KiB; nothing is fetched ahead.
  void simulate_small_machine(simulate::Locality locality = simulate::Locality::off) {
    simulate::MachineModel machine;
    machine.l1d = {.size_bytes = 4 << 10, .ways = 8};
    machine.l2.size_bytes = 0;
    machine.l3 = {.size_bytes = 64 << 10, .ways = 16};
    machine.prefetch.stream = machine.prefetch.stride = false;
    ASSERT_TRUE(
        counting::write_machine_file(counting::machine_file_path(folder_->path()), machine));
    options_.locality = locality;
    detail_.machine = true;
  }

  void play(const std::string& trace) {
    play([&](TracePlayer& player) { player.play(trace); });
  }
  void play(const std::function<void(TracePlayer&)>& play_all) {
    Result<std::unique_ptr<TracePlayer>> player = TracePlayer::make(options_);
    ASSERT_TRUE(player) << player.error().message;
    play_all(**player);
    const std::string path = folder_->path() + "/" + std::to_string(::getpid()) + ".0";
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Result<CountsFile> counts = CountsFile::read(fd.get(), path);
    ASSERT_TRUE(counts) << counts.error().message;
    counting::Tenures tenures;
    if (std::filesystem::exists(path + ".tenures")) {
      tenures = *counting::read_tenures(path + ".tenures");
    }
    SimulatedProfile made(detail_, {});
    ASSERT_TRUE(made.add(*counts, tenures));
    profile_ = std::move(made.finish().profile);
  }

  /// The offset in the file, or the address where nothing is known of the file.
  static bool is_at(FileOffset offset, uint64_t address) {
    return offset.value == address || offset.value == address - 0x40'0000;
  }

  /// The sum over all threads.
  uint64_t value(std::string_view event, uint64_t address) const {
    uint64_t sum = 0;
    for (const Histogram& histogram : profile_.histograms) {
      for (const EventColumn& column : histogram.columns) {
        if (profile_.strings.text(profile_.events[column.event.value].name) != event) continue;
        for (size_t row = 0; row < column.value.size(); ++row) {
          if (is_at(histogram.offsets[row], address)) sum += column.value[row];
        }
      }
    }
    return sum;
  }

  using Pairs = std::map<std::pair<uint64_t, uint64_t>, uint64_t>;
  /// Branches by the addresses of their two ends.
  Pairs branches() const {
    Pairs pairs;
    for (const BranchCount& row : profile_.branch_counts) {
      pairs[{address_of(row.from.offset), address_of(row.to.offset)}] += row.count;
    }
    return pairs;
  }
  Pairs runs() const {
    Pairs pairs;
    for (const FallThrough& row : profile_.fall_throughs) {
      pairs[{address_of(row.from), address_of(row.to)}] += row.count;
    }
    return pairs;
  }
  static uint64_t address_of(FileOffset offset) {
    return offset.value < 0x40'0000 ? offset.value + 0x40'0000 : offset.value;
  }

  /// Sums of an event by thread, in the order in which they began.
  std::vector<uint64_t> by_thread(std::string_view event) const {
    std::vector<uint64_t> sums(profile_.threads.size());
    for (const Histogram& histogram : profile_.histograms) {
      uint64_t& sum = sums[profile_.contexts[histogram.context.value].thread.value];
      for (const EventColumn& column : histogram.columns) {
        if (profile_.strings.text(profile_.events[column.event.value].name) != event) continue;
        for (const uint64_t value : column.value) sum += value;
      }
    }
    return sums;
  }

  std::optional<TemporaryFolder> folder_;
  CountingOptions options_;
  SimulatedDetail detail_;
  Profile profile_;
};

// mov (%rsi),%rax; add $8,%rsi; dec %rcx; jne loop
inline constexpr const char* kLoop = R"(
map 400000 1000 /trace/program
block loop 400100 488b06 4883c608 48ffc9 75f4
block after 40010c c3
)";
inline constexpr uint64_t kLoad = 0x400100;
inline constexpr uint64_t kBranch = 0x40010a;

}  // namespace culprit
