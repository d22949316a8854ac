#pragma once

// The verdict: which branch of the tree is the culprit, and how far that may be believed.
//
//     const Verdict verdict = find_verdict(cpu, tree, measured);
//     if (verdict.certainty == Certainty::firm) ...  // verdict.branch->label
//
// A model names what it has most of. Only where the time measured beside it agrees is that a
// culprit; else it is a candidate, or nothing.

#include <optional>
#include <string>

#include "templates/template.h"

#include "accounting/cost_tree.h"
#include "report/measured_cycles.h"

namespace culprit {

enum class Certainty : uint8_t {
  none,       // no branch costs much, or what speaks against the one that does is as large
  candidate,  // it is likely, and not known
  firm,
};

struct Verdict {
  Certainty certainty = Certainty::none;
  const CostNode* branch = nullptr;  // of level 3, of the tree; nullptr: none costs much
  std::string reason;                // why it is not firm
};

/// Firm is what hardware counted, by samples enough, and what a model says whose cycles agree with
/// those measured in most of the time, and leave less unexplained than would change the verdict.
/// Shape:  `measured`: of the tree's part; none where nothing was measured beside the model.
///         `first`: the branch, where something else than its cycles chose it; else nullptr
Verdict find_verdict(const Template& cpu, const CostTree& tree,
                     const std::optional<MeasuredCycles>& measured,
                     const CostNode* first = nullptr);

/// "firm", "candidate", "none".
const char* certainty_name(Certainty certainty);

/// What the verdict rests on: "1,204 samples; ...", for people.
std::string describe_basis(const Profile& profile, const Template& cpu, const CostTree& tree,
                           const std::optional<MeasuredCycles>& measured);

}  // namespace culprit
