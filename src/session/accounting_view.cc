#include "session/accounting_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "accounting/event_match.h"
#include "accounting/static_rows.h"
#include "branches/branch_events.h"
#include "branches/branch_scale.h"
#include "branches/event_names.h"
#include "pipeline/static_events.h"
#include "session/choose_template.h"

namespace culprit {
namespace {

/// Events that the template says are instructions.
std::vector<Executions::Part> find_instructions(const Profile& profile, const Template& cpu) {
  const EventMatch match = match_events(profile, cpu);
  std::vector<Executions::Part> parts;
  for (size_t row = 0; row < cpu.rows.size(); ++row) {
    if (cpu.rows[row].label != kInstructionsLabel) continue;
    for (const EventMatch::Part& part : match.parts(row)) {
      parts.push_back({part.event, part.factor});
    }
    if (!parts.empty()) break;
  }
  return parts;
}

/// What branch records say of executions, if they can be scaled to them.
std::optional<Profile> count_by_branches(const Profile& profile, const FactsLookup& facts,
                                         std::vector<Executions::Part>& parts) {
  if (!has_branch_records(profile)) return std::nullopt;
  const BranchScale scale = find_branch_scale(profile);
  if (scale.is_exact || !scale.is_scaled) return std::nullopt;  // counted: an event of its own
  Result<Profile> counted = with_branch_events(profile, facts);
  if (!counted) return std::nullopt;
  for (size_t event = 0; event < counted->events.size(); ++event) {
    if (counted->strings.text(counted->events[event].name) == branch_events::kInstructions) {
      parts = {{event, 1}};
      return *std::move(counted);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<AccountingView> AccountingView::make(const ProfileView& view, const std::string& wanted,
                                            FactParts parts) {
  ASSIGN_OR_RETURN(Template cpu, choose_template(view.profile(), wanted));
  AccountingView made(view.profile(), std::move(cpu));
  if (!needs_static_model(*made.cpu_, view.profile())) return made;
  parts |= {FactPart::functions, FactPart::code};
  const Result<void> modelled = made.add_static_model(view.facts(parts));
  if (!modelled) return modelled.error();
  return made;
}

Result<void> AccountingView::add_static_model(const FactsLookup& facts) {
  Executions executions{own_, {}};
  const std::optional<Profile> by_branches = count_by_branches(*own_, facts, executions.parts);
  if (by_branches) {
    executions.profile = &*by_branches;
  } else {
    executions.parts = find_instructions(*own_, *cpu_);
  }
  if (executions.parts.empty()) return {};
  ASSIGN_OR_RETURN(StaticModel model, with_static_events(*own_, facts, executions,
                                                         {cpu_->llvm_cpu, cpu_->dispatch_width}));
  if (!(model.modelled_share > 0)) return {};
  *cpu_ =
      with_static_rows(std::move(*cpu_), model.profile, {model.modelled_share, model.looped_share});
  modelled_ = std::make_unique<Profile>(std::move(model.profile));
  return {};
}

}  // namespace culprit
