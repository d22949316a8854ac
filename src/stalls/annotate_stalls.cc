#include "stalls/annotate_stalls.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "stalls/function_stalls.h"

namespace culprit {
namespace {

/// What retires together within so many instructions may hide who was waited for.
constexpr size_t kGroup = 3;
constexpr double kLeastShare = 0.01;
constexpr auto kFetch = static_cast<size_t>(StallCause::code_fetch);

class PlaceStalls {
 public:
  PlaceStalls(const FunctionFlow& flow, FunctionEvidence evidence, bool has_model,
              std::vector<std::string> events)
      : flow_(flow),
        code_(flow.function->code),
        graph_(flow.function->graph),
        all_(std::move(evidence)),
        evidence_(all_.instructions),
        has_model_(has_model),
        events_(std::move(events)) {
    for (const InstructionEvidence& one : evidence_) samples_ += one.samples;
  }

  void fill(AnnotatedPlace& place, std::set<size_t>& used) {
    add_graph(place);
    std::map<uint64_t, AnnotatedInstruction*> by_address;
    std::map<uint64_t, AnnotatedBlock*> blocks;
    for (AnnotatedBlock& block : place.blocks) {
      blocks[block.begin] = &block;
      for (AnnotatedInstruction& one : block.instructions) by_address[one.address] = &one;
    }
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      const Block& where = code_.blocks[block];
      const auto shown = blocks.find(where.begin.value);
      if (shown != blocks.end()) shown->second->best_cpi = find_best_cpi(where);
      for (size_t i = where.first; i < where.last; ++i) {
        const auto found = by_address.find(code_.instructions[i].address.value);
        if (found == by_address.end()) continue;
        found->second->stall = find_stall(block, i);
        if (!found->second->stall) continue;
        const AnnotatedStall& stall = *found->second->stall;
        for (const AnnotatedCause& cause : stall.causes) used.insert(cause.number);
        for (const AnnotatedCause& cause : stall.ruled_out) used.insert(cause.number);
      }
    }
  }

 private:
  /// By the model, of all executions of the block. [cycles/instruction]
  [[nodiscard]] std::optional<double> find_best_cpi(const Block& block) const {
    double cycles = 0;
    double executions = 0;
    for (size_t i = block.first; i < block.last; ++i) {
      cycles += evidence_[i].best.total();
      executions += evidence_[i].executions;
    }
    if (!has_model_ || !(executions > 0)) return std::nullopt;
    return cycles / executions;
  }

  void add_graph(AnnotatedPlace& place) const {
    place.executions = describe(flow_.source);
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      const FlowEdge& edge = graph_.edges[i];
      AnnotatedEdge made;
      if (edge.from < graph_.blocks) made.from = code_.blocks[edge.from].begin.value;
      if (edge.to < graph_.blocks) made.to = code_.blocks[edge.to].begin.value;
      made.is_assumed = edge.kind == FlowEdgeKind::assumed;
      if (flow_.edges[i]) {
        made.runs = flow_.edges[i]->runs.value;
        made.confidence = word_of(flow_.edges[i]->confidence);
      }
      place.edges.push_back(std::move(made));
    }
    for (const FlowLoop& loop : flow_.function->loops.loops) {
      const CodeIndex::Range range = flow_.function->range_of(loop);
      AnnotatedLoop made{code_.to_link(range.begin).value, code_.to_link(range.end).value,
                         loop.depth, loop.is_irreducible, std::nullopt};
      if (flow_.blocks[loop.head]) made.rounds = flow_.runs(loop.head);
      place.loops.push_back(made);
    }
  }

  [[nodiscard]] std::vector<uint32_t> predecessors(uint32_t block) const {
    std::vector<uint32_t> all;
    for (const uint32_t edge : in_.of(block)) {
      const bool never = flow_.source == ExecutionSource::counted && flow_.edges[edge] &&
                         flow_.edges[edge]->runs.value == 0;
      if (graph_.edges[edge].from < graph_.blocks && !never) {
        all.push_back(graph_.edges[edge].from);
      }
    }
    return all;
  }

  /// Instructions that samples at `i` may have waited for, nearest first.
  [[nodiscard]] std::vector<size_t> find_suspects(uint32_t block, size_t i) const {
    std::vector<size_t> suspects;
    const Block& where = code_.blocks[block];
    for (size_t at = i; at > where.first && suspects.size() <= kGroup; --at) {
      suspects.push_back(at - 1);
    }
    if (suspects.size() > kGroup) return suspects;
    // Control came from elsewhere: any of these blocks' last.
    for (const uint32_t before : predecessors(block)) {
      suspects.push_back(code_.blocks[before].last - 1);
    }
    return suspects;
  }

  [[nodiscard]] std::optional<AnnotatedStall> find_stall(uint32_t block, size_t i) const {
    const InstructionEvidence& here = evidence_[i];
    if (here.samples < kFewestStallSamples ||
        static_cast<double>(here.samples) < kLeastShare * static_cast<double>(samples_)) {
      return std::nullopt;
    }
    const std::vector<size_t> suspects = find_suspects(block, i);
    if (suspects.empty()) return std::nullopt;
    const PartBounds possible = find_possible(block, i, suspects);
    double best = 0;
    for (const size_t suspect : suspects) {
      if (all_.has_best) best = std::max(best, evidence_[suspect].best.total());
    }
    const double stall = std::max(0.0, here.cycles - best);
    if (!(stall > kLeastShare * here.cycles)) return std::nullopt;
    AnnotatedStall result;
    const size_t waits_for = find_chief(suspects, i - code_.blocks[block].first <= 1);
    result.waits_for = code_.instructions[waits_for].address.value;
    add_causes(stall, find_chance(here.cycles, here.samples), find_executions_of(block, i),
               possible, result);
    return result;
  }

