#include "collect/perf/describe_event.h"

#include "model/engine.h"
#include "model/event_names.h"
#include "records/event_attr.h"

namespace culprit {

Event describe_event(ProfileBuilder& builder, const SampledEvent& sampled) {
  const EventRequest& request = sampled.request;
  const bool is_time = is_clock(request);
  Event event;
  event.name = builder.intern(request.name);
  event.unit = is_time ? Unit::ns : find_sampled_unit(request.name);
  event.provenance = Provenance::sampled;
  event.engine = builder.intern(word_of(find_engine(request.type, request.config)));
  event.encoding = builder.intern(is_time ? request.name
                                          : format_event_code({request.type, request.config,
                                                               request.config1, request.config2}));
  event.period = sampled.period;
  return event;
}

}  // namespace culprit
