#include "model/builder.h"

#include "model/merge.h"

namespace culprit {

ContextId ProfileBuilder::intern_context(const Context& asked) {
  Context context = asked;
  if (context.label == StringId()) context.label = label_;
  const auto [at, is_new] = contexts_.try_emplace(context, ContextId(profile_.contexts.size()));
  if (is_new) profile_.contexts.push_back(context);
  return at->second;
}

StackId ProfileBuilder::intern_stack(const StackNode& node) {
  const auto [at, is_new] = stacks_.try_emplace(node, StackId(profile_.stacks.size()));
  if (is_new) profile_.stacks.push_back(node);
  return at->second;
}

void ProfileBuilder::add(ContextId context, const Location& location, EventId event,
                         uint64_t samples, uint64_t value, double variance, ObjectId object) {
  cells_.add({context, location, {event, samples, value, variance}, object}, profile_.events);
}

void ProfileBuilder::add_stack(ContextId context, StackId stack, EventId event, uint64_t samples,
                               uint64_t value) {
  stack_cells_.add({context, stack, {event, samples, value, 0}}, profile_.events);
}

void ProfileBuilder::add_kernel_stack(ContextId context, StackId stack, EventId event,
                                      uint64_t samples, uint64_t value) {
  kernel_stack_cells_.add({context, stack, {event, samples, value, 0}}, profile_.events);
}

void ProfileBuilder::add_branch(const BranchCount& branch) {
  branches_.add(branch, profile_.events);
}

void ProfileBuilder::add_fall_through(const FallThrough& range) {
  fall_throughs_.add(range, profile_.events);
}

void ProfileBuilder::add_accesses(const SampledAccess& accesses) {
  accesses_.add(accesses, profile_.events);
}

void ProfileBuilder::take_counts() {
  const std::vector<Event>& events = profile_.events;
  profile_.histograms = cells_.take(events);
  profile_.stack_counts = stack_cells_.take(events);
  profile_.kernel_stacks = kernel_stack_cells_.take(events);
  profile_.branch_counts = branches_.take(events);
  profile_.fall_throughs = fall_throughs_.take(events);
  profile_.slice_counts = slices_.take(events);
  profile_.sampled_accesses = accesses_.take(events);
}

}  // namespace culprit
