// `culprit symbolize`: completes a profile with names, lines and source.

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete_profile.h"
#include "cli/terminal.h"

namespace culprit {

int run(const SymbolizeCommand& command) {
  const Result<SymbolizeOutcome> outcome =
      complete_profile(command.file, {}, {}, command.snapshot, false);
  if (!outcome) return fail(outcome.error());
  if (outcome->interrupted) {
    return fail(Error{"interrupted; what was found so far is in " + printable(command.file)});
  }
  print_message(
      fmt::format("{} images with counts -> {}", outcome->images, printable(command.file)));
  return 0;
}

}  // namespace culprit
