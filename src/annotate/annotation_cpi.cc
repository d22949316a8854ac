#include "annotate/annotation_cpi.h"

#include <fmt/format.h>

#include "report/measured_cycles.h"
#include "stats/counting.h"

namespace culprit {
namespace {

class Costs {
 public:
  Costs(const TwoRuns& runs, const Value& all)
      : runs_(runs),
        mean_ns_(all.samples == 0 ? 0 : all.value / static_cast<double>(all.samples)) {}

  [[nodiscard]] std::optional<Estimate> of(const std::vector<Value>& values) const {
    return estimate_cpi(runs_, values);
  }

  void add_ranges(std::vector<AnnotatedInstruction>& instructions) const {
    for (size_t i = 0; i < instructions.size(); ++i) {
      AnnotatedInstruction& one = instructions[i];
      const double executed = one.values[runs_.instructions].value;
      if (executed == 0 || one.size == 0) continue;
      const Value& own = one.values[runs_.time];
      // A loop's last instruction is followed by its first.
      const AnnotatedInstruction& after = instructions[(i + 1) % instructions.size()];
      const bool is_alone = instructions.size() == 1;
      const Value next = is_alone ? Value() : after.values[runs_.time];
      if (own.samples + next.samples == 0) continue;  // no more to say than that
      const Interval least = cycles(own.samples, own.value);
      const Interval most = cycles(own.samples + next.samples, own.value + next.value);
      one.cpi = Interval{is_alone ? least.low / executed : 0, most.high / executed};
    }
  }

 private:
  /// What so many samples stand for.
  [[nodiscard]] Interval cycles(uint64_t samples, double ns) const {
    const double weight_ns = samples == 0 ? mean_ns_ : ns / static_cast<double>(samples);
    const Interval count = poisson_interval(samples);
    return {count.low * weight_ns * runs_.cycles_per_ns,
            count.high * weight_ns * runs_.cycles_per_ns};
  }

  const TwoRuns& runs_;
  double mean_ns_;  // of a sample
};

std::string format_number(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

}  // namespace

void add_cycles_per_instruction(const Profile& profile, Annotation& annotation) {
  const std::optional<TwoRuns> runs = find_two_runs(profile);
  if (!runs || runs->time != 0) return;  // the first event is the one that is listed
  const Costs costs(*runs, annotation.totals[runs->time]);
  annotation.executed = runs->instructions;
  annotation.cpi = costs.of(annotation.values);
  for (AnnotatedPlace& place : annotation.places) {
    for (AnnotatedBlock& block : place.blocks) {
      block.cpi = costs.of(block.values);
      costs.add_ranges(block.instructions);
    }
  }
  for (AnnotatedLine& line : annotation.lines) line.cpi = costs.of(line.values);
}

std::string format_cpi(const Estimate& cpi) {
  return format_number(cpi.value) + " +-" + format_number(kNormal95 * cpi.standard_error);
}

std::string format_cpi(const Interval& cpi) {
  return format_number(cpi.low) + "-" + format_number(cpi.high);
}

}  // namespace culprit
