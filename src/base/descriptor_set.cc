#include "base/descriptor_set.h"

#include <poll.h>
#include <sys/epoll.h>

namespace culprit {

DescriptorSet::DescriptorSet() : set_(::epoll_create1(EPOLL_CLOEXEC)) {}

void DescriptorSet::add(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(set_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

bool DescriptorSet::is_readable() const {
  pollfd set{set_.get(), POLLIN, 0};
  return ::poll(&set, 1, 0) > 0;
}

}  // namespace culprit
