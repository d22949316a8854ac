#include "cli/counted_tree.h"

#include "why/why.h"

#include "cli/choose_template.h"
#include "cli/terminal.h"

namespace culprit {

bool can_print_trees() {
  return true;
}

Result<std::string> print_counted_tree(const Profile& profile, const StatCommand& command) {
  ASSIGN_OR_RETURN(const Template cpu,
                   choose_template(profile, command.cpu == "auto" ? "" : command.cpu));
  const auto no_facts = [](ImageId) -> const ImageFacts* { return nullptr; };
  ASSIGN_OR_RETURN(const WhyReport why, make_why(profile, no_facts, cpu, {}));
  return print_why(profile, cpu, why, command.format, standard_output_style(0));
}

}  // namespace culprit
