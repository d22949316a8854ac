#include "annotate/annotate_cells.h"

#include <algorithm>
#include <fmt/format.h>

#include "annotate/annotation_cpi.h"
#include "base/names.h"
#include "base/text.h"

namespace culprit {
namespace {

constexpr size_t kAmountWidth = 8;
constexpr size_t kShareWidth = 7;
constexpr size_t kExecutedWidth = 9;
constexpr size_t kCpiWidth = 11;

}  // namespace

bool is_empty(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Value& value) { return value.samples == 0 && value.value == 0; });
}

AnnotateCells::AnnotateCells(const Profile& profile, const Annotation& annotation)
    : annotation_(annotation),
      display_(profile, profile.events.front()),
      is_sampled_(profile.events.front().provenance == Provenance::sampled),
      share_heading_(provenance_mark(profile.events.front().provenance) + std::string("share")) {}

size_t AnnotateCells::width() const {
  const size_t further =
      annotation_.more_heading.empty() ? 0 : 2 + count_columns(annotation_.more_heading);
  const size_t costs = kAmountWidth + 2 + kShareWidth + further;
  return annotation_.executed ? costs + 2 + kExecutedWidth + 2 + kCpiWidth : costs;
}

std::string AnnotateCells::heading(const char* skid) const {
  const std::string text = pad_left(display_.heading(), kAmountWidth) + "  " +
                           pad_left(share_heading_, kShareWidth) + skid;
  const std::string further = more(annotation_.more_heading);
  if (!annotation_.executed) return text + further;
  return text + pad_left("=executed", 2 + kExecutedWidth - count_columns(skid)) + "  " +
         pad_left("~CPI", kCpiWidth) + skid + further;
}

std::string AnnotateCells::more(const std::string& cells) const {
  if (annotation_.more_heading.empty()) return "";
  return "  " + pad_left(cells, count_columns(annotation_.more_heading));
}

std::string AnnotateCells::row(const std::vector<Value>& values, const std::string& cpi,
                               const std::string& further) const {
  const bool has_cost = annotation_.executed ? values[0].samples > 0 : !is_empty(values);
  const std::string text =
      pad_left(has_cost ? display_.format(values[0]) : "", kAmountWidth) + "  " +
      pad_left(has_cost ? format_share(values[0], annotation_.values[0]) : "", kShareWidth);
  if (!annotation_.executed) return text + more(further);
  return text + "  " + pad_left(is_empty(values) ? "" : executed(values), kExecutedWidth) + "  " +
         pad_left(cpi, kCpiWidth) + more(further);
}

std::string AnnotateCells::block(const AnnotatedBlock& block) const {
  const Value& cost = block.values[0];
  if (annotation_.executed && cost.samples == 0) return "no samples";
  const std::string samples =
      is_sampled_ ? "   " + format_thousands(cost.samples) + " samples" : "";
  return fmt::format("{}   {}{}", display_.format_named(cost),
                     format_share(cost, annotation_.values[0]), samples);
}

std::string AnnotateCells::runs(const AnnotatedBlock& block) const {
  if (!annotation_.executed) return "";
  const double instructions = block.values[*annotation_.executed].value;
  const double runs = block.instructions.front().values[*annotation_.executed].value;
  if (runs == 0) return "";
  std::string text = fmt::format("{} run{}", format_si(runs), runs == 1 ? "" : "s");
  if (block.cpi) {
    text += fmt::format("   {} cycles each   CPI {}",
                        format_cpi(*block.cpi * (instructions / runs)), format_cpi(*block.cpi));
    if (block.best_cpi) text += fmt::format(", best case {:.2f}", *block.best_cpi);
  }
  return text;
}

std::string AnnotateCells::function() const {
  if (!annotation_.executed) return "";
  return fmt::format("{} instructions executed, CPI {}", executed(annotation_.values),
                     annotation_.cpi ? format_cpi(*annotation_.cpi) : "-");
}

std::string AnnotateCells::executed(const std::vector<Value>& values) const {
  const Value& count = values[*annotation_.executed];
  return count.value == 0 ? "-" : format_si(count.value);
}

}  // namespace culprit
