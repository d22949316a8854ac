#include "stalls/stall_evidence.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "model/counts.h"
#include "model/engine.h"
#include "print/event_display.h"

namespace culprit {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

struct BestRule {
  std::string_view event;
  double StaticCycles::* best;
};
// The software PMU's classes of cycles that the code costs by itself.
constexpr BestRule kBest[] = {
    {"sim:base-cycles", &StaticCycles::execution},
    {"sim:port-cycles", &StaticCycles::port},
    {"sim:serialization-cycles", &StaticCycles::chain},
    {"sim:divider-cycles", &StaticCycles::divider},
    {"sim:call-cycles", &StaticCycles::execution},
    {"sim:microcode-cycles", &StaticCycles::other},
};

struct CapRule {
  std::string_view event;
  StallCause cause;
  double cost;
};
using Largest = LargestCosts;
constexpr CapRule kCaps[] = {
    // A cache of another size, or one that others share, has less than the model's: what came from
    // the next level may have come from behind it.
    {"L1-dcache-load-misses", StallCause::load_l2, Largest::kL2},
    {"LLC-loads", StallCause::load_l3, Largest::kL3},
    {"LLC-loads", StallCause::load_memory, Largest::kMemory},
    {"other-core-clean-loads", StallCause::load_other_core, Largest::kOtherCore},
    {"other-core-modified-loads", StallCause::load_other_core, Largest::kOtherCore},
    {"other-core-modified-stores", StallCause::load_other_core, Largest::kOtherCore},
    {"second-TLB-load-hits", StallCause::translation, Largest::kSecondTlb},
    {"second-TLB-store-hits", StallCause::translation, Largest::kSecondTlb},
    {"dTLB-load-misses", StallCause::translation, Largest::kWalk},
    {"dTLB-store-misses", StallCause::translation, Largest::kWalk},
    {"branch-misses", StallCause::misprediction, Largest::kRedirect},
    // A mispredicted branch waits for its operands until it is executed.
    {"sim:misprediction-cycles", StallCause::misprediction, 1 + Largest::kModelError},
    {"late-branch-targets", StallCause::code_fetch, Largest::kRedirect},
    {"L1-icache-load-misses", StallCause::code_fetch, Largest::kCodeL2},
    {"LLC-code-misses", StallCause::code_fetch, Largest::kMemory},
    {"iTLB-load-misses", StallCause::code_fetch, Largest::kWalk},
    {"second-TLB-code-hits", StallCause::code_fetch, Largest::kSecondTlb},
    {"sim:starvation-cycles", StallCause::code_fetch, 1 + Largest::kModelError},
    {"L1-dcache-store-misses", StallCause::store_buffer, Largest::kL2},
    {"LLC-stores", StallCause::store_buffer, Largest::kMemory},
    {"LLC-load-misses", StallCause::bandwidth, Largest::kLine},
    {"LLC-store-misses", StallCause::bandwidth, Largest::kLine},
    // What the model has of these is in the best case; this is by how much it may err.
    {"sim:divider-cycles", StallCause::divider, Largest::kModelError},
    {"sim:port-cycles", StallCause::port, Largest::kModelError},
    {"sim:serialization-cycles", StallCause::chain, Largest::kModelError},
    {"sim:forward-refused-cycles", StallCause::forwarding, 1 + Largest::kModelError},
    {"sim:alias-cycles", StallCause::forwarding, 1 + Largest::kModelError},
    {"sim:microcode-cycles", StallCause::microcode, Largest::kModelError},
};

size_t index_of(StallCause cause) {
  return static_cast<size_t>(cause);
}

/// What cannot be ruled out by what the instruction is.
void add_possible(const CodeFeatures& features, CauseCycles& most) {
  const auto allow = [&](StallCause cause) { most[index_of(cause)] = kNoBound; };
  if (features.loads && !features.is_of_stack) {
    allow(StallCause::load_l2);
    allow(StallCause::load_l3);
    allow(StallCause::load_memory);
    allow(StallCause::load_other_core);
  }
  if ((features.loads || features.stores) && !features.is_of_stack) {
    allow(StallCause::translation);
    allow(StallCause::bandwidth);
  }
  if (features.stores && !features.is_of_stack) allow(StallCause::store_buffer);
  if (features.may_mispredict) allow(StallCause::misprediction);
  if (features.divides) allow(StallCause::divider);
  if (features.loads) allow(StallCause::forwarding);
  if (features.serializes) allow(StallCause::serializing);
  if (features.is_microcoded) allow(StallCause::microcode);
  allow(StallCause::code_fetch);
  allow(StallCause::port);
  allow(StallCause::chain);
}

}  // namespace

