#include "branches/record_counter.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "branches/call_kind.h"

namespace culprit {

namespace {

constexpr uint64_t kLongestRunBytes = uint64_t{64} << 10;

/// Counts that a hostile profile makes too large for what holds them end at the largest.
uint64_t to_count(double value) {
  constexpr double kLargest = 0x1p62;
  return value >= kLargest ? uint64_t{1} << 62
                           : static_cast<uint64_t>(std::llround(std::max(value, 0.0)));
}

/// The runs in order of place.
std::vector<const FallThrough*> order_runs(const std::vector<FallThrough>& runs) {
  std::vector<const FallThrough*> ordered;
  for (const FallThrough& run : runs) {
    if (run.count > 0) ordered.push_back(&run);
  }
  const auto key = [](const FallThrough* r) {
    return std::tie(r->context, r->image, r->from, r->to);
  };
  std::sort(ordered.begin(), ordered.end(),
            [&](const FallThrough* a, const FallThrough* b) { return key(a) < key(b); });
  return ordered;
}

}  // namespace

RecordCounter::RecordCounter(CodeIndex& code, double depth)
    : code_(code), codes_(code), depth_(depth) {}

void RecordCounter::count() {
  for (const BranchCount& branch : code_.profile().branch_counts) add_branch(branch);
  for (const FallThrough* run : order_runs(code_.profile().fall_throughs)) add_run(*run);
  finish_function();
}

void RecordCounter::add(ContextId context, const Location& at, Made event, uint64_t records,
                        double variance) {
  if (records == 0) return;
  rows_.push_back(
      {context, at, {EventId(static_cast<uint32_t>(event)), records, records, variance}});
}

/// `variance`: of the cycles, as if each sample had one record.
void RecordCounter::add_cycles(ContextId context, const Location& at, uint64_t records,
                               double value, double variance) {
  const uint64_t parts = to_count(value * kCycleParts);
  if (parts == 0) return;
  const double of_parts = variance * depth_ * kCycleParts * kCycleParts;
  rows_.push_back(
      {context, at, {EventId(static_cast<uint32_t>(Made::cycles)), records, parts, of_parts}});
}

void RecordCounter::add_branch(const BranchCount& branch) {
  const auto add_at = [&](const Location& at, Made event, uint64_t records) {
    add(branch.context, at, event, records, static_cast<double>(records) * depth_);
  };
  if (!has_place(branch.from) || !has_place(branch.to)) {
    ledger_.add(ledger::kBranchesWithoutPlace, branch.count);
  }
  add_at(branch.from, Made::taken, branch.count);
  add_at(branch.to, Made::targets, branch.count);
  add_at(branch.from, Made::judged, std::min(branch.judged, branch.count));
  add_at(branch.from, Made::misses, std::min(branch.mispredicted, branch.count));
  if (branch.timed > 0) {
    Timed& timed = timed_[{branch.context, branch.from}];
    timed.cycles += static_cast<double>(branch.cycles);
    timed.records += static_cast<double>(branch.timed);
  }
  const CallKind kind = find_call_kind(codes_, branch.from, branch.to);
  if (kind == CallKind::other) return;
  add_at(branch.to, Made::calls, branch.count);
  add_at(branch.from, Made::calls_made, branch.count);
  if (kind == CallKind::indirect_call) add_at(branch.from, Made::indirect_calls, branch.count);
}

bool RecordCounter::has_place(const Location& at) const {
  const Image* image = code_.image(at.image);
  return image != nullptr && image->kind != ImageKind::unknown;
}

/// Cycles of a run that ends with the branch at `end`, on average over its records.
std::optional<double> RecordCounter::mean_cycles(ContextId context, const Location& end) const {
  const auto found = timed_.find({context, end});
  if (found == timed_.end() || found->second.records <= 0) return std::nullopt;
  return found->second.cycles / found->second.records;
}

void RecordCounter::add_run(const FallThrough& run) {
  if (run.to < run.from || run.to - run.from > kLongestRunBytes) {
    ledger_.add(ledger::kImpossibleRuns, run.count);
    return;
  }
  const Place place{run.context, run.image, code_.find({run.image, run.from}).function};
  if (place != place_) begin_function(place);
  if (place.function == CodePlace::kNone) return add_run_without_code(run);
  if (run.to >= code_.facts(run.image)->functions[place.function].end) {
    ledger_.add(ledger::kCrossingRuns, run.count);
    return;
  }
  if (!counter_) return add_run_without_code(run);
  const auto ran = counter_->code().find_run(run.from, run.to);
  if (!ran) {
    ledger_.add(ledger::kImpossibleRuns, run.count);
    return;
  }
  add_run_start(run);
  const auto count = static_cast<double>(run.count);
  pending_.push_back({*ran, count});
  Ending& ending = endings_[ran->last];
  ending.runs += count;
  ending.instructions += count * static_cast<double>(ran->last - ran->first + 1);
}

void RecordCounter::add_run_start(const FallThrough& run) {
  add(run.context, {run.image, run.from}, Made::runs, run.count,
      static_cast<double>(run.count) * depth_);
}

void RecordCounter::add_run_without_code(const FallThrough& run) {
  ledger_.add(ledger::kRunsWithoutCode, run.count);
  add_run_start(run);
  if (const auto each = mean_cycles(run.context, {run.image, run.to})) {
    const auto count = static_cast<double>(run.count);
    add_cycles(run.context, {run.image, run.from}, run.count, count * *each, count * *each * *each);
  }
}

void RecordCounter::begin_function(const Place& place) {
  finish_function();
  place_ = place;
  if (place.function == CodePlace::kNone) return;
  const FunctionCode* code = codes_.find(place.image, place.function);
  if (code != nullptr) counter_.emplace(*code);
}

/// Runs of different lengths may end with the same branch, which knows the cycles of all
/// together: its instructions are taken to cost the same in each.
void RecordCounter::count_pending() {
  std::map<size_t, double> cycles_each;  // of one instruction, by where its run ends
  for (const auto& [last, ending] : endings_) {
    const Location end{place_->image, counter_->code().offset(last)};
    const auto mean = mean_cycles(place_->context, end);
    if (mean) cycles_each[last] = *mean * ending.runs / ending.instructions;
  }
  for (const auto& [run, count] : pending_) {
    const auto each = cycles_each.find(run.last);
    const auto length = static_cast<double>(run.last - run.first + 1);
    counter_->add(run, count, each == cycles_each.end() ? 0 : count * length * each->second);
  }
  pending_.clear();
  endings_.clear();
}

void RecordCounter::finish_function() {
  if (!counter_) return;
  count_pending();
  const FunctionCode& code = counter_->code();
  counter_->for_each([&](size_t index, const RunCounter::Counts& counts) {
    const Location at{place_->image, code.offset(index)};
    const uint64_t executions = to_count(counts.executions);
    add(place_->context, at, Made::instructions, executions, counts.weighted * depth_);
    if (code.begins_block(index)) {
      add(place_->context, at, Made::blocks, executions, counts.blocks * depth_);
    }
    const double length = counts.weighted / counts.executions;
    add_cycles(place_->context, at, executions, counts.cycles,
               counts.cycles * counts.cycles / counts.executions * length);
  });
  counter_.reset();
}

}  // namespace culprit
