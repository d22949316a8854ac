// Every branch becomes counts at its two ends, every straight run counts of the instructions
// it went over. All are rows of one flat histogram, which then becomes columns beside the
// profile's own:
//
//     run 1210-1214, 59 times     1210 59   1213 59   1214 59
//     branch 1214 > 1220, 60      taken at 1214: 60, arrived at 1220: 60

#include "branches/branch_events.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "branches/branch_kind.h"
#include "branches/branch_scale.h"
#include "branches/event_names.h"
#include "branches/function_code.h"
#include "branches/run_counter.h"

#include "model/counts.h"
#include "model/merge.h"

namespace culprit {

namespace {

/// The events, in the order in which they stand before the profile's own.
enum Made : uint32_t {
  instructions,
  blocks,
  runs,
  taken,
  targets,
  calls,
  calls_made,
  indirect_calls,
  judged,
  misses,
  cycles,
  kMadeEvents
};

enum class Counts : uint8_t { runs, branches };  // of what: decides the scale

struct MadeEvent {
  const char* name;
  Unit unit;
  Counts counts;
};

constexpr std::array<MadeEvent, kMadeEvents> kEvents = {{
    {branch_events::kInstructions, Unit::events, Counts::runs},
    {branch_events::kBlocks, Unit::events, Counts::runs},
    {branch_events::kRuns, Unit::events, Counts::runs},
    {branch_events::kTaken, Unit::events, Counts::branches},
    {branch_events::kTargets, Unit::events, Counts::branches},
    {branch_events::kCalls, Unit::events, Counts::branches},
    {branch_events::kCallsMade, Unit::events, Counts::branches},
    {branch_events::kIndirectCalls, Unit::events, Counts::branches},
    {branch_events::kJudged, Unit::events, Counts::branches},
    {branch_events::kMisses, Unit::events, Counts::branches},
    {branch_events::kCycles, Unit::cycles, Counts::runs},
}};

constexpr uint64_t kLongestRunBytes = uint64_t{64} << 10;
constexpr double kCycleParts = 256;  // stored cycles are in parts of this size

/// Counts that a hostile profile makes too large for what holds them end at the largest.
uint64_t to_count(double value) {
  constexpr double kLargest = 0x1p62;
  return value >= kLargest ? uint64_t{1} << 62 : static_cast<uint64_t>(std::max(value, 0.0) + 0.5);
}

class Maker {
 public:
  Maker(const Profile& profile, const FactsLookup& facts, double depth)
      : profile_(profile), code_(profile, facts), codes_(code_), depth_(depth) {}

  void add_branches() {
    for (const BranchCount& branch : profile_.branch_counts) add_branch(branch);
  }

  void add_runs() {
    std::vector<const FallThrough*> ordered;
    for (const FallThrough& run : profile_.fall_throughs) ordered.push_back(&run);
    const auto key = [](const FallThrough* r) {
      return std::tie(r->context, r->image, r->from, r->to);
    };
    std::sort(ordered.begin(), ordered.end(),
              [&](const FallThrough* a, const FallThrough* b) { return key(a) < key(b); });
    for (const FallThrough* run : ordered) add_run(*run);
    finish_function();
  }

  [[nodiscard]] std::vector<HistogramRow> take_rows() { return std::move(rows_); }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  /// One function in one context: runs come in order of address.
  struct Place {
    ContextId context;
    ImageId image;
    uint32_t function = CodePlace::kNone;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Pending {
    FunctionCode::Run run;
    double count;
  };
  struct Ending {
    double runs = 0;
    double instructions = 0;  // of all of them together
  };
  struct Timed {
    double cycles = 0;
    double records = 0;
  };

  void add(ContextId context, const Location& at, Made event, uint64_t records, double variance) {
    if (records == 0) return;
    rows_.push_back({context, at, {EventId(event), records, records, variance}});
  }

  void add_at(const BranchCount& branch, const Location& at, Made event, uint64_t records) {
    add(branch.context, at, event, records, static_cast<double>(records) * depth_);
  }

