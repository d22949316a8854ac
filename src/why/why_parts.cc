#include "why/why_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <utility>

#include "base/names.h"
#include "base/text.h"
#include "model/engine.h"
#include "model/exiting_thread.h"

namespace culprit {

std::string describe_template(const Template& cpu) {
  std::string text = printable(cpu.description);
  if (!cpu.name.empty()) text += fmt::format(" ({})", printable(cpu.name));
  if (cpu.name.empty()) return text;  // time or cycles only: nothing to validate
  if (cpu.validated_by.empty()) return text + ", not validated on hardware";
  text += ", validated by " + printable(cpu.validated_by);
  return text;
}

std::string describe_total(const HaltedTime& halted) {
  if (halted.measure == HaltedTime::Measure::tsc) return "total: TSC cycles of all CPUs";
  return fmt::format("total: all CPUs, {}", format_duration_ns(*halted.capacity_seconds * 1e9));
}

std::string describe_halted(const HaltedTime& halted) {
  if (halted.measure == HaltedTime::Measure::tsc) {
    return fmt::format("halted: {:.1f} % of all", 100 * halted.ratio());
  }
  return fmt::format("halted: {:.1f} % of all, {} idle", 100 * halted.ratio(),
                     format_duration_ns(*halted.seconds * 1e9));
}

std::string describe_place(const PlacedAdvice& advice) {
  if (advice.function.empty() && advice.line.empty()) return "";
  constexpr size_t kNameWidth = 32;
  std::string text = shorten_name(
      last_part(without_parameters(pretty_name(printable(advice.function)))), kNameWidth);
  if (!advice.line.empty()) text += (text.empty() ? "" : " ") + printable(advice.line);
  return text + fmt::format(" ({:.0f} %)", 100 * advice.share);
}

bool is_possible(const Profile& profile, const CostNode& branch) {
  if (branch.branch != CostBranch::multithread_collisions || branch.cycles) return true;
  std::map<ProcessId, size_t> threads;
  for (const Thread& thread : profile.threads) {
    if (profile.strings.text(thread.name) != kExitingThread) ++threads[thread.process];
  }
  return threads.empty() ||
         std::ranges::any_of(threads, [](const auto& one) { return one.second > 1; });
}

bool has_no_cycles(const CostTree& tree) {
  if (tree.unhalted.cycles) return false;
  const auto has_some = [](const CostNode& branch) { return branch.cycles.has_value(); };
  return std::ranges::none_of(tree.unhalted.parts, [&](const CostNode& level) {
    return level.cycles || std::ranges::any_of(level.parts, has_some);
  });
}

std::vector<std::string> describe_missing(const Profile& profile, const CostTree& tree) {
  const bool is_simulated_run = !profile.runs.empty() && is_simulated(profile, profile.runs[0]);
  if (has_no_cycles(tree) && is_simulated_run) {
    return {
        "all branches: the simulated run counted what was executed, and no cycles (record "
        "--machine none, or --detail events)"};
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  size_t branches = 0;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& node : level.parts) {
      if (node.kind != NodeKind::branch) continue;
      if (!is_possible(profile, node)) continue;
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

double unhalted_of(const WhyReport& why) {
  const std::optional<Estimate>& cycles = why.tree.unhalted.cycles;
  return cycles ? cycles->value : 0;
}

bool has_measured(const WhyReport& why) {
  return why.measured && why.measured->measured.value > 0;
}

double whole_of(const WhyReport& why) {
  return has_measured(why) ? why.measured->measured.value : unhalted_of(why);
}

std::string format_share(const WhyReport& why, double cycles) {
  const double whole = whole_of(why);
  return whole > 0 ? fmt::format("{:.1f} %", 100 * cycles / whole) : "-";
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
