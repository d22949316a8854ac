// The columns that branch records become, beside the profile's own: their rows come from
// RecordCounter, their scale from find_branch_scale().

#include "branches/branch_events.h"

#include <array>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "branches/branch_scale.h"
#include "branches/event_names.h"
#include "branches/record_counter.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/imported.h"
#include "model/merge.h"

namespace culprit {

namespace {

enum class Counts : uint8_t { runs, branches };  // of what: decides the scale

struct MadeEvent {
  const char* name;
  Unit unit;
  Counts counts;
};

/// The events in the order of Made.
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

Event describe(const MadeEvent& made, const BranchScale& scale, StringTable& strings) {
  Event event;
  event.name = strings.intern(made.name);
  event.unit = made.unit;
  event.provenance = scale.is_exact ? Provenance::counted : Provenance::sampled;
  event.engine = strings.intern(word_of(Engine::branch_records));
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
  if (scale.is_exact) return "branches are counted, not sampled: lbr: counts are executions";
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

std::string advise_branch_records(const Profile& profile) {
  return is_imported(profile) ? "perf records them on a CPU that has them: perf record -b ./program"
                              : "record them on a CPU that has them: culprit record -b ./program";
}

Result<Profile> with_branch_events(const Profile& profile, const FactsLookup& facts) {
  if (!has_branch_records(profile)) {
    return Error{"the profile has no branch records, which count executions\n" +
                 advise_branch_records(profile)};
  }
  const BranchScale scale = find_branch_scale(profile);
  CodeIndex code(profile, facts);
  RecordCounter counter(code, scale.depth);
  counter.count();
  std::vector<HistogramRow> rows = counter.take_rows();

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
  for (HistogramRow& row : rows) {
    row.cell.event = ids[row.cell.event.value];
    if (scale.is_exact) row.cell.samples = 0, row.cell.variance = 0;
  }
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      const Cell cell{EventId(before + event), sum.samples, sum.value, sum.variance};
      rows.push_back({histogram.context, at, cell});
    });
  }
  result.histograms = make_histograms(std::move(rows), result.events);
  result.ledger.merge(counter.ledger());
  result.ledger.note(describe_scale(scale));
  return result;
}

}  // namespace culprit
