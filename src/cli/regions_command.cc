// `culprit regions`: what OpenMP constructs took, by thread.

#include "cli/commands.h"
#include "cli/terminal.h"
#include "session/answers.h"
#include "session/merged_view.h"

namespace culprit {

int run(const RegionsCommand& command) {
  const std::vector<std::string> files =
      command.files.empty() ? std::vector<std::string>{kDefaultProfile} : command.files;
  Result<ProfileView> view = open_together(files);
  if (!view) return fail(view.error());
  const Result<RegionsReport> answer = answer_regions(*view, {command.events, command.object});
  if (!answer) return fail(answer.error());
  if (!view->problem().empty()) print_message(view->problem());
  const std::string file = files.size() == 1 ? files.front() : "";
  const std::string text = print_regions(view->profile(), *answer, command.print, command.format,
                                         standard_output_style(command.width, file));
  const Result<void> written =
      command.format == Format::text ? write_paged(text) : write_output(text);
  return written ? 0 : fail(written.error());
}

}  // namespace culprit
