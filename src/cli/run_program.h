#pragma once

// What `record` and `stat` have in common: they run a program, and end as it ended.

#include <optional>
#include <string>

#include "base/result.h"

namespace culprit {

// These are timeout(1)'s: our own failures stay apart from the program's statuses.
inline constexpr int kOurFailure = 125;
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;

/// Of a recording or a count that failed.
inline int status_of(const Error& error) {
  return error.kind == ErrorKind::cannot_run ? kCannotRun : kOurFailure;
}

/// Why a program cannot be run, with the status to exit with.
struct Unrunnable {
  int status = 0;
  Error error;
};

/// nullopt: it looks runnable. Names without a slash are sought in PATH.
std::optional<Unrunnable> check_program(const std::string& program);

/// Ends this process as the program ended: returns its status, or dies of the same signal.
/// `wait_status` as wait(2) gives it.
int end_like(int wait_status);

}  // namespace culprit
