#include "scan/search_space.h"

#include <algorithm>

#include "scan/command_words.h"

namespace culprit::scan {

double count_setups(const SearchSpace& space) {
  double count = 1;
  for (const Parameter& factor : space.factors) count *= static_cast<double>(factor.values.size());
  return count;
}

size_t count_changes(const Levels& levels) {
  return static_cast<size_t>(
      std::count_if(levels.begin(), levels.end(), [](uint32_t level) { return level != 0; }));
}

Result<Setup> make_setup(const SearchSpace& space, const Levels& levels) {
  Setup setup;
  for (size_t i = 0; i < space.factors.size(); ++i) {
    const Parameter& factor = space.factors[i];
    const std::string& value = factor.values[levels[i]];
    setup.variables.push_back({factor.name, value});
    if (levels[i] == 0) continue;
    setup.name += (setup.name.empty() ? "" : " ") + factor.name + "=" + value;
  }
  if (setup.name.empty()) setup.name = "base";
  const Variables chosen = setup.variables;
  for (const Variable& one : space.rest) {
    ASSIGN_OR_RETURN(std::string value, fill_in(one.value, chosen, "search." + one.name));
    setup.variables.push_back({one.name, std::move(value)});
  }
  if (find_variable(setup.variables, "flags") != nullptr) return setup;
  const std::string* const compiler = find_compiler(setup.variables);
  std::string flags;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (&setup.variables[i].value == compiler || chosen[i].value.empty()) continue;
    flags += (flags.empty() ? "" : " ") + chosen[i].value;
  }
  setup.variables.push_back({"flags", flags});
  return setup;
}

}  // namespace culprit::scan
