#include "cli/options/mistakes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace culprit {
namespace {

bool is_boundary(std::string_view text, size_t at) {
  return at == std::string_view::npos || at >= text.size() || text[at] == ' ' || text[at] == ':';
}

/// The option that CLI11's text names, in the command or those around it.
const CLI::Option* find_option(const CLI::App& app, std::string_view text) {
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* const option : at->get_options()) {
      const std::string name = option->get_name();
      const size_t found = text.find(name);
      if (found == std::string_view::npos || name.empty()) continue;
      if ((found == 0 || is_boundary(text, found - 1)) && is_boundary(text, found + name.size())) {
        return option;
      }
    }
  }
  return nullptr;
}

std::string describe_count(const CLI::Option& option) {
  const std::string name = option.get_name();
  const auto given = static_cast<int>(option.count());
  const int most = option.get_items_expected_max();
  if (given > most) {
    return most == 1 ? fmt::format("{} takes one value, not {}", name, given)
                     : fmt::format("{} takes {} values at most, not {}", name, most, given);
  }
  return fmt::format("{0} lacks its value: {0} {1}", name, option.get_type_name());
}

std::string describe_exclusion(const std::string& text) {
  constexpr std::string_view kExcludes = " excludes ";
  const size_t at = text.find(kExcludes);
  if (at == std::string::npos) return text;
  return fmt::format("{} and {}: one or the other", text.substr(0, at),
                     text.substr(at + kExcludes.size()));
}

}  // namespace

std::string describe_mistake(const CLI::App& app, const CLI::Error& mistake) {
  const std::string text = mistake.what();
  if (dynamic_cast<const CLI::ExcludesError*>(&mistake) != nullptr) return describe_exclusion(text);
  const CLI::Option* const option = find_option(app, text);
  if (option == nullptr) return text;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&mistake) != nullptr) {
    return describe_count(*option);
  }
  if (dynamic_cast<const CLI::ConversionError*>(&mistake) != nullptr) {
    const std::string values = fmt::format("{}", fmt::join(option->results(), " "));
    if (option->get_expected_min() == 0) {
      return fmt::format("{} takes no value, not '{}'", option->get_name(), values);
    }
    return fmt::format("{}: '{}' is not a number", option->get_name(), values);
  }
  return text;
}

}  // namespace culprit
