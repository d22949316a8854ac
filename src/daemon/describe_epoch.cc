#include "daemon/describe_epoch.h"

#include <string_view>
#include <utility>

#include "host/describe_machine.h"
#include "model/engine.h"
#include "recording/describe_run.h"

namespace culprit {

void describe_epoch(ProfileBuilder& builder, const char* collector, uint64_t period_ns) {
  static const Machine machine = describe_machine();
  Profile& profile = builder.profile();
  profile.machine = machine;
  profile.environment["sampling"] = "per-cpu";
  builder.begin_run(describe_run(builder, "the whole system, always on"));
  builder.run().labels[builder.intern("collector")] = builder.intern(collector);
  Event event;
  event.name = builder.intern("cpu-clock");
  event.unit = Unit::ns;
  event.provenance = Provenance::sampled;
  event.engine = builder.intern(word_of(Engine::timer));
  event.encoding = builder.intern("cpu-clock");
  event.period = period_ns;
  profile.events.push_back(event);
}

void label_epoch(Profile& profile, const SamplingTotals& totals, uint64_t daemon_cpu_ns) {
  const std::pair<std::string_view, uint64_t> labels[] = {
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
  };
  for (const auto& [name, value] : labels) {
    profile.runs.back().labels[profile.strings.intern(name)] =
        profile.strings.intern(std::to_string(value));
  }
}

}  // namespace culprit
