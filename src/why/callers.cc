#include "why/callers.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "attribute/variant_family.h"
#include "base/names.h"
#include "branches/call_kind.h"
#include "why/own_code.h"

namespace culprit {
namespace {

/// Whether it is an entry of a PLT, which `binary` names after what it jumps to.
bool is_stub(CodeIndex& code, const Location& at, const Frame& frame) {
  return code.facts(at.image)->strings.text(frame.function).ends_with("@plt");
}

}  // namespace

Callers::Callers(CodeIndex& code) : code_(code), codes_(code) {
  for (const BranchCount& branch : code_.profile().branch_counts) {
    const bool is_call = find_entry(branch.to) == Entry{branch.to.image, branch.to.offset} &&
                         find_call_kind(codes_, branch.from, branch.to) != CallKind::other;
    if (!is_call) continue;
    calls_[{branch.to.image, branch.to.offset}].push_back(&branch);
  }
}

/// The beginning of the function that holds a place; none of code without a name.
std::optional<Callers::Entry> Callers::find_entry(const Location& location) {
  const CodePlace place = code_.find(location);
  if (place.function == CodePlace::kNone) return std::nullopt;
  return Entry{location.image, code_.facts(location.image)->functions[place.function].begin};
}

void Callers::add_caller(const Frame& frame, ImageId image, double part,
                         std::map<std::string, Share>& sums) {
  const StringTable& strings = code_.facts(image)->strings;
  Share& sum = sums[strings.text(frame.function)];
  sum.share += part;
  const std::string line = name_line(strings.text(frame.file), frame.line);
  if (!line.empty()) sum.lines[line] += part;
}

void Callers::add_calls(const Entry& entry, double share, std::vector<Entry>& path,
                        std::map<std::string, Share>& sums) {
  constexpr size_t kDeepest = 24;      // a regular expression goes through a dozen of the library's
  constexpr double kTooLittle = 1e-5;  // to be worth a search: paths are many
  const auto found = calls_.find(entry);
  if (found == calls_.end() || path.size() > kDeepest || share < kTooLittle) return;
  if (std::ranges::find(path, entry) != path.end()) return;
  path.push_back(entry);
  // What calls itself (a sort's recursion) says nothing of who began it.
  std::vector<const BranchCount*> calls;
  double all = 0;
  for (const BranchCount* const call : found->second) {
    const std::optional<Entry> caller = find_entry(call->from);
    if (caller && std::ranges::find(path, *caller) != path.end() && !is_own(call->from)) continue;
    calls.push_back(call);
    all += static_cast<double>(call->count);
  }
  for (const BranchCount* const call : calls) {
    const double part = share * static_cast<double>(call->count) / all;
    const std::vector<Frame> frames = code_.frames(call->from);
    const std::optional<Entry> caller = find_entry(call->from);
    if (is_own(call->from)) {
      add_caller(*find_own_frame(*code_.facts(call->from.image), frames), call->from.image, part,
                 sums);
    } else if (caller && (calls_.contains(*caller) || !is_programs(call->from))) {
      add_calls(*caller, part, path, sums);
    } else if (is_programs(call->from)) {
      add_caller(frames.back(), call->from.image, part, sums);
    }
  }
  path.pop_back();
}

/// Whether a call is made in the program's file, by no stub.
bool Callers::is_programs(const Location& call) {
  if (find_code_owner(code_, call.image) != CodeOwner::program) return false;
  const std::vector<Frame> frames = code_.frames(call);
  return !frames.empty() && !is_stub(code_, call, frames.front());
}

/// Whether it is made by the program's own sources.
bool Callers::is_own(const Location& call) {
  return is_programs(call) &&
         find_own_frame(*code_.facts(call.image), code_.frames(call)) != nullptr;
}

/// Whether nobody changes it: a library's, or all of a system header's.
bool Callers::is_system_function(const Entry& entry) {
  if (find_code_owner(code_, entry.image) == CodeOwner::library) return true;
  const ImageFacts* const facts = code_.facts(entry.image);
  const CodePlace place = code_.find({entry.image, entry.offset});
  return facts != nullptr && place.function != CodePlace::kNone &&
         is_system_source(facts->strings.text(facts->functions[place.function].file));
}

std::vector<Caller> Callers::find(const std::string& function) {
  std::map<std::string, Share> sums;
  std::vector<Entry> entries;
  double all = 0;
  const std::string family = find_variant_family(function);
  const auto count = [&](const Entry& entry) {
    double calls = 0;
    for (const BranchCount* const call : calls_.at(entry))
      calls += static_cast<double>(call->count);
    return calls;
  };
  for (const auto& [entry, calls] : calls_) {
    if (!is_system_function(entry)) continue;
    const ImageFacts* const facts = code_.facts(entry.image);
    const CodePlace place = code_.find({entry.image, entry.offset});
    if (facts == nullptr || place.function == CodePlace::kNone) continue;
    const std::string& name = facts->strings.text(facts->functions[place.function].name);
    const bool is_variant = !family.empty() && find_variant_family(name) == family;
    if (name != function && !is_variant) continue;
    entries.push_back(entry);
    all += count(entry);
  }
  for (const Entry& entry : entries) {
    std::vector<Entry> path;
    add_calls(entry, count(entry) / all, path, sums);
  }
  std::vector<Caller> callers;
  for (const auto& [name, sum] : sums) {
    Caller& caller = callers.emplace_back(name, "", sum.share);
    if (sum.lines.empty()) continue;
    caller.line =
        std::ranges::max_element(sum.lines, {}, [](const auto& one) { return one.second; })->first;
  }
  std::ranges::stable_sort(callers, std::greater(), &Caller::share);
  return callers;
}

}  // namespace culprit
