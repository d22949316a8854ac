#include "session/local_advice.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "why/repairs.h"

namespace culprit {
namespace {

bool waits_for_memory(const PlacedAdvice& one) {
  return one.kernel.empty() && (one.branch == CostBranch::load_latency ||
                                one.branch == CostBranch::bandwidth_saturation ||
                                one.branch == CostBranch::store_resource_saturation);
}

std::string describe(const LocalityAdvice& piece) {
  std::string text = piece.title + ". " + piece.reason;
  if (!piece.objects.empty()) text += fmt::format(" Data: {}.", fmt::join(piece.objects, ", "));
  return text;
}

PlacedAdvice stand_alone(const LocalityAdvice& piece) {
  PlacedAdvice one;
  one.branch = CostBranch::load_latency;
  one.label = "cache lines";
  one.here = describe(piece);
  one.cycles = {piece.saved_cycles, 0};
  one.unhalted = one.at_most = one.upper_end = std::min(1.0, piece.share);
  if (!piece.lines.empty()) one.line = piece.lines.front();
  one.share = 1;
  return one;
}

/// What is forecast for no waiting at all at a place is too much for a change that leaves most of
/// it: its own figure is the forecast then, as sure as the other was.
void keep_to_what_it_saves(const LocalityAdvice& piece, PlacedAdvice& one) {
  if (!one.gain || one.tried != nullptr || piece.share >= one.gain->low) return;
  const double part = piece.share / one.gain->expected;
  one.gain = GainForecast{piece.share, one.gain->low * part, one.gain->high * part};
}

}  // namespace

void add_local_advice(const std::vector<LocalityAdvice>& pieces, WhyReport& why) {
  for (const LocalityAdvice& piece : pieces) {
    const auto same_line = [&](const PlacedAdvice& one) {
      return waits_for_memory(one) && one.here.empty() &&
             std::ranges::find(piece.lines, one.line) != piece.lines.end();
    };
    const auto known = std::ranges::find_if(why.advice, same_line);
    if (known != why.advice.end()) {
      known->here = describe(piece);
      keep_to_what_it_saves(piece, *known);
    } else {
      why.advice.push_back(stand_alone(piece));
    }
  }
  sort_advice(why.verdict.branch, why.advice);
  if (why.advice.size() > why.options.advice_limit) why.advice.resize(why.options.advice_limit);
}

}  // namespace culprit
