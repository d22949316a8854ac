#include "collect/perf/reader_priority.h"

#include <cerrno>
#include <sys/resource.h>

namespace culprit {

void ReaderPriority::raise() {
  constexpr int kFirst = -20;
  errno = 0;
  before_ = ::getpriority(PRIO_PROCESS, 0);
  if (is_raised_ || errno != 0) return;
  is_raised_ = ::setpriority(PRIO_PROCESS, 0, kFirst) == 0;
}

ReaderPriority::~ReaderPriority() {
  if (is_raised_) ::setpriority(PRIO_PROCESS, 0, before_);
}

}  // namespace culprit
