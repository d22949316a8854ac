#include "collect/count/count_rows.h"

#include <algorithm>
#include <fmt/format.h>

#include "collect/perf/perf_attr.h"
#include "model/engine.h"
#include "model/event_names.h"
#include "recording/process_folder.h"
#include "records/event_attr.h"

namespace culprit {

namespace {

ThreadId add_thread(Profile& profile, pid_t tid, const std::string& name) {
  Thread thread;
  thread.tid = static_cast<uint32_t>(tid);
  thread.name = profile.strings.intern(name);
  profile.threads.push_back(thread);
  return ThreadId(profile.threads.size() - 1);
}

}  // namespace

void add_counted_events(Profile& profile, const EventGroup& group) {
  for (const EventRequest& request : group.members) {
    Event event;
    event.name = profile.strings.intern(request.name);
    event.unit = request.unit == "ns" || is_clock(request) ? Unit::ns : Unit::events;
    event.provenance = Provenance::counted;
    event.engine = profile.strings.intern(word_of(find_engine(request.type, request.config)));
    event.encoding = profile.strings.intern(
        format_event_code({request.type, request.config, request.config1, request.config2}));
    event.scale = request.scale;
    profile.events.push_back(event);
  }
}

std::vector<ContextId> add_counted_run(Profile& profile, const Run& run,
                                       std::span<const pid_t> tids, bool per_thread) {
  Context context;
  context.run = RunId(profile.runs.size());
  profile.runs.push_back(run);
  std::vector<ContextId> contexts;
  for (size_t source = 0; source < std::max<size_t>(tids.size(), 1); ++source) {
    const bool is_apart = per_thread && source < tids.size();
    if (source > 0 && !is_apart) {
      contexts.push_back(contexts.front());
      continue;
    }
    if (is_apart)
      context.thread =
          add_thread(profile, tids[source], read_task_name(static_cast<uint32_t>(tids[source])));
    contexts.emplace_back(profile.contexts.size());
    profile.contexts.push_back(context);
  }
  return contexts;
}

ContextId add_counted_thread(Profile& profile, pid_t tid, std::string name) {
  CHECK(!profile.runs.empty());
  Context context;
  context.run = RunId(profile.runs.size() - 1);
  context.thread = add_thread(profile, tid, name);
  profile.contexts.push_back(context);
  return ContextId(profile.contexts.size() - 1);
}

void add_count_rows(Profile& profile, const CountPlace& place, std::span<const ContextId> contexts,
                    std::span<const RefusedEvent> refused, std::span<const Reading> readings) {
  const size_t sources = contexts.size();
  for (size_t i = 0; i < readings.size() / sources; ++i) {
    const size_t event = place.first_event + i;
    const bool is_refused =
        std::any_of(refused.begin(), refused.end(),
                    [&](const RefusedEvent& known) { return known.event == event; });
    if (is_refused) continue;
    size_t source = 0;
    while (source < sources) {
      Count row{contexts[source], EventId(event), place.interval, place.repetition, 0, 0, 0};
      for (; source < sources && contexts[source] == row.context; ++source) {
        const Reading& reading = readings[i * sources + source];
        row.value += reading.value;
        row.time_enabled_ns += reading.enabled_ns;
        row.time_running_ns += reading.running_ns;
      }
      profile.counts.push_back(row);
    }
  }
}

}  // namespace culprit
