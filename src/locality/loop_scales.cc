#include "locality/loop_scales.h"

#include "attribute/variant_family.h"

namespace culprit {
namespace {

/// How much scales of the loops of one program differ: a gamma distribution of this shape, whose
/// standard deviation is its mean. Source: judgement, as that of load latency in why/gain.cc
constexpr double kScaleShape = 1;

}  // namespace

LoopScales::LoopScales(const Profile& profile, CodeIndex& code) : loops_(code) {
  const UseEvents events = find_use_events(profile);
  if (events.cost != UseEvents::Cost::measured) return;
  std::vector<Use> uses;
  add_uses(
      profile, events, [&](ContextId, const Location& at, ObjectId) { return loops_.row_of(at); },
      uses);
  std::map<std::string, Pool> left;  // by function
  by_loop_.resize(uses.size());
  for (uint32_t loop = 0; loop < uses.size(); ++loop) {
    const Cycles cycles{events.value_of(uses[loop]).value, uses[loop].cycles,
                        uses[loop].cost.samples};
    measured_cycles_ += cycles.measured;
    if (!(cycles.modelled > 0)) continue;  // the kernel, or a variant that was not simulated
    if (cycles.tell()) {
      by_loop_[loop] = cycles.scale();
    } else {
      Pool& pool = left[loops_.row(loop).function];
      pool.all += cycles;
      pool.loops.emplace_back(loop, cycles);
    }
  }
  Pool rest;
  for (const auto& [function, pool] : left) {
    if (pool.all.tell()) {
      scale_pool(pool);
    } else {
      rest.all += pool.all;
      rest.loops.insert(rest.loops.end(), pool.loops.begin(), pool.loops.end());
    }
  }
  if (!(rest.all.modelled > 0)) return;
  rest_ = rest.all.scale();
  scale_pool(rest);
}

/// Each loop has as many samples as the scale of the pool and its own let expect: the mean of its
/// gamma distribution after so many Poisson counts. What a run chose another variant of has none.
void LoopScales::scale_pool(const Pool& pool) {
  const double scale = pool.all.scale();
  const double samples_per_cycle = static_cast<double>(pool.all.samples) / pool.all.modelled;
  double shared = 0;
  for (const auto& [loop, cycles] : pool.loops) {
    const double expected = cycles.modelled * samples_per_cycle;
    const bool is_variant = !find_variant_family(loops_.row(loop).function).empty();
    const double found = is_variant ? expected : static_cast<double>(cycles.samples);
    by_loop_[loop] = scale * (found + kScaleShape) / (expected + kScaleShape);
    shared += cycles.modelled * *by_loop_[loop];
  }
  if (!(shared > 0)) return;
  for (const auto& [loop, cycles] : pool.loops) *by_loop_[loop] *= pool.all.measured / shared;
}

double LoopScales::of(uint32_t loop) const {
  if (!are_known()) return 1;
  return loop < by_loop_.size() && by_loop_[loop] ? *by_loop_[loop] : rest_;
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
