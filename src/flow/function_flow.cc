#include "flow/function_flow.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "model/counts.h"

namespace culprit {
namespace {

/// What the instructions of a sampled block have together.
struct Sampled {
  double value = 0;
  double variance = 0;
  uint64_t samples = 0;
  double instructions = 0;

  void add(const Sampled& other) {
    value += other.value;
    variance += other.variance;
    samples += other.samples;
    instructions += other.instructions;
  }
};

/// In larger functions the costs of flows have two pieces: more of them take too long.
constexpr uint32_t kMostPiecewise = 1000;

class FlowMaker {
 public:
  FlowMaker(const FunctionGraph& function, ExecutionSource source,
            std::span<const SeenInstruction> seen, std::span<const RecordedBranch> taken,
            bool has_all_branches)
      : code_(function.code),
        graph_(function.graph),
        seen_(seen),
        taken_(taken),
        has_all_branches_(has_all_branches) {
    flow_.function = &function;
    flow_.source = source;
    flow_.blocks.resize(graph_.blocks);
    flow_.edges.resize(graph_.edges.size());
  }

  FunctionFlow make() {
    switch (flow_.source) {
      case ExecutionSource::counted:
        take_counts();
        break;
      case ExecutionSource::branch_records:
      case ExecutionSource::sampled:
      case ExecutionSource::time:
        fit();
        break;
      case ExecutionSource::none:
        break;
    }
    return std::move(flow_);
  }

 private:
  /// How often control went from the block's last instruction to another place.
  [[nodiscard]] double taken_from(const Block& block, std::optional<LinkAddress> to) const {
    const FileOffset from = code_.to_offset(code_.instructions[block.last - 1].address);
    double count = 0;
    auto at = std::lower_bound(
        taken_.begin(), taken_.end(), from,
        [](const RecordedBranch& one, FileOffset offset) { return one.from < offset; });
    for (; at != taken_.end() && at->from == from; ++at) {
      if (!to || code_.to_offset(*to) == at->to) count += at->count;
    }
    return count;
  }