  /// What all of the suspects together, and the instruction itself, can have had of each cause.
  [[nodiscard]] PartBounds find_possible(uint32_t block, size_t i,
                                         std::vector<size_t> suspects) const {
    std::sort(suspects.begin(), suspects.end());
    suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
    PartBounds possible = all_.bound(suspects);
    const PartBounds own = all_.bound({i});
    // Code is fetched for the instruction itself.
    possible.take(kFetch, own);
    // What waits behind a branch may be the branch itself.
    const bool is_behind_branch = i - code_.blocks[block].first <= 1;
    if (!is_behind_branch) {
      possible.take(kMisprediction, own);
    } else if (own.most[kMisprediction] > 0) {
      suspects.insert(std::upper_bound(suspects.begin(), suspects.end(), i), i);
      suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
      possible.take(kMisprediction, all_.bound(suspects));
    }
    return possible;
  }

  /// The suspect that can have cost most.
  [[nodiscard]] size_t find_chief(const std::vector<size_t>& suspects,
                                  bool is_behind_branch) const {
    size_t chief = suspects.front();
    double cost_of_chief = 0;
    for (const size_t suspect : suspects) {
      double largest = 0;
      for (size_t cause = 0; cause < kStallCauses; ++cause) {
        const bool is_of_data = cause != kFetch && cause != static_cast<size_t>(StallCause::port) &&
                                cause != static_cast<size_t>(StallCause::chain);
        if (!is_of_data || (cause == kMisprediction && !is_behind_branch)) continue;
        largest = std::max(largest, evidence_[suspect].most[cause]);
      }
      if (largest > cost_of_chief) {
        cost_of_chief = largest;
        chief = suspect;
      }
    }
    return chief;
  }

  /// 0: not known well enough for cycles of one of them.
  [[nodiscard]] double find_executions_of(uint32_t block, size_t i) const {
    if (!all_.has_best || !flow_.blocks[block]) return 0;
    if (flow_.blocks[block]->confidence == Confidence::low) return 0;
    return evidence_[i].executions;
  }

  void add_causes(double stall, double chance, double executions, const PartBounds& possible,
                  AnnotatedStall& result) const {
    const CauseBounds bounds = bound_causes(stall, possible.most, chance);
    if (executions > 0) {
      result.cycles = stall / executions;
      result.unexplained = bounds.unexplained / executions;
    }
    for (const size_t cause : order_causes(stall, bounds.high, possible.likely)) {
      const bool is_small = !(bounds.high[cause] > 0.02 * stall);
      if (is_small && !(possible.sources[cause].has_event() && possible.most[cause] > 0)) continue;
      AnnotatedCause one{cause, kStallCauseNames[cause].letter, kStallCauseNames[cause].key};
      one.bounded_by = name_sources(possible.sources[cause], events_);
      if (executions > 0) {
        one.cycles = Interval{bounds.low[cause] / executions, bounds.high[cause] / executions};
      }
      if (bounds.high[cause] < stall) one.most = bounds.high[cause] / stall;
      (is_small ? result.ruled_out : result.causes).push_back(std::move(one));
    }
  }

  const FunctionFlow& flow_;
  const Disassembly& code_;
  const FlowGraph& graph_;
  EdgeIndex in_ = index_targets(graph_);
  FunctionEvidence all_;
  const std::vector<InstructionEvidence>& evidence_;
  bool has_model_;
  std::vector<std::string> events_;
  uint64_t samples_ = 0;
};

/// "d2 data from L2, t address translation": of those that the listing has.
std::string describe_letters(const std::set<size_t>& used) {
  std::string text;
  for (const size_t cause : used) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kStallCauseNames[cause].letter,
                        kStallCauseNames[cause].words);
  }
  return text;
}

}  // namespace

void add_stalls(const Profile& profile, const FactsLookup& facts, const Template& cpu,
                Annotation& annotation) {
  const Result<StallEvidence> evidence = StallEvidence::make(profile, cpu);
  if (!evidence || annotation.inlined) return;
  CodeIndex code(profile, facts);
  CodeFlow code_flow(code);
  FlowFinder flows(code_flow, evidence->find_executions(facts));
  std::set<size_t> used;
  for (uint32_t image = 0; image < profile.images.size(); ++image) {
    const ImageFacts* const known = code.facts(ImageId(image));
    if (known == nullptr || code.module(ImageId(image)) != annotation.module) continue;
    for (AnnotatedPlace& place : annotation.places) {
      for (uint32_t row = 0; row < known->functions.size(); ++row) {
        const FunctionFact& function = known->functions[row];
        if (code.link_address({ImageId(image), function.begin}).value != place.begin) continue;
        const std::optional<FunctionFlow> flow = flows.find(ImageId(image), row);
        if (!flow) break;
        PlaceStalls(*flow, evidence->find(ImageId(image), *flow, flows.events()),
                    evidence->has_model(), evidence->event_names())
            .fill(place, used);
        break;
      }
    }
  }
  if (!used.empty()) annotation.legend = describe_letters(used);
}

}  // namespace culprit
