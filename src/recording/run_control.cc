#include "recording/run_control.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace culprit {

EventControl::EventControl() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void EventControl::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(event_.get(), &one, sizeof one);
}

void EventControl::ask_to_stop() {
  stop_ = true;
  wake();
}

void EventControl::ask_for_new_epoch() {
  new_epoch_ = true;
  wake();
}

RunRequests EventControl::take() {
  uint64_t requests = 0;
  // It is emptied first: what is asked after that wakes the run once more.
  [[maybe_unused]] const ssize_t ignored = ::read(event_.get(), &requests, sizeof requests);
  return {stop_ ? StopRequest::at_once : StopRequest::none, new_epoch_.exchange(false)};
}

}  // namespace culprit
