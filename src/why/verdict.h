#pragma once

// The verdict: which branch of the tree is the culprit, and how far that may be believed.
//
//     const Verdict verdict = find_verdict(cpu, {tree, measured, kernel});
//     if (verdict.certainty == Certainty::firm) ...  // verdict.branch->label
//
// A model names what it has most of. Only where the time measured beside it agrees, and a second
// run of the model without that cost is faster, is that a culprit; else it is a candidate, or
// nothing. What the kernel does is measured, not modelled.

#include <optional>
#include <string>

#include "accounting/consistency.h"
#include "accounting/cost_tree.h"
#include "report/measured_cycles.h"
#include "templates/template.h"
#include "why/gain_forecast.h"
#include "why/kernel_time.h"
#include "why/library_work.h"
#include "why/waiting.h"

namespace culprit {

/// A branch of the tree, and what all of its repairs save together.
struct BranchGain {
  const CostNode* branch = nullptr;
  GainForecast gain;
  bool was_tried = false;  // an experiment measured it
};

enum class Certainty : uint8_t {
  none,       // no branch costs much, or what speaks against the one that does is as large
  candidate,  // it is likely, and not known
  firm,
};

/// What a verdict rests on. All must outlive it.
struct VerdictInput {
  const CostTree& tree;
  const std::optional<MeasuredCycles>& measured;  // of the tree's part; none: nothing was measured
                                                  // beside the model
  const KernelTime* kernel = nullptr;             // of the same part; null: not known
  std::optional<BranchGain> chosen = {};  // by the forecasts; none: the one with most cycles
  const WaitingTime* waiting = nullptr;   // of everything; null: not recorded, or of a part
  bool others_ran = false;  // while it was timed others had so much of the CPUs as to slow it
  const LibraryPart* library = nullptr;  // the largest of the same part; null: none
  const std::string* cut = nullptr;      // what ended the simulated run too early; null: nothing
  const std::vector<RuleResult>* rules = nullptr;  // what events say of each other; null: nothing
};

struct Verdict {
  Certainty certainty = Certainty::none;
  const CostNode* branch = nullptr;    // of level 3, of the tree; nullptr: none costs much
  const KernelPart* kernel = nullptr;  // instead of a branch: work of the kernel
  std::string reason;                  // why it is not firm
  const WaitKind* waiting = nullptr;  // instead of either: what holds up a program that hardly runs
  std::optional<GainForecast> gain =
      {};  // of all repairs of the branch, where it was chosen by that
  const LibraryPart* library = nullptr;  // instead of these: a library's work that need not be done
};

/// Firm is what hardware counted, by samples enough and without events that contradict each other;
/// what an experiment measured; and what a model says whose cycles agree with those measured in
/// most of the time, leave less unexplained than would change the verdict, and are not forecast to
/// hide behind others. The kernel's work is the verdict where one kind of it has a tenth of the
/// time, and more than the largest branch; and it is firm where stacks told the kind and code whose
/// costs are not known has no more of the time. Of a simulated run that was cut short it is a
/// candidate, and none if most of the time came later. A library's work for which there is a
/// cheaper way is the verdict where it has a fifth of the time, and more than that; it is measured,
/// and no matter what its instructions wait for; firm as the kernel's is. Where for most of the
/// wall time no thread runs, it is what they wait for; firm where one thing outside of the program
/// explains that time.
Verdict find_verdict(const Template& cpu, const VerdictInput& input);

/// Whether a simulated run that was cut short has half of the time that user code takes, or more.
bool has_most_of_a_cut_run(const MeasuredCycles& measured);

/// "firm", "candidate", "none".
const char* certainty_name(Certainty certainty);

/// What the verdict rests on: "1,204 samples; ...", for people.
std::string describe_basis(const Profile& profile, const Template& cpu, const CostTree& tree,
                           const std::optional<MeasuredCycles>& measured);

}  // namespace culprit
