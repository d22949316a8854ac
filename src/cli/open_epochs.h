#pragma once

// A profile as a command names it: a file, or a stretch of time of an epoch database.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/text_style.h"
#include "cli/options/command_line.h"
#include "session/profile_view.h"

namespace culprit {

/// The file (an epoch's with its database), or what `choice` chooses, of which a running daemon is
/// asked for what is new.
Result<ProfileView> open_profile(const std::string& file, const EpochChoice& choice);

/// A file (an epoch's with its database, and progress on the terminal) to compare with another.
Result<ProfileView> open_compared(const std::string& file,
                                  const std::vector<ContextFilter>& filters);

/// Finished epochs that `choice` chooses, each as a run to compare: of the length that most of them
/// have, since what an hour counted is no run beside what ten minutes counted.
struct EpochRuns {
  std::vector<std::string> before;  // names of those that begin before `to`
  std::vector<std::string> after;   // and of those that begin then or later
  size_t left_out = 0;              // of another length, or not finished
};
/// `to_divides`: --to is where `after` begins; else all are `before`, and --to is their end.
/// Errors: no such database; no such moments; fewer than two epochs, or none on a side
Result<EpochRuns> find_epoch_runs(const EpochChoice& choice, bool to_divides);
/// Opens one of them, with what --where lets through. find_epoch_runs() has seen to its symbols.
Result<ProfileView> open_epoch_run(const EpochChoice& choice, const std::string& name);

/// Errors: no run that was compared has anything that --where lets through. (One alone may lack
/// it.)
Result<void> check_compared(const EpochChoice& choice, bool has_rows);

/// How to print what was opened so, with commands to type that open the same.
TextStyle style_of(size_t width, const std::string& file, const EpochChoice& choice);

}  // namespace culprit
