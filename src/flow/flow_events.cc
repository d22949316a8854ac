#include "flow/flow_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "flow/function_flow.h"
#include "model/counts.h"
#include "model/merge.h"

namespace culprit {
namespace {

using namespace flow_events;

enum Made : uint32_t { instructions, blocks, entries, rounds, loop_entries, kMade };
constexpr std::array<const char*, kMade> kNames = {kInstructions, kBlocks, kEntries, kRounds,
                                                   kLoopEntries};

using FunctionKey = std::pair<ImageId, uint32_t>;
/// The part of a function's executions that each context has.
using Contexts = std::map<ContextId, double>;

std::map<FunctionKey, Contexts> find_functions(CodeIndex& code, const ExecutionEvents& events) {
  std::map<FunctionKey, Contexts> functions;
  const Profile& profile = events.profile();
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (std::find(events.events.begin(), events.events.end(), event) == events.events.end()) {
        return;
      }
      const CodePlace place = code.find(at);
      if (place.function == CodePlace::kNone) return;
      functions[{at.image, place.function}][histogram.context] += static_cast<double>(sum.value);
    });
  }
  return functions;
}

class RowMaker {
 public:
  RowMaker(const FunctionFlow& flow, ImageId image, const Contexts& contexts,
           std::vector<HistogramRow>& rows)
      : flow_(flow), code_(flow.function->code), image_(image), contexts_(contexts), rows_(rows) {
    for (const auto& [context, part] : contexts_) total_ += part;
  }

  void make() {
    const FlowGraph& graph = flow_.function->graph;
    for (size_t i = 0; i < flow_.instructions.size(); ++i) {
      add(instructions, i, {flow_.instructions[i], error_of(i)});
    }
    for (uint32_t block = 0; block < graph.blocks; ++block) {
      if (flow_.blocks[block]) add(blocks, first(block), flow_.blocks[block]->runs);
    }
    for (size_t i = 0; i < graph.edges.size(); ++i) {
      const FlowEdge& edge = graph.edges[i];
      const bool is_entry = edge.kind == FlowEdgeKind::entry && edge.to < graph.blocks;
      if (is_entry && flow_.edges[i]) add(entries, first(edge.to), flow_.edges[i]->runs);
    }
    const std::vector<FlowLoop>& loops = flow_.function->loops.loops;
    for (const FlowLoop& loop : loops) {
      if (flow_.blocks[loop.head]) add(rounds, first(loop.head), flow_.blocks[loop.head]->runs);
    }
    const std::vector<LoopBounds> bounds = find_loop_bounds(flow_);
    for (size_t loop = 0; loop < loops.size(); ++loop) {
      add(loop_entries, first(loops[loop].head), bounds[loop].entries);
    }
  }

 private:
  [[nodiscard]] size_t first(uint32_t block) const { return code_.blocks[block].first; }

  [[nodiscard]] double error_of(size_t instruction) const {
    const auto block = find_block(code_.blocks, code_.instructions[instruction].address);
    return block && flow_.blocks[*block] ? flow_.blocks[*block]->runs.standard_error : 0;
  }

  /// Whole numbers whose sum over the contexts is that of all.
  void add(Made event, size_t instruction, const Estimate& runs) {
    if (!(runs.value > 0) || !(total_ > 0)) return;
    const Location at{image_, code_.to_offset(code_.instructions[instruction].address)};
    double before = 0;
    uint64_t given = 0;
    for (const auto& [context, part] : contexts_) {
      before += part;
      const double until = std::min(std::round(runs.value * (before / total_)), 0x1p63);
      const uint64_t value = static_cast<uint64_t>(until) - given;
      given += value;
      const double share = part / total_;
      const double variance = runs.standard_error * runs.standard_error * share;
      if (value > 0) rows_.push_back({context, at, {EventId(event), 0, value, variance}});
    }
  }

  const FunctionFlow& flow_;
  const Disassembly& code_;
  ImageId image_;
  const Contexts& contexts_;
  std::vector<HistogramRow>& rows_;
  double total_ = 0;
};

Event describe(Made made, const ExecutionEvents& source, StringTable& strings) {
  const Event& of = source.profile().events[source.events.front()];
  Event event;
  event.name = strings.intern(kNames[made]);
  event.unit = Unit::events;
  event.provenance = provenance_of(source.source);
  event.engine = strings.intern(source.profile().strings.text(of.engine));
  event.encoding = strings.intern("");
  return event;
}

}  // namespace

Result<FlowProfile> with_flow_events(const Profile& profile, const FactsLookup& facts) {
  CodeIndex code(profile, facts);
  ExecutionEvents found = find_executions(profile, facts);
  if (found.events.empty() || found.source == ExecutionSource::time) {
    return Error{
        "how often code ran is not in this profile: time alone tells no counts\n"
        "count it: culprit record --engine timer+simulate; or sample instructions beside cycles "
        "where the machine has a PMU: culprit record -e cycles -e instructions\n"
        "ratios within a function, by time: culprit annotate FUNCTION --format json"};
  }
  const std::map<FunctionKey, Contexts> functions = find_functions(code, found);
  FlowProfile result;
  result.source = found.source;
  result.profile = profile;
  std::vector<HistogramRow> rows;
  CodeFlow code_flow(code);
  FlowFinder finder(code_flow, std::move(found));
  for (const auto& [key, contexts] : functions) {
    const std::optional<FunctionFlow> flow = finder.find(key.first, key.second);
    if (flow) RowMaker(*flow, key.first, contexts, rows).make();
  }

  std::array<bool, kMade> is_used{};
  for (const HistogramRow& row : rows) is_used[row.cell.event.value] = true;
  std::array<EventId, kMade> ids;
  std::vector<Event> events;
  for (uint32_t made = 0; made < kMade; ++made) {
    if (!is_used[made]) continue;
    ids[made] = EventId(events.size());
    events.push_back(describe(Made{made}, finder.events(), result.profile.strings));
  }
  for (HistogramRow& row : rows) row.cell.event = ids[row.cell.event.value];
  const auto before = static_cast<uint32_t>(events.size());
  events.insert(events.end(), profile.events.begin(), profile.events.end());
  result.profile.events = std::move(events);
  for (Histogram& histogram : result.profile.histograms) {
    for (EventColumn& column : histogram.columns) column.event.value += before;
  }
  std::vector<Histogram> all = make_histograms(std::move(rows), result.profile.events);
  all.insert(all.end(), std::make_move_iterator(result.profile.histograms.begin()),
             std::make_move_iterator(result.profile.histograms.end()));
  result.profile.histograms = merge_histograms(all, result.profile.events);
  // Their events have other numbers now, and a table of code has no use for them.
  result.profile.stack_counts.clear();
  result.profile.sampled_accesses.clear();
  result.profile.counts.clear();
  result.profile.slice_counts.clear();
  result.profile.region_values.clear();
  result.profile.ledger.note("executions are " + describe(result.source));
  return result;
}

}  // namespace culprit
