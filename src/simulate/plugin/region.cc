#include "simulate/plugin/region.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/file.h"
#include "simulate/plugin/execution.h"

namespace culprit {

bool is_region_watched = false;

namespace {

constexpr size_t kMostReturns = 1 << 20;

bool has_region = false;
uint64_t skipped = 0;
std::atomic<uint64_t> run_so_far{0};  // instructions of all threads, until they are `skipped`
uint64_t not_added[counts_file::kMaxCores];  // to that: what each thread has run since it last did

bool is_call(const BlockFacts& block) {
  return block.branch == counts_file::Branch::call ||
         block.branch == counts_file::Branch::indirect_call;
}

/// To the block for one thread; of others, what they have not added yet is missed.
bool is_skipped(unsigned vcpu, const BlockFacts& block) {
  constexpr uint64_t kAddAt = 4096;
  if (run_so_far.load(std::memory_order_relaxed) + not_added[vcpu] >= skipped) return false;
  not_added[vcpu] += block.instructions;
  if (not_added[vcpu] >= kAddAt) {
    run_so_far.fetch_add(std::exchange(not_added[vcpu], 0), std::memory_order_relaxed);
  }
  return true;
}

}  // namespace

bool RegionPlaces::holds(std::string_view mapped_path, uint64_t offset) const {
  return mapped_path == path && std::find(offsets.begin(), offsets.end(), offset) != offsets.end();
}

std::string region_file_path(const std::string& folder) {
  return folder + "/region";
}

Result<void> write_region_file(const std::string& path, const RegionPlaces& region) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
  bool is_written = file && std::fprintf(file.get(), "%s\n", region.path.c_str()) > 0;
  for (const uint64_t offset : region.offsets) {
    is_written = is_written &&
                 std::fprintf(file.get(), "%llx\n", static_cast<unsigned long long>(offset)) > 0;
  }
  if (!is_written || std::fflush(file.get()) != 0) return Error{"cannot write '" + path + "'"};
  return {};
}

Result<RegionPlaces> read_region_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, 1 << 20));
  RegionPlaces region;
  std::string line;
  bool is_first = true;
  for (const char c : text) {
    if (c != '\n') {
      line.push_back(c);
      continue;
    }
    char* end = nullptr;
    if (is_first) region.path = line;
    if (!is_first) region.offsets.push_back(std::strtoull(line.c_str(), &end, 16));
    if (!is_first && (*end != '\0' || line.empty())) return Error{"'" + path + "' is damaged"};
    is_first = false;
    line.clear();
  }
  return region;
}

/// A return goes to `address`: the calls from there on are over. To an unknown one (of a signal
/// handler, say) it ends none.
void RegionWatch::land(uint64_t address) {
  const auto found = std::find(returns_.rbegin(), returns_.rend(), address);
  if (found != returns_.rend()) returns_.erase(std::prev(found.base()), returns_.end());
}

bool RegionWatch::step(const BlockFacts& block) {
  const BlockFacts* const before = std::exchange(before_, &block);
  if (before != nullptr && is_call(*before)) {
    if (returns_.size() == kMostReturns) {  // the oldest are a long way off
      returns_.erase(returns_.begin(), returns_.begin() + kMostReturns / 2);
      entered_at_ -= std::min(entered_at_, kMostReturns / 2);
    }
    returns_.push_back(before->end);
  } else if (before != nullptr && before->branch == counts_file::Branch::returns) {
    land(block.start);
    if (returns_.size() < entered_at_) inside_ = false;
  }
  if (!inside_ && block.enters_region) {
    inside_ = true;
    entered_at_ = returns_.size();
  }
  return inside_;
}

void watch_region(bool only_region, uint64_t skipped_instructions) {
  has_region = only_region;
  skipped = skipped_instructions;
  is_region_watched = has_region || skipped > 0;
}

Core* watch_block(unsigned vcpu, const BlockFacts& block) {
  Core* const core = cores[vcpu];
  if (core == nullptr) return nullptr;
  const bool is_inside = !has_region || core->region.step(block);
  if (!is_skipped(vcpu, block) && is_inside) {
    if (counting[vcpu] == nullptr) core->forget_previous();
    return counting[vcpu] = core;
  }
  core->shared.header->outside_instructions += block.instructions;
  return counting[vcpu] = nullptr;
}

}  // namespace culprit
