#pragma once

// Whose counts an answer is about: --where comm=cc*,cgroup=/build.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// One condition on who did it: a name, or a pattern like 'cc*'.
struct ContextFilter {
  enum class Field : uint8_t { comm, cgroup, label };
  Field field = Field::comm;
  std::string pattern;
};

/// As it is typed: "comm=cc*".
std::string format_filter(const ContextFilter& filter);
/// Nothing: it has no "=", or begins with none of the fields.
std::optional<ContextFilter> parse_filter(std::string_view text);

/// Leaves out the counts of whom not all filters let through, which a note in the ledger says; no
/// filters: everything stays. Of edges either end may be let through. Stacks that were sampled
/// beside counts know commands alone: those of a command are everybody's with its name.
void keep_contexts(Profile& profile, const std::vector<ContextFilter>& filters);

/// The names that a profile has for what a filter asks, in order, each once.
std::vector<std::string> list_names(const Profile& profile, ContextFilter::Field field);

}  // namespace culprit
