#include "branches/branch_scale.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "model/counts.h"
#include "model/engine.h"
#include "model/event_names.h"

namespace culprit {

namespace {

struct Records {
  double branches = 0;
  double runs = 0;
};

Records count_records(const Profile& profile) {
  Records records;
  for (const BranchCount& row : profile.branch_counts) {
    records.branches += static_cast<double>(row.count);
  }
  for (const FallThrough& row : profile.fall_throughs) {
    records.runs += static_cast<double>(row.count);
  }
  return records;
}

/// The event that was sampled, if only one was; else why not.
const Event* find_only_sampled(const Profile& profile, const Sums& totals, double& samples) {
  const Event* only = nullptr;
  samples = 0;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.events[event].provenance != Provenance::sampled || totals[event].samples == 0)
      continue;
    samples += static_cast<double>(totals[event].samples);
    if (only != nullptr) return nullptr;
    only = &profile.events[event];
  }
  return only;
}

/// Whether they all come from a simulator.
bool are_counted(const Profile& profile) {
  const auto is_of_simulator = [&](const auto& row) {
    if (row.context.value >= profile.contexts.size()) return false;
    const RunId run = profile.contexts[row.context.value].run;
    return run.value < profile.runs.size() && is_simulated(profile, profile.runs[run.value]);
  };
  return (!profile.branch_counts.empty() || !profile.fall_throughs.empty()) &&
         std::all_of(profile.branch_counts.begin(), profile.branch_counts.end(), is_of_simulator) &&
         std::all_of(profile.fall_throughs.begin(), profile.fall_throughs.end(), is_of_simulator);
}

}  // namespace

bool counts_taken_branches(const std::string& name, const std::string& encoding,
                           const std::string& cpu_model) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c == ':' ? '.' : static_cast<char>(std::tolower(c));
  });
  // Intel's, AMD's (as perf and as libpfm4 say it), and the generic name of newer Arm cores.
  constexpr std::array<std::string_view, 5> kNames = {
      "br_inst_retired.near_taken", "ex_ret_brn_tkn", "retired_taken_branch_instructions",
      "retired_branch_taken_instructions", "br_taken_retired"};
  for (const std::string_view known : kNames) {
    if (lower.find(known) != std::string::npos) return true;
  }
  constexpr uint64_t kEventAndMask = 0xffff;
  constexpr uint64_t kAmdEvent = 0xf000000ff;
  constexpr uint32_t kRawType = 4;  // PERF_TYPE_RAW
  const std::optional<EventCode> code = parse_event_code(encoding);
  if (!code || code->type != kRawType) return false;
  if (cpu_model.find("Intel") != std::string::npos) return (code->config & kEventAndMask) == 0x20c4;
  if (cpu_model.find("AMD") != std::string::npos) return (code->config & kAmdEvent) == 0xc4;
  return false;
}

BranchScale find_branch_scale(const Profile& profile) {
  BranchScale scale;
  if (are_counted(profile)) {
    scale.is_exact = scale.is_scaled = true;
    return scale;
  }
  const Records records = count_records(profile);
  double samples = 0;
  const Event* const event = find_only_sampled(profile, total_sums(profile), samples);
  // Each sample has one run less than branches; samples whose records are empty have neither.
  if (records.runs > 0 && records.branches > records.runs) {
    scale.depth = records.branches / (records.branches - records.runs);
  }
  if (samples > 0) scale.depth = std::max(scale.depth, records.branches / samples);
  scale.depth = std::max(scale.depth, 1.0);

  const double runs = records.branches - samples;
  if (event == nullptr) {
    scale.reason = samples > 0 ? "several events were sampled" : "nothing was sampled";
  } else if (!counts_taken_branches(profile.strings.text(event->name),
                                    profile.strings.text(event->encoding),
                                    profile.machine.cpu_model)) {
    scale.reason = "sampled by " + profile.strings.text(event->name) +
                   ", which favours other places than retired taken branches do";
  } else if (event->period == 0) {
    scale.reason = "the period varied";
  } else if (records.runs == 0 || runs <= 0) {
    scale.reason = "some kinds of branches were left out of the records";
  } else {
    const double taken = samples * static_cast<double>(event->period);
    scale.is_scaled = true;
    scale.per_branch = taken / records.branches;
    scale.per_run = taken / runs;
  }
  return scale;
}

}  // namespace culprit
