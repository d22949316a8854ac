// LLVM's sample profile of one image. Each range between taken branches says that all its
// instructions ran `count` times; a line's count is the largest of its instructions', as
// LLVM's own tools take it. Calls and function entries come from the branches themselves.

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "base/text.h"
#include "exports/branch_image.h"
#include "exports/exports.h"
#include "exports/sample_profile.h"

namespace culprit {

namespace {

class Collector {
 public:
  Collector(CodeIndex& code, Attributor& attributor, ImageId image)
      : code_(code), attributor_(attributor), facts_(attributor.facts()), image_(image) {}

  void add_ranges(const std::vector<FallThrough>& ranges) {
    for (const FallThrough& range : ranges) {
      if (range.image != image_ || range.to < range.from || range.count == 0) continue;
      starts_[range.from] += range.count;
      ends_[find_end(range.to)] += range.count;
    }
    sweep();
  }

  /// A branch to the first instruction of another function is a call (or a tail call).
  void add_branch(const BranchCount& branch) {
    if (branch.to.image != image_ || branch.count == 0) return;
    const CodePlace to = attributor_.find(branch.to.offset);
    if (to.function == CodePlace::kNone) return;
    const FunctionFact& callee = facts_.functions[to.function];
    const bool from_here = branch.from.image == image_;
    const CodePlace from = from_here ? attributor_.find(branch.from.offset) : CodePlace{};
    if (callee.begin != branch.to.offset || from.function == to.function) return;
    const std::string name = name_of(callee);
    if (from.function != CodePlace::kNone && name_of(facts_.functions[from.function]) == name) {
      return;  // between the parts of a split function
    }
    if (callee.line != 0) functions_[name].entered += branch.count;
    if (FunctionSamples::Line* line = find_line(from)) {
      line->calls[name] += branch.count;
      line->count = std::max(line->count, branch.count);
    }
  }

  [[nodiscard]] std::string write() const {
    std::string text;
    if (unplaced_ > 0) {
      text += fmt::format(
          "# {} stretches of code ran without a line or a declaration to count from\n", unplaced_);
    }
    for (const auto& [name, samples] : functions_) text += samples.write(name);
    return text;
  }
  [[nodiscard]] bool empty() const { return functions_.empty(); }

 private:
  [[nodiscard]] std::string name_of(const FunctionFact& function) const {
    return name_of(function.linkage_name, function.name);
  }
  [[nodiscard]] std::string name_of(StringId linkage_name, StringId name) const {
    const std::string& linked = facts_.strings.text(linkage_name);
    return sample_profile_name(linked.empty() ? facts_.strings.text(name) : linked);
  }

  /// Where what is known of the code may change.
  [[nodiscard]] std::vector<FileOffset> boundaries() const {
    std::vector<FileOffset> all;
    for (const auto& [at, count] : starts_) all.push_back(at);
    for (const auto& [at, count] : ends_) all.push_back(at);
    for (const LineFact& row : facts_.lines) all.push_back(row.offset);
    for (const InlineFact& row : facts_.inlines) {
      all.push_back(row.begin);
      all.push_back(row.end);
    }
    for (const FunctionFact& row : facts_.functions) {
      all.push_back(row.begin);
      all.push_back(row.end);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void sweep() {
    uint64_t running = 0;
    const std::vector<FileOffset> all = boundaries();
    for (size_t i = 0; i < all.size(); ++i) {
      const FileOffset at = all[i];
      if (const auto end = ends_.find(at); end != ends_.end()) running -= end->second;
      if (const auto start = starts_.find(at); start != starts_.end()) running += start->second;
      if (running == 0) continue;
      const CodePlace place = attributor_.find(at);
      const uint64_t bytes = i + 1 < all.size() ? all[i + 1] - at : 0;
      FunctionSamples::Line* line = find_line(place, running * bytes);
      if (line == nullptr) {
        ++unplaced_;
        continue;
      }
      const uint64_t copies = duplication_factor(facts_.lines[place.line].discriminator);
      line->count = std::max(line->count, running * copies);
    }
  }

  /// Of the instruction there; where it is not known it has one byte.
  FileOffset find_end(FileOffset at) {
    const uint32_t function = attributor_.find(at).function;
    if (function != CodePlace::kNone) {
      const auto [known, is_new] = instruction_ends_.try_emplace(function);
      if (is_new) {
        const FunctionFact& where = facts_.functions[function];
        const Result<Disassembly> code =
            code_.disassemble(image_, where.begin, where.end, Detail::flow);
        if (code) {
          for (const Instruction& one : code->instructions) {
            known->second[code->to_offset(one.address)] = code->to_offset(one.end());
          }
        }
      }
      const auto end = known->second.find(at);
      if (end != known->second.end()) return end->second;
    }
    return FileOffset(std::max(at.value, at.value + 1));
  }

  /// nullptr where a line, or the declaration of a function that it is in, is unknown. What it is
  /// in has so many bytes more.
  FunctionSamples::Line* find_line(const CodePlace& place, uint64_t bytes = 0) {
    if (place.function == CodePlace::kNone || place.line == CodePlace::kNone) return nullptr;
    std::vector<const InlineFact*> calls;  // outermost first
    for (uint32_t row = place.inlined; row != CodePlace::kNone;
         row = attributor_.inlined_into(row)) {
      calls.push_back(&facts_.inlines[row]);
    }
    std::reverse(calls.begin(), calls.end());
    const FunctionFact& function = facts_.functions[place.function];
    const bool declared =
        function.line != 0 && std::all_of(calls.begin(), calls.end(), [](auto* call) {
          return call->line != 0 && call->call_line != 0;
        });
    if (!declared) return nullptr;
    FunctionSamples* samples = &functions_[name_of(function)];
    samples->total += bytes;
    uint32_t declaration = function.line;
    for (const InlineFact* call : calls) {
      const LinePlace site = line_place(call->call_line, declaration, call->call_discriminator);
      samples = &samples->inlined[site][name_of(call->linkage_name, call->name)];
      samples->total += bytes;
      declaration = call->line;
    }
    const LineFact& line = facts_.lines[place.line];
    return &samples->lines[line_place(line.line, declaration, line.discriminator)];
  }

  CodeIndex& code_;
  Attributor& attributor_;
  const ImageFacts& facts_;
  ImageId image_;
  std::map<FileOffset, uint64_t> starts_, ends_;
  std::map<uint32_t, std::map<FileOffset, FileOffset>> instruction_ends_;  // by function
  std::map<std::string, FunctionSamples> functions_;
  uint64_t unplaced_ = 0;
};

}  // namespace

Result<std::string> export_autofdo(const Profile& profile, const FactsLookup& facts,
                                   const std::string& pattern) {
  CodeIndex code(profile, facts);
  ASSIGN_OR_RETURN(const ImageId image, choose_branch_image(code, pattern));
  const std::string module = printable(code.module(image));
  Attributor* attributor = code.attributor(image);
  if (attributor == nullptr) {
    return Error{"the profile has no symbols of '" + module + "'\ntry: culprit symbolize"};
  }
  Collector collector(code, *attributor, image);
  collector.add_ranges(profile.fall_throughs);
  for (const BranchCount& branch : profile.branch_counts) collector.add_branch(branch);
  if (collector.empty()) {
    return Error{"nothing of '" + module + "' can be placed: this needs its debug information " +
                 "(compile with -g; then: culprit symbolize) and branch records within it"};
  }
  return collector.write();
}

}  // namespace culprit
