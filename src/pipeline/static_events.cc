#include "pipeline/static_events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "attribute/code_index.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/merge.h"
#include "model/static_events.h"
#include "pipeline/function_costs.h"
#include "pipeline/loops.h"
#include "pipeline/recurrence.h"

namespace culprit {
namespace {

/// Stored values are in parts of this size.
constexpr double kParts = 64;

/// Saturates, as sums do (model/merge.h): counts may come from strangers.
uint64_t to_parts(double value) {
  const double parts = std::round(value * kParts);
  return parts < 0x1p64 ? static_cast<uint64_t>(parts) : UINT64_MAX;
}

/// Executions at one instruction.
struct Executed {
  ContextId context;
  FileOffset offset;
  double value = 0;
  double variance = 0;
};

struct Function {
  ImageId image;
  uint32_t function = CodePlace::kNone;
  std::vector<Executed> executed;
  double total = 0;
};

/// How often each block ran.
struct Runs {
  std::vector<double> value;  // by block
  std::vector<double> variance;
};

/// The functions that ran, hottest first; and all executions, of code without a name, too.
class ExecutedFunctions {
 public:
  ExecutedFunctions(CodeIndex& code, const Executions& executions) {
    const Profile& profile = *executions.profile;
    std::map<std::pair<ImageId, uint32_t>, Function> functions;
    for (const Histogram& histogram : profile.histograms) {
      for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
        const auto wanted =
            std::find_if(executions.parts.begin(), executions.parts.end(),
                         [&](const Executions::Part& one) { return one.event == event; });
        if (wanted == executions.parts.end()) return;
        const double unit = profile.events[event].scale * wanted->factor;
        const double value = static_cast<double>(sum.value) * unit;
        if (!(value > 0)) return;
        total_ += value;
        const CodePlace place = code.find(at);
        if (place.function == CodePlace::kNone) return;
        Function& function = functions[{at.image, place.function}];
        function.total += value;
        function.executed.push_back(
            {histogram.context, at.offset, value, sum.variance * unit * unit});
      });
    }
    for (auto& [key, function] : functions) {
      function.image = key.first;
      function.function = key.second;
      functions_.push_back(std::move(function));
    }
    std::stable_sort(functions_.begin(), functions_.end(),
                     [](const Function& a, const Function& b) { return a.total > b.total; });
  }

  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  [[nodiscard]] double total() const { return total_; }

 private:
  std::vector<Function> functions_;
  double total_ = 0;
};

/// Executions x costs, as rows of a histogram. Events are numbered as the resources are, the
/// two others behind them.
class StaticCounter {
 public:
  /// `target`: the architecture of the model; code of another one is not counted.
  StaticCounter(CodeIndex& code, CostModel& model, std::string target, double dispatch_width)
      : code_(code),
        model_(model),
        target_(std::move(target)),
        dispatch_width_(dispatch_width),
        chain_(static_cast<uint32_t>(model.resource_names().size())) {}

  void count(const Function& function) {
    const ImageFacts* const facts = code_.facts(function.image);
    if (facts->architecture != target_) return;
    const auto costs =
        find_function_costs(code_, function.image, facts->functions[function.function], model_);
    if (!costs) return;
    std::map<ContextId, Runs> contexts;
    Runs all = no_runs(*costs);
    for (const Executed& one : function.executed) {
      const auto block = find_block(costs->code.blocks, costs->code.to_link(one.offset));
      if (!block) continue;
      const Block& where = costs->code.blocks[*block];
      const auto size = static_cast<double>(where.last - where.first);
      auto [runs, is_new] = contexts.try_emplace(one.context);
      if (is_new) runs->second = no_runs(*costs);
      runs->second.value[*block] += one.value / size;
      runs->second.variance[*block] += one.variance / (size * size);
      all.value[*block] += one.value / size;
    }
    note_known(*costs, all);
    std::vector<double> chain(costs->costs.size());  // of each instruction, per execution
    for (const Loop& loop : find_innermost_loops(costs->code, all.value)) {
      follow_chain(*costs, loop, all, chain);
    }
    for (const auto& [context, runs] : contexts) {
      add_rows(function.image, context, *costs, runs, chain);
    }
  }

  [[nodiscard]] std::vector<HistogramRow> take_rows() { return std::move(rows_); }
  [[nodiscard]] uint32_t chain() const { return chain_; }
  [[nodiscard]] uint32_t calls() const { return chain_ + 1; }
  [[nodiscard]] double known() const { return known_; }
  [[nodiscard]] double looped() const { return looped_; }

 private:
  static Runs no_runs(const FunctionCosts& costs) {
    const size_t blocks = costs.code.blocks.size();
    return {std::vector<double>(blocks), std::vector<double>(blocks)};
  }

  void note_known(const FunctionCosts& costs, const Runs& runs) {
    for (size_t b = 0; b < runs.value.size(); ++b) {
      const Block& block = costs.code.blocks[b];
      for (size_t i = block.first; i < block.last; ++i) {
        if (costs.is_known[i]) known_ += runs.value[b];
      }
    }
  }

