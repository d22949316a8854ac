#include "model/context_filter.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/stacks_beside.h"
#include "model/tables.h"

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
  const std::vector<bool> wanted = find_wanted(profile, filters);
  std::vector<ContextFilter> of_commands = filters;
  std::erase_if(of_commands, [](const ContextFilter& filter) {
    return filter.field != ContextFilter::Field::comm;
  });
  const std::vector<bool> stacks_wanted =
      count_stacks_beside(profile) ? find_wanted(profile, of_commands) : wanted;
  visit_counts(
      [&](std::string_view kind, auto& counts) {
        const std::vector<bool>& kept = kind == "stack_counts" ? stacks_wanted : wanted;
        const auto is_out = [&](ContextId context) {
          return context.value >= kept.size() || !kept[context.value];
        };
        std::erase_if(counts, [&](const auto& count) {
          if constexpr (requires { count.from_context; }) {
            return is_out(count.from_context) && is_out(count.to_context);
          } else {
            return is_out(count.context);
          }
        });
      },
      profile);
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
