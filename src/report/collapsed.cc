// Folded stacks for flame graphs: "process;outer;inner 123". Samples without a stack
// stand under their process by their function and what it was inlined into.

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "report/code_index.h"
#include "report/counts.h"
#include "report/report.h"
#include "report/row_key.h"

namespace culprit {

namespace {

constexpr size_t kEvent = 0;  // the format has one number

class Folder {
 public:
  explicit Folder(CodeIndex& code) : code_(code), processes_(code, Levels::of({Level::process})) {}

  /// `leaf_first`: the stack. Adds `value` to its line.
  void add(ContextId context, const std::vector<Location>& leaf_first, uint64_t value) {
    std::string line = process(context);
    for (auto at = leaf_first.rbegin(); at != leaf_first.rend(); ++at) line += frames(*at);
    lines_[std::move(line)] += value;
  }
  void add_without_stack(ContextId context, uint64_t value) {
    lines_[process(context) + ";[no stack]"] += value;
  }

  [[nodiscard]] std::string print() const {
    std::string text;
    for (const auto& [line, value] : lines_) text += line + " " + std::to_string(value) + "\n";
    return text;
  }

 private:
  /// The separators of the format are no part of names.
  static std::string clean(const std::string& name) {
    std::string result = printable(name);
    std::replace(result.begin(), result.end(), ';', ':');
    return result;
  }

  std::string process(ContextId context) {
    return clean(processes_.describe(processes_.of_context(context)).process.value_or("[unknown]"));
  }

  /// ";outer;inner" of one address.
  const std::string& frames(const Location& location) {
    std::string& text = frames_[location];
    if (!text.empty()) return text;
    const ImageFacts* facts = code_.facts(location.image);
    std::vector<Frame> frames = code_.frames(location);
    if (frames.empty()) frames.emplace_back();
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const std::string& name = facts == nullptr ? kNothing : facts->strings.text(frame->function);
      text += ";" + clean(name.empty() ? code_.unnamed(location) : name);
    }
    return text;
  }

  static inline const std::string kNothing;
  CodeIndex& code_;
  RowKeys processes_;
  std::map<Location, std::string> frames_;
  std::map<std::string, uint64_t> lines_;
};

uint64_t scaled(const Profile& profile, uint64_t value) {
  const double scale = profile.events[kEvent].scale;
  return scale == 1 ? value : static_cast<uint64_t>(static_cast<double>(value) * scale);
}

}  // namespace

Result<std::string> export_collapsed(const Profile& profile, const FactsLookup& facts) {
  CodeIndex code(profile, facts);
  Folder folder(code);
  const bool stacks = !profile.stack_counts.empty();
  std::map<ContextId, uint64_t> without_stack;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (event != kEvent || sum.value == 0) return;
      if (stacks) {
        without_stack[histogram.context] += sum.value;
      } else {
        folder.add(histogram.context, {at}, scaled(profile, sum.value));
      }
    });
  }
  for_each_stack_count(profile, [&](const StackCount& count, size_t event, const Sum& sum) {
    if (event != kEvent || sum.value == 0) return;
    folder.add(count.context, stack_locations(profile, count.stack), scaled(profile, sum.value));
    uint64_t& rest = without_stack[count.context];
    rest -= std::min(rest, sum.value);
  });
  for (const auto& [context, value] : without_stack) {
    if (value > 0) folder.add_without_stack(context, scaled(profile, value));
  }
  return folder.print();
}

}  // namespace culprit
