#pragma once

// EndWithCulprit: what is simulated ends when culprit ends before it, killed or crashed: the
// engine's processes would run on, a hundred times slower than the program, for nobody.
//
// PR_SET_PDEATHSIG does not do: it is of a parent's end, and a child's parent is the program. So a
// process of ours, in a session of its own, waits at a socket whose other end only culprit has, and
// kills all that were started with the simulation's folder on their command line, wherever they
// are: children, grandchildren, in other sessions and namespaces, and between two programs.
//
// What is forked from culprit copies each page that culprit writes to afterwards. Who simulates
// often has one EndWatcher for all of it, made early; processes that he forks may use it, too.

#include <string>
#include <sys/types.h>

#include "base/file.h"

namespace culprit {

class EndWatcher {
 public:
  /// Where no process can be made, nothing is watched.
  EndWatcher();
  EndWatcher(const EndWatcher&) = delete;
  EndWatcher& operator=(const EndWatcher&) = delete;
  /// Nothing is watched any more.
  ~EndWatcher();

  /// A simulation of the calling process, whose counts are in the folder, begins, and is over: what
  /// is left of its program runs on.
  void begin(const std::string& folder) const;
  void end(const std::string& folder) const;
  /// A process that was forked has ended: what it had begun and not ended is killed, and its
  /// folders are removed.
  void end_all_of(pid_t pid) const;

  /// As long as any process has it open, culprit lives.
  [[nodiscard]] int descriptor() const { return culprit_lives_.get(); }

 private:
  void tell(char what, pid_t pid, const std::string& folder) const;

  Fd culprit_lives_;
  pid_t watcher_ = -1;
  pid_t maker_ = -1;  // whose child it is
};

class EndWithCulprit {
 public:
  /// Watches the simulation whose counts are in the folder, and removes the folder with it. It is
  /// made before the program is started.
  EndWithCulprit(const EndWatcher& watcher, std::string folder)
      : watcher_(watcher), folder_(std::move(folder)) {
    watcher_.begin(folder_);
  }
  EndWithCulprit(const EndWithCulprit&) = delete;
  EndWithCulprit& operator=(const EndWithCulprit&) = delete;
  /// The simulation is over.
  ~EndWithCulprit() { watcher_.end(folder_); }

 private:
  const EndWatcher& watcher_;
  std::string folder_;
};

}  // namespace culprit
