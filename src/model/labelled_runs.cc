#include "model/labelled_runs.h"

#include <algorithm>

namespace culprit {

std::string find_label(const Profile& profile, const Run& run, std::string_view wanted) {
  for (const auto& [name, value] : run.labels) {
    if (profile.strings.text(name) == wanted) return profile.strings.text(value);
  }
  return "";
}

std::vector<LabelledRun> find_labelled_runs(const Profile& profile) {
  std::vector<LabelledRun> found;
  for (uint32_t row = 0; row < profile.runs.size(); ++row) {
    const std::string repetition = find_label(profile, profile.runs[row], kRepetitionLabel);
    if (repetition.empty()) continue;
    const std::string version = find_label(profile, profile.runs[row], kVersionLabel);
    const std::string name = version.empty() ? repetition : version + " " + repetition;
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const LabelledRun& one) { return one.name == name; });
    if (known != found.end()) {
      known->runs.push_back(RunId(row));
    } else {
      found.push_back({name, version, {RunId(row)}});
    }
  }
  return found;
}

void keep_runs(const LabelledRun& wanted, Profile& profile) {
  const std::vector<RunId>& runs = wanted.runs;
  const auto is_kept = [&](ContextId context) {
    return context.value < profile.contexts.size() &&
           std::find(runs.begin(), runs.end(), profile.contexts[context.value].run) != runs.end();
  };
  const auto is_of_others = [&](const auto& row) { return !is_kept(row.context); };
  std::erase_if(profile.histograms, is_of_others);
  std::erase_if(profile.branch_counts, is_of_others);
  std::erase_if(profile.counts, is_of_others);
  std::erase_if(profile.slice_counts, is_of_others);
}

}  // namespace culprit
