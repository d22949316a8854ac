#include "stalls/stall_summary.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"
#include "report/next_function.h"
#include "report/row_filter.h"
#include "stalls/call_landings.h"

namespace culprit {
namespace {

struct Measured {
  double cycles = 0;
  uint64_t samples = 0;
};
using Functions = std::map<std::pair<ImageId, uint32_t>, Measured>;

/// Time by function, and what has none; of the whole profile.
struct TimeByCode {
  Functions functions;
  std::map<ImageId, Measured> unnamed;
  double everything = 0;
};

TimeByCode add_up_time(CodeIndex& code, const StallEvidence& evidence) {
  TimeByCode time;
  const Profile& profile = code.profile();
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (event != evidence.time()) return;
      const double cycles =
          evidence.to_cycles(static_cast<double>(sum.value) * profile.events[event].scale);
      time.everything += cycles;
      const CodePlace place = code.find(at);
      Measured& of = place.function == CodePlace::kNone
                         ? time.unnamed[at.image]
                         : time.functions[{at.image, place.function}];
      of.cycles += cycles;
      of.samples += sum.samples;
    });
  }
  return time;
}

std::optional<uint64_t> parse_hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

class Summarizer {
 public:
  Summarizer(const Profile& profile, const FactsLookup& facts, const StallEvidence& evidence,
             const std::string& part)
      : code_(profile, facts),
        code_flow_(code_),
        flows_(code_flow_, evidence.find_executions(facts)),
        evidence_(evidence),
        part_(part),
        loop_(parse_hexadecimal(part)) {}

  Result<StallSummary> make() {
    const TimeByCode time = add_up_time(code_, evidence_);
    landings_ = find_call_landings(code_, flows_, evidence_);
    summary_.source = flows_.source();
    summary_.has_model = evidence_.has_model();
    summary_.has_best = evidence_.has_best(flows_.source());
    summary_.dispatch_width = evidence_.dispatch_width();
    summary_.is_in_cycles = evidence_.is_in_cycles();
    summary_.remarks = evidence_.rules().remarks;
    seen_.resize(evidence_.rules().events.size());
    summary_.everything = time.everything;
    // A function's name is meant before a module's, and both before an address.
    for (const Meaning meaning : {Meaning::function, Meaning::module, Meaning::loop}) {
      meaning_ = meaning;
      if (meaning == Meaning::loop && !loop_) continue;
      for (const auto& [key, measured] : time.functions) add(key, measured);
      for (const auto& [image, measured] : time.unnamed) add_unnamed(image, measured);
      if (found_ || part_.empty()) break;
    }
    if (!found_ && !part_.empty()) {
      return Error{
          fmt::format("no function, module or head of a loop here is '{}' (culprit report "
                      "--by loop,function lists them)",
                      part_)};
    }
    if (!part_.empty()) summary_.part = "in " + part_;
    for (size_t event = 0; event < seen_.size(); ++event) {
      const BoundingEvent& bounding = evidence_.rules().events[event];
      const SampledEvents& seen = seen_[event];
      summary_.events.push_back({bounding.name, seen.samples, seen.value,
                                 find_least_events(seen, bounding.weight),
                                 find_most_events(seen, bounding.weight)});
    }
    std::stable_sort(
        summary_.places.begin(), summary_.places.end(),
        [](const StallPlace& a, const StallPlace& b) { return a.stalls.cycles > b.stalls.cycles; });
    if (!summary_.places.empty()) {
      const StallPlace& first = summary_.places.front();
      summary_.next_words = make_next_words(code_, {first.function, false, first.module});
    }
    return std::move(summary_);
  }

 private:
  enum class Meaning : uint8_t { function, module, loop };

  [[nodiscard]] bool is_kernel(ImageId image) const {
    const Image* const row = code_.image(image);
    return row != nullptr && (row->kind == ImageKind::kernel || row->kind == ImageKind::module);
  }

  [[nodiscard]] bool is_module(ImageId image) const {
    const std::string module = code_.module(image);
    return matches_pattern(module, part_) || matches_pattern(base_name(module), part_);
  }

