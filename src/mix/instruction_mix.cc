#include "mix/instruction_mix.h"

#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attribute/code_index.h"
#include "mix/instruction_kinds.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/merge.h"

namespace culprit {
namespace {

/// Decodes each function once.
class Kinds {
 public:
  explicit Kinds(CodeIndex& code) : code_(code) {}

  std::optional<MixCounts> find(const Location& at) {
    const CodePlace place = code_.find(at);
    const ImageFacts* const facts = code_.facts(at.image);
    if (facts == nullptr || place.function == CodePlace::kNone) return std::nullopt;
    const auto [function, is_new] = functions_.try_emplace({at.image, place.function});
    if (is_new) decode(at.image, *facts, facts->functions[place.function], function->second);
    const auto found = function->second.find(at.offset.value);
    return found == function->second.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  using ByOffset = std::unordered_map<uint64_t, MixCounts>;

  void decode(ImageId image, const ImageFacts& facts, const FunctionFact& function, ByOffset& to) {
    const Result<Disassembly> code = code_.disassemble(image, function.begin, function.end);
    if (!code) return;
    for (const Instruction& one : code->instructions) {
      if (!one.bad) {
        to.emplace(code->to_offset(one.address).value, count_kinds(one, facts.architecture));
      }
    }
  }

  CodeIndex& code_;
  std::map<std::pair<ImageId, uint32_t>, ByOffset> functions_;
};

std::optional<size_t> find_instructions(const Profile& profile) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == "instructions") return event;
  }
  return std::nullopt;
}

}  // namespace

uint64_t add_instruction_mix(Profile& profile, const FactsLookup& facts) {
  const std::optional<size_t> instructions = find_instructions(profile);
  if (!instructions) return 0;
  const Event executions = profile.events[*instructions];
  const size_t first = profile.events.size();
  for (const std::string_view name : kMixEvents) {
    Event event = executions;  // counted or sampled, by whom, in which parts
    event.name = profile.strings.intern(name);
    event.encoding = profile.strings.intern("");
    profile.events.push_back(event);
  }
  std::vector<HistogramRow> rows;
  uint64_t unknown = 0;
  {
    CodeIndex code(profile, facts);
    Kinds kinds(code);
    for_each_row(profile.histograms, [&](const HistogramRow& row) {
      if (row.cell.event.value != *instructions) return;
      const std::optional<MixCounts> counts = kinds.find(row.location);
      if (!counts) {
        unknown += row.cell.value;
        return;
      }
      for (size_t kind = 0; kind < kMixKinds; ++kind) {
        const uint64_t weight = (*counts)[kind];
        if (weight == 0) continue;
        HistogramRow one = row;
        one.cell = {EventId(first + kind), row.cell.samples, row.cell.value * weight,
                    row.cell.variance * static_cast<double>(weight * weight)};
        rows.push_back(one);
      }
    });
  }
  std::vector<Histogram> all = std::move(profile.histograms);
  std::vector<Histogram> made = make_histograms(std::move(rows), profile.events);
  all.insert(all.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
  profile.histograms = merge_histograms(all, profile.events);
  return unknown;
}

}  // namespace culprit
