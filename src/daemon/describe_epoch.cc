#include "daemon/describe_epoch.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "collect/perf/describe_event.h"
#include "host/describe_machine.h"
#include "model/stacks_beside.h"
#include "recording/describe_run.h"

namespace culprit {

namespace {

using Labels = std::initializer_list<std::pair<std::string_view, uint64_t>>;

void set_labels(Profile& profile, Labels labels) {
  for (const auto& [name, value] : labels) {
    profile.runs.back().labels[profile.strings.intern(name)] =
        profile.strings.intern(std::to_string(value));
  }
}

}  // namespace

void describe_epoch(ProfileBuilder& builder, const char* collector, uint64_t period_ns,
                    const std::vector<DaemonEvent>& events) {
  static const Machine machine = describe_machine();
  Profile& profile = builder.profile();
  profile.machine = machine;
  profile.environment["sampling"] = "per-cpu";
  builder.begin_run(describe_run(builder, "the whole system, always on"));
  builder.run().labels[builder.intern("collector")] = builder.intern(collector);
  profile.events.push_back(describe_event(builder, make_clock_event(period_ns, false, false)));
  for (const DaemonEvent& event : events) {
    profile.events.push_back(describe_event(builder, event.sampled));
  }
}

void add_event_totals(ProfileBuilder& builder, const std::vector<EventTotals>& totals) {
  if (totals.empty()) return;
  Profile& profile = builder.profile();
  Context whole_run;
  whole_run.run = builder.run_id();
  const ContextId context = builder.intern_context(whole_run);
  for (size_t i = 0; i < totals.size(); ++i) {
    const EventTotals& total = totals[i];
    profile.counts.push_back(
        {context, EventId(i + 1), 0, 0, total.value, total.enabled_ns, total.running_ns});
    const double percent = 100 * static_cast<double>(total.running_ns) /
                           static_cast<double>(std::max<uint64_t>(total.enabled_ns, 1));
    constexpr double kAlmostAll = 99;
    if (percent >= kAlmostAll) continue;
    profile.ledger.note(
        fmt::format("{}: sampled {:.0f} % of the time, the rest is missing", total.name, percent));
  }
}

void label_epoch(Profile& profile, const SamplingTotals& totals, uint64_t daemon_cpu_ns) {
  set_labels(profile, {
                          {"samples handled", totals.handled},
                          {"samples idle", totals.idle},
                          {"samples lost", totals.lost},
                          {"samples skipped", totals.skipped},
                          {"samples unknown: address space locked", totals.unknown_busy},
                          {"samples unknown: not mapped", totals.unknown_unmapped},
                          {"samples unknown: in the kernel", totals.unknown_kernel},
                          {"samples without a file", totals.anonymous},
                          {"table hits", totals.hits},
                          {"table misses", totals.misses},
                          {"table evictions", totals.evicted},
                          {"table entries drained", totals.entries},
                          {"range hits", totals.range_hits},
                          {"range searches", totals.range_searches},
                          {"range refusals", totals.range_refusals},
                          {"names refused", totals.records_refused},
                          {"handler calls timed", totals.timed},
                          {"handler ns", totals.timed_ns},
                          {"clock ns", totals.enabled_ns},
                          {"daemon cpu ns", daemon_cpu_ns},
                      });
}

void label_stacks(Profile& profile, const StackTotals& totals) {
  set_labels(profile, {{kStacksBeside, totals.samples},
                       {"stacks lost", totals.lost},
                       {"stacks rest ns", totals.rest_ns},
                       {"stacks cpu ns", totals.cpu_ns}});
}

}  // namespace culprit
