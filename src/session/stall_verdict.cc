#include "session/stall_verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "base/names.h"
#include "base/text.h"

namespace culprit {

namespace {

/// The causes that are a branch of the tree of costs. None of `function call overhead`: calls are
/// work, no stall.
std::vector<StallCause> causes_of(CostBranch branch) {
  using enum StallCause;
  switch (branch) {
    case CostBranch::load_latency:
      return {load_l2, load_l3, load_memory, load_other_core, translation, forwarding};
    case CostBranch::bandwidth_saturation:
      return {bandwidth};
    case CostBranch::instruction_starvation:
      return {code_fetch};
    case CostBranch::instruction_latency:
      return {chain, divider};
    case CostBranch::store_resource_saturation:
      return {store_buffer};
    case CostBranch::branch_misprediction:
      return {misprediction};
    case CostBranch::port_saturation:
      return {port};
    case CostBranch::instruction_serialization:
      return {serializing};
    case CostBranch::microcode_exceptions:
      return {microcode};
    default:
      return {};
  }
}

/// "d2 d3 dm"
std::string letters_of(const std::vector<StallCause>& causes) {
  std::string text;
  for (const StallCause cause : causes) {
    text += (text.empty() ? "" : " ") + std::string(name_of(cause).letter);
  }
  return text;
}

std::string compare_branch(const CostNode& branch, const StallSummary& stalls) {
  const CauseCycles& high = stalls.tallied.high;
  const std::vector<StallCause> causes = causes_of(branch.branch);
  const auto percent = [&](double cycles) {
    return stalls.cycles > 0 ? 100 * cycles / stalls.cycles : 0;
  };
  double its = 0;
  for (const StallCause cause : causes) its = std::max(its, high[static_cast<size_t>(cause)]);
  const auto most = std::max_element(high.begin(), high.end());
  if (causes.empty()) return "That is work, not a stall: it has no row here.";
  if (!(*most > 0)) return "Here no cause is left that stalls could have.";
  // Causes of one bound cannot be told apart.
  if (its >= 0.999 * *most) {
    return fmt::format("Its causes here ({}) are not behind any other: up to {:.1f} %.",
                       letters_of(causes), percent(its));
  }
  const auto other = static_cast<StallCause>(most - high.begin());
  return fmt::format(
      "Here {} can have had more: up to {:.1f} %, and its causes ({}) up to {:.1f} %. The verdict "
      "is by the cycles that a model or a template gives each event; the bounds here are by what "
      "the "
      "time that was measured leaves possible, where several causes may have had the same cycles.",
      name_of(other).words, percent(*most), letters_of(causes), percent(its));
}

}  // namespace

std::string compare_with_verdict(const WhyReport& why, const StallSummary& stalls) {
  const Verdict& verdict = why.verdict;
  const bool names_work = verdict.kernel != nullptr || verdict.library != nullptr;
  const bool names_any = names_work || verdict.waiting != nullptr || verdict.branch != nullptr;
  if (verdict.certainty == Certainty::none || !names_any) {
    return "culprit why names no culprit" +
           (verdict.reason.empty() ? std::string(".") : ": " + verdict.reason + ".");
  }
  const std::string certainty = certainty_name(verdict.certainty);
  if (verdict.kernel != nullptr) {
    return fmt::format("culprit why names work of the kernel ({}): it is the row 'kernel' here.",
                       certainty);
  }
  if (verdict.library != nullptr) {
    return fmt::format(
        "culprit why names work of a library that need not be done ({}), whatever its "
        "instructions wait for.",
        certainty);
  }
  if (verdict.waiting != nullptr) {
    return fmt::format(
        "culprit why names what the program waits for while none of its threads runs ({}): of "
        "that time instructions say nothing.",
        certainty);
  }
  return fmt::format("culprit why names {} ({}). {}", verdict.branch->label, certainty,
                     compare_branch(*verdict.branch, stalls));
}

bool lacks_explanation(const WhyReport& why) {
  constexpr double kMuch = 0.25;
  return why.verdict.certainty == Certainty::none && why.measured &&
         why.measured->unexplained.value > kMuch * why.measured->measured.value;
}

std::string describe_unexplained(const StallSummary& stalls) {
  constexpr double kMuch = 0.2;
  const Stalls& all = stalls.tallied;
  const size_t first = order_causes(all.cycles, all.high, all.likely).front();
  if (!(stalls.cycles > 0) || all.high[first] < kMuch * stalls.cycles) return "";
  const auto percent = [&](double cycles) { return 100 * cycles / stalls.cycles; };
  std::string text = fmt::format(
      "its instructions tell more of what is unexplained: {} can have had {:.0f} to {:.0f} % of "
      "the time, the most of all causes",
      kStallCauseNames[first].words, percent(all.low[first]), percent(all.high[first]));
  if (stalls.part.empty() && !stalls.places.empty()) {
    const StallPlace& place = stalls.places.front();
    constexpr size_t kRoom = 40;
    text += fmt::format(", and {:.0f} % of it passed in {}", percent(place.stalls.cycles),
                        printable(shorten_name(place.function, kRoom)));
  }
  return text + ". culprit why --stalls has them, annotate the instructions";
}

}  // namespace culprit
