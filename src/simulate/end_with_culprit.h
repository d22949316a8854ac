#pragma once

// EndWithCulprit: what is simulated ends when culprit ends before it, killed or crashed: the
// engine's processes would run on, a hundred times slower than the program, for nobody.
//
// PR_SET_PDEATHSIG does not do: it is of a parent's end, and a child's parent is the program. So a
// process of ours, in a session of its own, waits at a pipe whose other end only culprit has, and
// kills all that were started with the simulation's folder on their command line, wherever they
// are: children, grandchildren, in other sessions and namespaces, and between two programs.

#include <string>
#include <sys/types.h>

#include "base/file.h"

namespace culprit {

class EndWithCulprit {
 public:
  /// Watches the simulation whose counts are in the folder, and removes the folder with it. It is
  /// made before the program is started. Where no process can be made, nothing is watched.
  explicit EndWithCulprit(const std::string& folder);
  EndWithCulprit(const EndWithCulprit&) = delete;
  EndWithCulprit& operator=(const EndWithCulprit&) = delete;
  /// The simulation is over: what is left of the program runs on.
  ~EndWithCulprit();

 private:
  Fd culprit_lives_;
  pid_t watcher_ = -1;
};

}  // namespace culprit
