#include "templates/template_words.h"

namespace culprit {
const TemplateWords<CostBranch>& branch_word_list() {
  static const TemplateWords<CostBranch> words = [] {
    TemplateWords<CostBranch> all;
    for (const BranchName& name : kBranchNames) all.emplace_back(name.key, name.branch);
    return all;
  }();
  return words;
}

const TemplateWords<Role>& role_words() {
  static const TemplateWords<Role> words{
      {"sum", Role::sum}, {"info", Role::info}, {"bound", Role::bound}, {"derive", Role::derive}};
  return words;
}

const TemplateWords<PenaltyUnit>& penalty_unit_words() {
  static const TemplateWords<PenaltyUnit> words{{"cycles", PenaltyUnit::cycles},
                                                {"ns", PenaltyUnit::ns},
                                                {"measured", PenaltyUnit::measured}};
  return words;
}

const TemplateWords<NameState>& name_state_words() {
  static const TemplateWords<NameState> words{
      {"known", NameState::known}, {"wrong", NameState::wrong}, {"unknown", NameState::unknown}};
  return words;
}

const TemplateWords<Formula>& formula_words() {
  static const TemplateWords<Formula> words{{"wrong_path", Formula::wrong_path},
                                            {"port_saturation", Formula::port_saturation},
                                            {"call_overhead", Formula::call_overhead},
                                            {"collisions", Formula::collisions},
                                            {"ratio", Formula::ratio},
                                            {"difference", Formula::difference}};
  return words;
}

const TemplateWords<Coverage>& coverage_words() {
  static const TemplateWords<Coverage> words{
      {"full", Coverage::full}, {"partial", Coverage::partial}, {"none", Coverage::none}};
  return words;
}

}  // namespace culprit
