#pragma once

// What the kernel says that a thread of this process does: whether it sleeps, and in which system
// call (/proc/self/task/TID/stat and syscall).

#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace culprit::counting {

struct ThreadActivity {
  enum class State : uint8_t { gone, awake, sleeping };
  State state = State::awake;
  static constexpr int64_t kUnknownCall = -2;  // the kernel does not say (to a process that is
                                               // not dumpable)
  int64_t call = -1;                           // if it sleeps: the number, -1 for none ...
  uint64_t first_argument = 0;
  bool operator==(const ThreadActivity&) const = default;
};

/// Reads the text of both files. An empty `stat` says that there is no such thread; one whose text
/// cannot be read counts as awake.
ThreadActivity parse_thread_activity(std::string_view stat, std::string_view syscall);

ThreadActivity read_thread_activity(pid_t thread);

/// Whether this kernel shows it.
bool can_see_threads();

}  // namespace culprit::counting
