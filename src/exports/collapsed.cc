// Folded stacks for flame graphs: "process;outer;inner 123". Samples without a stack
// stand under their process by their function and what it was inlined into.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/text.h"
#include "exports/call_paths.h"
#include "exports/exports.h"

namespace culprit {

namespace {

constexpr size_t kFoldedEvent = 0;  // the format has one number

class Folder {
 public:
  explicit Folder(CodeIndex& code) : code_(code) {}

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
    const Process* process = find_who(code_.profile(), context).process;
    if (process == nullptr) return "[unknown]";
    return clean(code_.profile().strings.text(process->name));
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
  std::map<Location, std::string> frames_;
  std::map<std::string, uint64_t> lines_;
};

}  // namespace

Result<std::string> export_collapsed(const Profile& profile, const FactsLookup& facts) {
  CodeIndex code(profile, facts);
  Folder folder(code);
  Scaler scaler(profile);
  const bool stacks = !profile.stack_counts.empty();
  for_each_call_path(profile, [&](const CallPath& path) {
    const uint64_t value = scaler.next(kFoldedEvent, path.sums[kFoldedEvent].value);
    if (value == 0) return;
    if (stacks && !path.has_stack) {
      folder.add_without_stack(path.context, value);
    } else {
      folder.add(path.context, path.frames, value);
    }
  });
  return folder.print();
}

}  // namespace culprit
