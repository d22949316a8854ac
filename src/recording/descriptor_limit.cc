#include "recording/descriptor_limit.h"

namespace culprit {

void DescriptorLimit::raise() {
  if (is_raised_ || ::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
  rlimit more = before_;
  more.rlim_cur = more.rlim_max;
  is_raised_ = ::setrlimit(RLIMIT_NOFILE, &more) == 0;
}

DescriptorLimit::~DescriptorLimit() {
  if (is_raised_) ::setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace culprit