  void take_counts() {
    flow_.instructions.reserve(seen_.size());
    for (const SeenInstruction& one : seen_) flow_.instructions.push_back(one.value);
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      const double runs = seen_[code_.blocks[block].first].value;
      flow_.blocks[block] = FlowCount{{runs, 0}, Confidence::high};
    }
    if (!has_all_branches_) return;
    std::vector<double> entered(graph_.blocks);
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      const FlowEdge& edge = graph_.edges[i];
      if (edge.from >= graph_.blocks) continue;  // what comes from outside is what is left
      const Block& from = code_.blocks[edge.from];
      const Instruction& last = code_.instructions[from.last - 1];
      const double left = seen_[from.last - 1].value;
      const bool goes_on = last.flow == Flow::next || last.flow == Flow::call;
      double count = 0;
      if (edge.to < graph_.blocks) {
        const LinkAddress begin = code_.blocks[edge.to].begin;
        if (edge.kind != FlowEdgeKind::fall || begin == last.target)
          count += taken_from(from, begin);
        if (edge.kind == FlowEdgeKind::fall || begin == last.end()) {
          count += goes_on ? left : std::max(0.0, left - taken_from(from, std::nullopt));
        }
        entered[edge.to] += count;
      } else if (goes_on || last.flow == Flow::returns || last.flow == Flow::trap) {
        count = left;
      } else {
        count = left;
        for (const uint32_t other : out_.of(edge.from)) {
          const FlowEdge& inside = graph_.edges[other];
          if (inside.to < graph_.blocks) {
            count -= taken_from(from, code_.blocks[inside.to].begin);
          }
        }
        count = std::max(0.0, count);
      }
      flow_.edges[i] = FlowCount{{count, 0}, Confidence::high};
    }
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      const FlowEdge& edge = graph_.edges[i];
      if (edge.from < graph_.blocks || edge.to >= graph_.blocks) continue;
      const double rest = std::max(0.0, flow_.runs(edge.to) - entered[edge.to]);
      flow_.edges[i] = FlowCount{{rest, 0}, Confidence::high};
    }
  }

  [[nodiscard]] std::vector<Sampled> sum_blocks() const {
    std::vector<Sampled> sums(graph_.blocks);
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      for (size_t i = code_.blocks[block].first; i < code_.blocks[block].last; ++i) {
        sums[block].add({seen_[i].value, seen_[i].variance, seen_[i].samples, 1});
      }
    }
    return sums;
  }

  /// What a block's flow costs by its samples. All blocks of a class have the same flow, so that
  /// of one of them is asked what all of their samples say.
  [[nodiscard]] std::vector<FlowCost> make_costs(const FrequencyClasses& classes,
                                                 const std::vector<Sampled>& by_class,
                                                 double of_one_sample) const {
    std::vector<FlowCost> costs(graph_.blocks);
    std::vector<bool> is_asked(classes.count);
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      const uint32_t number = classes.blocks[block];
      if (is_asked[number]) continue;
      is_asked[number] = true;
      const Sampled& all = by_class[number];
      // Samples of one period each stand for a sum whose error is that of Poisson's counts.
      const double of_one = all.value > 0 ? all.variance / all.value : of_one_sample;
      const double runs_of_one = of_one / all.instructions;
      const double samples = all.value / of_one;
      costs[block] =
          graph_.blocks <= kMostPiecewise
              ? cost_of_samples(samples, runs_of_one)
              : cost_of_difference(samples * runs_of_one,
                                   1 / (std::sqrt(std::max(1.0, samples)) * runs_of_one));
    }
    return costs;
  }

  void fit() {
    const std::vector<Sampled> blocks = sum_blocks();
    Sampled all;
    for (const Sampled& block : blocks) all.add(block);
    if (all.samples == 0 || !(all.value > 0)) return;
    const double of_one_sample = all.value / static_cast<double>(all.samples);
    const FrequencyClasses classes = find_frequency_classes(graph_);
    std::vector<Sampled> by_class(classes.count);
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      by_class[classes.blocks[block]].add(blocks[block]);
    }
    const std::optional<BlockFlow> fitted =
        fit_circulation(graph_, make_costs(classes, by_class, of_one_sample));
    const bool is_time = flow_.source == ExecutionSource::time;
    double unit = 1;
    if (is_time) {
      double most = 0;
      for (uint32_t block = 0; block < graph_.blocks; ++block) {
        most = std::max(most, fitted ? fitted->blocks[block] : mean_of(by_class, classes, block));
      }
      if (!(most > 0)) return;
      unit = 1 / most;
    }
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      const Sampled& of_class = by_class[classes.blocks[block]];
      const double runs = fitted ? fitted->blocks[block] : mean_of(by_class, classes, block);
      const double error = std::sqrt(std::max(of_class.variance, of_one_sample * of_one_sample)) /
                           std::max(1.0, of_class.instructions);
      flow_.blocks[block] =
          FlowCount{{runs * unit, error * unit}, confidence_of(of_class, is_time)};
    }
    for (size_t i = 0; fitted && i < graph_.edges.size(); ++i) {
      const Sampled& of_class = by_class[classes.edges[i]];
      const double error =
          of_class.instructions > 0
              ? std::sqrt(std::max(of_class.variance, of_one_sample * of_one_sample)) /
                    of_class.instructions
              : std::max(of_one_sample, std::sqrt(fitted->edges[i] * of_one_sample));
      flow_.edges[i] = FlowCount{{fitted->edges[i] * unit, error * unit},
                                 is_time ? Confidence::low : confidence_of(of_class, false)};
    }
    if (is_time) return;
    flow_.instructions.resize(seen_.size());
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      for (size_t i = code_.blocks[block].first; i < code_.blocks[block].last; ++i) {
        flow_.instructions[i] = flow_.runs(block);
      }
    }
  }

  static double mean_of(const std::vector<Sampled>& by_class, const FrequencyClasses& classes,
                        uint32_t block) {
    const Sampled& sum = by_class[classes.blocks[block]];
    return sum.instructions > 0 ? sum.value / sum.instructions : 0;
  }

  /// Time alone never says more than "low": facts of the manual, section Frequency.
  [[nodiscard]] static Confidence confidence_of(const Sampled& of_class, bool is_time) {
    constexpr uint64_t kHigh = 400;    // +-10 %
    constexpr uint64_t kMedium = 100;  // +-20 %
    if (is_time || of_class.samples < kMedium) return Confidence::low;
    return of_class.samples < kHigh ? Confidence::medium : Confidence::high;
  }

  const Disassembly& code_;
  const FlowGraph& graph_;
  std::span<const SeenInstruction> seen_;
  std::span<const RecordedBranch> taken_;
  bool has_all_branches_;
  EdgeIndex out_ = index_sources(graph_);
  FunctionFlow flow_;
};

}  // namespace

