#pragma once

// Events by the names of CPU makers: the part of event_lookup.h that asks libpfm4 and our
// own tables.

#include <optional>

#include "events/event_lookup.h"

namespace culprit {

/// An event of this machine's CPU; nullopt if libpfm4 knows none of that name.
/// Errors: it names another CPU.
Result<std::optional<FoundEvent>> look_up_pfm(const EventWords& event, const PmuCatalog& catalog);

}  // namespace culprit
