#include "why/why_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/names.h"
#include "base/text.h"

namespace culprit {

std::string describe_template(const Template& cpu) {
  std::string text = printable(cpu.description);
  if (!cpu.name.empty()) text += fmt::format(" ({})", printable(cpu.name));
  if (!cpu.is_validated) text += ", not validated on hardware";
  return text;
}

std::string describe_halted(const HaltedTime& halted, const Profile& profile) {
  const std::string amount =
      halted.cycles ? format_si(*halted.cycles) : format_duration_ns(halted.seconds * 1e9);
  const double share = 100 * halted.seconds / halted.capacity_seconds;
  if (profile.runs.size() != 1 || profile.machine.cpus_online == 0) {
    return fmt::format("Halted {} ({:.0f} %).", amount, share);
  }
  return fmt::format("Halted {} ({:.0f} % of {} CPU{} x {}).", amount, share,
                     profile.machine.cpus_online, profile.machine.cpus_online == 1 ? "" : "s",
                     format_duration_ns(static_cast<double>(profile.runs.front().duration_ns)));
}

std::string describe_place(const PlacedAdvice& advice) {
  if (advice.function.empty() && advice.line.empty()) return "";
  constexpr size_t kNameWidth = 32;
  std::string text = shorten_name(
      last_part(without_parameters(pretty_name(printable(advice.function)))), kNameWidth);
  if (!advice.line.empty()) text += (text.empty() ? "" : " ") + printable(advice.line);
  return text + fmt::format(" ({:.0f} %)", 100 * advice.share);
}

std::vector<std::string> describe_missing(const CostTree& tree) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  size_t branches = 0;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& node : level.parts) {
      if (node.kind != NodeKind::branch) continue;
      ++branches;
      if (node.reason.empty()) continue;
      const auto known = std::find_if(by_reason.begin(), by_reason.end(),
                                      [&](const auto& one) { return one.first == node.reason; });
      if (known == by_reason.end()) {
        by_reason.push_back({node.reason, {node.label}});
      } else {
        known->second.push_back(node.label);
      }
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [reason, labels] : by_reason) {
    const bool all = labels.size() == branches;
    sentences.push_back(printable(fmt::format(
        "{}: {}", all ? "all branches" : fmt::format("{}", fmt::join(labels, ", ")), reason)));
  }
  return sentences;
}

const CostNode* find_culprit(const CostTree& tree) {
  constexpr double kMuch = 0.1;  // of the unhalted cycles
  const CostNode* most = nullptr;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      // Ports are busy in good programs, too.
      if (branch.kind != NodeKind::branch || branch.branch == Branch::port_saturation) continue;
      if (!branch.cycles) continue;
      if (most == nullptr || branch.cycles->value > most->cycles->value) most = &branch;
    }
  }
  if (most == nullptr || !tree.unhalted.cycles || !(most->cycles->value > 0)) return nullptr;
  return most->cycles->value >= kMuch * tree.unhalted.cycles->value ? most : nullptr;
}

const char* state_name(NodeState state) {
  switch (state) {
    case NodeState::measured:
      return "measured";
    case NodeState::partly_measured:
      return "partly_measured";
    case NodeState::not_recorded:
      return "not_recorded";
    case NodeState::not_covered:
      return "not_covered";
  }
  return "not_covered";
}

const char* kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::level:
      return "level";
    case NodeKind::branch:
      return "branch";
    case NodeKind::group:
      return "group";
    case NodeKind::event:
      return "event";
    case NodeKind::formula:
      return "formula";
  }
  return "event";
}

}  // namespace culprit
