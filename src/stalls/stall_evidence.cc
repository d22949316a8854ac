#include "stalls/stall_evidence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "branches/branch_events.h"
#include "branches/event_names.h"
#include "model/counts.h"
#include "model/engine.h"
#include "print/event_display.h"
#include "stalls/port_chains.h"

namespace culprit {
namespace {

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
    // Lines that prefetchers bring are no misses, but take their time on the way.
    {"sim:bandwidth-cycles", StallCause::bandwidth, Largest::kLineToModelled},
    // What the model has of these is in the best case; this is by how much it may err.
    {"sim:divider-cycles", StallCause::divider, Largest::kModelError},
    {"sim:port-cycles", StallCause::port, Largest::kModelError},
    {"sim:serialization-cycles", StallCause::chain, Largest::kModelError},
    {"sim:forward-refused-cycles", StallCause::forwarding, 1 + Largest::kModelError},
    {"sim:alias-cycles", StallCause::forwarding, 1 + Largest::kModelError},
    {"sim:microcode-cycles", StallCause::microcode, Largest::kModelError},
};

struct ClassRule {
  std::string_view event;
  StallCause cause;
};
// The software PMU's classes of cycles that causes take.
constexpr ClassRule kClasses[] = {
    {"sim:load-l2-cycles", StallCause::load_l2},
    {"sim:load-l3-cycles", StallCause::load_l3},
    {"sim:load-memory-cycles", StallCause::load_memory},
    {"sim:load-other-core-clean-cycles", StallCause::load_other_core},
    {"sim:load-other-core-modified-cycles", StallCause::load_other_core},
    {"sim:load-translation-cycles", StallCause::translation},
    {"sim:misprediction-cycles", StallCause::misprediction},
    {"sim:starvation-cycles", StallCause::code_fetch},
    {"sim:store-cycles", StallCause::store_buffer},
    {"sim:bandwidth-cycles", StallCause::bandwidth},
    {"sim:forward-refused-cycles", StallCause::forwarding},
    {"sim:alias-cycles", StallCause::forwarding},
};

bool has_class(size_t cause) {
  return std::ranges::any_of(
      kClasses, [&](const ClassRule& rule) { return static_cast<size_t>(rule.cause) == cause; });
}

size_t index_of(StallCause cause) {
  return static_cast<size_t>(cause);
}

/// What cannot be ruled out by what the instruction is, nor by how often it ran.
void add_possible(const BoundedInstruction& instruction, InstructionEvidence& one) {
  for (size_t number = 0; number < kStallWays; ++number) {
    const auto way = static_cast<StallWay>(number);
    if (!can_happen(way, instruction.features)) continue;
    const StallWayFacts facts = facts_of(way);
    const size_t cause = index_of(facts.cause);
    const bool is_bounded =
        std::isfinite(instruction.executions) && std::isfinite(facts.of_execution);
    one.most[cause] += is_bounded ? instruction.executions * facts.of_execution : kNoBound;
    if (is_bounded) one.sources[cause] |= BoundSources::of_executions();
  }
}

/// The most that ran, where samples tell how often.
double find_most_executions(const FunctionFlow& flow, uint32_t block) {
  // An interval of 95 %: without any sample, up to 3.7 of them.
  constexpr double kErrors = 3.7;
  const std::optional<FlowCount>& runs = flow.blocks[block];
  return runs ? runs->runs.value + kErrors * runs->runs.standard_error : kNoBound;
}

/// No core dispatches more instructions in a cycle.
constexpr double kWidestDispatch = 10;

}  // namespace

StaticCycles& StaticCycles::operator+=(const StaticCycles& more) {
  execution += more.execution;
  port += more.port;
  chain += more.chain;
  divider += more.divider;
  other += more.other;
  return *this;
}

std::optional<uint32_t> find_region(const FunctionGraph& function, uint32_t block) {
  const std::optional<uint32_t> loop = function.loops.innermost[block];
  return loop && function.loops.loops[*loop].is_innermost ? loop : std::nullopt;
}

PartBounds add_up_bounds(const std::vector<const InstructionEvidence*>& parts,
                         const EventBoundsByCause& events) {
  PartBounds sum;
  for (const InstructionEvidence* part : parts) {
    for (size_t cause = 0; cause < kStallCauses; ++cause) {
      sum.most[cause] += part->most[cause];
      sum.sources[cause] |= part->sources[cause];
      sum.likely[cause] += part->likely[cause];
    }
  }
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    if (!events[cause]) continue;
    // A model knows of its own machine only.
    if (!sum.sources[cause].has_model() && events[cause]->most >= sum.most[cause]) continue;
    sum.most[cause] = events[cause]->most;
    sum.sources[cause] = events[cause]->sources;
    sum.likely[cause] = events[cause]->most;
  }
  return sum;
}

