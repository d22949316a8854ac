#include "collect/timer/posix_timer_profile.h"

#include <variant>

#include "model/engine.h"
#include "model/ledger.h"
#include "records/parse_record.h"

namespace culprit {

TimerProfile::TimerProfile(const TimerOptions& options)
    : processor_(ProcessorOptions{.stacks = options.stacks,
                                  .event_of_id = {},
                                  .layout = {},
                                  .regions = options.regions,
                                  .make_unwinder = {}}) {
  layout_.sample_type = options.stacks ? CULPRIT_SAMPLE_TYPE_STACKS : CULPRIT_SAMPLE_TYPE;
  layout_.sample_id_all = true;

  ProfileBuilder& builder = processor_.builder();
  Event event;
  event.name = builder.intern("cpu-time");
  event.unit = Unit::ns;
  event.provenance = Provenance::sampled;
  event.engine = builder.intern(word_of(Engine::posix_timer));
  event.encoding = builder.intern("timer:CLOCK_THREAD_CPUTIME_ID:u");
  event.period = options.period_ns;
  builder.profile().events.push_back(event);
}

void TimerProfile::take(const TimerRecord& record) {
  const Result<Record> parsed = parse_record(record.bytes, layout_);
  if (!parsed) {
    processor_.builder().profile().ledger.add(ledger::kDamagedRecords);
    return;
  }
  if (const auto* sample = std::get_if<SampleRecord>(&parsed->body)) {
    seen_ns_ += sample->period;
    if (record.time_ns < first_sample_ns_) return;
  }
  processor_.process(*parsed);
}

}  // namespace culprit