const char* word_of(Confidence confidence) {
  static constexpr const char* kWords[] = {"low", "medium", "high"};
  return kWords[static_cast<size_t>(confidence)];
}

FunctionFlow make_function_flow(const FunctionGraph& function, ExecutionSource source,
                                std::span<const SeenInstruction> seen,
                                std::span<const RecordedBranch> taken, bool has_all_branches) {
  return FlowMaker(function, source, seen, taken, has_all_branches).make();
}

std::vector<LoopBounds> find_loop_bounds(const FunctionFlow& flow) {
  const FlowGraph& graph = flow.function->graph;
  const LoopForest& forest = flow.function->loops;
  const auto is_inside = [&](uint32_t block, uint32_t loop) {
    return block < graph.blocks && forest.is_inside(block, loop);
  };
  std::vector<LoopBounds> bounds(forest.loops.size());
  std::vector<std::set<uint32_t>> left_from(forest.loops.size());
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const FlowEdge& edge = graph.edges[i];
    if (!flow.edges[i]) continue;
    const Estimate& runs = flow.edges[i]->runs;
    const auto crossed = [&](uint32_t inside, uint32_t outside, auto visit) {
      if (inside >= graph.blocks) return;
      for (auto loop = forest.innermost[inside]; loop; loop = forest.loops[*loop].parent) {
        if (!is_inside(outside, *loop)) visit(*loop);
      }
    };
    crossed(edge.to, edge.from,
            [&](uint32_t loop) { bounds[loop].entries = bounds[loop].entries + runs; });
    if (!(runs.value > 0)) continue;
    crossed(edge.from, edge.to, [&](uint32_t loop) { left_from[loop].insert(edge.from); });
  }
  for (size_t loop = 0; loop < bounds.size(); ++loop) {
    bounds[loop].ways_out = static_cast<uint32_t>(left_from[loop].size());
  }
  return bounds;
}

std::optional<FunctionFlow> FlowFinder::find(ImageId image, uint32_t function) {
  const FunctionGraph* const graph = flow_.find(image, function);
  if (graph == nullptr) return std::nullopt;
  const Profile& profile = events_.profile();
  const Disassembly& code = graph->code;
  std::vector<SeenInstruction> seen(code.instructions.size());
  const FileOffset begin = code.to_offset(code.instructions.front().address);
  const FileOffset end = code.to_offset(code.instructions.back().end());
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.image != image) continue;
    for_each_count_within(
        profile, histogram, begin, end, [&](const Location& at, size_t event, const Sum& sum) {
          if (std::find(events_.events.begin(), events_.events.end(), event) ==
              events_.events.end()) {
            return;
          }
          const LinkAddress address = code.to_link(at.offset);
          const auto after = std::upper_bound(
              code.instructions.begin(), code.instructions.end(), address,
              [](LinkAddress value, const Instruction& one) { return value < one.address; });
          if (after == code.instructions.begin() || address >= std::prev(after)->end()) return;
          SeenInstruction& one =
              seen[static_cast<size_t>(std::prev(after) - code.instructions.begin())];
          const double scale = profile.events[event].scale;
          one.value += static_cast<double>(sum.value) * scale;
          one.variance += sum.variance * scale * scale;
          one.samples += sum.samples;
        });
  }
  return make_function_flow(*graph, events_.source, seen,
                            flow_.code().recorded_branches().within(image, begin, end),
                            flow_.has_all_branches());
}

}  // namespace culprit