PartBounds FunctionEvidence::bound(const std::vector<size_t>& part) const {
  std::vector<const InstructionEvidence*> parts;
  parts.reserve(part.size());
  for (const size_t i : part) parts.push_back(&instructions[i]);
  return add_up_bounds(parts, events.find_bounds(part, bounded));
}

Result<StallEvidence> StallEvidence::make(const Profile& profile, const Template& cpu) {
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
  if (!made.is_in_cycles_) return made;
  made.find_model_events();
  made.rules_ = make_event_rules(profile, cpu);
  made.dispatch_width_ = cpu.name.empty() ? kWidestDispatch : cpu.dispatch_width;
  made.has_timed_branches_ =
      std::any_of(profile.branch_counts.begin(), profile.branch_counts.end(),
                  [](const BranchCount& one) { return one.timed > 0 && one.cycles > 0; });
  return made;
}

bool StallEvidence::has_best(ExecutionSource source) const {
  if (has_model()) return true;
  if (!is_in_cycles_) return false;
  return source == ExecutionSource::counted || source == ExecutionSource::sampled ||
         (source == ExecutionSource::branch_records && has_timed_branches_);
}

ExecutionEvents StallEvidence::find_executions(const FactsLookup& facts) const {
  ExecutionEvents best = culprit::find_executions(*profile_, facts);
  if (best.source == ExecutionSource::branch_records && !has_best(best.source)) {
    ExecutionEvents other = culprit::find_executions(*profile_, facts, ExecutionSource::sampled);
    if (other.source == ExecutionSource::sampled) return other;
  }
  return best;
}

std::vector<double> StallEvidence::find_scales(
    ImageId image, const FunctionFlow& flow, const ExecutionEvents& executions,
    const std::vector<InstructionEvidence>& measured) const {
  const FunctionGraph& function = *flow.function;
  const Disassembly& code = function.code;
  std::vector<double> scales(function.graph.blocks, 1);
  if (executions.source != ExecutionSource::branch_records) return scales;
  const Profile& records = executions.profile();
  struct Cycles {
    double measured = 0;
    double recorded = 0;
  };
  std::map<std::optional<uint32_t>, Cycles> regions;
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    Cycles& of_region = regions[find_region(function, block)];
    for (size_t i = code.blocks[block].first; i < code.blocks[block].last; ++i) {
      of_region.measured += measured[i].cycles;
    }
  }
  const auto add = [&](const Location& at, size_t event, const Sum& sum) {
    if (records.strings.text(records.events[event].name) != branch_events::kCycles) return;
    const auto block = find_block(code.blocks, code.to_link(at.offset));
    if (!block) return;
    regions[find_region(function, static_cast<uint32_t>(*block))].recorded +=
        static_cast<double>(sum.value) * records.events[event].scale;
  };
  for (const Histogram& histogram : records.histograms) {
    if (histogram.image != image) continue;
    for_each_count_within(records, histogram, code.to_offset(code.instructions.front().address),
                          code.to_offset(code.instructions.back().end()), add);
  }
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    const Cycles& of_region = regions[find_region(function, block)];
    scales[block] = of_region.recorded > 0 ? of_region.measured / of_region.recorded : 0;
  }
  return scales;
}

std::vector<std::string> StallEvidence::event_names() const {
  std::vector<std::string> names;
  for (const BoundingEvent& event : rules_.events) names.push_back(event.name);
  return names;
}

void StallEvidence::find_model_events() {
  bool has_classes = false;
  for (size_t event = 0; event < profile_->events.size(); ++event) {
    if (engine_of(*profile_, profile_->events[event]) != Engine::simulate) continue;
    const std::string& name = profile_->strings.text(profile_->events[event].name);
    for (const BestRule& rule : kBest) {
      if (name != rule.event) continue;
      model_.push_back({.event = event, .best = rule.best});
      has_classes = true;
    }
    for (const CapRule& rule : kCaps) {
      if (name != rule.event) continue;
      model_.push_back({event, nullptr, &InstructionEvidence::most, rule.cause, rule.cost});
    }
    for (const ClassRule& rule : kClasses) {
      if (name != rule.event) continue;
      model_.push_back({event, nullptr, &InstructionEvidence::likely, rule.cause, 1});
    }
  }
  if (!has_classes) model_.clear();  // without a machine there is no best case
}