  void add_branch(const BranchCount& branch) {
    const bool has_from = has_place(branch.from);
    const bool has_to = has_place(branch.to);
    if (!has_from || !has_to) ledger_.add(ledger::kBranchesWithoutPlace, branch.count);
    add_at(branch, branch.from, taken, branch.count);
    add_at(branch, branch.to, targets, branch.count);
    add_at(branch, branch.from, judged, std::min(branch.judged, branch.count));
    add_at(branch, branch.from, misses, std::min(branch.mispredicted, branch.count));
    if (branch.timed > 0) {
      Timed& timed = timed_[{branch.context, branch.from}];
      timed.cycles += static_cast<double>(branch.cycles);
      timed.records += static_cast<double>(branch.timed);
    }
    const BranchKind kind = find_branch_kind(codes_, branch.from, branch.to);
    if (kind == BranchKind::other) return;
    add_at(branch, branch.to, calls, branch.count);
    add_at(branch, branch.from, calls_made, branch.count);
    if (kind == BranchKind::indirect_call) {
      add_at(branch, branch.from, indirect_calls, branch.count);
    }
  }

  [[nodiscard]] bool has_place(const Location& at) const {
    const Image* image = code_.image(at.image);
    return image != nullptr && image->kind != ImageKind::unknown;
  }

  /// Cycles of a run that ends with the branch at `end`, on average over its records.
  [[nodiscard]] std::optional<double> mean_cycles(ContextId context, const Location& end) const {
    const auto found = timed_.find({context, end});
    if (found == timed_.end() || found->second.records <= 0) return std::nullopt;
    return found->second.cycles / found->second.records;
  }

  void add_run(const FallThrough& run) {
    if (run.count == 0) return;
    const Location start{run.image, run.from};
    if (run.to < run.from || run.to - run.from > kLongestRunBytes) {
      ledger_.add(ledger::kImpossibleRuns, run.count);
      return;
    }
    const Place place{run.context, run.image, code_.find(start).function};
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
    add(run.context, start, runs, run.count, static_cast<double>(run.count) * depth_);
    const auto count = static_cast<double>(run.count);
    pending_.push_back({*ran, count});
    Ending& ending = endings_[ran->last];
    ending.runs += count;
    ending.instructions += count * static_cast<double>(ran->last - ran->first + 1);
  }

  void add_run_without_code(const FallThrough& run) {
    ledger_.add(ledger::kRunsWithoutCode, run.count);
    const Location start{run.image, run.from};
    add(run.context, start, runs, run.count, static_cast<double>(run.count) * depth_);
    if (const auto each = mean_cycles(run.context, {run.image, run.to})) {
      const auto count = static_cast<double>(run.count);
      add_cycles(run.context, start, count * *each, count * *each * *each);
    }
  }

  void begin_function(const Place& place) {
    finish_function();
    place_ = place;
    if (place.function == CodePlace::kNone) return;
    const FunctionCode* code = codes_.find(place.image, place.function);
    if (code != nullptr) counter_.emplace(*code);
  }

