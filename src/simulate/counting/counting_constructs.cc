// Counting by OpenMP construct: a thread that goes into another construct counts into another part
// of the counts file from then on, so that what runs once per block and access is as it was.

#include "base/file.h"
#include "simulate/counting/counting.h"
#include "simulate/counting/execution.h"

namespace culprit::counting {

namespace {

uint64_t key_of(ThreadConstructs::Place place) {
  return uint64_t{place.path} << 1 | (place.path != 0 && place.is_waiting ? 1 : 0);
}

}  // namespace

Result<void> Counting::start_constructs(const CountingOptions& options,
                                        const ProcessSetting& setting) {
  if (options.regions) {
    constructs_ = std::make_unique<CountedConstructs>(writer_, setting.architecture);
    for (size_t number = 0;; ++number) {
      const std::string path = function_file_path(options.folder, number);
      if (!file_exists(path)) break;
      ASSIGN_OR_RETURN(RegionPlaces places, read_region_file(path));
      constructs_->add_functions(std::move(places));
    }
  }
  follows_calls_ = objects_ || constructs_;
  if (!follows_calls_) return {};
  translation_.follow_calls();
  translation_.set_mapping_listener(
      [this](uint32_t mapping, const FoundMapping& found) { see_code(mapping, found); });
  return {};
}

void Counting::see_code(uint32_t mapping, const FoundMapping& found) {
  if (objects_) objects_->see_code(mapping, found);
  if (constructs_) constructs_->see_code(found);
}

const ConstructEdge* Counting::find_construct(const BlockFacts& block) {
  return constructs_ ? constructs_->find_edge(block.start) : nullptr;
}

void Counting::enter_construct(unsigned number, const ConstructEdge& edge, RegisterFile registers) {
  CountedThread* const thread = number < kMostThreads ? threads_[number] : nullptr;
  if (thread == nullptr || !constructs_) return;
  thread->registers = registers;
  const std::span<const CallStack::Call> calls = thread->calls.calls();
  constructs_->enter(thread->constructs, edge,
                     {.return_address = calls.empty() ? 0 : calls.back().from->end,
                      .height = thread->calls.height(),
                      .registers = registers,
                      .base = base_},
                     thread->construct_changes);
  settle_region(*thread, counting_[number] != nullptr ? thread->previous : nullptr);
}

/// The part for the place; nullptr: there is no room for it.
RegionPart* Counting::find_region_part(CountedThread& thread, ThreadConstructs::Place place) {
  const auto [at, is_new] = thread.region_parts.try_emplace(key_of(place));
  RegionPart& part = at->second;
  if (!is_new) return part.shared.header == nullptr ? nullptr : &part;
  if (place.path == 0) {
    part.shared = thread.own;
    return &part;
  }
  const std::lock_guard lock(starting_);
  part.shared = writer_.next_region_part();
  if (part.shared.header == nullptr) {
    ++writer_.header().lost_region_parts;
    return nullptr;
  }
  counts_file::CoreHeader& header = *part.shared.header;
  header.of_thread = thread.number;
  header.is_waiting = key_of(place) & 1;
  header.region_path = place.path;
  return &part;
}

/// Counts what has begun and goes over to where the thread is now. `counted`: the block that it
/// runs, if its run was counted where the thread was before.
void Counting::settle_region(CountedThread& thread, const BlockFacts* counted) {
  CountedConstructs::Changes& changes = thread.construct_changes;
  for (const uint32_t path : changes.placed) {
    counts_file::RegionPath& row = writer_.region_path(path);
    row.mapping = row.site == 0 ? 0 : translation_.find_mapping(row.site);
    row.end_mapping = row.end == 0 ? 0 : translation_.find_mapping(row.end);
  }
  for (const uint32_t path : changes.begun) {
    if (path == 0) continue;
    if (RegionPart* const part = find_region_part(thread, {path, false})) {
      ++part->shared.header->executions;
    }
  }
  for (const uint32_t path : changes.pieces) {
    if (path == 0) continue;
    if (RegionPart* const part = find_region_part(thread, {path, false})) {
      ++part->shared.header->pieces;
    }
  }
  changes.clear();
  const ThreadConstructs::Place place = thread.constructs.place();
  if (key_of(place) == thread.region_part) return;
  RegionPart* to = find_region_part(thread, place);
  const bool has_room = to != nullptr;
  if (!has_room) to = find_region_part(thread, {});
  switch_region_part(thread, has_room ? key_of(place) : 0, *to, counted);
}

void Counting::switch_region_part(CountedThread& thread, uint64_t key, RegionPart& to,
                                  const BlockFacts* counted) {
  if (key == thread.region_part) return;
  RegionPart& from = thread.region_parts[thread.region_part];  // std::unordered_map keeps `to`
  from.shared = thread.shared;
  from.targets = std::move(thread.targets);
  counts_file::CoreHeader& left = *from.shared.header;
  counts_file::CoreHeader& entered = *to.shared.header;
  if (counted != nullptr) {
    --from.shared.runs[counted->number].runs;
    ++to.shared.runs[counted->number].runs;
    left.instructions -= counted->instructions;
    entered.instructions += counted->instructions;
  }
  thread.instructions_elsewhere += left.instructions - entered.instructions;
  if (thread.clock) {
    left.ticks = thread.clock->now() - thread.ticks_before;
    thread.ticks_before = thread.clock->now() - entered.ticks;
    thread.clock->set_sites(to.shared.ticks);
    thread.forecaster->set_sites(to.shared.replays);
  }
  thread.shared = to.shared;
  thread.targets = std::move(to.targets);
  thread.region_part = key;
  thread.access_end = 0;  // no access goes on
}

/// The thread has ended, or its number has another one now.
void Counting::leave_regions(CountedThread& thread) {
  if (thread.region_part == 0 || thread.own.header == nullptr) return;
  switch_region_part(thread, 0, *find_region_part(thread, {}), nullptr);
}

}  // namespace culprit::counting