  void add_unnamed(ImageId image, const Measured& measured) {
    const bool is_meant = part_.empty() || (meaning_ == Meaning::module && is_module(image));
    if (!is_meant) return;
    add_unknown(image, measured);
  }

  void add_unknown(ImageId image, const Measured& measured) {
    found_ = true;
    summary_.cycles += measured.cycles;
    summary_.samples += measured.samples;
    (is_kernel(image) ? summary_.kernel : summary_.other) += measured.cycles;
  }

  void add(const std::pair<ImageId, uint32_t>& key, const Measured& measured) {
    const ImageFacts& facts = *code_.facts(key.first);
    const std::string& name = facts.strings.text(facts.functions[key.second].name);
    if (!part_.empty()) {
      if (meaning_ == Meaning::function && !matches_function(name, part_)) return;
      if (meaning_ == Meaning::module && !is_module(key.first)) return;
    }
    const std::optional<FunctionFlow> flow = is_kernel(key.first) && evidence_.has_model()
                                                 ? std::nullopt
                                                 : flows_.find(key.first, key.second);
    if (!flow) {
      if (meaning_ != Meaning::loop) add_unknown(key.first, measured);
      return;
    }
    const FunctionEvidence evidence = evidence_.find(key.first, *flow, flows_.events());
    const auto landed = landings_.find(key);
    const FunctionStalls stalls = find_function_stalls(
        *flow, evidence, landed == landings_.end() ? PartBounds{} : landed->second);
    if (meaning_ != Meaning::loop) {
      // Samples between its instructions: in code that cannot be decoded.
      const double lost = measured.cycles - stalls.all.cycles;
      summary_.other += lost;
      summary_.cycles += lost;
    }
    for (const StallRegion& region : stalls.regions) {
      if (!add_region(key.first, name, *flow, region)) continue;
      const std::vector<SampledEvents> seen = evidence.events.add_up(region.instructions);
      for (size_t event = 0; event < seen.size(); ++event) seen_[event] += seen[event];
    }
  }

  /// Whether the region is of the part, and was analysed.
  bool add_region(ImageId image, const std::string& function, const FunctionFlow& flow,
                  const StallRegion& region) {
    StallPlace place{function, code_.module(image), std::nullopt, std::nullopt, region.stalls};
    if (region.loop) {
      const CodeIndex::Range range =
          flow.function->range_of(flow.function->loops.loops[*region.loop]);
      place.begin = flow.function->code.to_link(range.begin).value;
      place.end = flow.function->code.to_link(range.end).value;
    }
    if (meaning_ == Meaning::loop && place.begin != loop_) return false;
    found_ = true;
    summary_.cycles += region.stalls.cycles;
    summary_.samples += region.stalls.samples;
    // It never ran where executions were counted, or no window of the model met it.
    const bool is_unknown =
        summary_.has_best && !(region.stalls.executions > 0 && region.stalls.best.total() > 0);
    if (is_unknown) {
      (is_kernel(image) ? summary_.kernel : summary_.other) += region.stalls.cycles;
      return false;
    }
    summary_.tallied += region.stalls;
    if (region.stalls.cycles > 0) summary_.places.push_back(std::move(place));
    return true;
  }

  CodeIndex code_;
  CodeFlow code_flow_;
  FlowFinder flows_;
  const StallEvidence& evidence_;
  std::map<FunctionKey, PartBounds> landings_;
  const std::string& part_;
  std::optional<uint64_t> loop_;
  Meaning meaning_ = Meaning::function;
  bool found_ = false;
  std::vector<SampledEvents> seen_;  // by event of the rules
  StallSummary summary_;
};

}  // namespace

Result<StallSummary> make_stall_summary(const Profile& profile, const FactsLookup& facts,
                                        const Template& cpu, const std::string& part) {
  ASSIGN_OR_RETURN(const StallEvidence evidence, StallEvidence::make(profile, cpu));
  return Summarizer(profile, facts, evidence, part).make();
}

std::vector<std::string> list_event_names(const StallSummary& summary) {
  std::vector<std::string> names;
  for (const StallEvent& event : summary.events) names.push_back(event.name);
  return names;
}

}  // namespace culprit
