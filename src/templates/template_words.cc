#include "templates/template_words.h"

namespace culprit {
namespace {

struct BranchName {
  Branch branch;
  std::string_view key;
  std::string_view words;
};

constexpr BranchName kBranchNames[] = {
    {Branch::unhalted, "unhalted", "unhalted cycles"},
    {Branch::stalled, "stalled", "stalled cycles"},
    {Branch::unstalled, "unstalled", "unstalled cycles"},
    {Branch::load_latency, "load_latency", "load latency"},
    {Branch::bandwidth_saturation, "bandwidth_saturation", "bandwidth saturation"},
    {Branch::instruction_starvation, "instruction_starvation", "instruction starvation"},
    {Branch::instruction_latency, "instruction_latency", "instruction latency"},
    {Branch::store_resource_saturation, "store_resource_saturation", "store resource saturation"},
    {Branch::multithread_collisions, "multithread_collisions", "multithread collisions"},
    {Branch::branch_misprediction, "branch_misprediction", "branch misprediction"},
    {Branch::port_saturation, "port_saturation", "port saturation"},
    {Branch::function_call_overhead, "function_call_overhead", "function call overhead"},
    {Branch::instruction_serialization, "instruction_serialization", "instruction serialization"},
    {Branch::microcode_exceptions, "microcode_exceptions", "microcode and exceptions"},
    {Branch::general, "general", "beside the tree"},
};
static_assert(std::size(kBranchNames) == kBranches);

}  // namespace

std::string_view branch_key(Branch branch) {
  return kBranchNames[static_cast<size_t>(branch)].key;
}

std::string_view branch_words(Branch branch) {
  return kBranchNames[static_cast<size_t>(branch)].words;
}

const TemplateWords<Branch>& branch_word_list() {
  static const TemplateWords<Branch> words = [] {
    TemplateWords<Branch> all;
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
