#include "why/callers.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "base/names.h"
#include "branches/call_kind.h"
#include "report/variants.h"
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
  if (frame.line == 0) return;
  sum.lines[fmt::format("{}:{}", base_name(strings.text(frame.file)), frame.line)] += part;
}

void Callers::add_calls(const Entry& entry, double share, std::vector<Entry>& path,
                        std::map<std::string, Share>& sums) {
  constexpr size_t kDeepest = 8;
  const auto found = calls_.find(entry);
  if (found == calls_.end() || path.size() > kDeepest) return;
  if (std::ranges::find(path, entry) != path.end()) return;
  double all = 0;
  for (const BranchCount* const call : found->second) all += static_cast<double>(call->count);
  path.push_back(entry);
  for (const BranchCount* const call : found->second) {
    const double part = share * static_cast<double>(call->count) / all;
    const std::vector<Frame> frames = code_.frames(call->from);
    const bool is_programs = find_code_owner(code_, call->from.image) == CodeOwner::program &&
                             !frames.empty() && !is_stub(code_, call->from, frames.front());
    if (is_programs) {
      add_caller(frames.front(), call->from.image, part, sums);
    } else if (const std::optional<Entry> caller = find_entry(call->from)) {
      add_calls(*caller, part, path, sums);
    }
  }
  path.pop_back();
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
    if (find_code_owner(code_, entry.image) != CodeOwner::library) continue;
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