  /// What the loop's chain has above its throughput, to the instructions on the chain.
  void follow_chain(const FunctionCosts& costs, const Loop& loop, const Runs& runs,
                    std::vector<double>& chain) {
    constexpr size_t kLongest = 2000;  // instructions: unrolled loops are shorter
    if (loop.has_call || loop.instructions.size() > kLongest) return;
    std::vector<InstructionCosts> body;
    for (const size_t i : loop.instructions) {
      if (!costs.is_known[i]) return;
      body.push_back(costs.costs[i]);
    }
    for (const size_t b : loop.blocks) {
      const Block& block = costs.code.blocks[b];
      looped_ += runs.value[b] * static_cast<double>(block.last - block.first);
    }
    const Recurrence slowest = find_recurrence(body, model_.load_cycles());
    const double excess =
        slowest.cycles - throughput_cycles(costs, loop.instructions, dispatch_width_);
    if (!(excess > 0)) return;
    for (size_t i = 0; i < body.size(); ++i) {
      chain[loop.instructions[i]] += excess * slowest.shares[i] / slowest.cycles;
    }
  }

  void add_rows(ImageId image, ContextId context, const FunctionCosts& costs, const Runs& runs,
                const std::vector<double>& chain) {
    for (size_t b = 0; b < runs.value.size(); ++b) {
      if (!(runs.value[b] > 0)) continue;
      const Block& block = costs.code.blocks[b];
      std::map<uint32_t, double> sums;  // of the block, by event
      const auto for_each = [&](auto visit) {
        for (size_t i = block.first; i < block.last; ++i) {
          const FileOffset offset = costs.code.to_offset(costs.code.instructions[i].address);
          for (const PortUse& use : costs.uses[i]) {
            visit(offset, use.resource, use.cycles);
          }
          if (chain[i] > 0) visit(offset, chain_, chain[i]);
          if (costs.code.instructions[i].flow == Flow::call) visit(offset, calls(), 1.0);
        }
      };
      for_each([&](FileOffset, uint32_t event, double cost) { sums[event] += cost; });
      for_each([&](FileOffset offset, uint32_t event, double cost) {
        Cell cell{EventId(event), 0, to_parts(runs.value[b] * cost), 0};
        // The block's sum gets the error that its runs give it.
        cell.variance = runs.variance[b] * cost * sums[event] * kParts * kParts;
        if (cell.value != 0) rows_.push_back({context, {image, offset}, cell});
      });
    }
  }

  CodeIndex& code_;
  CostModel& model_;
  std::string target_;
  double dispatch_width_;
  uint32_t chain_;
  std::vector<HistogramRow> rows_;
  double known_ = 0;
  double looped_ = 0;
};

Event describe(const std::string& name, Unit unit, StringTable& strings) {
  Event event;
  event.name = strings.intern(name);
  event.unit = unit;
  event.provenance = Provenance::modelled;
  event.engine = strings.intern(word_of(Engine::static_model));
  event.encoding = strings.intern("");
  event.scale = 1 / kParts;
  return event;
}

/// The counts of these rows behind the profile's own.
void add_events(Profile& profile, const CostModel& model, StaticCounter& counter) {
  std::vector<HistogramRow> rows = counter.take_rows();
  std::vector<std::string> names;
  for (const std::string& port : model.resource_names()) {
    names.push_back(std::string(static_events::kBusyPrefix) + port);
  }
  names.emplace_back(static_events::kChain);
  names.emplace_back(static_events::kCalls);
  std::vector<bool> is_used(names.size());
  for (const HistogramRow& row : rows) is_used[row.cell.event.value] = true;
  // Chains are looked for: where none is slower than its loop there are 0 of their cycles.
  is_used[counter.chain()] = counter.looped() > 0;
  std::vector<EventId> ids(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_used[i]) continue;
    ids[i] = EventId(profile.events.size());
    const Unit unit = i == counter.calls() ? Unit::events : Unit::cycles;
    profile.events.push_back(describe(names[i], unit, profile.strings));
  }
  for (HistogramRow& row : rows) row.cell.event = ids[row.cell.event.value];
  std::vector<Histogram> both = std::move(profile.histograms);
  std::vector<Histogram> made = make_histograms(std::move(rows), profile.events);
  both.insert(both.end(), std::make_move_iterator(made.begin()),
              std::make_move_iterator(made.end()));
  profile.histograms = merge_histograms(both, profile.events);
}

/// The target of the hottest function whose code LLVM may have costs for; "" if there is none.
std::string find_target(CodeIndex& code, const ExecutedFunctions& ran) {
  for (const Function& function : ran.functions()) {
    const std::string& architecture = code.facts(function.image)->architecture;
    if (CostModel::has_target(architecture)) return architecture;
  }
  return "";
}

}  // namespace

Result<StaticModel> with_static_events(const Profile& profile, const FactsLookup& facts,
                                       const Executions& executions, const StaticCpu& cpu) {
  CodeIndex code(profile, facts);
  const ExecutedFunctions ran(code, executions);
  StaticModel result;
  const std::string target = find_target(code, ran);
  if (target.empty()) {
    result.profile = profile;
    return result;
  }
  std::string problem;
  const auto model = CostModel::make(target, cpu.llvm_cpu, problem);
  if (!model) return Error{problem};
  StaticCounter counter(code, *model, target, cpu.dispatch_width);
  double done = 0;
  for (const Function& function : ran.functions()) {
    if (done >= kModelledShare * ran.total()) break;
    counter.count(function);
    done += function.total;
  }
  result.modelled_share = counter.known() / ran.total();
  result.looped_share = counter.looped() / ran.total();
  result.profile = profile;
  add_events(result.profile, *model, counter);
  return result;
}

}  // namespace culprit
