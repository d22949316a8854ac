#pragma once

// cpu/event=0xc0,umask=1/ → bits of config, by the PMU's format files:
//
//     format/event   config:0-7         0xc0 →  . . . . c0
//     format/umask   config:8-15        0x01 →  . . 01 c0
//     format/event   config:0-7,32-35   (AMD)  0x1c0 → low byte below, 1 above
//
// A lone word may be an event of events/, which stands for its terms; terms that are
// typed as well replace those. config=, config1=, config2= and rNNN give all bits.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "events/event_request.h"
#include "events/event_syntax.h"

namespace culprit {

/// A request with what all events of this PMU have: type and CPUs.
EventRequest request_on(const Pmu& pmu);

/// All terms of `event` on `pmu`, which it names.
/// Errors: no such term (with the nearest), a value that is no number or too large for its
/// bits, an event that wants a value which is not given.
Result<EventRequest> encode_terms(const Pmu& pmu, const EventWords& event);

/// name=, period= and freq=, which any event may have; false if it is another term.
Result<bool> apply_common_term(const EventTerm& term, const EventWords& event,
                               EventRequest& request);

/// "r1c0", "r0x1c0" → 0x1c0.
std::optional<uint64_t> parse_raw_event(std::string_view word);

/// Bits of config, config1 and config2 that no format file mentions; what the kernel is
/// likely to refuse.
std::string describe_unknown_bits(const Pmu& pmu, const EventRequest& request);

}  // namespace culprit
