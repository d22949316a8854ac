#include "cli/counted_tree.h"

#include "cli/terminal.h"
#include "session/answers.h"

namespace culprit {

bool can_print_trees() {
  return true;
}

Result<std::string> print_counted_tree(const Profile& profile, const StatCommand& command) {
  return print_counts_tree(profile, command.cpu == "auto" ? "" : command.cpu, command.format,
                           standard_output_style(0));
}

}  // namespace culprit
