#include "locality/loop_scales.h"

namespace culprit {

LoopScales::LoopScales(const Profile& profile, CodeIndex& code) : loops_(code) {
  const UseEvents events = find_use_events(profile);
  if (events.cost != UseEvents::Cost::measured) return;
  std::vector<Use> uses;
  add_uses(
      profile, events, [&](ContextId, const Location& at, ObjectId) { return loops_.row_of(at); },
      uses);
  std::map<std::string, Cycles> left;  // by function, of loops that do not tell by themselves
  by_loop_.resize(uses.size());
  for (uint32_t loop = 0; loop < uses.size(); ++loop) {
    const Cycles cycles{events.value_of(uses[loop]).value, uses[loop].cycles,
                        uses[loop].cost.samples};
    measured_cycles_ += cycles.measured;
    if (!(cycles.modelled > 0)) continue;  // the kernel, or a variant that was not simulated
    if (cycles.tell()) {
      by_loop_[loop] = cycles.scale();
    } else {
      left[loops_.row(loop).function] += cycles;
    }
  }
  Cycles rest;
  for (const auto& [function, cycles] : left) {
    if (cycles.tell()) {
      by_function_[function] = cycles.scale();
    } else {
      rest += cycles;
    }
  }
  if (rest.modelled > 0) rest_ = rest.scale();
}

double LoopScales::of(uint32_t loop) const {
  if (!are_known()) return 1;
  if (loop < by_loop_.size() && by_loop_[loop]) return *by_loop_[loop];
  const auto function = by_function_.find(loops_.row(loop).function);
  return function != by_function_.end() ? function->second : rest_;
}

void LoopScales::share_out(UseEvents& events) {
  if (!are_known() || events.cost != UseEvents::Cost::modelled) return;
  events.cost = UseEvents::Cost::shared;
  events.scale = [this](const Location& at) { return of(loops_.row_of(at)); };
}

bool LoopScales::Cycles::tell() const {
  constexpr uint64_t kEnough = 50;
  return samples >= kEnough;
}

LoopScales::Cycles& LoopScales::Cycles::operator+=(const Cycles& other) {
  measured += other.measured;
  modelled += other.modelled;
  samples += other.samples;
  return *this;
}

}  // namespace culprit
