#include "model/context_filter.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/restriction.h"
#include "model/stacks_beside.h"

namespace culprit {

namespace {

constexpr std::pair<std::string_view, ContextFilter::Field> kFields[] = {
    {"comm", ContextFilter::Field::comm},
    {"cgroup", ContextFilter::Field::cgroup},
    {"label", ContextFilter::Field::label}};

/// "all" where the context does not say.
StringId name_of(const Profile& profile, const Context& context, ContextFilter::Field field) {
  if (field == ContextFilter::Field::label) return context.label;
  if (field == ContextFilter::Field::cgroup) return context.cgroup;
  if (context.process.value >= profile.processes.size()) return {};
  return profile.processes[context.process.value].name;
}

/// By context.
std::vector<bool> find_wanted(const Profile& profile, const std::vector<ContextFilter>& filters) {
  std::vector<bool> wanted;
  for (const Context& context : profile.contexts) {
    wanted.push_back(std::all_of(filters.begin(), filters.end(), [&](const ContextFilter& filter) {
      const StringId name = name_of(profile, context, filter.field);
      return !name.is_all() && matches_pattern(profile.strings.text(name), filter.pattern);
    }));
  }
  return wanted;
}

}  // namespace

std::string format_filter(const ContextFilter& filter) {
  for (const auto& [word, field] : kFields) {
    if (field == filter.field) return std::string(word) + "=" + filter.pattern;
  }
  return "";
}

std::optional<ContextFilter> parse_filter(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  for (const auto& [word, field] : kFields) {
    if (text.substr(0, equals) == word) {
      return ContextFilter{field, std::string(text.substr(equals + 1))};
    }
  }
  return {};
}

void keep_contexts(Profile& profile, const std::vector<ContextFilter>& filters) {
  if (filters.empty()) return;
  std::vector<StackCount> beside;
  if (count_stacks_beside(profile)) {
    beside = std::move(profile.stack_counts);
    std::vector<ContextFilter> of_commands = filters;
    std::erase_if(of_commands, [](const ContextFilter& filter) {
      return filter.field != ContextFilter::Field::comm;
    });
    const std::vector<bool> wanted = find_wanted(profile, of_commands);
    std::erase_if(beside, [&](const StackCount& count) {
      return count.context.value >= wanted.size() || !wanted[count.context.value];
    });
    profile.stack_counts.clear();
  }
  restrict_counts(profile, find_wanted(profile, filters));
  if (!beside.empty()) profile.stack_counts = std::move(beside);
  profile.ledger.note(
      "of what was recorded, only what --where lets through is shown; what the "
      "lines above count is of everything");
}

std::vector<std::string> list_names(const Profile& profile, ContextFilter::Field field) {
  std::vector<std::string> names;
  for (const Context& context : profile.contexts) {
    const StringId name = name_of(profile, context, field);
    if (!name.is_all()) names.emplace_back(profile.strings.text(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace culprit
