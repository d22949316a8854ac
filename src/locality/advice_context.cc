#include "locality/advice_context.h"

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "locality/objects.h"

namespace culprit {

std::string format_part(double part, double whole) {
  return fmt::format("{:.0f} %", whole > 0 ? 100 * part / whole : 0);
}

AdviceContext::AdviceContext(const Profile& profile, CodeIndex& code, const Caches& caches,
                             LoopScales& scales)
    : code_(code),
      caches_(caches),
      scales_(scales),
      events_of_data_(find_use_events(profile, false)),
      facts_(profile, code, scales) {}

std::array<LinesIn, kDataLevels> AdviceContext::lines_in(const Use& use,
                                                         const Refetches& refetched) {
  std::array<LinesIn, kDataLevels> levels;
  for (size_t i = 0; i < kDataLevels; ++i) {
    levels[i] = {static_cast<double>(use.levels[i].lines), refetched.all(i)};
  }
  return levels;
}

double AdviceContext::spatial(const Use& use, size_t level) const {
  return compute_spatial_percent(use.levels[level], caches_.line_bytes).value_or(100) / 100;
}

double AdviceContext::used_in_the_end(const Use& use, size_t level) const {
  double used = spatial(use, level);
  for (size_t i = level + 1; i < kDataLevels; ++i) {
    const LineUse& farther = use.levels[i];
    // Lines that were cut, as in a victim cache, do not tell all of their uses.
    if (farther.lines > 0 && 2 * farther.lines_cut < farther.lines) {
      used = std::max(used, spatial(use, i));
    }
  }
  return used;
}

std::vector<std::string> AdviceContext::lines_of(uint32_t loop) const {
  return top(facts_.lines_of_loop[loop],
             [&](uint32_t row) { return facts_.lines.spot(row).label(); });
}

std::vector<std::string> AdviceContext::objects_of(uint32_t loop) const {
  ObjectDescriber names(code_);
  return top(facts_.objects_of_loop[loop],
             [&](uint32_t object) { return printable(names.describe(ObjectId(object)).name); });
}

std::string AdviceContext::place_of(uint32_t loop) const {
  const CodeSpot* first = nullptr;
  uint64_t most = 0;
  for (const auto& [row, count] : facts_.lines_of_loop[loop]) {
    const CodeSpot& spot = facts_.lines.spot(row);
    if (spot.line == 0 || (first != nullptr && count <= most)) continue;
    first = &spot;
    most = count;
  }
  const std::string function =
      printable(std::string(without_parameters(facts_.loops.row(loop).function)));
  if (first == nullptr) return function;
  uint32_t low = first->line;
  uint32_t high = first->line;
  for (const auto& [row, count] : facts_.lines_of_loop[loop]) {
    const CodeSpot& spot = facts_.lines.spot(row);
    constexpr uint64_t kHundredth = 100;
    if (spot.file != first->file || spot.line == 0 || count < most / kHundredth) continue;
    low = std::min(low, spot.line);
    high = std::max(high, spot.line);
  }
  const std::string file = printable(base_name(first->file));
  return low == high ? fmt::format("{}:{}", file, low) : fmt::format("{}:{}-{}", file, low, high);
}

bool AdviceContext::has_lines(uint32_t loop) const {
  return std::any_of(facts_.lines_of_loop[loop].begin(), facts_.lines_of_loop[loop].end(),
                     [&](const auto& entry) { return facts_.lines.spot(entry.first).line != 0; });
}

void AdviceContext::add(LocalityAdvice advice, std::set<uint32_t> loops, double scale) {
  if (!is_worth(advice.saved_cycles)) return;
  advice.share = advice.saved_cycles / all_cycles();
  const bool fits = scale <= kFarFromModel;
  if (!fits) {
    advice.reason += fmt::format(
        " This takes {:.0f} times as long as the model has it; whether all of that is waiting for "
        "these lines is not known.",
        scale);
  }
  found_.push_back({std::move(advice), std::move(loops), fits});
}

}  // namespace culprit