FunctionEvidence StallEvidence::find(ImageId image, const FunctionFlow& flow,
                                     const ExecutionEvents& executions) const {
  const Disassembly& code = flow.function->code;
  const size_t count = code.instructions.size();
  FunctionEvidence all;
  all.has_best = has_best(flow.source);
  all.instructions.resize(count);
  all.bounded.resize(count);
  const bool is_of_kernel = image.value < profile_->images.size() &&
                            (profile_->images[image.value].kind == ImageKind::kernel ||
                             profile_->images[image.value].kind == ImageKind::module);
  all.events = FunctionEvents(rules_, flow, is_of_kernel);
  const auto find_instruction = [&](FileOffset offset) -> std::optional<size_t> {
    const LinkAddress address = code.to_link(offset);
    const auto after = std::upper_bound(
        code.instructions.begin(), code.instructions.end(), address,
        [](LinkAddress value, const Instruction& one) { return value < one.address; });
    if (after == code.instructions.begin() || address >= std::prev(after)->end()) {
      return std::nullopt;
    }
    return static_cast<size_t>(std::prev(after) - code.instructions.begin());
  };
  const FileOffset begin = code.to_offset(code.instructions.front().address);
  const FileOffset end = code.to_offset(code.instructions.back().end());
  const bool is_sampled = executions.source == ExecutionSource::sampled;
  for (const Histogram& histogram : profile_->histograms) {
    if (histogram.image != image) continue;
    const auto add = [&](const Location& at, size_t event, const Sum& sum) {
      const std::optional<size_t> i = find_instruction(at.offset);
      if (!i) return;
      InstructionEvidence& one = all.instructions[*i];
      const double scale = profile_->events[event].scale;
      const double value = static_cast<double>(sum.value) * scale;
      if (event == time_) {
        one.cycles += to_cycles(value);
        one.samples += sum.samples;
      }
      if (is_sampled && std::find(executions.events.begin(), executions.events.end(), event) !=
                            executions.events.end()) {
        one.execution_samples += sum.samples;
      }
      for (const ModelEvent& model : model_) {
        if (model.event != event) continue;
        if (model.best != nullptr) one.best.*model.best += value;
        if (model.cycles != nullptr)
          (one.*model.cycles)[index_of(model.cause)] += value * model.cost;
      }
      for (size_t number = 0; number < rules_.events.size(); ++number) {
        const BoundingEvent& bounding = rules_.events[number];
        if (bounding.event != event) continue;
        const double factor = scale * bounding.factor;
        all.events.add(
            *i, number,
            {sum.samples, static_cast<double>(sum.value) * factor, sum.variance * factor * factor});
      }
    };
    for_each_count_within(*profile_, histogram, begin, end, add);
  }
  const std::vector<double> scales = find_scales(image, flow, executions, all.instructions);
  for (uint32_t block = 0; block < code.blocks.size(); ++block) {
    const double most = find_most_executions(flow, block) * scales[block];
    for (size_t i = code.blocks[block].first; i < code.blocks[block].last; ++i) {
      all.bounded[i].executions = all.has_best && scales[block] > 0 ? most : kNoBound;
      if (i < flow.instructions.size()) {
        all.instructions[i].executions = flow.instructions[i] * scales[block];
      }
    }
  }
  for (size_t i = 0; i < count; ++i) {
    InstructionEvidence& one = all.instructions[i];
    const CodeFeatures features = find_features(code.instructions[i]);
    all.bounded[i].features = features;
    if (!has_model()) {
      if (all.has_best) one.best.execution = one.executions / dispatch_width_;
      add_possible(all.bounded[i], one);
      one.likely = one.most;
      continue;
    }
    for (BoundSources& sources : one.sources) sources |= BoundSources::of_model();
    if (features.serializes) {
      one.most[index_of(StallCause::serializing)] += one.executions * LargestCosts::kAtomic;
    }
    if (features.is_microcoded) {
      one.most[index_of(StallCause::microcode)] += one.executions * LargestCosts::kMicrocode;
    }
    for (size_t cause = 0; cause < kStallCauses; ++cause) {
      if (!has_class(cause)) one.likely[cause] = one.most[cause];
    }
  }
  if (has_model()) move_ports_to_chains(*flow.function, all.instructions);
  return all;
}

}  // namespace culprit
