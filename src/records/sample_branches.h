#pragma once

// The branch record of a sample: taken branches, the latest first. Each is counted by
// place, and so is the code between each two, which ran straight on:
//
//   ... ──branch──→ to₁ ─ ─ ─ code ─ ─ ─ from₀ ──branch──→ to₀ ... sample

#include <functional>
#include <span>

#include "model/builder.h"
#include "records/record.h"

namespace culprit {

/// `has_all`: no taken branch is missing between two (none was filtered out).
void add_branches(std::span<const BranchEntry> branches,
                  const std::function<Location(RunAddress)>& find_place, ContextId context,
                  bool has_all, ProfileBuilder& builder);

}  // namespace culprit