StaticCycles& StaticCycles::operator+=(const StaticCycles& more) {
  execution += more.execution;
  port += more.port;
  chain += more.chain;
  divider += more.divider;
  other += more.other;
  return *this;
}

Result<StallEvidence> StallEvidence::make(const Profile& profile) {
  StallEvidence made(profile);
  const auto is_time = [](const Event& event) {
    return event.provenance == Provenance::sampled &&
           (event.unit == Unit::ns || event.unit == Unit::cycles);
  };
  const auto time = std::find_if(profile.events.begin(), profile.events.end(), is_time);
  if (time == profile.events.end()) {
    return Error{
        "stalls are measured cycles beyond the best case, and nothing measured time in this "
        "profile: culprit record --engine timer+simulate measures and counts"};
  }
  made.time_ = static_cast<size_t>(time - profile.events.begin());
  made.is_in_cycles_ = time->unit == Unit::cycles;
  if (const ClockCalibration* const clock = find_clock(profile.machine);
      clock != nullptr && time->unit == Unit::ns) {
    made.cycles_per_unit_ = clock->hertz / 1e9;
    made.is_in_cycles_ = true;
  }
  if (made.is_in_cycles_) made.find_model_events();
  return made;
}

void StallEvidence::find_model_events() {
  bool has_classes = false;
  for (size_t event = 0; event < profile_->events.size(); ++event) {
    if (engine_of(*profile_, profile_->events[event]) != Engine::simulate) continue;
    const std::string& name = profile_->strings.text(profile_->events[event].name);
    for (const BestRule& rule : kBest) {
      if (name != rule.event) continue;
      model_.push_back({event, rule.best, std::nullopt, 1});
      has_classes = true;
    }
    for (const CapRule& rule : kCaps) {
      if (name == rule.event) model_.push_back({event, nullptr, rule.cause, rule.cost});
    }
  }
  if (!has_classes) model_.clear();  // without a machine there is no best case
}

std::vector<InstructionEvidence> StallEvidence::find(ImageId image,
                                                     const FunctionFlow& flow) const {
  const Disassembly& code = flow.function->code;
  const size_t count = code.instructions.size();
  std::vector<InstructionEvidence> all(count);
  const auto at_address = [&](FileOffset offset) -> InstructionEvidence* {
    const LinkAddress address = code.to_link(offset);
    const auto after = std::upper_bound(
        code.instructions.begin(), code.instructions.end(), address,
        [](LinkAddress value, const Instruction& one) { return value < one.address; });
    if (after == code.instructions.begin() || address >= std::prev(after)->end()) return nullptr;
    return &all[static_cast<size_t>(std::prev(after) - code.instructions.begin())];
  };
  const FileOffset begin = code.to_offset(code.instructions.front().address);
  const FileOffset end = code.to_offset(code.instructions.back().end());
  for (const Histogram& histogram : profile_->histograms) {
    if (histogram.image != image) continue;
    const auto add = [&](const Location& at, size_t event, const Sum& sum) {
      InstructionEvidence* const one = at_address(at.offset);
      if (one == nullptr) return;
      const double value = static_cast<double>(sum.value) * profile_->events[event].scale;
      if (event == time_) {
        one->cycles += to_cycles(value);
        one->samples += sum.samples;
      }
      for (const ModelEvent& model : model_) {
        if (model.event != event) continue;
        if (model.best != nullptr) one->best.*model.best += value;
        if (model.cause) one->most[index_of(*model.cause)] += value * model.cost;
      }
    };
    for_each_count_within(*profile_, histogram, begin, end, add);
  }
  for (size_t i = 0; i < count; ++i) {
    InstructionEvidence& one = all[i];
    if (i < flow.instructions.size()) one.executions = flow.instructions[i];
    const CodeFeatures features = find_features(code.instructions[i]);
    if (!has_model()) {
      add_possible(features, one.most);
      continue;
    }
    if (features.serializes) {
      one.most[index_of(StallCause::serializing)] += one.executions * LargestCosts::kAtomic;
    }
    if (features.is_microcoded) {
      one.most[index_of(StallCause::microcode)] += one.executions * LargestCosts::kMicrocode;
    }
  }
  return all;
}

}  // namespace culprit
