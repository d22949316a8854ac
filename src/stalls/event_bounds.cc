#include "stalls/event_bounds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "stats/counting.h"

namespace culprit {
namespace {

/// What can be reached from the instructions in kSkidInstructions steps, themselves included. What
/// it takes does not grow with the function.
std::set<uint32_t> find_reached(const std::vector<std::vector<uint32_t>>& next,
                                const std::vector<size_t>& instructions) {
  std::vector<uint32_t> edge(instructions.begin(), instructions.end());
  std::set<uint32_t> reached(edge.begin(), edge.end());
  for (size_t step = 0; step < kSkidInstructions && !edge.empty(); ++step) {
    std::vector<uint32_t> further;
    for (const uint32_t from : edge) {
      for (const uint32_t to : next[from]) {
        if (reached.insert(to).second) further.push_back(to);
      }
    }
    edge = std::move(further);
  }
  return reached;
}

/// Samples that stand for less than usual, as the first ones at a frequency do, tell no more.
double weight_of(const SampledEvents& seen, double usual) {
  return seen.value > 0 ? std::max(usual, seen.variance / seen.value) : usual;
}

}  // namespace

double find_most_events(const SampledEvents& seen, double weight) {
  const double of_one = weight_of(seen, weight);
  constexpr double kRounding = 1e-6;
  const double count = std::ceil(seen.value / of_one - kRounding);
  return poisson_interval(static_cast<uint64_t>(std::max(0.0, count))).high * of_one;
}

double find_least_events(const SampledEvents& seen, double weight) {
  const double of_one = weight_of(seen, weight);
  constexpr double kRounding = 1e-6;
  return poisson_interval(static_cast<uint64_t>(seen.value / of_one + kRounding)).low * of_one;
}

FunctionEvents::FunctionEvents(const EventRules& rules, const FunctionFlow& flow, bool is_of_kernel)
    : rules_(&rules), is_of_kernel_(is_of_kernel) {
  if (rules.events.empty()) return;
  const Disassembly& code = flow.function->code;
  const FlowGraph& graph = flow.function->graph;
  after_.resize(code.instructions.size());
  before_.resize(code.instructions.size());
  seen_.assign(rules.events.size(), std::vector<SampledEvents>(code.instructions.size()));
  const auto connect = [&](size_t from, size_t to) {
    after_[from].push_back(static_cast<uint32_t>(to));
    before_[to].push_back(static_cast<uint32_t>(from));
  };
  for (const Block& block : code.blocks) {
    for (size_t i = block.first; i + 1 < block.last; ++i) connect(i, i + 1);
  }
  for (const FlowEdge& edge : graph.edges) {
    if (edge.from >= graph.blocks || edge.to >= graph.blocks) continue;
    connect(code.blocks[edge.from].last - 1, code.blocks[edge.to].first);
  }
}

void FunctionEvents::add(size_t instruction, size_t event, const SampledEvents& seen) {
  seen_[event][instruction] += seen;
}

std::vector<SampledEvents> FunctionEvents::add_up_near(
    const std::vector<size_t>& instructions) const {
  std::set<uint32_t> close = find_reached(after_, instructions);
  close.merge(find_reached(before_, instructions));
  std::vector<SampledEvents> near(rules_->events.size());
  for (const uint32_t i : close) {
    for (size_t event = 0; event < near.size(); ++event) near[event] += seen_[event][i];
  }
  return near;
}

std::vector<SampledEvents> FunctionEvents::add_up(const std::vector<size_t>& instructions) const {
  std::vector<SampledEvents> sums(seen_.size());
  for (size_t event = 0; event < sums.size(); ++event) {
    for (const size_t i : instructions) sums[event] += seen_[event][i];
  }
  return sums;
}

std::optional<EventBound> FunctionEvents::find_bound(const WayBound& bound,
                                                     const std::vector<SampledEvents>& near) const {
  EventBound found;
  for (const WayBound::Part& part : bound.parts) {
    const BoundingEvent& event = rules_->events[part.event];
    const bool is_blind = is_of_kernel_ ? event.is_of_user : event.is_of_kernel;
    if (is_blind || part.event >= BoundSources::kMostEvents) return std::nullopt;
    found.most += find_most_events(near[part.event], event.weight) * part.cost;
    found.sources |= BoundSources::of_event(part.event);
  }
  return found;
}

EventBoundsByCause FunctionEvents::find_bounds(const std::vector<size_t>& instructions,
                                               const std::vector<BoundedInstruction>& all) const {
  EventBoundsByCause bounds;
  if (rules_ == nullptr || rules_->bounds.empty()) return bounds;
  const std::vector<SampledEvents> near = add_up_near(instructions);
  std::array<EventBound, kStallCauses> sums{};
  for (size_t number = 0; number < kStallWays; ++number) {
    const auto way = static_cast<StallWay>(number);
    const StallWayFacts facts = facts_of(way);
    double executions = 0;
    bool can_be = false;
    for (const size_t i : instructions) {
      if (!can_happen(way, all[i].features)) continue;
      can_be = true;
      executions += all[i].executions;
    }
    if (!can_be) continue;
    const bool is_bounded = std::isfinite(executions) && std::isfinite(facts.of_execution);
    EventBound least{is_bounded ? executions * facts.of_execution : kNoBound,
                     is_bounded ? BoundSources::of_executions() : BoundSources()};
    for (const WayBound& bound : rules_->bounds) {
      if (bound.way != way) continue;
      const std::optional<EventBound> found = find_bound(bound, near);
      if (found && found->most < least.most) least = *found;
    }
    EventBound& sum = sums[static_cast<size_t>(facts.cause)];
    sum.most += least.most;
    sum.sources |= least.sources;
  }
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    if (sums[cause].sources.has_event() && std::isfinite(sums[cause].most)) {
      bounds[cause] = sums[cause];
    }
  }
  return bounds;
}

}  // namespace culprit