  /// Runs of different lengths may end with the same branch, which knows the cycles of all
  /// together: its instructions are taken to cost the same in each.
  void count_pending() {
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

  void finish_function() {
    if (!counter_) return;
    count_pending();
    const FunctionCode& code = counter_->code();
    counter_->for_each([&](size_t index, const RunCounter::Counts& counts) {
      const Location at{place_->image, code.offset(index)};
      const uint64_t executions = to_count(counts.executions);
      add(place_->context, at, instructions, executions, counts.weighted * depth_);
      if (code.begins_block(index)) {
        add(place_->context, at, blocks, executions, counts.blocks * depth_);
      }
      const double length = counts.weighted / counts.executions;
      add_cycles(place_->context, at, counts.cycles,
                 counts.cycles * counts.cycles / counts.executions * length);
    });
    counter_.reset();
  }

  /// `variance`: of the cycles, as if each sample had one record.
  void add_cycles(ContextId context, const Location& at, double value, double variance) {
    const uint64_t parts = to_count(value * kCycleParts);
    if (parts == 0) return;
    rows_.push_back(
        {context, at, {EventId(cycles), 0, parts, variance * depth_ * kCycleParts * kCycleParts}});
  }

  const Profile& profile_;
  CodeIndex code_;
  FunctionCodes codes_;
  double depth_;
  std::map<std::pair<ContextId, Location>, Timed> timed_;  // by the branch that ends a run
  std::optional<Place> place_;
  std::optional<RunCounter> counter_;  // of place_, until finish_function()
  std::vector<Pending> pending_;
  std::map<size_t, Ending> endings_;  // of pending_, by the last instruction
  std::vector<HistogramRow> rows_;
  Ledger ledger_;
};

Event describe(const MadeEvent& made, const BranchScale& scale, StringTable& strings) {
  Event event;
  event.name = strings.intern(made.name);
  event.unit = made.unit;
  event.provenance = Provenance::sampled;
  event.engine = strings.intern(branch_events::kEngine);
  event.encoding = strings.intern("");
  event.scale = made.counts == Counts::runs ? scale.per_run : scale.per_branch;
  if (made.unit == Unit::cycles) event.scale /= kCycleParts;
  return event;
}

/// What a table of code needs: the tables, the histograms, the branches, the ledger.
Profile copy_code_counts(const Profile& profile) {
  Profile copy;
  copy.machine = profile.machine;
  copy.environment = profile.environment;
  copy.strings = profile.strings;
  copy.runs = profile.runs;
  copy.processes = profile.processes;
  copy.threads = profile.threads;
  copy.contexts = profile.contexts;
  copy.images = profile.images;
  copy.branch_counts = profile.branch_counts;
  copy.fall_throughs = profile.fall_throughs;
  copy.ledger = profile.ledger;
  return copy;
}

std::string describe_scale(const BranchScale& scale) {
  if (scale.is_scaled) {
    return fmt::format(
        "branch records are scaled: one stands for {:.4g} taken branches, a straight run for "
        "{:.4g}",
        scale.per_branch, scale.per_run);
  }
  return fmt::format("branch records are not scaled to executions ({}): lbr: counts are records",
                     scale.reason);
}

}  // namespace

bool has_branch_records(const Profile& profile) {
  return !profile.branch_counts.empty() || !profile.fall_throughs.empty();
}

Result<Profile> with_branch_events(const Profile& profile, const FactsLookup& facts) {
  if (!has_branch_records(profile)) {
    return Error{
        "the profile has no branch records, which count executions\n"
        "record them on a CPU that has them: culprit record -b ./program"};
  }
  const BranchScale scale = find_branch_scale(profile);
  Maker maker(profile, facts, scale.depth);
  maker.add_branches();
  maker.add_runs();
  std::vector<HistogramRow> rows = maker.take_rows();

  Profile result = copy_code_counts(profile);
  std::array<EventId, kMadeEvents> ids;  // of those that there are
  std::array<bool, kMadeEvents> is_used{};
  for (const HistogramRow& row : rows) is_used[row.cell.event.value] = true;
  for (uint32_t made = 0; made < kMadeEvents; ++made) {
    if (!is_used[made]) continue;
    ids[made] = EventId(result.events.size());
    result.events.push_back(describe(kEvents[made], scale, result.strings));
  }
  const size_t before = result.events.size();
  result.events.insert(result.events.end(), profile.events.begin(), profile.events.end());
  for (HistogramRow& row : rows) row.cell.event = ids[row.cell.event.value];
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      const Cell cell{EventId(before + event), sum.samples, sum.value, sum.variance};
      rows.push_back({histogram.context, at, cell});
    });
  }
  result.histograms = make_histograms(std::move(rows), result.events);
  result.ledger.merge(maker.ledger());
  result.ledger.note(describe_scale(scale));
  return result;
}

}  // namespace culprit
