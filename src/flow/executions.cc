#include "flow/executions.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "branches/branch_events.h"
#include "branches/branch_scale.h"
#include "branches/event_names.h"
#include "model/engine.h"

namespace culprit {
namespace {

/// "instructions:u", "cpu/instructions/ppp", "INST_RETIRED.ANY_P", "ex_ret_instr", "inst_retired".
bool is_instructions(const std::string& name) {
  std::string small;
  for (const char c : name) {
    small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (const size_t slash = small.find('/'); slash != small.npos) small.erase(0, slash + 1);
  if (const size_t pmu = small.find("::"); pmu != small.npos) small.erase(0, pmu + 2);
  const std::string_view word = std::string_view(small).substr(0, small.find_first_of(":./"));
  return word == "instructions" || word == "inst_retired" || word == "ex_ret_instr" ||
         word == "instruction_retired" || word == "retired_instructions";
}

bool is_instructions(const Profile& profile, const Event& event) {
  return event.unit == Unit::events && is_instructions(profile.strings.text(event.name));
}

ExecutionEvents of_profile(const Profile& profile, ExecutionSource source,
                           std::vector<size_t> events) {
  ExecutionEvents found;
  found.source = source;
  found.events = std::move(events);
  found.own = &profile;
  return found;
}

template <class Wanted>
std::vector<size_t> find_events(const Profile& profile, Wanted wanted) {
  std::vector<size_t> events;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (wanted(profile.events[event])) events.push_back(event);
  }
  return events;
}

std::optional<ExecutionEvents> by_branches(const Profile& profile, const FactsLookup& facts) {
  if (!has_branch_records(profile) || find_branch_scale(profile).is_exact) return std::nullopt;
  Result<Profile> made = with_branch_events(profile, facts);
  if (!made) return std::nullopt;
  ExecutionEvents found;
  found.source = ExecutionSource::branch_records;
  found.own = &profile;
  found.made = std::make_unique<Profile>(*std::move(made));
  found.events = find_events(*found.made, [&](const Event& event) {
    return found.made->strings.text(event.name) == branch_events::kInstructions;
  });
  if (found.events.empty()) return std::nullopt;
  return found;
}

/// Finds the first event of time only: others are the same time again.
std::vector<size_t> find_time(const Profile& profile) {
  std::vector<size_t> events = find_events(profile, [&](const Event& event) {
    return event.provenance == Provenance::sampled &&
           (event.unit == Unit::ns || event.unit == Unit::cycles);
  });
  if (events.size() > 1) events.resize(1);
  return events;
}

}  // namespace

std::string describe(ExecutionSource source) {
  switch (source) {
    case ExecutionSource::counted:
      return "counted in the simulated run";
    case ExecutionSource::branch_records:
      return "from branch records";
    case ExecutionSource::sampled:
      return "from sampled instructions, made to fit the code";
    case ExecutionSource::time:
      return "from time alone: ratios within a function, no counts";
    case ExecutionSource::none:
      break;
  }
  return "not known";
}

const char* word_of(ExecutionSource source) {
  static constexpr const char* kWords[] = {"none", "counted", "branch records", "sampled", "time"};
  return kWords[static_cast<size_t>(source)];
}

Provenance provenance_of(ExecutionSource source) {
  if (source == ExecutionSource::counted) return Provenance::counted;
  return source == ExecutionSource::time ? Provenance::modelled : Provenance::sampled;
}

ExecutionEvents find_executions(const Profile& profile, const FactsLookup& facts,
                                ExecutionSource at_best) {
  if (at_best <= ExecutionSource::counted) {
    std::vector<size_t> counted = find_events(profile, [&](const Event& event) {
      return event.provenance == Provenance::counted && is_instructions(profile, event) &&
             engine_of(profile, event) == Engine::simulate;
    });
    if (!counted.empty()) {
      return of_profile(profile, ExecutionSource::counted, std::move(counted));
    }
  }
  if (at_best <= ExecutionSource::branch_records) {
    std::optional<ExecutionEvents> found = by_branches(profile, facts);
    if (found) return *std::move(found);
  }
  if (at_best <= ExecutionSource::sampled) {
    std::vector<size_t> sampled = find_events(profile, [&](const Event& event) {
      return event.provenance == Provenance::sampled && is_instructions(profile, event);
    });
    if (!sampled.empty()) {
      return of_profile(profile, ExecutionSource::sampled, std::move(sampled));
    }
  }
  std::vector<size_t> time = find_time(profile);
  if (time.empty()) return of_profile(profile, ExecutionSource::none, {});
  return of_profile(profile, ExecutionSource::time, std::move(time));
}

}  // namespace culprit
