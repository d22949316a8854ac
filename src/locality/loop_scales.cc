#include "locality/loop_scales.h"

namespace culprit {

LoopScales::LoopScales(const Profile& profile, CodeIndex& code) : loops_(code) {
  const UseEvents events = find_use_events(profile);
  if (events.cost != UseEvents::Cost::measured) return;
  std::vector<Use> uses;
  add_uses(
      profile, events, [&](ContextId, const Location& at, ObjectId) { return loops_.row_of(at); },
      uses);
  for (uint32_t loop = 0; loop < uses.size(); ++loop) {
    const Cycles cycles{events.value_of(uses[loop]).value, uses[loop].cycles,
                        uses[loop].cost.samples};
    by_loop_.push_back(cycles);
    Cycles& function = by_function_[loops_.row(loop).function];
    function.measured += cycles.measured;
    function.modelled += cycles.modelled;
    function.samples += cycles.samples;
    measured_cycles_ += cycles.measured;
  }
}

bool LoopScales::tells(const Cycles& cycles) {
  constexpr uint64_t kEnough = 50;
  return cycles.samples >= kEnough && cycles.modelled > 0;
}

double LoopScales::of(uint32_t loop) const {
  if (!are_known()) return 1;
  if (loop < by_loop_.size() && tells(by_loop_[loop])) {
    return by_loop_[loop].measured / by_loop_[loop].modelled;
  }
  const auto function = by_function_.find(loops_.row(loop).function);
  if (function == by_function_.end() || !(function->second.modelled > 0)) return 1;
  return function->second.measured / function->second.modelled;
}

void LoopScales::share_out(UseEvents& events) {
  if (!are_known() || events.cost != UseEvents::Cost::modelled) return;
  events.cost = UseEvents::Cost::shared;
  events.scale = [this](const Location& at) { return of(loops_.row_of(at)); };
}

}  // namespace culprit
